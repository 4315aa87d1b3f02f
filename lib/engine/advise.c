/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Advice on DCQCN (advise.h): the profile of advice.h, tried on the twin of the fabric. First the
 * traffic that was inferred from counters, then traffic that all hosts exchange, without
 * congestion.
 */
#include <ibcc/advise.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/traffic.h>
#include <ibcc/twin.h>

#include "dcqcn.h"

/* All-to-all traffic: each host sends to this many others at most, and the fullest link is busy by
 * this share.
 */
#define PEERS 16u
#define BUSY  0.8

void ibcc_advise_fini(struct ibcc_advise *a)
{
	ibcc_prediction_fini(&a->p);
}

void ibcc_advise_dcqcn(const struct ibcc_advice *profile, const struct ibcc_dcqcn_rp *rp,
		       struct ibcc_dcqcn *d)
{
	*d = (struct ibcc_dcqcn){
		.enabled = true,
		.cnp_sl = IBCC_DCQCN_PACKET_SL,
		.profile[0] = { .min = profile->min_bytes,
				.max = profile->max_bytes,
				.percent = (uint8_t)profile->percent },
		.rp = *rp,
	};
	memset(d->sl2profile, 1, sizeof(d->sl2profile));
}

/* Ports that wait to send into the switch of a root: each has filled its buffer there. */
static uint32_t count_feeds(const struct ibcc_prediction_in *in, uint32_t root)
{
	const struct ibcc_topo *t = in->t;
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n_ports; i++) {
		uint32_t peer = t->port[i].peer;

		n += peer != IBCC_NONE && t->port[peer].node == t->port[root].node &&
		     peer != root && in->now->wait[i] > IBCC_LOADS_WAIT;
	}
	return n ? n : 1;
}

static int make_profile(const struct ibcc_advise_in *in, struct ibcc_advise *a)
{
	const struct ibcc_prediction_in *p = &in->p;
	struct ibcc_advice_root *root = calloc(p->n_roots + 1u, sizeof(*root));
	struct ibcc_advice_in make = { .rp = in->rp,
				       .packet_bytes = p->packet_bytes,
				       .buffer_bytes = p->buffer_bytes,
				       .n_roots = p->n_roots,
				       .root = root };

	if (!root)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->n_roots; i++)
		root[i] = (struct ibcc_advice_root){
			.mbps = p->root[i].rate_mbps,
			.n = p->root[i].n_contributors ? p->root[i].n_contributors : 1,
			.feeds = count_feeds(p, p->root[i].port),
		};
	a->profile_rc = ibcc_advice_make(&make, &a->profile);
	if (!a->profile_rc) {
		a->root = root[a->profile.root];
		a->root_port = p->root[a->profile.root].port;
	}
	free(root);
	return 0;
}

static double change(const struct ibcc_amount *a)
{
	return a->now_mbps > 0 ? a->expected_mbps / a->now_mbps - 1 : 0;
}

/* Predicts the profile, both as all outputs mark and as only those with credits do. */
static int predict(const struct ibcc_advise_in *in, const struct ibcc_dcqcn *dcqcn,
		   struct ibcc_advise *a)
{
	struct ibcc_prediction_in one = in->p;
	struct ibcc_dcqcn d = *dcqcn;
	struct ibcc_prediction p;
	int rc;

	one.dcqcn = &d;
	rc = ibcc_predict(&one, &a->p);
	if (rc || !a->p.known)
		return rc;
	d.source_only = true;
	rc = ibcc_predict(&one, &p);
	if (rc)
		return rc;
	a->worst_total = fmin(change(&a->p.total), change(&p.total));
	a->worst_victims = fmin(change(&a->p.victims), change(&p.victims));
	a->source_only = !p.known || change(&p.total) > change(&a->p.total);
	if (a->source_only) {
		ibcc_prediction_fini(&a->p);
		a->p = p;
	} else {
		ibcc_prediction_fini(&p);
	}
	return 0;
}

static double sum_of(const struct ibcc_traffic *t, const double *mbps)
{
	double sum = 0;

	for (uint32_t i = 0; i < t->n_pairs; i++)
		sum += mbps[i];
	return sum;
}

/* -ECANCELED: the CPU time is over. */
static int run_all(const struct ibcc_twin_in *in, double *share)
{
	struct ibcc_twin_state off = { 0 }, on = { 0 };
	int rc;
	struct ibcc_twin *w = ibcc_twin_new(in, &rc);

	if (!w)
		return rc;
	rc = ibcc_twin_replay(w, &off);
	if (!rc)
		rc = ibcc_twin_try(w, in->now, &on);
	if (!rc)
		*share = sum_of(in->traffic, on.pair_mbps) /
			 fmax(sum_of(in->traffic, off.pair_mbps), 1);
	ibcc_twin_state_fini(&off);
	ibcc_twin_state_fini(&on);
	ibcc_twin_free(w);
	return rc;
}

static int try_quiet(const struct ibcc_advise_in *in, const struct ibcc_dcqcn *d, double *share)
{
	struct ibcc_traffic all;
	const struct ibcc_twin_in twin = {
		.t = in->p.t,
		.traffic = &all,
		.now = in->p.actual,
		.packet_bytes = in->p.packet_bytes,
		.dcqcn = d,
		.buffer_bytes = in->p.buffer_bytes,
		.cpu_ns = in->p.cpu_ns,
		.arg = in->p.arg,
		.until_ns = in->p.cpu_ns ? in->p.cpu_ns(in->p.arg) + in->p.budget_ns / 2 : 0,
	};
	int rc = ibcc_traffic_all(in->p.t, PEERS, BUSY, &all);

	if (rc)
		return rc;
	rc = run_all(&twin, share);
	ibcc_traffic_fini(&all);
	return rc == -ECANCELED ? 0 : rc;
}

static enum ibcc_advise_verdict judge(const struct ibcc_advise *a)
{
	if (!a->p.known || isnan(a->quiet))
		return IBCC_ADVISE_OFF_NOT_TRIED;
	if (a->worst_total < -IBCC_ADVISE_MAY_LOSE || a->worst_victims < -IBCC_ADVISE_MAY_LOSE)
		return IBCC_ADVISE_OFF_COSTS;
	if (change(&a->p.total) < IBCC_ADVISE_LEAST_GAIN)
		return IBCC_ADVISE_OFF_NOTHING;
	return a->quiet < 1 - IBCC_ADVISE_MAY_LOSE ? IBCC_ADVISE_OFF_QUIET : IBCC_ADVISE_ON;
}

int ibcc_advise(const struct ibcc_advise_in *in, struct ibcc_advise *a)
{
	struct ibcc_model m = { .bcn.enabled = false };
	int rc;

	*a = (struct ibcc_advise){ .verdict = IBCC_ADVISE_OFF_NO_CONGESTION, .quiet = NAN };
	if (!in->p.n_roots)
		return 0;
	rc = make_profile(in, a);
	if (rc)
		return rc;
	a->verdict = IBCC_ADVISE_OFF_NO_PROFILE;
	if (a->profile_rc)
		return 0;
	ibcc_advise_dcqcn(&a->profile, in->rp, &m.dcqcn);
	if (!ibcc_dcqcn_model_valid(&m)) { /* parameters that no limiter can have */
		a->profile_rc = -EINVAL;
		return 0;
	}
	rc = predict(in, &m.dcqcn, a);
	if (!rc && a->p.known)
		rc = try_quiet(in, &m.dcqcn, &a->quiet);
	if (rc)
		ibcc_advise_fini(a);
	else
		a->verdict = judge(a);
	return rc;
}
