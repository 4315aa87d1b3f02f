/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Link level flow control (IBA vol. 1, 7.9): credits in blocks of 64 bytes, for each VL of a
 * link.
 *
 * These four always add up to the size of a receiver's buffer: the sender's credits, credits
 * under way to it, packets on the link, packets in the buffer. While a link is down they need not:
 * packets on it are lost, and places in the buffer give credits to a sender that sends nothing.
 * When it comes up, credits begin from the buffer (ibcc_fab_credits_init()). Flow control packets
 * are not modelled: the sender knows of a freed place after the link's delay and a fixed delay
 * (credit_ps).
 *
 * A credit normally stands beside the event that frees its place (struct coming), and a sender
 * that looks for credits takes in all that have come. A sender (an outq) that still does not find
 * enough is "short" from then on, until it has plenty again. While it is short, its credits are
 * events of their own, so that it sends as soon as it may. In a congested tree nearly all senders
 * are short, and none of them searches the lanes.
 */
#include <errno.h>

#include "eth.h"
#include "tx.h"

/* Adds a credit to its outq. NO_CREDIT is added to outq 0, which no port uses, since a test for it
 * could not be predicted; its sum may overflow.
 */
static inline void credits_add(struct port *port, const uint32_t blocks[N_KINDS], uint32_t index)
{
	struct port *q = &port[index >> KIND_BITS];

	q->credits = (int32_t)((uint32_t)q->credits + blocks[index & KIND_MASK]);
}

/* Takes in the credits of a lane that have come by now. */
static void drain(struct ibcc_engine *e, struct lane *l)
{
	const uint32_t *blocks = e->blocks;
	const struct coming *ring = l->ring, *v;
	uint32_t at = l->credit_at, tail = l->tail, mask = l->mask;
	/* Leaves out credits beside events of the present time: such an EV_FREE may still wake its
	 * port.
	 */
	uint64_t back = e->credit_ps ? e->credit_ps - 1 : 0;
	uint64_t end = e->now_ps < back ? 0 : (e->now_ps - back) << TAG_BITS;
	struct port *port = e->port;

	for (; at != tail; at++) {
		v = &ring[at & mask];
		if (v->due >= end)
			break;
		credits_add(port, blocks, v->with);
	}
	l->credit_at = at;
}

/* Whether credits for an outq may stand in a lane. Those of an HCA's buffer stand beside
 * deliveries, those of a switch beside what it sends.
 */
static bool may_hold(const struct lane *l, const struct port *p)
{
	return l->event != (p->flags & PORT_TO_SWITCH ? EV_QUIET : EV_FREE);
}

/* Takes in the credits of all lanes that may hold some for a port. */
static void drain_for(struct ibcc_engine *e, const struct port *p)
{
	for (uint32_t i = 0; i < e->evq.n_credit_lanes; i++) {
		struct lane *l = &e->evq.lane[e->evq.credit_lane[i]];

		if (may_hold(l, p))
			drain(e, l);
	}
}

void ibcc_fab_credits_drain(struct ibcc_engine *e)
{
	for (uint32_t i = 0; i < e->evq.n_credit_lanes; i++)
		drain(e, &e->evq.lane[e->evq.credit_lane[i]]);
}

/* Turns the credits under way to an outq that stand in a lane into events. */
static void take_out(struct ibcc_engine *e, struct lane *l, uint32_t outq)
{
	for (uint32_t at = l->credit_at; at != l->tail; at++) {
		struct coming *v = &l->ring[at & l->mask];

		if (v->with >> KIND_BITS != outq)
			continue;
		if (ibcc_fab_reserve(e, 16, 0)) {
			e->err = -ENOMEM;
			return;
		}
		evq_push(e, coming_ps(v) + e->credit_ps, EV_CREDIT, v->with);
		v->with = NO_CREDIT;
	}
}

/* An outq has run short of credits: from now on its credits are events. */
static void begin_short(struct ibcc_engine *e, uint32_t outq)
{
	const struct port *p = port_of(e, outq / e->n_vls);

	e->evq.short_of[outq >> 6] |= 1ull << (outq & 63);
	e->evq.n_short++;
	for (uint32_t i = 0; i < e->evq.n_credit_lanes; i++) {
		struct lane *l = &e->evq.lane[e->evq.credit_lane[i]];

		if (may_hold(l, p))
			take_out(e, l, outq);
	}
}

static void end_short(struct ibcc_engine *e, uint32_t outq)
{
	e->evq.short_of[outq >> 6] &= ~(1ull << (outq & 63));
	e->evq.n_short--;
}

/* An outq lacks credits for a packet. Looks for some; if there are none, the outq waits for
 * EV_CREDIT.
 */
bool ibcc_fab_credits_wait(struct ibcc_engine *e, struct port *q, unsigned int kind)
{
	uint32_t outq = (uint32_t)(q - e->port);

	/* PAUSE has no credits to look for. */
	if (!is_short(e, outq) && !e->eth) {
		drain_for(e, port_of(e, outq / e->n_vls));
		if (q->credits >= (int32_t)e->blocks[kind])
			return true;
		begin_short(e, outq);
	}
	q->flags |= OUTQ_STARVED | OUTQ_WANT;
	return false;
}

void ibcc_fab_credits_met(struct port *q)
{
	q->flags &= (uint8_t)~OUTQ_WANT;
}

/* EV_CREDIT: adds the credits, and lets the port send if it waited for them. */
void ibcc_fab_credits_come(struct ibcc_engine *e, uint32_t index)
{
	uint32_t outq = index >> KIND_BITS;
	struct port *q = &e->port[outq];

	credits_add(e->port, e->blocks, index);
	if (q->flags & OUTQ_WANT) {
		ibcc_fab_credits_met(q);
		port_look(e, outq / e->n_vls);
	} else if (q->credits >= e->plenty && is_short(e, outq)) {
		end_short(e, outq);
	}
}

struct taking {
	uint32_t first, n; /* the outqs whose credits are discarded */
};

static int take_credit(void *arg, uint64_t t, enum ibcc_fab_event kind, uint32_t *index)
{
	const struct taking *k = arg;

	(void)t;
	if (kind == EV_CREDIT && (*index >> KIND_BITS) - k->first < k->n)
		*index = NO_CREDIT;
	return 0;
}

void ibcc_fab_credits_forget(struct ibcc_engine *e, uint32_t port)
{
	struct taking k = { port * e->n_vls, e->n_vls };

	ibcc_fab_evq_each(e, take_credit, &k);
}

/* Charges a sender for packets that are in the receiver's buffer already. */
static void take_back(struct ibcc_engine *e, uint32_t pkt, uint32_t in_port)
{
	for (; pkt != NONE; pkt = e->pkt[pkt].next) {
		const struct pkt *k = &e->pkt[pkt];
		struct port *q = port_outq(e, e->peer[in_port], k->vl);

		if (input_of(e, k) == in_port)
			q->credits -= (int32_t)e->blocks[pkt_kind(k)];
	}
}

/* A link comes up: its sender's credits are what is free in the receiver's buffer. */
void ibcc_fab_credits_init(struct ibcc_engine *e, uint32_t in_port)
{
	const struct port *in = port_of(e, in_port);
	bool is_switch = in->flags & PORT_SWITCH;
	uint32_t peer = e->peer[in_port], size;

	if (peer == NONE || e->eth)
		return; /* PAUSE is kept by both ends */
	size = buffer_bytes(e, in_port);
	for (unsigned int vl = 0; vl < e->n_vls; vl++) {
		struct port *q = port_outq(e, peer, vl);

		q->credits = (int32_t)(size / IBCC_LINK_CREDIT_BYTES);
		q->flags &= (uint8_t)~OUTQ_STARVED;
		ibcc_fab_credits_met(q);
		if (is_short(e, peer * e->n_vls + vl))
			end_short(e, peer * e->n_vls + vl);
	}
	if (!is_switch) {
		take_back(e, e->hca[e->owner[in_port]].rx, in_port);
		return;
	}
	for (unsigned int o = 1; o <= e->sw[e->owner[in_port]].n_ports; o++) {
		uint32_t outq = (e->sw[e->owner[in_port]].first_port + o) * e->n_vls;

		for (unsigned int i = 0; i < e->n_slots * e->n_vls; i++)
			take_back(e, e->voq[outq * e->n_slots + i].head, in_port);
	}
}
