/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "daemon/tune/prose.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "daemon/tune/look.h"
#include "daemon/tune/pager.h"

#define NARROW     20u /* no terminal is taken to be narrower */
#define TEXT_BYTES 4096u

int tune_columns(void)
{
	struct winsize w = { 0 };

	if (tune_pager_columns())
		return tune_pager_columns();
	if (!isatty(STDOUT_FILENO))
		return 0;
	return !ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) && w.ws_col ? w.ws_col : 80;
}

/* Where the number begins that ends at a place; the place itself if there is none. */
static const char *number_before(const char *text, const char *end)
{
	while (end > text && isdigit((unsigned char)end[-1]))
		end--;
	return end;
}

static size_t add(char *buf, size_t len, size_t n, const char *text, size_t text_len)
{
	size_t room = n < len ? len - n : 0;

	snprintf(buf + n, room, "%.*s", (int)text_len, text);
	return n + (text_len < room ? text_len : room ? room - 1 : 0);
}

static size_t add_rate(char *buf, size_t len, size_t n, const char *number)
{
	char rate[32];

	tune_rate(strtod(number, NULL), rate, sizeof(rate));
	return add(buf, len, n, rate, strlen(rate));
}

const char *tune_rates_in(const char *text, char *buf, size_t len)
{
	static const char unit[] = " Mb/s", of[] = " of ";
	const char *end, *last, *first;
	size_t n = 0;

	buf[0] = '\0';
	for (; (end = strstr(text, unit)); text = end + strlen(unit)) {
		last = first = number_before(text, end);
		if (last - text > (ptrdiff_t)strlen(of) &&
		    !strncmp(last - strlen(of), of, strlen(of)))
			first = number_before(text, last - strlen(of));
		if (last == end || first == last - strlen(of))
			first = last;
		n = add(buf, len, n, text, (size_t)(first - text));
		if (last == end) {
			n = add(buf, len, n, unit, strlen(unit));
			continue;
		}
		if (first < last) {
			n = add_rate(buf, len, n, first);
			n = add(buf, len, n, of, strlen(of));
		}
		n = add_rate(buf, len, n, last);
		n = add(buf, len, n, " ", 1);
		n = add(buf, len, n, tune_rate_unit(), strlen(tune_rate_unit()));
	}
	add(buf, len, n, text, strlen(text));
	return buf;
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

/* Without what only colours. */
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
	char filled[TEXT_BYTES], *line = filled, *next;

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

void tune_say(const char *label, const char *fmt, ...)
{
	char text[TEXT_BYTES];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	tune_prose(stdout, tune_columns(), 0, label, text);
}
