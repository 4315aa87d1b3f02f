/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The site's names of nodes. They come from a node name map, the file that infiniband-diags and
 * OpenSM read, too.
 */
#ifndef IBCC_DAEMON_SERVICE_NODE_MAP_H
#define IBCC_DAEMON_SERVICE_NODE_MAP_H

#include <infiniband/complib/cl_nodenamemap.h>

#include <ibcc/topo.h>

/* Opens this map. If the path is NULL or empty, opens the map that infiniband-diags and OpenSM read
 * by default. Returns NULL with errno if it cannot be read or there is none. Closed by
 * close_node_name_map(), which accepts NULL.
 */
nn_map_t *ibcc_node_map_open(const char *file);

/* Names all nodes by a map (see ibcc_node_map_open()); without a map they keep their names. Adds
 * the GUID to a name that does not identify a node (see ibcc_topo_label()). Returns 0 or -ENOMEM.
 */
int ibcc_node_map_label(const char *file, struct ibcc_topo *t);

#endif
