/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sentences put together from pieces in a buffer of fixed size. Internal to lib/core. */
#ifndef IBCC_TEXT_H
#define IBCC_TEXT_H

#include <stddef.h>

/* n goes on counting when the buffer is full, as snprintf()'s result does. */
struct ibcc_text {
	char *buf;
	size_t len, n;
};

/* Goes on where the last piece ended; the buffer is always terminated, too long text cut off. */
__attribute__((format(printf, 2, 3))) void ibcc_text_add(struct ibcc_text *x, const char *fmt, ...);
/* The same for a sentence of its own: a semicolon parts it from what is there. */
__attribute__((format(printf, 2, 3))) void ibcc_text_say(struct ibcc_text *x, const char *fmt, ...);

#endif
