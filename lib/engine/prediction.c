/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The prediction of what a plan brings (prediction.h), from the loads of links now and before
 * congestion.
 *
 * First ibcc_traffic_infer() infers which hosts send how much to which. Then the present is
 * replayed with that traffic on the packet engine (a twin). Only if the replay agrees with the
 * counters does the twin go on with the plan. Where amounts cannot be predicted, the roots' own
 * rates often still can. Each refusal has a reason (enum ibcc_prediction_why). Begin with run(), at
 * the end.
 */
#include <ibcc/prediction.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <ibcc/parameters.h>
#include <ibcc/traffic.h>
#include <ibcc/twin.h>

#include "least.h"

/* DCQCN marks at any link, so its twin has all traffic as packets, which takes too long on larger
 * fabrics.
 */
#define DCQCN_MAX_HOSTS 1000u
#define MOST_AGE_NS     (3600ull * 1000000000ull)
#define MOST_MOVED      0.10
/* How far a replay may be off in links' rates and in adapters' waits. If only the roots' own rates
 * are predicted, links' rates alone count (ROOT_RATE_OFF).
 */
#define MOST_RATE_OFF 0.06
#define MOST_WAIT_OFF 0.15
#define ROOT_RATE_OFF 0.08
/* Above this share of new traffic that passes no known root, amounts are not predicted: a root may
 * be hidden. A share of all that waiting adapters send.
 */
#define MOST_ELSEWHERE 0.05
/* The same limit for the roots' own rates. It is far lower: once the sources of such traffic are
 * freed, its destination becomes the next root and takes senders away from the known ones.
 */
#define ROOT_ELSEWHERE 0.0005

/* Half the width of ranges is larger by this if a run was brief. Measured on drawn scenarios:
 * doc/internals/notebook.md.
 */
#define BRIEF_MARGIN 0.03

/* How inexact rates over a few intervals are, and what is fitted to them. */
#define COUNTERS_OFF 0.02

struct predictor {
	const struct ibcc_prediction_in *in;
	struct ibcc_prediction *p;
	struct ibcc_traffic_root root[IBCC_ROOTS_MAX];
	uint32_t n_roots;
	struct ibcc_traffic traffic;
	bool *waits;                  /* by port: an adapter's that waits now */
	double least[IBCC_ROOTS_MAX]; /* by root: lower bound of its rate (least.h) */
	uint64_t start_ns;
	uint64_t hops; /* of replays so far */
	double brief;  /* what brief runs add to half the width of ranges */
};

void ibcc_prediction_fini(struct ibcc_prediction *p)
{
	free(p->root);
	free(p->open);
	free(p->sent_mbps);
	*p = (struct ibcc_prediction){ 0 };
}

double ibcc_prediction_margin(double change)
{
	return 0.08 + 0.15 * fabs(change);
}

static bool is_out_of_time(const struct predictor *r)
{
	uint64_t now = r->in->cpu_ns ? r->in->cpu_ns(r->in->arg) : 0;

	return now == UINT64_MAX || now - r->start_ns > r->in->budget_ns;
}

static struct ibcc_amount amount(double now, double factor, double margin)
{
	return (struct ibcc_amount){ .now_mbps = now,
				     .expected_mbps = now * factor,
				     .low_mbps = now * fmax(factor - margin, 0),
				     .high_mbps = now * (factor + margin) };
}

/* The range from a share of the present rate to all of it, widened by the counters' inexactness. */
static struct ibcc_amount bounds(double now, double least)
{
	return (struct ibcc_amount){ .now_mbps = now,
				     .low_mbps = now * fmax(least - COUNTERS_OFF, 0),
				     .high_mbps = now * (1 + COUNTERS_OFF) };
}

static double ratio(double then, double now)
{
	return now > 0 ? then / now : 1;
}

/* What waiting sources send past the roots, Mb/s; by rate[], or (NULL) as it is now. */
static double victims_of(const struct predictor *r, const double *rate)
{
	double sum = 0;

	for (uint32_t i = 0; i < r->traffic.n_pairs; i++)
		if (r->traffic.pair[i].root == IBCC_NONE && r->waits[r->traffic.pair[i].src])
			sum += rate ? rate[i] : r->traffic.pair[i].carried;
	return sum;
}

/* Mean latency of the packets that pass no root, us; 0 without any. */
static double others_us(const struct predictor *r, const struct ibcc_twin_state *s)
{
	double sum = 0, all = 0;

	for (uint32_t i = 0; i < r->traffic.n_pairs; i++) {
		if (r->traffic.pair[i].root != IBCC_NONE)
			continue;
		sum += s->pair_us[i] * s->pair_mbps[i];
		all += s->pair_mbps[i];
	}
	return all > 0 ? sum / all : 0;
}

static double sum_of(const struct predictor *r, const double *rate)
{
	double sum = 0;

	for (uint32_t i = 0; i < r->traffic.n_pairs; i++)
		sum += rate[i];
	return sum;
}

static void set_amounts(struct predictor *r, double total, double victims)
{
	struct ibcc_prediction *p = r->p;

	p->total = amount(ibcc_loads_sent(r->in->now, r->in->t), total,
			  ibcc_prediction_margin(total - 1) + r->brief);
	p->victims = amount(victims_of(r, NULL), victims,
			    ibcc_prediction_margin(victims - 1) + r->brief);
}

static void set_root(struct predictor *r, uint32_t i, double factor)
{
	const struct ibcc_traffic_root *root = &r->root[i];

	r->p->root[i] =
		(struct ibcc_predicted_root){ root->port,
					      amount(r->in->now->mbps[root->port], factor,
						     IBCC_PREDICTION_ROOT_MARGIN + r->brief) };
}

/* Compares the replay with the counters. -EDOM: they do not agree. */
static int judge_replay(struct predictor *r, const struct ibcc_twin_state *s, bool amounts)
{
	const struct ibcc_topo *t = r->in->t;
	const struct ibcc_loads *now = r->in->now;
	double off = 0, all = 0, wait = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n_ports; i++) {
		if (t->port[i].peer == IBCC_NONE)
			continue;
		off += fabs(s->mbps[i] - now->mbps[i]);
		all += now->mbps[i];
		if (ibcc_topo_is_switch(t, t->port[i].node) ||
		    (now->wait[i] <= IBCC_LOADS_WAIT && s->wait[i] <= IBCC_LOADS_WAIT))
			continue;
		wait += fabs(s->wait[i] - now->wait[i]);
		n++;
	}
	off = all > 0 ? off / all : 0;
	wait = n ? wait / n : 0;
	if (!amounts)
		return off <= ROOT_RATE_OFF ? 0 : -EDOM;
	r->p->replayed = true;
	r->p->replay_rate = off;
	r->p->replay_wait = wait;
	return off <= MOST_RATE_OFF && wait <= MOST_WAIT_OFF ? 0 : -EDOM;
}

/* Runs the twin under the wanted settings. */
static int try_wanted(struct predictor *r, struct ibcc_twin *w, const struct ibcc_twin_state *now,
		      bool amounts)
{
	struct ibcc_twin_state then;
	int rc = ibcc_twin_try(w, r->in->wanted, &then);

	if (rc)
		return rc;
	r->brief = now->brief || then.brief ? BRIEF_MARGIN : 0;
	if (amounts) {
		set_amounts(r, ratio(sum_of(r, then.pair_mbps), sum_of(r, now->pair_mbps)),
			    ratio(victims_of(r, then.pair_mbps), victims_of(r, now->pair_mbps)));
		r->p->now_us = others_us(r, now);
		r->p->expected_us = others_us(r, &then);
	}
	for (uint32_t i = 0; i < r->n_roots; i++)
		set_root(r, i, ratio(then.mbps[r->root[i].port], now->mbps[r->root[i].port]));
	if (amounts) {
		r->p->sent_mbps = then.mbps;
		then.mbps = NULL;
	}
	ibcc_twin_state_fini(&then);
	return 0;
}

/* Whether the rate of some root is open. Roots share sources and links: one is enough. */
static bool are_open(const struct predictor *r)
{
	bool open = false;

	for (uint32_t i = 0; i < r->n_roots; i++)
		open |= r->least[i] < 1 - 2 * IBCC_PREDICTION_ROOT_MARGIN;
	return open;
}

/* Predicts with the packet engine, with amounts or only the roots' rates. */
static int run_twin(struct predictor *r, bool amounts)
{
	/* With 1 hop runs have their shortest lengths; 0 would be no limit. */
	uint64_t left = r->hops < IBCC_PREDICTION_HOPS ? IBCC_PREDICTION_HOPS - r->hops : 1;
	struct ibcc_twin_in in = { .t = r->in->t,
				   .traffic = &r->traffic,
				   .n_roots = r->n_roots,
				   .root = r->root,
				   .now = r->in->actual,
				   .wait = r->in->dcqcn ? NULL : r->in->now->wait,
				   .packet_bytes = r->in->packet_bytes,
				   .dcqcn = r->in->dcqcn,
				   .buffer_bytes = r->in->buffer_bytes,
				   .most_hops = r->in->dcqcn ? 0 : left,
				   .any_demand = !amounts,
				   .cpu_ns = r->in->cpu_ns,
				   .arg = r->in->arg,
				   .until_ns = r->start_ns + r->in->budget_ns };
	struct ibcc_twin_state now;
	int rc;
	struct ibcc_twin *w = ibcc_twin_new(&in, &rc);

	if (!w)
		return rc;
	rc = ibcc_twin_replay(w, &now);
	r->hops += now.hops;
	if (!rc)
		rc = judge_replay(r, &now, amounts);
	if (!rc)
		rc = try_wanted(r, w, &now, amounts);
	ibcc_twin_state_fini(&now);
	ibcc_twin_free(w);
	return rc;
}

/* Infers the present traffic; without history, demands are what is sent now. */
static int infer(struct predictor *r, bool history)
{
	const struct ibcc_traffic_in in = { .t = r->in->t,
					    .before = history ? r->in->before : NULL,
					    .now = r->in->now,
					    .n_roots = r->n_roots,
					    .root = r->root };
	int rc;

	ibcc_traffic_fini(&r->traffic);
	rc = ibcc_traffic_infer(&in, &r->traffic);
	if (rc || r->in->dcqcn)
		return rc;
	return ibcc_least_rates(&in, &r->traffic, r->in->wanted, r->least);
}

/* The share of what waiting adapters send that is new and passes no known root. */
static double elsewhere(const struct predictor *r)
{
	double all = 0, is = 0;

	for (uint32_t i = 0; i < r->traffic.n_pairs; i++) {
		const struct ibcc_traffic_pair *p = &r->traffic.pair[i];

		if (!r->waits[p->src])
			continue;
		all += p->carried;
		is += p->fresh && p->root == IBCC_NONE ? p->carried : 0;
	}
	return all > 0 ? is / all : 0;
}

/* Predicts with packets. -EXDEV: too much new traffic passes no known root; -EDOM: the replay
 * disagrees; -ECANCELED: no CPU time is left.
 */
static int by_engine(struct predictor *r, bool history)
{
	int rc = infer(r, history);

	if (rc)
		return rc;
	if (history) {
		r->p->misfit = r->traffic.misfit;
		r->p->elsewhere = elsewhere(r);
	}
	if (history && r->p->elsewhere > MOST_ELSEWHERE)
		return -EXDEV;
	/* Open roots without amounts: nothing is left to predict. */
	if (!history && are_open(r))
		return 0;
	return run_twin(r, history);
}

/* What rules out a prediction of amounts beforehand, or TELLS. */
static enum ibcc_prediction_why forbidden(const struct ibcc_prediction_in *in)
{
	if (!in->n_roots)
		return IBCC_PREDICTION_NO_CONGESTION;
	if (in->refuse != IBCC_PREDICTION_TELLS)
		return in->refuse;
	if (ibcc_loads_held(in->t, in->actual))
		return IBCC_PREDICTION_CONTROLLED;
	if (!in->before || !in->before->n)
		return IBCC_PREDICTION_NO_BASELINE;
	if (in->age_ns > MOST_AGE_NS)
		return IBCC_PREDICTION_OLD_BASELINE;
	return in->moved > MOST_MOVED ? IBCC_PREDICTION_MOVED : IBCC_PREDICTION_TELLS;
}

static uint32_t count_hosts(const struct ibcc_topo *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n_nodes; i++)
		n += !ibcc_topo_is_switch(t, i);
	return n;
}

/* Decides which roots' predictions are kept. Full links stay nearly full. But whether a slow
 * receiver's sources keep it busy while they are throttled depends on which hosts they are, which
 * is known only with amounts. Without amounts, open roots have no bounds either: a closed loop to
 * all hosts stops for each that is throttled.
 */
static void keep_told(struct predictor *r)
{
	struct ibcc_prediction *p = r->p;
	bool open = are_open(r), slow = false;

	p->n_roots = p->n_open = 0;
	for (uint32_t i = 0; i < r->n_roots && p->elsewhere <= ROOT_ELSEWHERE; i++) {
		uint32_t port = r->root[i].port;

		if (!p->known && r->root[i].kind != IBCC_CONGESTION_INPUT)
			slow = true;
		else if (!open)
			p->root[p->n_roots++] = p->root[i];
		else if (p->known)
			p->open[p->n_open++] =
				(struct ibcc_predicted_root){ port, bounds(r->in->now->mbps[port],
									   r->least[i]) };
	}
	p->roots_why = p->elsewhere > ROOT_ELSEWHERE ? IBCC_PREDICTION_ELSEWHERE
		       : open                        ? IBCC_PREDICTION_OPEN
		       : slow                        ? IBCC_PREDICTION_SLOW
						     : IBCC_PREDICTION_TELLS;
}

/* Whether the roots' own rates may be predicted though amounts cannot. */
static bool may_tell_roots(struct predictor *r)
{
	switch (r->p->why) {
	case IBCC_PREDICTION_CONTROLLED:
	case IBCC_PREDICTION_NO_BASELINE:
	case IBCC_PREDICTION_OLD_BASELINE:
	case IBCC_PREDICTION_REPLAY:
	case IBCC_PREDICTION_ELSEWHERE:
		return r->p->elsewhere <= ROOT_ELSEWHERE && !is_out_of_time(r);
	case IBCC_PREDICTION_TELLS:
	case IBCC_PREDICTION_NO_CONGESTION:
	case IBCC_PREDICTION_NO_PLAN:
	case IBCC_PREDICTION_MOVED:
	case IBCC_PREDICTION_STALE:
	case IBCC_PREDICTION_ADAPTIVE:
	case IBCC_PREDICTION_VLS:
	case IBCC_PREDICTION_NO_CC:
	case IBCC_PREDICTION_CPU:
	case IBCC_PREDICTION_LARGE:
	case IBCC_PREDICTION_OPEN:
	case IBCC_PREDICTION_SLOW:
	case IBCC_PREDICTION_FAILED: return false;
	}
	return false;
}

static int set_up(struct predictor *r)
{
	const struct ibcc_prediction_in *in = r->in;

	r->n_roots = in->n_roots < IBCC_ROOTS_MAX ? in->n_roots : IBCC_ROOTS_MAX;
	r->waits = calloc(in->t->n_ports + 1u, sizeof(*r->waits));
	r->p->root = calloc(r->n_roots + 1u, sizeof(*r->p->root));
	r->p->open = calloc(r->n_roots + 1u, sizeof(*r->p->open));
	if (!r->waits || !r->p->root || !r->p->open)
		return -ENOMEM;
	for (uint32_t i = 0; i < in->t->n_ports; i++)
		r->waits[i] = !ibcc_topo_is_switch(in->t, in->t->port[i].node) &&
			      in->now->wait[i] > IBCC_LOADS_WAIT;
	for (uint32_t i = 0; i < r->n_roots; i++)
		r->root[i] = (struct ibcc_traffic_root){
			.port = in->root[i].port,
			.kind = in->root[i].kind,
			.rate_mbps = (uint32_t)fmax(lround(in->now->mbps[in->root[i].port]), 1),
			.becns = in->root[i].n_marked ? in->root[i].becns : NULL,
		};
	return 0;
}

/* First amounts, from history; if that fails, the roots' own rates from the present. */
static int run(struct predictor *r)
{
	struct ibcc_prediction *p = r->p;
	int rc = 0;

	p->why = forbidden(r->in);
	if (p->why == IBCC_PREDICTION_TELLS && r->in->dcqcn &&
	    count_hosts(r->in->t) > DCQCN_MAX_HOSTS)
		p->why = IBCC_PREDICTION_LARGE;
	p->roots_why = p->why;
	if (p->why == IBCC_PREDICTION_NO_CONGESTION)
		return 0;
	if (p->why == IBCC_PREDICTION_TELLS) {
		p->basis = IBCC_PREDICTION_HISTORY;
		rc = by_engine(r, true);
		if (rc == -EDOM)
			p->why = IBCC_PREDICTION_REPLAY;
		else if (rc == -EXDEV)
			p->why = IBCC_PREDICTION_ELSEWHERE;
		else if (rc == -ECANCELED)
			p->why = IBCC_PREDICTION_CPU;
		p->known = !rc;
		if (p->known && !r->in->dcqcn)
			keep_told(r);
		if (p->why == IBCC_PREDICTION_TELLS)
			return rc;
	}
	p->roots_why = p->why;
	if (r->in->dcqcn)
		return 0;
	p->basis = IBCC_PREDICTION_NONE;
	if (p->elsewhere > ROOT_ELSEWHERE)
		p->roots_why = IBCC_PREDICTION_ELSEWHERE;
	if (!may_tell_roots(r))
		return 0;
	rc = by_engine(r, false);
	if (!rc)
		keep_told(r);
	else
		p->roots_why = rc == -EDOM ? IBCC_PREDICTION_REPLAY : IBCC_PREDICTION_CPU;
	return rc == -ECANCELED || rc == -EDOM ? 0 : rc;
}

/* The predicted loss from which on plans cost throughput (prediction.h). */
#define COSTS 0.01
/* Less than this share of the present latency would be lost in the inexactness of the twin. */
#define BUYS 0.10

bool ibcc_prediction_costs(const struct ibcc_prediction *p)
{
	return p->known && p->total.expected_mbps < p->total.now_mbps * (1 - COSTS);
}

bool ibcc_prediction_trades(const struct ibcc_prediction *p)
{
	return ibcc_prediction_costs(p) && p->now_us > 0 && p->expected_us < p->now_us * (1 - BUYS);
}

bool ibcc_prediction_is_advised(const struct ibcc_prediction *p, bool prefer_latency)
{
	return !ibcc_prediction_costs(p) || (prefer_latency && ibcc_prediction_trades(p));
}

int ibcc_predict(const struct ibcc_prediction_in *in, struct ibcc_prediction *p)
{
	struct predictor r = { .in = in, .p = p };
	int rc;

	*p = (struct ibcc_prediction){ .moved = in->moved, .baseline_age_ns = in->age_ns };
	r.start_ns = in->cpu_ns ? in->cpu_ns(in->arg) : 0;
	rc = set_up(&r);
	if (!rc)
		rc = run(&r);
	if (in->cpu_ns)
		p->cpu_s = (double)(in->cpu_ns(in->arg) - r.start_ns) * 1e-9;
	ibcc_traffic_fini(&r.traffic);
	free(r.waits);
	if (rc)
		ibcc_prediction_fini(p);
	return rc;
}
