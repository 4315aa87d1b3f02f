/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Codes of decisions and reasons as sentences. */
#include <errno.h>
#include <stdlib.h>

#include <ibcc/control.h>
#include <ibcc/formula.h>
#include <ibcc/law.h>

#include "rules.h"
#include "text.h"

#define NAMES_MAX 4u

struct name {
	char text[IBCC_DESC_BYTES + 16];
};

static struct name name_of(const struct ibcc_topo *t, uint32_t port)
{
	struct name n = { .text = "" };

	ibcc_topo_port_name(t, port, n.text, sizeof(n.text));
	return n;
}

static void say_evidence(struct ibcc_text *x, const struct ibcc_topo *t,
			 const struct ibcc_root_parameters *r)
{
	ibcc_text_say(x, "congestion starts at %s: ", name_of(t, r->port).text);
	if (r->kind == IBCC_CONGESTION_INPUT)
		ibcc_text_add(x, "full with %u Mb/s while its feeders wait %.1f %% (PortXmitWait)",
			      r->seen_mbps, r->tree_wait_permille / 10.0);
	else
		ibcc_text_add(x,
			      "its receiver takes %u of %u Mb/s, it waits %.1f %% (PortXmitWait)",
			      r->seen_mbps, r->link_mbps, r->wait_permille / 10.0);
}

static void say_mask(struct ibcc_text *x, const struct ibcc_topo *t,
		     const struct ibcc_root_parameters *r)
{
	if (r->kind == IBCC_CONGESTION_INPUT)
		ibcc_text_add(x,
			      "%s faces an adapter: with its Victim_Mask bit it goes on marking "
			      "should that one become slow and grant no credits (IBA, annex A10)",
			      name_of(t, r->port).text);
	else
		ibcc_text_add(x,
			      "%s has no credits %.1f %% of the time (PortXmitWait): without its "
			      "Victim_Mask bit it marks only while it has some (IBA, annex A10), "
			      "which a slow adapter hardly grants; other ports do not mark",
			      name_of(t, r->port).text, r->wait_permille / 10.0);
}

static void say_port(struct ibcc_text *x, const struct ibcc_topo *t,
		     const struct ibcc_root_parameters *r)
{
	say_evidence(x, t, r);
	ibcc_text_say(x, "mark there alone, from %u %% of the queue on (Threshold %u)",
		      ibcc_formula_threshold_permille(r->threshold) / 10, r->threshold);
	if (r->marking_rate)
		ibcc_text_add(x, ", 1 of %u packets: its sources have values for a slower root",
			      r->marking_rate + 1u);
}

/* What n counts, and by what it is known. */
static const char *who(const struct ibcc_root_parameters *r)
{
	switch (r->basis) {
	case IBCC_BASIS_WAITING: return "waiting (PortXmitWait) for";
	case IBCC_BASIS_MARKED: return "contributors (BECN) to";
	case IBCC_BASIS_LOGGED: return "pairs (CongestionLog) limited by";
	}
	return "";
}

static void say_table(struct ibcc_text *x, const struct ibcc_topo *t, const struct ibcc_reason *why)
{
	const struct ibcc_root_parameters *r = &why->root;
	double slope = 1 + IBCC_LAW_MARGIN_PERMILLE / 1000.0;
	double extra = ibcc_law_extra_milli(r) / 1000.0;

	ibcc_text_add(x,
		      "%u %s %s at %u Mb/s (%s): fair share x = n C/R - 1 = %.2f packet times "
		      "(Gusat et al. 2006: HSD), table to ",
		      r->n, who(r), name_of(t, r->port).text, r->rate_mbps,
		      r->basis == IBCC_BASIS_LOGGED ? "max-min" : "PortXmitData",
		      why->law.fair_milli / 1000.0);
	if (r->phase == IBCC_PHASE_DRAIN)
		ibcc_text_add(x, "%g (%g x + %.1f) until the tree is empty", IBCC_LAW_DRAIN_END,
			      slope, extra);
	else if (r->end_permille != 1000)
		ibcc_text_add(x, "(%g x + %.1f) * %.2f by feedback", slope, extra,
			      r->end_permille / 1000.0);
	else
		ibcc_text_add(x, "%g x + %.1f", slope, extra);
	if (why->law.cut_end_milli)
		ibcc_text_add(x, " = %.2f, but max_delay is", why->law.cut_end_milli / 1000.0);
	ibcc_text_add(x, "%s %.2f", why->law.cut_end_milli ? "" : " =",
		      why->law.end_milli / 1000.0);
}

static void say_balance(struct ibcc_text *x, const struct ibcc_topo *t,
			const struct ibcc_reason *why)
{
	const struct ibcc_root_parameters *r = &why->root;
	bool drains = r->phase == IBCC_PHASE_DRAIN;

	if (drains)
		ibcc_text_add(x, "%u BECNs to the table's end while the tree is emptied: ",
			      IBCC_LAW_DRAIN_STEPS);
	else
		ibcc_text_add(x,
			      "a BECN takes %.0f %% of the rate: ", why->law.step_permille / 10.0);
	ibcc_text_add(x, "CCTI_Increase %u; ", why->law.increase);
	if (!drains && r->loop_permille != 1000)
		ibcc_text_add(x, "%.2f-fold by feedback, ", r->loop_permille / 1000.0);
	if (why->law.cut_timer)
		ibcc_text_add(x, "max_timer instead of %u, ", why->law.cut_timer);
	ibcc_text_add(x,
		      "CCTI_Timer %u * 1.024 us balances %.0f %% marked of a source's packets in "
		      "%.2f us each at %s (Gusat et al. 2006: min(N/6, HSD/2), 10 us)",
		      why->law.timer, why->law.mark_permille / 10.0,
		      (double)why->law.n_int_ns / 1000, name_of(t, r->port).text);
}

static void say_reason(struct ibcc_text *x, const struct ibcc_topo *t,
		       const struct ibcc_reason *why)
{
	switch (why->code) {
	case IBCC_REASON_OVER:
		ibcc_text_add(x, "contributes to no congestion any more: what it had before");
		break;
	case IBCC_REASON_MASK: say_mask(x, t, &why->root); break;
	case IBCC_REASON_SWITCH:
		say_evidence(x, t, &why->root);
		ibcc_text_say(
			x,
			"the switch has no setting for each port, so all its ports mark above "
			"Threshold %u",
			why->root.threshold);
		break;
	case IBCC_REASON_PORT: say_port(x, t, &why->root); break;
	case IBCC_REASON_NO_DELAY:
		ibcc_text_add(x, "no delay while marks tell who contributes (BECN)");
		break;
	case IBCC_REASON_TABLE: say_table(x, t, why); break;
	case IBCC_REASON_BALANCE: say_balance(x, t, why); break;
	case IBCC_REASON_LEFT:
		ibcc_text_add(x, "left by an earlier run, and no congestion needs it: what was "
				 "there before");
		break;
	case IBCC_REASON_SWITCHED_OFF: ibcc_text_add(x, "congestion control is disabled"); break;
	}
}

int ibcc_target_explain(const struct ibcc_target *target, const struct ibcc_topo *t,
			uint32_t endport, uint16_t attr_id, char *buf, size_t len)
{
	struct ibcc_text x = { .buf = buf, .len = len };

	if (len)
		buf[0] = '\0';
	for (uint32_t i = 0; i < target->n_reasons && !x.n; i++)
		if (target->reason[i].endport == endport && target->reason[i].attr_id == attr_id)
			say_reason(&x, t, &target->reason[i]);
	return (int)x.n;
}

/* Decisions to control a root, or not to. */
static void say_whether(struct ibcc_text *x, const struct ibcc_topo *t,
			const struct ibcc_decision *d, const char *what)
{
	say_evidence(x, t, &d->root);
	ibcc_text_say(x, "%s", what);
}

static void say_barred(struct ibcc_text *x, const struct ibcc_topo *t,
		       const struct ibcc_decision *d, const char *why, bool writes)
{
	ibcc_text_say(x, "%s %s: %s", why, name_of(t, d->root.port).text,
		      writes ? "control taken back, and not tried again for a while"
			     : "taking its settings back is recommended");
}

/* Decisions between those to admit a root and those to let it go change the settings that it has;
 * their words do not say whether that is done.
 */
static bool is_imperative(enum ibcc_decision_code code)
{
	return code > IBCC_DECISION_NO_SUPPORT && code < IBCC_DECISION_HARM;
}

/* `writes`: it is carried out; else it is only recommended. */
static void say_decision(struct ibcc_text *x, const struct ibcc_topo *t,
			 const struct ibcc_decision *d, bool writes)
{
	switch (d->code) {
	case IBCC_DECISION_ADMIT:
		say_whether(x, t, d,
			    writes ? "control on with formulas"
				   : "congestion control is recommended");
		ibcc_text_add(x, " for %u sources", d->root.n);
		break;
	case IBCC_DECISION_LEARN:
		say_whether(x, t, d, "mark without delay, to learn who contributes");
		break;
	case IBCC_DECISION_NO_SUPPORT:
		say_whether(x, t, d, "its switch does not support congestion control");
		break;
	case IBCC_DECISION_HARM:
		say_barred(x, t, d, "adapters send less than before control of", writes);
		break;
	case IBCC_DECISION_IN_VAIN:
		say_barred(x, t, d, "nobody would be freed by control of", writes);
		break;
	case IBCC_DECISION_DOUBTED:
		ibcc_text_say(
			x, "counters of %s are not believed: %s", name_of(t, d->root.port).text,
			writes ? "control taken back" : "taking its settings back is recommended");
		break;
	case IBCC_DECISION_LEARNT:
		ibcc_text_say(x, "BECNs name %u contributors: values for them", d->root.n);
		break;
	case IBCC_DECISION_MORE:
		ibcc_text_say(x, "BECN counters name %u contributors", d->root.n);
		break;
	case IBCC_DECISION_ENLIST:
		ibcc_text_say(x, "more contribute: settings for %u adapters, too", d->a);
		break;
	case IBCC_DECISION_DRAINED:
		ibcc_text_say(x, "the tree is empty: from emptying it to holding it");
		break;
	case IBCC_DECISION_DRAIN_AGAIN:
		ibcc_text_say(x, "the tree stands again, its sources wait %.1f %%: empty it first",
			      d->a / 10.0);
		break;
	case IBCC_DECISION_TREE_GONE:
		ibcc_text_say(x, "nobody waits for the hot port: mark fewer packets");
		break;
	case IBCC_DECISION_TREE_BACK:
		ibcc_text_say(x, "sources wait for the hot port again: mark more packets");
		break;
	case IBCC_DECISION_TURNED:
		ibcc_text_say(x, "the root is %s-generated now, for %u Mb/s: formulas again",
			      d->root.kind == IBCC_CONGESTION_INPUT ? "input" : "output",
			      d->root.rate_mbps);
		break;
	case IBCC_DECISION_NUMBERS:
		ibcc_text_say(
			x,
			"BECN counters name %u contributors, which count as %u equal ones, the "
			"root carries %u Mb/s: formulas again, which had %u, %u and %u Mb/s",
			d->a, d->b, d->c, d->root.n, d->root.n_heavy, d->root.rate_mbps);
		break;
	case IBCC_DECISION_PAIRS:
		ibcc_text_say(
			x,
			"the switch's CongestionLog names %u pairs that the root limits to %u "
			"Mb/s in all: formulas for them, which had %u and %u Mb/s",
			d->a, d->b, d->root.n, d->root.rate_mbps);
		break;
	case IBCC_DECISION_NEARER:
		ibcc_text_say(x, "the hot port is only %.1f %% busy: hold its sources less",
			      d->a / 10.0);
		break;
	case IBCC_DECISION_FARTHER:
		ibcc_text_say(x, "the hot port is busy and sources wait: hold them more again");
		break;
	}
}

/* The settings that a root needs are not those that were read from the fabric. */
static void say_unset(struct ibcc_text *x, const struct pass *p,
		      const struct ibcc_root_parameters *r)
{
	const struct ibcc_endport_cc *sw = &p->actual->ep[ibcc_topo_switch_endport(p->t, r->port)];
	bool marks = ibcc_settings_port_marks(sw, p->t->port[r->port].num);

	say_evidence(x, p->t, r);
	if (marks)
		ibcc_text_say(x, p->c->recommends
					 ? "it has settings on the fabric, others are recommended"
					 : "some of its settings are not on the fabric");
	else if (p->c->recommends)
		ibcc_text_say(x, "congestion control is recommended for %u sources", r->n);
	else
		ibcc_text_say(x, "its settings are not on the fabric");
}

/* Too little was read to decide on, and why. */
static void say_blind(struct ibcc_text *x, const struct ibcc_picture *pic)
{
	uint32_t missing = pic->n_expected - pic->n_usable - pic->n_unsure;

	if (!pic->n_expected) {
		ibcc_text_add(x, "there are no counters to read: nothing is decided");
		return;
	}
	ibcc_text_add(x, "counters tell nothing of %u of %u ports", pic->n_expected - pic->n_usable,
		      pic->n_expected);
	if (missing && pic->n_unsure)
		ibcc_text_add(x, " (%u were not read, others are at their end or were cleared)",
			      missing);
	else if (pic->n_unsure)
		ibcc_text_add(x, " (they are at their end or were cleared: a shorter interval_ms, "
				 "or clear_counters, may help)");
	else
		ibcc_text_add(x, " (they were not read)");
	ibcc_text_add(x, ": nothing is decided");
}

/* Nothing was decided: what there is. */
static void say_state(struct ibcc_text *x, const struct pass *p, const struct ibcc_target *out)
{
	const struct ibcc_parameters *par = &p->c->par;
	const struct ibcc_root_parameters *unset = NULL;
	uint32_t on = 0, waiting = 0;

	for (uint32_t k = 0; k < par->n_roots; k++) {
		bool sets = ibcc_phase_sets(par->root[k].r.phase);

		on += sets;
		waiting += par->root[k].r.phase == IBCC_PHASE_WATCH;
		if (sets && !par->root[k].r.in_force)
			unset = &par->root[k].r;
	}
	if (!p->pic->trustworthy) {
		say_blind(x, p->pic);
	} else if (unset) {
		say_unset(x, p, unset);
	} else if (on) {
		ibcc_text_add(x, "%u root%s under control%s", on, on == 1 ? "" : "s",
			      out->n_reasons ? "; some nodes lack settings" : "");
	} else if (waiting) {
		ibcc_text_add(x, "congestion seen, to be confirmed");
	} else if (out->n_reasons) {
		ibcc_text_add(x, "congestion is over: settings from before it");
	} else if (p->pic->n_unknown) {
		ibcc_text_add(x,
			      "nodes that do not answer may cause the congestion of %u port%s: "
			      "no change recommended",
			      p->pic->n_unknown, p->pic->n_unknown == 1 ? "" : "s");
	} else if (p->pic->n_roots) {
		ibcc_text_add(x, "congestion affects no other traffic: no change");
	} else {
		ibcc_text_add(x, "no congestion");
	}
}

void ibcc_control_explain(const struct ibcc_topo *t, const struct ibcc_control *c, char *buf,
			  size_t len)
{
	struct ibcc_text x = { .buf = buf, .len = len };

	if (len)
		buf[0] = '\0';
	for (uint32_t k = 0; k < c->n_roots; k++) {
		const struct ibcc_control_root *from = &c->root[k];
		uint32_t node = ibcc_topo_find_guid(t, from->guid);
		struct ibcc_root_parameters r = from->s.r;

		r.port = node == IBCC_NONE ? IBCC_NONE : ibcc_topo_port_index(t, node, from->port);
		say_evidence(&x, t, &r);
		ibcc_text_say(&x, "control on for %u sources", r.n);
	}
	if (!c->n_roots)
		ibcc_text_add(&x, "a plan without roots of congestion");
}

static void say_summary(struct ibcc_text *x, const struct pass *p, const struct ibcc_target *out)
{
	uint32_t n = p->n_said < IBCC_DECISIONS_MAX ? p->n_said : IBCC_DECISIONS_MAX;

	for (uint32_t i = 0; i < n; i++)
		say_decision(x, p->t, &p->said[i], !p->c->recommends);
	if (p->n_said > n)
		ibcc_text_say(x, "and %u more decisions", p->n_said - n);
	if (p->n_said && p->c->recommends && is_imperative(p->said[0].code))
		ibcc_text_add(x, " (recommended)");
	if (!p->n_said)
		say_state(x, p, out);
}

int ibcc_words_summary(const struct pass *p, struct ibcc_target *out)
{
	struct ibcc_text x = { .buf = NULL };

	/* Once for its length, and once more into the room for it. */
	say_summary(&x, p, out);
	free(out->summary);
	out->summary = malloc(x.n + 1);
	x = (struct ibcc_text){ .buf = out->summary, .len = out->summary ? x.n + 1 : 0 };
	say_summary(&x, p, out);
	return out->summary ? 0 : -ENOMEM;
}

/* --- a root: where, what kind, which counters say so, who --------------------------------------
 */

static void say_node(struct ibcc_text *x, const struct ibcc_topo *t, uint32_t port)
{
	const struct ibcc_topo_node *node = &t->node[t->port[port].node];

	if (node->desc[0])
		ibcc_text_add(x, "%s", node->desc);
	else
		ibcc_text_add(x, "0x%016llx", (unsigned long long)node->guid);
}

static void say_sources(struct ibcc_text *x, const struct ibcc_topo *t, const struct ibcc_root *r,
			enum ibcc_role role, const char *what)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < r->n_sources; i++) {
		if (r->source[i].role != role)
			continue;
		if (!n)
			ibcc_text_add(x, "; %s ", what);
		if (n < NAMES_MAX) {
			ibcc_text_add(x, n ? ", " : "");
			say_node(x, t, r->source[i].port);
		}
		n++;
	}
	if (n > NAMES_MAX)
		ibcc_text_add(x, " and %u more", n - NAMES_MAX);
}

static void say_pairs(struct ibcc_text *x, const struct ibcc_topo *t, const struct ibcc_root *r)
{
	uint32_t packets = 0;

	for (uint32_t i = 0; i < r->n_pairs; i++) {
		packets += r->pair[i].packets;
		if (i >= NAMES_MAX)
			continue;
		ibcc_text_add(x, i ? ", " : "; marked (CongestionLog) ");
		say_node(x, t, r->pair[i].src);
		ibcc_text_add(x, " to ");
		say_node(x, t, ibcc_topo_port_of_lid(t, r->pair[i].dlid));
		ibcc_text_add(x, " %u", r->pair[i].packets);
	}
	if (r->n_pairs > NAMES_MAX)
		ibcc_text_add(x, " and %u more pairs", r->n_pairs - NAMES_MAX);
	if (r->n_pairs)
		ibcc_text_add(x, " of %u packets", packets);
}

int ibcc_picture_explain(const struct ibcc_topo *t, const struct ibcc_root *r, char *buf,
			 size_t len)
{
	struct ibcc_text x = { .buf = buf, .len = len };
	const struct name port = name_of(t, r->port);

	if (r->kind == IBCC_CONGESTION_INPUT)
		ibcc_text_add(&x, "%s: input-generated, full with %u of %u Mb/s (PortXmitData)",
			      port.text, r->rate_mbps, r->link_mbps);
	else if (r->hidden)
		ibcc_text_add(&x,
			      "%s: waits %.1f %% (PortXmitWait) for a switch that does not answer: "
			      "congestion starts somewhere behind it",
			      port.text, r->wait_permille / 10.0);
	else
		ibcc_text_add(&x,
			      "%s: output-generated, its receiver takes %u of %u Mb/s "
			      "(PortXmitData) and it waits %.1f %% (PortXmitWait)",
			      port.text, r->rate_mbps, r->link_mbps, r->wait_permille / 10.0);
	ibcc_text_add(&x, "; ports feeding it wait up to %.1f %%", r->tree_wait_permille / 10.0);
	say_sources(&x, t, r, IBCC_ROLE_CONTRIBUTOR, "contributors (BECN)");
	say_sources(&x, t, r, IBCC_ROLE_CANDIDATE, "waiting");
	say_sources(&x, t, r, IBCC_ROLE_VICTIM, "victims");
	say_pairs(&x, t, r);
	if (!ibcc_root_is_known(r) && r->unknown_mbps)
		ibcc_text_add(
			&x,
			"; up to %llu Mb/s come from nodes that do not answer, most of it by %s",
			(unsigned long long)r->unknown_mbps, name_of(t, r->unknown_port).text);
	return (int)x.n;
}
