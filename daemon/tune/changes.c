/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Prints the changes of an answer one by one (changes.h). Service levels with equal changes share a
 * row.
 */
#include "daemon/tune/changes.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/tune/prose.h"
#include "daemon/tune/table.h"
#include "daemon/tune/tune.h"

const char *tune_node_text(const json_t *o, char *buf, size_t len)
{
	const char *node = tune_str(o, "node"), *guid = tune_str(o, "node_guid");

	/* A name that does not identify the node contains the GUID. */
	if (strstr(node, guid))
		snprintf(buf, len, "%s", node);
	else
		snprintf(buf, len, "%s %s", node, guid);
	return buf;
}

enum tune_style tune_style_of_outcome(const char *outcome)
{
	if (!strcmp(outcome, "verified"))
		return TUNE_GREEN;
	return *outcome ? TUNE_RED : TUNE_PLAIN;
}

static bool same(const json_t *a, const json_t *b, const char *key)
{
	return json_equal(json_object_get(a, key), json_object_get(b, key));
}

/* Are setting and values equal, and is this the next service level? */
static bool continues(const json_t *a, const json_t *b)
{
	static const char *const keys[] = { "node_guid", "port", "attribute",
					    "old",       "new",  "outcome" };
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (json_object_get(a, keys[i]) != json_object_get(b, keys[i]) &&
		    !same(a, b, keys[i]))
			return false;
	return same(a, b, "field") && json_is_integer(json_object_get(a, "sl")) &&
	       tune_int(b, "sl") == tune_int(a, "sl") + 1;
}

const json_t *tune_end_of_run(const json_t *changes, size_t i, bool *covered)
{
	const json_t *last = json_array_get(changes, i), *o;
	size_t k;

	for (k = i + 1; k < json_array_size(changes); k++) {
		o = json_array_get(changes, k);
		if (!same(last, o, "node_guid"))
			break;
		if (!covered[k] && continues(last, o)) {
			covered[k] = true;
			last = o;
		}
	}
	return last;
}

void tune_sl_text(const json_t *first, const json_t *last, char *buf, size_t len)
{
	if (!json_is_integer(json_object_get(first, "sl")))
		snprintf(buf, len, "%s", "");
	else if (first == last)
		snprintf(buf, len, "%lld", tune_int(first, "sl"));
	else
		snprintf(buf, len, "%lld-%lld", tune_int(first, "sl"), tune_int(last, "sl"));
}

static bool is_nothing(const char *value)
{
	return !strcmp(value, "0") || !strcmp(value, "none") || !strcmp(value, "0 packet times");
}

char tune_change_mark(const char *old_value, const char *new_value)
{
	return is_nothing(old_value) ? '+' : is_nothing(new_value) ? '-' : '~';
}

static void print_row(struct libscols_table *t, const json_t *o, const json_t *last)
{
	char node[160], port[16], sl[16], mark[2] = "";
	const char *row[9];

	snprintf(port, sizeof(port), "%lld", tune_int(o, "port"));
	tune_sl_text(o, last, sl, sizeof(sl));
	mark[0] = tune_change_mark(tune_str(o, "old"), tune_str(o, "new"));
	row[0] = mark;
	row[1] = tune_node_text(o, node, sizeof(node));
	row[2] = port;
	row[3] = tune_str(o, "attribute");
	row[4] = tune_str(o, "field");
	row[5] = sl;
	row[6] = tune_str(o, "old");
	row[7] = tune_str(o, "new");
	row[8] = tune_str(o, "outcome");
	tune_table_add(t, row, 8, tune_style_of_outcome(row[8]));
}

/* Reasons repeat from node to node. Each is printed once, for its attribute, one level below the
 * changes.
 */
static void print_reasons(const json_t *changes)
{
	size_t n = json_array_size(changes), i, k;
	bool first = true;

	for (i = 0; i < n; i++) {
		const json_t *o = json_array_get(changes, i);

		for (k = 0; k < i; k++)
			if (same(o, json_array_get(changes, k), "reason") &&
			    same(o, json_array_get(changes, k), "attribute"))
				break;
		if (k < i || !tune_str(o, "reason")[0])
			continue;
		if (first)
			puts("\n  Reasons");
		tune_say("    ", "%s: %s", tune_str(o, "attribute"), tune_str(o, "reason"));
		first = false;
	}
}

void tune_print_changes(const json_t *changes, const char *heading)
{
	static const struct tune_column columns[] = {
		{ "OP", IBCC_LEFT, TUNE_MARKS_LEGEND },
		{ "NODE", IBCC_LEFT, "name and GUID" },
		{ "PORT", IBCC_RIGHT, "port of the node" },
		{ "ATTRIBUTE", IBCC_SPARE, "attribute of the MAD that has the setting" },
		{ "FIELD", IBCC_LEFT, "setting" },
		{ "SL", IBCC_LEFT, "service levels with this change" },
		{ "OLD", IBCC_WRAP, "value before the change" },
		{ "NEW", IBCC_WRAP, "value after the change" },
		{ "OUTCOME", IBCC_LEFT, "verified: read back as it was written" },
	};
	size_t n = json_array_size(changes), i;
	bool outcomes = n && json_object_get(json_array_get(changes, 0), "outcome");
	struct libscols_table *t = tune_table_new(columns, outcomes ? 9 : 8);
	bool *covered = calloc(n ? n : 1, sizeof(*covered));
	char text[96];

	for (i = 0; covered && i < n; i++)
		if (!covered[i])
			print_row(t, json_array_get(changes, i),
				  tune_end_of_run(changes, i, covered));
	free(covered);
	snprintf(text, sizeof(text), "%s (%s)", heading, TUNE_MARKS_LEGEND);
	tune_table_print_under(t, text);
	if (!tune_table_is_csv())
		print_reasons(changes);
}
