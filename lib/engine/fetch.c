/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Prefetching into the cache what coming events will touch, step by step: each step needs what
 * the one before fetched. run.c calls the steps a few events ahead. Nothing here changes a
 * result, except that ibcc_fab_arrive_soon() also finds the packet's output.
 *
 * An event beyond a lane's end is an old one, so its packet and its place may be out of date, but
 * they exist. The functions ask no question that the processor cannot predict: a wrong guess costs
 * more than what they fetch is worth.
 */
#include <string.h>

#include "qps.h"
#include "tx.h"
#include "voq.h"

void ibcc_fab_arrive_later(const struct ibcc_engine *e, const struct coming *v)
{
	const struct pkt *k = &e->pkt[v->index];
	/* An old event names its output in place of a place. */
	uint32_t place = (uint32_t)either(v->with & UNROUTED, v->with & PLACE_MASK, 0);

	__builtin_prefetch(e->place[place].out + k->dlid);
	__builtin_prefetch(&e->arrived[k->from]);
}

void ibcc_fab_arrive_soon(const struct ibcc_engine *e, struct coming *v)
{
	const struct pkt *k = &e->pkt[v->index];
	uint32_t to = v->with, o, outq;

	if (to & UNROUTED)
		v->with = to = route(e, to & ~UNROUTED, k->dlid);
	o = to & PLACE_MASK;
	outq = o * e->n_vls;
	__builtin_prefetch(&e->port[outq]);
	__builtin_prefetch(&e->voq[outq * e->n_slots + slot_of(e, to, k->qp)]);
}

/* The queue whose turn it is, or the one that was served last if none holds packets. */
static inline uint32_t turn_ahead(const struct ibcc_engine *e, uint32_t outq)
{
	const struct port *q = &e->port[outq];

	if (e->far_holds)
		return q->holds ? voq_turn(e, outq) : q->served;
	return bit_after(q->holds | 1ull << q->served, q->served);
}

void ibcc_fab_free_later(const struct ibcc_engine *e, uint32_t port)
{
	uint32_t outq = port * e->n_vls;

	__builtin_prefetch(&e->voq[outq * e->n_slots + turn_ahead(e, outq)]);
}

void ibcc_fab_free_soon(const struct ibcc_engine *e, uint32_t port)
{
	uint32_t outq = port * e->n_vls, pkt = voq_first(e, outq, turn_ahead(e, outq));

	__builtin_prefetch(&e->pkt[either(pkt != NONE, pkt, 0)]);
}

/* What an adapter will most likely send next. */
static inline const struct group *group_ahead(const struct ibcc_engine *e, const struct hca *h)
{
	return &e->group[h->group[__builtin_ctz(h->data_sls)]];
}

static inline const struct flow *flow_ahead(const struct ibcc_engine *e, const struct group *g)
{
	uint32_t id = g->n_ready ? g->ready[1].id : 0;

	return &e->flow[id & READY_QP ? 0 : id];
}

/* Each adapter's port goes through six steps, the port itself first, and one more whenever
 * another adapter comes into sight. Nearly
 * a quarter of the ports that become free are adapters', in no order: to ask each port at each step
 * would be a guess each time.
 */
void ibcc_fab_hca_soon(struct ibcc_engine *e, uint32_t port)
{
	uint32_t *at = e->hca_ahead;
	const struct group *g;
	const struct hca *h;

	__builtin_prefetch(port_of(e, port));
	h = &e->hca[e->owner[at[0]]];
	__builtin_prefetch(h);
	__builtin_prefetch(&h->group);
	h = &e->hca[e->owner[at[1]]];
	if (h->data_sls)
		__builtin_prefetch(group_ahead(e, h));
	h = &e->hca[e->owner[at[2]]];
	if (h->data_sls)
		__builtin_prefetch(group_ahead(e, h)->ready);
	h = &e->hca[e->owner[at[3]]];
	if (h->data_sls) {
		g = group_ahead(e, h);
		__builtin_prefetch(flow_ahead(e, g));
		__builtin_prefetch(&flow_ahead(e, g)->sent);
	}
	h = &e->hca[e->owner[at[4]]];
	if (h->data_sls) {
		g = group_ahead(e, h);
		__builtin_prefetch(&e->lid[flow_ahead(e, g)->dst]);
		__builtin_prefetch(g->qp);
	}
	memmove(at + 1, at, (HCA_STEPS - 1) * sizeof(*at));
	at[0] = port;
}

void ibcc_fab_flow_due_soon(const struct ibcc_engine *e, uint32_t flow)
{
	__builtin_prefetch(&e->flow[flow]);
	__builtin_prefetch(&e->flow[flow].sent);
}

void ibcc_fab_hca_arrive_soon(const struct ibcc_engine *e, uint32_t pkt)
{
	const struct pkt *k = &e->pkt[pkt];

	__builtin_prefetch(&e->flow[k->flow].sent);
}
