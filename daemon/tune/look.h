/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The look of the output: the unit of rates, and colours if they are wanted. Set once by main(). */
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
/* "auto" (if stdout is a capable terminal, unless NO_COLOR is set and not empty), "always" or
 * "never"; false for anything else.
 */
bool tune_set_color(const char *when);

/* The start of a style on stdout, which TUNE_PLAIN ends; "" without colours. */
const char *tune_style(enum tune_style style);

const char *tune_rate_unit(void);
/* A rate as text, without its unit. */
const char *tune_rate(double mbps, char *buf, size_t len);

#endif
