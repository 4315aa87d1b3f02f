/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/table.h>

#include "perftest/bench/report.h"
#include "perftest/lab/best.h"

#define POINT_CHARS 400
#define MAX_COLUMNS 32 /* without the rank */

/* What the table shows: the rank, numbers of the result, and the point as one text or, of fits,
 * which have longer ones, value by value.
 */
struct columns {
	size_t n_numbers, n_values;
	const char *key[MAX_COLUMNS];
	char title[MAX_COLUMNS][64]; /* of values */
	struct ibcc_table_column table[MAX_COLUMNS + 1];
};

static void sweep_columns(struct columns *c)
{
	static const char *const metrics[] = { "ideal_share", "aggregate_mbps",  "hot_mbps",
					       "victim_mbps", "background_mbps", "latency_us" };
	static const char *const titles[] = { "IDEAL SHARE", "AGGREGATE Mb/s",  "HOT Mb/s",
					      "VICTIM Mb/s", "BACKGROUND Mb/s", "LATENCY us" };

	for (c->n_numbers = 0; c->n_numbers < sizeof(metrics) / sizeof(*metrics); c->n_numbers++) {
		c->key[c->n_numbers] = metrics[c->n_numbers];
		c->table[c->n_numbers + 1] =
			(struct ibcc_table_column){ titles[c->n_numbers], true };
	}
	c->table[c->n_numbers + 1] = (struct ibcc_table_column){ "POINT", false };
}

/* "b" of "a.b+c.d". */
static void last_word(const char *keys, char *out, size_t len)
{
	size_t end = strcspn(keys, "+"), at = end;

	while (at > 0 && keys[at - 1] != '.')
		at--;
	snprintf(out, len, "%.*s", (int)(end - at), keys + at);
}

/* A fit's are the miss and the rows of its experiment, then the values by the last word of their
 * key.
 */
static void fit_columns(struct columns *c, json_t *o)
{
	const char *key;
	json_t *v;

	json_object_foreach (json_object_get(o, "result"), key, v) {
		if (c->n_numbers == MAX_COLUMNS)
			break;
		c->key[c->n_numbers] = key;
		c->table[++c->n_numbers] = (struct ibcc_table_column){ key, true };
	}
	json_object_foreach (json_object_get(o, "point"), key, v) {
		char *title;

		if (c->n_numbers + c->n_values == MAX_COLUMNS)
			break;
		title = c->title[c->n_values];
		last_word(key, title, sizeof(c->title[0]));
		c->key[c->n_numbers + c->n_values++] = key;
		c->table[c->n_numbers + c->n_values] = (struct ibcc_table_column){ title, true };
	}
}

static void point_text(json_t *o, char *buf, size_t len)
{
	const char *key;
	json_t *v;
	size_t at = 0;

	buf[0] = '\0';
	json_object_foreach (json_object_get(o, "point"), key, v) {
		int n = snprintf(buf + at, len - at, "%s%s=%s", at ? " " : "", key,
				 json_string_value(v) ? json_string_value(v) : "?");

		if (n < 0 || (size_t)n >= len - at)
			return;
		at += (size_t)n;
	}
}

static int add_line(struct libscols_table *t, const struct columns *c, size_t rank,
		    const char *what, json_t *o)
{
	const json_t *result = json_object_get(o, "result"), *values = json_object_get(o, "point");
	char buf[MAX_COLUMNS][32], point[POINT_CHARS], first[64];
	const char *cell[MAX_COLUMNS + 1] = { first };
	size_t at = 1;

	snprintf(first, sizeof(first), "%s%zu", what, rank);
	for (size_t k = 0; k < c->n_numbers; k++)
		cell[at++] =
			ibcc_table_number(json_number_value(json_object_get(result, c->key[k])),
					  buf[k], sizeof(buf[k]));
	point_text(o, point, sizeof(point));
	if (!c->n_values)
		cell[at++] = point;
	for (size_t k = 0; k < c->n_values; k++)
		cell[at++] = json_string_value(json_object_get(values, c->key[c->n_numbers + k]));
	return ibcc_table_add(t, cell);
}

/* Puts a value where its path of keys says. */
static void put(json_t *tree, char *path, const char *value)
{
	char *save = NULL, *key = strtok_r(path, ".", &save), *next;

	while (key && (next = strtok_r(NULL, ".", &save))) {
		if (!json_object_get(tree, key))
			json_object_set_new(tree, key, json_object());
		tree = json_object_get(tree, key);
		key = next;
	}
	json_object_set_new(tree, key ? key : "", json_string(value));
}

static void write_lines(json_t *tree, int depth, FILE *out)
{
	const char *key;
	json_t *v;

	json_object_foreach (tree, key, v) {
		fprintf(out, "%*s%s:", 2 * depth, "", key);
		if (json_is_string(v)) {
			fprintf(out, " %s\n", json_string_value(v));
			continue;
		}
		fputc('\n', out);
		write_lines(v, depth + 1, out);
	}
}

/* A point as a scenario has it. */
static int print_lines(json_t *o, FILE *out)
{
	json_t *tree = json_object(), *v;
	const char *key;

	json_object_foreach (json_object_get(o, "point"), key, v) {
		char *keys = strdup(key), *save = NULL, *one = keys;

		if (!keys) {
			json_decref(tree);
			return -ENOMEM;
		}
		for (one = strtok_r(keys, "+", &save); one; one = strtok_r(NULL, "+", &save)) {
			char *path = strdup(one);

			if (path)
				put(tree, path, json_string_value(v) ? json_string_value(v) : "");
			free(path);
		}
		free(keys);
	}
	fputs("\nThe best as lines of the scenario:\n", out);
	write_lines(tree, 1, out);
	json_decref(tree);
	return ferror(out) ? -EIO : 0;
}

int ibcc_best_table(const struct ibcc_best *b, FILE *out)
{
	struct columns c = { .n_numbers = 0 };
	struct libscols_table *t;
	char median[32];
	size_t good = b->n < IBCC_BEST_GOOD ? b->n : IBCC_BEST_GOOD;
	int rc;

	if (b->fits && b->n)
		fit_columns(&c, b->result[0]);
	else
		sweep_columns(&c);
	c.table[0] = (struct ibcc_table_column){ "RANK", true };
	t = ibcc_table_new(c.table, c.n_numbers + (c.n_values ? c.n_values : 1) + 1, out);
	rc = t ? 0 : -ENOMEM;
	for (size_t i = 0; i < b->n && i < b->n_show && !rc; i++)
		rc = add_line(t, &c, i + 1, "", b->result[i]);
	snprintf(median, sizeof(median), "median of %zu: ", good);
	if (!rc && b->fits && b->n)
		rc = add_line(t, &c, ibcc_best_median(b) + 1, median,
			      b->result[ibcc_best_median(b)]);
	for (size_t i = 0; i < b->n_given && !rc; i++)
		rc = add_line(t, &c, ibcc_best_rank(b, b->given[i]), "given: ", b->given[i]);
	rc = ibcc_table_end(t, rc);
	if (rc)
		return rc;
	return rc || !b->fits || !b->n ? rc : print_lines(b->result[0], out);
}

json_t *ibcc_best_json(const struct ibcc_best *b)
{
	json_t *best = json_array(), *given = json_array(), *all;

	for (size_t i = 0; i < b->n && i < b->n_show; i++)
		json_array_append(best, b->result[i]);
	for (size_t i = 0; i < b->n_given; i++) {
		json_t *o = json_copy(b->given[i]);

		json_object_set_new(o, "rank",
				    json_integer((json_int_t)ibcc_best_rank(b, b->given[i])));
		json_array_append_new(given, o);
	}
	all = json_pack("{si ss sI so}", "schema", 1, "by", b->by ? b->by : "ideal_share", "points",
			(json_int_t)b->seen, "best", best);
	if (b->fits && b->n)
		json_object_set(all, "median", b->result[ibcc_best_median(b)]);
	if (b->n_given)
		json_object_set(all, "given", given);
	json_decref(given);
	return all;
}
