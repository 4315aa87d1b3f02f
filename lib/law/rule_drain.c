/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Drain: a slow receiver's tree that stands is emptied before its sources are held, with all the
 * marks there are, and again when it has come back.
 */
#include "rules.h"

/* A tree that is empty within this many passes when its sources are held is not emptied first: that
 * would cost a change more. Without emptying at all a campus fabric has 10.9 in place of 28.5 Gb/s,
 * and the mean of random scenarios is 0.3 points lower. With half and double of DRAIN_SOON it does
 * not differ by more than chance.
 */
#define DRAIN_SOON 3u
/* Passes that emptying lasts at most, whatever the buffers are taken for. */
#define DRAIN_MAX 60u
/* Passes in which the root must be idle or no sender may wait: one may be a moment without packets.
 * With one and with four random scenarios do not differ by more than chance.
 */
#define DRY_PASSES 2u
/* A tree stands again if it waits for this many permille of the time in this many passes. */
#define RETURNED_PASSES   6u
#define RETURNED_PERMILLE 600u

/* Passes that emptying the tree may take. 0: not needed, since throttled sources leave an eighth of
 * the root's rate free, and that alone empties the tree soon enough. Each port that waits has a
 * full buffer before it. While these are emptied, the packets that come out keep the root busy.
 */
static uint16_t drain_passes(const struct ibcc_root_state *s)
{
	uint64_t ns;

	if (!s->now || s->r.kind != IBCC_CONGESTION_OUTPUT)
		return 0;
	ns = (uint64_t)s->now->n_waiting * IBCC_BUFFER_BYTES * 8000 / s->full_mbps;
	if (ns * 8 <= DRAIN_SOON * s->now->interval_ns)
		return 0;
	ns = 2 * ns / s->now->interval_ns + 2;
	return (uint16_t)(ns < DRAIN_MAX ? ns : DRAIN_MAX);
}

void ibcc_rules_drain_or_hold(const struct pass *p, struct ibcc_root_state *s)
{
	uint16_t passes = ibcc_rules_by_profile(p, s) ? 0 : drain_passes(s);

	ibcc_root_enter(s, passes ? IBCC_PHASE_DRAIN : IBCC_PHASE_HOLD, passes);
}

/* The tree is empty when its root runs out of packets, or when no sender waits any more. This must
 * be so in two passes. A moment without packets may come before all sources have been marked, and
 * unmarked sources would fill the tree again at once.
 */
static void end_draining(struct pass *p, struct ibcc_root_state *s)
{
	const struct ibcc_root *now = s->root;

	s->dry = now && ibcc_rules_busy(now) < p->c->p.sink_busy_permille ? s->dry + 1 : 0;
	s->left--;
	if (now && s->left && s->dry < DRY_PASSES &&
	    now->tree_wait_permille >= p->c->p.victim_wait_permille)
		return;
	ibcc_root_enter(s, IBCC_PHASE_HOLD, 0);
	ibcc_rules_say(p, IBCC_DECISION_DRAINED, s);
	ibcc_rules_change(p, s);
}

static void drain_again(struct pass *p, struct ibcc_root_state *s)
{
	const struct ibcc_root *now = s->now;
	struct ibcc_root_parameters *r = &s->r;
	bool stands = r->kind == IBCC_CONGESTION_OUTPUT &&
		      ibcc_rules_busy(now) >= p->c->p.sink_busy_permille &&
		      now->tree_wait_permille >= RETURNED_PERMILLE;
	uint16_t passes;

	if (s->settle && stands)
		return; /* too early to count, but no sign that the tree was gone */
	s->returned = stands ? s->returned + 1 : 0;
	s->unmarked &= stands;
	if (!s->unmarked && s->returned < RETURNED_PASSES << s->backoff)
		return;
	s->returned = 0;
	s->unmarked = false;
	passes = drain_passes(s);
	if (!passes)
		return;
	ibcc_root_enter(s, IBCC_PHASE_DRAIN, passes);
	s->backoff += s->backoff < IBCC_BACKOFF_MAX;
	r->tree_gone = false;
	ibcc_rules_say(p, IBCC_DECISION_DRAIN_AGAIN, s)->a = now->tree_wait_permille;
	ibcc_rules_change(p, s);
}

void ibcc_rule_drain(struct pass *p, struct ibcc_root_state *s)
{
	if (s->done || ibcc_rules_by_profile(p, s))
		return;
	if (s->r.phase == IBCC_PHASE_DRAIN)
		end_draining(p, s);
	else if (s->r.phase == IBCC_PHASE_HOLD && s->now)
		drain_again(p, s);
}
