/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Netfiles as stock ibsim has to get them.
 *
 * ibsim 0.10 takes a width and speed that it does not know, or that does not stand right behind
 * "lid N", for 4x SDR, and ends at an option e= or extspeed= beyond HDR. So such words get the
 * place where it looks, and speeds beyond HDR become HDR.
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/scenario_file.h>

#include "lib/io/netfile_text.h"

#define EXT_SPEEDS 7ul /* that it knows: FDR, EDR, HDR */
#define EXT_HDR    4ul

/* Is the word at `word` where ibsim looks: behind "lid N" that follows the last quote? */
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
	/* What follows the last quote is what counts. */
	fprintf(out, "%.*s%s%ux%s%s", (int)(word - line), line,
		is_in_place(line, word) ? "" : "\"\" lid 0 ", lanes, ibcc_link_speed_name(speed),
		word + len);
}

/* Takes an option's speeds that ibsim does not know out of a line, in place. */
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
