/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tables that are too wide for a terminal. */
#ifndef IBCC_TUNE_FIT_H
#define IBCC_TUNE_FIT_H

#include <stdbool.h>

#include <ibcc/table.h>

/* Makes a table fit into so many columns, by no more than that takes of: columns without any value
 * are hidden; those that may be missing (IBCC_SPARE) are; those that are the same in each line are,
 * and told in `same` as "NAME value, ..."; names of nodes and what may be wrapped get lines between
 * words. Where columns were chosen none is hidden. Returns false if it does not fit all the same.
 */
bool tune_table_fit(struct libscols_table *t, size_t columns, bool chosen, char *same, size_t len);

/* Prints each line as a list of what its visible columns have. */
void tune_table_print_records(struct libscols_table *t);

/* What a line has in a column, "" for nothing. */
const char *tune_cell_text(struct libscols_line *line, struct libscols_column *c);

#endif
