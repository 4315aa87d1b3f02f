/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tables on a terminal by libsmartcols. */
#ifndef PERFTEST_BENCH_TABLE_H
#define PERFTEST_BENCH_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include <libsmartcols/libsmartcols.h>

struct ibcc_table_column {
	const char *name;
	bool right; /* numbers */
};

/* A table that writes to out; NULL without memory. Freed with scols_unref_table(). */
struct libscols_table *ibcc_table_new(const struct ibcc_table_column *column, size_t n, FILE *out);

/* Adds a line of as many texts as there are columns; a NULL text is an empty cell. */
int ibcc_table_add(struct libscols_table *t, const char *const *cell);

/* A number with four significant digits, "-" for what cannot be told. */
const char *ibcc_table_number(double v, char *buf, size_t len);

/* Prints and frees. */
int ibcc_table_print(struct libscols_table *t);

#endif
