/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What every packet passes at a switch: arrive(), and send_vl() if it had to wait. Compiled twice,
 * as tx.h says; for the plain model, within the loop (run.c).
 */
#ifndef IBCC_ENGINE_SWITCH_H
#define IBCC_ENGINE_SWITCH_H

#include "dcqcn.h"
#include "eth.h"
#include "paths.h"
#include "tx.h"
#include "voq.h"

/* switch.c: marks a packet that leaves an output in congested state, if it is its turn. */
void ibcc_fab_mark_maybe(struct ibcc_engine *e, uint32_t port, struct port *q, struct pkt *k,
			 unsigned int kind);
/* Drops a packet that is in an input's buffer, and gives its place free. */
void ibcc_fab_discard(struct ibcc_engine *e, uint32_t pkt);
/* Whether a packet has to wait at its input; it arrives again by EV_ARRIVE. */
bool ibcc_fab_hold(struct ibcc_engine *e, uint32_t pkt, const struct port *out);
/* The VL that a switch's table gives a packet. */
unsigned int ibcc_fab_mapped_vl(const struct ibcc_engine *e, const struct pkt *k, uint32_t out);

/* Bytes leave an output's queues, which may end congested state. */
static inline void backlog_sub(struct ibcc_engine *e, uint32_t port, struct port *q, uint32_t bytes)
{
	room_add(q, bytes);
	if (q->flags & OUTQ_CONG && backlog_of(e, q) <= e->cong[q - e->port].off)
		ibcc_fab_cong_set(e, port, q, false);
}

static inline uint8_t next_vl(const struct ibcc_engine *e, unsigned int vl)
{
	return (uint8_t)(vl + 1 < e->n_vls ? vl + 1 : 0);
}

/* Sends the packet of a VL whose turn it is. Returns its bytes, or 0: there is none, or it lacks
 * credits.
 */
static ALWAYS_INLINE uint32_t send_vl(struct ibcc_engine *e, uint32_t port, unsigned int vl,
				      bool plain)
{
	uint32_t outq = outq_index(e, port, vl, plain), slot, pkt;
	struct port *q = &e->port[outq];
	struct pkt *k;
	unsigned int kind;

	if (!q->holds)
		return 0;
	slot = !plain && e->reading ? ibcc_reads_turn(e, port, outq) : voq_turn(e, outq);
	if (!plain && slot == NONE)
		return 0;
	pkt = voq_first(e, outq, slot);
	k = &e->pkt[pkt];
	kind = kind_of(k, plain);
	if (!credits_ok(e, q, kind))
		return 0;
	voq_take(e, outq, slot);
	if (!plain && e->dcqcn)
		ibcc_dcqcn_mark(e, port, outq, k);
	else if (q->flags & OUTQ_CONG)
		ibcc_fab_mark_maybe(e, port, q, k, kind);
	backlog_sub(e, port, q, e->bytes[kind]);
	outq_take(e, port, vl, plain);
	tx_start(e, port, vl, pkt, true, plain);
	return e->bytes[kind];
}

/* Begins congested state if the backlog of an output and VL is above the threshold. */
static ALWAYS_INLINE void crowded(struct ibcc_engine *e, uint32_t port, struct port *q)
{
	if (q->room < 0 && !(q->flags & OUTQ_CONG) && backlog_of(e, q) > e->cong[q - e->port].on)
		ibcc_fab_cong_set(e, port, q, true);
}

/* Whether a packet may leave at once, without a queue: the output is free, no packet is before it,
 * and there are credits. The tests are one branch, for each alone cannot be predicted. An output
 * whose packet ends just now need not wait for its EV_FREE here: most packets pass right behind
 * another.
 */
static ALWAYS_INLINE bool may_pass(struct ibcc_engine *e, const struct port *out, struct port *q,
				   unsigned int kind, bool plain)
{
	/* The sign of both, as a compiler makes two branches of two comparisons. */
	int64_t may = (int64_t)(e->now_ps - out->busy_ps) | -(int64_t)out->queued;

	return may >= 0 && (plain || (!e->eth && !e->vlarb && !e->reading)) &&
	       credits_ok(e, q, kind);
}

/* The VL that a packet leaves on; n_vls or more: there is none for it. */
static ALWAYS_INLINE unsigned int vl_of(const struct ibcc_engine *e, const struct pkt *k,
					uint32_t out, bool plain)
{
	if (e->maps && e->sw[e->owner[out]].sl2vl)
		return ibcc_fab_mapped_vl(e, k, out);
	return plain || e->n_vls == 1 ? 0 : ibcc_fab_default_vl(e, out, k->sl);
}

/* A packet's header is at a switch: it is dropped, held back, sent at once, or queued. `to` is as
 * in struct coming.
 */
static ALWAYS_INLINE void arrive(struct ibcc_engine *e, uint32_t pkt, uint32_t to, bool plain)
{
	struct pkt *k = &e->pkt[pkt];
	unsigned int kind = kind_of(k, plain), vl;
	bool held = k->flags & PKT_HELD;
	struct port *out, *q;
	uint32_t o, outq;

	if (k->flags & PKT_LOST) {
		if (!plain && e->eth && held) /* it was admitted */
			ibcc_eth_release(e, input_of(e, k), e->bytes[kind], e->now_ps);
		ibcc_fab_drop(e, pkt, k->from);
		return;
	}
	if (!held) {
		count_arrival(e, k, plain);
		if (!plain && e->eth && !ibcc_eth_admit(e, pkt)) {
			ibcc_fab_drop(e, pkt, input_of(e, k));
			return;
		}
	}
	if (to & UNROUTED)
		to = route(e, to & ~UNROUTED, k->dlid);
	o = to & PLACE_MASK;
	if (!(port_at(e, o, plain)->flags & PORT_UP))
		o = NONE;
	if (!plain && e->paths)
		o = ibcc_paths_pick(e, e->owner[input_of(e, k)], k, o);
	if (o == NONE) {
		ibcc_fab_discard(e, pkt);
		return;
	}
	out = port_at(e, o, plain);
	if ((held || (e->n_rates > 1 && port_at(e, k->from, plain)->speed != out->speed) ||
	     (!plain && e->stores)) &&
	    ibcc_fab_hold(e, pkt, out))
		return;
	vl = vl_of(e, k, o, plain);
	if ((!plain || e->maps) &&
	    vl >= e->n_vls) { /* a VL that is not there, or 15: discarded (IBA vol. 1, 7.6.6) */
		ibcc_fab_discard(e, pkt);
		return;
	}
	outq = outq_index(e, o, vl, plain);
	q = &e->port[outq];
	if (may_pass(e, out, q, kind, plain)) {
		if (!plain)
			e->rr_vl[o] = next_vl(e, vl);
		if (!plain && e->dcqcn)
			ibcc_dcqcn_mark(e, o, outq, k);
		q->served = (uint8_t)slot_of(e, to, k->qp);
		tx_start(e, o, plain ? 0 : vl, pkt, true, plain);
		return;
	}
	/* On an empty VL, whether it has to wait is known only when the port has chosen. */
	if (!plain && !q->holds && out->busy_ps <= e->now_ps)
		q->flags |= OUTQ_FRESH;
	voq_put(e, outq, slot_of(e, to, k->qp), pkt);
	if (!plain && e->dcqcn)
		ibcc_dcqcn_backlog(e, outq);
	room_add(q, -e->bytes[kind]);
	if (plain || !(q->flags & OUTQ_FRESH))
		crowded(e, o, q);
	if (!plain && e->eth && e->eth->point)
		ibcc_bcn_arrive(e, o, pkt);
	outq_add(e, o, vl, 1, plain);
	if (port_busy(e, out))
		free_wake(e, out);
	else if (!plain || !(q->flags & OUTQ_WANT) || q->credits >= (int32_t)e->blocks[kind])
		ibcc_fab_switch_send(e, o);
	/* Otherwise neither the packet that waited for credits has them nor this one. */
}

#endif
