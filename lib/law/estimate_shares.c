/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds which pairs of source and destination a root limits, and what it leaves them. Begin with
 * ibcc_estimate_shares().
 *
 * The pairs that a root limits have about the same rate through it, and would take more if they
 * could. Other pairs send much less, and get all that they want. The level of the limited ones is
 * found from each pair's marks (find_level()). Then what the limited pairs are to get is the
 * max-min allocation of what the roots can carry, less what the other pairs send. A root limits
 * the pairs that find their bottleneck in it: their number, and the rate that is left for them,
 * are the input of the law.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/maxmin.h>
#include <ibcc/route.h>

#include "estimate.h"

/* A root may limit a pair that has more than this share of the level of marks. */
#define AT_LEVEL 0.65
/* A pair's marks are a sample. The estimator takes a pair for limited if it has AT_LEVEL with this
 * many standard deviations more.
 */
#define DOUBT 0.5
/* find_level() repeats at most this many times. */
#define ROUNDS 8u
/* find_level() takes off at most this share of the square of a pair's marks as chance. */
#define CHANCE_MAX 0.5
/* A log with fewer packets does not show which pairs are limited. Half of them are enough if the
 * limits were known before.
 */
#define MIN_SAMPLES 60.0
/* A log shows nothing if a pair at the level has fewer packets in it. With double the mean of
 * random scenarios is 0.33 points lower, since limits are known too late; with half it does not
 * differ by more than chance.
 */
#define MIN_LEVEL 6.0
/* Limited pairs stand out only if they have at least this share of all marks. Without this rule two
 * senders of a full link get 4 % less than with the best static setting.
 */
#define LIMITED_MIN 0.4
/* Pairs from 1 - AT_LEVEL to AT_LEVEL of the level may be limited or not. If they have more than
 * this share of the limited pairs' marks, the two groups do not stand out.
 */
#define BELOW_MAX 0.5
/* Pairs with more marks than ABOVE_FROM times the level are not throttled yet. If they have more
 * than ABOVE_MAX of the limited pairs' marks, it is too early to say which are limited.
 */
#define ABOVE_FROM 1.5
#define ABOVE_MAX  0.1
/* Rates that differ by a smaller share count as equal. */
#define SAME 1e-3

/* A pair of adapters as one root sees it. */
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
	double *capacity; /* by the estimate's root: what it leaves for limited pairs, Mb/s */
};

/* Finds the level, which is how many marks a limited pair has. The level is the mean over marks,
 * not over pairs, so the pairs that have most count most. Each round leaves out the pairs that are
 * far below the level of the round before. Chance makes the squares of marks larger; the function
 * takes off what it adds.
 */
static double find_level(const struct root_history *m)
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

/* Returns whether the pairs fall clearly into those at the level and those well below it. They do
 * not while a root's first parameters are still far from good ones.
 */
static bool stand_out(const struct root_history *m, double level)
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

/* Returns whether a root's pairs are known well enough to say which it limits. The function asks
 * for less if that was known before, since few pairs come and go.
 */
static bool is_known(const struct root_history *m, const struct estimation *j)
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

/* Lists a root's pairs with their rates: each has its share, by marks, of what the root sent. */
static void list_pairs(struct shares *s, const struct root_history *m)
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

/* Returns what a root can carry in Mb/s: the rate of its link, or what its slow receiver takes. */
static double capacity_of(const struct root_history *m, const struct ibcc_root *r)
{
	return m->kind == IBCC_CONGESTION_OUTPUT ? m->capacity_mbps : r->link_mbps;
}

/* Adds a pair, as n roots see it, to the max-min problem. A pair that some root limits is a flow
 * that uses all roots on its way. Another one is subtracted from their capacity, of which a trace
 * always remains.
 */
static void add_pair(struct shares *s, const struct estimation *j, const struct seen *seen,
		     size_t n)
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

/* Counts the pairs that find their bottleneck in a root, what they get, and the adapters that send
 * them. */
static void count_limited(const struct shares *s, const struct estimation *j, uint32_t k,
			  struct root_history *m)
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
		m->sends[j->t->port[last].endport] = true;
	}
}

/* Merges what several roots see of the same pair, allocates, and counts. */
static int solve(struct shares *s, const struct estimation *j)
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

/* Judges one root's log, and lists its pairs if they are known well enough. */
static void look_at(struct shares *s, const struct estimation *j, uint32_t k,
		    struct root_history *m)
{
	struct ibcc_root *r = &j->out->root[k];

	r->log = r->kept ? IBCC_LOG_OPEN : ibcc_estimate_check_log(j, m);
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

int ibcc_estimate_shares(const struct estimation *j)
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
