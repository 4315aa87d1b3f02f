/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The topology of a fabric after some nodes or links went out of sight. */
#ifndef SIM_MERGE_H
#define SIM_MERGE_H

#include <ibcc/topo.h>

/* Makes a new topology of all nodes and links that are in `seen` or were in `old`. What is in
 * `seen` is as seen there. Nodes and links out of sight keep what they had, but their ports are
 * down. Both topologies have their nodes in ascending order of GUIDs, and so has the result. NULL
 * without memory.
 */
struct ibcc_topo *ibcc_merge_topo(const struct ibcc_topo *old, const struct ibcc_topo *seen);

#endif
