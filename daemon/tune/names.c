/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Node names of the site: the same files that infiniband-diags and opensm read. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/complib/cl_nodenamemap.h>

#include <ibcc/json.h>

#include "daemon/tune/tune.h"

#define DESC_BYTES 64

static const char *const usual_files[] = { "/etc/rdma/ib-node-name-map",
					   "/etc/infiniband-diags/ib-node-name-map",
					   "/etc/opensm/ib-node-name-map" };

static nn_map_t *open_map(const struct tune *t)
{
	nn_map_t *map;
	size_t i;

	if (t->name_map)
		return access(t->name_map, R_OK) ? NULL : open_node_name_map(t->name_map);
	for (i = 0; i < sizeof(usual_files) / sizeof(usual_files[0]); i++)
		if (!access(usual_files[i], R_OK) && (map = open_node_name_map(usual_files[i])))
			return map;
	return NULL;
}

int tune_names_check(const struct tune *t)
{
	nn_map_t *map = t->name_map ? open_map(t) : NULL;

	if (t->name_map && !map)
		return tune_fail("node name map %s cannot be read: %s", t->name_map,
				 strerror(errno));
	close_node_name_map(map);
	return TUNE_OK;
}

static void rename_node(nn_map_t *map, json_t *o)
{
	const char *node = json_string_value(json_object_get(o, "node"));
	/* Of a node that the map does not have, libosmcomp cleans the description in its place,
	 * which it takes to be NodeDescription's 64 bytes. Ours is clean, and UTF-8.
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
	nn_map_t *map = open_map(t);

	if (map)
		walk(map, o);
	close_node_name_map(map);
}
