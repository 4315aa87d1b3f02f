/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Nodes whose settings differ from those of most nodes of their device type (show --odd).
 *
 * All settings of an answer of "show" are taken apart into fields with one value each. A field has
 * an index if its attribute has it for each SL, port or table entry. A value that more than half of
 * the nodes of a type have is the usual one. A node that has another value there, or none, is odd.
 * Where NVIDIA's attributes tell each port of a switch how to mark, each port is compared like a
 * node: those to adapters with each other, and those to switches.
 */
#include "daemon/tune/odd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/tune/tune.h"

/* As many odd fields are listed at most, and as many fields without a usual value. */
#define ODD_MAX       100u
#define UNDECIDED_MAX 20u
/* Of a field without a usual value, as many values; of a field's indexes, as many ranges. */
#define VALUES_MAX 64u
#define RANGES_MAX 16u

#define FIELD_BYTES 160
#define NONE        "none"
/* The field of a node that has no settings: why. Nodes that have them have this value. */
#define SETTINGS      "settings"
#define SETTINGS_READ "are read"
/* Fields of NVIDIA's own congestion control; the first is there for each node. */
#define NVIDIA  "nvidia"
#define CONTROL "nvidia.control"
#define SILENT  "does not answer" /* a value of that */

/* Whether a field is that of a node as a whole: there for each. */
static bool is_of_node(const char *field)
{
	return !strcmp(field, SETTINGS) || !strcmp(field, CONTROL);
}

/* What identifies a node, and is no setting of it. */
static bool is_identity(const char *key)
{
	static const char *const keys[] = {
		"node_guid",           "node",      "port",   "lid", "type", "vendor_id",
		"device_id",           "supported", "reason", "sl",  "peer", "nvidia_ports",
		"nvidia_notifications"
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(key, keys[i]))
			return true;
	return false;
}

/* A value that is no object, as text. The caller frees it. */
static char *text_of(const json_t *v)
{
	return json_is_string(v) ? strdup(json_string_value(v))
				 : json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT);
}

static void add(json_t *fields, const char *name, const json_t *v)
{
	char *text = text_of(v);

	if (text)
		json_object_set_new(fields, name, json_string(text));
	free(text);
}

/* Adds the members of an object, or of one element of a list, under `name`. index < 0: none. */
static void take_apart(json_t *fields, const char *name, json_t *o, long long index)
{
	char inner[FIELD_BYTES];
	const char *key;
	json_t *v, *e;
	size_t i;

	json_object_foreach (o, key, v) {
		/* Only the ports with settings of their own are listed. */
		if (is_identity(key) ||
		    (!strcmp(key, "SwitchPortCongestionSetting") && !json_array_size(v)))
			continue;
		snprintf(inner, sizeof(inner), "%s%s%s", name, name[0] ? "." : "", key);
		if (json_is_object(v)) {
			take_apart(fields, inner, v, index);
		} else if (json_is_object(json_array_get(v, 0))) {
			json_array_foreach (v, i, e)
				take_apart(fields, inner, e,
					   json_object_get(e, "port") ? tune_int(e, "port")
								      : (long long)i);
		} else {
			size_t len = strlen(inner);

			if (index >= 0)
				snprintf(inner + len, sizeof(inner) - len, "#%lld", index);
			add(fields, inner, v);
		}
	}
}

/* The fields of a node, each with its value. */
static json_t *fields_of(json_t *node)
{
	json_t *fields = json_object();

	if (json_is_true(json_object_get(node, "supported"))) {
		json_object_set_new(fields, SETTINGS, json_string(SETTINGS_READ));
		take_apart(fields, "", node, -1);
	} else {
		json_object_set(fields, SETTINGS, json_object_get(node, "reason"));
		take_apart(fields, NVIDIA, json_object_get(node, NVIDIA), -1);
	}
	if (!json_object_get(fields, CONTROL))
		json_object_set_new(fields, CONTROL, json_string(NONE));
	return fields;
}

/* What is compared with each other has the same key. `peer`: what a switch's port leads to, "" for
 * a whole node.
 */
static json_t *key_of(const json_t *node, const char *peer)
{
	return json_sprintf("%s/%s/%s/%s", tune_str(node, "type"), tune_str(node, "vendor_id"),
			    tune_str(node, "device_id"), peer);
}

/* Adds a node, or with `port` a port of a switch, to what is compared. */
static void add_item(json_t *items, json_t *node, json_t *key, json_t *port)
{
	json_array_append_new(items,
			      json_pack("{sO so sO*}", "node", node, "key", key, "port", port));
}

/* The fields of an item, made each time: those of all nodes of a large fabric would take a
 * gigabyte. */
static json_t *fields_of_item(const json_t *item)
{
	json_t *port = json_object_get(item, "port"), *fields;

	if (!port)
		return fields_of(json_object_get(item, "node"));
	fields = json_object();
	take_apart(fields, NVIDIA, port, -1);
	return fields;
}

/* Adds the ports of a switch as items, each with the identity of the switch and its own number. */
static void add_ports(json_t *items, const json_t *node)
{
	static const char *const keys[] = { "node_guid", "node", "type", "vendor_id", "device_id" };
	json_t *port, *id;
	size_t i;

	json_array_foreach (json_object_get(node, "nvidia_ports"), i, port) {
		id = json_object();
		for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
			json_object_set(id, keys[k], json_object_get(node, keys[k]));
		json_object_set(id, "port", json_object_get(port, "port"));
		add_item(items, id, key_of(node, tune_str(port, "peer")), port);
		json_decref(id);
	}
}

/* The member of an object, which is made if it is not there. */
static json_t *member(json_t *o, const char *key)
{
	json_t *v = json_object_get(o, key);

	if (v)
		return v;
	json_object_set_new(o, key, json_object());
	return json_object_get(o, key);
}

static void bump(json_t *o, const char *key)
{
	json_object_set_new(o, key, json_integer(tune_int(o, key) + 1));
}

/* What a field is a part of, and so which items may have it: NODE all, READ those whose settings of
 * the annex were read, and the name of an attribute of NVIDIA's those that answered it. Others lack
 * the field, but do not differ in it.
 */
#define NODE "node"
#define READ "read"

static const char *part_of(const char *field, char *buf, size_t len)
{
	const char *end;

	if (is_of_node(field))
		return NODE;
	if (strncmp(field, NVIDIA ".", strlen(NVIDIA ".")) != 0)
		return READ;
	end = strchr(field + strlen(NVIDIA "."), '.');
	snprintf(buf, len, "%.*s", (int)(end ? end - field : (ptrdiff_t)strlen(field)), field);
	return buf;
}

/* The parts that an item has, as keys. */
static json_t *parts_of(const json_t *fields)
{
	json_t *parts = json_object(), *v;
	char buf[FIELD_BYTES];
	const char *field;

	json_object_set_new(parts, NODE, json_true());
	if (!strcmp(tune_str(fields, SETTINGS), SETTINGS_READ))
		json_object_set_new(parts, READ, json_true());
	json_object_foreach ((json_t *)fields, field, v)
		if (!is_of_node(field))
			json_object_set_new(parts, part_of(field, buf, sizeof(buf)), json_true());
	return parts;
}

/* Counts an item in its type: {"parts":{PART:COUNT},"fields":{FIELD:{VALUE:COUNT}}}. */
static void count(json_t *type, const json_t *fields)
{
	json_t *all = member(type, "fields"), *parts = parts_of(fields), *v;
	const char *key;

	json_object_foreach (parts, key, v)
		bump(member(type, "parts"), key);
	json_object_foreach ((json_t *)fields, key, v)
		bump(member(all, key), json_string_value(v));
	json_decref(parts);
}

/* The value that more than half of `n` nodes have; NULL: there is none. NONE counts those without
 * the field. *with is how many have it.
 */
static const char *usual_of(json_t *counts, json_int_t n, json_int_t *with)
{
	json_int_t without = n;
	const char *value;
	json_t *c;

	json_object_foreach (counts, value, c) {
		*with = json_integer_value(c);
		if (2 * *with > n)
			return value;
		without -= *with;
	}
	*with = without;
	return 2 * without > n ? NONE : NULL;
}

/* Adds the usual values of a type's fields, where there is one: "usual":{FIELD:{"value","with",
 * "part"}}.
 */
static void decide(json_t *type)
{
	json_t *all = member(type, "usual"), *counts;
	char buf[FIELD_BYTES];
	const char *field;

	json_object_foreach (json_object_get(type, "fields"), field, counts) {
		const char *part = part_of(field, buf, sizeof(buf));
		json_int_t with, n = tune_int(json_object_get(type, "parts"), part);
		const char *usual = usual_of(counts, n, &with);

		if (usual)
			json_object_set_new(all, field,
					    json_pack("{ss sI ss}", "value", usual, "with", with,
						      "part", part));
	}
}

static int by_number(const void *a, const void *b)
{
	const long long *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* "1-3,7" for numbers, which it sorts; of more than RANGES_MAX ranges the first, and how many
 * numbers are left out.
 */
static json_t *ranges(long long *number, size_t n)
{
	char text[RANGES_MAX * 44 + 40] = "";
	unsigned int n_ranges = 0;
	size_t i = 0, at = 0, end;

	qsort(number, n, sizeof(*number), by_number);
	for (; i < n && n_ranges < RANGES_MAX; i = end, n_ranges++) {
		for (end = i + 1; end < n && number[end] == number[end - 1] + 1; end++)
			;
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%lld", at ? "," : "",
				       number[i]);
		if (end - i > 1)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "-%lld",
					       number[end - 1]);
	}
	if (i < n)
		snprintf(text + at, sizeof(text) - at, " and %zu more", n - i);
	return json_string(text);
}

/* Makes the text of a row's indexes from their list. */
static void finish(json_t *row)
{
	json_t *list = json_object_get(row, "index"), *v;
	size_t n = json_array_size(list), i;
	long long *number = n ? calloc(n, sizeof(*number)) : NULL;

	json_array_foreach (list, i, v)
		if (number)
			number[i] = json_integer_value(v);
	json_object_set_new(row, "index", number ? ranges(number, n) : json_string(""));
	free(number);
}

/* Adds an odd field to the rows of a node. Fields that differ only by their index share a row,
 * which has the smallest number of nodes with the usual value; `shared` finds it.
 */
static void add_odd(json_t *rows, json_t *shared, const json_t *node, const char *field,
		    const char *value, const json_t *usual, json_int_t n)
{
	const char *index = strchr(field, '#');
	int len = index ? (int)(index - field) : (int)strlen(field);
	json_t *key = json_sprintf("%.*s/%s/%s", len, field, tune_str(usual, "value"), value);
	json_t *row = json_object_get(shared, json_string_value(key));

	if (!row) {
		row = json_pack("{sO sO sO ss ss ss ss% s[] ss ss sI sI si}", "node_guid",
				json_object_get(node, "node_guid"), "node",
				json_object_get(node, "node"), "port",
				json_object_get(node, "port"), "type", tune_str(node, "type"),
				"vendor_id", tune_str(node, "vendor_id"), "device_id",
				tune_str(node, "device_id"), "field", field, (size_t)len, "index",
				"value", value, "usual", tune_str(usual, "value"), "with",
				tune_int(usual, "with"), "alike", n, "nodes", 1);
		json_array_append(rows, row);
		json_object_set_new(shared, json_string_value(key), row);
	}
	if (index)
		json_array_append_new(json_object_get(row, "index"),
				      json_integer(strtoll(index + 1, NULL, 10)));
	if (tune_int(usual, "with") < tune_int(row, "with"))
		json_object_set(row, "with", json_object_get(usual, "with"));
	json_decref(key);
}

/* The odd fields of a node. */
static json_t *rows_of(const json_t *node, const json_t *type, const json_t *fields)
{
	json_t *rows = json_array(), *shared = json_object(), *parts = parts_of(fields), *usual;
	const json_t *counts = json_object_get(type, "parts");
	const char *field;
	size_t i;

	json_object_foreach (json_object_get(type, "usual"), field, usual) {
		const char *part = tune_str(usual, "part");
		const json_t *v = json_object_get(fields, field);
		const char *value = v ? json_string_value(v) : NONE;

		if (strcmp(tune_str(usual, "value"), value) != 0 && json_object_get(parts, part))
			add_odd(rows, shared, node, field, value, usual, tune_int(counts, part));
	}
	json_array_foreach (rows, i, usual)
		finish(usual);
	json_decref(shared);
	json_decref(parts);
	return rows;
}

struct value {
	const char *text;
	json_int_t n;
	size_t order;
};

/* Most frequent values first; of equally frequent ones, those that were found first. */
static int by_frequency(const void *a, const void *b)
{
	const struct value *x = a, *y = b;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* The most frequent values, VALUES_MAX of them, with their counts. *left_out: how many more. */
static json_t *most_of(json_t *counts, size_t *left_out)
{
	size_t n = json_object_size(counts), i = 0;
	struct value *v = calloc(n ? n : 1, sizeof(*v));
	json_t *out = json_object(), *c;
	const char *text;

	if (v)
		json_object_foreach (counts, text, c) {
			v[i] = (struct value){ text, json_integer_value(c), i };
			i++;
		}
	if (v)
		qsort(v, i, sizeof(*v), by_frequency);
	*left_out = n > VALUES_MAX ? n - VALUES_MAX : 0;
	for (size_t k = 0; k < i && k < VALUES_MAX; k++)
		json_object_set_new(out, v[k].text, json_integer(v[k].n));
	free(v);
	return out;
}

/* Fields of a type without a usual value, each once whatever its indexes. */
static void add_undecided(json_t *list, const char *key, json_t *type)
{
	char kind[16], vendor[16], device[16], last[FIELD_BYTES] = "";
	const char *field;
	json_t *counts;

	if (sscanf(key, "%15[^/]/%15[^/]/%15[^/]", kind, vendor, device) != 3)
		return;
	json_object_foreach (json_object_get(type, "fields"), field, counts) {
		char name[FIELD_BYTES];
		size_t left_out;
		json_t *values;

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(field, "#"), field);
		if (json_object_get(json_object_get(type, "usual"), field) || !strcmp(name, last))
			continue;
		memcpy(last, name, sizeof(last));
		if (json_array_size(list) == UNDECIDED_MAX)
			return;
		values = most_of(counts, &left_out);
		json_array_append_new(list, json_pack("{ss ss ss ss so si}", "type", kind,
						      "vendor_id", vendor, "device_id", device,
						      "field", name, "values", values,
						      "values_left_out", (int)left_out));
	}
}

/* All that is compared: [{"node","key","port"}], the last only of a switch's port. */
static json_t *items_of(json_t *nodes)
{
	json_t *items = json_array(), *node;
	size_t i;

	json_array_foreach (nodes, i, node) {
		add_item(items, node, key_of(node, ""), NULL);
		add_ports(items, node);
	}
	return items;
}

static json_t *type_of(json_t *types, const json_t *item)
{
	return member(types, tune_str(item, "key"));
}

/* Adds a row to the list, or counts it in *more. Nodes whose settings were not read for the same
 * reason share the first one's row, which `unread` finds: they do not differ in what they have.
 */
static void add_row(json_t *odd, json_t *unread, const char *type, json_t *row, json_int_t *more)
{
	json_t *key, *first;

	if (is_of_node(tune_str(row, "field"))) {
		key = json_sprintf("%s/%s/%s", type, tune_str(row, "field"),
				   tune_str(row, "value"));
		first = json_object_get(unread, json_string_value(key));
		if (first)
			bump(first, "nodes");
		else
			json_object_set(unread, json_string_value(key), row);
		json_decref(key);
		if (first)
			return;
	}
	if (json_array_size(odd) < ODD_MAX)
		json_array_append(odd, row);
	else
		++*more;
}

json_t *tune_silent(const json_t *show)
{
	const json_t *node, *first = NULL;
	json_int_t n = 0;
	size_t i;

	json_array_foreach (json_object_get(show, "nodes"), i, node) {
		if (strcmp(tune_str(json_object_get(node, NVIDIA), "control"), SILENT) != 0)
			continue;
		first = n++ ? first : node;
	}
	return json_pack("{sI sO?}", "ports", n, "first", json_object_get(first, "node"));
}

json_t *tune_odd(const json_t *show)
{
	json_t *nodes = json_object_get(show, "nodes"), *items = items_of(nodes);
	json_t *types = json_object(), *odd = json_array(), *undecided = json_array();
	json_t *unread = json_object(), *missing = json_object_get(show, "nvidia_unread");
	json_t *item, *fields, *rows, *row, *type, *out;
	json_int_t more = 0, alone = 0, n_types = 0;
	const char *key;
	size_t i, k;

	json_array_foreach (items, i, item) {
		fields = fields_of_item(item);
		count(type_of(types, item), fields);
		json_decref(fields);
	}
	json_object_foreach (types, key, type)
		decide(type);
	json_array_foreach (items, i, item) {
		fields = fields_of_item(item);
		rows = rows_of(json_object_get(item, "node"), type_of(types, item), fields);
		json_decref(fields);
		json_array_foreach (rows, k, row)
			add_row(odd, unread, tune_str(item, "key"), row, &more);
		json_decref(rows);
	}
	json_object_foreach (types, key, type) {
		bool of_nodes = key[strlen(key) - 1] == '/';

		n_types += of_nodes;
		alone += of_nodes && tune_int(json_object_get(type, "parts"), NODE) == 1;
		add_undecided(undecided, key, type);
	}
	out = json_pack("{si sI sI sI so sI so so so}", "schema", 1, "nodes",
			(json_int_t)json_array_size(nodes), "types", n_types, "alone", alone, "odd",
			odd, "more", more, "undecided", undecided, "nvidia_unread",
			missing ? json_incref(missing) : json_array(), "nvidia_silent",
			tune_silent(show));
	json_decref(items);
	json_decref(types);
	json_decref(unread);
	return out;
}
