/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Makes a table fit the terminal (fit.h): hides columns without information, then wraps the widest.
 * Lines are visited with an iterator: scols_table_get_line() searches a list from its start.
 */
#include "daemon/tune/fit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/tune/prose.h"

#define MOST_COLUMNS 64u

struct column {
	struct libscols_column *c;
	size_t width, word; /* the widest cell, and the widest word of any cell */
	bool empty, same;   /* true for all cells of the column */
};

struct columns {
	struct column at[MOST_COLUMNS];
	size_t n;
};

const char *tune_cell_text(struct libscols_line *line, struct libscols_column *c)
{
	struct libscols_cell *cell = scols_line_get_column_cell(line, c);
	const char *text = cell ? scols_cell_get_data(cell) : NULL;

	return text ? text : "";
}

static bool may_be_wrapped(struct libscols_column *c)
{
	return scols_column_is_wrap(c) || !strcmp(scols_column_get_name(c), "NODE");
}

static size_t widest_word(const char *text)
{
	size_t widest = 0;

	for (size_t word = 0, bytes; *text; text += bytes) {
		size_t n = tune_char_width(text, &bytes);

		word = *text == ' ' ? 0 : word + n;
		widest = word > widest ? word : widest;
	}
	return widest;
}

/* `it` may stand anywhere. */
static void measure(struct libscols_table *t, struct column *k, struct libscols_iter *it)
{
	struct libscols_line *line;
	const char *first = NULL;

	k->width = tune_width(scols_column_get_name(k->c));
	k->word = may_be_wrapped(k->c) ? widest_word(scols_column_get_name(k->c)) : k->width;
	k->empty = k->same = true;
	scols_reset_iter(it, SCOLS_ITER_FORWARD);
	while (!scols_table_next_line(t, it, &line)) {
		const char *text = tune_cell_text(line, k->c);
		size_t len = tune_width(text),
		       word = may_be_wrapped(k->c) ? widest_word(text) : len;

		k->width = len > k->width ? len : k->width;
		k->word = word > k->word ? word : k->word;
		k->empty = k->empty && !len;
		first = first ? first : text;
		k->same = k->same && !strcmp(text, first);
	}
}

/* Looks at the visible columns. */
static void look(struct libscols_table *t, struct columns *all)
{
	struct libscols_iter *it = scols_new_iter(SCOLS_ITER_FORWARD);

	all->n = 0;
	for (size_t i = 0; it && i < scols_table_get_ncols(t) && all->n < MOST_COLUMNS; i++) {
		struct column *k = &all->at[all->n];

		k->c = scols_table_get_column(t, i);
		if (scols_column_is_hidden(k->c))
			continue;
		measure(t, k, it);
		all->n++;
	}
	scols_free_iter(it);
}

static size_t total(const struct columns *all)
{
	size_t n = all->n ? all->n - 1 : 0;

	for (size_t i = 0; i < all->n; i++)
		n += all->at[i].width;
	return n;
}

static void hide(struct columns *all, size_t i)
{
	struct libscols_column *c = all->at[i].c;

	scols_column_set_flags(c, scols_column_get_flags(c) | SCOLS_FL_HIDDEN);
	memmove(&all->at[i], &all->at[i + 1], (all->n - i - 1) * sizeof(all->at[0]));
	all->n--;
}

static bool is_empty(struct libscols_table *t, const struct column *k)
{
	(void)t;
	return k->empty;
}

static bool is_spare(struct libscols_table *t, const struct column *k)
{
	(void)t;
	return ibcc_table_is_spare(k->c);
}

static bool is_same(struct libscols_table *t, const struct column *k)
{
	return k->same && scols_table_get_nlines(t) > 1;
}

/* The first column stays: it names the subject of a line. */
static void hide_such(struct libscols_table *t, struct columns *all,
		      bool (*such)(struct libscols_table *, const struct column *), char *tell,
		      size_t len)
{
	for (size_t i = 1; i < all->n;) {
		const struct column *k = &all->at[i];
		size_t n = tell ? strlen(tell) : 0;

		if (!such(t, k)) {
			i++;
			continue;
		}
		if (tell)
			snprintf(tell + n, len - n, "%s%s %s", n ? ", " : "",
				 scols_column_get_name(k->c),
				 tune_cell_text(scols_table_get_line(t, 0), k->c));
		hide(all, i);
	}
}

/* Shrinks the widest column that may be wrapped first, at most to the width of its words. */
static void shrink(struct columns *all, size_t columns)
{
	for (size_t over = total(all); over > columns; over--) {
		struct column *most = NULL;

		for (size_t i = 0; i < all->n; i++) {
			struct column *k = &all->at[i];

			if (may_be_wrapped(k->c) && k->width > k->word &&
			    (!most || k->width > most->width))
				most = k;
		}
		if (!most)
			return;
		most->width--;
	}
}

static int wrap(struct libscols_table *t, const struct column *k)
{
	struct libscols_iter *it = scols_new_iter(SCOLS_ITER_FORWARD);
	struct libscols_line *line;
	int rc = it ? 0 : -1;

	scols_column_set_flags(k->c, scols_column_get_flags(k->c) | SCOLS_FL_WRAP);
	scols_column_set_safechars(k->c, "\n");
	scols_column_set_wrapfunc(k->c, scols_wrapnl_chunksize, scols_wrapnl_nextchunk, NULL);
	while (!rc && !scols_table_next_line(t, it, &line)) {
		char *text = strdup(tune_cell_text(line, k->c));

		if (text)
			tune_fill(text, k->width);
		rc = text ? scols_line_set_column_data(line, k->c, text) : -1;
		free(text);
	}
	scols_free_iter(it);
	return rc;
}

bool tune_table_fit(struct libscols_table *t, size_t columns, bool chosen, char *same, size_t len)
{
	struct columns all;

	same[0] = '\0';
	look(t, &all);
	if (!chosen)
		hide_such(t, &all, is_empty, NULL, 0);
	if (total(&all) <= columns)
		return true;
	if (!chosen)
		hide_such(t, &all, is_spare, NULL, 0);
	if (!chosen && total(&all) > columns)
		hide_such(t, &all, is_same, same, len);
	shrink(&all, columns);
	if (total(&all) > columns)
		return false;
	for (size_t i = 0; i < all.n; i++)
		if (may_be_wrapped(all.at[i].c) && wrap(t, &all.at[i]))
			return false;
	return true;
}

void tune_table_print_records(struct libscols_table *t)
{
	struct libscols_iter *it = scols_new_iter(SCOLS_ITER_FORWARD);
	struct libscols_line *line;
	struct columns all;
	size_t label = 0;

	look(t, &all);
	for (size_t i = 0; i < all.n; i++) {
		size_t n = tune_width(scols_column_get_name(all.at[i].c));

		label = n > label ? n : label;
	}
	for (bool first = true; it && !scols_table_next_line(t, it, &line); first = false) {
		if (!first)
			putchar('\n');
		for (size_t i = 0; i < all.n; i++) {
			const char *text = tune_cell_text(line, all.at[i].c);
			char name[64];

			snprintf(name, sizeof(name), "%-*s  ", (int)label,
				 scols_column_get_name(all.at[i].c));
			if (text[0])
				tune_say(name, "%s", text);
		}
	}
	scols_free_iter(it);
}
