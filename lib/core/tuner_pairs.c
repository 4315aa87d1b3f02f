/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which pairs of source and destination send through a root, and how much.
 *
 * A pair's share of the packets that a switch logged as marked is its share of the root's rate. But
 * a log has few packets of each pair. Where a source is logged for one root alone all its BECNs are
 * that one's, and count its packets exactly. Counts fade, and begin anew where nothing can be
 * learned: while a tree is emptied everybody hardly sends.
 */
#include "tuner_pairs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner_state.h"

#define FADE       0.05 /* of what was counted, in a pass, ... */
#define KEPT       80.0 /* ... but no more than so many packets need to take its place */
#define GONE       0.05 /* packets: a pair with fewer is forgotten */
#define MEAN_OF    4.0  /* passes, for a rate to be believed */
#define WAIT_SHARE 200u /* permille: a receiver that lets its port wait takes all that it can */
#define FOLLOW     0.1  /* of the difference, in a pass */

void ibcc_tuner_pairs_fini(struct ibcc_tuner_pairs *p)
{
	free(p->pair);
	free(p->becn);
	free(p->logged);
	*p = (struct ibcc_tuner_pairs){ 0 };
}

double ibcc_tuner_carried_mbps(const struct ibcc_tuner_pairs *p)
{
	return p->passes > 0 ? p->sent_mbps / p->passes : 0;
}

static void forget(struct ibcc_tuner_root *r, uint32_t n_endports)
{
	r->pairs.n = 0;
	r->pairs.samples = r->pairs.marks = 0;
	r->pairs.sent_mbps = r->pairs.passes = 0;
	r->told.on = false;
	memset(r->pairs.becn, 0, n_endports * sizeof(*r->pairs.becn));
	memset(r->pairs.logged, 0, n_endports * sizeof(*r->pairs.logged));
}

/* What was counted fades as far as something new takes its place: a root with few sources at a long
 * timer marks hardly any packets. It does not outlive marks that stay away.
 */
static double fading(const struct ibcc_tuner_pairs *p, const struct ibcc_pair *now, uint32_t n)
{
	double packets = 0;

	if (p->unlogged >= IBCC_TUNER_UNLOGGED_MAX)
		return FADE;
	for (uint32_t i = 0; i < n; i++)
		packets += now[i].packets;
	return fmin(FADE, packets / KEPT);
}

static void fade(struct ibcc_tuner_pairs *p, double share)
{
	uint32_t n = 0;

	p->unlogged += p->unlogged < UINT16_MAX;
	p->samples = 0;
	for (uint32_t i = 0; i < p->n; i++) {
		struct ibcc_tuner_pair *q = &p->pair[i];

		q->logged *= 1 - share;
		if (q->logged < GONE)
			continue;
		p->samples += q->logged;
		p->pair[n++] = *q;
	}
	p->n = n;
	p->sent_mbps *= 1 - FADE;
	p->passes *= 1 - FADE;
}

/* What a slow receiver can take is known only from when it takes all that it can: when its port
 * waits for it, or sends more than was known. One that pauses says nothing about that.
 */
static void note_rate(struct ibcc_tuner_root *r, const struct ibcc_port_sample *s)
{
	struct ibcc_tuner_pairs *p = &r->pairs;
	double mbps, mean;

	if (s->state != IBCC_SAMPLE_FRESH || !ibcc_delta_exact(&s->delta, IBCC_CTR_XMIT_DATA) ||
	    !ibcc_delta_exact(&s->delta, IBCC_CTR_XMIT_WAIT))
		return;
	mbps = ibcc_delta_xmit_mbps(&s->delta);
	if (!(p->capacity_mbps > 0))
		p->capacity_mbps = r->rate_mbps;
	if (mbps * IBCC_TUNER_PAUSE_SHARE < p->capacity_mbps)
		return;
	p->sent_mbps += mbps;
	p->passes += 1;
	mean = ibcc_tuner_carried_mbps(p);
	if (ibcc_delta_wait_permille(&s->delta, s->tick_ps) > WAIT_SHARE)
		p->capacity_mbps += FOLLOW * (mbps - p->capacity_mbps);
	else if (p->passes >= MEAN_OF && mean > p->capacity_mbps)
		p->capacity_mbps = mean;
}

static bool learns(const struct ibcc_tuner_root *r)
{
	return r->on && r->in_force && !r->lost && !r->drain && !r->probe;
}

/* Does an endport contribute to another root that marks, and of which nothing is learned now? */
static bool is_marked_elsewhere(const struct ibcc_tuner *tn, const struct ibcc_tuner_root *r,
				uint32_t i)
{
	for (uint32_t k = 0; k < tn->n_roots; k++) {
		const struct ibcc_tuner_root *o = &tn->root[k];

		if (o != r && o->on && !learns(o) && o->member[i])
			return true;
	}
	return false;
}

static void note_becns(const struct ibcc_tuner *tn, struct ibcc_tuner_root *r, double share,
		       const struct ibcc_topo *t, const struct ibcc_snapshot *s)
{
	for (uint32_t i = 0; i < tn->n_endports; i++) {
		const struct ibcc_port_sample *port = &s->port[t->endport[i]];

		r->pairs.becn[i] *= 1 - share;
		if (port->state == IBCC_SAMPLE_FRESH &&
		    ibcc_delta_exact(&port->delta, IBCC_CTR_RCV_BECN) &&
		    !is_marked_elsewhere(tn, r, i))
			r->pairs.becn[i] += (double)port->delta.v[IBCC_CTR_RCV_BECN];
	}
}

static int add(struct ibcc_tuner_pairs *p, const struct ibcc_pair *now)
{
	uint32_t i = 0;

	while (i < p->n && (p->pair[i].src != now->src || p->pair[i].dlid != now->dlid))
		i++;
	if (i == p->cap) {
		uint32_t cap = p->cap ? 2 * p->cap : 16;
		struct ibcc_tuner_pair *bigger = reallocarray(p->pair, cap, sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		p->pair = bigger;
		p->cap = cap;
	}
	if (i == p->n)
		p->pair[p->n++] = (struct ibcc_tuner_pair){ .src = now->src, .dlid = now->dlid };
	p->pair[i].logged += now->packets;
	p->samples += now->packets;
	p->unlogged = 0;
	return 0;
}

static void sum_sources(struct ibcc_tuner_pairs *p, const struct ibcc_topo *t, uint32_t n_endports)
{
	memset(p->logged, 0, n_endports * sizeof(*p->logged));
	for (uint32_t i = 0; i < p->n; i++)
		p->logged[t->port[p->pair[i].src].endport] += p->pair[i].logged;
}

static bool is_logged_elsewhere(const struct ibcc_tuner *tn, uint32_t k, uint32_t i)
{
	for (uint32_t l = 0; l < tn->n_roots; l++)
		if (l != k && tn->root[l].pairs.logged[i] >= 1)
			return true;
	return false;
}

/* Marks of each pair: BECNs where they are known to be the root's, else as many as its packets in
 * the log stand for.
 */
static void weigh(struct ibcc_tuner *tn, const struct ibcc_topo *t, uint32_t k)
{
	struct ibcc_tuner_pairs *p = &tn->root[k].pairs;
	double marks = 0, logged = 0;

	p->marks = 0;
	for (uint32_t i = 0; i < p->n; i++) {
		struct ibcc_tuner_pair *q = &p->pair[i];
		uint32_t ep = t->port[q->src].endport;
		double part;

		q->marks = 0;
		q->chance = 1 / q->logged;
		if (p->becn[ep] < 1 || is_logged_elsewhere(tn, k, ep))
			continue;
		part = q->logged / p->logged[ep];
		q->marks = part * p->becn[ep];
		q->chance = 1 / p->becn[ep] + (1 - part) / q->logged;
		marks += q->marks;
		logged += q->logged;
	}
	for (uint32_t i = 0; i < p->n; i++) {
		struct ibcc_tuner_pair *q = &p->pair[i];

		if (!(q->marks > 0))
			q->marks = logged > 0 ? q->logged * marks / logged : q->logged;
		p->marks += q->marks;
	}
}

int ibcc_tuner_count_pairs(struct ibcc_tuner *tn, const struct ibcc_topo *t,
			   const struct ibcc_snapshot *s, const struct ibcc_estimate *e)
{
	for (uint32_t k = 0; k < tn->n_roots; k++) {
		struct ibcc_tuner_root *r = &tn->root[k];
		const struct ibcc_pair *now;
		double share;
		uint32_t n;

		if (!learns(r)) {
			forget(r, tn->n_endports);
			continue;
		}
		now = ibcc_estimate_pairs_of(e, r->port, &n);
		share = fading(&r->pairs, now, n);
		fade(&r->pairs, share);
		note_becns(tn, r, share, t, s);
		note_rate(r, &s->port[r->port]);
		for (uint32_t i = 0; i < n; i++) {
			int ret = add(&r->pairs, &now[i]);

			if (ret)
				return ret;
		}
	}
	for (uint32_t k = 0; k < tn->n_roots; k++)
		sum_sources(&tn->root[k].pairs, t, tn->n_endports);
	for (uint32_t k = 0; k < tn->n_roots; k++)
		weigh(tn, t, k);
	return 0;
}
