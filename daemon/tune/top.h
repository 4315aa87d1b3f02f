/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the daemon says of the last pass, again and again. */
#ifndef IBCC_TUNE_TOP_H
#define IBCC_TUNE_TOP_H

#include <stdio.h>
#include <time.h>

#include <jansson.h>

#include "daemon/tune/tune.h"

/* The view for a terminal of so many columns; `s` may be NULL, `trouble` then says why. */
void tune_top_screen(FILE *out, const json_t *s, const char *trouble, time_t now, int columns);
/* Such a view as it is drawn over the one before, cut to a terminal of that many rows (at least 1)
 * and columns.
 */
void tune_top_frame(FILE *out, const char *text, unsigned int rows, unsigned int columns);

/* A line for elsewhere, and what stands above the first. */
void tune_top_heading(FILE *out);
void tune_top_row(FILE *out, const json_t *s, time_t now);

#endif
