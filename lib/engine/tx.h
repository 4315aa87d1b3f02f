/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The sending side of a port, which switches and HCAs share: XmitWait, credits, transmission.
 * Begin with tx_start().
 *
 * What every packet passes is compiled twice: for all models, and for the plain one (one VL,
 * credits, annex A10, cut-through, static routes without SLs of their own, one size of data
 * packets), which need not ask for the rest. The argument `plain` of a function is a constant at
 * compile time.
 */
#ifndef IBCC_ENGINE_TX_H
#define IBCC_ENGINE_TX_H

#include "eth.h"
#include "evq.h"
#include "reads.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

static ALWAYS_INLINE uint32_t outq_index(const struct ibcc_engine *e, uint32_t port,
					 unsigned int vl, bool plain)
{
	return plain ? port : port * e->n_vls + vl;
}

static ALWAYS_INLINE struct port *port_at(const struct ibcc_engine *e, uint32_t port, bool plain)
{
	return &e->port[outq_index(e, port, 0, plain)];
}

/* In the plain model, a flag tells the kinds apart. */
static ALWAYS_INLINE unsigned int kind_of(const struct pkt *k, bool plain)
{
	return plain ? k->flags & PKT_CTRL : pkt_kind(k);
}

static inline uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* A port may have something that it can send now. While it sends, its EV_FREE will look. */
static inline void port_look(struct ibcc_engine *e, uint32_t port)
{
	if (port_of(e, port)->flags & PORT_SWITCH)
		ibcc_fab_switch_send(e, port);
	else
		ibcc_fab_hca_send(e, port);
}

/* Where XmitWait is counted by VL too, or NULL. */
static ALWAYS_INLINE struct outq_wait *wait_of(const struct ibcc_engine *e, uint32_t port,
					       unsigned int vl, bool plain)
{
	return plain || e->n_vls == 1 ? NULL : &e->wait[outq_index(e, port, vl, plain)];
}

/* How long a port, or a VL, that was busy until a time has been idle. */
static inline uint64_t idle_ps(const struct ibcc_engine *e, uint64_t busy_ps)
{
	return later(e->now_ps, busy_ps) - busy_ps;
}

/* n entries, at least one, can be sent from now on, on a link that is up. XmitWait runs while there
 * are some and none is being sent. It counts from the end of the last packet on when something is
 * sent, so what the port was idle before the first entry came is subtracted here.
 */
static ALWAYS_INLINE void outq_add(struct ibcc_engine *e, uint32_t port, unsigned int vl,
				   uint32_t n, bool plain)
{
	struct outq_wait *w = wait_of(e, port, vl, plain);
	struct port *p = port_at(e, port, plain);

	p->wait_ps -= either(p->queued, 0, idle_ps(e, p->busy_ps));
	p->queued += n;
	if (!w)
		return;
	w->wait_ps -= either(w->queued, 0, idle_ps(e, w->busy_ps));
	w->queued += n;
}

/* The same on a link that is down, where XmitWait stands still. */
static inline void outq_hold(struct ibcc_engine *e, uint32_t port, unsigned int vl, uint32_t n)
{
	struct outq_wait *w = wait_of(e, port, vl, false);

	port_of(e, port)->queued += n;
	if (w)
		w->queued += n;
}

/* n entries cannot be sent any more, though they were not sent. */
static inline void outq_sub(struct ibcc_engine *e, uint32_t port, unsigned int vl, uint32_t n)
{
	struct outq_wait *w = wait_of(e, port, vl, false);
	struct port *p = port_of(e, port);

	p->queued -= n;
	if (w)
		w->queued -= n;
	if (!(p->flags & PORT_UP))
		return;
	if (w && n && !w->queued)
		w->wait_ps += idle_ps(e, w->busy_ps);
	if (n && !p->queued)
		p->wait_ps += idle_ps(e, p->busy_ps);
}

/* An entry that waited is sent now. */
static ALWAYS_INLINE void outq_wait(struct ibcc_engine *e, uint32_t port, unsigned int vl,
				    bool plain)
{
	struct outq_wait *w = wait_of(e, port, vl, plain);
	struct port *p = port_at(e, port, plain);

	if (w)
		w->wait_ps += e->now_ps - w->busy_ps;
	p->wait_ps += e->now_ps - p->busy_ps;
}

/* An entry that waited is sent now, and no other entry comes in its place. */
static ALWAYS_INLINE void outq_take(struct ibcc_engine *e, uint32_t port, unsigned int vl,
				    bool plain)
{
	struct outq_wait *w = wait_of(e, port, vl, plain);

	outq_wait(e, port, vl, plain);
	port_at(e, port, plain)->queued--;
	if (w)
		w->queued--;
}

/* The slow part: not enough credits at hand. */
bool ibcc_fab_credits_wait(struct ibcc_engine *e, struct port *q, unsigned int kind);

/* Whether a packet's credits are there; if not, the port looks again when some come. */
static inline bool credits_ok(struct ibcc_engine *e, struct port *q, unsigned int kind)
{
	return q->credits >= (int32_t)e->blocks[kind] || ibcc_fab_credits_wait(e, q, kind);
}

/* The credit for a packet's place in the buffer of an input port, as EV_CREDIT takes it. With
 * PAUSE, the place is given free instead, at time t.
 */
static ALWAYS_INLINE uint32_t credit_of(struct ibcc_engine *e, const struct pkt *k, uint64_t t,
					bool plain)
{
	unsigned int kind = kind_of(k, plain);

	if (!plain && e->eth) {
		ibcc_eth_release(e, input_of(e, k), e->bytes[kind], t);
		return NO_CREDIT;
	}
	return outq_index(e, k->from, plain ? 0 : k->vl, plain) << KIND_BITS | kind;
}

static inline bool is_short(const struct ibcc_engine *e, uint32_t outq)
{
	return e->evq.short_of[outq >> 6] >> (outq & 63) & 1;
}

/* A place becomes free at time t. Its credit becomes an event if its sender is short of credits;
 * then the result is NO_CREDIT. Otherwise the result is the credit, to stand beside an event.
 */
static ALWAYS_INLINE uint32_t credit_lies(struct ibcc_engine *e, uint32_t credit, uint64_t t)
{
	if (!e->evq.n_short || !is_short(e, credit >> KIND_BITS))
		return credit;
	evq_push(e, t + e->credit_ps, EV_CREDIT, credit);
	return NO_CREDIT;
}

/* A packet leaves its buffer at once. */
static ALWAYS_INLINE void credit_return(struct ibcc_engine *e, const struct pkt *k, bool plain)
{
	uint32_t credit = credit_lies(e, credit_of(e, k, e->now_ps, plain), e->now_ps);

	if (credit != NO_CREDIT)
		lane_push(e, &e->evq.lane[LANE_RETURN], EV_CREDIT,
			  (struct coming){ due_at(e->now_ps, 0), NONE, credit });
}

/* By how much a packet of a kind from OTHER on is longer than one of the model's size. */
static inline int64_t other_bytes(const struct ibcc_engine *e, unsigned int kind)
{
	return (int64_t)e->bytes[kind] - e->bytes[DATA];
}

/* Counts a packet that comes in at a port, and its marks. */
static ALWAYS_INLINE void count_arrival(struct ibcc_engine *e, const struct pkt *k, bool plain)
{
	struct sl_marks *m;

	e->arrived[k->from].rx[k->flags & PKT_CTRL]++;
	if (!plain && pkt_kind(k) >= OTHER)
		e->other[input_of(e, k)].rx += other_bytes(e, pkt_kind(k));
	if (!(k->flags & (PKT_FECN | PKT_BECN)))
		return;
	m = &e->marks[k->sl][input_of(e, k)];
	m->fecn += !!(k->flags & PKT_FECN);
	m->becn += !!(k->flags & PKT_BECN);
}

/* The output that a packet goes to from a place and slot, which stands beside it; where its LID
 * leads nowhere, port 0 of the switch, which is never up, or the channel adapter's port itself.
 */
static inline uint32_t route(const struct ibcc_engine *e, uint32_t to, uint16_t dlid)
{
	const struct place *at = &e->place[to & PLACE_MASK];

	return (to & ~PLACE_MASK) + at->first_port + at->out[dlid];
}

/* What stands beside a packet's event: the credit of a quiet delivery, or the next output. While
 * all tables fit into a core's cache, the output is looked up here, where nothing waits for it;
 * otherwise fetch.h does it shortly before the packet arrives.
 */
static inline uint32_t foresee(const struct ibcc_engine *e, uint32_t outq, uint32_t to,
			       uint16_t dlid, bool quiet)
{
	uint32_t next = e->far_apart ? to | UNROUTED : route(e, to, dlid);

	return (uint32_t)either(quiet, outq << KIND_BITS | DATA, next);
}

static ALWAYS_INLINE const struct way *way_of(const struct ibcc_engine *e, const struct port *p,
					      const struct pkt *k, bool plain)
{
	if (!plain && pkt_kind(k) >= OTHER)
		return &e->speed[p->speed]
				.other[pkt_kind(k) - OTHER][!!(p->flags & PORT_TO_SWITCH)];
	return &e->way[p->speed * N_WAYS | e->loud | (k->flags & (WAY_CTRL | WAY_LOUD)) |
		       (p->flags & WAY_TO_SWITCH)];
}

static inline void count_other(struct ibcc_engine *e, uint32_t port, const struct pkt *k)
{
	e->other[port].tx += other_bytes(e, pkt_kind(k));
	e->other[port].sl_tx[k->sl] += other_bytes(e, pkt_kind(k));
}

/* Puts a packet on the link: counts it, takes its credits, frees the place that a forwarded packet
 * has in its input buffer, and sets off the events of its arrival and of the port being free. The
 * caller has made sure of enough credits and that the port is free.
 */
static ALWAYS_INLINE void tx_start(struct ibcc_engine *e, uint32_t port, unsigned int vl,
				   uint32_t pkt, bool forwarded, bool plain)
{
	uint32_t outq = outq_index(e, port, vl, plain);
	struct port *p = port_at(e, port, plain);
	struct port *q = &e->port[outq];
	struct pkt *k = &e->pkt[pkt];
	unsigned int kind = kind_of(k, plain);
	const struct way *w = way_of(e, p, k, plain);
	uint64_t now = e->now_ps, end = now + w->pkt_ps;
	uint64_t free_due = (now << TAG_BITS) + w->free_due + (forwarded ? 0 : TAG_OF_HCA);
	uint64_t due = (now << TAG_BITS) + w->due;
	uint32_t credit = forwarded ? credit_lies(e, credit_of(e, k, end, plain), end) : NO_CREDIT;
	bool quiet = w->event == EV_QUIET;
	uint32_t with;

	p->tx[k->flags & PKT_CTRL]++;
	if (k->sl != e->first_sl)
		e->marks[k->sl][port].tx[k->flags & PKT_CTRL]++;
	if (!plain && kind >= OTHER)
		count_other(e, port, k);
	p->busy_ps = end;
	p->flags |= PORT_SENT;
	if (!plain && e->n_vls > 1)
		e->wait[outq].busy_ps = end;
	q->credits -= (int32_t)e->blocks[kind];
	q->flags &= (uint8_t)~OUTQ_STARVED;
	if (!plain && e->reading && forwarded)
		ibcc_reads_start(e, input_of(e, k), e->topo->port[port].num, end);
	k->from = port;
	if (!plain)
		k->vl = (uint8_t)vl;
	with = foresee(e, outq, p->to, k->dlid, quiet);
	if (quiet & is_short(e, outq)) /* &: one branch, as `quiet` is unpredictable */
		with = credit_lies(e, with, due >> TAG_BITS);
	lane_push(e, w->lane, (enum ibcc_fab_event)w->event, (struct coming){ due, pkt, with });
	free_push(e, p, w->free, (struct coming){ free_due, port, credit });
}

#endif
