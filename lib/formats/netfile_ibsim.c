/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Copies a netfile in the form that stock ibsim needs.
 *
 * If ibsim 0.10 does not know a link's width and speed, or does not find them directly behind "lid
 * N", it assumes 4x SDR. At an option e= or extspeed= beyond HDR it exits. So the copy has the
 * width and speed where ibsim looks, and speeds beyond HDR become HDR.
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/scenario_file.h>

#include "lib/formats/netfile_text.h"

#define EXT_SPEEDS 7ul /* the extended speeds that ibsim knows: FDR, EDR, HDR */
#define EXT_HDR    4ul

/* Whether a word is where ibsim looks: behind the "lid N" that follows the last quote. */
static bool is_in_place(const char *line, const char *word)
{
	const char *s = ibcc_netfile_behind_quotes(line);
	char *end;

	s += strspn(s, " \t#");
	if (strncmp(s, "lid ", 4))
		return false;
	strtoul(s + 4, &end, 10);
	return end + strspn(end, " \t") == word;
}

static void copy_port(const char *line, FILE *out)
{
	enum ibcc_link_speed speed;
	unsigned int lanes;
	char text[32];
	size_t len;
	const char *word = ibcc_netfile_find_rate(line, &len);

	snprintf(text, sizeof(text), "%.*s", word ? (int)len : 0, word ? word : "");
	if (!word || ibcc_rate_parse_link(text, &lanes, &speed)) {
		fputs(line, out);
		return;
	}
	if (speed > IBCC_NETFILE_IBSIM_SPEED)
		speed = IBCC_NETFILE_IBSIM_SPEED;
	/* ibsim reads what follows the last quote. */
	fprintf(out, "%.*s%s%ux%s%s", (int)(word - line), line,
		is_in_place(line, word) ? "" : "\"\" lid 0 ", lanes, ibcc_link_speed_name(speed),
		word + len);
}

/* Removes from an option, in place, the speeds that ibsim does not know. */
static void cap_option(char *line, const char *option)
{
	for (char *at = strstr(line, option); at; at = strstr(at + 1, option)) {
		char *value = at + strlen(option), *end, text[8];
		unsigned long v = strtoul(value, &end, 0);

		if (end == value || v <= EXT_SPEEDS ||
		    (at > line && isalnum((unsigned char)at[-1])))
			continue;
		snprintf(text, sizeof(text), "%lu", (v & EXT_SPEEDS) | EXT_HDR);
		*value = *text;
		memmove(value + 1, end, strlen(end) + 1);
	}
}

int ibcc_netfile_copy_for_ibsim(FILE *in, FILE *out)
{
	char line[IBCC_NETFILE_LINE_BYTES];

	while (fgets(line, sizeof(line), in)) {
		if (*line == '[') {
			cap_option(line + (ibcc_netfile_behind_quotes(line) - line), "e=");
			copy_port(line, out);
		} else {
			if (!strncmp(line, "extspeed", 8))
				cap_option(line, "extspeed=");
			fputs(line, out);
		}
	}
	return ferror(in) || fflush(out) || ferror(out) ? -EIO : 0;
}
