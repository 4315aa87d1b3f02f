/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Prefetching into the cache what coming events will touch, step by step: each step needs what
 * the one before fetched. run.c calls the steps a few events ahead. Nothing here changes a
 * result, except that ibcc_fab_arrive_soon() also finds the packet's output.
 */
#include "qps.h"
#include "tx.h"
#include "voq.h"

void ibcc_fab_arrive_later(const struct ibcc_engine *e, const struct coming *v)
{
	__builtin_prefetch(e->place[v->with & PLACE_MASK].out + e->pkt[v->index].dlid);
}

void ibcc_fab_arrive_soon(const struct ibcc_engine *e, struct coming *v)
{
	const struct pkt *k = &e->pkt[v->index];
	uint32_t to = v->with, o, outq;

	if (to & UNROUTED)
		v->with = to = route(e, to & ~UNROUTED, k->dlid);
	o = to & PLACE_MASK;
	outq = o * e->n_vls;
	__builtin_prefetch(&e->port[o]);
	__builtin_prefetch(&e->outq[outq]);
	__builtin_prefetch(&e->voq[outq * e->n_slots + slot_of(e, to, k->qp)]);
}

void ibcc_fab_free_later(const struct ibcc_engine *e, uint32_t port)
{
	uint32_t outq = port * e->n_vls;

	if (e->outq[outq].holds)
		__builtin_prefetch(&e->voq[outq * e->n_slots + voq_turn(e, outq)]);
}

void ibcc_fab_free_soon(const struct ibcc_engine *e, uint32_t port)
{
	uint32_t outq = port * e->n_vls;

	if (e->outq[outq].holds)
		__builtin_prefetch(&e->pkt[voq_first(e, outq, voq_turn(e, outq))]);
}

void ibcc_fab_hca_soon(const struct ibcc_engine *e, uint32_t port, unsigned int step)
{
	const struct port *p = &e->port[port];
	const struct group *g;
	const struct flow *f;
	const struct hca *h;

	if ((p->flags & (PORT_SWITCH | PORT_UP)) != PORT_UP)
		return;
	h = &e->hca[p->owner];
	if (!step) {
		__builtin_prefetch(h);
		__builtin_prefetch(&h->group);
		return;
	}
	if (!h->data_sls)
		return;
	g = &e->group[h->group[__builtin_ctz(h->data_sls)]];
	if (step == 1) {
		__builtin_prefetch(g);
		return;
	}
	if (step == 2) {
		__builtin_prefetch(g->ready);
		return;
	}
	if (!g->n_ready || g->ready[1].id & READY_QP)
		return;
	f = &e->flow[g->ready[1].id];
	if (step == 3) {
		__builtin_prefetch(f);
		__builtin_prefetch(&f->sent);
		return;
	}
	__builtin_prefetch(&e->lid[f->dst]);
	if (g->qp)
		__builtin_prefetch(g->qp);
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
