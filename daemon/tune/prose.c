/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Breaks sentences into lines for a terminal (prose.h). */
#include "daemon/tune/prose.h"

#include <langinfo.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "daemon/tune/look.h"
#include "daemon/tune/pager.h"
#include "daemon/tune/tune.h"

#define NARROW 20u /* every terminal counts as at least this wide */

int tune_columns(void)
{
	struct winsize w = { 0 };

	if (tune_pager_columns())
		return tune_pager_columns();
	if (!isatty(STDOUT_FILENO))
		return 0;
	return !ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) && w.ws_col ? w.ws_col : 80;
}

size_t tune_fill(char *text, size_t columns)
{
	size_t widest = 0;

	while (*text) {
		size_t n = strcspn(text, "\n"), cut = n;

		if (n > columns) {
			for (cut = columns; cut && text[cut] != ' '; cut--)
				;
			if (!cut)
				cut = columns + strcspn(text + columns, " \n");
			if (text[cut] == ' ')
				text[cut] = '\n';
		}
		widest = cut > widest ? cut : widest;
		text += cut + (text[cut] != '\0');
	}
	return widest;
}

/* Width of the label on the terminal, without colour codes. */
static size_t width_of(const char *label)
{
	size_t n = 0;

	for (; *label; label++) {
		if (*label == '\033')
			label += strcspn(label, "m");
		else
			n++;
		if (!*label)
			break;
	}
	return n;
}

void tune_prose(FILE *out, int columns, unsigned int most, const char *label, const char *text)
{
	size_t indent = width_of(label), room = columns > (int)NARROW ? (size_t)columns : NARROW;
	char filled[TUNE_SENTENCE_BYTES], *line = filled, *next;

	tune_rates_in(text, filled, sizeof(filled));
	if (columns)
		tune_fill(filled, room > indent ? room - indent : 1);
	for (unsigned int n = 1; line; n++, line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (n == 1)
			fputs(label, out);
		fprintf(out, "%*s%s%s\n", n > 1 ? (int)indent : 0, "", line,
			n == most && next ? " ..." : "");
		if (n == most)
			break;
	}
}

/* Replaces, in place, each character that the terminal's locale does not have by '?'. */
static void leave_ascii(char *text)
{
	char *to = text;

	for (; *text; text++)
		if (!(*text & 0x80))
			*to++ = *text;
		else if ((*text & 0xc0) != 0x80)
			*to++ = '?';
	*to = '\0';
}

void tune_say(const char *label, const char *fmt, ...)
{
	char text[TUNE_SENTENCE_BYTES];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (isatty(STDOUT_FILENO) && strcmp(nl_langinfo(CODESET), "UTF-8"))
		leave_ascii(text);
	tune_prose(stdout, tune_columns(), 0, label, text);
}
