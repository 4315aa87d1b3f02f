/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Puts a scenario into an engine: nodes without congestion control, static settings, events,
 * flows, buffers, SLs of paths. Names are looked up in the engine's topology; an unknown one is
 * reported in *bad.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/route.h>

#include "evq.h"

/* The first linked port of a channel adapter. */
static uint32_t find_ca_port(const struct ibcc_engine *e, const char *name)
{
	uint32_t node;

	return ibcc_topo_find_node(e->topo, name, &node) ? NONE : ibcc_topo_ca_port(e->topo, node);
}

static int load_flow(struct ibcc_engine *e, const struct ibcc_flow_spec *f, const char **bad)
{
	uint32_t src = find_ca_port(e, f->from), dst = IBCC_NONE;
	int rc;

	if (src == NONE) {
		*bad = f->from;
		return -ENOENT;
	}
	if (strcmp(f->to, "*")) {
		dst = find_ca_port(e, f->to);
		if (dst == NONE) {
			*bad = f->to;
			return -ENOENT;
		}
	}
	rc = ibcc_engine_add_flow(e, f, src, dst);
	return rc < 0 ? rc : 0;
}

static int load_event(struct ibcc_engine *e, const struct ibcc_event_spec *v, const char **bad)
{
	uint32_t node, port;

	if (ibcc_topo_find_node(e->topo, v->node, &node)) {
		*bad = v->node;
		return -ENOENT;
	}
	port = v->port ? ibcc_topo_port_index(e->topo, node, v->port) : find_ca_port(e, v->node);
	if (port == IBCC_NONE ||
	    (v->kind == IBCC_EVENT_SINK_RATE ? !!(port_of(e, port)->flags & PORT_SWITCH)
					     : e->peer[port] == NONE)) {
		*bad = v->node;
		return -ENOENT;
	}
	if (v->at_ps < e->now_ps)
		return -EINVAL;
	if (ibcc_fab_grow(&e->scen, &e->cap_scen, e->n_scen + 1, sizeof(*e->scen)) ||
	    ibcc_fab_reserve(e, 16, 0))
		return -ENOMEM;
	e->scen[e->n_scen] = (struct fab_scenario_event){ v->kind, port, v->value };
	evq_push(e, v->at_ps, EV_SCENARIO, e->n_scen++);
	return 0;
}

static int load_no_cc(struct ibcc_engine *e, const char *name, bool *no_cc, const char **bad)
{
	uint32_t node;

	if (ibcc_topo_find_node(e->topo, name, &node)) {
		*bad = name;
		return -ENOENT;
	}
	no_cc[node] = true;
	for (uint32_t i = 0; i < e->n_hca; i++)
		if (e->hca[i].node == node)
			e->hca[i].no_cc = true;
	return 0;
}

static int load_static(struct ibcc_engine *e, const struct ibcc_static_cc *cc, const bool *no_cc)
{
	int rc = 0;

	for (uint32_t i = 0; i < e->n_sw && !rc; i++)
		if (!no_cc[e->sw[i].node])
			rc = ibcc_engine_set_switch_cc(e, e->sw[i].node, &cc->sw);
	for (uint32_t i = 0; i < e->n_hca && !rc; i++) {
		if (e->hca[i].no_cc)
			continue;
		rc = ibcc_engine_set_ca_cc(e, e->hca[i].port, &cc->ca);
		if (!rc)
			rc = ibcc_engine_set_cct(e, e->hca[i].port, &cc->cct);
	}
	return rc;
}

/* Nodes with a buffer of their own. Such a node may be missing in the engine's topology. */
static int load_buffers(struct ibcc_engine *e, const struct ibcc_scenario *s)
{
	int rc = 0;

	for (uint32_t i = 0; s->buffer_bytes && i < s->topo->n_nodes && !rc; i++) {
		uint32_t node = IBCC_NONE;

		if (s->buffer_bytes[i])
			node = ibcc_topo_same_node(s->topo, i, e->topo);
		if (node != IBCC_NONE)
			rc = ibcc_engine_set_buffer(e, node, s->buffer_bytes[i]);
	}
	return rc;
}

/* The SL of the path between two ends, whose places in the scenario's topology are known: the nodes
 * of two switches with datelines, else two ports. 0 for what the scenario does not have: such a
 * switch is in no ring, and no flow needs such a path.
 */
static uint8_t sl_of(const struct ibcc_scenario *s, uint32_t from, uint32_t to)
{
	uint8_t sl;

	if (from == IBCC_NONE || to == IBCC_NONE)
		return 0;
	if (s->sls.datelines.n_dims)
		return ibcc_route_dateline_sl(&s->sls.datelines, from, to);
	sl = ibcc_route_sl(s->topo, &s->sls, from, to);
	return sl == IBCC_ROUTE_NO_SL ? 0 : sl;
}

/* The port of the scenario's topology that an adapter's port is, or IBCC_NONE. */
static uint32_t same_port(const struct ibcc_engine *e, const struct ibcc_scenario *s, uint32_t port)
{
	const struct ibcc_topo_port *p = &e->topo->port[port];
	uint32_t node = ibcc_topo_same_node(e->topo, p->node, s->topo);

	return node == IBCC_NONE || p->num > s->topo->node[node].n_ports
		       ? IBCC_NONE
		       : ibcc_topo_port_index(s->topo, node, p->num);
}

int ibcc_engine_load_paths(struct ibcc_engine *e, const struct ibcc_scenario *s)
{
	uint16_t used = 0;
	uint32_t *at;

	if (!ibcc_route_has_sls(&s->sls))
		return 0;
	e->plain = false;
	e->ends_are_hcas = !s->sls.datelines.n_dims;
	e->n_ends = e->ends_are_hcas ? e->n_hca : e->n_sw;
	at = calloc(e->n_ends + 1u, sizeof(*at));
	free(e->path_sl);
	e->path_sl = calloc((size_t)e->n_ends * e->n_ends + 1, sizeof(*e->path_sl));
	if (!at || !e->path_sl) {
		free(at);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < e->n_ends; i++)
		at[i] = e->ends_are_hcas ? same_port(e, s, e->hca[i].port)
					 : ibcc_topo_same_node(e->topo, e->sw[i].node, s->topo);
	for (uint32_t i = 0; i < e->n_ends; i++)
		for (uint32_t k = 0; k < e->n_ends; k++) {
			uint8_t *sl = &e->path_sl[(size_t)i * e->n_ends + k];

			*sl = sl_of(s, at[i], at[k]);
			used |= (uint16_t)(1u << *sl);
		}
	free(at);
	/* All groups at once, as they must not move while packets are under way. */
	for (uint32_t i = 0; i < e->n_hca; i++)
		for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++)
			if (used >> sl & 1 && ibcc_fab_group_get(e, e->hca[i].port, sl) < 0)
				return -ENOMEM;
	return 0;
}

int ibcc_engine_load(struct ibcc_engine *e, const struct ibcc_scenario *s, const char **bad)
{
	const char *ignored;
	bool *no_cc;
	int rc = 0;

	if (!bad)
		bad = &ignored;
	no_cc = calloc(e->topo->n_nodes + 1u, sizeof(*no_cc));
	if (!no_cc)
		return -ENOMEM;
	rc = load_buffers(e, s);
	if (!rc)
		rc = ibcc_engine_load_paths(e, s);
	for (uint32_t i = 0; i < s->n_no_cc && !rc; i++)
		rc = load_no_cc(e, s->no_cc[i], no_cc, bad);
	if (!rc && s->cc.enabled)
		rc = load_static(e, &s->cc, no_cc);
	for (uint32_t i = 0; i < s->n_events && !rc; i++)
		rc = load_event(e, &s->event[i], bad);
	for (uint32_t i = 0; i < s->n_flows && !rc; i++)
		rc = load_flow(e, &s->flow[i], bad);
	free(no_cc);
	return rc;
}
