/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The world's traffic and time: flows and their sums over all engines so far, rates that were
 * changed, and the scenario's events.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/world_state.h"

/* The port of a topology's node that a name of the scenario means; 0: the first that has a link, of
 * a channel adapter. IBCC_NONE: it is not there.
 */
static uint32_t port_of(const struct ibcc_world *w, const struct ibcc_topo *t, const char *name,
			uint8_t num)
{
	uint32_t node = w->s ? ibcc_scenario_find(w->s, name, t) : IBCC_NONE;

	if (node == IBCC_NONE && ibcc_topo_find_node(t, name, &node))
		return IBCC_NONE;
	return num ? ibcc_topo_port_index(t, node, num) : ibcc_topo_ca_port(t, node);
}

/* The engine finds the node that a flow leaves out by the name that its own topology has. */
static int add_flow_of(const struct ibcc_world *w, struct ibcc_engine *e, const struct ibcc_topo *t,
		       const struct ibcc_flow_spec *f, uint32_t src, uint32_t dst)
{
	struct ibcc_flow_spec mine = *f;
	uint32_t out = *f->not_to ? port_of(w, t, f->not_to, 0) : IBCC_NONE;

	mine.not_to[0] = '\0';
	if (out != IBCC_NONE)
		ibcc_topo_node_text(t, t->port[out].node, mine.not_to);
	return ibcc_engine_add_flow(e, &mine, src, dst);
}

int ibcc_world_add_flows(const struct ibcc_world *w, struct ibcc_engine *e,
			 const struct ibcc_topo *t, uint32_t *index)
{
	uint32_t i, n = w->s ? w->s->n_flows : 0;

	for (i = 0; i < n; i++) {
		const struct ibcc_flow_spec *f = &w->s->flow[i];
		uint32_t src = port_of(w, t, f->from, 0), dst = IBCC_NONE;
		int r;

		index[i] = IBCC_NONE;
		if (strcmp(f->to, "*"))
			dst = port_of(w, t, f->to, 0);
		if (!w->traffic || src == IBCC_NONE || (dst == IBCC_NONE && strcmp(f->to, "*")))
			continue;
		r = add_flow_of(w, e, t, f, src, dst);
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

static void apply_delay(const struct ibcc_world *w, const struct ibcc_event_spec *v,
			struct ibcc_engine *e, const struct ibcc_topo *t)
{
	uint32_t port = port_of(w, t, v->node, v->port);

	if (port != IBCC_NONE)
		ibcc_engine_set_send_delay(e, port, v->value);
}

void ibcc_world_apply_rates(const struct ibcc_world *w, struct ibcc_engine *e,
			    const struct ibcc_topo *t)
{
	if (w->s && w->s->topo)
		apply_directions(w->s->topo, e, t);
	for (uint32_t i = 0; i < w->n_rates; i++) {
		const struct changed_rate *r = &w->rate[i];
		uint32_t port = port_of(w, t, r->node, r->port);

		if (port == IBCC_NONE)
			continue;
		if (!r->port)
			ibcc_engine_set_sink_rate(e, port, r->mbps);
		else if (r->one_way)
			ibcc_engine_set_send_rate(e, port, r->mbps);
		else
			ibcc_engine_set_link_rate(e, port, r->mbps);
	}
	for (uint32_t i = 0; i < w->next_event; i++)
		if (w->s->event[i].kind == IBCC_EVENT_SEND_DELAY)
			apply_delay(w, &w->s->event[i], e, t);
}

void ibcc_world_keep_flows(struct ibcc_world *w, const uint32_t *index)
{
	uint32_t i;

	for (i = 0; i < ibcc_world_n_flows(w); i++) {
		w->flow[i].past = flow_sum(w, i);
		w->flow[i].index = index[i];
	}
}

static int change_rate(struct ibcc_world *w, const char *node, uint8_t port, uint32_t mbps,
		       bool one_way)
{
	struct changed_rate *r = reallocarray(w->rate, w->n_rates + 1, sizeof(*r));
	uint32_t i, kept = 0;

	if (!r)
		return -ENOMEM;
	w->rate = r;
	/* The latest change is applied last, since both ends may name the same link. */
	for (i = 0; i < w->n_rates; i++)
		if (r[i].port != port || (one_way && !r[i].one_way) || strcmp(r[i].node, node))
			r[kept++] = r[i];
	memset(&r[kept], 0, sizeof(*r));
	strncpy(r[kept].node, node, sizeof(r[kept].node) - 1);
	r[kept].port = port;
	r[kept].mbps = mbps;
	r[kept].one_way = one_way;
	w->n_rates = kept + 1;
	if (w->engine)
		ibcc_world_apply_rates(w, w->engine, w->topo);
	return 0;
}

int ibcc_world_set_sink_rate(struct ibcc_world *w, const char *node, uint32_t mbps)
{
	uint32_t n;
	int err = w->topo ? ibcc_world_find(w, node, &n) : 0;

	if (!err && w->topo && ibcc_topo_ca_port(w->topo, n) == IBCC_NONE)
		err = -ENOENT;
	return err ? err : change_rate(w, node, 0, mbps, false);
}

/* Time */

uint64_t ibcc_world_now_ps(const struct ibcc_world *w)
{
	return w->engine ? ibcc_engine_now_ps(w->engine) : 0;
}

/* Notes the bytes of flows from time to time; rates are the differences. */
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

/* Carries out the scenario's events that are due; events are in the order of time. */
static void do_events(struct ibcc_world *w)
{
	while (w->s && w->next_event < w->s->n_events &&
	       w->s->event[w->next_event].at_ps <= ibcc_world_now_ps(w)) {
		const struct ibcc_event_spec *v = &w->s->event[w->next_event++];

		switch (v->kind) {
		case IBCC_EVENT_SINK_RATE: ibcc_world_set_sink_rate(w, v->node, v->value); break;
		case IBCC_EVENT_LINK_RATE:
		case IBCC_EVENT_SEND_RATE:
			change_rate(w, v->node, v->port, v->value, v->kind == IBCC_EVENT_SEND_RATE);
			break;
		case IBCC_EVENT_SEND_DELAY: apply_delay(w, v, w->engine, w->topo); break;
		case IBCC_EVENT_LINK_DOWN:
		case IBCC_EVENT_LINK_UP:
			if (w->link_event)
				w->link_event(w->link_arg, v);
			break;
		}
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

int ibcc_world_deadlock(const struct ibcc_world *w, char *buf, size_t len)
{
	return w->engine ? ibcc_engine_deadlock(w->engine, buf, len) : 0;
}

void ibcc_world_on_link_event(struct ibcc_world *w, ibcc_world_link_event *fn, void *arg)
{
	w->link_event = fn;
	w->link_arg = arg;
}

uint32_t ibcc_world_n_flows(const struct ibcc_world *w)
{
	return w->s ? w->s->n_flows : 0;
}

static const char *missing(const struct ibcc_world *w, const struct ibcc_flow_spec *f)
{
	if (!w->topo)
		return NULL;
	if (port_of(w, w->topo, f->from, 0) == IBCC_NONE)
		return f->from;
	return strcmp(f->to, "*") && port_of(w, w->topo, f->to, 0) == IBCC_NONE ? f->to : NULL;
}

void ibcc_world_flow_read(const struct ibcc_world *w, uint32_t i, struct ibcc_world_flow *out)
{
	const struct flow_state *f = &w->flow[i];
	uint64_t now = ibcc_world_now_ps(w), dt = now - w->sample_ps[0];

	out->spec = &w->s->flow[i];
	out->missing = missing(w, out->spec);
	out->sum = flow_sum(w, i);
	/* 8 bits a byte, 10^6 ps a microsecond: bits by microseconds are Mb/s. */
	out->mbps = dt ? (uint32_t)((double)(out->sum.received_bytes - f->sample_bytes[0]) * 8e6 /
				    (double)dt)
		       : 0;
}
