/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* From the tuner's memory to complete settings with a reason for each attribute that differs.
 *
 * Settings are always laid over what is on the fabric now, so a node that lost its settings gets
 * them again and a node that is not ours keeps what it has.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "tuner_state.h"

/* Packets below this share of the MTU are not marked: ACKs and other small ones carry no load. */
#define MARK_MTU_SHARE 4u
#define CREDIT_BYTES   64u
#define NEAR_PERCENT   5u

void ibcc_target_fini(struct ibcc_target *t)
{
	if (!t)
		return;
	ibcc_settings_fini(&t->wanted);
	free(t->reason);
	free(t->without);
	*t = (struct ibcc_target){ 0 };
}

static struct ibcc_reason *add_reason(struct ibcc_target *out, uint32_t endport, uint16_t attr_id)
{
	struct ibcc_reason *r;

	if (out->n_reasons == out->cap_reasons) {
		uint32_t cap = out->cap_reasons ? 2 * out->cap_reasons : 8;

		r = reallocarray(out->reason, cap, sizeof(*r));
		if (!r)
			return NULL;
		out->reason = r;
		out->cap_reasons = cap;
	}
	r = &out->reason[out->n_reasons++];
	*r = (struct ibcc_reason){ .endport = endport, .attr_id = attr_id };
	return r;
}

static bool same_switch(const struct ibcc_endport_cc *a, const struct ibcc_endport_cc *b)
{
	return !memcmp(&a->sw.Victim_Mask, &b->sw.Victim_Mask, sizeof(a->sw.Victim_Mask)) &&
	       !memcmp(&a->sw.Credit_Mask, &b->sw.Credit_Mask, sizeof(a->sw.Credit_Mask)) &&
	       a->sw.Threshold == b->sw.Threshold && a->sw.Packet_Size == b->sw.Packet_Size &&
	       a->sw.CS_Threshold == b->sw.CS_Threshold &&
	       a->sw.CS_ReturnDelay == b->sw.CS_ReturnDelay &&
	       a->sw.Marking_Rate == b->sw.Marking_Rate;
}

static bool same_elements(const struct ibcc_endport_cc *a, const struct ibcc_endport_cc *b)
{
	for (unsigned int i = 0; i < a->n_element && i < b->n_element; i++) {
		const struct ibcc_cc_sw_port_element *x = &a->element[i], *y = &b->element[i];

		if (x->Valid != y->Valid || x->Control_Type != y->Control_Type ||
		    x->Threshold != y->Threshold || x->Packet_Size != y->Packet_Size ||
		    x->Cong_Parm_Marking_Rate != y->Cong_Parm_Marking_Rate)
			return false;
	}
	return true;
}

static bool same_ca(const struct ibcc_endport_cc *a, const struct ibcc_endport_cc *b)
{
	if (a->ca.Port_Control != b->ca.Port_Control)
		return false;
	for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++) {
		const struct ibcc_cc_ca_entry *x = &a->ca.sl[sl], *y = &b->ca.sl[sl];

		if (x->CCTI_Timer != y->CCTI_Timer || x->CCTI_Increase != y->CCTI_Increase ||
		    x->Trigger_Threshold != y->Trigger_Threshold || x->CCTI_Min != y->CCTI_Min)
			return false;
	}
	return true;
}

/* What an endport would have without us. */
static void restore(const struct ibcc_endport_cc *base, struct ibcc_endport_cc *ep)
{
	ep->sw = base->sw;
	ep->ca = base->ca;
	ep->cct = base->cct;
	for (unsigned int i = 0; i < ep->n_element && i < base->n_element; i++)
		ep->element[i] = base->element[i];
}

static uint8_t packet_size(const struct ibcc_topo *t, uint32_t port)
{
	uint32_t credits = t->port[port].mtu_bytes / MARK_MTU_SHARE / CREDIT_BYTES;

	return (uint8_t)(credits < 255 ? credits : 255);
}

/* Marks at the root alone: by an element of its own where the switch has them, so that no other
 * port marks packets that only wait for the root; else by the setting of the whole switch.
 */
static void mark_at(const struct ibcc_topo *t, const struct ibcc_tuner_root *r,
		    struct ibcc_endport_cc *ep)
{
	unsigned int num = t->port[r->port].num;
	uint32_t peer = t->port[r->port].peer;

	if (ep->sw_port_block && num < ep->n_element) {
		ep->element[num] = (struct ibcc_cc_sw_port_element){
			.Valid = true,
			.Threshold = r->threshold,
			.Packet_Size = packet_size(t, r->port),
			.Cong_Parm_Marking_Rate = r->marking_rate,
		};
		ep->sw.Threshold = 0;
	} else {
		ep->sw.Threshold = r->threshold;
		ep->sw.Packet_Size = packet_size(t, r->port);
		ep->sw.Marking_Rate = r->marking_rate;
	}
	if (peer != IBCC_NONE && !ibcc_topo_is_switch(t, t->port[peer].node))
		ibcc_cc_mask_assign(&ep->sw.Victim_Mask, num, true);
}

static bool per_port(const struct ibcc_topo *t, const struct ibcc_tuner_root *r,
		     const struct ibcc_endport_cc *ep)
{
	return ep->sw_port_block && t->port[r->port].num < ep->n_element;
}

static void explain_mask(const struct ibcc_topo *t, const struct ibcc_tuner_root *r,
			 struct ibcc_text *x)
{
	char port[IBCC_DESC_BYTES + 16];

	ibcc_topo_port_name(t, r->port, port, sizeof(port));
	if (r->kind == IBCC_CONGESTION_INPUT) {
		ibcc_text_add(x,
			      "%s faces an adapter: with its Victim_Mask bit it goes on marking "
			      "should that one become slow and grant no credits (IBA, annex A10)",
			      port);
		return;
	}
	ibcc_text_add(x, "%s has no credits %u.%u %% of the time (PortXmitWait): ", port,
		      r->wait_permille / 10, r->wait_permille % 10);
	ibcc_text_add(x, "without its Victim_Mask bit it marks only while it has some (IBA, annex "
			 "A10), which a slow adapter hardly grants; other ports do not mark");
}

static void explain_element(const struct ibcc_tuner_root *r, struct ibcc_text *x)
{
	ibcc_text_add(x, "%s; mark there alone, from %u %% of the queue on (Threshold %u)",
		      r->evidence, ibcc_formula_threshold_permille(r->threshold) / 10,
		      r->threshold);
	if (r->marking_rate)
		ibcc_text_add(x, ", 1 of %u packets: its sources have values for a slower root",
			      r->marking_rate + 1u);
}

static int lay_switch(const struct ibcc_tuner *tn, const struct ibcc_topo *t,
		      const struct ibcc_settings *actual, struct ibcc_target *out, uint32_t i)
{
	struct ibcc_endport_cc *ep = &out->wanted.ep[i];
	const struct ibcc_tuner_root *r = NULL;
	struct ibcc_reason *why;
	struct ibcc_text x;

	restore(&tn->baseline.ep[i], ep);
	for (uint32_t k = 0; k < tn->n_roots; k++) {
		if (!tn->root[k].on || ibcc_tuner_switch_of(t, &tn->root[k]) != i)
			continue;
		r = &tn->root[k];
		mark_at(t, r, ep);
	}
	if (!same_switch(&actual->ep[i], ep)) {
		why = add_reason(out, i, IBCC_CC_ATTR_SW_SETTING);
		if (!why)
			return -ENOMEM;
		x = (struct ibcc_text){ .buf = why->text, .len = sizeof(why->text) };
		if (!r)
			ibcc_text_add(&x, "congestion is over: the setting from before it");
		else if (per_port(t, r, ep))
			explain_mask(t, r, &x);
		else
			ibcc_text_add(
				&x,
				"%s; the switch has no setting for each port, so all its ports "
				"mark above Threshold %u",
				r->evidence, r->threshold);
	}
	if (!same_elements(&actual->ep[i], ep)) {
		why = add_reason(out, i, IBCC_CC_ATTR_SW_PORT_SETTING);
		if (!why)
			return -ENOMEM;
		x = (struct ibcc_text){ .buf = why->text, .len = sizeof(why->text) };
		if (r)
			explain_element(r, &x);
		else
			ibcc_text_add(&x, "congestion is over: the setting from before it");
	}
	return 0;
}

/* The root whose values an adapter gets: all that it contributes to have the same leader. */
static const struct ibcc_tuner_root *leader_of(const struct ibcc_tuner *tn, uint32_t i)
{
	for (uint32_t k = 0; k < tn->n_roots; k++)
		if (tn->root[k].on && tn->root[k].member[i])
			return &tn->root[tn->root[k].leader];
	return NULL;
}

/* What n counts, and by what it is known. */
static const char *who(const struct ibcc_tuner_root *r)
{
	if (r->counts_pairs)
		return r->n == 1 ? "pair (CongestionLog) limited by"
				 : "pairs (CongestionLog) limited by";
	return r->learned ? "contributors (BECN) to" : "sources wait (PortXmitWait) for";
}

static void explain_table(const struct ibcc_topo *t, const struct ibcc_tuner_root *r,
			  const struct ibcc_law_out *l, struct ibcc_reason *why)
{
	struct ibcc_text x = { .buf = why->text, .len = sizeof(why->text) };
	char port[IBCC_DESC_BYTES + 16];

	ibcc_topo_port_name(t, r->port, port, sizeof(port));
	ibcc_text_add(&x, "%u %s %s at %u Mb/s (%s): fair share x = n C/R - 1 = ", r->n, who(r),
		      port, r->rate_mbps, r->counts_pairs ? "max-min" : "PortXmitData");
	ibcc_text_add(&x, "%.2f packet times (Gusat et al. 2006: HSD), table to ",
		      l->fair_milli / 1000.0);
	if (r->drain)
		ibcc_text_add(&x, "3.5 (1.15 x + 0.5) until the tree is empty");
	else if (r->end_permille != 1000)
		ibcc_text_add(&x, "(1.15 x + 0.5) * %.2f by feedback", r->end_permille / 1000.0);
	else
		ibcc_text_add(&x, "1.15 x + 0.5");
	ibcc_text_add(&x, " = %.2f", l->end_milli / 1000.0);
}

static void explain_setting(const struct ibcc_topo *t, const struct ibcc_tuner_root *r,
			    const struct ibcc_law_out *l, struct ibcc_reason *why)
{
	struct ibcc_text x = { .buf = why->text, .len = sizeof(why->text) };
	char port[IBCC_DESC_BYTES + 16];

	ibcc_topo_port_name(t, r->port, port, sizeof(port));
	if (r->drain)
		ibcc_text_add(&x, "four BECNs to the table's end while the tree is emptied: ");
	else
		ibcc_text_add(&x, "a BECN takes %.0f %% of the rate: ", l->step_permille / 10.0);
	ibcc_text_add(&x, "CCTI_Increase %u; ", l->increase);
	if (!r->drain && r->loop_permille != 1000)
		ibcc_text_add(&x, "%.2f-fold by feedback, ", r->loop_permille / 1000.0);
	ibcc_text_add(&x,
		      "CCTI_Timer %u * 1.024 us balances %.0f %% marked of a source's packets in "
		      "%.2f us each at %s (Gusat et al. 2006: min(N/6, HSD/2), 10 us)",
		      l->timer, l->mark_permille / 10.0, (double)l->n_int_ns / 1000, port);
}

static bool near(uint32_t a, uint32_t b)
{
	uint32_t high = a > b ? a : b, low = a > b ? b : a;

	return (uint64_t)(high - low) * 100 <= (uint64_t)high * NEAR_PERCENT;
}

static uint32_t cap_entries(const struct ibcc_endport_cc *ep)
{
	return (uint32_t)ep->info.ControlTableCap * IBCC_CCT_BLOCK_ENTRIES;
}

static uint32_t end_milli(const struct ibcc_cct *c)
{
	return ibcc_cct_entry_delay_milli(c->entry[c->limit]);
}

/* Values that differ by less than what the law leaves open are kept: each Set costs, and the fabric
 * is the better for every one that is not sent.
 */
static bool near_enough(const struct ibcc_endport_cc *ep, const struct ibcc_law_out *law)
{
	struct ibcc_cct same;

	if (!ep->by_block && ep->ca.Port_Control & IBCC_CC_PORT_CONTROL_SL)
		return false;
	for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++)
		if (ep->ca.sl[sl].CCTI_Increase != law->increase || ep->ca.sl[sl].CCTI_Min ||
		    !near(ep->ca.sl[sl].CCTI_Timer, law->timer))
			return false;
	if (!near(end_milli(&ep->cct), end_milli(&law->cct)))
		return false;
	return !ibcc_law_table(ibcc_law_entries(cap_entries(ep)), end_milli(&ep->cct), &same) &&
	       ibcc_cct_equal(&same, &ep->cct);
}

/* A source's table has to hold it at the roots that it contributes to, however long that of their
 * leader is: one that was marked once too often stands idle for less long. While a tree is emptied
 * all have the leader's. Returns the root that asks for the longest.
 */
static const struct ibcc_tuner_root *longest_end(const struct ibcc_tuner *tn, uint32_t i,
						 uint32_t source_mbps,
						 const struct ibcc_tuner_root *leader)
{
	const struct ibcc_tuner_root *longest = NULL;
	uint32_t most = 0;

	for (uint32_t k = 0; k < tn->n_roots; k++) {
		const struct ibcc_tuner_root *r = &tn->root[k];
		uint32_t end;

		if (!r->on || !r->member[i])
			continue;
		if (leader->drain || r->drain)
			return leader;
		end = ibcc_tuner_end_milli(r, source_mbps);
		if (longest && end <= most)
			continue;
		longest = r;
		most = end;
	}
	return longest && most < ibcc_tuner_end_milli(leader, source_mbps) ? longest : leader;
}

/* Values for an adapter: timer and increase of the leader, and a table that ends where its own
 * roots need it; *from is the root that it is from. -EINVAL.
 */
static int own_values(const struct ibcc_tuner *tn, uint32_t i, uint32_t source_mbps,
		      uint32_t entries, const struct ibcc_tuner_root *leader,
		      const struct ibcc_tuner_root **from, struct ibcc_law_out *law)
{
	struct ibcc_law_out own;
	int ret = ibcc_tuner_law(leader, source_mbps, entries, law);

	*from = longest_end(tn, i, source_mbps, leader);
	if (ret || *from == leader)
		return ret;
	ret = ibcc_tuner_law(*from, source_mbps, entries, &own);
	law->fair_milli = own.fair_milli;
	law->end_milli = own.end_milli;
	law->cct = own.cct;
	return ret;
}

/* A table that ends at index 0 holds nobody, and leaves nobody at a high index when values come. */
static int lay_probed(const struct ibcc_settings *actual, struct ibcc_target *out, uint32_t i)
{
	struct ibcc_endport_cc *ep = &out->wanted.ep[i];
	struct ibcc_reason *why;

	ep->ca = actual->ep[i].ca;
	ep->cct = actual->ep[i].cct;
	if (!ep->cct.limit)
		return 0;
	ep->cct = (struct ibcc_cct){ 0 };
	why = add_reason(out, i, IBCC_CC_ATTR_CCT);
	if (!why)
		return -ENOMEM;
	snprintf(why->text, sizeof(why->text),
		 "no delay while the probe learns who contributes (BECN)");
	return 0;
}

static int lay_ca(const struct ibcc_tuner *tn, const struct ibcc_topo *t,
		  const struct ibcc_settings *actual, struct ibcc_target *out, uint32_t i)
{
	struct ibcc_endport_cc *ep = &out->wanted.ep[i];
	struct ibcc_law_out law = { 0 };
	const struct ibcc_tuner_root *r = leader_of(tn, i), *from = NULL;
	uint32_t mbps = t->port[t->endport[i]].rate_mbps;
	struct ibcc_reason *why;

	restore(&tn->baseline.ep[i], ep);
	if (r && r->probe)
		return lay_probed(actual, out, i);
	if (r && own_values(tn, i, mbps, cap_entries(ep), r, &from, &law))
		r = NULL;
	if (r && near_enough(&actual->ep[i], &law)) {
		ep->ca = actual->ep[i].ca;
		ep->cct = actual->ep[i].cct;
	} else if (r) {
		ep->cct = law.cct;
		ep->ca.Port_Control &= (uint16_t)~IBCC_CC_PORT_CONTROL_SL;
		for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++) {
			ep->ca.sl[sl].CCTI_Timer = law.timer;
			ep->ca.sl[sl].CCTI_Increase = law.increase;
			ep->ca.sl[sl].CCTI_Min = 0;
		}
	}
	if (ep->by_block) /* knows no other mode than its own */
		ep->ca.Port_Control = actual->ep[i].ca.Port_Control;
	if (!same_ca(&actual->ep[i], ep)) {
		why = add_reason(out, i, IBCC_CC_ATTR_CA_SETTING);
		if (!why)
			return -ENOMEM;
		if (r)
			explain_setting(t, r, &law, why);
		else
			snprintf(why->text, sizeof(why->text),
				 "contributes to no congestion: the setting from before it");
	}
	if (!ibcc_cct_equal(&actual->ep[i].cct, &ep->cct)) {
		why = add_reason(out, i, IBCC_CC_ATTR_CCT);
		if (!why)
			return -ENOMEM;
		if (r)
			explain_table(t, from, &law, why);
		else
			snprintf(why->text, sizeof(why->text),
				 "contributes to no congestion: the table from before it");
	}
	return 0;
}

static int list_without(const struct ibcc_tuner *tn, const struct ibcc_topo *t,
			const struct ibcc_settings *actual, struct ibcc_target *out)
{
	out->without = calloc(actual->n ? actual->n : 1, sizeof(*out->without));
	if (!out->without)
		return -ENOMEM;
	for (uint32_t i = 0; i < tn->n_endports && i < actual->n; i++) {
		bool ours = ibcc_tuner_wants(tn, t, i);

		for (uint32_t k = 0; !ours && k < tn->n_roots; k++)
			ours = tn->root[k].on && tn->root[k].lacking[i];
		if (ours && actual->ep[i].support != IBCC_CC_SUPPORTED)
			out->without[out->n_without++] = i;
	}
	return 0;
}

int ibcc_tuner_lay(const struct ibcc_tuner *tn, const struct ibcc_topo *t,
		   const struct ibcc_settings *actual, struct ibcc_target *out)
{
	struct ibcc_target o = { 0 };
	int ret = ibcc_settings_copy(&o.wanted, actual);

	if (!ret)
		ret = list_without(tn, t, actual, &o);
	for (uint32_t i = 0; !ret && i < tn->n_endports && i < actual->n; i++) {
		if (!tn->touched[i] || actual->ep[i].support != IBCC_CC_SUPPORTED)
			continue;
		if (ibcc_topo_is_switch(t, t->port[t->endport[i]].node))
			ret = lay_switch(tn, t, actual, &o, i);
		else
			ret = lay_ca(tn, t, actual, &o, i);
	}
	if (ret) {
		ibcc_target_fini(&o);
		return ret;
	}
	*out = o;
	return 0;
}
