/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The commands that ask a running simulator (ibcc-sim stats, flows, ports, settings, sets, set,
 * console) and print its answer. A simulator answers with single values, rows, or lines; either
 * is printed without knowing what it is.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ibcc/table.h>

#include "sim/cmd.h"
#include "sim/control.h"

/* A value as text for a table's cell; owned by the caller. */
static char *cell_text(const json_t *v)
{
	if (json_is_string(v))
		return strdup(json_string_value(v));
	return json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(4));
}

static int add_row(struct libscols_table *t, const struct ibcc_table_column *column, size_t n,
		   const json_t *row)
{
	char **cell = calloc(n + 1, sizeof(*cell));
	int r = -1;

	for (size_t i = 0; cell && i < n; i++) {
		const json_t *v = json_object_get(row, column[i].name);

		cell[i] = v ? cell_text(v) : NULL;
	}
	if (cell)
		r = ibcc_table_add(t, (const char *const *)cell);
	for (size_t i = 0; cell && i < n; i++)
		free(cell[i]);
	free(cell);
	return r;
}

/* Prints rows as a table. Its columns are the members of all rows that are single values, in the
 * order in which they come up.
 */
static int print_table(const json_t *rows)
{
	struct ibcc_table_column *column = NULL;
	struct libscols_table *t = NULL;
	json_t *columns = json_object(), *row, *value;
	const char *key;
	size_t i, n = 0;
	int r = -1;

	json_array_foreach ((json_t *)(uintptr_t)rows, i, row) {
		json_object_foreach (row, key, value) {
			if (!json_is_object(value) && !json_is_array(value))
				json_object_set(columns, key, value);
		}
	}
	column = calloc(json_object_size(columns) + 1, sizeof(*column));
	if (!column)
		goto out;
	json_object_foreach (columns, key, value)
		column[n++] = (struct ibcc_table_column){ key, json_is_number(value) ? IBCC_RIGHT
										     : IBCC_LEFT };
	t = ibcc_table_new(column, n, stdout);
	r = t ? 0 : -1;
	json_array_foreach ((json_t *)(uintptr_t)rows, i, row)
		if (!r)
			r = add_row(t, column, n, row);
	if (!r)
		r = scols_print_table(t);
out:
	scols_unref_table(t);
	free(column);
	json_decref(columns);
	return r;
}

/* Prints an answer: its lines, or else its values one below the other and then its rows. */
static int print_reply(json_t *reply, bool as_json)
{
	json_t *lines = json_object_get(reply, "lines"), *value;
	const char *key;
	size_t i;
	char *cell;

	if (as_json)
		return json_dumpf(reply, stdout, JSON_INDENT(1)) || putchar('\n') == EOF;
	json_array_foreach (lines, i, value)
		if (puts(json_string_value(value) ? json_string_value(value) : "") == EOF)
			return -1;
	if (lines)
		return 0;
	json_object_foreach (reply, key, value) {
		if (!strcmp(key, "ok") || !strcmp(key, "rows"))
			continue;
		cell = cell_text(value);
		printf("%-16s%s\n", key, cell ? cell : "");
		free(cell);
	}
	value = json_object_get(reply, "rows");
	return json_array_size(value) ? print_table(value) : 0;
}

/* Makes the request of the command line: KEY=VALUE... for set, the rest of the line for console.
 * NULL if the arguments do not fit the command.
 */
static json_t *request(const char *cmd, int argc, char **argv)
{
	json_t *rq = json_pack("{s:s}", "cmd", cmd), *values;
	char line[256] = "";
	size_t n = 0;
	int i;

	if (!strcmp(cmd, "set") && argc) {
		values = json_object();
		for (i = 0; i < argc; i++) {
			char *eq = strchr(argv[i], '=');

			if (!eq)
				break;
			*eq = '\0';
			json_object_set_new(values, argv[i], json_string(eq + 1));
		}
		json_object_set_new(rq, "values", values);
		if (i == argc)
			return rq;
	} else if (!strcmp(cmd, "console") && argc) {
		for (i = 0; i < argc && n < sizeof(line); i++)
			n += (size_t)snprintf(line + n, sizeof(line) - n, "%s%s", i ? " " : "",
					      argv[i]);
		json_object_set_new(rq, "line", json_string(line));
		if (n < sizeof(line))
			return rq;
	} else if (!argc && strcmp(cmd, "set") && strcmp(cmd, "console")) {
		return rq;
	}
	json_decref(rq);
	return NULL;
}

int ibcc_cmd_ask(int argc, char **argv)
{
	static const struct option options[] = {
		{ "name", required_argument, NULL, 'n' },
		{ "json", no_argument, NULL, 'j' },
		{ 0 },
	};
	const char *name = getenv("IBCC_SIM_NAME"), *cmd = argv[0], *error;
	char only[64], why[192];
	bool as_json = false;
	json_t *rq, *reply;
	int ch, r = 1;

	while ((ch = getopt_long(argc, argv, "+n:j", options, NULL)) != -1) {
		switch (ch) {
		case 'n': name = optarg; break;
		case 'j': as_json = true; break;
		default: return 1;
		}
	}
	rq = request(cmd, argc - optind, argv + optind);
	if (!rq) {
		fprintf(stderr, "ibcc-sim %s: %s\n", cmd,
			!strcmp(cmd, "set")       ? "want KEY=VALUE..."
			: !strcmp(cmd, "console") ? "want a line for the console of ibsim"
						  : "want no arguments");
		return 1;
	}
	if (!name && ibcc_control_find(only, sizeof(only), why, sizeof(why))) {
		fprintf(stderr, "ibcc-sim %s: %s\n", cmd, why);
		json_decref(rq);
		return 1;
	}
	reply = ibcc_control_ask(name ? name : only, rq, why, sizeof(why));
	error = reply ? json_string_value(json_object_get(reply, "error")) : why;
	if (error)
		fprintf(stderr, "ibcc-sim %s: %s\n", cmd, error);
	else
		r = print_reply(reply, as_json) ? 1 : 0;
	json_decref(reply);
	return r;
}
