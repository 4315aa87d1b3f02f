/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tables with the columns and in the order that the command line asks for. */
#ifndef IBCC_TUNE_TABLE_H
#define IBCC_TUNE_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include <ibcc/table.h>

#include "daemon/tune/look.h"

/* Sets how all tables look, once. `columns`: names separated by commas, in that order. `sort`: the
 * column to sort by, with "-" in front for descending order. `csv`: print as CSV (RFC 4180), where
 * a node's GUID is a separate column. A table without any of these columns stays as it is. The
 * texts are borrowed; NULL: not set.
 */
void tune_table_wish(const char *columns, const char *sort, bool csv);
bool tune_table_is_csv(void);
/* Whether columns or an order of lines were asked for. */
bool tune_table_is_chosen(void);
/* From now on a legend follows each table: what its columns mean, each column once. CSV has none.
 */
void tune_table_explain(void);

/* A column: its name, its form as in struct ibcc_table_column, and what it means. */
struct tune_column {
	const char *name;
	int form;
	const char *legend;
};

/* A table for stdout. The texts of the columns are borrowed. */
struct libscols_table *tune_table_new(const struct tune_column *column, size_t n);
/* A table for another stream, which has neither a legend nor colours. */
struct libscols_table *tune_table_new_on(FILE *out, const struct tune_column *column, size_t n);
/* If a legend is wanted, prints an empty line and what these columns mean, in lines of `width` (0:
 * one line for each column).
 */
void tune_table_print_legend(FILE *out, int width, const struct tune_column *column, size_t n);
/* As ibcc_table_add(), with a style for one cell. */
void tune_table_add(struct libscols_table *t, const char *const *cell, size_t styled,
		    enum tune_style style);
/* As ibcc_table_print_under(). CSV has no heading, but an empty line before a further table. */
void tune_table_print_under(struct libscols_table *t, const char *heading);

/* Call after all tables: returns a column that none of them has. NULL if there is no such column,
 * or no table was printed.
 */
const char *tune_table_missed(const char **known);

#endif
