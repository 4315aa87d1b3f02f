/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "daemon/service/node_map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ibcc/clean.h>

/* Default files: infiniband-diags of rdma-core reads the first one. The last one is read by
 * Debian's libosmcomp, and so by OpenSM. Older infiniband-diags had a folder of their own.
 */
static const char *const usual_files[] = { "/etc/rdma/ib-node-name-map",
					   "/etc/infiniband-diags/ib-node-name-map",
					   "/etc/opensm/ib-node-name-map" };

/* Takes an entry from parse_node_map(). The first one of a GUID counts, as for OpenSM. */
static int add_name(void *arg, uint64_t guid, char *text)
{
	nn_map_t *map = arg;
	name_map_item_t *entry;
	char *rest, *name = strtok_r(text, "\"#", &rest);

	if (!name || cl_qmap_get(map, guid) != cl_qmap_end(map))
		return 0;
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	entry->guid = guid;
	entry->name = strdup(name);
	cl_qmap_insert(map, guid, &entry->item);
	/* cppcheck-suppress memleak ; the map owns it */
	return entry->name ? 0 : -ENOMEM;
}

/* open_node_name_map() of libosmcomp loses the memory of each entry whose GUID an earlier one has,
 * and the daemon reads the map again for each new topology. So the entries are added here. Only a
 * map with a line that cannot be read goes to that function, which reports the line.
 */
static nn_map_t *open_map(const char *file)
{
	nn_map_t *map = malloc(sizeof(*map));

	if (!map)
		return NULL;
	cl_qmap_init(map);
	if (!parse_node_map(file, add_name, map))
		return map;
	close_node_name_map(map);
	return open_node_name_map(file);
}

nn_map_t *ibcc_node_map_open(const char *file)
{
	nn_map_t *map;

	if (file && *file)
		return access(file, R_OK) ? NULL : open_map(file);
	for (size_t i = 0; i < sizeof(usual_files) / sizeof(usual_files[0]); i++)
		if (!access(usual_files[i], R_OK) && (map = open_map(usual_files[i])))
			return map;
	errno = ENOENT;
	return NULL;
}

static bool name_of(void *arg, uint64_t guid, char name[IBCC_DESC_BYTES])
{
	/* If the map lacks a node, libosmcomp cleans the node's description in place. It assumes a
	 * buffer of NodeDescription's 64 bytes.
	 */
	char none[IBCC_DESC_BYTES] = "", *text = remap_node_name(arg, guid, none);

	snprintf(name, IBCC_DESC_BYTES, "%s", text ? text : "");
	free(text);
	ibcc_clean(name, "");
	return name[0];
}

int ibcc_node_map_label(const char *file, struct ibcc_topo *t)
{
	nn_map_t *map = ibcc_node_map_open(file);
	int rc = ibcc_topo_label(t, map ? name_of : NULL, map);

	close_node_name_map(map);
	return rc;
}
