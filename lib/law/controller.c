/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The control law: what is decided for the roots of congestion in one pass.
 *
 * A pass sees an estimate (estimate.h): where congestion starts, which senders contribute, and
 * which are blocked. It makes parameters (parameters.h): for each root a phase, the numbers for the
 * formulas, and the adapters that get values. It sees no counters and no registers. The function
 * ibcc_controller_step(), at the end of this file, is the whole pass; each of its steps has a file:
 *
 *   watch    rule_admit.c     which roots there are, and which are gone
 *   follow   controller.c     what the pass says of each root that is followed
 *   guard    rule_guard.c     control that does harm, or frees no sender, is reverted
 *   size     rule_size.c      how many a root holds, and what they get in all
 *   drain    rule_drain.c     a slow receiver's tree is emptied before its sources are held
 *   feedback rule_feedback.c  a hot port stays busy, a tree that is gone needs fewer marks
 *   admit    rule_admit.c     one more root is controlled
 *   group    group.c          roots that share sources share their values
 *
 * A pass may leave out nodes (collect.h). A root whose port was left out is as it was: it is not
 * judged, and none of its passes is counted. So passes, as all limits below have them, are those
 * that read the root's port, and a root that is looked at ten times as often is decided on in a
 * tenth of the time.
 *
 * The first step that has reason to change a root does, and later ones leave it alone. Then all
 * roots settle for settle_passes: nothing is judged that the change has had no time to show in.
 *
 * Phases of a root. ibcc_root_enter() alone changes them:
 *
 *                       +--> LEARN --+-----------+
 *                       |            v           v
 *   (no root) ---> WATCH ---------> DRAIN <---> HOLD
 *                   ^   |                        ^
 *                   |   +------------------------+
 *                   |
 *                   +--- BARRED <--- from LEARN, DRAIN and HOLD
 *
 *   (no root) to WATCH        the root is seen, and control of it may help a sender
 *   WATCH to LEARN            admitted; its adapters throttle all they send: which contribute?
 *   WATCH, LEARN to DRAIN     a slow receiver's tree stands, and holding would empty it too slowly
 *   WATCH, LEARN to HOLD      there is no such tree
 *   DRAIN to HOLD             the tree is empty, or its time is over
 *   HOLD to DRAIN             the tree stands again
 *   any of the three to BARRED  control did harm, or frees no sender
 *   BARRED to WATCH           the time of the bar is over
 *   WATCH to (no root)        it is not seen in a pass
 *   the three to (no root)    it is not seen for quiet_passes
 *   any to (no root)          the counters of its port are not believed any more
 *
 * Formulas (law.c), for n pairs or adapters on links of rate C, that get R in all, with packets
 * that take T each:
 *
 *   x      = n C / R - 1          delay, in packet times, that brings each to its fair share
 *   end    = 1.15 x + 0.5         where the table ends; 0.2 where the log names all pairs
 *   N      = n T C / R            time between two packets of one flow at its fair share
 *   p      = N / (increase timer) share of packets that is marked in equilibrium: 0.12
 *
 * Control exists only if p can be below 1 and the table's end is beyond x.
 *
 * Each constant stands beside the step that uses it, with its reason. doc/internals/notebook.md
 * reports what happens without a rule, with another value of a constant, and with half and double
 * of most constants. It lists those for which half and double were not measured.
 */
#include "rules.h"

/* One in UNSET_SHARE of a root's members may lack its settings: a few adapters never take them. */
#define UNSET_SHARE 8u
/* A source may have lost its settings if it gets many more BECNs than the others, for the time that
 * it can send: at least OUTLIER_BECNS, and OUTLIER_RATIO times the others' average.
 */
#define OUTLIER_BECNS 32u
#define OUTLIER_RATIO 8u
/* Passes at most between two doubts whether settings are still on the fabric. */
#define SUSPECT_MAX 63u
/* An interval that is this many times as long as the one before was interrupted: something kept a
 * program from working.
 */
#define INTERRUPTED 2u

/* One of several sources is marked far more than the others, for the time that it can send, and
 * goes on: it may have lost its settings.
 */
static bool has_outlier(const struct ibcc_root_state *s, const struct ibcc_root *now)
{
	uint64_t sum = 0, most = 0;

	for (uint32_t i = 0; i < now->n_sources; i++) {
		const struct ibcc_source *of = &now->source[i];
		uint64_t rate = of->becn * 1000 / (1001u - of->wait_permille);

		sum += rate;
		if (of->becn >= IBCC_TELLING_BECNS && rate > most)
			most = rate;
	}
	return most >= OUTLIER_BECNS && most * (s->n_adapters - 1) > OUTLIER_RATIO * (sum - most);
}

/* Do the counters look as if a node had rebooted and lost its settings? The node may be the root's
 * switch, which marks no more, or a source. Reading all settings takes time.
 */
bool ibcc_controller_suspects(const struct pass *p)
{
	struct ibcc_tuner *c = p->c;
	bool now = false;

	for (uint32_t k = 0; k < c->par.n_roots; k++) {
		const struct ibcc_root_state *s = &c->par.root[k];
		const struct ibcc_root *seen = ibcc_estimate_find(p->pic, s->r.port);

		now |= (s->r.phase == IBCC_PHASE_HOLD || s->r.phase == IBCC_PHASE_LEARN) &&
		       s->r.in_force && !s->settle && ibcc_estimate_sees(p->pic, seen) &&
		       !seen->kept &&
		       (has_outlier(s, seen) ||
			(!seen->becn && seen->tree_wait_permille > c->p.victim_wait_permille));
	}
	if (c->suspect_wait)
		c->suspect_wait--;
	if (!now || c->suspect_wait)
		return false;
	c->suspect_pause =
		c->suspect_pause < SUSPECT_MAX ? c->suspect_pause * 2u + 1u : SUSPECT_MAX;
	c->suspect_wait = c->suspect_pause;
	return true;
}

/* Are a root's settings on the fabric, but for a few adapters that do not take them? */
static bool in_force(const struct pass *p, struct ibcc_root_state *s,
		     const struct ibcc_target *unset)
{
	const struct ibcc_root_parameters *r = &s->r;
	uint32_t sw = ibcc_topo_switch_endport(p->t, r->port);
	uint32_t members = 0, without = 0, last = IBCC_NONE;

	for (uint32_t i = 0; i < unset->n_reasons; i++) {
		uint32_t ep = unset->reason[i].endport;

		if (ep == sw)
			return false;
		without += r->member[ep] && ep != last;
		last = ep;
	}
	for (uint32_t i = 0; i < p->c->par.n_endports; i++)
		members += r->member[i];
	s->begun |= without < members;
	return without * UNSET_SHARE <= members;
}

/* Adds this pass to the window by which feedback judges the root later. A port that waits for
 * credits keeps its sink busy. So does one that carries what it carried when it was jammed: the
 * sink then works on what is in its buffer while the port is idle. A full link can carry what it is
 * made for, whatever it carried when it was measured. More than all of the time counts, too: if one
 * reading came late, the next shows less by that amount.
 */
static void judge_later(const struct pass *p, struct ibcc_root_state *s)
{
	uint64_t busy = ibcc_rules_busy(s->now);
	uint64_t sink = 1000ull * s->now->rate_mbps / s->full_mbps;

	s->win.own_busy += busy;
	if (s->r.kind == IBCC_CONGESTION_OUTPUT && sink > busy)
		busy = sink;
	s->win.n++;
	s->win.busy += busy;
	s->win.rate_mbps += s->now->rate_mbps;
	s->win.marks += ibcc_rules_marks(p, s->now);
	s->win.sent_mbps += ibcc_rules_sent(p, s);
}

/* What the pass says about a root that is held. */
static void follow_held(struct pass *p, struct ibcc_root_state *s)
{
	struct ibcc_root_parameters *r = &s->r;

	if (!s->now) {
		r->status = s->root ? IBCC_STATUS_NOT_READ : IBCC_STATUS_ABSENT;
	} else if (r->basis != IBCC_BASIS_WAITING && has_outlier(s, s->now)) {
		r->status = IBCC_STATUS_OUTLIER;
		s->now = NULL; /* nothing can be judged by such a pass */
	} else if (s->settle) {
		r->status = IBCC_STATUS_SETTLING;
	} else {
		r->status = r->table_scale_permille < 1000 || r->timer_scale_permille < 1000
				    ? IBCC_STATUS_ADJUSTED
				    : IBCC_STATUS_HOLDING;
		judge_later(p, s);
	}
	s->settle -= s->settle > 0;
}

/* What the pass says about a root, before the rules look at it. */
static void follow(struct pass *p, struct ibcc_root_state *s, const struct ibcc_target *unset)
{
	struct ibcc_root_parameters *r = &s->r;

	s->known = ibcc_estimate_find(p->pic, r->port);
	s->done = s->known && s->known->kept;
	if (s->done) {
		s->known = s->root = s->now = NULL;
		r->in_force = ibcc_phase_sets(r->phase) && in_force(p, s, unset);
		return;
	}
	s->root = ibcc_estimate_sees(p->pic, s->known) ? s->known : NULL;
	s->now =
		s->root && s->root->confidence_permille >= IBCC_CONFIDENT_PERMILLE ? s->root : NULL;
	s->pause -= s->pause > 0;
	if (!ibcc_phase_sets(r->phase))
		return;
	r->in_force = in_force(p, s, unset);
	if (!r->in_force) {
		r->status = p->c->limits.recommends ? IBCC_STATUS_RECOMMENDED
						    : IBCC_STATUS_NOT_IN_FORCE;
		s->unmarked |= r->phase == IBCC_PHASE_HOLD && s->begun && s->now &&
			       !ibcc_rules_marks(p, s->now);
	} else if (r->phase == IBCC_PHASE_HOLD) {
		follow_held(p, s);
	} else {
		r->status =
			r->phase == IBCC_PHASE_LEARN ? IBCC_STATUS_LEARNING : IBCC_STATUS_DRAINING;
		s->settle -= s->settle > 0;
	}
}

/* An interval that is far longer than the one before holds something that was not ours to choose,
 * or another choice of the operator's, which is one pass late.
 */
static bool is_far_longer(uint64_t *before_ns, uint64_t ns)
{
	bool is = *before_ns && ns > INTERRUPTED * *before_ns;

	*before_ns = ns;
	return is;
}

/* Passes over all ports take longer than those over some, and come between them. So intervals are
 * compared from one pass over all to the next, and between two passes over some that follow each
 * other.
 */
static bool was_interrupted(struct ibcc_tuner *c, const struct ibcc_estimate *pic)
{
	bool follows_whole = !c->since_whole_ns;
	uint64_t ns;

	c->since_whole_ns += pic->interval_ns;
	if (pic->partial)
		return !follows_whole && is_far_longer(&c->partial_ns, pic->interval_ns);
	ns = c->since_whole_ns;
	c->since_whole_ns = 0;
	return is_far_longer(&c->whole_ns, ns);
}

/* Too little was read to decide on anything. How long a bar lasts does not hang on that. */
static void pass_over_all(struct pass *p)
{
	struct ibcc_parameters *par = &p->c->par;

	for (uint32_t k = 0; k < par->n_roots; k++)
		if (par->root[k].r.phase != IBCC_PHASE_BARRED)
			par->root[k].r.status = IBCC_STATUS_UNREADABLE;
	for (uint32_t i = 0; i < p->pic->n_roots; i++)
		if (!ibcc_parameters_find(par, p->pic->root[i].port))
			ibcc_parameters_pass_over(par, p->pic->root[i].port,
						  IBCC_STATUS_UNREADABLE);
}

/* Asks a rule about each root whose settings are on the fabric. */
static void each_in_force(struct pass *p, void (*rule)(struct pass *p, struct ibcc_root_state *s))
{
	for (uint32_t k = 0; k < p->c->par.n_roots; k++)
		if (p->c->par.root[k].r.in_force)
			rule(p, &p->c->par.root[k]);
}

/* Time goes on. What kept the fabric from being read, or us from reading it, may have kept packets
 * back, too, until some time in the first interval that can be read again. Returns whether enough
 * was read to decide on anything.
 */
static bool begin(struct pass *p)
{
	struct ibcc_tuner *c = p->c;

	c->par.n_others = 0;
	if (!p->pic->trustworthy || was_interrupted(c, p->pic))
		ibcc_rules_restart_judging(c, 1);
	if (!p->pic->trustworthy) {
		pass_over_all(p);
		return false;
	}
	c->since_change += c->since_change < UINT16_MAX;
	c->gone_since += c->gone_since < UINT32_MAX;
	return true;
}

int ibcc_controller_step(struct pass *p, const struct ibcc_target *unset)
{
	struct ibcc_tuner *c = p->c;
	int ret;

	if (!begin(p))
		return 0;
	ibcc_rule_watch(p);
	for (uint32_t k = 0; k < c->par.n_roots; k++)
		follow(p, &c->par.root[k], unset);
	ibcc_rule_guard(p);
	each_in_force(p, ibcc_rule_size);
	each_in_force(p, ibcc_rule_drain);
	each_in_force(p, ibcc_rule_feedback);
	ret = ibcc_rule_admit(p);
	ibcc_parameters_group(&c->par, p->t);
	return ret;
}
