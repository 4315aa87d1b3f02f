/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Several roots at once, of any kind.
 *
 * An adapter has one table and one pair of increase and timer for all its queue pairs, and a queue
 * pair is held at whatever root its packets are marked. So roots that share contributors share
 * their values, those of the most demanding one: its table reaches far enough for all, and in
 * equilibrium every held queue pair gets one BECN in increase * timer. That is a share of a root's
 * packets that is the smaller the faster the root is. Where it is small, marking every packet would
 * hit all sources at once long before the first BECN shows: there one in Marking_Rate + 1 packets
 * is marked, so that each root marks about the same multiple of what it needs.
 */
#include "tuner_state.h"

#define FULL_TABLE    128u
#define MARK_RATE_MAX 1000u
#define LEADER_HASTE  2u

/* Times as many packets as in equilibrium that a root may mark. While its tree stands, all that the
 * law leaves (1 / 0.12): that empties it soonest. Once the tree is gone, a full link's queue is
 * over its threshold for all its sources at once and marks in bursts; so many marks more than are
 * needed would make all of them slow down and recover together, with the link idle in between. A
 * slow sink's queue is served seldom, which spreads its marks, and the sink's own buffer bridges
 * gaps: alone it marks all it can, so that its queue leaves room for victims. Where others share
 * its sources' timer, what it marks too often their flows have to recover from, too.
 */
#define GAIN_TREE_TENTHS 83u
#define GAIN_CALM_TENTHS 17u
#define GAIN_SLOW_TENTHS 30u

uint32_t ibcc_tuner_source_mbps(const struct ibcc_tuner *tn, const struct ibcc_topo *t,
				const struct ibcc_tuner_root *r)
{
	uint32_t max = 1;

	for (uint32_t i = 0; i < tn->n_endports; i++)
		if (r->member[i] && t->port[t->endport[i]].rate_mbps > max)
			max = t->port[t->endport[i]].rate_mbps;
	return max;
}

static struct ibcc_law_in law_in(const struct ibcc_tuner_root *r, uint32_t source_mbps)
{
	return (struct ibcc_law_in){
		.kind = r->kind,
		.n = r->n,
		.n_heavy = r->n_heavy,
		.root_mbps = r->rate_mbps,
		.source_mbps = source_mbps,
		.packet_bytes = r->packet_bytes,
		.end_permille = r->end_permille,
		.loop_permille = r->loop_permille / (r->leads_faster ? LEADER_HASTE : 1u),
		.drain_ns = r->drain ? r->interval_ns : 0,
	};
}

int ibcc_tuner_law(const struct ibcc_tuner_root *r, uint32_t source_mbps, uint32_t cap_entries,
		   struct ibcc_law_out *law)
{
	struct ibcc_law_in in = law_in(r, source_mbps);

	in.cap_entries = cap_entries;
	return ibcc_law_compute(&in, law);
}

uint32_t ibcc_tuner_end_milli(const struct ibcc_tuner_root *r, uint32_t source_mbps)
{
	struct ibcc_law_in in = law_in(r, source_mbps);

	return ibcc_law_end_milli(&in);
}

static bool share_members(const struct ibcc_tuner *tn, const struct ibcc_tuner_root *a,
			  const struct ibcc_tuner_root *b)
{
	for (uint32_t i = 0; i < tn->n_endports; i++)
		if (a->member[i] && b->member[i])
			return true;
	return false;
}

/* Gives all roots of b's group to a's. */
static void join(struct ibcc_tuner *tn, uint32_t a, uint32_t b)
{
	uint32_t from = tn->root[b].leader, to = tn->root[a].leader;

	for (uint32_t k = 0; k < tn->n_roots; k++)
		if (tn->root[k].leader == from)
			tn->root[k].leader = to;
}

static bool is_alone(const struct ibcc_tuner *tn, const struct ibcc_tuner_root *r)
{
	for (uint32_t k = 0; k < tn->n_roots; k++)
		if (&tn->root[k] != r && tn->root[k].on && tn->root[k].leader == r->leader)
			return false;
	return true;
}

static uint32_t gain_tenths(const struct ibcc_tuner_root *r)
{
	if (!r->calm)
		return GAIN_TREE_TENTHS;
	switch (r->kind) {
	case IBCC_CONGESTION_INPUT: return GAIN_CALM_TENTHS;
	case IBCC_CONGESTION_OUTPUT: return r->alone ? GAIN_TREE_TENTHS : GAIN_SLOW_TENTHS;
	}
	return GAIN_TREE_TENTHS;
}

/* What the law says for a root; all 0 if nothing. */
struct values {
	uint64_t loop_ns, step_ns, timer_ns;
	uint32_t end_milli;
};

static void compute(const struct ibcc_tuner *tn, const struct ibcc_topo *t, uint32_t k,
		    struct values *v)
{
	const struct ibcc_tuner_root *r = &tn->root[k];
	struct ibcc_law_out law;

	if (!r->on || ibcc_tuner_law(r, ibcc_tuner_source_mbps(tn, t, r), FULL_TABLE, &law))
		return;
	v->loop_ns = law.loop_ns;
	v->timer_ns = (uint64_t)law.timer * IBCC_FORMULA_TIMER_UNIT_NS;
	v->step_ns = law.increase * v->timer_ns;
	v->end_milli = law.end_milli;
}

/* Flows of a fast root take as long to recover as the slow one needs that leads it: that one's
 * timer is made shorter, at the price of as many more marks.
 */
static void find_leaders(struct ibcc_tuner *tn, const uint32_t *best)
{
	for (uint32_t k = 0; k < tn->n_roots; k++) {
		struct ibcc_tuner_root *r = &tn->root[k], *l;

		r->leader = best[r->leader];
		l = &tn->root[r->leader];
		if (r->on && l->on && r->kind == IBCC_CONGESTION_INPUT &&
		    l->kind == IBCC_CONGESTION_OUTPUT)
			l->leads_faster = true;
	}
}

void ibcc_tuner_group(struct ibcc_tuner *tn, const struct ibcc_topo *t)
{
	struct values v[IBCC_TUNER_MAX_ROOTS] = { 0 };
	uint32_t best[IBCC_TUNER_MAX_ROOTS] = { 0 };

	for (uint32_t k = 0; k < tn->n_roots; k++) {
		tn->root[k].leader = best[k] = k;
		tn->root[k].marking_rate = 0;
		tn->root[k].leads_faster = false;
		compute(tn, t, k, &v[k]);
	}
	for (uint32_t k = 1; k < tn->n_roots; k++)
		for (uint32_t l = 0; l < k; l++)
			if (tn->root[k].on && tn->root[l].on &&
			    tn->root[k].leader != tn->root[l].leader &&
			    share_members(tn, &tn->root[k], &tn->root[l]))
				join(tn, l, k);
	for (uint32_t k = 0; k < tn->n_roots; k++)
		if (v[k].end_milli > v[best[tn->root[k].leader]].end_milli)
			best[tn->root[k].leader] = k;
	find_leaders(tn, best);
	for (uint32_t k = 0; k < tn->n_roots; k++)
		tn->root[k].alone = is_alone(tn, &tn->root[k]);
	for (uint32_t k = 0; k < tn->n_roots; k++) {
		uint64_t loop_ns = v[k].loop_ns;

		if (!tn->root[k].leads_faster)
			continue;
		compute(tn, t, k, &v[k]);
		v[k].loop_ns = loop_ns; /* it needs as many more marks */
	}
	for (uint32_t k = 0; k < tn->n_roots; k++) {
		struct ibcc_tuner_root *r = &tn->root[k];
		uint64_t ratio;

		if (!r->on || !v[k].loop_ns)
			continue;
		if (r->interval_ns)
			r->recover =
				(uint32_t)(v[r->leader].timer_ns * FULL_TABLE / r->interval_ns);
		if (r->drain)
			continue;
		ratio = v[r->leader].step_ns * 10 / (v[k].loop_ns * gain_tenths(r));
		if (ratio > 1)
			r->marking_rate =
				(uint16_t)(ratio < MARK_RATE_MAX ? ratio - 1 : MARK_RATE_MAX);
	}
}

bool ibcc_tuner_jammed(const struct ibcc_tuner *tn, const struct ibcc_tuner_root *r,
		       const struct ibcc_estimate *e)
{
	for (uint32_t i = 0; i < tn->n_roots; i++) {
		const struct ibcc_tuner_root *o = &tn->root[i];
		const struct ibcc_root *now;

		if (o == r || !o->on || !o->in_force || o->leader != r->leader)
			continue;
		now = ibcc_tuner_in_estimate(e, o->port);
		if (now && (uint64_t)now->n_waiting * IBCC_TUNER_STANDS_SHARE > o->n_adapters &&
		    now->tree_wait_permille >= tn->p.victim_wait_permille &&
		    ibcc_tuner_busy_permille(now) >= tn->p.sink_busy_permille)
			return true;
	}
	return false;
}
