/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* When packets arrive in send queues and where they go.
 *
 * Each flow has generators of its own, seeded from the engine's seed and its index, so that flows
 * do not influence one another. A queue without limit needs no memory: times are replayed from the
 * generator when its packets are sent.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "evq.h"
#include "rng.h"

static void arrivals_next(const struct ibcc_engine *e, const struct flow *f, struct arrivals *a)
{
	if (f->kind == IBCC_ARRIVALS_EXPONENTIAL)
		a->next_ps += rng_exponential(e->exp_table, &a->rng, f->gap_ps);
	else
		a->next_ps += f->gap_ps;
	if (f->stop_ps && a->next_ps >= f->stop_ps)
		a->next_ps = NEVER;
}

/* Counts arrivals up to now; finite queues accept them or not. */
static void offer(struct ibcc_engine *e, struct flow *f)
{
	while (f->offer.next_ps <= e->now_ps) {
		f->offered++;
		if (f->ring_cap) {
			if (f->ring_n + f->n_deferred < f->ring_cap)
				f->ring[(f->ring_at + f->ring_n++) % f->ring_cap] =
					f->offer.next_ps;
			else
				f->refused++;
		}
		arrivals_next(e, f, &f->offer);
	}
}

uint64_t ibcc_fab_offered(struct ibcc_engine *e, struct flow *f)
{
	if (f->kind == IBCC_ARRIVALS_BACKLOGGED)
		return f->sent;
	offer(e, f);
	return f->offered;
}

/* Arrival of the packet at the head of the queue; in the future if the queue is empty. */
uint64_t ibcc_fab_head_ps(struct ibcc_engine *e, struct flow *f)
{
	if (f->kind == IBCC_ARRIVALS_BACKLOGGED)
		return f->stop_ps && e->now_ps >= f->stop_ps ? NEVER : f->head.next_ps;
	if (!f->ring_cap)
		return f->head.next_ps;
	offer(e, f);
	return f->ring_n ? f->ring[f->ring_at] : f->offer.next_ps;
}

void ibcc_fab_head_take(struct ibcc_engine *e, struct flow *f)
{
	if (f->kind == IBCC_ARRIVALS_BACKLOGGED) {
		f->head.next_ps = e->now_ps;
	} else if (f->ring_cap) {
		f->ring_at = (f->ring_at + 1) % f->ring_cap;
		f->ring_n--;
	} else {
		arrivals_next(e, f, &f->head);
	}
	if (f->n_qp > 1 && f->kind != IBCC_ARRIVALS_BACKLOGGED)
		f->head_qp = f->first_qp + rng_below(&f->rng, f->n_qp);
}

/* A random queue pair that is not throttled, for a flow that always has packets for all. If all
 * are, the one that will be first; *ready_ps says when.
 */
uint32_t ibcc_fab_pick_qp(struct ibcc_engine *e, struct flow *f, uint64_t *ready_ps)
{
	uint32_t first = f->first_qp + rng_below(&f->rng, f->n_qp), q = first, best = first;

	do {
		if (e->qp[q].ready_ps < e->qp[best].ready_ps)
			best = q;
		if (e->qp[q].ready_ps <= e->now_ps) {
			best = q;
			break;
		}
		if (++q == f->first_qp + f->n_qp)
			q = f->first_qp;
	} while (q != first);
	*ready_ps = e->qp[best].ready_ps;
	return best;
}

static bool is_destination(const struct ibcc_engine *e, uint32_t port, uint32_t src)
{
	return !(e->port[port].flags & PORT_SWITCH) && port != src && e->port[port].peer != NONE;
}

static int add_qps(struct ibcc_engine *e, struct flow *f, uint32_t flow, uint32_t dst_port)
{
	uint32_t n = 0;

	f->first_qp = e->n_qp;
	for (uint32_t p = 0; p < e->n_ports; p++)
		if (dst_port == IBCC_NONE ? is_destination(e, p, f->src_port) : p == dst_port)
			n++;
	if (!n)
		return -EINVAL;
	if (e->n_qp + n > CELL_INDEX_MASK ||
	    ibcc_fab_grow(&e->qp, &e->cap_qp, e->n_qp + n, sizeof(*e->qp)))
		return -ENOMEM;
	for (uint32_t p = 0; p < e->n_ports; p++) {
		if (dst_port == IBCC_NONE ? !is_destination(e, p, f->src_port) : p != dst_port)
			continue;
		if (ibcc_fab_group_get(e, p, f->sl) < 0)
			return -ENOMEM;
		e->qp[e->n_qp + f->n_qp++] =
			(struct qp){ .flow = flow, .dst_port = p, .defer = NONE };
	}
	return 0;
}

/* Room in the source's heap and list for all that the flow may put there. */
static int grow_group(struct ibcc_engine *e, uint32_t group, const struct flow *f)
{
	struct group *g = &e->group[group];
	uint32_t n_act = g->n_qp + f->n_qp, n_ready = n_act + g->n_flow + 1;

	if (ibcc_fab_grow(&g->act, &g->cap_act, n_act, sizeof(*g->act)) ||
	    ibcc_fab_grow(&g->ready, &g->cap_ready, n_ready, sizeof(*g->ready)))
		return -ENOMEM;
	g->n_qp = n_act;
	g->n_flow++;
	return 0;
}

static void start(struct ibcc_engine *e, struct flow *f, const struct ibcc_flow_spec *s)
{
	uint64_t seed = e->seed ^ (uint64_t)e->n_flow << 32;
	uint64_t from = s->start_ps > e->now_ps ? s->start_ps : e->now_ps;

	f->offer.rng = rng_next(&seed);
	f->rng = rng_next(&seed);
	f->offer.next_ps = from;
	if (f->kind == IBCC_ARRIVALS_EXPONENTIAL)
		arrivals_next(e, f, &f->offer);
	else if (f->stop_ps && from >= f->stop_ps)
		f->offer.next_ps = NEVER;
	f->head = f->offer;
	f->head_qp = f->first_qp + rng_below(&f->rng, f->n_qp);
}

int ibcc_engine_add_flow(struct ibcc_engine *e, const struct ibcc_flow_spec *s, uint32_t src_port,
			 uint32_t dst_port)
{
	bool paced = s->arrivals != IBCC_ARRIVALS_BACKLOGGED;
	struct flow f = { .src_port = src_port,
			  .kind = s->arrivals,
			  .sl = s->sl,
			  .stop_ps = s->stop_ps,
			  .spec = *s };
	int64_t g;
	int rc;

	if (src_port >= e->n_ports || src_port == dst_port || s->sl >= 16 ||
	    e->port[src_port].flags & PORT_SWITCH || e->port[src_port].peer == NONE)
		return -EINVAL;
	if (dst_port != IBCC_NONE &&
	    (dst_port >= e->n_ports || e->port[dst_port].flags & PORT_SWITCH))
		return -EINVAL;
	if ((paced && !s->load_permille && !s->rate_mbps) ||
	    (s->stop_ps && s->stop_ps <= s->start_ps))
		return -EINVAL;
	if (paced && s->rate_mbps)
		f.gap_ps = ibcc_link_packet_ps(e->bytes[DATA], s->rate_mbps);
	else if (paced)
		f.gap_ps = e->port[src_port].pkt_ps[DATA] * 1000 / s->load_permille;
	if (ibcc_fab_grow(&e->flow, &e->cap_flow, e->n_flow + 1, sizeof(*e->flow)) ||
	    ibcc_fab_reserve(e, 16, 0))
		return -ENOMEM;
	g = ibcc_fab_group_get(e, src_port, s->sl);
	if (g < 0)
		return -ENOMEM;
	rc = add_qps(e, &f, e->n_flow, dst_port);
	if (rc)
		return rc;
	rc = grow_group(e, (uint32_t)g, &f);
	if (rc)
		return rc;
	if (paced && s->queue_packets) {
		f.ring = malloc(s->queue_packets * sizeof(*f.ring));
		if (!f.ring)
			return -ENOMEM;
		f.ring_cap = s->queue_packets;
	}
	start(e, &f, s);
	e->n_qp += f.n_qp;
	e->flow[e->n_flow++] = f;
	/* Not armed here: the flow joins when time runs, in its place among equal times. */
	if (f.offer.next_ps != NEVER)
		evq_push(e, f.offer.next_ps, EV_FLOW, e->n_flow - 1);
	return (int)(e->n_flow - 1);
}

uint32_t ibcc_engine_n_flows(const struct ibcc_engine *e)
{
	return e->n_flow;
}

const struct ibcc_flow_spec *ibcc_engine_flow_spec(const struct ibcc_engine *e, uint32_t flow)
{
	return flow < e->n_flow ? &e->flow[flow].spec : NULL;
}
