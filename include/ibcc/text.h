/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sentences that are put together from pieces in a buffer of fixed size. */
#ifndef IBCC_TEXT_H
#define IBCC_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* n goes on counting when the buffer is full, as snprintf()'s result does. */
struct ibcc_text {
	char *buf;
	size_t len, n;
};

/* Appends a piece. The buffer is always terminated; text that does not fit is cut off. */
__attribute__((format(printf, 2, 3))) void ibcc_text_add(struct ibcc_text *x, const char *fmt, ...);
/* Appends a sentence of its own: a semicolon separates it from what is there. */
__attribute__((format(printf, 2, 3))) void ibcc_text_say(struct ibcc_text *x, const char *fmt, ...);

/* Which of two forms a sentence has for n things: `one` for 1, else `many`. They may be endings
 * ("", "s"), so that
 * "%u node%s" says "1 node" and "2 nodes", or other words ("is", "are").
 */
static inline const char *ibcc_text_plural(uint64_t n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}

#endif
