/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A copy of what OpenSM knows, from its tables. */
#ifndef IBCC_PLUGIN_FABRIC_H
#define IBCC_PLUGIN_FABRIC_H

#include <ibcc/proto.h>
#include <ibcc/topo.h>

struct osm_opensm;

/* The topology as OpenSM has it now, generation 0. Takes OpenSM's lock for reading, once to measure
 * and once to copy; *locked_ns is the longest time that it held the lock. Leaves out parts that
 * contradict each other, since a sweep may be running. NULL without memory.
 */
struct ibcc_topo *ibcc_plugin_fabric_read(struct osm_opensm *osm, uint64_t *locked_ns);

/* State of the SM now: sm_state, own_cc, port_guid, subnet_prefix and versions; leaves the rest
 * alone. Takes no lock, so any thread may call it.
 */
void ibcc_plugin_sm_read(const struct osm_opensm *osm, struct ibcc_proto_state *s);

/* True once OpenSM is shutting down. */
bool ibcc_plugin_sm_exiting(void);

#endif
