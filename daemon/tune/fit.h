/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tables that are too wide for a terminal. */
#ifndef IBCC_TUNE_FIT_H
#define IBCC_TUNE_FIT_H

#include <stdbool.h>

#include <ibcc/table.h>

/* Makes a table fit into this many columns of a terminal, by as few steps as possible. It first
 * hides columns without any value, then those that are optional (IBCC_SPARE). Then it hides those
 * with one value in all lines, and puts that into `same` as "NAME value, ...". Then it wraps names
 * of nodes, and whatever else may be wrapped, between words. If the user chose the columns, none is
 * hidden. Returns false if the table still does not fit.
 */
bool tune_table_fit(struct libscols_table *t, size_t columns, bool chosen, char *same, size_t len);

/* Prints each line as a list of the values in its visible columns. */
void tune_table_print_records(struct libscols_table *t);

/* The text of a line in a column, "" if there is none. */
const char *tune_cell_text(struct libscols_line *line, struct libscols_column *c);

#endif
