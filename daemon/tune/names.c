/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Node names from another map than the daemon's: --node-name-map. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/json.h>

#include "daemon/service/node_map.h"
#include "daemon/tune/tune.h"

#define DESC_BYTES 64

int tune_names_check(const struct tune *t)
{
	nn_map_t *map = t->name_map ? ibcc_node_map_open(t->name_map) : NULL;

	if (t->name_map && !map)
		return tune_fail("node name map %s cannot be read: %s", t->name_map,
				 strerror(errno));
	close_node_name_map(map);
	return TUNE_OK;
}

static void rename_node(nn_map_t *map, json_t *o)
{
	const char *node = json_string_value(json_object_get(o, "node"));
	/* If the map lacks a node, libosmcomp cleans the node's description in place. It assumes a
	 * buffer of NodeDescription's 64 bytes. Ours is clean, and UTF-8.
	 */
	char none[DESC_BYTES] = "", *name;
	uint64_t guid;

	if (!ibcc_json_read_guid(json_object_get(o, "node_guid"), &guid) || !node)
		return;
	name = remap_node_name(map, guid, none);
	if (name && *name)
		json_object_set_new(o, "node", json_string(name));
	free(name);
}

static void walk(nn_map_t *map, json_t *o)
{
	const char *key;
	json_t *v;
	size_t i;

	if (json_is_object(o)) {
		rename_node(map, o);
		json_object_foreach (o, key, v)
			walk(map, v);
	}
	json_array_foreach (o, i, v)
		walk(map, v);
}

void tune_rename(const struct tune *t, json_t *o)
{
	nn_map_t *map = t->name_map ? ibcc_node_map_open(t->name_map) : NULL;

	if (map)
		walk(map, o);
	close_node_name_map(map);
}
