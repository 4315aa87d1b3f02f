/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Group: several roots at once, of any kind.
 *
 * An adapter has one table and one pair of increase and timer for all its queue pairs, and a queue
 * pair is throttled at each root that marks its packets. So roots that share contributors share
 * their values, those of the most demanding root. Its table reaches far enough for all, and in
 * equilibrium every throttled queue pair gets one BECN in increase * timer.
 *
 * The faster a root is, the smaller is the share of its packets that this is. If the share is
 * small, marking every packet would hit all sources at once, long before the first BECN takes
 * effect. Such a root marks one in Marking_Rate + 1 packets, so that each root marks about an equal
 * multiple of what it needs.
 */
#include <ibcc/estimate.h>
#include <ibcc/law.h>

/* The lowest marking rate: each root marks at least one packet in this many. */
#define MARK_RATE_MAX 1000u

/* How many times the equilibrium share of its packets a root may mark.
 *
 * While its tree stands, a root may mark all that the law leaves (1 / 0.12): that empties the tree
 * soonest.
 *
 * Once the tree is gone, a full link's queue passes its threshold for all its sources at once, so
 * it marks in bursts. If it marked that much more than needed, all sources would slow down and
 * recover together, with the link idle in between.
 *
 * A slow sink's queue is served seldom, which spreads its marks, and the sink's own buffer bridges
 * gaps. If it shares its sources with no other root, it marks all it can, so that its queue leaves
 * room for victims. If other roots share its sources' timer, their flows also have to recover from
 * each mark too many.
 *
 * Measured on random scenarios: if roots have no marking rates of their own, 68 instead of 88 %
 * reach their aim. Without GAIN_SLOW_TENTHS the mean is 0.17 points lower.
 * With half of GAIN_GONE_TENTHS it is 0.6 points lower, since control is lost if roots mark less
 * than they need; with double it is 0.24 points lower at the start. With half and with double of
 * GAIN_SLOW_TENTHS it is 0.1 points lower.
 */
#define GAIN_GONE_TENTHS 17u
#define GAIN_SLOW_TENTHS 30u

static bool share_members(const struct ibcc_parameters *p, const struct ibcc_root_parameters *a,
			  const struct ibcc_root_parameters *b)
{
	for (uint32_t i = 0; i < p->n_endports; i++)
		if (a->member[i] && b->member[i])
			return true;
	return false;
}

/* Gives all roots of b's group to a's. */
static void join(struct ibcc_parameters *p, uint32_t a, uint32_t b)
{
	uint32_t from = p->root[b].r.leader, to = p->root[a].r.leader;

	for (uint32_t k = 0; k < p->n_roots; k++)
		if (p->root[k].r.leader == from)
			p->root[k].r.leader = to;
}

static bool sets(const struct ibcc_parameters *p, uint32_t k)
{
	return ibcc_phase_sets(p->root[k].r.phase);
}

static uint32_t gain_tenths(const struct ibcc_root_parameters *r)
{
	if (r->tree_gone && r->kind == IBCC_CONGESTION_INPUT)
		return GAIN_GONE_TENTHS;
	if (r->tree_gone && !r->alone)
		return GAIN_SLOW_TENTHS;
	return (uint32_t)(10 / IBCC_LAW_MARK_SHARE);
}

static void find_leaders(struct ibcc_parameters *p, const struct ibcc_law_out *v)
{
	uint32_t best[IBCC_ROOTS_MAX], n_led[IBCC_ROOTS_MAX] = { 0 };

	for (uint32_t k = 0; k < p->n_roots; k++)
		p->root[k].r.leader = best[k] = k;
	for (uint32_t k = 1; k < p->n_roots; k++)
		for (uint32_t l = 0; l < k; l++)
			if (sets(p, k) && sets(p, l) &&
			    p->root[k].r.leader != p->root[l].r.leader &&
			    share_members(p, &p->root[k].r, &p->root[l].r))
				join(p, l, k);
	for (uint32_t k = 0; k < p->n_roots; k++)
		if (v[k].end_milli > v[best[p->root[k].r.leader]].end_milli)
			best[p->root[k].r.leader] = k;
	for (uint32_t k = 0; k < p->n_roots; k++) {
		p->root[k].r.leader = best[p->root[k].r.leader];
		n_led[p->root[k].r.leader] += sets(p, k);
	}
	for (uint32_t k = 0; k < p->n_roots; k++)
		p->root[k].r.alone = n_led[p->root[k].r.leader] <= 1;
}

/* The marking rate of a root that learns its contributors. While no sender is throttled, the root
 * could mark all packets that it carries. But each mark costs a packet on the way back. Most of
 * these come from adapters that wait themselves, where they stay queued long after the root marks
 * no more. So the root marks IBCC_TELLING_BECNS packets for each source in a pass: that is enough
 * to identify the contributors.
 */
static uint16_t learning_rate(const struct ibcc_root_parameters *r)
{
	uint64_t packets = r->rate_mbps * r->interval_ns / 8000 / r->packet_bytes;
	uint64_t rate = packets / (r->n * IBCC_TELLING_BECNS);

	return (uint16_t)(rate < MARK_RATE_MAX ? rate : MARK_RATE_MAX);
}

void ibcc_parameters_group(struct ibcc_parameters *p, const struct ibcc_topo *t)
{
	struct ibcc_law_out v[IBCC_ROOTS_MAX] = { 0 }; /* stays so where the law says nothing */
	struct ibcc_root_parameters *r;

	ibcc_parameters_each (r, p)
		ibcc_law_compute(r, ibcc_law_source_mbps(t, r, p->n_endports), IBCC_FORMULA_ENTRIES,
				 &v[root_k]);
	find_leaders(p, v);
	for (uint32_t k = 0; k < p->n_roots; k++) {
		const struct ibcc_law_out *leads;
		uint64_t timer_ns, ratio;

		r = &p->root[k].r;
		leads = &v[r->leader];
		timer_ns =
			(uint64_t)IBCC_FORMULA_TIMER_UNIT_NS *
			(p->max_timer && leads->timer > p->max_timer ? p->max_timer : leads->timer);
		r->marking_rate = 0;
		if (!v[k].loop_ns)
			continue;
		if (r->phase == IBCC_PHASE_LEARN) {
			r->marking_rate = learning_rate(r);
			continue;
		}
		if (r->interval_ns)
			r->recover = (uint32_t)(timer_ns * IBCC_FORMULA_ENTRIES / r->interval_ns);
		if (r->phase == IBCC_PHASE_DRAIN)
			continue;
		ratio = leads->increase * timer_ns * 10 / (v[k].loop_ns * gain_tenths(r));
		if (ratio > 1)
			r->marking_rate =
				(uint16_t)(ratio < MARK_RATE_MAX ? ratio - 1 : MARK_RATE_MAX);
	}
}
