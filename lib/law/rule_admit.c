/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Admit: which roots are controlled. The rule takes them one after the other, since the tree of one
 * can hide or fake another. It admits a root that is seen again and again, can be believed, and
 * blocks a sender that could send elsewhere. The root stays until it is long gone, since a
 * controlled root and a vanished one look alike for a while.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/law.h>

#include "rules.h"

/* Passes in which sources that were held repay their backlog after a change, and fill links that
 * congestion does not start at. Without BACKLOG_PASSES, STOOD_PASSES and STRICT_WAIT `mixed` and
 * `zrl-output` miss rows. With half and double of them random scenarios do not differ by more than
 * chance.
 */
#define BACKLOG_PASSES 5u
/* A link that is full for this many passes, twice BACKLOG_PASSES, is no backlog, even if something
 * changes in every few passes.
 */
#define STOOD_PASSES 10u
/* Permille of waiting that the feeders of a full link need once another root is controlled. At 90 %
 * load the ports of a healthy switch wait up to 300 for a moment.
 */
#define STRICT_WAIT 250u
/* Sources send elsewhere, too, if that is more than this many permille of what they send.
 * Acknowledgements, which also go elsewhere, stay below it.
 */
#define FOREIGN_PERMILLE 20u
/* Before marks show it, this many permille of what one source sends must go elsewhere, or control
 * would help nobody. Switches and adapters serve in turns, so a blocked sender gets about as much
 * as each sender that blocks it. Without this rule rings lose 1.7 to 3.3 %.
 * With half and double random scenarios do not differ by more than chance.
 */
#define HELD_UP_PERMILLE 500u
/* Passes in which a link is full before it is admitted in doubt. Without such admissions the mean
 * of random scenarios is 0.2 points lower. With half and double of the passes it does not differ by
 * more than chance.
 */
#define DOUBT_PASSES 6u
/* Passes of phase LEARN. In each of them IBCC_TELLING_BECNS marks for each source are made. */
#define LEARN_PASSES 8u
/* A root that is back within this many times the quiet passes after its settings went was not gone.
 */
#define BACK_SOON 2u
/* A root that comes back again and again keeps its settings for at most this many times the quiet
 * passes.
 */
#define PATIENCE_MAX 64u

/* What a root carries of another's sources, by what they send: *r and *of list them by port. */
static uint64_t carried_of(const struct ibcc_root *r, const struct ibcc_root *of)
{
	uint64_t common = 0, all = 0;

	for (uint32_t i = 0, k = 0; i < r->n_sources; i++) {
		while (k < of->n_sources && of->source[k].port < r->source[i].port)
			k++;
		if (k < of->n_sources && of->source[k].port == r->source[i].port)
			common += r->source[i].xmit_mbps;
		all += r->source[i].xmit_mbps;
	}
	return all ? r->rate_mbps * common / all : 0;
}

/* Can control of this root help? It can if a sender that is blocked behind the root also sends
 * elsewhere: then it helps to throttle the others. Sources that all send to the root alone only
 * share it: throttling them would cost something and help none (Mizero et al., DCMS, 2016, found
 * this for marking rates).
 *
 * Before marks show the contributors, this compares rates: some source sends elsewhere if the
 * sources send more than the root and the other roots of its switch carry for them. A packet leaves
 * a switch by one port. What adapters at the root's own switch send without waiting may go through
 * the root, too. Then they take more of it than those that wait.
 */
static bool worth_acting(const struct pass *p, const struct ibcc_root *now)
{
	uint64_t sent = 0, carried = 0, least;
	bool waits = false;

	for (uint32_t i = 0; i < now->n_sources; i++) {
		sent += now->source[i].xmit_mbps;
		if (now->source[i].role == IBCC_ROLE_VICTIM &&
		    now->source[i].wait_permille > p->c->p.victim_wait_permille)
			return true;
		waits |= now->source[i].role == IBCC_ROLE_CANDIDATE;
	}
	for (uint32_t k = 0; k < p->pic->n_roots; k++)
		if (p->t->port[p->pic->root[k].port].node == p->t->port[now->port].node)
			carried += carried_of(&p->pic->root[k], now);
	least = HELD_UP_PERMILLE / (now->n_sources ? now->n_sources : 1);
	least = least > FOREIGN_PERMILLE ? least : FOREIGN_PERMILLE;
	return waits && sent > carried && (sent - carried) * 1000 > sent * least;
}

/* What speaks against acting on a root that blocks a sender; NOT_CONFIRMED: only that it is new.
 * Backlog that is repaid after a change fills many links for a moment, but not for long.
 */
static enum ibcc_root_status believe(const struct pass *p, const struct ibcc_root_state *s,
				     const struct ibcc_root *now)
{
	if (now->confidence_permille < IBCC_CONFIDENT_PERMILLE)
		return IBCC_STATUS_NOT_READ;
	if (now->kind == IBCC_CONGESTION_OUTPUT)
		return IBCC_STATUS_NOT_CONFIRMED;
	if (p->c->since_change < BACKLOG_PASSES && s->stood < STOOD_PASSES)
		return IBCC_STATUS_BACKLOG;
	if (now->tree_wait_permille < STRICT_WAIT && ibcc_rules_tally(p).on)
		return IBCC_STATUS_FEEDERS_FREE;
	return IBCC_STATUS_NOT_CONFIRMED;
}

/* Is there room for a root in doubt? If switches log what they mark, a full link may be admitted in
 * doubt: the log will show which pairs it limits, if any. Roots in doubt must leave room for those
 * that are worth it.
 */
static bool has_room_for_doubt(const struct pass *p)
{
	return ibcc_rules_tally(p).limiting && p->c->par.n_roots < IBCC_ROOTS_MAX / 2;
}

static bool in_doubt(const struct pass *p, const struct ibcc_root_parameters *r,
		     const struct ibcc_root *now)
{
	return ibcc_rules_tally(p).limiting && r->kind == IBCC_CONGESTION_INPUT &&
	       r->kind == now->kind && now->present >= DOUBT_PASSES &&
	       now->tree_wait_permille >= IBCC_FREE_PERMILLE &&
	       now->confidence_permille >= IBCC_CONFIDENT_PERMILLE;
}

/* A root that is back soon after its settings were removed was controlled, not gone: next time they
 * stay for twice as long.
 */
static uint16_t patience_for(const struct ibcc_tuner *c, uint32_t port)
{
	if (port != c->gone_port ||
	    c->gone_since > BACK_SOON * c->gone_patience * c->p.quiet_passes)
		return 1;
	return c->gone_patience < PATIENCE_MAX ? c->gone_patience * 2 : PATIENCE_MAX;
}

/* Begins to follow a root; NULL, and why, if there is no need or no room. */
static struct ibcc_root_state *begin(struct pass *p, const struct ibcc_root *now, bool worth)
{
	struct ibcc_parameters *par = &p->c->par;
	struct ibcc_root_state *s;

	if (!worth && !has_room_for_doubt(p)) {
		ibcc_parameters_pass_over(par, now->port, IBCC_STATUS_HELPS_NOBODY);
		return NULL;
	}
	if (now->confidence_permille < IBCC_CONFIDENT_PERMILLE) {
		ibcc_parameters_pass_over(par, now->port, IBCC_STATUS_NOT_READ);
		return NULL;
	}
	s = ibcc_parameters_add(par, now->port);
	if (!s) {
		ibcc_parameters_pass_over(par, now->port, IBCC_STATUS_NO_ROOM);
		return NULL;
	}
	s->patience = patience_for(p->c, now->port);
	return s;
}

/* A profile is judged by what the adapters send that wait for its root when it is seen first. */
static void note_behind(const struct pass *p, struct ibcc_root_state *s,
			const struct ibcc_root *now)
{
	memset(s->behind, 0, p->c->par.n_endports * sizeof(*s->behind));
	for (uint32_t i = 0; i < now->n_sources; i++)
		s->behind[p->t->port[now->source[i].port].endport] = true;
}

static void watch_root(struct pass *p, const struct ibcc_root *now)
{
	struct ibcc_root_state *s = ibcc_parameters_find(&p->c->par, now->port);
	bool worth = worth_acting(p, now);
	struct ibcc_root_parameters *r;

	if (!s)
		s = begin(p, now, worth);
	if (!s)
		return;
	r = &s->r;
	if (now->kept)
		return;
	s->absent = 0;
	if (r->phase != IBCC_PHASE_WATCH)
		return;
	s->stood = worth && r->kind == now->kind ? s->stood + 1 : 0;
	r->status = worth ? believe(p, s, now) : IBCC_STATUS_HELPS_NOBODY;
	if (r->status != IBCC_STATUS_NOT_CONFIRMED || (s->seen && r->kind != now->kind))
		s->seen = 0;
	else if (++s->seen >= p->c->p.confirm_passes)
		r->status = IBCC_STATUS_WAITS;
	if (s->seen <= 1)
		note_behind(p, s, now);
	s->win.n = s->seen > 1 ? s->win.n + 1 : 0;
	s->win.sent_mbps = s->seen > 1 ? s->win.sent_mbps + ibcc_rules_sent(p, s) : 0;
	r->kind = now->kind;
	r->link_mbps = now->link_mbps;
	r->seen_mbps = now->rate_mbps;
	r->wait_permille = now->wait_permille;
	r->tree_wait_permille = now->tree_wait_permille;
}

/* A root with sources that are throttled too much looks like one that is gone, until they have
 * recovered.
 */
static bool is_gone(const struct ibcc_tuner *c, const struct ibcc_root_state *s)
{
	uint32_t patience =
		s->begun ? c->p.quiet_passes * (uint32_t)s->patience : c->p.confirm_passes;

	if (s->r.phase == IBCC_PHASE_WATCH)
		return true;
	if (s->begun && patience < s->r.recover)
		patience = s->r.recover;
	return s->absent >= patience;
}

/* Whatever was decided by counters that are not believed any more is void. */
static void drop_doubted(struct pass *p)
{
	struct ibcc_tuner *c = p->c;

	for (uint32_t k = c->par.n_roots; k-- > 0;) {
		struct ibcc_root_state *s = &c->par.root[k];
		const struct ibcc_root *known = ibcc_estimate_find(p->pic, s->r.port);

		if (!known || !known->doubted)
			continue;
		if (ibcc_phase_sets(s->r.phase)) {
			ibcc_rules_say(p, IBCC_DECISION_DOUBTED, s);
			ibcc_rules_change(p, s);
		}
		ibcc_rules_drop(c, s, IBCC_STATUS_DOUBTED);
	}
}

/* Was a root's port left out of this pass? */
static bool is_kept(const struct pass *p, const struct ibcc_root_state *s)
{
	const struct ibcc_root *known = ibcc_estimate_find(p->pic, s->r.port);

	return known && known->kept;
}

void ibcc_rule_watch(struct pass *p)
{
	struct ibcc_tuner *c = p->c;

	drop_doubted(p);
	for (uint32_t k = 0; k < c->par.n_roots; k++) {
		struct ibcc_root_state *s = &c->par.root[k];

		if (s->r.phase == IBCC_PHASE_BARRED && !is_kept(p, s) && !--s->left)
			ibcc_root_enter(s, IBCC_PHASE_WATCH, 0);
	}
	for (uint32_t i = 0; i < p->pic->n_roots; i++)
		watch_root(p, &p->pic->root[i]);
	for (uint32_t k = c->par.n_roots; k-- > 0;) {
		struct ibcc_root_state *s = &c->par.root[k];

		if (s->r.phase == IBCC_PHASE_BARRED || is_kept(p, s) ||
		    ibcc_estimate_sees(p->pic, ibcc_estimate_find(p->pic, s->r.port)))
			continue;
		s->absent++;
		if (is_gone(c, s))
			ibcc_rules_drop(c, s, IBCC_STATUS_GONE);
	}
}

static bool contributors_known(const struct ibcc_root *now)
{
	for (uint32_t i = 0; i < now->n_sources; i++)
		if (now->source[i].role == IBCC_ROLE_CONTRIBUTOR)
			return true;
	return false;
}

static int admit(struct pass *p, struct ibcc_root_state *s, const struct ibcc_root *now)
{
	struct ibcc_tuner *c = p->c;
	struct ibcc_root_parameters *r = &s->r;
	uint32_t n = now->n_contributors ? now->n_contributors : 1;
	uint32_t n_loads = p->pic->n_loads;
	bool learns;

	ibcc_rules_enlist_sources(p, s, now);
	/* If adapters throttle all that they send, the contributors should be known before any
	 * adapter is throttled. They are learnt while no other root marks, since a BECN does not
	 * say which root it is from. If settings are only recommended, learning would never end.
	 */
	learns = ibcc_rules_hold_all(p, r) && c->limits.may_learn;
	if (learns && ibcc_rules_tally(p).on) {
		memset(r->member, 0, c->par.n_endports * sizeof(*r->member));
		r->status = IBCC_STATUS_WAITS_TO_LEARN;
		return 0;
	}
	if (!s->before)
		s->before = calloc(n_loads ? n_loads : 1, sizeof(*s->before));
	if (!s->before)
		return -ENOMEM;
	memcpy(s->before, p->pic->load, n_loads * sizeof(*s->before));
	ibcc_rules_number(s, n, n, now->rate_mbps);
	r->basis = contributors_known(now) ? IBCC_BASIS_MARKED : IBCC_BASIS_WAITING;
	r->packet_bytes = now->packet_bytes;
	r->threshold = ibcc_law_threshold(r->kind);
	r->interval_ns = now->interval_ns;
	s->now = now;
	if (s->win.n)
		s->kept_mbps = s->win.sent_mbps / s->win.n;
	s->win = (struct ibcc_window){ 0 };
	if (learns) {
		ibcc_root_enter(s, IBCC_PHASE_LEARN, LEARN_PASSES);
		ibcc_rules_say(p, IBCC_DECISION_LEARN, s);
	} else {
		ibcc_rules_drain_or_hold(p, s);
		ibcc_rules_say(p, IBCC_DECISION_ADMIT, s);
	}
	ibcc_rules_change(p, s);
	return 0;
}

/* Is a full link perhaps only what changes made elsewhere let through? One that has stood for long
 * is not, unless trees are still being emptied.
 */
static bool may_pass(const struct ibcc_tuner *c, const struct ibcc_root_state *s)
{
	for (uint32_t k = 0; k < c->par.n_roots; k++) {
		const struct ibcc_root_state *o = &c->par.root[k];

		if (ibcc_phase_sets(o->r.phase) &&
		    (o->r.phase == IBCC_PHASE_DRAIN || !o->r.in_force ||
		     (o->settle && s->stood < STOOD_PASSES)))
			return true;
	}
	return false;
}

/* A recommendation follows what is seen now: nothing of it is on the fabric, and a user that
 * applies it later shall not get numbers of the moment when congestion began.
 */
static void look_again(const struct pass *p, struct ibcc_root_state *s)
{
	const struct ibcc_root *now = s->now;
	uint32_t n;

	if (!ibcc_phase_sets(s->r.phase) || s->begun || !now || now->kind != s->r.kind)
		return;
	s->win.n++;
	s->win.rate_mbps += now->rate_mbps;
	s->win.sent_mbps += ibcc_rules_sent(p, s);
	if (s->win.n < IBCC_JUDGE_PASSES)
		return;
	n = now->n_contributors ? now->n_contributors : 1;
	ibcc_rules_number(s, n, n, (uint32_t)(s->win.rate_mbps / s->win.n));
	s->kept_mbps = s->win.sent_mbps / s->win.n;
	s->win = (struct ibcc_window){ 0 };
}

/* A profile is compared with a window from before it, which begins when the root is seen again. */
static uint32_t passes_to_confirm(const struct pass *p, const struct ibcc_root_state *s)
{
	uint32_t n = p->c->p.confirm_passes;

	return n <= IBCC_JUDGE_PASSES && ibcc_rules_by_profile(p, s) ? IBCC_JUDGE_PASSES + 1 : n;
}

/* The most severe root that has been seen often enough comes next. A full link may be what settings
 * that are new let through, so it has to wait for them to settle; a slow sink cannot be mistaken.
 */
int ibcc_rule_admit(struct pass *p)
{
	struct ibcc_tuner *c = p->c;
	int ret;

	for (uint32_t k = 0; c->limits.recommends && k < c->par.n_roots; k++)
		look_again(p, &c->par.root[k]);
	for (uint32_t k = 0; c->limits.within && k < c->par.n_roots; k++)
		if (c->par.root[k].r.phase == IBCC_PHASE_WATCH)
			c->par.root[k].r.status = IBCC_STATUS_OUTSIDE;
	if (ibcc_rules_tally(p).learning || c->limits.within)
		return 0;
	for (uint32_t i = 0; i < p->pic->n_roots; i++) {
		const struct ibcc_root *now = &p->pic->root[i];
		struct ibcc_root_state *s = ibcc_parameters_find(&c->par, now->port);
		struct ibcc_root_parameters *r;
		bool confirmed;

		if (!s || s->r.phase != IBCC_PHASE_WATCH || now->kept)
			continue;
		r = &s->r;
		confirmed = s->seen >= passes_to_confirm(p, s) &&
			    (r->kind == IBCC_CONGESTION_OUTPUT || !may_pass(c, s));
		if (!confirmed && !in_doubt(p, r, now))
			continue;
		if (p->actual->ep[ibcc_topo_switch_endport(p->t, r->port)].support !=
		    IBCC_CC_SUPPORTED) {
			r->status = IBCC_STATUS_NO_SUPPORT;
			ibcc_rules_say(p, IBCC_DECISION_NO_SUPPORT, s);
			continue;
		}
		r->tree_gone = !confirmed; /* others hold its sources already */
		ret = admit(p, s, now);
		if (ret || r->phase != IBCC_PHASE_WATCH)
			return ret;
	}
	return 0;
}
