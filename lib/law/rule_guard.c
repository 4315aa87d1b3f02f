/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Guard: do no harm. This rule compares what adapters send under a root's control with what they
 * sent before it.
 *
 * Demand may have changed meanwhile. It shows at adapters that are not controlled and that wait
 * neither before nor now, since these send all that they have. If they send less by some share, the
 * others are expected to send less by this share, too. If the others send less than expected in
 * several passes in a row, the rule removes the settings. The root is not tried again for a while,
 * which doubles each time. Later on too much has changed to compare, and feedback judges by the
 * root alone.
 *
 * Adapters that react by service level throttle all that they send, to any destination. Without
 * control, their packets to other destinations wait behind their own packets for the root. Under
 * control, both are throttled together, so such an adapter cannot gain. Only adapters that send
 * nothing to the root and wait behind its tree can gain. If there are none, control can only lose
 * the rate that its saw teeth leave unused.
 */
#include "rules.h"

/* One part in KNOWN_SHARE of all traffic must come from adapters that are not controlled and do not
 * wait, or they show nothing about demand.
 */
#define KNOWN_SHARE 8u
/* Control does harm if adapters send less than this many permille of what they sent before. When
 * congestion is first seen, it has not taken all that it will yet. So a small loss need not be
 * harm.
 */
#define HARM_PERMILLE 850u
/* A root that carries this many permille of what it carried before has lost nothing. */
#define LESS_PERMILLE 900u
/* If contributors send this many permille more than their root carries, the surplus goes elsewhere.
 */
#define ELSEWHERE_PERMILLE 100u
/* Passes of the first bar, which is doubled each time, and of the longest. */
#define BAR_PASSES 32u
#define BAR_MAX    1024u
/* What adapters without control send shows how demand has changed. It is not believed to fall below
 * this many permille of what it was, nor to grow.
 */
#define DRIFT_LOW 500u

static bool harmed(const struct pass *p, const struct ibcc_root_state *s)
{
	uint64_t before = 0, now = 0, free_before = 0, free_now = 0, drift = 1000;

	for (uint32_t i = 0; i < p->pic->n_loads; i++) {
		const struct ibcc_load *b = &s->before[i], *n = &p->pic->load[i];

		before += b->mbps;
		now += n->mbps;
		if (s->r.member[i] || b->wait_permille > IBCC_FREE_PERMILLE ||
		    n->wait_permille > IBCC_FREE_PERMILLE)
			continue;
		free_before += b->mbps;
		free_now += n->mbps;
	}
	if (free_before && free_before * KNOWN_SHARE >= before)
		drift = free_now * 1000 / free_before;
	drift = drift < DRIFT_LOW ? DRIFT_LOW : drift > 1000 ? 1000 : drift;
	return now * 1000 < before * drift / 1000 * HARM_PERMILLE;
}

static bool does_harm(const struct pass *p, struct ibcc_root_state *s)
{
	const struct ibcc_root *now = s->known;
	bool less;

	if (s->r.phase != IBCC_PHASE_HOLD || s->guarded >= p->c->p.guard_passes ||
	    p->c->since_change <= p->c->p.settle_passes || ibcc_rules_tally(p).in_between || !now ||
	    !now->fresh)
		return false;
	s->guarded++;
	less = now->rate_mbps * 1000ull < (uint64_t)s->full_mbps * LESS_PERMILLE &&
	       now->rate_mbps * IBCC_TRACE_SHARE >= s->full_mbps;
	s->harmed = less && harmed(p, s) ? s->harmed + 1 : 0;
	return s->harmed >= IBCC_JUDGE_PASSES;
}

bool ibcc_rules_hold_all(const struct pass *p, const struct ibcc_root_parameters *r)
{
	uint32_t n = 0, n_all = 0;

	for (uint32_t i = 0; i < p->c->par.n_endports; i++) {
		const struct ibcc_endport_cc *ep = &p->actual->ep[i];

		n += r->member[i];
		n_all += r->member[i] &&
			 (ep->by_block || ep->ca.Port_Control & IBCC_CC_PORT_CONTROL_SL);
	}
	return 2 * n_all > n;
}

void ibcc_rules_bar(struct pass *p, struct ibcc_root_state *s, bool in_vain)
{
	uint16_t passes = !s->barred                ? BAR_PASSES
			  : s->barred < BAR_MAX / 2 ? 2 * s->barred
						    : BAR_MAX;

	ibcc_rules_say(p, in_vain ? IBCC_DECISION_IN_VAIN : IBCC_DECISION_HARM, s);
	ibcc_rules_discard_feedback(p, s);
	for (uint32_t i = 0; i < p->c->par.n_endports; i++)
		s->r.member[i] = s->r.lacking[i] = false;
	ibcc_root_enter(s, IBCC_PHASE_BARRED, passes);
	s->r.status = in_vain ? IBCC_STATUS_BARRED_IN_VAIN : IBCC_STATUS_BARRED_HARM;
}

/* Would control of a root free no sender, or cost more than it frees? It frees none if all senders
 * that waited contribute. It costs more if the contributors throttle all that they send and send
 * much elsewhere.
 */
static bool frees_nobody(const struct pass *p, const struct ibcc_root_state *s)
{
	const struct ibcc_root *now = s->known;
	uint64_t sent = 0;
	bool frees = false;

	if (!now || !now->n_marked || !ibcc_rules_hold_all(p, &s->r))
		return false;
	for (uint32_t i = 0; i < p->pic->n_loads; i++) {
		bool contributes = now->becns[i] > 0;

		sent += contributes ? p->pic->load[i].mbps : 0;
		frees |= s->before[i].wait_permille > p->c->p.victim_wait_permille && !contributes;
	}
	return !frees || sent * 1000 > (uint64_t)now->rate_mbps * (1000 + ELSEWHERE_PERMILLE);
}

void ibcc_rule_guard(struct pass *p)
{
	for (uint32_t k = p->c->par.n_roots; k-- > 0;) {
		struct ibcc_root_state *s = &p->c->par.root[k];
		bool in_vain = s->r.in_force && frees_nobody(p, s);

		if (in_vain || (s->r.in_force && does_harm(p, s))) {
			ibcc_rules_bar(p, s, in_vain);
			return; /* what the others do may be others' doing now */
		}
	}
}
