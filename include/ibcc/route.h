/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Static routes: following forwarding tables, and computing them for generated fabrics. */
#ifndef IBCC_ROUTE_H
#define IBCC_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/topo.h>

#define IBCC_ROUTE_MAX_HOPS 64u

/* Output ports (fabric-wide indices) that a packet from a channel adapter's port to a LID leaves
 * by: the source's port first, then one of each switch.
 */
struct ibcc_route {
	unsigned int n;
	uint32_t out[IBCC_ROUTE_MAX_HOPS];
};

/* Follows the tables. Returns 0, -ENOENT (a switch has no entry for the LID), -ENOLINK (an output
 * port without link), -ELOOP (more than IBCC_ROUTE_MAX_HOPS), -EINVAL (src no channel adapter's
 * port or without LID, dlid no unicast LID). *r holds the hops so far in each case but -EINVAL.
 */
int ibcc_route_follow(const struct ibcc_topo *t, uint32_t src_port, uint16_t dlid,
		      struct ibcc_route *r);

/* True if a packet on the way leaves by out_port. */
static inline bool ibcc_route_leaves_by(const struct ibcc_route *r, uint32_t out_port)
{
	for (unsigned int i = 0; i < r->n; i++)
		if (r->out[i] == out_port)
			return true;
	return false;
}

/* True if the route from src_port to dlid leaves by out_port. */
bool ibcc_route_passes(const struct ibcc_topo *t, uint32_t src_port, uint16_t dlid,
		       uint32_t out_port);

/* Gives LIDs 1, 2, ... to all linked endports that have none, channel adapters first in order, and
 * fills the switches' tables with shortest paths. Among k equal paths a switch that is l switch
 * hops away from the nearest adapter takes number floor((LID - 1) / k^l) mod k: d-mod-k on trees.
 * -ENOMEM, or -ENETUNREACH if some endport cannot be reached from some switch; the tables are then
 * as before.
 */
int ibcc_route_compute(struct ibcc_topo *t);

/* Finds output ports of switches that the routes between channel adapters make wait for each other
 * in a circle: full buffers along it would block it for ever. Writes the first max of them to out
 * in the order of the circle, and its length to n, 0 if there is none. -ENOMEM.
 */
int ibcc_route_find_cycle(const struct ibcc_topo *t, uint32_t *out, uint32_t max, uint32_t *n);

#endif
