/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "daemon/tune/table.h"

#include <libsmartcols/libsmartcols.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct tune_table {
	struct libscols_table *table;
	size_t n_columns;
};

struct tune_table *tune_table_new(const struct tune_column *columns, size_t n)
{
	struct tune_table *t = calloc(1, sizeof(*t));
	size_t i;

	scols_init_debug(0);
	if (!t || !(t->table = scols_new_table())) {
		free(t);
		return NULL;
	}
	t->n_columns = n;
	/* Redirected output is for grep and awk: not cut, not wrapped. */
	if (!isatty(STDOUT_FILENO))
		scols_table_set_termforce(t->table, SCOLS_TERMFORCE_NEVER);
	for (i = 0; i < n; i++) {
		int flags = columns[i].form == TUNE_RIGHT  ? SCOLS_FL_RIGHT
			    : columns[i].form == TUNE_WRAP ? SCOLS_FL_WRAP
							   : 0;

		scols_table_new_column(t->table, columns[i].name, 0, flags);
	}
	return t;
}

void tune_table_row(struct tune_table *t, const char *const *text)
{
	struct libscols_line *line = t ? scols_table_new_line(t->table, NULL) : NULL;
	size_t i;

	for (i = 0; line && i < t->n_columns; i++)
		scols_line_set_data(line, i, text[i]);
}

void tune_table_end(struct tune_table *t, const char *heading)
{
	if (!t)
		return;
	if (scols_table_get_nlines(t->table)) {
		printf("\n%s\n", heading);
		fflush(stdout);
		scols_print_table(t->table);
	}
	scols_unref_table(t->table);
	free(t);
}
