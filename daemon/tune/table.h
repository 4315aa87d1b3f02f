/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tables for people, by libsmartcols: as wide as the terminal, plain text elsewhere. */
#ifndef IBCC_TUNE_TABLE_H
#define IBCC_TUNE_TABLE_H

#include <stddef.h>

struct tune_table; /* NULL is a table that could not be made: adding and printing do nothing */

struct tune_column {
	const char *name;
	enum { TUNE_LEFT, TUNE_RIGHT, TUNE_WRAP } form;
};

struct tune_table *tune_table_new(const struct tune_column *columns, size_t n);
/* A row; texts are copied, one for each column. */
void tune_table_row(struct tune_table *t, const char *const *text);
/* Prints a heading and the table, nothing if it has no row; frees it. */
void tune_table_end(struct tune_table *t, const char *heading);

#endif
