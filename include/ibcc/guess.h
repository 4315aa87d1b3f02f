/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* "Did you mean": what a misspelt key, command or option most likely stands for. */
#ifndef IBCC_GUESS_H
#define IBCC_GUESS_H

#include <stddef.h>

/* The candidate (of n, by their index) that a misspelt word most likely meant: the one that the
 * fewest edits make of it, if these are few for its length. NULL if no candidate is close.
 */
const char *ibcc_guess_word(const char *word, const char *(*candidate)(const void *arg, size_t i),
			    const void *arg, size_t n);

#endif
