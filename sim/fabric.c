/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The data plane of a simulated fabric (fabric.h): carries what was observed of the control plane
 * into the engine. The engine is built with every link that was ever seen between the present
 * nodes. Links that are down, or that the subnet manager has not activated, are taken down in it.
 * So only new nodes and links need a new engine. Begin with ibcc_sim_fabric_update().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/fabric_state.h"
#include "sim/merge.h"

/* Packets that an adapter holds at most: a fabric may run for days with more offered than it
 * carries.
 */
#define ADAPTER_PACKETS 1024u

struct ibcc_sim_fabric *ibcc_sim_fabric_new(const struct ibcc_scenario *s)
{
	struct ibcc_sim_fabric *fab = calloc(1, sizeof(*fab));
	uint32_t i, n = s ? s->n_flows : 0;

	if (!fab)
		return NULL;
	fab->s = s;
	fab->traffic = true;
	if (s)
		fab->model = s->model;
	else
		ibcc_model_defaults(&fab->model);
	fab->model.adapter_packets = ADAPTER_PACKETS;
	fab->flow = calloc(n + 1, sizeof(*fab->flow));
	if (!fab->flow) {
		free(fab);
		return NULL;
	}
	for (i = 0; i < n; i++)
		fab->flow[i].index = IBCC_NONE;
	return fab;
}

void ibcc_sim_fabric_free(struct ibcc_sim_fabric *fab)
{
	if (!fab)
		return;
	ibcc_agents_free(fab->agents);
	ibcc_engine_free(fab->engine);
	ibcc_topo_free(fab->topo);
	free(fab->flow);
	free(fab->rate);
	free(fab);
}

/* Puts up and takes down the engine's links as the topology says. */
static int apply_links(struct ibcc_engine *e, const struct ibcc_topo *t)
{
	uint32_t i;
	int err = 0;

	for (i = 0; i < t->n_ports && !err; i++)
		if (t->port[i].peer != IBCC_NONE && t->port[i].peer > i)
			err = ibcc_engine_set_link(e, i, ibcc_sim_fabric_link_up(t, i));
	return err;
}

/* Builds a new engine for a topology, which passes to the fabric; time and counters go on in it. */
static int rebuild(struct ibcc_sim_fabric *fab, struct ibcc_topo *t)
{
	uint32_t n = fab->s ? fab->s->n_flows : 0;
	uint32_t *index = calloc(n + 1, sizeof(*index));
	struct ibcc_engine *e = NULL;
	int err = -ENOMEM;

	if (index)
		e = ibcc_engine_new(t, &fab->model, fab->s ? fab->s->seed : 1, &err);
	if (!e)
		goto out;
	err = ibcc_engine_run(e, ibcc_sim_fabric_now_ps(fab));
	if (!err)
		err = apply_links(e, t);
	if (!err && fab->s)
		err = ibcc_engine_load_paths(e, fab->s);
	if (!err)
		err = ibcc_sim_fabric_add_flows(fab, e, t, index);
	if (err)
		goto out;
	ibcc_sim_fabric_apply_rates(fab, e, t);
	if (fab->agents) {
		err = ibcc_agents_bind(fab->agents, t, e);
		if (!err && fab->s)
			err = ibcc_agents_equip(fab->agents, fab->s, fab->topo);
	} else {
		const struct ibcc_agents_options o = { .cct_blocks = fab->model.cct_blocks,
						       .wait_tick = fab->model.wait_tick,
						       .sw_port_block = IBCC_CC_SW_PORT_BLOCK_121 };

		fab->agents = ibcc_agents_new(t, e, &o);
		err = fab->agents ? 0 : -ENOMEM;
		if (!err && fab->s)
			err = ibcc_agents_equip(fab->agents, fab->s, NULL);
		if (!err && fab->s)
			ibcc_agents_load(fab->agents, &fab->s->cc);
	}
	if (err)
		goto out;
	ibcc_sim_fabric_keep_flows(fab, index);
	ibcc_engine_free(fab->engine);
	ibcc_topo_free(fab->topo);
	fab->engine = e;
	fab->topo = t;
	e = NULL;
out:
	ibcc_engine_free(e);
	free(index);
	return err;
}

/* Whether the engine has all nodes and links of a topology, at the same rates. */
static bool fits(const struct ibcc_topo *have, const struct ibcc_topo *t)
{
	uint32_t i;

	if (have->n_nodes != t->n_nodes || have->n_ports != t->n_ports)
		return false;
	for (i = 0; i < t->n_nodes; i++)
		if (have->node[i].guid != t->node[i].guid ||
		    have->node[i].n_ports != t->node[i].n_ports ||
		    have->node[i].type != t->node[i].type ||
		    strcmp(have->node[i].desc, t->node[i].desc) ||
		    !have->node[i].sl2vl != !t->node[i].sl2vl)
			return false;
	for (i = 0; i < t->n_ports; i++) {
		const struct ibcc_topo_port *h = &have->port[i], *p = &t->port[i];

		if (p->peer != IBCC_NONE && (h->peer != p->peer || h->rate_mbps != p->rate_mbps))
			return false;
		if (h->op_vls != p->op_vls)
			return false;
	}
	return true;
}

/* Whether no port has several LIDs (LMC). The engine takes those only from a whole topology. */
static bool lids_are_plain(const struct ibcc_topo *t)
{
	uint32_t i, n = 0, owned = 0;

	for (i = 0; i < t->n_endports; i++)
		n += t->port[t->endport[i]].lid != 0;
	for (i = 0; i <= IBCC_LID_MAX; i++)
		owned += t->lid_port[i] != IBCC_NONE;
	return n == owned;
}

/* Carries the differences of a topology into the running engine. */
static int adjust(struct ibcc_sim_fabric *fab, const struct ibcc_topo *t)
{
	uint32_t i, p, in;
	int err = 0;

	for (i = 0; i < t->n_endports && !err; i++)
		err = ibcc_engine_set_lid(fab->engine, t->endport[i], t->port[t->endport[i]].lid);
	for (i = 0; i < t->n_nodes && !err; i++) {
		const struct ibcc_topo_node *n = &t->node[i], *old = &fab->topo->node[i];
		size_t side = n->n_ports + 1u;

		if (n->type != IBCC_NODE_SWITCH)
			continue;
		if (n->lft_len != old->lft_len ||
		    (n->lft_len && memcmp(n->lft, old->lft, n->lft_len)))
			err = ibcc_engine_set_lft(fab->engine, i, n->lft, n->lft_len);
		for (in = 0; !err && n->sl2vl && in < side; in++)
			for (p = 1; !err && p < side; p++)
				if (memcmp(n->sl2vl[in * side + p], old->sl2vl[in * side + p], 16))
					err = ibcc_engine_set_sl2vl(fab->engine, i, in, p,
								    n->sl2vl[in * side + p]);
	}
	return err ? err : apply_links(fab->engine, t);
}

int ibcc_sim_fabric_update(struct ibcc_sim_fabric *fab, struct ibcc_topo *t)
{
	struct ibcc_topo *m = fab->topo ? ibcc_merge_topo(fab->topo, t) : NULL;
	int err;

	if (!fab->topo) {
		err = rebuild(fab, t);
		if (err)
			ibcc_topo_free(t);
		return err;
	}
	ibcc_topo_free(t);
	if (!m)
		return -ENOMEM;
	err = fits(fab->topo, m) && lids_are_plain(m) && lids_are_plain(fab->topo) ? adjust(fab, m)
										   : -EINVAL;
	if (err) {
		err = rebuild(fab, m);
		if (err)
			ibcc_topo_free(m);
		return err;
	}
	ibcc_agents_rename(fab->agents, m);
	ibcc_topo_free(fab->topo);
	fab->topo = m;
	return 0;
}

int ibcc_sim_fabric_set_traffic(struct ibcc_sim_fabric *fab, bool on)
{
	struct ibcc_topo *t;
	int err;

	if (fab->traffic == on)
		return 0;
	fab->traffic = on;
	t = fab->topo ? ibcc_topo_clone(fab->topo) : NULL;
	if (!fab->topo)
		return 0;
	err = t ? rebuild(fab, t) : -ENOMEM;
	if (err) {
		fab->traffic = !on;
		ibcc_topo_free(t);
	}
	return err;
}

bool ibcc_sim_fabric_traffic(const struct ibcc_sim_fabric *fab)
{
	return fab->traffic;
}

int ibcc_sim_fabric_find(const struct ibcc_sim_fabric *fab, const char *name, uint32_t *node)
{
	*node = IBCC_NONE;
	if (!fab->topo)
		return -ENOENT;
	if (fab->s)
		*node = ibcc_scenario_find(fab->s, name, fab->topo);
	return *node == IBCC_NONE ? ibcc_topo_find_node(fab->topo, name, node) : 0;
}

int ibcc_sim_fabric_set_support(struct ibcc_sim_fabric *fab, const char *node, bool on)
{
	uint32_t n;
	int err = ibcc_sim_fabric_find(fab, node, &n);

	return err ? err : ibcc_agents_set_support(fab->agents, n, on);
}

int ibcc_sim_fabric_set_loss(struct ibcc_sim_fabric *fab, const char *node, uint16_t permille)
{
	uint32_t n;
	int err = ibcc_sim_fabric_find(fab, node, &n);

	return err ? err : ibcc_agents_set_loss(fab->agents, n, permille);
}

int ibcc_sim_fabric_set_port_block(struct ibcc_sim_fabric *fab, const char *node, uint8_t block)
{
	uint32_t n;
	int err = ibcc_sim_fabric_find(fab, node, &n);

	return err ? err : ibcc_agents_set_port_block(fab->agents, n, block);
}

int ibcc_sim_fabric_reboot(struct ibcc_sim_fabric *fab, const char *node)
{
	uint32_t n;
	int err = ibcc_sim_fabric_find(fab, node, &n);

	return err ? err : ibcc_agents_forget(fab->agents, n);
}

struct ibcc_agent_quirks *ibcc_sim_fabric_quirks(struct ibcc_sim_fabric *fab, const char *node)
{
	uint32_t n;

	return ibcc_sim_fabric_find(fab, node, &n) ? NULL : ibcc_agents_quirks(fab->agents, n);
}

const struct ibcc_topo *ibcc_sim_fabric_topo(const struct ibcc_sim_fabric *fab)
{
	return fab->topo;
}

struct ibcc_agents *ibcc_sim_fabric_agents(struct ibcc_sim_fabric *fab)
{
	return fab->agents;
}
