/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Feedback: does what was set do what it should? A hot port must stay busy: else its sources are
 * held less, first by where their tables end, then by how long they take to recover. And a root
 * marks less once its tree is gone (see group.c), more when it is back. Where a root has a marking
 * profile of NVIDIA's control, the judge is what the adapters behind it send: see judge_profile().
 *
 * Means over several passes decide, since single passes swing with the sources' saw teeth.
 */
#include <ibcc/vendor_cc.h>

#include "rules.h"

/* Feedback takes values down to this many permille of the formulas' at most. With 900 for the
 * table's end, 19 random scenarios that control had harmed lost 3.1 instead of 2.6 points. With
 * half and double random scenarios do not differ by more than chance.
 */
#define LEAST 250u
/* Percent by which one step of feedback moves the table's end, and the timer. With half and double
 * of the steps random scenarios do not differ by more than chance.
 */
#define END_STEP  110u
#define LOOP_STEP 140u
/* A tree is gone if at most one port waits per GONE_SHARE contributors. Without fewer marks after
 * that, 79 instead of 88 % of random scenarios reach their aim.
 */
#define GONE_SHARE 8u
/* A tree is back if more than one port waits per BACK_SHARE contributors in BACK_PASSES passes:
 * trees spread fast. With half of BACK_PASSES the mean of random scenarios is 0.15 points lower
 * when settled. With double of BACK_SHARE it is 0.04 points lower at the start. The others do not
 * differ by more than chance, nor do half and double of GONE_SHARE.
 */
#define BACK_SHARE  2u
#define BACK_PASSES 2u

/* Where the switch has marking profiles of NVIDIA's control, one knob is left, percent, and a step
 * doubles or halves it: up to MOST permille of what the fluid model asks for, which is all packets
 * from 4 % on. A slow receiver's tree of four senders stood until percent was 10 times the model's.
 */
#define MOST         32000u
#define PROFILE_STEP 2u
/* What the adapters behind a root send, as a mean of a window, differs by chance by this many
 * permille at most.
 */
#define CHANCE_PERMILLE 20u

/* Loosens control by one step, where that is safe.
 *
 * The table of a slow receiver leaves just enough margin for those of its many sources that were
 * not counted. If it ended nearer, control of all of them would be lost at once. So only its timer
 * is loosened.
 *
 * A root that shares sources may also be idle for the sake of another root. If the log shows which
 * senders it limits, its values are those that these need. If the sources of a slow receiver are
 * only counted, loosening could lose control of all of them for a few hundredths of its rate. The
 * other roots would lose control of their sources, too. So neither is loosened.
 */
static bool hold_less(const struct pass *p, struct ibcc_root_state *s)
{
	struct ibcc_root_parameters *r = &s->r;
	bool leads = ibcc_rules_leads(p, s) && s->now->n_marked <= s->n_adapters;
	uint32_t end = r->table_scale_permille * 100 / END_STEP,
		 loop = r->timer_scale_permille * 100 / LOOP_STEP;

	if (!r->alone && (r->kind == IBCC_CONGESTION_OUTPUT || r->limits_known))
		return false;
	end = end < LEAST ? LEAST : end;
	loop = loop < LEAST ? LEAST : loop;
	if (leads && r->kind == IBCC_CONGESTION_INPUT && end < r->table_scale_permille)
		r->table_scale_permille = end;
	else if (loop < r->timer_scale_permille)
		r->timer_scale_permille = loop;
	else
		return false;
	return true;
}

/* Reverts what feedback loosened, the last step first. */
static bool hold_more(struct ibcc_root_state *s)
{
	struct ibcc_root_parameters *r = &s->r;
	uint32_t *last = r->timer_scale_permille < 1000 ? &r->timer_scale_permille
							: &r->table_scale_permille;
	uint32_t more = r->timer_scale_permille < 1000 ? *last * LOOP_STEP / 100 + 1
						       : *last * END_STEP / 100 + 1;

	if (*last >= 1000)
		return false;
	*last = more < 1000 ? more : 1000;
	return true;
}

/* Does the root's port mark each packet above `max` already? */
static bool marks_all(const struct pass *p, const struct ibcc_root_state *s)
{
	const struct ibcc_endport_cc *sw =
		&p->actual->ep[ibcc_topo_switch_endport(p->t, s->r.port)];
	unsigned int num = p->t->port[s->r.port].num;

	for (unsigned int k = 0; num < sw->n_profile && k < IBCC_VCC_PROFILES; k++)
		if (sw->profile[num].used >> k & 1 &&
		    ibcc_vcc_profile_get(sw->profile[num].data, k).percent < 100)
			return false;
	return true;
}

/* The next scale of a profile: more marks while the tree stands, fewer while they leave the port
 * idle.
 */
static uint32_t next_step(const struct pass *p, const struct ibcc_root_state *s, bool stands,
			  bool idle)
{
	uint32_t scale = s->r.table_scale_permille;

	if (stands && !idle && scale * PROFILE_STEP <= MOST && !marks_all(p, s))
		return scale * PROFILE_STEP;
	if (!stands && idle && scale > LEAST)
		return scale / PROFILE_STEP;
	return scale;
}

static uint32_t as_figure(uint64_t mbps)
{
	return mbps < UINT32_MAX ? (uint32_t)mbps : UINT32_MAX;
}

/* Takes back the steps since the last one that paid. The next one is judged by twice as many
 * passes.
 */
static void step_back(struct pass *p, struct ibcc_root_state *s, uint64_t sent)
{
	struct ibcc_decision *d = ibcc_rules_say(p, IBCC_DECISION_STEP_BACK, s);

	d->a = as_figure(s->kept_mbps);
	d->b = as_figure(sent);
	s->r.table_scale_permille = s->kept_permille;
	s->kept_mbps = 0;
	s->backoff += s->backoff < IBCC_BACKOFF_MAX;
	ibcc_rules_change(p, s);
}

/* Judges the profile of a root by what the adapters behind it send in all, to any destination,
 * since their shares swing by far more than chance. It is the total that steps are to raise, and
 * none may lower it. What the rest of a large fabric sends would hide it. While nothing changes
 * that, more marks are tried as long as the tree stands: control sets in all at once when each
 * sender gets its CNPs faster than it recovers. What was gained on the way stays. If the last step
 * up brought nothing, all since the last gain go. Fewer marks stay unless the total falls. The
 * first window is compared with that before the root was admitted (kept_permille 0).
 */
static void judge_profile(struct pass *p, struct ibcc_root_state *s)
{
	const struct ibcc_window w = s->win;
	uint32_t *scale = &s->r.table_scale_permille, next;
	uint64_t sent = w.sent_mbps / w.n;
	bool idle = w.marks && w.busy < (uint64_t)p->c->p.sink_busy_permille * w.n;
	bool stands = s->now->tree_wait_permille >= p->c->p.victim_wait_permille;
	bool tried = s->kept_mbps && *scale != s->kept_permille;
	uint64_t less = s->kept_mbps * (1000 - CHANCE_PERMILLE),
		 more = s->kept_mbps * (1000 + CHANCE_PERMILLE);

	s->win = (struct ibcc_window){ 0 };
	next = next_step(p, s, stands, idle);
	if (tried && !s->kept_permille && sent * 1000 < less) {
		ibcc_rules_bar(p, s, false);
		return;
	}
	if (tried && s->kept_permille &&
	    (sent * 1000 < less ||
	     (sent * 1000 < more && *scale > s->kept_permille && next <= *scale))) {
		step_back(p, s, sent);
		return;
	}
	if (!tried || !s->kept_permille || sent * 1000 >= more || *scale < s->kept_permille) {
		s->kept_permille = *scale;
		s->kept_mbps = sent;
	}
	if (next == *scale)
		return;
	ibcc_rules_say(p, next < *scale ? IBCC_DECISION_LOOSEN : IBCC_DECISION_TIGHTEN, s)->a =
		(uint32_t)(w.busy / w.n);
	*scale = next;
	ibcc_rules_change(p, s);
}

static void judge(struct pass *p, struct ibcc_root_state *s)
{
	const struct ibcc_window w = s->win;
	uint64_t least_busy = (uint64_t)p->c->p.sink_busy_permille * w.n;
	bool idle = w.busy < least_busy;
	bool stands = !s->r.tree_gone && s->now->tree_wait_permille >= p->c->p.victim_wait_permille;

	s->win = (struct ibcc_window){ 0 };
	/* A port that sent or waited for all of the time carried what its receiver takes. The
	 * earlier value may be the rate of one interval that was not measured well. If the log
	 * shows the limited senders, it has a rate of its own, from more than one interval.
	 */
	if (s->r.kind == IBCC_CONGESTION_OUTPUT && !s->r.limits_known && w.own_busy >= least_busy &&
	    w.rate_mbps >= w.n)
		s->full_mbps = (uint32_t)(w.rate_mbps / w.n);
	if (idle ? !w.marks || !hold_less(p, s) : !stands || !hold_more(s))
		return;
	ibcc_rules_say(p, idle ? IBCC_DECISION_LOOSEN : IBCC_DECISION_TIGHTEN, s)->a =
		(uint32_t)(w.busy / w.n);
	ibcc_rules_change(p, s);
}

/* Judges whether the tree is gone or back. For a slow receiver, a tree and sources that are
 * throttled too much look alike unless the log shows which senders it limits. The difference
 * matters only if other roots have its values.
 */
static void judge_tree(struct pass *p, struct ibcc_root_state *s)
{
	struct ibcc_root_parameters *r = &s->r;
	uint64_t waiting = s->now->n_waiting;
	bool gone = waiting * (r->tree_gone ? BACK_SHARE : GONE_SHARE) <= s->n_adapters ||
		    (s->now->tree_wait_permille < p->c->p.victim_wait_permille &&
		     waiting <= s->n_adapters) ||
		    (r->kind == IBCC_CONGESTION_INPUT && !ibcc_rules_tally(p).in_between &&
		     ibcc_rules_busy(s->now) < p->c->p.sink_busy_permille);

	s->turning = gone == r->tree_gone ? 0 : s->turning + (s->turning < UINT8_MAX);
	if (s->turning < (gone ? IBCC_JUDGE_PASSES << s->backoff : BACK_PASSES) ||
	    (r->kind == IBCC_CONGESTION_OUTPUT && gone && (!r->limits_known || r->alone)))
		return;
	s->turning = 0;
	r->tree_gone = gone;
	s->backoff += !gone && s->backoff < IBCC_BACKOFF_MAX;
	ibcc_rules_say(p, gone ? IBCC_DECISION_TREE_GONE : IBCC_DECISION_TREE_BACK, s);
}

/* What a port carried while another program had changed its sources' settings says nothing about
 * ours. One source that is throttled from outside leaves the port idle, and the others would be
 * held less for good: that a full port could do with less of it is not seen afterwards.
 */
static void begin_again(struct pass *p, struct ibcc_root_state *s)
{
	bool moved = s->r.table_scale_permille != 1000 || s->r.timer_scale_permille != 1000;

	s->disturbed = false;
	s->win = (struct ibcc_window){ 0 };
	if (moved)
		ibcc_rules_discard_feedback(p, s);
	else
		s->settle = p->c->p.settle_passes;
}

void ibcc_rule_feedback(struct pass *p, struct ibcc_root_state *s)
{
	if (s->disturbed && !s->done)
		begin_again(p, s);
	if (s->r.phase != IBCC_PHASE_HOLD || !s->now || s->done)
		return;
	/* A person who applies a plan gets the profile that the plan shows, and no steps from it.
	 */
	if (ibcc_rules_by_profile(p, s)) {
		if (!p->c->limits.within && !p->c->limits.recommends &&
		    s->win.n >= IBCC_JUDGE_PASSES << s->backoff)
			judge_profile(p, s);
		return;
	}
	judge_tree(p, s);
	if (s->win.n >= IBCC_JUDGE_PASSES)
		judge(p, s);
}
