/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The difference of two texts, for people and for patch(1). */
#ifndef IBCC_DIFF_H
#define IBCC_DIFF_H

#include <stddef.h>

/* Writes how text `b` differs from text `a` as a unified diff with three lines of context, under
 * these names, which have no control characters. Lines are compared with the one at the same place,
 * so the texts have as many lines (-EINVAL): that is right where words in lines were changed.
 * diff -u can show less where a changed line is equal to another old one. Returns 0 and the diff,
 * "" if the texts are equal, which the caller frees; -ENOMEM.
 */
int ibcc_diff(const char *a_name, const char *a, size_t a_len, const char *b_name, const char *b,
	      size_t b_len, char **out);

#endif
