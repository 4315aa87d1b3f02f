/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Joins the topology that was seen last with the one before (merge.h). A node behind a pulled
 * cable keeps its registers and counters, so it must stay in the topology.
 */
#include "sim/merge.h"

#include <stdbool.h>
#include <string.h>

#define PORT_DOWN 1u

/* Adds a copy of a node with its tables; its links and LIDs are added later. */
static int add_node(struct ibcc_topo *m, const struct ibcc_topo *from, uint32_t node)
{
	const struct ibcc_topo_node *n = &from->node[node];
	int64_t at = ibcc_topo_add_node(m, n->guid, n->type, n->n_ports, n->desc);
	size_t side = n->n_ports + 1u;
	unsigned int in, out;
	int err = 0;

	if (at < 0)
		return (int)at;
	m->node[at].enhanced_port0 = n->enhanced_port0;
	if (n->lft)
		err = ibcc_topo_set_lft(m, (uint32_t)at, n->lft, n->lft_len);
	for (in = 0; !err && n->sl2vl && in < side; in++)
		for (out = 1; !err && out < side; out++)
			err = ibcc_topo_set_sl2vl(m, (uint32_t)at, in, out,
						  n->sl2vl[in * side + out]);
	return err;
}

/* The port of another topology that is the same one, by its node's GUID. */
static uint32_t port_in(const struct ibcc_topo *to, const struct ibcc_topo *from, uint32_t port)
{
	const struct ibcc_topo_port *p = &from->port[port];

	return ibcc_topo_port_index(to, ibcc_topo_find_guid(to, from->node[p->node].guid), p->num);
}

/* A port's LMC, from the number of LIDs that it owns (2 to the power of LMC). */
static unsigned int lmc_of(const struct ibcc_topo *t, uint32_t port)
{
	unsigned int lmc = 0;
	uint32_t lid = t->port[port].lid;

	while (lmc < 7 && lid + (2u << lmc) - 1 <= IBCC_LID_MAX &&
	       t->lid_port[lid + (2u << lmc) - 1] == port)
		lmc++;
	return lmc;
}

/* Adds the links of a topology whose ports have none yet, up or down. */
static int add_links(struct ibcc_topo *m, const struct ibcc_topo *from, bool up)
{
	uint32_t i, at, peer;
	int err = 0;

	for (i = 0; i < from->n_ports && !err; i++) {
		const struct ibcc_topo_port *p = &from->port[i];

		if (p->peer == IBCC_NONE || p->peer < i)
			continue;
		at = port_in(m, from, i);
		peer = port_in(m, from, p->peer);
		if (m->port[at].peer != IBCC_NONE || m->port[peer].peer != IBCC_NONE)
			continue;
		err = ibcc_topo_link(m, m->port[at].node, m->port[at].num, m->port[peer].node,
				     m->port[peer].num, p->rate_mbps, p->mtu_bytes);
		if (!err) /* each direction has its own rate */
			m->port[peer].rate_mbps = from->port[p->peer].rate_mbps;
		if (!err && !up)
			m->port[at].state = m->port[peer].state = PORT_DOWN;
	}
	return err;
}

/* States and LIDs of the ports of nodes that are not in `but` (may be NULL). */
static void add_ports(struct ibcc_topo *m, const struct ibcc_topo *from,
		      const struct ibcc_topo *but)
{
	uint32_t n, p;

	for (n = 0; n < from->n_nodes; n++) {
		uint32_t at = ibcc_topo_find_guid(m, from->node[n].guid);

		if (but && ibcc_topo_find_guid(but, from->node[n].guid) != IBCC_NONE)
			continue;
		for (p = 0; p <= from->node[n].n_ports; p++) {
			uint32_t i = from->node[n].first_port + p;
			struct ibcc_topo_port *mp = &m->port[m->node[at].first_port + p];

			if (!but)
				mp->state = from->port[i].state;
			mp->op_vls = from->port[i].op_vls;
			mp->guid = from->port[i].guid;
			/* Fails if another node has taken the LID of a node that is out of sight.
			 */
			if (from->port[i].lid)
				(void)ibcc_topo_set_lid(m, m->node[at].first_port + p,
							from->port[i].lid, lmc_of(from, i));
		}
	}
}

struct ibcc_topo *ibcc_merge_topo(const struct ibcc_topo *old, const struct ibcc_topo *seen)
{
	struct ibcc_topo *m = ibcc_topo_new();
	uint32_t o = 0, s = 0;
	int err = m ? 0 : -1;

	while (!err && (o < old->n_nodes || s < seen->n_nodes)) {
		if (s < seen->n_nodes &&
		    (o == old->n_nodes || seen->node[s].guid <= old->node[o].guid)) {
			o += o < old->n_nodes && old->node[o].guid == seen->node[s].guid;
			err = add_node(m, seen, s++);
		} else {
			err = add_node(m, old, o++);
		}
	}
	if (!err)
		err = add_links(m, seen, true);
	if (!err)
		err = add_links(m, old, false);
	if (!err) {
		add_ports(m, seen, NULL);
		add_ports(m, old, seen);
		return m;
	}
	ibcc_topo_free(m);
	return NULL;
}
