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

#define FIELD_BYTES 160
#define NONE        "none"
/* The field of a node that has no settings: why. Nodes that have them have this value. */
#define SETTINGS      "settings"
#define SETTINGS_READ "are read"
/* Fields of NVIDIA's own congestion control; the first is there for each node. */
#define NVIDIA  "nvidia"
#define CONTROL "nvidia.control"

/* What identifies a node, and is no setting of it. */
static bool is_identity(const char *key)
{
	static const char *const keys[] = { "node_guid", "node",      "port",      "lid",
					    "type",      "vendor_id", "device_id", "supported",
					    "reason",    "sl",        "peer",      "nvidia_ports" };

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

/* Which items of a type may have a field: "n" all, "n_nvidia" those with NVIDIA's control, "n_read"
 * those whose settings were read.
 */
static const char *who_has(const char *field)
{
	if (!strcmp(field, SETTINGS) || !strcmp(field, CONTROL))
		return "n";
	return strncmp(field, NVIDIA, strlen(NVIDIA)) ? "n_read" : "n_nvidia";
}

/* Whether an item is one of those. A port of a switch has no field CONTROL. */
static bool belongs(const json_t *fields, const char *to)
{
	if (!strcmp(to, "n_read"))
		return !strcmp(tune_str(fields, SETTINGS), SETTINGS_READ);
	return !strcmp(to, "n") || strcmp(tune_str(fields, CONTROL), NONE) != 0;
}

/* Counts an item's values in its type: {"n","n_nvidia","n_read","fields":{FIELD:{VALUE:COUNT}}}. */
static void count(json_t *type, const json_t *fields)
{
	static const char *const groups[] = { "n", "n_nvidia", "n_read" };
	json_t *all = member(type, "fields"), *v;
	const char *field;

	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		if (belongs(fields, groups[i]))
			bump(type, groups[i]);
	json_object_foreach ((json_t *)fields, field, v)
		bump(member(all, field), json_string_value(v));
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

/* Appends a number to a list "1-3,7" of ascending ones. */
static void append_index(json_t *row, const char *index)
{
	const char *list = tune_str(row, "index"), *dash = strrchr(list, '-'),
		   *comma = strrchr(list, ',');
	char text[256];
	const char *last = dash && (!comma || dash > comma) ? dash : comma;
	long long end = strtoll(last ? last + 1 : list, NULL, 10);

	if (strtoll(index, NULL, 10) != end + 1)
		snprintf(text, sizeof(text), "%s,%s", list, index);
	else if (last && last == dash)
		snprintf(text, sizeof(text), "%.*s-%s", (int)(dash - list), list, index);
	else
		snprintf(text, sizeof(text), "%s-%s", list, index);
	json_object_set_new(row, "index", json_string(text));
}

/* Adds an odd field. One that differs only by its index from an earlier one is added to that, which
 * then has the smaller number of nodes with the usual value.
 */
static void add_odd(json_t *rows, const json_t *node, const char *field, const char *value,
		    const char *usual, json_int_t with, json_int_t n)
{
	const char *index = strchr(field, '#');
	int len = index ? (int)(index - field) : (int)strlen(field);
	json_t *row;
	size_t i;

	json_array_foreach (rows, i, row)
		if (index && !strncmp(tune_str(row, "field"), field, (size_t)len) &&
		    !tune_str(row, "field")[len] && !strcmp(tune_str(row, "value"), value) &&
		    !strcmp(tune_str(row, "usual"), usual)) {
			append_index(row, index + 1);
			if (with < tune_int(row, "with"))
				json_object_set_new(row, "with", json_integer(with));
			return;
		}
	row = json_pack("{sO sO sO ss ss ss ss% ss ss ss sI sI}", "node_guid",
			json_object_get(node, "node_guid"), "node", json_object_get(node, "node"),
			"port", json_object_get(node, "port"), "type", tune_str(node, "type"),
			"vendor_id", tune_str(node, "vendor_id"), "device_id",
			tune_str(node, "device_id"), "field", field, (size_t)len, "index",
			index ? index + 1 : "", "value", value, "usual", usual, "with",
			(json_int_t)with, "alike", (json_int_t)n);
	json_array_append_new(rows, row);
}

/* The odd fields of a node. */
static json_t *rows_of(const json_t *node, const json_t *type, const json_t *fields)
{
	json_t *rows = json_array(), *counts;
	const char *field;

	json_object_foreach (json_object_get(type, "fields"), field, counts) {
		json_int_t n = tune_int(type, who_has(field)), with;
		const char *usual = usual_of(counts, n, &with);
		const json_t *v = json_object_get(fields, field);
		const char *value = v ? json_string_value(v) : NONE;

		if (usual && strcmp(usual, value) && belongs(fields, who_has(field)))
			add_odd(rows, node, field, value, usual, with, n);
	}
	return rows;
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
		json_int_t with;
		char name[FIELD_BYTES];

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(field, "#"), field);
		if (usual_of(counts, tune_int(type, who_has(field)), &with) || !strcmp(name, last))
			continue;
		memcpy(last, name, sizeof(last));
		if (json_array_size(list) < UNDECIDED_MAX)
			json_array_append_new(list,
					      json_pack("{ss ss ss ss sO}", "type", kind,
							"vendor_id", vendor, "device_id", device,
							"field", name, "values", counts));
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

json_t *tune_odd(const json_t *show)
{
	json_t *nodes = json_object_get(show, "nodes"), *items = items_of(nodes);
	json_t *types = json_object(), *odd = json_array(), *undecided = json_array();
	json_t *item, *fields, *rows, *row, *type, *out;
	json_int_t more = 0, alone = 0, n_types = 0;
	const char *key;
	size_t i, k;

	json_array_foreach (items, i, item) {
		fields = fields_of_item(item);
		count(type_of(types, item), fields);
		json_decref(fields);
	}
	json_array_foreach (items, i, item) {
		fields = fields_of_item(item);
		rows = rows_of(json_object_get(item, "node"), type_of(types, item), fields);
		json_decref(fields);
		json_array_foreach (rows, k, row)
			if (json_array_size(odd) < ODD_MAX)
				json_array_append(odd, row);
			else
				more++;
		json_decref(rows);
	}
	json_object_foreach (types, key, type) {
		bool of_nodes = key[strlen(key) - 1] == '/';

		n_types += of_nodes;
		alone += of_nodes && tune_int(type, "n") == 1;
		add_undecided(undecided, key, type);
	}
	out = json_pack("{si sI sI sI so sI so}", "schema", 1, "nodes",
			(json_int_t)json_array_size(nodes), "types", n_types, "alone", alone, "odd",
			odd, "more", more, "undecided", undecided);
	json_decref(items);
	json_decref(types);
	return out;
}
