/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The site's names of nodes: a node name map, the file that infiniband-diags and OpenSM read, too.
 */
#ifndef IBCC_DAEMON_SERVICE_NODE_MAP_H
#define IBCC_DAEMON_SERVICE_NODE_MAP_H

#include <infiniband/complib/cl_nodenamemap.h>

#include <ibcc/topo.h>

/* Opens this map, or, where the path is NULL or empty, the one that these programs read by default.
 * NULL with errno: it cannot be read, or there is none. Closed by close_node_name_map(), which
 * accepts NULL.
 */
nn_map_t *ibcc_node_map_open(const char *file);

/* Gives all nodes their names by a map (see ibcc_node_map_open(); without one they keep theirs),
 * and the GUID behind a name that does not identify a node (see ibcc_topo_label()). 0 or -ENOMEM.
 */
int ibcc_node_map_label(const char *file, struct ibcc_topo *t);

#endif
