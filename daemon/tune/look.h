/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How things look: the unit of rates, and colours where they are wanted. Set once by main(). */
#ifndef IBCC_TUNE_LOOK_H
#define IBCC_TUNE_LOOK_H

#include <stdbool.h>
#include <stddef.h>

enum tune_style {
	TUNE_PLAIN,
	TUNE_BOLD,
	TUNE_DIM,
	TUNE_RED,
	TUNE_GREEN,
	TUNE_YELLOW,
	TUNE_STYLES,
};

/* "MB/s", the default, or "Gb/s"; false for anything else. */
bool tune_set_units(const char *name);
/* "auto" (on a terminal that can, unless NO_COLOR is set and not empty), "always" or "never"; false
 * for anything else.
 */
bool tune_set_color(const char *when);

/* What a style begins with on stdout, TUNE_PLAIN ends it; "" where there are no colours. */
const char *tune_style(enum tune_style style);

const char *tune_rate_unit(void);
/* A rate without its unit. */
const char *tune_rate(double mbps, char *buf, size_t len);

#endif
