/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tables with the columns and in the order that the command line asks for. */
#ifndef IBCC_TUNE_TABLE_H
#define IBCC_TUNE_TABLE_H

#include <stdbool.h>

#include <ibcc/table.h>

#include "daemon/tune/look.h"

/* What all tables are to be like, once: columns by name, separated by commas, in that order; the
 * one to sort by, with a "-" in front from the most on; and whether as CSV (RFC 4180), where a
 * node's GUID is a column of its own. A table that
 * has none of these columns is as it is. The texts are borrowed, NULL for what was not asked.
 */
void tune_table_wish(const char *columns, const char *sort, bool csv);
bool tune_table_is_csv(void);

/* A table on stdout. */
struct libscols_table *tune_table_new(const struct ibcc_table_column *column, size_t n);
/* As ibcc_table_add(), with a style for one cell. */
void tune_table_add(struct libscols_table *t, const char *const *cell, size_t styled,
		    enum tune_style style);
/* As ibcc_table_print_under(); CSV has no heading, but an empty line before another table. */
void tune_table_print_under(struct libscols_table *t, const char *heading);

/* After all tables: a column that none of them has; NULL if there is no such, or was no table. */
const char *tune_table_missed(const char **known);

#endif
