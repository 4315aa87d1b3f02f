/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The data plane of a simulated fabric (world.h): carries what was observed of the control plane
 * into the engine. The engine is built with every link that was ever seen between the present
 * nodes. Links that are down, or that the subnet manager has not activated, are taken down in it.
 * So only new nodes and links need a new engine. Begin with ibcc_world_update().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/merge.h"
#include "sim/world_state.h"

/* Packets that an adapter holds at most: a fabric may run for days with more offered than it
 * carries.
 */
#define ADAPTER_PACKETS 1024u

struct ibcc_world *ibcc_world_new(const struct ibcc_scenario *s)
{
	struct ibcc_world *w = calloc(1, sizeof(*w));
	uint32_t i, n = s ? s->n_flows : 0;

	if (!w)
		return NULL;
	w->s = s;
	w->traffic = true;
	if (s)
		w->model = s->model;
	else
		ibcc_model_defaults(&w->model);
	w->model.adapter_packets = ADAPTER_PACKETS;
	w->flow = calloc(n + 1, sizeof(*w->flow));
	if (!w->flow) {
		free(w);
		return NULL;
	}
	for (i = 0; i < n; i++)
		w->flow[i].index = IBCC_NONE;
	return w;
}

void ibcc_world_free(struct ibcc_world *w)
{
	if (!w)
		return;
	ibcc_agents_free(w->agents);
	ibcc_engine_free(w->engine);
	ibcc_topo_free(w->topo);
	free(w->flow);
	free(w->rate);
	free(w);
}

/* Puts up and takes down the engine's links as the topology says. */
static int apply_links(struct ibcc_engine *e, const struct ibcc_topo *t)
{
	uint32_t i;
	int err = 0;

	for (i = 0; i < t->n_ports && !err; i++)
		if (t->port[i].peer != IBCC_NONE && t->port[i].peer > i)
			err = ibcc_engine_set_link(e, i, ibcc_world_link_up(t, i));
	return err;
}

/* Builds a new engine for a topology, which passes to the world; time and counters go on in it. */
static int rebuild(struct ibcc_world *w, struct ibcc_topo *t)
{
	uint32_t n = w->s ? w->s->n_flows : 0;
	uint32_t *index = calloc(n + 1, sizeof(*index));
	struct ibcc_engine *e = NULL;
	int err = -ENOMEM;

	if (index)
		e = ibcc_engine_new(t, &w->model, w->s ? w->s->seed : 1, &err);
	if (!e)
		goto out;
	err = ibcc_engine_run(e, ibcc_world_now_ps(w));
	if (!err)
		err = apply_links(e, t);
	if (!err)
		err = ibcc_world_add_flows(w, e, t, index);
	if (err)
		goto out;
	ibcc_world_apply_rates(w, e, t);
	if (w->agents) {
		err = ibcc_agents_bind(w->agents, t, e);
		if (!err && w->s)
			err = ibcc_agents_equip(w->agents, w->s, w->topo);
	} else {
		const struct ibcc_agents_options o = { .cct_blocks = w->model.cct_blocks,
						       .wait_tick = w->model.wait_tick,
						       .sw_port_block = IBCC_CC_SW_PORT_BLOCK_121 };

		w->agents = ibcc_agents_new(t, e, &o);
		err = w->agents ? 0 : -ENOMEM;
		if (!err && w->s)
			err = ibcc_agents_equip(w->agents, w->s, NULL);
		if (!err && w->s)
			ibcc_agents_load(w->agents, &w->s->cc);
	}
	if (err)
		goto out;
	ibcc_world_keep_flows(w, index);
	ibcc_engine_free(w->engine);
	ibcc_topo_free(w->topo);
	w->engine = e;
	w->topo = t;
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
static int adjust(struct ibcc_world *w, const struct ibcc_topo *t)
{
	uint32_t i, p, in;
	int err = 0;

	for (i = 0; i < t->n_endports && !err; i++)
		err = ibcc_engine_set_lid(w->engine, t->endport[i], t->port[t->endport[i]].lid);
	for (i = 0; i < t->n_nodes && !err; i++) {
		const struct ibcc_topo_node *n = &t->node[i], *old = &w->topo->node[i];
		size_t side = n->n_ports + 1u;

		if (n->type != IBCC_NODE_SWITCH)
			continue;
		if (n->lft_len != old->lft_len ||
		    (n->lft_len && memcmp(n->lft, old->lft, n->lft_len)))
			err = ibcc_engine_set_lft(w->engine, i, n->lft, n->lft_len);
		for (in = 0; !err && n->sl2vl && in < side; in++)
			for (p = 1; !err && p < side; p++)
				if (memcmp(n->sl2vl[in * side + p], old->sl2vl[in * side + p], 16))
					err = ibcc_engine_set_sl2vl(w->engine, i, in, p,
								    n->sl2vl[in * side + p]);
	}
	return err ? err : apply_links(w->engine, t);
}

int ibcc_world_update(struct ibcc_world *w, struct ibcc_topo *t)
{
	struct ibcc_topo *m = w->topo ? ibcc_merge_topo(w->topo, t) : NULL;
	int err;

	if (!w->topo) {
		err = rebuild(w, t);
		if (err)
			ibcc_topo_free(t);
		return err;
	}
	ibcc_topo_free(t);
	if (!m)
		return -ENOMEM;
	err = fits(w->topo, m) && lids_are_plain(m) && lids_are_plain(w->topo) ? adjust(w, m)
									       : -EINVAL;
	if (err) {
		err = rebuild(w, m);
		if (err)
			ibcc_topo_free(m);
		return err;
	}
	ibcc_agents_rename(w->agents, m);
	ibcc_topo_free(w->topo);
	w->topo = m;
	return 0;
}

int ibcc_world_set_traffic(struct ibcc_world *w, bool on)
{
	struct ibcc_topo *t;
	int err;

	if (w->traffic == on)
		return 0;
	w->traffic = on;
	t = w->topo ? ibcc_topo_clone(w->topo) : NULL;
	if (!w->topo)
		return 0;
	err = t ? rebuild(w, t) : -ENOMEM;
	if (err) {
		w->traffic = !on;
		ibcc_topo_free(t);
	}
	return err;
}

bool ibcc_world_traffic(const struct ibcc_world *w)
{
	return w->traffic;
}

int ibcc_world_find(const struct ibcc_world *w, const char *name, uint32_t *node)
{
	*node = IBCC_NONE;
	if (!w->topo)
		return -ENOENT;
	if (w->s)
		*node = ibcc_scenario_find(w->s, name, w->topo);
	return *node == IBCC_NONE ? ibcc_topo_find_node(w->topo, name, node) : 0;
}

int ibcc_world_set_support(struct ibcc_world *w, const char *node, bool on)
{
	uint32_t n;
	int err = ibcc_world_find(w, node, &n);

	return err ? err : ibcc_agents_set_support(w->agents, n, on);
}

int ibcc_world_set_loss(struct ibcc_world *w, const char *node, uint16_t permille)
{
	uint32_t n;
	int err = ibcc_world_find(w, node, &n);

	return err ? err : ibcc_agents_set_loss(w->agents, n, permille);
}

int ibcc_world_set_port_block(struct ibcc_world *w, const char *node, uint8_t block)
{
	uint32_t n;
	int err = ibcc_world_find(w, node, &n);

	return err ? err : ibcc_agents_set_port_block(w->agents, n, block);
}

int ibcc_world_reboot(struct ibcc_world *w, const char *node)
{
	uint32_t n;
	int err = ibcc_world_find(w, node, &n);

	return err ? err : ibcc_agents_forget(w->agents, n);
}

struct ibcc_agent_quirks *ibcc_world_quirks(struct ibcc_world *w, const char *node)
{
	uint32_t n;

	return ibcc_world_find(w, node, &n) ? NULL : ibcc_agents_quirks(w->agents, n);
}

const struct ibcc_topo *ibcc_world_topo(const struct ibcc_world *w)
{
	return w->topo;
}

struct ibcc_agents *ibcc_world_agents(struct ibcc_world *w)
{
	return w->agents;
}
