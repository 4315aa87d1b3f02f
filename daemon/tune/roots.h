/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBCC_TUNE_ROOTS_H
#define IBCC_TUNE_ROOTS_H

#include <jansson.h>

#include "daemon/tune/tune.h"

/* The "roots" of a plan: the first ones, which are the worst, in a table, and below it who waits
 * for them most. Of sources only those whose name matches `glob`, NULL for all.
 */
void tune_print_roots(const json_t *roots, const char *glob, const json_t *prediction);

/* One of them with its reason and all its sources. */
void tune_print_root(const json_t *root, size_t number, const char *glob, const json_t *prediction);

#endif
