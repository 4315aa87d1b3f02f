/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Backward congestion notification (D. Bergamasco, R. Pan, Backward congestion notification
 * version 2.0, 2005; baseline of IEEE 802.1Qau).
 *
 * A congestion point is the queue of a switch's output. It samples one packet in each
 * sample_bytes that come for it, and computes the feedback Fb, in packets:
 *
 * 	Fb = Qoff - W * Qdelta,  Qoff = Qeq - q,  Qdelta = q - q at the last sample
 *
 * Qoff is limited to +-Qeq and Qdelta to +-2 Qeq. Negative feedback goes to the source of the
 * sampled packet, but only while the queue is above its equilibrium. Positive feedback goes to
 * the source only if its packet says that it follows this point, also while the queue is above
 * its equilibrium and drains.
 *
 * A source's limiter begins at the link's rate with the first negative feedback. For increases it
 * follows the point that lowered it last. It ends when it is back at the link's rate. Messages
 * travel out of band, in a fixed time.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "eth.h"
#include "qps.h"
#include "tx.h"

/* Feedback travels in the packet's born_ps, as a fixed-point number. */
#define FEEDBACK_ONE 65536.0

static double packets(const struct ibcc_engine *e, uint32_t bytes)
{
	return (double)bytes / e->bytes[DATA];
}

static double clip(double v, double limit)
{
	return fmax(-limit, fmin(limit, v));
}

double ibcc_bcn_feedback(const struct ibcc_bcn *b, double q, double q_last, double qeq)
{
	return clip(qeq - q, qeq) - b->w * clip(q - q_last, 2 * qeq);
}

double ibcc_bcn_rate(const struct ibcc_bcn *b, double mbps, double feedback)
{
	if (feedback > 0)
		return mbps + b->gi * feedback * b->ru_mbps;
	return fmax(b->ru_mbps, mbps * (1 + b->gd * feedback));
}

void ibcc_bcn_message(struct pkt *p, double feedback)
{
	p->born_ps = (uint64_t)llround(feedback * FEEDBACK_ONE);
}

/* The congestion point that a packet's limiter follows, or NONE. */
static uint32_t tag_of(const struct ibcc_engine *e, uint32_t pkt)
{
	return pkt < e->eth->cap_tag ? e->eth->tag[pkt] : NONE;
}

/* A packet came to an output's queue: samples it if its turn has come, and sends the feedback. */
void ibcc_bcn_arrive(struct ibcc_engine *e, uint32_t port, uint32_t pkt)
{
	const struct pkt *k = &e->pkt[pkt];
	const struct ibcc_bcn *b = &e->model.bcn;
	struct bcn_point *p = &e->eth->point[port];
	uint32_t backlog = backlog_of(e, port_outq(e, port, 0)), message;
	double fb;

	p->since += e->bytes[pkt_kind(k)];
	if (p->since < b->sample_bytes || k->flags & PKT_CTRL)
		return;
	p->since -= b->sample_bytes;
	fb = ibcc_bcn_feedback(b, packets(e, backlog), packets(e, p->backlog),
			       packets(e, b->equilibrium_bytes));
	p->backlog = backlog;
	if (fb > 0 && tag_of(e, pkt) == port)
		p->positive++;
	else if (fb < 0 && backlog > b->equilibrium_bytes)
		p->negative++;
	else
		return;
	message = pkt_take(e);
	e->pkt[message] =
		(struct pkt){ .flow = k->flow, .qp = k->qp, .from = port, .flags = PKT_CTRL };
	ibcc_bcn_message(&e->pkt[message], fb);
	evq_push(e, e->now_ps + b->delay_ps, EV_BCN, message);
}

static uint32_t line_mbps(const struct ibcc_engine *e, uint32_t port)
{
	return e->topo->port[port].rate_mbps;
}

/* Room for the limiters of all queue pairs. */
static int limiters_grow(struct ibcc_engine *e)
{
	struct fab_eth *x = e->eth;
	int rc = ibcc_fab_grow(&x->limiter, &x->cap_limiter, e->n_qp, sizeof(*x->limiter));

	if (rc)
		return rc;
	while (x->n_limiter < e->n_qp)
		x->limiter[x->n_limiter++] = (struct bcn_limiter){ 0, NONE };
	return 0;
}

/* Feedback reached its source: changes the limiter of the queue pair. */
void ibcc_bcn_notify(struct ibcc_engine *e, uint32_t pkt)
{
	const struct pkt *k = &e->pkt[pkt];
	double fb = (double)(int64_t)k->born_ps / FEEDBACK_ONE, line;
	uint32_t qp = pkt_qp(e, k);
	struct bcn_limiter *l;

	if (qp == NONE)
		return;
	if (e->eth->n_limiter < e->n_qp) {
		e->err = limiters_grow(e);
		if (e->err)
			return;
	}
	l = &e->eth->limiter[qp];
	line = line_mbps(e, e->flow[k->flow].src_port);
	if (fb < 0) {
		l->mbps = ibcc_bcn_rate(&e->model.bcn, l->mbps > 0 ? l->mbps : line, fb);
		l->point = k->from;
	} else if (l->mbps > 0 && l->point == k->from) {
		l->mbps = ibcc_bcn_rate(&e->model.bcn, l->mbps, fb);
		if (l->mbps >= line)
			*l = (struct bcn_limiter){ 0, NONE };
	}
	pkt_give(e, pkt);
}

/* Tags a packet that is sent now, and makes its queue pair rest as its limiter demands. If the
 * limiter changes during that rest, the new rate counts from the next packet on.
 */
void ibcc_bcn_sent(struct ibcc_engine *e, uint32_t qp, uint32_t pkt)
{
	struct fab_eth *x = e->eth;
	const struct bcn_limiter *l = qp < x->n_limiter ? &x->limiter[qp] : NULL;

	if (pkt >= x->cap_tag) {
		uint32_t from = x->cap_tag;

		e->err = ibcc_fab_grow(&x->tag, &x->cap_tag, e->cap_pkts, sizeof(*x->tag));
		if (e->err)
			return;
		while (from < x->cap_tag)
			x->tag[from++] = NONE;
	}
	x->tag[pkt] = l && l->mbps > 0 ? l->point : NONE;
	if (x->tag[pkt] == NONE)
		return;
	e->qp[qp].ready_ps =
		e->now_ps + (uint64_t)(e->bytes[pkt_kind(&e->pkt[pkt])] * 8e6 / l->mbps);
}

uint32_t ibcc_bcn_limit_mbps(const struct ibcc_engine *e, uint32_t qp)
{
	if (!e->eth || qp >= e->eth->n_limiter)
		return 0;
	return (uint32_t)lround(e->eth->limiter[qp].mbps);
}
