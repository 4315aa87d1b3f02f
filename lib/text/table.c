/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tables by libsmartcols (table.h). On a terminal they fit its width; redirected, nothing is cut
 * or wrapped.
 */
#include <ibcc/table.h>

#include <errno.h>
#include <math.h>
#include <unistd.h>

static char spare; /* its address marks a column */

struct libscols_table *ibcc_table_new(const struct ibcc_table_column *column, size_t n, FILE *out)
{
	struct libscols_table *t = scols_new_table();

	if (!t)
		return NULL;
	scols_table_set_stream(t, out);
	/* Redirected output is for grep and awk: not cut, not wrapped. */
	if (!isatty(fileno(out)))
		scols_table_set_termforce(t, SCOLS_TERMFORCE_NEVER);
	for (size_t i = 0; i < n; i++) {
		int flags = column[i].form == IBCC_RIGHT  ? SCOLS_FL_RIGHT
			    : column[i].form != IBCC_LEFT ? SCOLS_FL_WRAP
							  : 0;
		struct libscols_column *c = scols_table_new_column(t, column[i].name, 0, flags);

		if (c && column[i].form == IBCC_SPARE)
			scols_cell_set_userdata(scols_column_get_header(c), &spare);
		if (c)
			continue;
		scols_unref_table(t);
		return NULL;
	}
	return t;
}

bool ibcc_table_is_spare(struct libscols_column *c)
{
	return scols_cell_get_userdata(scols_column_get_header(c)) == &spare;
}

int ibcc_table_add(struct libscols_table *t, const char *const *cell)
{
	struct libscols_line *line = t ? scols_table_new_line(t, NULL) : NULL;
	size_t n = line ? scols_table_get_ncols(t) : 0;
	int rc = line ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !rc; i++)
		if (cell[i])
			rc = scols_line_set_data(line, i, cell[i]);
	return rc;
}

const char *ibcc_table_number(double v, char *buf, size_t len)
{
	double size = fabs(v);

	if (isnan(v))
		return "-";
	if (isinf(v))
		return v > 0 ? "never" : "-";
	snprintf(buf, len, "%.*f", size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3, v);
	return buf;
}

int ibcc_table_print(struct libscols_table *t)
{
	int rc = t ? scols_print_table(t) : -ENOMEM;

	scols_unref_table(t);
	return rc ? -EIO : 0;
}

int ibcc_table_end(struct libscols_table *t, int rc)
{
	if (!rc)
		return ibcc_table_print(t);
	scols_unref_table(t);
	return rc;
}

void ibcc_table_print_under(struct libscols_table *t, const char *heading)
{
	if (!t || !scols_table_get_nlines(t)) {
		scols_unref_table(t);
		return;
	}
	printf("\n%s\n", heading);
	fflush(stdout);
	ibcc_table_print(t);
}
