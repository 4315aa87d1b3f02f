/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What each root leaves the pairs that it limits.
 *
 * Pairs that send much less than the others through a root get all that they want. The rest would
 * take more if they were let; what they are to get is the max-min allocation of what the roots can
 * carry, less what the others send. A root limits those that find their bottleneck in it: so many,
 * and the rate that is left for them, are what the law is made for. A root in which nobody finds it
 * only looked like one, since what comes through it is held up elsewhere.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <ibcc/maxmin.h>
#include <ibcc/route.h>

#include "tuner_state.h"

#define AT_END     0.8  /* of what the table's end leaves a source: who sends less is not held */
#define STANDS     300u /* permille of waiting: sources send less than their tables allow */
#define LEAST_LEFT 0.02 /* of a root, for those that it limits */
#define SAME       1e-3

/* A pair as one root sees it. */
struct seen {
	uint32_t src;
	uint16_t dlid;
	bool limited;
	double mbps;
};

struct ibcc_tuner_shares {
	struct seen *seen;
	size_t n_seen;
	struct ibcc_maxmin_flow *flow;
	struct ibcc_maxmin_use *use;
	size_t n_flows, n_uses;
	uint32_t *src; /* by flow */
	double capacity[IBCC_TUNER_MAX_ROOTS], least[IBCC_TUNER_MAX_ROOTS];
	bool known[IBCC_TUNER_MAX_ROOTS];
};

/* What a source may send to one destination at its table's end. */
static double end_mbps(const struct ibcc_topo *t, const struct ibcc_settings *actual, uint32_t src)
{
	const struct ibcc_cct *c = &actual->ep[t->port[src].endport].cct;
	uint32_t milli = c->limit ? ibcc_cct_entry_delay_milli(c->entry[c->limit]) : 0;

	return t->port[src].rate_mbps / (1 + milli / 1000.0);
}

static void list_root(const struct ibcc_tuner_root *r, const struct ibcc_topo *t,
		      const struct ibcc_estimate *e, const struct ibcc_settings *actual,
		      struct ibcc_tuner_shares *s)
{
	const struct ibcc_root *now = ibcc_tuner_in_estimate(e, r->port);
	bool stands = now && now->tree_wait_permille > STANDS;
	double level = ibcc_tuner_level(&r->pairs);
	double each = ibcc_tuner_carried_mbps(&r->pairs) / r->pairs.marks;

	for (uint32_t i = 0; i < r->pairs.n; i++) {
		const struct ibcc_tuner_pair *p = &r->pairs.pair[i];
		double most = ibcc_tuner_most_marks(p);

		s->seen[s->n_seen++] = (struct seen){
			.src = p->src,
			.dlid = p->dlid,
			.limited = ibcc_tuner_at_level(most, level) &&
				   (stands || most * each >= AT_END * end_mbps(t, actual, p->src)),
			.mbps = each * p->marks,
		};
	}
}

static double capacity_of(const struct ibcc_tuner_root *r, const struct ibcc_topo *t)
{
	switch (r->kind) {
	case IBCC_CONGESTION_INPUT: break;
	case IBCC_CONGESTION_OUTPUT: return r->pairs.capacity_mbps;
	}
	return t->port[r->port].rate_mbps;
}

static int by_pair(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	if (x->src != y->src)
		return x->src < y->src ? -1 : 1;
	return (x->dlid > y->dlid) - (x->dlid < y->dlid);
}

/* A pair that is limited somewhere takes from all the roots on its way; one that is not leaves them
 * so much less.
 */
static void add_pair(const struct ibcc_tuner *tn, const struct ibcc_topo *t,
		     struct ibcc_tuner_shares *s, const struct seen *seen, size_t n)
{
	struct ibcc_maxmin_flow *f = &s->flow[s->n_flows];
	struct ibcc_route way;
	bool limited = false;
	double mbps = 0;

	for (size_t i = 0; i < n; i++) {
		limited |= seen[i].limited;
		mbps += seen[i].mbps / (double)n;
	}
	if (ibcc_route_follow(t, seen->src, seen->dlid, &way))
		return;
	*f = (struct ibcc_maxmin_flow){ .use = &s->use[s->n_uses],
					.demand = t->port[seen->src].rate_mbps };
	for (uint32_t k = 0; k < tn->n_roots; k++) {
		if (!s->known[k] || !ibcc_route_leaves_by(&way, tn->root[k].port))
			continue;
		if (limited)
			s->use[s->n_uses + f->n_uses++] =
				(struct ibcc_maxmin_use){ .resource = k, .share = 1 };
		else
			s->capacity[k] = fmax(s->capacity[k] - mbps, s->least[k]);
	}
	s->src[s->n_flows] = seen->src;
	s->n_uses += f->n_uses;
	s->n_flows += f->n_uses > 0;
}

static int find(const struct ibcc_tuner *tn, const struct ibcc_topo *t,
		const struct ibcc_estimate *e, const struct ibcc_settings *actual,
		struct ibcc_tuner_shares *s)
{
	size_t max = 1;

	for (uint32_t k = 0; k < tn->n_roots; k++) {
		s->known[k] = ibcc_tuner_pairs_known(&tn->root[k]);
		max += s->known[k] ? tn->root[k].pairs.n : 0;
	}
	s->seen = calloc(max, sizeof(*s->seen));
	s->flow = calloc(max, sizeof(*s->flow));
	s->use = calloc(max * (tn->n_roots + 1), sizeof(*s->use));
	s->src = calloc(max, sizeof(*s->src));
	if (!s->seen || !s->flow || !s->use || !s->src)
		return -ENOMEM;
	for (uint32_t k = 0; k < tn->n_roots; k++) {
		if (!s->known[k])
			continue;
		s->capacity[k] = capacity_of(&tn->root[k], t);
		s->least[k] = LEAST_LEFT * s->capacity[k];
		list_root(&tn->root[k], t, e, actual, s);
	}
	qsort(s->seen, s->n_seen, sizeof(*s->seen), by_pair);
	for (size_t i = 0, from = 0; i < s->n_seen; i++)
		if (i + 1 == s->n_seen || by_pair(&s->seen[i], &s->seen[i + 1])) {
			add_pair(tn, t, s, &s->seen[from], i + 1 - from);
			from = i + 1;
		}
	return ibcc_maxmin_solve(s->capacity, tn->n_roots, s->flow, s->n_flows);
}

struct ibcc_tuner_shares *ibcc_tuner_shares_find(const struct ibcc_tuner *tn,
						 const struct ibcc_topo *t,
						 const struct ibcc_estimate *e,
						 const struct ibcc_settings *actual)
{
	struct ibcc_tuner_shares *s = calloc(1, sizeof(*s));

	if (!s || !find(tn, t, e, actual, s))
		return s;
	ibcc_tuner_shares_free(s);
	return NULL;
}

void ibcc_tuner_shares_free(struct ibcc_tuner_shares *s)
{
	if (!s)
		return;
	free(s->seen);
	free(s->flow);
	free(s->use);
	free(s->src);
	free(s);
}

static bool uses(const struct ibcc_maxmin_flow *f, uint32_t k)
{
	for (size_t i = 0; i < f->n_uses; i++)
		if (f->use[i].resource == k)
			return true;
	return false;
}

uint32_t ibcc_tuner_limited_by(const struct ibcc_tuner_shares *s, uint32_t k, double *mbps)
{
	double load = 0, most = 0;
	uint32_t n = 0;

	*mbps = 0;
	for (size_t i = 0; i < s->n_flows; i++)
		if (uses(&s->flow[i], k)) {
			load += s->flow[i].rate;
			most = fmax(most, s->flow[i].rate);
		}
	if (load < s->capacity[k] * (1 - SAME))
		return 0;
	for (size_t i = 0; i < s->n_flows; i++) {
		const struct ibcc_maxmin_flow *f = &s->flow[i];

		if (!uses(f, k) || f->rate < most * (1 - SAME) || f->rate >= f->demand * (1 - SAME))
			continue;
		n++;
		*mbps += f->rate;
	}
	return n;
}

uint32_t ibcc_tuner_next_limited(const struct ibcc_tuner_shares *s, uint32_t k, size_t *at)
{
	while (*at < s->n_flows) {
		size_t i = (*at)++;

		if (!uses(&s->flow[i], k))
			continue;
		while (*at < s->n_flows && s->src[*at] == s->src[i])
			++*at;
		return s->src[i];
	}
	return IBCC_NONE;
}
