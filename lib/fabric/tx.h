/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The sending side of a port, alike at switches and HCAs: waiting time, credits, transmission. */
#ifndef IBCC_FABRIC_TX_H
#define IBCC_FABRIC_TX_H

#include "eth.h"
#include "evq.h"

static inline uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* A port may have something that it can send now. While it sends, its EV_FREE will look. */
static inline void port_look(struct ibcc_engine *e, uint32_t port)
{
	const struct port *p = &e->port[port];

	if (!p->queued || p->busy_ps > e->now_ps)
		return;
	if (p->flags & PORT_SWITCH)
		ibcc_fab_switch_send(e, port);
	else
		ibcc_fab_hca_send(e, port);
}

/* n entries can be sent from now on. XmitWait runs while there are some and none is being sent. */
static inline void outq_add(struct port *p, struct outq *q, uint32_t n, uint64_t now)
{
	q->wait_since_ps = either(q->queued, q->wait_since_ps, later(now, q->busy_ps));
	p->wait_since_ps = either(p->queued, p->wait_since_ps, later(now, p->busy_ps));
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
		q->wait_ps += e->now_ps - q->wait_since_ps;
	if (n && !p->queued && e->now_ps > p->wait_since_ps)
		p->wait_ps += e->now_ps - p->wait_since_ps;
}

/* The slow part: not enough credits at hand. */
bool ibcc_fab_credits_wait(struct ibcc_engine *e, struct outq *q, unsigned int kind);

/* Whether a packet's credits are there; if not, the port looks again when some come. */
static inline bool credits_ok(struct ibcc_engine *e, struct outq *q, unsigned int kind)
{
	return q->credits >= (int32_t)e->blocks[kind] || ibcc_fab_credits_wait(e, q, kind);
}

/* The credit for a packet's place in the buffer of an input port, as EV_CREDIT takes it. With
 * PAUSE, the place is given free instead, at time t.
 */
static inline uint32_t credit_of(struct ibcc_engine *e, const struct pkt *k, uint64_t t)
{
	uint32_t sender = e->credit_to[k->port];

	if (sender != NONE)
		return (sender * e->n_vls + k->vl) << 1 | pkt_kind(k);
	if (e->eth)
		ibcc_eth_release(e, k->port, e->bytes[pkt_kind(k)], t);
	return NO_CREDIT;
}

/* Whoever waits for these credits is told when they come. */
void ibcc_fab_credits_tell(struct ibcc_engine *e, uint32_t credit, uint64_t t);
static inline void credit_under_way(struct ibcc_engine *e, uint32_t credit, uint64_t t)
{
	if (e->evq.n_want && credit != NO_CREDIT)
		ibcc_fab_credits_tell(e, credit, t + e->credit_ps);
}

/* A packet leaves its buffer at once. */
static inline void credit_return(struct ibcc_engine *e, const struct pkt *k)
{
	uint32_t credit = credit_of(e, k, e->now_ps);

	if (credit == NO_CREDIT)
		return;
	lane_push(e, LANE_RETURN, EV_CREDIT, (struct coming){ e->now_ps, NONE, credit });
	credit_under_way(e, credit, e->now_ps);
}

/* An entry is taken to be sent now. */
static inline void outq_take(struct ibcc_engine *e, struct port *p, struct outq *q)
{
	if (e->now_ps > q->wait_since_ps)
		q->wait_ps += e->now_ps - q->wait_since_ps;
	if (e->now_ps > p->wait_since_ps)
		p->wait_ps += e->now_ps - p->wait_since_ps;
	q->queued--;
	p->queued--;
}

/* Counts a packet that comes in at a port, and its marks. */
static inline void count_arrival(struct ibcc_engine *e, const struct pkt *k, struct inport *in)
{
	struct port_stat *s = &e->stat[k->port];

	in->rx[pkt_kind(k)]++;
	if (!(k->flags & (PKT_FECN | PKT_BECN)))
		return;
	if (k->flags & PKT_FECN) {
		s->fecn++;
		s->sl_fecn[k->sl]++;
	}
	if (k->flags & PKT_BECN) {
		s->becn++;
		s->sl_becn[k->sl]++;
	}
}

/* Where a packet goes from an input: its output, or, if there is none, the input and UNROUTED. Here
 * and below are no branches, for nobody could tell which packets leave the switches.
 */
static inline uint32_t route(const struct inport *in, uint32_t port, uint16_t dlid)
{
	uint32_t out = in->lft[dlid < in->lft_len ? dlid : in->lft_len];
	uint32_t leads = -(uint32_t)((out < in->n_in) & !!out); /* a mask */

	return ((in->first_port + out) & leads) | ((port | UNROUTED) & ~leads);
}

/* What to know of a packet on its way: what its place will become at once, or where it goes next.
 * Where tables lie in a core's own cache, that is found out as it is sent, when nothing waits for
 * it.
 */
static inline uint32_t foresee(const struct ibcc_engine *e, const struct outq *q,
			       const struct pkt *k, enum ibcc_fab_event event)
{
	uint32_t quiet = -(uint32_t)(event == EV_QUIET); /* a mask */
	uint32_t next = k->port | UNROUTED;

	if (!e->far_apart)
		next = route(&e->in[k->port], k->port, k->dlid);
	return (quiet & ((uint32_t)(q - e->outq) << 1 | DATA)) | (~quiet & next);
}

/* Puts a packet on the link. The caller has seen to credits and to the port being free. */
static inline void tx_start(struct ibcc_engine *e, uint32_t port, unsigned int vl, uint32_t pkt,
			    bool forwarded)
{
	struct port *p = &e->port[port];
	struct outq *q = port_outq(e, port, vl);
	struct pkt *k = &e->pkt[pkt];
	unsigned int kind = pkt_kind(k);
	const struct speed *s = &e->speed[p->speed];
	bool loud = e->loud | !!(k->flags & PKT_FECN);
	const struct way *w = &s->way[kind][!!(p->flags & PORT_TO_SWITCH)][loud];
	uint64_t end = e->now_ps + s->pkt_ps[kind];
	uint32_t credit = forwarded ? credit_of(e, k, end) : NO_CREDIT;

	p->tx[kind]++;
	p->busy_ps = q->busy_ps = p->wait_since_ps = q->wait_since_ps = end;
	q->credits -= (int32_t)e->blocks[kind];
	q->flags &= (uint8_t)~OUTQ_STARVED;
	k->port = p->peer;
	k->vl = (uint8_t)vl;
	k->epoch = p->epoch;
	lane_push(e, w->lane, (enum ibcc_fab_event)w->event,
		  (struct coming){ e->now_ps + w->delay_ps, pkt,
				   foresee(e, q, k, (enum ibcc_fab_event)w->event) });
	free_push(e, p, s->free_lane[kind], (struct coming){ end, port, credit });
	credit_under_way(e, credit, end);
	if (q->flags & OUTQ_WANT && w->event == EV_QUIET)
		credit_under_way(e, (uint32_t)(q - e->outq) << 1 | DATA, e->now_ps + w->delay_ps);
}

#endif
