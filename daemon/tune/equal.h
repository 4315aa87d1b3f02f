/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Settings that several nodes share, as one row. */
#ifndef IBCC_TUNE_EQUAL_H
#define IBCC_TUNE_EQUAL_H

#include <stddef.h>

#include "daemon/tune/show.h"

/* Equal settings: their cells but the first one, which is the port, and the places that have them.
 */
struct tune_equal {
	const char *cell[TUNE_CA_CELLS]; /* the first is NULL */
	char *cells;                     /* what they point into; private */
	char where[256];                 /* the first places: leaf2/2 is port 2 of leaf2 */
	unsigned int n;                  /* places */
};

/* All of a kind. Begin with n_cells, at most TUNE_CA_CELLS, and else zeros. */
struct tune_equals {
	size_t n_cells;
	struct tune_equal *row; /* in the order in which they came */
	size_t n;
	unsigned int n_left; /* settings left out because there was no memory */
	json_t *index;       /* number of a row by its cells; private */
};

/* Adds a row of settings of a node; a tune_setting_fn, whose `arg` is the struct tune_equals. Takes
 * the same time however many rows there are.
 */
void tune_equals_take(void *arg, const json_t *node, const char *const *cell);
void tune_equals_fini(struct tune_equals *all);

/* "h1/1, h2/1, h3/1, h4/1, h5/1 and 11659 more". Returns buf. */
const char *tune_equal_where(const struct tune_equal *r, char *buf, size_t len);

#endif
