/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Switches: input buffers with a queue for each output (VOQ), virtual cut-through, round robin.
 *
 * A packet may leave when its header has been in the switch for the switch's delay, if the output
 * is free and the next buffer has room for the whole packet. It occupies its place until its last
 * bit has left. Where the output is faster than the input, the packet starts late enough for the
 * output not to run dry. Switches that store and forward count the delay from the last bit.
 * Outputs serve VLs in turn, and within a VL the inputs that hold packets for it in turn (voq.h).
 *
 * The backlog that is compared with the threshold (mark.c) consists of the packets that have to
 * wait. A packet that finds its output free, and no packet before it on its VL, leaves at once.
 * It has not waited and is not counted, whatever the threshold.
 *
 * Begin with arrive() and send_vl().
 */
#include "dcqcn.h"
#include "eth.h"
#include "paths.h"
#include "tx.h"
#include "vlarb.h"
#include "voq.h"

/* Bytes leave an output's queues, which may end congested state. */
static void backlog_sub(struct ibcc_engine *e, uint32_t port, struct outq *q, uint32_t bytes)
{
	q->backlog -= bytes;
	if (q->flags & OUTQ_CONG && q->backlog <= e->cong[q - e->outq].off)
		ibcc_fab_cong_set(e, port, q, false);
}

/* Marks a packet (FECN) that leaves an output in congested state, by the rules of annex A10. The
 * output must be the root of the congestion, that is, it had credits when it wanted to send; or its
 * bit of Victim_Mask is set. ACKs, CNPs, marked packets and packets below Packet_Size do not count;
 * of the others, Marking_Rate on the mean pass between two marks.
 */
static void maybe_mark(struct ibcc_engine *e, uint32_t port, struct outq *q, struct pkt *k,
		       unsigned int kind)
{
	struct outq_cong *v = &e->cong[q - e->outq];

	if (!(q->flags & OUTQ_UNMASKED) && q->flags & OUTQ_STARVED)
		return;
	/* By bytes, as packets have no blocks of credits with PAUSE. */
	if (k->flags & (PKT_CTRL | PKT_FECN) ||
	    e->bytes[kind] + IBCC_LINK_CREDIT_BYTES - 1 < v->blocks * IBCC_LINK_CREDIT_BYTES)
		return;
	if (v->skip) {
		v->skip--;
		return;
	}
	v->skip = ibcc_fab_mark_gap(v);
	k->flags |= PKT_FECN;
	e->stat[port].mark++;
	ibcc_fab_log_mark(e, port, k);
}

static uint8_t next_vl(const struct ibcc_engine *e, unsigned int vl)
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
	struct outq *q = &e->outq[outq];
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
		maybe_mark(e, port, q, k, kind);
	backlog_sub(e, port, q, e->bytes[kind]);
	outq_take(e, port, vl, plain);
	tx_start(e, port, vl, pkt, true, plain);
	return e->bytes[kind];
}

uint32_t ibcc_fab_switch_send_vl(struct ibcc_engine *e, uint32_t port, unsigned int vl)
{
	return send_vl(e, port, vl, false);
}

/* Begins congested state if the backlog of an output and VL is above the threshold. */
static ALWAYS_INLINE void crowded(struct ibcc_engine *e, uint32_t port, struct outq *q)
{
	if (q->backlog > q->mark_on && !(q->flags & OUTQ_CONG))
		ibcc_fab_cong_set(e, port, q, true);
}

/* After the port's choice, what it still holds has to wait. */
static void crowded_all(struct ibcc_engine *e, uint32_t port)
{
	for (unsigned int vl = 0; vl < e->n_vls; vl++) {
		struct outq *q = port_outq(e, port, vl);

		q->flags &= (uint8_t)~OUTQ_FRESH;
		crowded(e, port, q);
	}
}

/* Sends a packet of the first VL in turn that may send. */
static void send_in_turn(struct ibcc_engine *e, uint32_t port)
{
	struct port *p = &e->port[port];
	unsigned int vl = p->rr_vl;

	for (unsigned int i = 0; i < e->n_vls; i++, vl++) {
		if (vl >= e->n_vls)
			vl = 0;
		if (!ibcc_fab_switch_send_vl(e, port, vl))
			continue;
		p->rr_vl = next_vl(e, vl);
		return;
	}
}

void ibcc_fab_switch_send(struct ibcc_engine *e, uint32_t port)
{
	const struct port *p = &e->port[port];

	if (!p->queued || port_busy(e, p))
		return;
	if (e->plain) {
		send_vl(e, port, 0, true);
		return;
	}
	if (e->vlarb)
		ibcc_vlarb_send(e, port);
	else
		send_in_turn(e, port);
	crowded_all(e, port);
}

static void discard(struct ibcc_engine *e, uint32_t pkt)
{
	struct pkt *k = &e->pkt[pkt];

	credit_return(e, k);
	ibcc_fab_drop(e, pkt, ibcc_fab_origin(e, k));
}

/* Whether a packet has to wait at its input before it can be sent: until a faster output cannot run
 * dry any more, or, with store and forward, for its last bit. If so, it arrives again by EV_ARRIVE.
 */
static bool hold(struct ibcc_engine *e, uint32_t pkt, unsigned int kind, const struct speed *in,
		 const struct speed *out, bool stores)
{
	struct pkt *k = &e->pkt[pkt];
	uint64_t ready_ps = stores ? 0 : out->pkt_ps[kind];

	if (k->flags & PKT_HELD) { /* it has waited, by the rates of that time */
		k->flags &= (uint8_t)~PKT_HELD;
		return false;
	}
	if (in->pkt_ps[kind] <= ready_ps)
		return false;
	k->flags |= PKT_HELD;
	evq_push(e, e->now_ps + in->pkt_ps[kind] - ready_ps, EV_ARRIVE, pkt);
	return true;
}

/* Whether a packet may leave at once, without a queue: the output is free, no packet is before it,
 * and there are credits. The tests are one branch, for each alone cannot be predicted. An output
 * whose packet ends just now need not wait for its EV_FREE here: most packets pass right behind
 * another.
 */
static ALWAYS_INLINE bool may_pass(struct ibcc_engine *e, const struct port *out, struct outq *q,
				   unsigned int kind, bool plain)
{
	/* The sign of both, as a compiler makes two branches of two comparisons. */
	int64_t may = (int64_t)(e->now_ps - out->busy_ps) | -(int64_t)out->queued;

	return may >= 0 && (plain || (!e->eth && !e->vlarb && !e->reading)) && credits_ok(e, q, kind);
}

void ibcc_fab_routes_forget(struct ibcc_engine *e)
{
	struct lane *l = &e->evq.lane[LANE_ARRIVE];

	for (uint32_t i = l->head; i != l->tail; i++) {
		struct coming *v = &l->ring[i & l->mask];

		v->with = e->port[e->pkt[v->index].from].to | UNROUTED;
	}
}

/* The VL that a switch's table gives a packet. */
static unsigned int mapped_vl(const struct ibcc_engine *e, const struct pkt *k,
			      const struct port *out)
{
	const struct fab_switch *s = &e->sw[out->owner];

	return s->sl2vl[e->port[input_of(e, k)].num * (s->n_ports + 1u) + out->num][k->sl];
}

/* The VL that a packet leaves on; n_vls or more: there is none for it. */
static ALWAYS_INLINE unsigned int vl_of(const struct ibcc_engine *e, const struct pkt *k,
					const struct port *out, unsigned int sl, bool plain)
{
	if (e->maps && e->sw[out->owner].sl2vl)
		return mapped_vl(e, k, out);
	return plain || e->n_vls == 1 ? 0 : ibcc_fab_default_vl(e, (uint32_t)(out - e->port), sl);
}

/* A packet's header is at a switch: it is dropped, held back, sent at once, or queued. `to` is as
 * in struct coming.
 */
static ALWAYS_INLINE void arrive(struct ibcc_engine *e, uint32_t pkt, uint32_t to, bool plain)
{
	struct pkt *k = &e->pkt[pkt];
	unsigned int kind = kind_of(k, plain), vl;
	bool held = k->flags & PKT_HELD;
	struct port *out;
	struct outq *q;
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
	if (!(e->port[o].flags & PORT_UP))
		o = NONE;
	if (!plain && e->paths)
		o = ibcc_paths_pick(e, e->port[input_of(e, k)].owner, k, o);
	if (o == NONE) {
		discard(e, pkt);
		return;
	}
	out = &e->port[o];
	if ((!e->one_speed || held || (!plain && e->stores)) &&
	    hold(e, pkt, kind, &e->speed[e->port[k->from].speed], &e->speed[out->speed],
		 !plain && e->stores))
		return;
	vl = vl_of(e, k, out, k->sl, plain);
	if (vl >= e->n_vls) { /* a VL that is not there, or 15: discarded (IBA vol. 1, 7.6.6) */
		discard(e, pkt);
		return;
	}
	outq = outq_index(e, o, vl, plain);
	q = &e->outq[outq];
	if (may_pass(e, out, q, kind, plain)) {
		if (!plain)
			out->rr_vl = next_vl(e, vl);
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
	q->backlog += e->bytes[kind];
	if (!(q->flags & OUTQ_FRESH))
		crowded(e, o, q);
	if (!plain && e->eth && e->eth->point)
		ibcc_bcn_arrive(e, o, pkt);
	outq_add(e, o, vl, 1, plain);
	if (port_busy(e, out))
		free_wake(e, out);
	else
		ibcc_fab_switch_send(e, o);
}

void ibcc_fab_arrive(struct ibcc_engine *e, uint32_t pkt, uint32_t to)
{
	if (e->plain)
		arrive(e, pkt, to, true);
	else
		arrive(e, pkt, to, false);
}

void ibcc_fab_switch_flush(struct ibcc_engine *e, uint32_t port)
{
	for (unsigned int vl = 0; vl < e->n_vls; vl++) {
		struct outq *q = port_outq(e, port, vl);

		while (q->holds) {
			uint32_t outq = port * e->n_vls + vl, slot = voq_turn(e, outq);
			uint32_t pkt = voq_first(e, outq, slot);
			struct pkt *k = &e->pkt[pkt];
			unsigned int kind = pkt_kind(k);

			voq_take(e, outq, slot);
			if (e->dcqcn)
				ibcc_dcqcn_backlog(e, outq);
			outq_sub(e, port, vl, 1);
			backlog_sub(e, port, q, e->bytes[kind]);
			credit_return(e, k);
			ibcc_fab_drop(e, pkt, port);
		}
		q->flags &= (uint8_t)~OUTQ_FRESH;
	}
}
