/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* MADs that the fabric answers: at which node the sender is, and whether a route leads from it to
 * the node that is asked.
 */
#include <errno.h>

#include <ibcc/pma.h>
#include <ibcc/route.h>
#include <ibcc/smp.h>

#include "sim/fabric_state.h"

/* Places in a directed route SMP (IBA vol. 1, 14.2.1.2). */
#define SMP_HOP_COUNT    7
#define SMP_INITIAL_PATH 128

/* A client sits at a node's first endport. */
static uint32_t first_endport(const struct ibcc_topo *t, uint64_t guid)
{
	uint32_t n = ibcc_topo_find_guid(t, guid);

	if (n == IBCC_NONE)
		return IBCC_NONE;
	return t->node[n].first_port + (t->node[n].type == IBCC_NODE_SWITCH ? 0 : 1);
}

uint16_t ibcc_sim_fabric_lid(const struct ibcc_sim_fabric *fab, uint64_t guid)
{
	uint32_t p = fab->topo ? first_endport(fab->topo, guid) : IBCC_NONE;

	return p == IBCC_NONE ? 0 : fab->topo->port[p].lid;
}

uint64_t ibcc_sim_fabric_lid_guid(const struct ibcc_sim_fabric *fab, uint16_t lid)
{
	uint32_t p = fab->topo ? ibcc_topo_port_of_lid(fab->topo, lid) : IBCC_NONE;

	return p == IBCC_NONE ? 0 : fab->topo->node[fab->topo->port[p].node].guid;
}

/* Whether packets from an endport reach a LID, over active links. */
static bool reaches(const struct ibcc_topo *t, uint32_t from, uint16_t dlid)
{
	uint32_t to = ibcc_topo_port_of_lid(t, dlid);
	struct ibcc_route r;
	unsigned int i;

	if (to == IBCC_NONE)
		return false;
	if (to == from)
		return true;
	if (ibcc_topo_is_switch(t, t->port[from].node)) {
		/* A switch as the sender is rare, so only its first hop is checked. */
		const struct ibcc_topo_node *n = &t->node[t->port[from].node];
		uint8_t out = dlid < n->lft_len ? n->lft[dlid] : IBCC_LFT_NONE;

		return out <= n->n_ports &&
		       (!out || ibcc_sim_fabric_link_up(t, n->first_port + out));
	}
	if (ibcc_route_follow(t, from, dlid, &r))
		return false;
	for (i = 0; i < r.n; i++)
		if (t->port[r.out[i]].num && !ibcc_sim_fabric_link_up(t, r.out[i]))
			return false;
	return true;
}

/* Whether a request is at QP 1 of a node whose counters are at another QP. */
static bool is_redirected(const struct ibcc_sim_fabric *fab, uint32_t port, uint32_t qp,
			  const uint8_t *rq)
{
	uint32_t to = ibcc_agents_quirks(fab->agents, fab->topo->port[port].node)->pma_qp;
	struct ibcc_mad_header h;

	ibcc_mad_header_unpack(rq, &h);
	return to && qp != to && h.mgmt_class == IBCC_MAD_CLASS_PERF &&
	       h.attr_id != IBCC_PMA_ATTR_CLASS_PORT_INFO;
}

int ibcc_sim_fabric_answer(struct ibcc_sim_fabric *fab, uint64_t from_guid, uint16_t dlid,
			   uint32_t qp, const uint8_t *rq, uint8_t *reply)
{
	uint32_t from = fab->topo ? first_endport(fab->topo, from_guid) : IBCC_NONE;
	struct ibcc_mad_header h;
	uint32_t port;
	int err;

	if (from == IBCC_NONE || !reaches(fab->topo, from, dlid))
		return -ETIMEDOUT;
	port = ibcc_topo_port_of_lid(fab->topo, dlid);
	err = ibcc_agents_answer(fab->agents, fab->topo->port[port].endport, rq, reply);
	if (err || !is_redirected(fab, port, qp, rq))
		return err;
	ibcc_mad_header_unpack(reply, &h);
	h.status = IBCC_MAD_STATUS_REDIRECT;
	ibcc_mad_header_pack(reply, &h);
	return 0;
}

/* Hops count from 1, as in the datagram. */
uint32_t ibcc_sim_fabric_route_end(const struct ibcc_topo *t, uint32_t node, const uint8_t *smp)
{
	unsigned int hops = smp[SMP_HOP_COUNT];

	for (unsigned int i = 1; i <= hops && i <= IBCC_SMP_MAX_HOPS && node != IBCC_NONE; i++) {
		uint32_t out = ibcc_topo_port_index(t, node, smp[SMP_INITIAL_PATH + i]);
		uint32_t peer = out == IBCC_NONE ? IBCC_NONE : t->port[out].peer;

		node = peer == IBCC_NONE ? IBCC_NONE : t->port[peer].node;
	}
	return node;
}

uint16_t ibcc_sim_fabric_loss(const struct ibcc_sim_fabric *fab, uint64_t from_guid, uint16_t dlid,
			      const uint8_t *rq)
{
	uint32_t node, port;

	if (!fab->topo)
		return 0;
	if (rq[1] == IBCC_MAD_CLASS_SMP_DIRECT) {
		node = ibcc_sim_fabric_route_end(fab->topo,
						 ibcc_topo_find_guid(fab->topo, from_guid), rq);
	} else {
		port = ibcc_topo_port_of_lid(fab->topo, dlid);
		node = port == IBCC_NONE ? IBCC_NONE : fab->topo->port[port].node;
	}
	return ibcc_agents_loss(fab->agents, node);
}
