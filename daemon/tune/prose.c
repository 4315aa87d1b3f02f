/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Breaks sentences into lines for a terminal (prose.h). */
#include "daemon/tune/prose.h"

#include <langinfo.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "daemon/tune/look.h"
#include "daemon/tune/pager.h"
#include "daemon/tune/tune.h"

#define MORE   " ..."
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

size_t tune_char_width(const char *text, size_t *bytes)
{
	mbstate_t state = { 0 };
	wchar_t c;
	size_t n = mbrtowc(&c, text, MB_CUR_MAX, &state);
	int width;

	if (!n || n > MB_CUR_MAX) {
		*bytes = 1;
		return 1;
	}
	*bytes = n;
	width = wcwidth(c);
	return width < 0 ? 1 : (size_t)width;
}

size_t tune_width(const char *text)
{
	size_t n = 0, bytes;

	for (; *text; text += bytes)
		n += tune_char_width(text, &bytes);
	return n;
}

/* Where the first line of a text ends, and its width: at the last space within `columns`, or behind
 * its first word.
 */
static size_t end_of_line(const char *text, size_t columns, size_t *width)
{
	size_t used = 0, i = 0, space = 0, at_space = 0;

	while (text[i] && text[i] != '\n') {
		size_t bytes, w = tune_char_width(text + i, &bytes);

		if (text[i] == ' ' && used > columns)
			break;
		if (text[i] == ' ') {
			space = i;
			at_space = used;
		} else if (space && used + w > columns) {
			used = at_space;
			i = space;
			break;
		}
		used += w;
		i += bytes;
	}
	*width = used;
	return i;
}

size_t tune_fill(char *text, size_t columns)
{
	size_t widest = 0, width;

	while (*text) {
		text += end_of_line(text, columns, &width);
		widest = width > widest ? width : widest;
		if (*text)
			*text++ = '\n';
	}
	return widest;
}

/* Width of the label on the terminal, without colour codes. */
static size_t width_of(const char *label)
{
	size_t n = 0, bytes;

	for (; *label; label += bytes) {
		bytes = strcspn(label, "m");
		if (*label != '\033')
			n += tune_char_width(label, &bytes);
		else if (label[bytes])
			bytes++;
	}
	return n;
}

/* Cuts off words at the end of a line until `more` fits behind it. */
static void elide(char *line, size_t columns, const char *more)
{
	char *space;

	while (tune_width(line) + strlen(more) > columns && (space = strrchr(line, ' ')))
		*space = '\0';
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
		if (columns && n == most && next)
			elide(line, room > indent ? room - indent : 1, MORE);
		fprintf(out, "%*s%s%s\n", n > 1 ? (int)indent : 0, "", line,
			n == most && next ? MORE : "");
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
