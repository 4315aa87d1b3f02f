/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Where packets that come into a switch may leave it, by routes and by what its ports carry. */
#include "estimate_tree.h"

/* A port that waits less has credits whenever it wants. */
#define FREE_PERMILLE 10u

/* Do packets for a LID come through a port? */
static bool carries(const struct ibcc_topo *t, uint32_t port, uint32_t lid)
{
	uint32_t node = t->port[port].node;
	const struct ibcc_topo_node *sw = &t->node[node];

	if (!ibcc_topo_is_switch(t, node))
		return true;
	if (lid >= sw->lft_len || sw->lft[lid] != t->port[port].num)
		return false;
	for (unsigned int num = 1; num <= sw->n_ports; num++) {
		uint32_t p = t->port[sw->first_port + num].peer;

		if (p == IBCC_NONE || sw->first_port + num == port)
			continue;
		if (is_ca_port(t, p) || (lid < t->node[t->port[p].node].lft_len &&
					 t->node[t->port[p].node].lft[lid] == t->port[p].num))
			return true;
	}
	return false;
}

/* The most of what comes through a feeder that other ports of its switch than `port` can carry
 * away.
 */
static uint64_t carried_elsewhere(const struct ibcc_topo *t, const struct load *load,
				  uint32_t feeder, uint32_t port)
{
	const struct ibcc_topo_node *sw = &t->node[t->port[port].node];
	bool counted[256] = { false };
	uint64_t sum = 0;

	counted[t->port[port].num] = true;
	counted[t->port[t->port[feeder].peer].num] = true; /* nothing goes back */
	for (uint32_t lid = 1; lid < sw->lft_len && lid <= IBCC_LID_MAX; lid++) {
		unsigned int num = sw->lft[lid];

		if (!num || num > sw->n_ports || counted[num] || t->lid_port[lid] == IBCC_NONE ||
		    !is_ca_port(t, t->lid_port[lid]) || !carries(t, feeder, lid))
			continue;
		counted[num] = true;
		sum += load[sw->first_port + num].mbps;
	}
	return sum;
}

bool ibcc_flows_freely(const struct ibcc_topo *t, const struct load *load, uint32_t port)
{
	const struct ibcc_topo_node *sw = &t->node[t->port[port].node];

	for (unsigned int num = 1; num <= sw->n_ports; num++)
		if (load[sw->first_port + num].read && !load[sw->first_port + num].usable)
			return false;
	for (unsigned int num = 1; num <= sw->n_ports; num++) {
		uint32_t q = t->port[sw->first_port + num].peer;

		if (q == IBCC_NONE || sw->first_port + num == port || !load[q].usable ||
		    load[q].waited >= FREE_PERMILLE || 2ull * load[q].mbps <= load[port].mbps)
			continue;
		if (4ull * load[q].mbps >
		    4 * carried_elsewhere(t, load, q, port) + 3ull * load[port].mbps)
			return true;
	}
	return false;
}
