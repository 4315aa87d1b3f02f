/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The fabric's traffic and time: flows and their sums over all engines so far, rates that were
 * changed, and the scenario's events.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/fabric_state.h"

/* The port of a topology's node that a name of the scenario means; 0: the first that has a link, of
 * a channel adapter. IBCC_NONE: it is not there.
 */
static uint32_t port_of(const struct ibcc_sim_fabric *fab, const struct ibcc_topo *t,
			const char *name, uint8_t num)
{
	uint32_t node = fab->s ? ibcc_scenario_find(fab->s, name, t) : IBCC_NONE;

	if (node == IBCC_NONE && ibcc_topo_find_node(t, name, &node))
		return IBCC_NONE;
	return num ? ibcc_topo_port_index(t, node, num) : ibcc_topo_ca_port(t, node);
}

/* The engine finds the node that a flow leaves out by the name that its own topology has. */
static int add_flow_of(const struct ibcc_sim_fabric *fab, struct ibcc_engine *e,
		       const struct ibcc_topo *t, const struct ibcc_flow_spec *f, uint32_t src,
		       uint32_t dst)
{
	struct ibcc_flow_spec mine = *f;
	uint32_t out = *f->not_to ? port_of(fab, t, f->not_to, 0) : IBCC_NONE;

	mine.not_to[0] = '\0';
	if (out != IBCC_NONE)
		ibcc_topo_node_text(t, t->port[out].node, mine.not_to);
	return ibcc_engine_add_flow(e, &mine, src, dst);
}

int ibcc_sim_fabric_add_flows(const struct ibcc_sim_fabric *fab, struct ibcc_engine *e,
			      const struct ibcc_topo *t, uint32_t *index)
{
	uint32_t i, n = fab->s ? fab->s->n_flows : 0;

	for (i = 0; i < n; i++) {
		const struct ibcc_flow_spec *f = &fab->s->flow[i];
		uint32_t src = port_of(fab, t, f->from, 0), dst = IBCC_NONE;
		int r;

		index[i] = IBCC_NONE;
		if (strcmp(f->to, "*"))
			dst = port_of(fab, t, f->to, 0);
		if (!fab->traffic || src == IBCC_NONE || (dst == IBCC_NONE && strcmp(f->to, "*")))
			continue;
		r = add_flow_of(fab, e, t, f, src, dst);
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
static struct ibcc_engine_flow flow_sum(const struct ibcc_sim_fabric *fab, uint32_t i)
{
	struct ibcc_engine_flow sum = fab->flow[i].past, now;

	if (fab->flow[i].index == IBCC_NONE || !fab->engine ||
	    ibcc_engine_flow_read(fab->engine, fab->flow[i].index, &now))
		return sum;
	add_flow(&sum, &now);
	return sum;
}

/* Sets the rates of links that the scenario made slower one way. The fabric's rates come from
 * PortInfo, which knows one rate of a link.
 */
static void apply_directions(const struct ibcc_topo *s, struct ibcc_engine *e,
			     const struct ibcc_topo *t)
{
	uint32_t node;

	for (uint32_t i = 0; i < s->n_ports; i++) {
		const struct ibcc_topo_port *p = &s->port[i];
		uint32_t port;

		if (p->peer == IBCC_NONE || s->port[p->peer].rate_mbps == p->rate_mbps)
			continue;
		node = ibcc_topo_same_node(s, p->node, t);
		port = ibcc_topo_port_index(t, node, p->num);
		if (port != IBCC_NONE)
			ibcc_engine_set_send_rate(e, port, p->rate_mbps);
	}
}

static void apply_delay(const struct ibcc_sim_fabric *fab, const struct ibcc_event_spec *v,
			struct ibcc_engine *e, const struct ibcc_topo *t)
{
	uint32_t port = port_of(fab, t, v->node, v->port);

	if (port != IBCC_NONE)
		ibcc_engine_set_send_delay(e, port, v->value);
}

void ibcc_sim_fabric_apply_rates(const struct ibcc_sim_fabric *fab, struct ibcc_engine *e,
				 const struct ibcc_topo *t)
{
	if (fab->s && fab->s->topo)
		apply_directions(fab->s->topo, e, t);
	for (uint32_t i = 0; i < fab->n_rates; i++) {
		const struct changed_rate *r = &fab->rate[i];
		uint32_t port = port_of(fab, t, r->node, r->port);

		if (port == IBCC_NONE)
			continue;
		if (!r->port)
			ibcc_engine_set_sink_rate(e, port, r->mbps);
		else if (r->one_way)
			ibcc_engine_set_send_rate(e, port, r->mbps);
		else
			ibcc_engine_set_link_rate(e, port, r->mbps);
	}
	for (uint32_t i = 0; i < fab->next_event; i++)
		if (fab->s->event[i].kind == IBCC_EVENT_SEND_DELAY)
			apply_delay(fab, &fab->s->event[i], e, t);
}

void ibcc_sim_fabric_keep_flows(struct ibcc_sim_fabric *fab, const uint32_t *index)
{
	uint32_t i;

	for (i = 0; i < ibcc_sim_fabric_n_flows(fab); i++) {
		fab->flow[i].past = flow_sum(fab, i);
		fab->flow[i].index = index[i];
	}
}

static int change_rate(struct ibcc_sim_fabric *fab, const char *node, uint8_t port, uint32_t mbps,
		       bool one_way)
{
	struct changed_rate *r = reallocarray(fab->rate, fab->n_rates + 1, sizeof(*r));
	uint32_t i, kept = 0;

	if (!r)
		return -ENOMEM;
	fab->rate = r;
	/* The latest change is applied last, since both ends may name the same link. */
	for (i = 0; i < fab->n_rates; i++)
		if (r[i].port != port || (one_way && !r[i].one_way) || strcmp(r[i].node, node))
			r[kept++] = r[i];
	memset(&r[kept], 0, sizeof(*r));
	strncpy(r[kept].node, node, sizeof(r[kept].node) - 1);
	r[kept].port = port;
	r[kept].mbps = mbps;
	r[kept].one_way = one_way;
	fab->n_rates = kept + 1;
	if (fab->engine)
		ibcc_sim_fabric_apply_rates(fab, fab->engine, fab->topo);
	return 0;
}

int ibcc_sim_fabric_set_sink_rate(struct ibcc_sim_fabric *fab, const char *node, uint32_t mbps)
{
	uint32_t n;
	int err = fab->topo ? ibcc_sim_fabric_find(fab, node, &n) : 0;

	if (!err && fab->topo && ibcc_topo_ca_port(fab->topo, n) == IBCC_NONE)
		err = -ENOENT;
	return err ? err : change_rate(fab, node, 0, mbps, false);
}

/* Time */

uint64_t ibcc_sim_fabric_now_ps(const struct ibcc_sim_fabric *fab)
{
	return fab->engine ? ibcc_engine_now_ps(fab->engine) : 0;
}

/* Notes the bytes of flows from time to time; rates are the differences. */
static void take_sample(struct ibcc_sim_fabric *fab)
{
	uint64_t now = ibcc_sim_fabric_now_ps(fab);
	uint32_t i;

	if (now - fab->sample_ps[1] < IBCC_SIM_FABRIC_SAMPLE_PS)
		return;
	for (i = 0; i < ibcc_sim_fabric_n_flows(fab); i++) {
		fab->flow[i].sample_bytes[0] = fab->flow[i].sample_bytes[1];
		fab->flow[i].sample_bytes[1] = flow_sum(fab, i).received_bytes;
	}
	fab->sample_ps[0] = fab->sample_ps[1];
	fab->sample_ps[1] = now;
}

/* Carries out the scenario's events that are due; events are in the order of time. */
static void do_events(struct ibcc_sim_fabric *fab)
{
	while (fab->s && fab->next_event < fab->s->n_events &&
	       fab->s->event[fab->next_event].at_ps <= ibcc_sim_fabric_now_ps(fab)) {
		const struct ibcc_event_spec *v = &fab->s->event[fab->next_event++];

		switch (v->kind) {
		case IBCC_EVENT_SINK_RATE:
			ibcc_sim_fabric_set_sink_rate(fab, v->node, v->value);
			break;
		case IBCC_EVENT_LINK_RATE:
		case IBCC_EVENT_SEND_RATE:
			change_rate(fab, v->node, v->port, v->value,
				    v->kind == IBCC_EVENT_SEND_RATE);
			break;
		case IBCC_EVENT_SEND_DELAY: apply_delay(fab, v, fab->engine, fab->topo); break;
		case IBCC_EVENT_LINK_DOWN:
		case IBCC_EVENT_LINK_UP:
			if (fab->link_event)
				fab->link_event(fab->link_arg, v);
			break;
		}
	}
}

int ibcc_sim_fabric_run(struct ibcc_sim_fabric *fab, uint64_t until_ps)
{
	int err = 0;

	if (!fab->engine)
		return 0;
	while (!err && ibcc_sim_fabric_now_ps(fab) < until_ps) {
		uint64_t step = until_ps;

		do_events(fab);
		if (fab->s && fab->next_event < fab->s->n_events &&
		    fab->s->event[fab->next_event].at_ps < step)
			step = fab->s->event[fab->next_event].at_ps;
		err = ibcc_engine_run(fab->engine, step);
		take_sample(fab);
	}
	do_events(fab);
	return err;
}

int ibcc_sim_fabric_deadlock(const struct ibcc_sim_fabric *fab, char *buf, size_t len)
{
	return fab->engine ? ibcc_engine_deadlock(fab->engine, buf, len) : 0;
}

void ibcc_sim_fabric_on_link_event(struct ibcc_sim_fabric *fab, ibcc_sim_fabric_link_event *fn,
				   void *arg)
{
	fab->link_event = fn;
	fab->link_arg = arg;
}

uint32_t ibcc_sim_fabric_n_flows(const struct ibcc_sim_fabric *fab)
{
	return fab->s ? fab->s->n_flows : 0;
}

static const char *missing(const struct ibcc_sim_fabric *fab, const struct ibcc_flow_spec *f)
{
	if (!fab->topo)
		return NULL;
	if (port_of(fab, fab->topo, f->from, 0) == IBCC_NONE)
		return f->from;
	return strcmp(f->to, "*") && port_of(fab, fab->topo, f->to, 0) == IBCC_NONE ? f->to : NULL;
}

void ibcc_sim_fabric_flow_read(const struct ibcc_sim_fabric *fab, uint32_t i,
			       struct ibcc_sim_fabric_flow *out)
{
	const struct flow_state *f = &fab->flow[i];
	uint64_t now = ibcc_sim_fabric_now_ps(fab), dt = now - fab->sample_ps[0];

	out->spec = &fab->s->flow[i];
	out->missing = missing(fab, out->spec);
	out->sum = flow_sum(fab, i);
	/* 8 bits a byte, 10^6 ps a microsecond: bits by microseconds are Mb/s. */
	out->mbps = dt ? (uint32_t)((double)(out->sum.received_bytes - f->sample_bytes[0]) * 8e6 /
				    (double)dt)
		       : 0;
}
