/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Shows the daemon's report of the last polling cycle repeatedly. */
#ifndef IBCC_TUNE_TOP_H
#define IBCC_TUNE_TOP_H

#include <stdio.h>
#include <time.h>

#include <jansson.h>

#include "daemon/tune/tune.h"

/* The view for a terminal of `columns`; `s` may be NULL, then `trouble` says why. */
void tune_top_screen(FILE *out, const json_t *s, const char *trouble, time_t now, int columns);
/* Draws such a view over the one before, cut to a terminal of `rows` (at least 1) and `columns`. */
void tune_top_frame(FILE *out, const char *text, unsigned int rows, unsigned int columns);

/* The heading and the line for output that is not a terminal. */
void tune_top_heading(FILE *out);
void tune_top_row(FILE *out, const json_t *s, time_t now);

#endif
