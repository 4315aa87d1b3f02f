/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Prefetching into the cache what coming events will touch, which doubles as a list of what each
 * event touches. It goes step by step, a few events ahead: each step needs what the one before
 * fetched. Nothing here changes a result, except that arrive_soon() also finds the packet's output.
 * Begin at the end, with fetch_arrival() and what follows. All of it is within the loop (run.c):
 * calls would be a tenth of its instructions in a large fabric.
 *
 * An event beyond a lane's end is an old one, so its packet and its place may be out of date, but
 * they exist. The functions ask no question that the processor cannot predict: a wrong guess costs
 * more than what they fetch is worth.
 */
#ifndef IBCC_ENGINE_FETCH_H
#define IBCC_ENGINE_FETCH_H

#include <string.h>

#include "qps.h"
#include "tx.h"
#include "voq.h"

static ALWAYS_INLINE void arrive_later(const struct ibcc_engine *e, const struct coming *v)
{
	const struct pkt *k = &e->pkt[v->index];
	/* An old event names its output in place of a place. */
	uint32_t place = (uint32_t)either(v->with & UNROUTED, v->with & PLACE_MASK, 0);

	__builtin_prefetch(e->place[place].out + k->dlid);
	__builtin_prefetch(&e->arrived[k->from]);
}

static ALWAYS_INLINE void arrive_soon(const struct ibcc_engine *e, struct coming *v, bool plain)
{
	const struct pkt *k = &e->pkt[v->index];
	uint32_t to = v->with, o, outq;

	if (to & UNROUTED)
		v->with = to = route(e, to & ~UNROUTED, k->dlid);
	o = to & PLACE_MASK;
	outq = outq_index(e, o, 0, plain);
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

static ALWAYS_INLINE void free_later(const struct ibcc_engine *e, uint32_t port, bool plain)
{
	uint32_t outq = outq_index(e, port, 0, plain);

	__builtin_prefetch(&e->voq[outq * e->n_slots + turn_ahead(e, outq)]);
}

static ALWAYS_INLINE void free_soon(const struct ibcc_engine *e, uint32_t port, bool plain)
{
	uint32_t outq = outq_index(e, port, 0, plain),
		 pkt = voq_first(e, outq, turn_ahead(e, outq));

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

/* Each adapter's port goes through six steps, its owner first, and one more whenever another
 * adapter comes into sight. Nearly a quarter of the ports that become free are adapters', in no
 * order: to ask each port at each step would be a guess each time.
 */
static ALWAYS_INLINE void hca_soon(struct ibcc_engine *e, uint32_t port)
{
	uint32_t *at = e->hca_ahead;
	const struct group *g;
	const struct hca *h;

	__builtin_prefetch(&e->owner[port]);
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

static ALWAYS_INLINE void flow_due_soon(const struct ibcc_engine *e, uint32_t flow)
{
	__builtin_prefetch(&e->flow[flow]);
	__builtin_prefetch(&e->flow[flow].sent);
}

static ALWAYS_INLINE void hca_arrive_soon(const struct ibcc_engine *e, uint32_t pkt)
{
	const struct pkt *k = &e->pkt[pkt];

	__builtin_prefetch(&e->flow[k->flow].sent);
}

/* How many events ahead in a lane memory is fetched into the cache: what an event names, what that
 * leads to, and so on. An adapter's port leads further than a switch's.
 */
#define FAR     12u
#define STEP    3u
#define MID     (2 * STEP)
#define NEAR    STEP
#define HCA_FAR 40u

static ALWAYS_INLINE void fetch_arrival(const struct ibcc_engine *e, const struct lane *l,
					bool plain)
{
	const struct coming *far = lane_ahead(l, FAR);

	__builtin_prefetch(&e->pkt[far->index]);
	if (e->far_apart) {
		arrive_later(e, lane_ahead(l, MID));
		arrive_soon(e, lane_ahead(l, NEAR), plain);
	} else {
		__builtin_prefetch(port_at(e, far->with & PLACE_MASK, plain));
	}
}

static ALWAYS_INLINE void fetch_free(struct ibcc_engine *e, const struct lane *l, bool plain)
{
	uint32_t far = lane_ahead(l, FAR)->index;

	__builtin_prefetch(port_at(e, far, plain));
	if (!e->far_apart)
		return;
	free_later(e, lane_ahead(l, MID)->index, plain);
	free_soon(e, lane_ahead(l, NEAR)->index, plain);
	if (lane_ahead(l, HCA_FAR)->due & TAG_OF_HCA)
		hca_soon(e, lane_ahead(l, HCA_FAR)->index);
}

static inline void fetch_delivery(const struct ibcc_engine *e, const struct lane *l)
{
	const struct coming *far = lane_ahead(l, FAR);

	__builtin_prefetch(&e->pkt[far->index]);
	if (e->far_apart)
		hca_arrive_soon(e, lane_ahead(l, NEAR)->index);
}

static inline void fetch_calendar(const struct ibcc_engine *e)
{
	uint32_t arg = calendar_ahead(e);

	if (e->far_apart && arg >> CELL_KIND_SHIFT == EV_FLOW)
		flow_due_soon(e, arg & CELL_INDEX_MASK);
}

#endif
