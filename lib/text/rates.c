/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Rates in texts for people. The daemon's texts have Mb/s: here "1888 of 4000 Mb/s" becomes MB/s
 * or Gb/s, as the user wants (rates.h).
 */
#include <ibcc/rates.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *ibcc_rate_text(double mbps, bool in_gbps, char *buf, size_t len)
{
	snprintf(buf, len, in_gbps ? "%.2f" : "%.1f", in_gbps ? mbps / 1000 : mbps / 8);
	return buf;
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

static size_t add_rate(char *buf, size_t len, size_t n, const char *number, bool in_gbps)
{
	char rate[IBCC_RATE_BYTES];

	ibcc_rate_text(strtod(number, NULL), in_gbps, rate, sizeof(rate));
	return add(buf, len, n, rate, strlen(rate));
}

const char *ibcc_rate_unit(bool in_gbps)
{
	return in_gbps ? "Gb/s" : "MB/s";
}

const char *ibcc_rates_in(const char *text, bool in_gbps, char *buf, size_t len)
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
			n = add_rate(buf, len, n, first, in_gbps);
			n = add(buf, len, n, of, strlen(of));
		}
		n = add_rate(buf, len, n, last, in_gbps);
		n = add(buf, len, n, " ", 1);
		n = add(buf, len, n, ibcc_rate_unit(in_gbps), strlen(ibcc_rate_unit(in_gbps)));
	}
	add(buf, len, n, text, strlen(text));
	return buf;
}
