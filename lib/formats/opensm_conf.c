/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Two options of OpenSM's configuration file (opensm_conf.h). */
#include <ibcc/opensm_conf.h>

#include <stdio.h>
#include <string.h>

/* The next word of a line, which ends at `end`; its length in *n, 0 if there is none. */
static const char *word(const char *p, const char *end, size_t *n)
{
	const char *from;

	while (p < end && strchr(" \t\r", *p) && *p)
		p++;
	for (from = p; p < end && !(strchr(" \t\r", *p) && *p); p++)
		;
	*n = (size_t)(p - from);
	return from;
}

static void read_line(const char *p, const char *end, struct ibcc_opensm_conf *c)
{
	static const char mode[] = "mlnx_congestion_control";
	static const char file[] = "congestion_control_policy_file";
	size_t n, len;
	const char *name = word(p, end, &n), *value = word(name + n, end, &len);

	if (n == sizeof(mode) - 1 && !memcmp(name, mode, n))
		snprintf(c->mlnx_congestion_control, sizeof(c->mlnx_congestion_control), "%.*s",
			 (int)(len < 15 ? len : 15), value);
	else if (n == sizeof(file) - 1 && !memcmp(name, file, n))
		snprintf(c->policy_file, sizeof(c->policy_file), "%.*s",
			 (int)(len < 255 ? len : 255), value);
}

void ibcc_opensm_conf_read(const char *text, size_t len, struct ibcc_opensm_conf *c)
{
	const char *end = text + len, *p, *next;

	*c = (struct ibcc_opensm_conf){ .policy_file = "" };
	for (p = text; p < end; p = next + 1) {
		next = memchr(p, '\n', (size_t)(end - p));
		if (!next)
			next = end;
		if (*p != '#')
			read_line(p, next, c);
	}
	if (!strcmp(c->policy_file, "(null)"))
		c->policy_file[0] = '\0';
}
