/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Why a setting is to have its new value, as a sentence with the law's numbers. */
#include <ibcc/formula.h>
#include <ibcc/law.h>
#include <ibcc/target.h>

#include "words_impl.h"

static void say_mask(struct ibcc_text *x, const struct ibcc_topo *t,
		     const struct ibcc_root_parameters *r)
{
	if (r->kind == IBCC_CONGESTION_INPUT)
		ibcc_text_add(x,
			      "%s faces an adapter: its Victim_Mask bit lets it mark even if that "
			      "adapter becomes slow and grants no credits (IBA, Annex A10)",
			      name_of(t, r->port).text);
	else
		ibcc_text_add(x,
			      "%s has no credits %.1f %% of the time (PortXmitWait): its "
			      "Victim_Mask bit lets it mark without credits as well (IBA, Annex "
			      "A10); other ports do not mark",
			      name_of(t, r->port).text, r->wait_permille / 10.0);
}

static void say_port(struct ibcc_text *x, const struct ibcc_topo *t,
		     const struct ibcc_root_parameters *r)
{
	ibcc_words_evidence(x, t, r);
	ibcc_text_say(x, "mark there alone, from %u %% of the queue on (Threshold %u)",
		      ibcc_formula_threshold_permille(r->threshold) / 10, r->threshold);
	if (r->marking_rate)
		ibcc_text_add(x, ", 1 of %u packets: its sources have values for a slower root",
			      r->marking_rate + 1u);
}

/* What n counts, and by what it is known. */
static const char *counted(const struct ibcc_root_parameters *r)
{
	switch (r->basis) {
	case IBCC_BASIS_WAITING: return "blocked senders (PortXmitWait) of";
	case IBCC_BASIS_MARKED: return "contributors (BECN) to";
	case IBCC_BASIS_LOGGED: return "flows (CongestionLog) limited by";
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
		      r->n, counted(r), name_of(t, r->port).text, r->rate_mbps,
		      r->basis == IBCC_BASIS_LOGGED ? "max-min" : "PortXmitData",
		      why->law.fair_milli / 1000.0);
	if (r->phase == IBCC_PHASE_DRAIN)
		ibcc_text_add(x, "%g (%g x + %.1f) until the tree is empty", IBCC_LAW_DRAIN_END,
			      slope, extra);
	else if (r->table_scale_permille != 1000)
		ibcc_text_add(x, "(%g x + %.1f) * %.2f by feedback", slope, extra,
			      r->table_scale_permille / 1000.0);
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
	if (!drains && r->timer_scale_permille != 1000)
		ibcc_text_add(x, "%.2f-fold by feedback, ", r->timer_scale_permille / 1000.0);
	if (why->law.cut_timer)
		ibcc_text_add(x, "max_timer instead of %u, ", why->law.cut_timer);
	ibcc_text_add(x,
		      "CCTI_Timer %u * 1.024 us balances %.0f %% marked of a source's packets in "
		      "%.2f us each at %s (Gusat et al. 2006: min(N/6, HSD/2), 10 us)",
		      why->law.timer, why->law.mark_permille / 10.0,
		      (double)why->law.n_int_ns / 1000, name_of(t, r->port).text);
}

static void say_profile(struct ibcc_text *x, const struct ibcc_topo *t,
			const struct ibcc_reason *why)
{
	const struct ibcc_root_parameters *r = &why->root;

	ibcc_text_add(x,
		      "%u %s %s at %u Mb/s: DCQCN balances them with %.2f %% of packets marked "
		      "(\"ECN or Delay\", CoNEXT 2016), of which percent %u is at least %g times",
		      r->n, counted(r), name_of(t, r->port).text, r->rate_mbps,
		      100 * why->profile.mark_share, why->profile.percent,
		      IBCC_ADVICE_SWING * r->table_scale_permille / 1000);
	if (r->table_scale_permille != 1000)
		ibcc_text_add(x, " (%g times that of the model by feedback)",
			      r->table_scale_permille / 1000.0);
	ibcc_text_add(
		x, "; max, %u, is the buffer of a port and VL in bytes, and min, %u, a part of it",
		why->profile.max_bytes, why->profile.min_bytes);
}

static void say_reason(struct ibcc_text *x, const struct ibcc_topo *t,
		       const struct ibcc_reason *why)
{
	switch (why->code) {
	case IBCC_REASON_OVER:
		ibcc_text_add(
			x, "contributes to no congestion any more: the earlier value is restored");
		break;
	case IBCC_REASON_MASK: say_mask(x, t, &why->root); break;
	case IBCC_REASON_SWITCH:
		ibcc_words_evidence(x, t, &why->root);
		ibcc_text_say(
			x,
			"the switch has no setting for each port, so all its ports mark above "
			"Threshold %u",
			why->root.threshold);
		break;
	case IBCC_REASON_PORT: say_port(x, t, &why->root); break;
	case IBCC_REASON_NO_DELAY:
		ibcc_text_add(x, "no delay until marks show which senders contribute (BECN)");
		break;
	case IBCC_REASON_TABLE: say_table(x, t, why); break;
	case IBCC_REASON_BALANCE: say_balance(x, t, why); break;
	case IBCC_REASON_PROFILE: say_profile(x, t, why); break;
	case IBCC_REASON_LEFT:
		ibcc_text_add(x, "previously applied, and no congestion needs it any more: the "
				 "earlier value is restored");
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
