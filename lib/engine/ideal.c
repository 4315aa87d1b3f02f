/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The ideal that a scenario is held against: the max-min fair share of each flow, without
 * packets. A scenario becomes a problem of capacities and demands, ibcc_maxmin_solve() solves it
 * for each interval between two changes, and the results are averaged over time.
 *
 * Resources are the fabric's ports as outputs, by their index, then one sink for each node. Begin
 * with ibcc_ideal_compute().
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/device.h>
#include <ibcc/grow.h>
#include <ibcc/ideal.h>
#include <ibcc/maxmin.h>
#include <ibcc/route.h>

#include "spread.h"

#define SAME           1e-9 /* rates that differ by less are equal */
#define UNLIMITED_MBPS 1e12 /* of a sink that drains as packets come; finite for the sums */

struct pair {
	uint32_t flow, node; /* destination */
	uint32_t src, dst;   /* ports */
	size_t first_use, n_uses;
	double demand; /* while the flow is on */
	double wire;   /* of a link's capacity for 1 Mb/s, as headers have another share */
};

struct problem {
	const struct ibcc_scenario *s;
	const struct ibcc_topo *t;
	size_t n_resources;
	double *capacity;
	double *full;     /* capacity of each port's link at the beginning, Mb/s of payload */
	double *rate;     /* its capacity now, while it is up */
	uint32_t *island; /* of each node */
	struct pair *pair;
	uint32_t n_pairs, cap_pairs;
	struct ibcc_maxmin_use *use;
	uint32_t n_uses, cap_uses;
	struct ibcc_maxmin_flow *mm;
	struct ibcc_spread *spread; /* NULL: static routes */
	double wire;                /* of the pair whose uses are added */
};

static int add_use(void *arg, uint32_t resource, double share)
{
	struct problem *p = arg;
	struct ibcc_maxmin_use *grown;

	if (p->n_uses >= IBCC_IDEAL_MAX_USES)
		return -E2BIG;
	grown = ibcc_grow(p->use, p->n_uses, &p->cap_uses, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	p->use = grown;
	p->use[p->n_uses++] =
		(struct ibcc_maxmin_use){ .resource = resource, .share = share * p->wire };
	return 0;
}

/* Notes the outputs that a pair's packets leave by, then its sink, as the resources that it uses.
 */
static int add_way(struct problem *p, struct pair *pair)
{
	struct ibcc_route r;
	int rc = 0;

	pair->first_use = p->n_uses;
	p->wire = pair->wire;
	if (p->spread) {
		rc = ibcc_spread_pair(p->spread, pair->src, pair->dst, p->capacity, add_use, p);
	} else {
		if (ibcc_route_follow(p->t, pair->src, p->t->port[pair->dst].lid, &r))
			return -EINVAL;
		for (unsigned int i = 0; i < r.n && !rc; i++)
			rc = add_use(p, r.out[i], 1);
	}
	p->wire = 1; /* a sink takes payload */
	if (!rc)
		rc = add_use(p, p->t->n_ports + p->t->port[pair->dst].node, 1);
	pair->n_uses = p->n_uses - pair->first_use;
	return rc;
}

static double payload_share(const struct ibcc_model *m)
{
	return (double)m->packet_bytes / (m->packet_bytes + m->header_bytes);
}

static int add_pair(struct problem *p, uint32_t flow, uint32_t src, uint32_t dst, double demand)
{
	const struct ibcc_model *m = &p->s->model;
	struct pair *grown;

	if (p->n_pairs >= IBCC_IDEAL_MAX_PAIRS)
		return -E2BIG;
	grown = ibcc_grow(p->pair, p->n_pairs, &p->cap_pairs, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	p->pair = grown;
	p->pair[p->n_pairs++] = (struct pair){
		.flow = flow,
		.node = p->t->port[dst].node,
		.src = src,
		.dst = dst,
		.demand = demand,
		.wire = payload_share(m) / ibcc_flow_payload_share(m, &p->s->flow[flow]),
	};
	return 0;
}

/* Finds the ways of all pairs. With several paths, links that are down change them. */
static int find_ways(struct problem *p)
{
	int rc = 0;

	p->n_uses = 0;
	for (size_t i = 0; i < p->n_pairs && !rc; i++)
		rc = add_way(p, &p->pair[i]);
	return rc;
}

/* Whether a flow to all hosts but one goes to a node. */
static bool goes_to(const struct problem *p, uint32_t from, uint32_t but, uint32_t node)
{
	return node != from && node != but && ibcc_device_is_host(p->t, node) &&
	       p->island[node] == p->island[from];
}

/* Adds a flow's pairs of ports: one, or one for each destination of a flow to all. Paced flows
 * have a demand, others have none.
 */
static int add_flow(struct problem *p, uint32_t flow)
{
	const struct ibcc_flow_spec *f = &p->s->flow[flow];
	uint32_t from, src, dst, i, but = IBCC_NONE, n = 0;
	double demand = INFINITY;
	int rc = 0;

	if (ibcc_topo_find_node(p->t, f->from, &from) ||
	    (src = ibcc_topo_ca_port(p->t, from)) == IBCC_NONE)
		return -EINVAL;
	if (ibcc_arrivals_paced(f->arrivals))
		demand = p->full[src] * f->load_permille / 1000 *
			 (ibcc_flow_payload_share(&p->s->model, f) / payload_share(&p->s->model));
	if (ibcc_arrivals_paced(f->arrivals) && f->rate_mbps)
		demand = f->rate_mbps * ibcc_flow_payload_share(&p->s->model, f);
	if (f->off_ps)
		demand *= (double)f->on_ps / (double)(f->on_ps + f->off_ps);
	if (strcmp(f->to, "*")) {
		if (ibcc_topo_find_node(p->t, f->to, &i) ||
		    (dst = ibcc_topo_ca_port(p->t, i)) == IBCC_NONE)
			return -EINVAL;
		return add_pair(p, flow, src, dst, demand);
	}
	if (*f->not_to && ibcc_topo_find_node(p->t, f->not_to, &but))
		return -EINVAL;
	for (i = 0; i < p->t->n_nodes; i++)
		n += goes_to(p, from, but, i);
	for (i = 0; i < p->t->n_nodes && !rc; i++)
		if (goes_to(p, from, but, i))
			rc = add_pair(p, flow, src, ibcc_topo_ca_port(p->t, i), demand / n);
	return rc;
}

static void change_link(struct problem *p, const struct ibcc_event_spec *v, uint32_t port)
{
	bool up = p->capacity[port] > 0;

	if (v->kind == IBCC_EVENT_LINK_RATE || v->kind == IBCC_EVENT_SEND_RATE)
		p->rate[port] = v->value * payload_share(&p->s->model);
	else
		up = v->kind == IBCC_EVENT_LINK_UP;
	p->capacity[port] = up ? p->rate[port] : 0;
}

static void apply_event(struct problem *p, const struct ibcc_event_spec *v)
{
	uint32_t node, port;

	if (ibcc_topo_find_node(p->t, v->node, &node))
		return;
	switch (v->kind) {
	case IBCC_EVENT_SINK_RATE:
		p->capacity[p->t->n_ports + node] = v->value ? v->value : UNLIMITED_MBPS;
		break;
	case IBCC_EVENT_SEND_DELAY: break;
	case IBCC_EVENT_LINK_DOWN:
	case IBCC_EVENT_LINK_UP:
	case IBCC_EVENT_LINK_RATE:
	case IBCC_EVENT_SEND_RATE:
		port = v->port ? ibcc_topo_port_index(p->t, node, v->port)
			       : ibcc_topo_ca_port(p->t, node);
		if (port == IBCC_NONE || p->t->port[port].peer == IBCC_NONE)
			break;
		change_link(p, v, port);
		if (v->kind != IBCC_EVENT_SEND_RATE)
			change_link(p, v, p->t->port[port].peer);
		break;
	}
}

/* Sets the capacities of links and sinks to what they are from a time on. */
static void state_at(struct problem *p, uint64_t at_ps)
{
	uint64_t done = 0;
	uint32_t i;
	bool first = true;

	for (i = 0; i < p->t->n_ports; i++)
		p->capacity[i] = p->rate[i] = p->full[i];
	for (i = 0; i < p->t->n_nodes; i++)
		p->capacity[p->t->n_ports + i] = UNLIMITED_MBPS;
	/* Events in the order of their times; those of one time in the order of the file. */
	for (;;) {
		uint64_t next = UINT64_MAX;

		for (i = 0; i < p->s->n_events; i++)
			if ((first || p->s->event[i].at_ps > done) && p->s->event[i].at_ps < next)
				next = p->s->event[i].at_ps;
		if (next > at_ps)
			return;
		for (i = 0; i < p->s->n_events; i++)
			if (p->s->event[i].at_ps == next)
				apply_event(p, &p->s->event[i]);
		done = next;
		first = false;
	}
}

/* The first change after a time, at most `end`. */
static uint64_t next_change(const struct ibcc_scenario *s, uint64_t after, uint64_t end)
{
	uint32_t i;

	for (i = 0; i < s->n_events; i++)
		if (s->event[i].at_ps > after && s->event[i].at_ps < end)
			end = s->event[i].at_ps;
	for (i = 0; i < s->n_flows; i++) {
		if (s->flow[i].start_ps > after && s->flow[i].start_ps < end)
			end = s->flow[i].start_ps;
		if (s->flow[i].stop_ps > after && s->flow[i].stop_ps < end)
			end = s->flow[i].stop_ps;
	}
	return end;
}

/* The rate in Mb/s at which a node can take in payload now; 0 for a switch. */
static double node_capacity(const struct problem *p, uint32_t node)
{
	uint32_t port = ibcc_topo_ca_port(p->t, node);

	if (port == IBCC_NONE)
		return 0;
	return fmin(p->capacity[p->t->port[port].peer], p->capacity[p->t->n_ports + node]);
}

/* Solves the problem for one time: rates into p->mm. */
static int allocate(struct problem *p, uint64_t at_ps)
{
	int rc;

	state_at(p, at_ps);
	if (p->spread) {
		rc = find_ways(p);
		if (rc)
			return rc;
	}
	for (size_t i = 0; i < p->n_pairs; i++) {
		const struct pair *q = &p->pair[i];
		const struct ibcc_flow_spec *f = &p->s->flow[q->flow];
		bool on = at_ps >= f->start_ps && (!f->stop_ps || at_ps < f->stop_ps);

		p->mm[i] = (struct ibcc_maxmin_flow){ .use = &p->use[q->first_use],
						      .n_uses = q->n_uses,
						      .demand = on ? q->demand : 0 };
	}
	return ibcc_maxmin_solve(p->capacity, p->n_resources, p->mm, p->n_pairs);
}

static int solve(struct problem *p, uint64_t at_ps, double weight, struct ibcc_ideal *out)
{
	size_t i;
	int rc = allocate(p, at_ps);

	if (rc)
		return rc;
	for (i = 0; i < p->t->n_nodes; i++)
		out->capacity_mbps[i] += weight * node_capacity(p, (uint32_t)i);
	for (i = 0; i < p->n_pairs; i++) {
		out->flow_mbps[p->pair[i].flow] += p->mm[i].rate * weight;
		out->node_mbps[p->pair[i].node] += p->mm[i].rate * weight;
	}
	return 0;
}

static int set_up(struct problem *p)
{
	const struct ibcc_model *m = &p->s->model;
	double payload = payload_share(m);
	uint32_t i;
	int rc = 0;

	p->n_resources = (size_t)p->t->n_ports + p->t->n_nodes;
	p->capacity = calloc(p->n_resources + 1, sizeof(*p->capacity));
	p->full = calloc(p->t->n_ports + 1u, sizeof(*p->full));
	p->rate = calloc(p->t->n_ports + 1u, sizeof(*p->rate));
	p->island = calloc(p->t->n_nodes + 1u, sizeof(*p->island));
	if (!p->capacity || !p->full || !p->rate || !p->island ||
	    ibcc_topo_islands(p->t, p->island))
		return -ENOMEM;
	for (i = 0; i < p->t->n_ports; i++)
		if (p->t->port[i].peer != IBCC_NONE)
			p->full[i] = p->t->port[i].rate_mbps * payload;
	for (i = 0; i < p->s->n_flows && !rc; i++)
		rc = add_flow(p, i);
	if (!rc && m->routing == IBCC_ROUTING_STATIC)
		rc = find_ways(p);
	if (rc)
		return rc;
	if (m->routing != IBCC_ROUTING_STATIC) {
		p->spread = ibcc_spread_new(p->t);
		if (!p->spread)
			return -ENOMEM;
	}
	p->mm = calloc(p->n_pairs + 1, sizeof(*p->mm));
	return p->mm ? 0 : -ENOMEM;
}

static void problem_free(struct problem *p)
{
	free(p->capacity);
	free(p->full);
	free(p->rate);
	free(p->island);
	free(p->pair);
	free(p->use);
	free(p->mm);
	ibcc_spread_free(p->spread);
}

int ibcc_ideal_compute(const struct ibcc_scenario *s, uint64_t from_ps, uint64_t to_ps,
		       struct ibcc_ideal *out)
{
	struct problem p = { .s = s, .t = s->topo };
	struct ibcc_ideal i = { 0 };
	uint64_t at, next;
	int rc;

	if (to_ps <= from_ps)
		return -EINVAL;
	i.flow_mbps = calloc(s->n_flows + 1u, sizeof(*i.flow_mbps));
	i.node_mbps = calloc(s->topo->n_nodes + 1u, sizeof(*i.node_mbps));
	i.capacity_mbps = calloc(s->topo->n_nodes + 1u, sizeof(*i.capacity_mbps));
	rc = i.flow_mbps && i.node_mbps && i.capacity_mbps ? set_up(&p) : -ENOMEM;
	for (at = from_ps; !rc && at < to_ps; at = next) {
		next = next_change(s, at, to_ps);
		rc = solve(&p, at, (double)(next - at) / (double)(to_ps - from_ps), &i);
	}
	if (rc)
		ibcc_ideal_fini(&i);
	else
		*out = i;
	problem_free(&p);
	return rc;
}

/* The load of each resource, and the highest rate of a pair that uses it. */
static void find_loads(const struct problem *p, double *load, double *most)
{
	for (size_t i = 0; i < p->n_pairs; i++) {
		const struct ibcc_maxmin_flow *f = &p->mm[i];

		for (size_t k = 0; k < f->n_uses; k++) {
			uint32_t r = f->use[k].resource;

			load[r] += f->rate * f->use[k].share;
			most[r] = fmax(most[r], f->rate);
		}
	}
}

/* A pair's bottleneck: the last resource on its way that is full and where no pair has a higher
 * rate. IBCC_NONE: the pair has all that it demands.
 */
static uint32_t bottleneck(const struct problem *p, size_t pair, const double *load,
			   const double *most)
{
	const struct ibcc_maxmin_flow *f = &p->mm[pair];

	if (f->rate >= f->demand * (1 - SAME))
		return IBCC_NONE;
	for (size_t k = f->n_uses; k-- > 0;) {
		uint32_t r = f->use[k].resource;

		if (load[r] >= p->capacity[r] * (1 - SAME) && f->rate >= most[r] * (1 - SAME))
			return r;
	}
	return IBCC_NONE;
}

/* Calls fn() for each pair with a demand. A sink's bottleneck is reported as the port that leads
 * to it.
 */
static int visit(const struct problem *p, int (*fn)(void *arg, const struct ibcc_ideal_pair *p),
		 void *arg)
{
	double *load = calloc(p->n_resources + 1, sizeof(*load));
	double *most = calloc(p->n_resources + 1, sizeof(*most));
	int rc = load && most ? 0 : -ENOMEM;

	if (!rc)
		find_loads(p, load, most);
	for (size_t i = 0; i < p->n_pairs && !rc; i++) {
		uint32_t at = p->mm[i].demand > 0 ? bottleneck(p, i, load, most) : IBCC_NONE;
		struct ibcc_ideal_pair pair = {
			.flow = p->pair[i].flow,
			.src_port = p->mm[i].use[0].resource,
			.dst_node = p->pair[i].node,
			.demand_mbps = p->mm[i].demand,
			.rate_mbps = p->mm[i].rate,
			.bottleneck = at,
			.sink = at != IBCC_NONE && at >= p->t->n_ports,
		};

		if (pair.sink)
			pair.bottleneck = p->mm[i].use[p->mm[i].n_uses - 2].resource;
		if (pair.demand_mbps > 0)
			rc = fn(arg, &pair);
	}
	free(load);
	free(most);
	return rc;
}

int ibcc_ideal_pairs(const struct ibcc_scenario *s, uint64_t at_ps,
		     int (*fn)(void *arg, const struct ibcc_ideal_pair *p), void *arg)
{
	struct problem p = { .s = s, .t = s->topo };
	int rc = set_up(&p);

	if (!rc)
		rc = allocate(&p, at_ps);
	if (!rc)
		rc = visit(&p, fn, arg);
	problem_free(&p);
	return rc;
}

void ibcc_ideal_fini(struct ibcc_ideal *i)
{
	if (!i)
		return;
	free(i->flow_mbps);
	free(i->node_mbps);
	free(i->capacity_mbps);
	*i = (struct ibcc_ideal){ 0 };
}
