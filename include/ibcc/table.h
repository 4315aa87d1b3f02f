/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tables for people, by libsmartcols: as wide as the terminal, plain text elsewhere. */
#ifndef IBCC_TABLE_H
#define IBCC_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include <libsmartcols/libsmartcols.h>

struct ibcc_table_column {
	const char *name;
	/* Numbers are to the right; SPARE: like WRAP, but can be done without where there is no
	 * room. */
	enum { IBCC_LEFT, IBCC_RIGHT, IBCC_WRAP, IBCC_SPARE } form;
};

/* A table that writes to out; NULL without memory. Freed with scols_unref_table(). */
struct libscols_table *ibcc_table_new(const struct ibcc_table_column *column, size_t n, FILE *out);

/* Whether a column can be done without. */
bool ibcc_table_is_spare(struct libscols_column *c);

/* Adds a line of as many texts as there are columns, which are copied; a NULL text is an empty
 * cell. 0 or -ENOMEM, as with no table.
 */
int ibcc_table_add(struct libscols_table *t, const char *const *cell);

#define IBCC_CELL_BYTES 32u /* room for a number in a cell */
/* A number with four significant digits, "-" for an unknown one. */
const char *ibcc_table_number(double v, char *buf, size_t len);

/* Prints a table and frees it. */
int ibcc_table_print(struct libscols_table *t);
/* Prints a table and frees it; after an error `rc`, only frees it and returns rc. */
int ibcc_table_end(struct libscols_table *t, int rc);

/* Prints a table on stdout below a heading and frees it; prints nothing if it has no line. */
void ibcc_table_print_under(struct libscols_table *t, const char *heading);

#endif
