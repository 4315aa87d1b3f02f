/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A sentence that goes along with an error number, for the person who reads the message. */
#ifndef IBCC_WHY_H
#define IBCC_WHY_H

#include <stddef.h>

#define IBCC_WHY_BYTES 512u

struct ibcc_why {
	char text[IBCC_WHY_BYTES]; /* empty: nothing to say */
};

/* Sets the sentence; `w` may be NULL. Returns `err`, so that a caller can say why and return. */
int ibcc_why_set(struct ibcc_why *w, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
