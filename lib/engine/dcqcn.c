/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* DCQCN in the engine: marks at switches, CNPs at destinations, limiters at sources. What a limiter
 * does with its rate is arithmetic of its own (dcqcn_rate.c).
 *
 * Congestion point. The queue of an output and VL is averaged in steps from time 0 on. As the
 * backlog is the same from one change to the next, all steps in between are one power. A packet is
 * marked when it leaves, by a random number of its own; the output's present backlog includes it.
 * A packet that finds the output free leaves at once, and is marked by the average all the same.
 *
 * Notification point. The least time between two CNPs is counted for each queue pair or port. A
 * mark in that time is not answered, then or later.
 *
 * Reaction point. After a packet, its queue pair rests for the packet's time at the limiter's rate.
 * If the rate changes meanwhile, the new one counts from the next packet on. Where a port has one
 * limiter for each destination, the queue pairs to it on several SLs share that of the oldest, and
 * rest together. The queue pair with the limiter is called the holder.
 *
 * Sources: Y. Zhu and others, "Congestion Control for Large-Scale RDMA Deployments", 2015; for the
 * averaging and the profiles the registers CWGCR and CWTP of mstflint, which are those of the same
 * switches for Ethernet.
 */
#include "dcqcn.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <ibcc/rng.h>

#include "power.h"
#include "qps.h"

#define STEP_PS    64000u   /* of averaging, with aqs_time 0 */
#define MARK_SEED  0x6463u  /* differs from that of annex A10 */
#define MARK_SCALE 1000000u /* a share of marks is drawn in millionths */
#define TIME_MAX   24u
#define WEIGHT_MAX 15u

static const struct ibcc_dcqcn *model(const struct ibcc_engine *e)
{
	return &e->model.dcqcn;
}

/* What holds at a port. */
static const struct ibcc_dcqcn *at(const struct ibcc_engine *e, uint32_t port)
{
	return e->dcqcn->own && e->dcqcn->has_own[port] ? &e->dcqcn->own[port] : model(e);
}

/* What holds at the adapter of a queue pair. */
static const struct ibcc_dcqcn *at_source(const struct ibcc_engine *e, uint32_t qp)
{
	return e->dcqcn->own ? at(e, e->group[e->qp[qp].group].port) : model(e);
}

static bool reacts(const struct ibcc_dcqcn *d)
{
	return d->enabled && !d->no_react;
}

static bool profiles_valid(const struct ibcc_dcqcn *d)
{
	for (unsigned int i = 0; i < IBCC_DCQCN_PROFILES; i++)
		if (d->profile[i].min > d->profile[i].max || d->profile[i].percent > 100 ||
		    (d->profile[i].percentage && d->profile[i].max > 100))
			return false;
	for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++)
		if (d->sl2profile[sl] > IBCC_DCQCN_PROFILES)
			return false;
	return true;
}

static bool values_valid(const struct ibcc_dcqcn *d)
{
	return d->aqs_time <= TIME_MAX && d->aqs_weight <= WEIGHT_MAX &&
	       (d->cnp_sl < 16 || d->cnp_sl == IBCC_DCQCN_PACKET_SL) && profiles_valid(d) &&
	       d->rp.rpg_time_reset_us && d->rp.dce_tcp_rtt_us &&
	       d->rp.rate_reduce_monitor_period_us && d->rp.rpg_min_rate_mbps &&
	       d->rp.rpg_gd < 16 && d->rp.rpg_min_dec_fac <= 100 &&
	       d->rp.dce_tcp_g <= IBCC_DCQCN_ONE && d->rp.initial_alpha_value <= IBCC_DCQCN_ONE;
}

bool ibcc_dcqcn_model_valid(const struct ibcc_model *m)
{
	return !m->dcqcn.enabled || (!m->bcn.enabled && values_valid(&m->dcqcn));
}

/* How a queue is averaged from now on. Steps count from time 0. */
static void set_averaging(struct ibcc_engine *e, uint32_t outq, const struct ibcc_dcqcn *d)
{
	struct dcqcn_queue *q = &e->dcqcn->queue[outq];

	q->stays = 1 - 1.0 / (1u << d->aqs_weight);
	q->step_ps = (uint64_t)STEP_PS << d->aqs_time;
	q->steps = e->now_ps / q->step_ps;
}

int ibcc_dcqcn_build(struct ibcc_engine *e)
{
	struct fab_dcqcn *x;

	if (!model(e)->enabled)
		return 0;
	x = e->dcqcn = calloc(1, sizeof(*x));
	if (!x)
		return -ENOMEM;
	x->queue = calloc(e->n_outqs + 1u, sizeof(*x->queue));
	x->cnps = calloc(e->n_ports + 1u, sizeof(*x->cnps));
	if (!x->queue || !x->cnps)
		return -ENOMEM;
	for (uint32_t i = 0; i < e->n_outqs; i++) {
		x->queue[i].rng = (e->seed ^ MARK_SEED) + ((uint64_t)i << 32);
		set_averaging(e, i, model(e));
	}
	return 0;
}

void ibcc_dcqcn_free(struct ibcc_engine *e)
{
	if (!e->dcqcn)
		return;
	free(e->dcqcn->own);
	free(e->dcqcn->has_own);
	free(e->dcqcn->cnps);
	free(e->dcqcn->queue);
	free(e->dcqcn->limiter);
	free(e->dcqcn->next_cnp_ps);
	free(e->dcqcn);
}

void ibcc_dcqcn_backlog(struct ibcc_engine *e, uint32_t outq)
{
	struct dcqcn_queue *q = &e->dcqcn->queue[outq];
	double backlog = backlog_of(e, &e->port[outq]);
	uint64_t steps = e->now_ps / q->step_ps;

	if (steps == q->steps)
		return;
	q->average = backlog + (q->average - backlog) * power(q->stays, steps - q->steps);
	q->steps = steps;
}

/* The share of packets that a profile marks at a queue of an output and VL. */
static double mark_share(const struct ibcc_engine *e, const struct ibcc_dcqcn_profile *p,
			 uint32_t outq)
{
	double queue = e->dcqcn->queue[outq].average, unit = 1, min, max;

	if (p->percentage) {
		/* What an idle port takes at once has not been a queue. */
		queue = e->port[outq].flags & OUTQ_FRESH ? 0 : backlog_of(e, &e->port[outq]);
		unit = ibcc_fab_mark_reference(e, outq / e->n_vls) / 100.0;
	}
	min = p->min * unit;
	max = p->max * unit;
	if (queue <= min || queue < 1) /* an average fades, but never ends */
		return 0;
	return queue > max ? 1 : (queue - min) / (max - min) * p->percent / 100;
}

void ibcc_dcqcn_mark(struct ibcc_engine *e, uint32_t port, uint32_t outq, struct pkt *k)
{
	const struct ibcc_dcqcn *d = at(e, port);
	unsigned int profile = d->enabled ? d->sl2profile[k->sl] : 0;
	double share;

	ibcc_dcqcn_backlog(e, outq);
	if (!profile || k->flags & (PKT_CTRL | PKT_FECN) ||
	    (d->source_only && e->port[outq].flags & OUTQ_STARVED))
		return;
	share = mark_share(e, &d->profile[profile - 1], outq);
	if (share <= 0 ||
	    ibcc_rng_below(&e->dcqcn->queue[outq].rng, MARK_SCALE) >= share * MARK_SCALE)
		return;
	k->flags |= PKT_FECN;
	e->stat[port].mark++;
}

/* Whether enough time has passed since the last CNP. If so, it is counted from now. */
static bool is_time_for_cnp(struct ibcc_engine *e, const struct ibcc_dcqcn *d, const struct hca *h,
			    const struct pkt *k)
{
	struct fab_dcqcn *x = e->dcqcn;
	bool per_port = d->cnp_per_port;
	uint32_t i = per_port ? (uint32_t)(h - e->hca) : k->qp;
	uint32_t all = per_port ? e->n_hca : e->n_qp;

	if (!d->min_time_between_cnps_us)
		return true;
	if (i >= x->n_cnp) {
		e->err = ibcc_fab_grow(&x->next_cnp_ps, &x->cap_cnp, all, sizeof(*x->next_cnp_ps));
		if (e->err)
			return false;
		while (x->n_cnp < all)
			x->next_cnp_ps[x->n_cnp++] = 0;
	}
	if (e->now_ps < x->next_cnp_ps[i])
		return false;
	x->next_cnp_ps[i] = e->now_ps + d->min_time_between_cnps_us * IBCC_PS_PER_US;
	return true;
}

bool ibcc_dcqcn_answers(struct ibcc_engine *e, const struct hca *h, const struct pkt *k)
{
	const struct ibcc_dcqcn *d = at(e, h->port);

	if (!d->enabled || d->no_notify || !is_time_for_cnp(e, d, h, k))
		return false;
	e->dcqcn->cnps[h->port].sent++;
	return true;
}

/* Queue pairs on the SLs below share limiters; 0: none do. */
static unsigned int sls_shared(const struct ibcc_engine *e)
{
	return ibcc_dcqcn_shares(e) ? IBCC_CC_SLS : 0;
}

/* The queue pair on an SL from the port of a group, or NONE. */
static uint32_t pair_on(const struct ibcc_engine *e, uint32_t group, uint32_t dst_port,
			unsigned int sl)
{
	const struct hca *h = &e->hca[e->owner[e->group[group].port]];

	return h->group[sl] == NONE ? NONE : qp_find(&e->group[h->group[sl]], dst_port);
}

uint32_t ibcc_dcqcn_sharer(const struct ibcc_engine *e, uint32_t qp, unsigned int sl)
{
	return pair_on(e, e->qp[qp].group, e->qp[qp].dst_port, sl);
}

uint64_t ibcc_dcqcn_rest_ps(const struct ibcc_engine *e, uint32_t group, uint32_t dst_port)
{
	uint64_t rest_ps = 0;

	for (unsigned int sl = 0; sl < sls_shared(e); sl++) {
		uint32_t qp = pair_on(e, group, dst_port, sl);

		if (qp != NONE && e->qp[qp].ready_ps > rest_ps)
			rest_ps = e->qp[qp].ready_ps;
	}
	return rest_ps;
}

/* The queue pair whose limiter holds this one. */
static uint32_t holder(const struct ibcc_engine *e, uint32_t qp)
{
	uint32_t first = qp, other;

	for (unsigned int sl = 0; sl < sls_shared(e); sl++) {
		other = ibcc_dcqcn_sharer(e, qp, sl);
		first = other < first ? other : first; /* NONE is above all */
	}
	return first;
}

void ibcc_dcqcn_notified(struct ibcc_engine *e, uint32_t pkt)
{
	const struct pkt *k = &e->pkt[pkt];
	uint32_t port = e->flow[k->flow].src_port;
	struct fab_dcqcn *x = e->dcqcn;

	if (e->hca[e->owner[port]].no_cc || !reacts(at(e, port))) {
		x->cnps[port].ignored++;
		return;
	}
	x->cnps[port].handled++;
	if (x->n_limiter < e->n_qp) {
		e->err = ibcc_fab_grow(&x->limiter, &x->cap_limiter, e->n_qp, sizeof(*x->limiter));
		if (e->err)
			return;
		while (x->n_limiter < e->n_qp)
			x->limiter[x->n_limiter++] = (struct ibcc_dcqcn_limiter){ .on = false };
	}
	ibcc_dcqcn_cnp(&at(e, port)->rp, &x->limiter[holder(e, k->qp)],
		       e->speed[port_of(e, port)->speed].rate_mbps, e->now_ps);
}

void ibcc_dcqcn_sent_by(struct ibcc_engine *e, uint32_t qp, unsigned int kind)
{
	struct ibcc_dcqcn_limiter *l;
	uint64_t ready_ps;
	uint32_t of, other;

	if (qp == NONE) /* out of memory */
		return;
	of = holder(e, qp);
	if (of >= e->dcqcn->n_limiter)
		return;
	l = &e->dcqcn->limiter[of];
	if (!l->on)
		return;
	ibcc_dcqcn_sent(&at_source(e, qp)->rp, l, e->bytes[kind], e->now_ps);
	if (!l->on)
		return;
	ready_ps = e->now_ps + (uint64_t)(e->bytes[kind] * 8e6 / l->mbps);
	e->qp[qp].ready_ps = ready_ps;
	for (unsigned int sl = 0; sl < sls_shared(e); sl++) {
		other = ibcc_dcqcn_sharer(e, qp, sl);
		if (other != NONE)
			e->qp[other].ready_ps = ready_ps;
	}
}

uint32_t ibcc_dcqcn_limit_mbps(const struct ibcc_engine *e, uint32_t qp)
{
	struct ibcc_dcqcn_limiter l;
	uint32_t of;

	if (qp == NONE)
		return 0;
	of = holder(e, qp);
	if (of >= e->dcqcn->n_limiter)
		return 0;
	l = e->dcqcn->limiter[of]; /* a copy: reading changes nothing */
	ibcc_dcqcn_advance(&at_source(e, qp)->rp, &l, e->now_ps);
	return l.on ? (uint32_t)lround(fmax(l.mbps, 1)) : 0;
}

void ibcc_dcqcn_port_read(const struct ibcc_engine *e, uint32_t port, struct ibcc_engine_port *out)
{
	const struct dcqcn_cnps *c = &e->dcqcn->cnps[port];

	out->cnp_sent = c->sent;
	out->cnp_handled = c->handled;
	out->cnp_ignored = c->ignored;
}

/* Makes room for what ports have of their own. */
static int own_new(struct ibcc_engine *e)
{
	struct fab_dcqcn *x = e->dcqcn;

	if (x->own)
		return 0;
	x->has_own = calloc(e->n_ports + 1u, sizeof(*x->has_own));
	x->own = x->has_own ? calloc(e->n_ports + 1u, sizeof(*x->own)) : NULL;
	if (x->own)
		return 0;
	free(x->has_own);
	x->has_own = NULL;
	return -ENOMEM;
}

/* Ends the limiters of an adapter's port. */
static void end_limiters(struct ibcc_engine *e, uint32_t port)
{
	const struct hca *h = &e->hca[e->owner[port]];

	for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++) {
		const struct group *g = h->group[sl] == NONE ? NULL : &e->group[h->group[sl]];

		for (uint32_t i = 0; g && i < qp_places(g); i++) {
			uint32_t qp = qp_at(g, i);

			if (qp != NONE && qp < e->dcqcn->n_limiter)
				e->dcqcn->limiter[qp].on = false;
		}
	}
}

int ibcc_engine_set_dcqcn(struct ibcc_engine *e, uint32_t port, const struct ibcc_dcqcn *d)
{
	const struct ibcc_dcqcn *m = model(e);
	struct ibcc_dcqcn *own;

	if (port >= e->n_ports || !values_valid(d))
		return -EINVAL;
	if (!e->dcqcn)
		return 0;
	if (own_new(e))
		return -ENOMEM;
	for (unsigned int vl = 0; vl < e->n_vls; vl++)
		ibcc_dcqcn_backlog(e, port * e->n_vls + vl);
	own = &e->dcqcn->own[port];
	*own = *d;
	own->cnp_per_port = m->cnp_per_port;
	own->cnp_sl = m->cnp_sl;
	own->shaper_per_lid = m->shaper_per_lid;
	own->source_only = m->source_only;
	e->dcqcn->has_own[port] = true;
	if (!(port_of(e, port)->flags & PORT_SWITCH) && !reacts(own))
		end_limiters(e, port);
	for (unsigned int vl = 0; vl < e->n_vls; vl++)
		set_averaging(e, port * e->n_vls + vl, own);
	return 0;
}

const struct ibcc_dcqcn *ibcc_engine_dcqcn(const struct ibcc_engine *e, uint32_t port)
{
	return e->dcqcn && port < e->n_ports ? at(e, port) : NULL;
}

const struct ibcc_dcqcn *ibcc_engine_dcqcn_model(const struct ibcc_engine *e)
{
	return e->dcqcn ? model(e) : NULL;
}
