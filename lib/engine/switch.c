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
 * switch.h has what every packet passes; this file has the rest.
 */
#include "switch.h"
#include "vlarb.h"

/* Marks a packet (FECN) that leaves an output in congested state, by the rules of annex A10. The
 * output must be the root of the congestion, that is, it had credits when it wanted to send; or its
 * bit of Victim_Mask is set. ACKs, CNPs, marked packets and packets below Packet_Size do not count;
 * of the others, Marking_Rate on the mean pass between two marks.
 */
void ibcc_fab_mark_maybe(struct ibcc_engine *e, uint32_t port, struct port *q, struct pkt *k,
			 unsigned int kind)
{
	struct outq_cong *v = &e->cong[q - e->port];

	if (!v->victims && q->flags & OUTQ_STARVED)
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

uint32_t ibcc_fab_switch_send_vl(struct ibcc_engine *e, uint32_t port, unsigned int vl)
{
	return send_vl(e, port, vl, false);
}

/* After the port's choice, what it still holds has to wait. */
static void crowded_all(struct ibcc_engine *e, uint32_t port)
{
	for (unsigned int vl = 0; vl < e->n_vls; vl++) {
		struct port *q = port_outq(e, port, vl);

		q->flags &= (uint8_t)~OUTQ_FRESH;
		crowded(e, port, q);
	}
}

/* Sends a packet of the first VL in turn that may send. */
static void send_in_turn(struct ibcc_engine *e, uint32_t port)
{
	unsigned int vl = e->rr_vl[port];

	for (unsigned int i = 0; i < e->n_vls; i++, vl++) {
		if (vl >= e->n_vls)
			vl = 0;
		if (!ibcc_fab_switch_send_vl(e, port, vl))
			continue;
		e->rr_vl[port] = next_vl(e, vl);
		return;
	}
}

static void send_any(struct ibcc_engine *e, uint32_t port)
{
	if (e->vlarb)
		ibcc_vlarb_send(e, port);
	else
		send_in_turn(e, port);
	crowded_all(e, port);
}

void ibcc_fab_switch_send(struct ibcc_engine *e, uint32_t port)
{
	const struct port *p = port_of(e, port);

	if (!p->queued || port_busy(e, p))
		return;
	if (e->plain)
		send_vl(e, port, 0, true);
	else
		send_any(e, port);
}

void ibcc_fab_discard(struct ibcc_engine *e, uint32_t pkt)
{
	struct pkt *k = &e->pkt[pkt];

	credit_return(e, k, false);
	ibcc_fab_drop(e, pkt, ibcc_fab_origin(e, k));
}

/* Whether a packet has to wait at its input before it can be sent: until a faster output cannot run
 * dry any more, or, with store and forward, for its last bit. If so, it arrives again by EV_ARRIVE.
 */
bool ibcc_fab_hold(struct ibcc_engine *e, uint32_t pkt, const struct port *out)
{
	struct pkt *k = &e->pkt[pkt];
	unsigned int kind = pkt_kind(k);
	uint64_t in_ps = e->speed[port_of(e, k->from)->speed].pkt_ps[kind];
	uint64_t ready_ps = e->stores ? 0 : e->speed[out->speed].pkt_ps[kind];

	if (k->flags & PKT_HELD) { /* it has waited, by the rates of that time */
		k->flags &= (uint8_t)~PKT_HELD;
		return false;
	}
	if (in_ps <= ready_ps)
		return false;
	k->flags |= PKT_HELD;
	evq_push(e, e->now_ps + in_ps - ready_ps, EV_ARRIVE, pkt);
	return true;
}

void ibcc_fab_routes_forget(struct ibcc_engine *e)
{
	struct lane *l = &e->evq.lane[LANE_ARRIVE];

	for (uint32_t i = l->head; i != l->tail; i++) {
		struct coming *v = &l->ring[i & l->mask];

		v->with = port_of(e, e->pkt[v->index].from)->to | UNROUTED;
	}
}

unsigned int ibcc_fab_mapped_vl(const struct ibcc_engine *e, const struct pkt *k, uint32_t out)
{
	const struct fab_switch *s = &e->sw[e->owner[out]];

	return s->sl2vl[(input_of(e, k) - s->first_port) * (s->n_ports + 1u) + out - s->first_port]
		       [k->sl];
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
		struct port *q = port_outq(e, port, vl);

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
			credit_return(e, k, false);
			ibcc_fab_drop(e, pkt, port);
		}
		q->flags &= (uint8_t)~OUTQ_FRESH;
	}
}
