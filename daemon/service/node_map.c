/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "daemon/service/node_map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <ibcc/clean.h>

/* Default files: infiniband-diags of rdma-core reads the first one. The last one is read by
 * Debian's libosmcomp, and so by OpenSM. Older infiniband-diags had a folder of their own.
 */
static const char *const usual_files[] = { "/etc/rdma/ib-node-name-map",
					   "/etc/infiniband-diags/ib-node-name-map",
					   "/etc/opensm/ib-node-name-map" };

nn_map_t *ibcc_node_map_open(const char *file)
{
	nn_map_t *map;

	if (file && *file)
		return access(file, R_OK) ? NULL : open_node_name_map(file);
	for (size_t i = 0; i < sizeof(usual_files) / sizeof(usual_files[0]); i++)
		if (!access(usual_files[i], R_OK) && (map = open_node_name_map(usual_files[i])))
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
