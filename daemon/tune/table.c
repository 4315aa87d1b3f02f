/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tables with the columns and the order that a user asked for, or as CSV (table.h). It builds on
 * ibcc/table.h.
 */
#include "daemon/tune/table.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <ibcc/csv.h>

#include "daemon/tune/fit.h"
#include "daemon/tune/pager.h"
#include "daemon/tune/prose.h"

#define MOST_WISHES  16u /* columns that a user can choose, including the one to sort by */
#define NAME_BYTES   32u
#define MOST_COLUMNS 64u

static struct {
	char name[MOST_WISHES][NAME_BYTES];
	bool met[MOST_WISHES];
	size_t n; /* number of columns; the one to sort by follows them */
	bool sorts, descends, csv;
	unsigned int n_printed;
	char known[512]; /* names of all tables' columns */
	bool explains;
} wish;

/* What the columns of tables mean, by their names; the last table of a name counts. */
static struct {
	const char *name, *text;
	bool printed;
} legend[MOST_COLUMNS];
static size_t n_legends;

void tune_table_wish(const char *columns, const char *sort, bool csv)
{
	wish.csv = csv;
	while (columns && *columns && wish.n < MOST_WISHES - 1) {
		size_t len = strcspn(columns, ",");

		snprintf(wish.name[wish.n++], NAME_BYTES, "%.*s", (int)len, columns);
		columns += len + (columns[len] == ',');
	}
	wish.sorts = sort != NULL;
	wish.descends = sort && *sort == '-';
	if (sort)
		snprintf(wish.name[wish.n], NAME_BYTES, "%s", sort + wish.descends);
}

bool tune_table_is_chosen(void)
{
	return wish.n || wish.sorts;
}

bool tune_table_is_csv(void)
{
	return wish.csv;
}

static struct libscols_column *find(struct libscols_table *t, const char *name)
{
	for (size_t i = 0; i < scols_table_get_ncols(t); i++) {
		struct libscols_column *c = scols_table_get_column(t, i);

		if (!strcasecmp(scols_column_get_name(c), name))
			return c;
	}
	return NULL;
}

void tune_table_explain(void)
{
	wish.explains = true;
}

static void remember_legend(const struct tune_column *c)
{
	size_t i = 0;

	while (i < n_legends && strcmp(legend[i].name, c->name) != 0)
		i++;
	if (i == MOST_COLUMNS || (i < n_legends && !strcmp(legend[i].text, c->legend)))
		return;
	legend[i].name = c->name;
	legend[i].text = c->legend;
	legend[i].printed = false;
	n_legends += i == n_legends;
}

static void put_legend(FILE *out, int width, const char *name, const char *text)
{
	char label[NAME_BYTES + 4];

	snprintf(label, sizeof(label), "  %-14s ", name);
	tune_prose(out, width, 0, label, text);
}

void tune_table_print_legend(FILE *out, int width, const struct tune_column *column, size_t n)
{
	if (!wish.explains)
		return;
	fputc('\n', out);
	for (size_t i = 0; i < n; i++)
		put_legend(out, width, column[i].name, column[i].legend);
}

/* Prints what the visible columns mean, in their order, unless an earlier table has done so. */
static void print_legend(struct libscols_table *t)
{
	bool first = true;

	for (size_t k = 0; k < scols_table_get_ncols(t); k++) {
		struct libscols_column *c = scols_table_get_column(t, k);
		size_t i = 0;

		while (i < n_legends && strcasecmp(legend[i].name, scols_column_get_name(c)))
			i++;
		if (i == n_legends || scols_column_is_hidden(c) || legend[i].printed)
			continue;
		if (first)
			putchar('\n');
		first = false;
		legend[i].printed = true;
		put_legend(stdout, tune_columns(), legend[i].name, legend[i].text);
	}
}

struct libscols_table *tune_table_new_on(FILE *out, const struct tune_column *column, size_t n)
{
	struct ibcc_table_column plain[MOST_COLUMNS];

	n = n < MOST_COLUMNS ? n : MOST_COLUMNS;
	for (size_t i = 0; i < n; i++) {
		plain[i].name = column[i].name;
		plain[i].form = column[i].form;
	}
	return ibcc_table_new(plain, n, out);
}

struct libscols_table *tune_table_new(const struct tune_column *column, size_t n)
{
	struct libscols_table *t = tune_table_new_on(stdout, column, n);
	int width = tune_pager_columns();

	for (size_t i = 0; i < n; i++)
		remember_legend(&column[i]);
	if (t && *tune_style(TUNE_BOLD))
		scols_table_enable_colors(t, 1);
	if (t && width) {
		scols_table_set_termforce(t, SCOLS_TERMFORCE_ALWAYS);
		scols_table_set_termwidth(t, (size_t)width);
	}
	return t;
}

/* scols_table_get_line() would search the list from its start. */
static struct libscols_line *last_line(struct libscols_table *t)
{
	struct libscols_iter *it = scols_new_iter(SCOLS_ITER_BACKWARD);
	struct libscols_line *line = NULL;

	if (it && scols_table_next_line(t, it, &line))
		line = NULL;
	scols_free_iter(it);
	return line;
}

void tune_table_add(struct libscols_table *t, const char *const *cell, size_t styled,
		    enum tune_style style)
{
	struct libscols_line *line;
	struct libscols_cell *found;

	if (ibcc_table_add(t, cell) || style == TUNE_PLAIN || !*tune_style(style))
		return;
	line = last_line(t);
	found = line ? scols_line_get_cell(line, styled) : NULL;
	/* Without memory it has no style. */
	if (found)
		scols_cell_set_color(found, tune_style(style));
}

/* Compares numbers as numbers, other cells as text. */
static int compare(struct libscols_cell *a, struct libscols_cell *b, void *arg)
{
	const char *x = scols_cell_get_data(a), *y = scols_cell_get_data(b);
	char *x_end, *y_end;
	double p = strtod(x ? x : "", &x_end), q = strtod(y ? y : "", &y_end);
	int d;

	(void)arg;
	if (x && y && *x && *y && !*x_end && !*y_end)
		d = (p > q) - (p < q);
	else
		d = strcmp(x ? x : "", y ? y : "");
	return wish.descends ? -d : d;
}

static void sort(struct libscols_table *t)
{
	struct libscols_column *c = wish.sorts ? find(t, wish.name[wish.n]) : NULL;

	if (!c)
		return;
	wish.met[wish.n] = true;
	scols_column_set_cmpfunc(c, compare, NULL);
	scols_sort_table(t, c);
}

/* Finds the chosen columns, in the user's order. Returns their number; 0: leave the columns as they
 * are.
 */
static size_t choose(struct libscols_table *t, struct libscols_column **column)
{
	size_t n = 0;

	for (size_t i = 0; i < wish.n; i++) {
		struct libscols_column *c = find(t, wish.name[i]);

		if (!c)
			continue;
		wish.met[i] = true;
		column[n++] = c;
	}
	return n;
}

/* In CSV "name 0xguid" is two cells. */
static bool names_node(struct libscols_column *c)
{
	return !strcmp(scols_column_get_name(c), "NODE");
}

static void put_node(const char *text)
{
	const char *guid = NULL;
	char name[160];

	for (const char *at = text; at && (at = strstr(at, " 0x")); at++)
		guid = at;
	snprintf(name, sizeof(name), "%.*s", guid ? (int)(guid - text) : 0, guid ? text : "");
	ibcc_csv_put(stdout, guid ? name : text);
	putchar(',');
	ibcc_csv_put(stdout, guid ? guid + 1 : "");
}

static void print_csv(struct libscols_table *t, struct libscols_column *const *column, size_t n)
{
	struct libscols_iter *it = scols_new_iter(SCOLS_ITER_FORWARD);
	struct libscols_line *line;

	if (wish.n_printed > 1)
		putchar('\n');
	for (size_t k = 0; k < n; k++) {
		fputs(k ? "," : "", stdout);
		ibcc_csv_put(stdout, scols_column_get_name(column[k]));
		fputs(names_node(column[k]) ? ",GUID" : "", stdout);
	}
	putchar('\n');
	/* In the order of the list, which sorting changes, not of the lines' numbers. */
	while (it && !scols_table_next_line(t, it, &line)) {
		for (size_t k = 0; k < n; k++) {
			const char *text = tune_cell_text(line, column[k]);

			fputs(k ? "," : "", stdout);
			if (names_node(column[k]))
				put_node(text);
			else
				ibcc_csv_put(stdout, text);
		}
		putchar('\n');
	}
	scols_free_iter(it);
}

/* Moves the chosen columns to the front, and removes the others. */
static void arrange(struct libscols_table *t, struct libscols_column *const *column, size_t n)
{
	size_t all = scols_table_get_ncols(t);

	for (size_t i = n; i; i--)
		scols_table_move_column(t, NULL, column[i - 1]);
	for (size_t i = n; n && i < all; i++) {
		struct libscols_column *c = scols_table_get_column(t, i);

		scols_column_set_flags(c, scols_column_get_flags(c) | SCOLS_FL_HIDDEN);
	}
}

static void print_in(struct libscols_table *t, bool chosen)
{
	size_t columns = (size_t)tune_columns();
	char same[256];

	/* Output that is not a terminal has no edge. */
	if (tune_table_fit(t, columns ? columns : SIZE_MAX, chosen, same, sizeof(same)))
		scols_print_table(t);
	else
		tune_table_print_records(t);
	if (same[0])
		tune_say("All: ", "%s.", same);
	if (wish.explains)
		print_legend(t);
}

/* Remembers the names for the message about an unknown column. */
static void remember_names(struct libscols_table *t)
{
	for (size_t i = 0; i < scols_table_get_ncols(t); i++) {
		const char *name = scols_column_get_name(scols_table_get_column(t, i));
		size_t len = strlen(wish.known), n = strlen(name);
		const char *at = wish.known;

		while ((at = strstr(at, name)) &&
		       ((at > wish.known && at[-1] != ' ') || (at[n] && at[n] != ',')))
			at++;
		if (!at && len + n + 3 < sizeof(wish.known))
			snprintf(wish.known + len, sizeof(wish.known) - len, "%s%s",
				 len ? ", " : "", name);
	}
}

void tune_table_print_under(struct libscols_table *t, const char *heading)
{
	struct libscols_column *column[MOST_COLUMNS];
	size_t n, all = t ? scols_table_get_ncols(t) : 0;

	if (!t)
		return;
	wish.n_printed++;
	sort(t);
	remember_names(t);
	n = choose(t, column);
	/* This table has none of the wanted columns, so it is not printed. */
	if (wish.n && !n) {
		scols_unref_table(t);
		return;
	}
	if (!wish.csv) {
		arrange(t, column, n);
		if (scols_table_get_nlines(t))
			printf("\n%s%s%s\n", tune_style(TUNE_BOLD), heading,
			       tune_style(TUNE_PLAIN));
		fflush(stdout);
		if (scols_table_get_nlines(t))
			print_in(t, n > 0);
		scols_unref_table(t);
		return;
	}
	for (size_t i = 0; !n && i < all && i < MOST_COLUMNS; i++)
		column[i] = scols_table_get_column(t, i);
	print_csv(t, column, n ? n : all);
	scols_unref_table(t);
}

const char *tune_table_missed(const char **known)
{
	*known = wish.known;
	for (size_t i = 0; wish.n_printed && i < wish.n + wish.sorts; i++)
		if (!wish.met[i])
			return wish.name[i];
	return NULL;
}
