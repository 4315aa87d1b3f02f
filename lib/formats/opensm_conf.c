/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Two options of OpenSM's configuration file (opensm_conf.h). */
#include <ibcc/opensm_conf.h>

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The value in p..end: without blanks at its ends, and then without one pair of quotes. */
static const char *clean(const char *p, const char *end, int *len)
{
	while (p < end && isspace((unsigned char)*p))
		p++;
	while (p < end && isspace((unsigned char)end[-1]))
		end--;
	if (p < end && (*p == '"' || *p == '\'') && end[-1] == *p) {
		p++;
		end -= p < end;
	}
	*len = (int)(end - p);
	return p;
}

static void read_line(const char *p, const char *end, struct ibcc_opensm_conf *c)
{
	static const char mode[] = "mlnx_congestion_control";
	static const char file[] = "congestion_control_policy_file";
	const char *name, *value;
	size_t n;
	int len;

	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	for (name = p; p < end && *p != ' ' && *p != '\t'; p++)
		;
	n = (size_t)(p - name);
	value = clean(p, end, &len);
	if (n == sizeof(mode) - 1 && !memcmp(name, mode, n) && len)
		snprintf(c->mlnx_congestion_control, sizeof(c->mlnx_congestion_control), "%.*s",
			 len, value);
	else if (n == sizeof(file) - 1 && !memcmp(name, file, n))
		snprintf(c->policy_file, sizeof(c->policy_file), "%.*s", len, value);
}

static bool is_text(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (iscntrl((unsigned char)text[i]) && !isspace((unsigned char)text[i]))
			return false;
	return true;
}

int ibcc_opensm_conf_read(const char *text, size_t len, struct ibcc_opensm_conf *c)
{
	const char *end = text + len, *p, *next, *comment;

	*c = (struct ibcc_opensm_conf){ .policy_file = "" };
	if (!is_text(text, len))
		return -EILSEQ;
	for (p = text; p < end; p = next + 1) {
		next = memchr(p, '\n', (size_t)(end - p));
		if (!next)
			next = end;
		comment = memchr(p, '#', (size_t)(next - p));
		read_line(p, comment ? comment : next, c);
	}
	if (!strcmp(c->policy_file, "(null)"))
		c->policy_file[0] = '\0';
	return 0;
}
