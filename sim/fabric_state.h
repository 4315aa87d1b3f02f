/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the files of the fabric share. Private to these files. */
#ifndef SIM_FABRIC_STATE_H
#define SIM_FABRIC_STATE_H

#include "sim/fabric.h"

#define PORT_ACTIVE 4u

struct flow_state {
	uint32_t index;               /* in the engine; IBCC_NONE: not there */
	struct ibcc_engine_flow past; /* counts of earlier engines */
	/* Bytes received at the sample times, the older one first. */
	uint64_t sample_bytes[2];
};

/* A rate that was changed. It is that of the link at a port, perhaps only of what that port sends.
 * With port 0, it is that of a host as a sink.
 */
struct changed_rate {
	char node[IBCC_NAME_BYTES];
	uint8_t port;
	bool one_way;
	uint32_t mbps;
};

struct ibcc_sim_fabric {
	const struct ibcc_scenario *s;
	struct ibcc_model model;
	/* the topology of the engine; links are up by the states of ports */
	struct ibcc_topo *topo;
	struct ibcc_engine *engine;
	struct ibcc_agents *agents;
	bool traffic;
	struct flow_state *flow; /* by index in the scenario */
	struct changed_rate *rate;
	uint32_t n_rates, next_event;
	uint64_t sample_ps[2];
	ibcc_sim_fabric_link_event *link_event;
	void *link_arg;
};

/* Adds the scenario's flows to a new engine; index[i] is the engine's index of flow i. Flows whose
 * end nodes are missing are left out until a later engine. -EINVAL, -ENOMEM.
 */
int ibcc_sim_fabric_add_flows(const struct ibcc_sim_fabric *fab, struct ibcc_engine *e,
			      const struct ibcc_topo *t, uint32_t *index);
/* Called when a new engine replaces the present one: keeps the counts of flows so far. */
void ibcc_sim_fabric_keep_flows(struct ibcc_sim_fabric *fab, const uint32_t *index);
void ibcc_sim_fabric_apply_rates(const struct ibcc_sim_fabric *fab, struct ibcc_engine *e,
				 const struct ibcc_topo *t);

/* Whether the link at a port carries data: active at both ends. */
static inline bool ibcc_sim_fabric_link_up(const struct ibcc_topo *t, uint32_t port)
{
	const struct ibcc_topo_port *p = &t->port[port];

	return p->peer != IBCC_NONE && p->state == PORT_ACTIVE &&
	       t->port[p->peer].state == PORT_ACTIVE;
}

#endif
