/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Prints what an adapter says of its own algorithms, from the output of mstreg or mlxreg in a file
 * (show --ppcc). Asks no fabric.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/ppcc.h>
#include <ibcc/text.h>

#include "daemon/tune/prose.h"
#include "daemon/tune/table.h"
#include "daemon/tune/tune.h"

/* All that NVIDIA's support collectors print of one adapter takes less than a megabyte. */
#define FILE_BYTES (16u << 20)
#define CELL       24

static const char *const access_words[] = { "read", "write", "read and clear", "not known" };

/* Reads a whole file; the caller frees it. NULL: *rc is a negative errno. */
static char *read_file(const char *path, size_t *len, int *rc)
{
	FILE *f = fopen(path, "re");
	char *text = f ? malloc(FILE_BYTES + 1) : NULL;

	*rc = text ? 0 : errno ? -errno : -ENOMEM;
	*len = text ? fread(text, 1, FILE_BYTES + 1, f) : 0;
	if (text && ferror(f))
		*rc = errno ? -errno : -EIO;
	if (*len > FILE_BYTES)
		*rc = -EFBIG;
	if (f)
		fclose(f);
	if (!*rc)
		return text;
	free(text);
	return NULL;
}

static json_t *parameters(const struct ibcc_ppcc_algorithm *s)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < s->n_parameters; i++) {
		const struct ibcc_ppcc_parameter *p = &s->parameter[i];
		json_t *o;

		if (!p->has_value && !p->name[0])
			continue;
		o = json_pack("{si so}", "index", (int)i, "value",
			      p->has_value ? json_integer(p->value) : json_null());
		if (p->name[0])
			json_object_update_new(
				o, json_pack("{ss ss sI sI sI ss}", "name", p->name, "about",
					     p->about, "default", (json_int_t)p->initial, "min",
					     (json_int_t)p->min, "max", (json_int_t)p->max,
					     "access", access_words[p->access]));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *to_json(const struct ibcc_ppcc *p)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < IBCC_PPCC_SLOTS; i++) {
		const struct ibcc_ppcc_algorithm *s = &p->slot[i];

		if (!s->present)
			continue;
		json_array_append_new(
			list,
			json_pack("{si so so so ss ss so}", "slot", (int)i, "algorithm",
				  s->id ? json_integer(s->id) : json_null(), "version",
				  s->id ? json_sprintf("%u.%u", s->major, s->minor) : json_null(),
				  "enabled",
				  s->enabled < 0 ? json_null() : json_boolean(s->enabled), "name",
				  s->name, "about", s->about, "parameters", parameters(s)));
	}
	return json_pack("{si so}", "schema", 1, "algorithms", list);
}

static void number(char *cell, const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	snprintf(cell, CELL, "%s", "-");
	if (json_is_integer(v))
		snprintf(cell, CELL, "%lld", json_integer_value(v));
}

static void print_algorithms(const json_t *list)
{
	static const struct tune_column columns[] = {
		{ "SLOT", IBCC_RIGHT, "place among the adapter's algorithms" },
		{ "ALGORITHM", IBCC_RIGHT, "number of the algorithm, as ibcc-tune status has it" },
		{ "VERSION", IBCC_LEFT, "version of the algorithm" },
		{ "ENABLED", IBCC_LEFT, "whether the adapter says that it is enabled" },
		{ "NAME", IBCC_LEFT, "name of the algorithm" },
		{ "ABOUT", IBCC_WRAP, "the adapter's description of it" },
	};
	struct libscols_table *t = tune_table_new(columns, sizeof(columns) / sizeof(*columns));
	char slot[CELL], id[CELL];
	const json_t *o;
	size_t i;

	json_array_foreach (list, i, o) {
		const json_t *on = json_object_get(o, "enabled");
		const char *row[] = { slot,
				      id,
				      tune_str(o, "version"),
				      json_is_true(on)    ? "yes"
				      : json_is_false(on) ? "no"
							  : "-",
				      tune_str(o, "name"),
				      tune_str(o, "about") };

		number(slot, o, "slot");
		number(id, o, "algorithm");
		tune_table_add(t, row, 0, TUNE_PLAIN);
	}
	tune_table_print_under(t, "Algorithms");
}

/* Returns how many parameters have another value than their default. */
static unsigned int print_parameters(const json_t *list)
{
	static const struct tune_column columns[] = {
		{ "SLOT", IBCC_RIGHT, "place of the algorithm" },
		{ "INDEX", IBCC_RIGHT, "place of the parameter among those of the algorithm" },
		{ "PARAMETER", IBCC_LEFT, "name of the parameter" },
		{ "VALUE", IBCC_RIGHT, "its value when the file was made" },
		{ "DEFAULT", IBCC_RIGHT, "its value unless a program sets another one" },
		{ "MIN", IBCC_RIGHT, "least value: the adapter ignores a lower one silently" },
		{ "MAX", IBCC_RIGHT, "greatest value: the adapter ignores a higher one silently" },
		{ "ACCESS", IBCC_LEFT, "whether it can be written" },
		{ "MEANING", IBCC_WRAP, "the adapter's description of it" },
	};
	struct libscols_table *t = tune_table_new(columns, sizeof(columns) / sizeof(*columns));
	char slot[CELL], index[CELL], value[4][CELL];
	unsigned int n = 0;
	const json_t *o, *p;
	size_t i, k;

	json_array_foreach (list, i, o)
		json_array_foreach (json_object_get(o, "parameters"), k, p) {
			const char *row[] = { slot,
					      index,
					      tune_str(p, "name"),
					      value[0],
					      value[1],
					      value[2],
					      value[3],
					      tune_str(p, "access"),
					      tune_str(p, "about") };

			number(slot, o, "slot");
			number(index, p, "index");
			number(value[0], p, "value");
			number(value[1], p, "default");
			number(value[2], p, "min");
			number(value[3], p, "max");
			n += json_is_integer(json_object_get(p, "value")) &&
			     json_is_integer(json_object_get(p, "default")) &&
			     strcmp(value[0], value[1]) != 0;
			tune_table_add(t, row, 0, TUNE_PLAIN);
		}
	tune_table_print_under(t, "Parameters");
	return n;
}

int tune_ppcc(const struct tune *t)
{
	struct ibcc_ppcc *p = calloc(1, sizeof(*p));
	struct ibcc_why why = { "" };
	size_t len;
	int rc, code = TUNE_OK;
	char *text = p ? read_file(t->ppcc, &len, &rc) : NULL;
	json_t *o = NULL;
	unsigned int n;

	if (!p)
		return tune_fail("no memory");
	if (!text)
		code = tune_fail("%s: %s", t->ppcc, strerror(-rc));
	else if (ibcc_ppcc_read(p, t->ppcc, text, len, &why))
		code = tune_fail("%s", why.text);
	else
		o = to_json(p);
	if (o && t->json) {
		code = tune_print_json(o);
	} else if (o) {
		print_algorithms(json_object_get(o, "algorithms"));
		n = print_parameters(json_object_get(o, "algorithms"));
		if (n && !tune_table_is_csv())
			tune_say("", "%u parameter%s another value than the default.", n,
				 ibcc_text_plural(n, " has", "s have"));
	}
	json_decref(o);
	free(text);
	free(p);
	return code;
}
