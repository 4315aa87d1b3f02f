/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The engine is built with every link that was ever seen between the nodes of now; links that are
 * down, or that the subnet manager has not activated, are taken down in it. So only nodes and links
 * that are new need a new engine.
 */
#include "sim/world.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/route.h>

#include "sim/merge.h"

#define PORT_ACTIVE 4u

struct flow_state {
	uint32_t index;               /* in the engine; IBCC_NONE: not there */
	struct ibcc_engine_flow past; /* of engines before */
	/* Bytes received at the sample times, the older one first. */
	uint64_t sample_bytes[2];
};

struct sink {
	char node[IBCC_NAME_BYTES];
	uint32_t mbps;
};

struct ibcc_world {
	const struct ibcc_scenario *s;
	struct ibcc_model model;
	struct ibcc_topo *topo; /* as the engine has it; port states tell which links are up */
	struct ibcc_engine *engine;
	struct ibcc_agents *agents;
	bool traffic;
	struct flow_state *flow; /* by index in the scenario */
	struct sink *sink;
	uint32_t n_sinks, next_event;
	uint64_t sample_ps[2];
	ibcc_world_link_event *link_event;
	void *link_arg;
};

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
	free(w->sink);
	free(w);
}

/* Traffic and sinks */

/* The first linked port of a channel adapter; IBCC_NONE if there is none. */
static uint32_t ca_port(const struct ibcc_topo *t, const char *desc)
{
	uint32_t node = ibcc_topo_find_desc(t, desc), p;

	if (node == IBCC_NONE || ibcc_topo_is_switch(t, node))
		return IBCC_NONE;
	for (p = 1; p <= t->node[node].n_ports; p++)
		if (t->port[t->node[node].first_port + p].peer != IBCC_NONE)
			return t->node[node].first_port + p;
	return IBCC_NONE;
}

/* Flows whose ends are not there (yet) are left out until a later engine. */
static int add_flows(const struct ibcc_world *w, struct ibcc_engine *e, const struct ibcc_topo *t,
		     uint32_t *index)
{
	uint32_t i, n = w->s ? w->s->n_flows : 0;

	for (i = 0; i < n; i++) {
		const struct ibcc_flow_spec *f = &w->s->flow[i];
		uint32_t src = ca_port(t, f->from), dst = IBCC_NONE;
		int r;

		index[i] = IBCC_NONE;
		if (strcmp(f->to, "*"))
			dst = ca_port(t, f->to);
		if (!w->traffic || src == IBCC_NONE || (dst == IBCC_NONE && strcmp(f->to, "*")))
			continue;
		r = ibcc_engine_add_flow(e, f, src, dst);
		if (r < 0)
			return r;
		index[i] = (uint32_t)r;
	}
	return 0;
}

static void add_flow(struct ibcc_engine_flow *sum, const struct ibcc_engine_flow *v)
{
	sum->offered_pkts += v->offered_pkts;
	sum->sent_pkts += v->sent_pkts;
	sum->received_pkts += v->received_pkts;
	sum->received_bytes += v->received_bytes;
	sum->dropped_pkts += v->dropped_pkts;
	sum->fecn += v->fecn;
	sum->becn += v->becn;
	sum->latency_sum_ps += v->latency_sum_ps;
	sum->ccti = v->ccti;
}

/* Sums of a flow up to now. */
static struct ibcc_engine_flow flow_sum(const struct ibcc_world *w, uint32_t i)
{
	struct ibcc_engine_flow sum = w->flow[i].past, now;

	if (w->flow[i].index == IBCC_NONE || !w->engine ||
	    ibcc_engine_flow_read(w->engine, w->flow[i].index, &now))
		return sum;
	add_flow(&sum, &now);
	return sum;
}

static void apply_sinks(const struct ibcc_world *w, struct ibcc_engine *e,
			const struct ibcc_topo *t)
{
	uint32_t i, port;

	for (i = 0; i < w->n_sinks; i++) {
		port = ca_port(t, w->sink[i].node);
		if (port != IBCC_NONE)
			ibcc_engine_set_sink_rate(e, port, w->sink[i].mbps);
	}
}

/* Changes */

static bool link_up(const struct ibcc_topo *t, uint32_t port)
{
	const struct ibcc_topo_port *p = &t->port[port];

	return p->peer != IBCC_NONE && p->state == PORT_ACTIVE &&
	       t->port[p->peer].state == PORT_ACTIVE;
}

/* Puts up and takes down the engine's links as the topology says. */
static int apply_links(struct ibcc_engine *e, const struct ibcc_topo *t)
{
	uint32_t i;
	int err = 0;

	for (i = 0; i < t->n_ports && !err; i++)
		if (t->port[i].peer != IBCC_NONE && t->port[i].peer > i)
			err = ibcc_engine_set_link(e, i, link_up(t, i));
	return err;
}

/* Takes a new engine for a topology, which passes to the world. */
static int rebuild(struct ibcc_world *w, struct ibcc_topo *t)
{
	uint32_t i, n = w->s ? w->s->n_flows : 0;
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
		err = add_flows(w, e, t, index);
	if (err)
		goto out;
	apply_sinks(w, e, t);
	if (w->agents) {
		err = ibcc_agents_bind(w->agents, t, e);
	} else {
		const struct ibcc_agents_options o = { .cct_blocks = w->model.cct_blocks,
						       .wait_tick = w->model.wait_tick,
						       .sw_port_block = IBCC_CC_SW_PORT_BLOCK_13 };

		w->agents = ibcc_agents_new(t, e, &o);
		err = w->agents ? 0 : -ENOMEM;
		for (i = 0; !err && w->s && i < w->s->n_no_cc; i++)
			ibcc_agents_set_support(w->agents, ibcc_topo_find_desc(t, w->s->no_cc[i]),
						false);
		if (!err && w->s)
			ibcc_agents_load(w->agents, &w->s->cc);
	}
	if (err)
		goto out;
	for (i = 0; i < n; i++) {
		w->flow[i].past = flow_sum(w, i);
		w->flow[i].index = index[i];
	}
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

/* Whether a port has other LIDs than before; with an LMC it has several, which the engine only
 * takes from a whole topology.
 */
static bool lids_are_plain(const struct ibcc_topo *t)
{
	uint32_t i, n = 0, owned = 0;

	for (i = 0; i < t->n_endports; i++)
		n += t->port[t->endport[i]].lid != 0;
	for (i = 0; i <= IBCC_LID_MAX; i++)
		owned += t->lid_port[i] != IBCC_NONE;
	return n == owned;
}

/* Carries differences into the running engine. */
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

int ibcc_world_set_support(struct ibcc_world *w, const char *node, bool on)
{
	uint32_t n = w->topo ? ibcc_topo_find_desc(w->topo, node) : IBCC_NONE;

	return n == IBCC_NONE ? -ENOENT : ibcc_agents_set_support(w->agents, n, on);
}

int ibcc_world_set_sink_rate(struct ibcc_world *w, const char *node, uint32_t mbps)
{
	struct sink *s;
	uint32_t i;

	if (w->topo && ca_port(w->topo, node) == IBCC_NONE)
		return -ENOENT;
	for (i = 0; i < w->n_sinks && strcmp(w->sink[i].node, node); i++)
		;
	if (i == w->n_sinks) {
		s = reallocarray(w->sink, w->n_sinks + 1, sizeof(*s));
		if (!s)
			return -ENOMEM;
		w->sink = s;
		memset(&s[i], 0, sizeof(*s));
		strncpy(s[i].node, node, sizeof(s[i].node) - 1);
		w->n_sinks++;
	}
	w->sink[i].mbps = mbps;
	if (w->engine)
		apply_sinks(w, w->engine, w->topo);
	return 0;
}

/* Time */

uint64_t ibcc_world_now_ps(const struct ibcc_world *w)
{
	return w->engine ? ibcc_engine_now_ps(w->engine) : 0;
}

static void take_sample(struct ibcc_world *w)
{
	uint64_t now = ibcc_world_now_ps(w);
	uint32_t i;

	if (now - w->sample_ps[1] < IBCC_WORLD_SAMPLE_PS)
		return;
	for (i = 0; i < ibcc_world_n_flows(w); i++) {
		w->flow[i].sample_bytes[0] = w->flow[i].sample_bytes[1];
		w->flow[i].sample_bytes[1] = flow_sum(w, i).received_bytes;
	}
	w->sample_ps[0] = w->sample_ps[1];
	w->sample_ps[1] = now;
}

/* Events of the scenario that are due; they are in the order of time. */
static void do_events(struct ibcc_world *w)
{
	while (w->s && w->next_event < w->s->n_events &&
	       w->s->event[w->next_event].at_ps <= ibcc_world_now_ps(w)) {
		const struct ibcc_event_spec *v = &w->s->event[w->next_event++];

		if (v->kind == IBCC_EVENT_SINK_RATE)
			ibcc_world_set_sink_rate(w, v->node, v->value);
		else if (w->link_event)
			w->link_event(w->link_arg, v);
	}
}

int ibcc_world_run(struct ibcc_world *w, uint64_t until_ps)
{
	int err = 0;

	if (!w->engine)
		return 0;
	while (!err && ibcc_world_now_ps(w) < until_ps) {
		uint64_t step = until_ps;

		do_events(w);
		if (w->s && w->next_event < w->s->n_events &&
		    w->s->event[w->next_event].at_ps < step)
			step = w->s->event[w->next_event].at_ps;
		err = ibcc_engine_run(w->engine, step);
		take_sample(w);
	}
	do_events(w);
	return err;
}

void ibcc_world_on_link_event(struct ibcc_world *w, ibcc_world_link_event *fn, void *arg)
{
	w->link_event = fn;
	w->link_arg = arg;
}

/* MADs */

/* Nodes are in the order of their GUIDs. */
static uint32_t find_node(const struct ibcc_topo *t, uint64_t guid)
{
	uint32_t lo = 0, hi = t->n_nodes;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (t->node[mid].guid < guid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < t->n_nodes && t->node[lo].guid == guid ? lo : IBCC_NONE;
}

/* A client sits at a node's first endport. */
static uint32_t first_endport(const struct ibcc_topo *t, uint64_t guid)
{
	uint32_t n = find_node(t, guid);

	if (n == IBCC_NONE)
		return IBCC_NONE;
	return t->node[n].first_port + (t->node[n].type == IBCC_NODE_SWITCH ? 0 : 1);
}

uint16_t ibcc_world_lid(const struct ibcc_world *w, uint64_t guid)
{
	uint32_t p = w->topo ? first_endport(w->topo, guid) : IBCC_NONE;

	return p == IBCC_NONE ? 0 : w->topo->port[p].lid;
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
		/* From a switch: as from the channel adapter at one of its ports. */
		const struct ibcc_topo_node *n = &t->node[t->port[from].node];
		uint8_t out = dlid < n->lft_len ? n->lft[dlid] : IBCC_LFT_NONE;

		return out <= n->n_ports && (!out || link_up(t, n->first_port + out));
	}
	if (ibcc_route_follow(t, from, dlid, &r))
		return false;
	for (i = 0; i < r.n; i++)
		if (t->port[r.out[i]].num && !link_up(t, r.out[i]))
			return false;
	return true;
}

int ibcc_world_answer(struct ibcc_world *w, uint64_t from_guid, uint16_t dlid, const uint8_t *rq,
		      uint8_t *reply)
{
	uint32_t from = w->topo ? first_endport(w->topo, from_guid) : IBCC_NONE;

	if (from == IBCC_NONE || !reaches(w->topo, from, dlid))
		return -ETIMEDOUT;
	return ibcc_agents_answer(
		w->agents, w->topo->port[ibcc_topo_port_of_lid(w->topo, dlid)].endport, rq, reply);
}

const struct ibcc_topo *ibcc_world_topo(const struct ibcc_world *w)
{
	return w->topo;
}

struct ibcc_agents *ibcc_world_agents(struct ibcc_world *w)
{
	return w->agents;
}

uint32_t ibcc_world_n_flows(const struct ibcc_world *w)
{
	return w->s ? w->s->n_flows : 0;
}

void ibcc_world_flow_read(const struct ibcc_world *w, uint32_t i, struct ibcc_world_flow *out)
{
	const struct flow_state *f = &w->flow[i];
	uint64_t now = ibcc_world_now_ps(w), dt = now - w->sample_ps[0];

	out->spec = &w->s->flow[i];
	out->sum = flow_sum(w, i);
	/* 8 bits a byte, 10^6 ps a microsecond: bits by microseconds are Mb/s. */
	out->mbps = dt ? (uint32_t)((double)(out->sum.received_bytes - f->sample_bytes[0]) * 8e6 /
				    (double)dt)
		       : 0;
}
