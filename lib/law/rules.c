/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the rules do to a root and to a pass (rules.h): note a decision, count and enlist its
 * adapters, restart the judgement of all roots, let a root go.
 */
#include "rules.h"

#include <ibcc/device.h>

struct ibcc_decision *ibcc_rules_say(struct pass *p, enum ibcc_decision_code code,
				     const struct ibcc_root_state *s)
{
	struct ibcc_decision *d = ibcc_decisions_add(&p->said, code, &s->r);

	p->no_memory |= !d;
	return d ? d : &p->lost;
}

void ibcc_rules_restart_judging(struct ibcc_tuner *c, uint16_t settle)
{
	for (uint32_t i = 0; i < c->par.n_roots; i++) {
		struct ibcc_root_state *s = &c->par.root[i];

		if (!ibcc_phase_sets(s->r.phase))
			continue;
		s->settle = s->settle > settle ? s->settle : settle;
		s->win = (struct ibcc_window){ 0 };
	}
}

void ibcc_rules_change(struct pass *p, struct ibcc_root_state *s)
{
	s->done = true;
	s->r.status = IBCC_STATUS_CHANGED;
	p->c->since_change = 0;
	ibcc_rules_restart_judging(p->c, p->c->p.settle_passes);
}

struct tally ibcc_rules_tally(const struct pass *p)
{
	const struct ibcc_root_parameters *r;
	struct tally t = { 0 };

	ibcc_parameters_each (r, &p->c->par) {
		t.on++;
		t.limiting += r->limits_known;
		t.learning += r->phase == IBCC_PHASE_LEARN;
		t.in_between += r->phase != IBCC_PHASE_HOLD || !r->in_force;
	}
	return t;
}

bool ibcc_rules_by_profile(const struct pass *p, const struct ibcc_root_state *s)
{
	uint32_t sw = ibcc_topo_switch_endport(p->t, s->r.port);

	return sw < p->actual->n && p->actual->ep[sw].mechanism == IBCC_MECHANISM_DCQCN;
}

uint64_t ibcc_rules_sent(const struct pass *p, const struct ibcc_root_state *s)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < p->pic->n_loads; i++)
		sum += s->behind[i] ? p->pic->load[i].mbps : 0;
	return sum;
}

void ibcc_rules_number(struct ibcc_root_state *s, uint32_t n, uint32_t n_heavy, uint32_t full_mbps)
{
	s->r.n = s->n_adapters = n;
	s->r.n_heavy = n_heavy;
	s->r.rate_mbps = s->full_mbps = full_mbps ? full_mbps : 1;
}

void ibcc_rules_discard_feedback(struct pass *p, struct ibcc_root_state *s)
{
	s->r.table_scale_permille = s->r.timer_scale_permille = 1000;
	ibcc_rules_change(p, s);
}

uint32_t ibcc_rules_enlist(const struct pass *p, struct ibcc_root_state *s, uint32_t endport)
{
	const struct ibcc_endport_cc *ep = &p->actual->ep[endport];
	struct ibcc_root_parameters *r = &s->r;

	if (r->member[endport] || (p->c->limits.within && !p->c->limits.within[endport]))
		return 0;
	/* What is no host is not ours to slow down, though it may well know how to. */
	r->lacking[endport] =
		ep->support != IBCC_CC_SUPPORTED ||
		!ibcc_device_takes_part(p->t, p->t->port[p->t->endport[endport]].node);
	r->member[endport] = !r->lacking[endport] && ibcc_endport_reacts(ep);
	return r->member[endport];
}

uint32_t ibcc_rules_enlist_sources(const struct pass *p, struct ibcc_root_state *s,
				   const struct ibcc_root *now)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < now->n_sources; i++)
		if (now->source[i].role != IBCC_ROLE_VICTIM)
			n += ibcc_rules_enlist(p, s, p->t->port[now->source[i].port].endport);
	return n;
}

void ibcc_rules_drop(struct ibcc_tuner *c, const struct ibcc_root_state *s,
		     enum ibcc_root_status why)
{
	ibcc_parameters_pass_over(&c->par, s->r.port, why);
	if (s->r.in_force) {
		c->gone_port = s->r.port;
		c->gone_since = 0;
		c->gone_patience = s->patience;
	}
	ibcc_parameters_remove(&c->par, (uint32_t)(s - c->par.root));
}
