/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The sending side of a port, alike at switches and HCAs: waiting time, credits, transmission. */
#ifndef IBCC_FABRIC_TX_H
#define IBCC_FABRIC_TX_H

#include "evq.h"

static inline uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline void port_wake(struct ibcc_engine *e, uint32_t port, uint64_t t)
{
	struct port *p = &e->port[port];

	if (t < p->wake_ps) {
		p->wake_ps = t;
		evq_push(e, t, EV_WAKE, port);
	}
}

/* n entries can be sent from now on. XmitWait runs while there are some and none is being sent. */
static inline void outq_add(struct port *p, struct outq *q, uint32_t n, uint64_t now)
{
	if (!q->queued)
		q->wait_since_ps = later(now, q->busy_ps);
	if (!p->queued)
		p->wait_since_ps = later(now, p->busy_ps);
	q->queued += n;
	p->queued += n;
}

/* n entries cannot be sent any more, though they were not sent. */
static inline void outq_sub(struct ibcc_engine *e, uint32_t port, unsigned int vl, uint32_t n)
{
	struct port *p = &e->port[port];
	struct outq *q = port_outq(e, port, vl);

	q->queued -= n;
	p->queued -= n;
	if (!(p->flags & PORT_UP))
		return;
	if (n && !q->queued && e->now_ps > q->wait_since_ps)
		e->outq_stat[port * e->n_vls + vl].wait_ps += e->now_ps - q->wait_since_ps;
	if (n && !p->queued && e->now_ps > p->wait_since_ps)
		e->stat[port].wait_ps += e->now_ps - p->wait_since_ps;
}

static inline void credits_collect(struct ibcc_engine *e, struct outq *q)
{
	uint32_t c;

	while ((c = q->ret) != NONE && e->cell[c].t <= e->now_ps) {
		q->credits += (int32_t)e->cell[c].arg;
		q->ret = e->cell[c].next;
		cell_give(e, c);
	}
}

/* The slow part: not enough credits at hand. True if enough had arrived; else the port is woken
 * when they will have.
 */
bool ibcc_fab_credits_wait(struct ibcc_engine *e, uint32_t port, struct outq *q, int32_t need);

static inline bool credits_ok(struct ibcc_engine *e, uint32_t port, struct outq *q,
			      unsigned int kind)
{
	int32_t need = (int32_t)e->blocks[kind];

	return q->credits >= need || ibcc_fab_credits_wait(e, port, q, need);
}

/* A packet's place in the buffer of an input port is free from t on: credits for the sender. */
void ibcc_fab_credits_return(struct ibcc_engine *e, uint32_t in_port, unsigned int vl,
			     unsigned int kind, uint64_t t);

/* Puts a packet on the link; it was counted in q->queued. The caller has seen to credits and to the
 * port being free.
 */
static inline void tx_start(struct ibcc_engine *e, uint32_t port, unsigned int vl, uint32_t pkt)
{
	struct port *p = &e->port[port];
	struct outq *q = port_outq(e, port, vl);
	struct pkt *k = &e->pkt[pkt];
	unsigned int kind = pkt_kind(k);
	uint64_t now = e->now_ps, end = now + p->pkt_ps[kind];

	if (now > q->wait_since_ps)
		e->outq_stat[port * e->n_vls + vl].wait_ps += now - q->wait_since_ps;
	if (now > p->wait_since_ps)
		e->stat[port].wait_ps += now - p->wait_since_ps;
	e->stat[port].tx[kind]++;
	q->queued--;
	p->queued--;
	p->busy_ps = q->busy_ps = p->wait_since_ps = q->wait_since_ps = end;
	q->credits -= (int32_t)e->blocks[kind];
	q->flags &= (uint8_t)~OUTQ_STARVED;
	k->port = p->peer;
	k->vl = (uint8_t)vl;
	k->epoch = p->epoch;
	evq_push(e, p->flags & PORT_TO_SWITCH ? now + e->hop_ps : end + e->link_ps, EV_ARRIVE, pkt);
	if (p->queued)
		port_wake(e, port, end);
}

#endif
