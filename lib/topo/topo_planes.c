/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Adapters whose port is several links (planes, as XDR has them).
 *
 * The links share the port's LID, so a topology knows it of one link only. Neither the forwarding
 * tables nor that link's counters then say what such an adapter sends and receives, so its LIDs
 * are taken out of the topology.
 */
#include <ibcc/topo.h>

#define ACTIVE 4u

bool ibcc_topo_has_planes(const struct ibcc_topo *t, uint32_t node)
{
	const struct ibcc_topo_node *n = &t->node[node];
	unsigned int links = 0, nameless = 0;

	if (n->type != IBCC_NODE_CA)
		return false;
	for (unsigned int p = 1; p <= n->n_ports; p++) {
		const struct ibcc_topo_port *port = &t->port[n->first_port + p];

		if (port->state != ACTIVE || port->peer == IBCC_NONE)
			continue;
		links++;
		nameless += !port->lid;
	}
	return links > 1 && nameless;
}

void ibcc_topo_leave_planes(struct ibcc_topo *t)
{
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		if (!ibcc_topo_has_planes(t, i))
			continue;
		for (unsigned int p = 1; p <= t->node[i].n_ports; p++)
			ibcc_topo_clear_lid(t, t->node[i].first_port + p);
	}
}
