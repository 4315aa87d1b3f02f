/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Makes text from outside (names of nodes, messages) safe to print: bytes that are no valid
 * UTF-8, control characters and characters that change the direction of text become '?', white
 * space becomes a blank.
 */
#include <ibcc/clean.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The length of the UTF-8 sequence at s and its character; 0: it is not valid. */
static size_t decode(const unsigned char *s, uint32_t *c)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc0 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;

	*c = n == 1 ? s[0] : s[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*c = *c << 6 | (s[i] & 0x3f);
	}
	if (!n || s[0] > 0xf4 || *c < least[n] || *c > 0x10ffff || (*c >= 0xd800 && *c < 0xe000))
		return 0;
	return n;
}

static bool is_printable(uint32_t c)
{
	if (c < 0x20 || (c >= 0x7f && c < 0xa0))
		return false;
	/* Directional marks, line and paragraph separators, embeddings and isolates. */
	return c != 0x61c && c != 0x200e && c != 0x200f && !(c >= 0x2028 && c <= 0x202e) &&
	       !(c >= 0x2066 && c <= 0x2069) && c != 0xfeff;
}

void ibcc_clean(char *text, const char *keep)
{
	unsigned char *s = (unsigned char *)text;
	uint32_t c;

	while (*s) {
		size_t n = decode(s, &c);

		if (n && (is_printable(c) || (c < 0x80 && strchr(keep, (int)c)))) {
			s += n;
			continue;
		}
		for (n = n ? n : 1; n; n--, s++)
			*s = c < 0x80 && strchr("\t\n\v\f\r", *s) ? ' ' : '?';
	}
}

size_t ibcc_clean_cut(const char *text, size_t len)
{
	size_t n = strnlen(text, len);

	if (n == len)
		while (n && (text[n] & 0xc0) == 0x80)
			n--;
	return n;
}
