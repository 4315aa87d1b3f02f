/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Line charts as SVG, for reports that are one file. */
#ifndef IBCC_PLOT_H
#define IBCC_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define IBCC_PLOT_MAX_SERIES 8u

struct ibcc_plot_series {
	const char *name;
	const double *x, *y; /* n points, x not falling; NAN in y leaves a gap */
	size_t n;
	bool step; /* holds each value until the next point: for settings */
};

/* A moment worth a vertical line. */
struct ibcc_plot_mark {
	double x;
	const char *text;
};

struct ibcc_plot {
	const char *title, *x_label, *y_label;
	bool x_log;   /* logarithmic x axis, if all x are above zero */
	bool x_clock; /* x are hours from a midnight on, and shown as hours and minutes */
	bool narrow;  /* half as wide, for two in a row or a phone: names above, not beside */
	const struct ibcc_plot_series *series;
	size_t n_series; /* 1..IBCC_PLOT_MAX_SERIES */
	const struct ibcc_plot_mark *mark;
	size_t n_marks;
	double y_end;  /* not 0: no y can be more, so the axis ends there at the latest */
	double y_line; /* not 0: a dashed line at this value, called y_line_text */
	const char *y_line_text;
};

/* Writes one <svg> element. Axes begin at zero and end at a round number; colours stay apart for
 * readers who cannot tell red from green. Parts have classes, so that a page can give them others:
 * ground, grid, axis, mark, soft (text), and s0, s1 ... around a series, whose colour is `color`.
 * Returns 0, -EINVAL (no series, or too many), -EIO.
 */
int ibcc_plot_svg(const struct ibcc_plot *p, FILE *out);

/* Writes several, one below the other, as one <svg> element. */
int ibcc_plot_panels(const struct ibcc_plot *p, size_t n, FILE *out);

/* Shortens a name that is too long for its place by its middle, since names of nodes differ at
 * their ends. At most `most` bytes are left, in a buffer with room for four more.
 */
const char *ibcc_plot_cut(const char *name, size_t most, char *buf, size_t size);

/* Writes text with the characters that HTML and SVG reserve escaped. */
void ibcc_plot_text(FILE *out, const char *text);

#endif
