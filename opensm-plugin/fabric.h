/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What OpenSM knows, copied out of its tables. */
#ifndef IBCC_PLUGIN_FABRIC_H
#define IBCC_PLUGIN_FABRIC_H

#include <ibcc/proto.h>
#include <ibcc/topo.h>

struct osm_opensm;

/* The topology as OpenSM has it now, generation 0. Takes OpenSM's lock for reading, once to see how
 * much there is and once to copy it; *locked_ns is how long it had it at most. Parts that
 * contradict each other (a sweep may be under way) are left out. NULL without memory.
 */
struct ibcc_topo *ibcc_plugin_fabric_read(struct osm_opensm *osm, uint64_t *locked_ns);

/* State of the SM now: sm_state, own_cc, port_guid, subnet_prefix and versions; the rest is left
 * alone. Takes no lock, so it may be asked from anywhere.
 */
void ibcc_plugin_sm_read(const struct osm_opensm *osm, struct ibcc_proto_state *s);

/* True once OpenSM was told to end. */
bool ibcc_plugin_sm_exiting(void);

#endif
