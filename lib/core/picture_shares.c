/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which pairs a root limits, and what it leaves them.
 *
 * Those have about the same of it, and would take more if they were let. Pairs that send much less
 * than the others through a root get all that they want. What the limited ones are to get is the
 * max-min allocation of what the roots can carry, less what the others send. A root limits those
 * that find their bottleneck in it: so many, and the rate that is left for them, are what the law
 * is made for.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/maxmin.h>
#include <ibcc/route.h>

#include "picture.h"

#define AT_LEVEL    0.65 /* of the level: a pair with more may be limited */
#define DOUBT       0.5  /* deviations: in doubt a pair is taken for limited */
#define ROUNDS      8u
#define CHANCE_MAX  0.5  /* relative variance */
#define MIN_SAMPLES 60.0 /* half will do where limits were known before: few come and go */
#define MIN_LEVEL   6.0  /* packets of each pair: what is less tells nothing */
#define LIMITED_MIN 0.4  /* of all marks */
/* Those from 1 - AT_LEVEL to AT_LEVEL could be either: so much of what the limited have at most. */
#define BELOW_MAX  0.5
#define ABOVE_FROM 1.5 /* those above it (and chance) are not held, */
#define ABOVE_MAX  0.1 /* and have so much at most */
#define UNMARKED   0.5 /* packets in the log: who has fewer is not held, as each that is has 4 */
#define SAME       1e-3

/* A pair as one root sees it. */
struct seen {
	uint32_t src;
	uint16_t dlid;
	bool limited;
	double mbps;
};

struct shares {
	struct seen *seen;
	size_t n_seen;
	struct ibcc_maxmin_flow *flow;
	struct ibcc_maxmin_use *use;
	size_t n_flows, n_uses;
	uint32_t *src;    /* by flow */
	double *capacity; /* by the picture's root: what is left for those that it limits */
};

/* Taken over marks instead of pairs the mean leans to those who have most; who is far below it is
 * left out of the next. What chance adds to the squares is taken off.
 */
static double find_level(const struct memory *m)
{
	double level = 0;

	for (unsigned int round = 0; round < ROUNDS; round++) {
		double sum = 0, squares = 0;

		for (uint32_t i = 0; i < m->n; i++) {
			double marks = m->pair[i].marks;

			if (marks <= AT_LEVEL * level)
				continue;
			sum += marks;
			squares += marks * marks * (1 - fmin(m->pair[i].chance, CHANCE_MAX));
		}
		if (!(sum > 0) || squares / sum <= level)
			break;
		level = squares / sum;
	}
	return level;
}

/* Do the pairs fall into those at the level and those well below it? While a root's first values
 * are far from what they ought to be they do not.
 */
static bool stand_out(const struct memory *m, double level)
{
	double limited = 0, below = 0, above = 0;

	for (uint32_t i = 0; i < m->n; i++) {
		const struct pair_count *q = &m->pair[i];

		if (q->marks > AT_LEVEL * level)
			limited += q->marks;
		else if (q->marks > (1 - AT_LEVEL) * level)
			below += q->marks;
		if (q->marks > ABOVE_FROM * level * (1 + sqrt(q->chance)))
			above += q->marks;
	}
	return limited >= LIMITED_MIN * m->marks && below < BELOW_MAX * limited &&
	       above < ABOVE_MAX * limited;
}

/* Are a root's pairs known so well that those that it limits stand out? Not so well is needed for a
 * root of which they were known before.
 */
static bool is_known(const struct memory *m, const struct job *j)
{
	uint32_t sw = j->t->node[j->t->port[m->port].node].first_port;
	bool before = m->held && m->held->limits_known;
	double level;

	if (j->s->port[sw].trust.doubt == IBCC_DOUBT_LOG ||
	    m->samples < (before ? MIN_SAMPLES / 2 : MIN_SAMPLES) ||
	    m->passes < IBCC_JUDGE_PASSES || m->unlogged >= IBCC_UNLOGGED_MAX)
		return false;
	level = find_level(m);
	return level >= MIN_LEVEL * m->marks / m->samples && (before || stand_out(m, level));
}

static void list_pairs(struct shares *s, const struct memory *m)
{
	double level = find_level(m), each = m->sent_mbps / m->sent_ns / m->marks;

	for (uint32_t i = 0; i < m->n; i++) {
		const struct pair_count *q = &m->pair[i];
		double most = q->marks * (1 + DOUBT * sqrt(q->chance));

		s->seen[s->n_seen++] = (struct seen){
			.src = q->src,
			.dlid = q->dlid,
			.limited = most >= AT_LEVEL * level,
			.mbps = each * q->marks,
		};
	}
}

static int by_pair(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;
	int ret = order(x->src, y->src);

	return ret ? ret : order(x->dlid, y->dlid);
}

static double capacity_of(const struct memory *m, const struct ibcc_root *r)
{
	return m->kind == IBCC_CONGESTION_OUTPUT ? m->capacity_mbps : r->link_mbps;
}

/* A pair that is limited somewhere takes from all the roots on its way; one that is not leaves them
 * so much less, but a trace.
 */
static void add_pair(struct shares *s, const struct job *j, const struct seen *seen, size_t n)
{
	struct ibcc_maxmin_flow *f = &s->flow[s->n_flows];
	struct ibcc_route way;
	bool limited = false;
	double mbps = 0;

	for (size_t i = 0; i < n; i++) {
		limited |= seen[i].limited;
		mbps += seen[i].mbps / (double)n;
	}
	if (ibcc_route_follow(j->t, seen->src, seen->dlid, &way))
		return;
	*f = (struct ibcc_maxmin_flow){ .use = &s->use[s->n_uses],
					.demand = j->t->port[seen->src].rate_mbps };
	for (uint32_t k = 0; k < j->out->n_known; k++) {
		if (!j->out->root[k].logged || !ibcc_route_leaves_by(&way, j->out->root[k].port))
			continue;
		if (limited)
			s->use[s->n_uses + f->n_uses++] =
				(struct ibcc_maxmin_use){ .resource = k, .share = 1 };
		else
			s->capacity[k] =
				fmax(s->capacity[k] - mbps,
				     1.0 / IBCC_TRACE_SHARE *
					     capacity_of(&j->m->root[k], &j->out->root[k]));
	}
	s->src[s->n_flows] = seen->src;
	s->n_uses += f->n_uses;
	s->n_flows += f->n_uses > 0;
}

static bool uses(const struct ibcc_maxmin_flow *f, uint32_t k)
{
	for (size_t i = 0; i < f->n_uses; i++)
		if (f->use[i].resource == k)
			return true;
	return false;
}

/* How many pairs find their bottleneck in a root, what they get of it, and who sends them. */
static void count_limited(const struct shares *s, const struct job *j, uint32_t k, struct memory *m)
{
	struct ibcc_root *r = &j->out->root[k];
	uint32_t last = IBCC_NONE;
	double load = 0, most = 0;

	for (size_t i = 0; i < s->n_flows; i++)
		if (uses(&s->flow[i], k)) {
			load += s->flow[i].rate;
			most = fmax(most, s->flow[i].rate);
		}
	for (size_t i = 0; i < s->n_flows; i++) {
		const struct ibcc_maxmin_flow *f = &s->flow[i];

		if (!uses(f, k))
			continue;
		if (load >= s->capacity[k] * (1 - SAME) && f->rate >= most * (1 - SAME) &&
		    f->rate < f->demand * (1 - SAME)) {
			r->n_limited++;
			r->limited_mbps += f->rate;
		}
		if (s->src[i] == last)
			continue;
		last = s->src[i];
		r->n_senders++;
		m->sends[j->t->port[last].endport] = ibcc_picture_logged(m, last) >= UNMARKED;
	}
}

static int solve(struct shares *s, const struct job *j)
{
	uint32_t n_roots = j->out->n_known;
	int ret;

	qsort(s->seen, s->n_seen, sizeof(*s->seen), by_pair);
	for (size_t i = 0, from = 0; i < s->n_seen; i++)
		if (i + 1 == s->n_seen || by_pair(&s->seen[i], &s->seen[i + 1])) {
			add_pair(s, j, &s->seen[from], i + 1 - from);
			from = i + 1;
		}
	ret = ibcc_maxmin_solve(s->capacity, n_roots, s->flow, s->n_flows);
	for (uint32_t k = 0; k < n_roots && !ret; k++)
		if (j->out->root[k].logged)
			count_limited(s, j, k, &j->m->root[k]);
	return ret;
}

static void look_at(struct shares *s, const struct job *j, uint32_t k, struct memory *m)
{
	struct ibcc_root *r = &j->out->root[k];

	r->log = ibcc_picture_check_log(j, m);
	r->log_untrue = m->untrue;
	r->logged = !m->untrue && is_known(m, j);
	r->samples = m->samples;
	r->capacity_mbps = m->capacity_mbps;
	r->sends = m->sends;
	if (!r->logged)
		return;
	s->capacity[k] = capacity_of(m, r);
	list_pairs(s, m);
}

int ibcc_picture_shares(const struct job *j)
{
	const struct ibcc_estimator *m = j->m;
	size_t roots = m->n + 1, max = 1;
	struct shares s;
	int ret = -ENOMEM;

	for (uint32_t i = 0; i < m->n; i++) {
		memset(m->root[i].sends, 0, m->n_endports * sizeof(*m->root[i].sends));
		max += m->root[i].n;
	}
	s = (struct shares){
		.seen = calloc(max, sizeof(*s.seen)),
		.flow = calloc(max, sizeof(*s.flow)),
		.use = calloc(max * roots, sizeof(*s.use)),
		.src = calloc(max, sizeof(*s.src)),
		.capacity = calloc(roots, sizeof(*s.capacity)),
	};
	if (s.seen && s.flow && s.use && s.src && s.capacity) {
		for (uint32_t k = 0; k < m->n; k++)
			look_at(&s, j, k, &j->m->root[k]);
		ret = solve(&s, j);
	}
	free(s.seen);
	free(s.flow);
	free(s.use);
	free(s.src);
	free(s.capacity);
	return ret;
}
