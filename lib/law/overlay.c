/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* From parameters of roots to settings of nodes and ports, with a reason for each that differs. */
#include <ibcc/target.h>

#include <errno.h>
#include <stdlib.h>

#include <ibcc/grow.h>
#include <ibcc/law.h>
#include <ibcc/ledger.h>
#include <ibcc/link.h>
#include <ibcc/vendor_cc.h>

#include "overlay_dcqcn.h"

/* Packets below this share of the MTU are not marked: ACKs and other small ones carry no load. */
#define MARK_MTU_SHARE 4u
/* A value on the fabric stays if it is within this many percent of what the law wants: the law is
 * no more precise than that.
 */
#define NEAR_PERCENT 5u

void ibcc_target_fini(struct ibcc_target *t)
{
	if (!t)
		return;
	ibcc_settings_fini(&t->wanted);
	free(t->reason);
	free(t->without);
	ibcc_decisions_fini(&t->decisions);
	*t = (struct ibcc_target){ 0 };
}

struct ibcc_reason *ibcc_target_add(struct ibcc_target *t, uint32_t endport, uint16_t attr_id,
				    enum ibcc_reason_code code)
{
	struct ibcc_reason *r = ibcc_grow(t->reason, t->n_reasons, &t->cap_reasons, sizeof(*r));

	if (!r)
		return NULL;
	t->reason = r;
	r = &t->reason[t->n_reasons++];
	*r = (struct ibcc_reason){ .endport = endport, .attr_id = attr_id, .code = code };
	return r;
}

/* One run. */
struct overlaying {
	const struct ibcc_overlay *l;
	const struct ibcc_topo *t;
	const struct ibcc_parameters *p;
	const struct ibcc_settings *actual;
	struct ibcc_ledger *ledger;
	struct ibcc_target *out;
};

/* Does a root have settings for an endport, or would have if that could take them? */
static void ask_roots(const struct overlaying *j, uint32_t i, bool *wanted, bool *lacking)
{
	const struct ibcc_root_parameters *r;

	*wanted = *lacking = false;
	ibcc_parameters_each (r, j->p) {
		*wanted |= r->member[i] || ibcc_topo_switch_endport(j->t, r->port) == i;
		*lacking |= r->lacking[i];
	}
}

static void restore(const struct ibcc_endport_cc *base, struct ibcc_endport_cc *ep)
{
	ep->sw = base->sw;
	ep->ca = base->ca;
	ep->cct = base->cct;
	for (unsigned int i = 0; i < ep->n_element && i < base->n_element; i++)
		ep->element[i] = base->element[i];
	for (unsigned int i = 0; i < ep->n_profile && i < base->n_profile; i++)
		if (ep->profile[i].known && base->profile[i].known)
			ep->profile[i] = base->profile[i];
}

static uint8_t packet_size(const struct ibcc_topo *t, uint32_t port)
{
	uint32_t credits = t->port[port].mtu_bytes / MARK_MTU_SHARE / IBCC_LINK_CREDIT_BYTES;

	return (uint8_t)(credits < 255 ? credits : 255);
}

static bool per_port(const struct ibcc_endport_cc *ep, unsigned int num)
{
	return ep->sw_port_block && num < ep->n_element;
}

/* Marks at the root alone: by an element of its own where the switch has them, so that no other
 * port marks packets that only wait for the root; else by the setting of the whole switch.
 */
static void mark_at(const struct ibcc_topo *t, const struct ibcc_root_parameters *r,
		    struct ibcc_endport_cc *ep)
{
	unsigned int num = t->port[r->port].num;

	if (per_port(ep, num)) {
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
	if (ibcc_topo_faces_ca(t, r->port))
		ibcc_cc_mask_assign(&ep->sw.Victim_Mask, num, true);
}

/* Why an attribute is to change: for a root, with what the law made of it (may be NULL); without a
 * root since it is over.
 */
static int give_reason(const struct overlaying *j, uint32_t i, uint16_t attr_id,
		       enum ibcc_reason_code code, const struct ibcc_root_parameters *r,
		       const struct ibcc_law_out *law)
{
	struct ibcc_reason *why = ibcc_target_add(j->out, i, attr_id, r ? code : IBCC_REASON_OVER);

	if (!why)
		return -ENOMEM;
	if (!r)
		return 0;
	why->root = *r;
	why->root.member = why->root.lacking = NULL;
	if (law)
		why->law = *law;
	return 0;
}

static int lay_switch(const struct overlaying *j, uint32_t i)
{
	struct ibcc_endport_cc *ep = &j->out->wanted.ep[i];
	const struct ibcc_root_parameters *o, *r = NULL;
	enum ibcc_reason_code code;
	unsigned int differs;
	int ret = 0;

	restore(&j->ledger->base.ep[i], ep);
	ibcc_parameters_each (o, j->p)
		if (ibcc_topo_switch_endport(j->t, o->port) == i) {
			mark_at(j->t, o, ep);
			r = o;
		}
	differs = ibcc_settings_differ(&j->actual->ep[i], ep);
	code = r && !per_port(ep, j->t->port[r->port].num) ? IBCC_REASON_SWITCH : IBCC_REASON_MASK;
	if (differs & IBCC_SETTINGS_SWITCH)
		ret = give_reason(j, i, IBCC_CC_ATTR_SW_SETTING, code, r, NULL);
	if (!ret && differs & IBCC_SETTINGS_ELEMENTS)
		ret = give_reason(j, i, IBCC_CC_ATTR_SW_PORT_SETTING, IBCC_REASON_PORT, r, NULL);
	return ret;
}

/* With NVIDIA's control the root's port gets marking profiles, and nothing else is written. */
static int lay_profiles(const struct overlaying *j, uint32_t i)
{
	struct ibcc_endport_cc *ep = &j->out->wanted.ep[i];
	const struct ibcc_root_parameters *o, *r = NULL;
	struct ibcc_advice advice = { 0 };
	int ret;

	restore(&j->ledger->base.ep[i], ep);
	ibcc_parameters_each (o, j->p)
		if (ibcc_topo_switch_endport(j->t, o->port) == i &&
		    ibcc_overlay_dcqcn(j->t, o, j->actual, ep, &advice))
			r = o;
	if (!(ibcc_settings_differ(&j->actual->ep[i], ep) & IBCC_SETTINGS_PROFILES))
		return 0;
	ret = give_reason(j, i, IBCC_VCC_ATTR_SW_PROFILE, IBCC_REASON_PROFILE, r, NULL);
	if (!ret)
		j->out->reason[j->out->n_reasons - 1].profile = advice;
	return ret;
}

/* The root that gives an adapter its values. All roots that the adapter contributes to have one
 * leader.
 */
static const struct ibcc_root_parameters *leader_of(const struct overlaying *j, uint32_t i)
{
	const struct ibcc_root_parameters *r;

	ibcc_parameters_each (r, j->p)
		if (r->member[i])
			return &j->p->root[r->leader].r;
	return NULL;
}

/* A source's table has to hold it at the roots that it contributes to, however long that of their
 * leader is: one that was marked once too often stands idle for less long. While a tree is emptied
 * all have the leader's. Returns the root that asks for the longest.
 */
static const struct ibcc_root_parameters *longest_end(const struct overlaying *j, uint32_t i,
						      uint32_t source_mbps,
						      const struct ibcc_root_parameters *leader)
{
	const struct ibcc_root_parameters *r, *longest = leader;
	uint32_t most = 0;

	ibcc_parameters_each (r, j->p) {
		uint32_t end;

		if (!r->member[i])
			continue;
		if (leader->phase == IBCC_PHASE_DRAIN || r->phase == IBCC_PHASE_DRAIN)
			return leader;
		end = ibcc_law_end_milli(r, source_mbps);
		if (end > most) {
			longest = r;
			most = end;
		}
	}
	return most < ibcc_law_end_milli(leader, source_mbps) ? longest : leader;
}

/* Values for an adapter: timer and increase of the leader, and a table that ends where its own
 * roots need it; *from is the root that it is from. -EINVAL.
 */
static int own_values(const struct overlaying *j, uint32_t i, uint32_t entries,
		      const struct ibcc_root_parameters *leader,
		      const struct ibcc_root_parameters **from, struct ibcc_law_out *law)
{
	uint32_t mbps = j->t->port[j->t->endport[i]].rate_mbps;
	struct ibcc_law_out own;
	int ret = ibcc_law_compute(leader, mbps, entries, law);

	*from = longest_end(j, i, mbps, leader);
	if (!ret && *from != leader) {
		ret = ibcc_law_compute(*from, mbps, entries, &own);
		law->fair_milli = own.fair_milli;
		law->end_milli = own.end_milli;
		law->cct = own.cct;
	}
	if (!ret)
		ibcc_law_bound(j->l->max_delay, j->l->max_timer, law);
	return ret;
}

static bool near(uint32_t a, uint32_t b)
{
	uint32_t high = a > b ? a : b, low = a > b ? b : a;

	return (uint64_t)(high - low) * 100 <= (uint64_t)high * NEAR_PERCENT;
}

static bool is_spared(const struct overlaying *j, unsigned int sl)
{
	return j->l->spared_sls >> sl & 1;
}

/* Does an SL have its values, or is it spared and has what it had? */
static bool sl_is_near(const struct overlaying *j, uint32_t i, unsigned int sl,
		       const struct ibcc_law_out *law)
{
	const struct ibcc_cc_ca_entry *a = &j->actual->ep[i].ca.sl[sl];
	const struct ibcc_cc_ca_entry *b = &j->ledger->base.ep[i].ca.sl[sl];

	if (is_spared(j, sl))
		return a->CCTI_Timer == b->CCTI_Timer && a->CCTI_Increase == b->CCTI_Increase &&
		       a->CCTI_Min == b->CCTI_Min;
	return a->CCTI_Increase == law->increase && !a->CCTI_Min && near(a->CCTI_Timer, law->timer);
}

static uint32_t end_of(const struct ibcc_cct *c)
{
	return ibcc_cct_entry_delay_milli(c->entry[c->limit]);
}

/* Values that differ by less than what the law leaves open are kept: each Set costs, and the fabric
 * is the better for every one that is not sent.
 */
static bool near_enough(const struct overlaying *j, uint32_t i, const struct ibcc_law_out *law,
			uint32_t entries)
{
	const struct ibcc_endport_cc *ep = &j->actual->ep[i];
	struct ibcc_cct same;

	if (!ep->by_block && ep->ca.Port_Control & IBCC_CC_PORT_CONTROL_SL)
		return false;
	for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++)
		if (!sl_is_near(j, i, sl, law))
			return false;
	return near(end_of(&ep->cct), end_of(&law->cct)) &&
	       !ibcc_law_table(entries, end_of(&ep->cct), &same) && ibcc_cct_equal(&same, &ep->cct);
}

static void set_values(const struct overlaying *j, struct ibcc_endport_cc *ep,
		       const struct ibcc_law_out *law)
{
	ep->cct = law->cct;
	ep->ca.Port_Control &= (uint16_t)~IBCC_CC_PORT_CONTROL_SL;
	for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++) {
		if (is_spared(j, sl))
			continue;
		ep->ca.sl[sl].CCTI_Timer = law->timer;
		ep->ca.sl[sl].CCTI_Increase = law->increase;
		ep->ca.sl[sl].CCTI_Min = 0;
	}
}

static int lay_ca(const struct overlaying *j, uint32_t i)
{
	const struct ibcc_endport_cc *actual = &j->actual->ep[i];
	struct ibcc_endport_cc *ep = &j->out->wanted.ep[i];
	uint32_t entries = (uint32_t)ep->info.ControlTableCap * IBCC_CCT_BLOCK_ENTRIES;
	const struct ibcc_root_parameters *r = leader_of(j, i), *from = r;
	bool learns = r && r->phase == IBCC_PHASE_LEARN;
	struct ibcc_law_out law = { 0 };
	unsigned int differs;
	int ret = 0;

	restore(&j->ledger->base.ep[i], ep);
	if (r && !learns && own_values(j, i, entries, r, &from, &law))
		r = NULL;
	if (r && (learns || near_enough(j, i, &law, entries))) {
		ep->ca = actual->ca;
		ep->cct = actual->cct;
	} else if (r) {
		set_values(j, ep, &law);
	}
	/* A table that ends at index 0 throttles no flow, and leaves none at a high index when
	 * values come.
	 */
	if (learns && ep->cct.limit)
		ep->cct = (struct ibcc_cct){ 0 };
	if (ep->by_block) /* knows no other mode than its own */
		ep->ca.Port_Control = actual->ca.Port_Control;
	differs = ibcc_settings_differ(actual, ep);
	if (differs & IBCC_SETTINGS_CA)
		ret = give_reason(j, i, IBCC_CC_ATTR_CA_SETTING, IBCC_REASON_BALANCE, r, &law);
	if (!ret && differs & IBCC_SETTINGS_TABLE)
		ret = give_reason(j, i, IBCC_CC_ATTR_CCT,
				  learns ? IBCC_REASON_NO_DELAY : IBCC_REASON_TABLE, from, &law);
	return ret;
}

static int lay(const struct overlaying *j, uint32_t i)
{
	uint32_t n_reasons = j->out->n_reasons;
	bool wanted, lacking;
	int ret = 0;

	ask_roots(j, i, &wanted, &lacking);
	if (j->actual->ep[i].support != IBCC_CC_SUPPORTED) {
		if (wanted || lacking)
			j->out->without[j->out->n_without++] = i;
		return 0;
	}
	if (!ibcc_overlay_gives(&j->actual->ep[i]))
		return 0;
	if (wanted)
		ret = ibcc_ledger_hold(j->ledger, i, &j->actual->ep[i]);
	if (ret || !ibcc_ledger_is_held(j->ledger, i))
		return ret;
	if (j->actual->ep[i].mechanism == IBCC_MECHANISM_DCQCN)
		ret = lay_profiles(j, i);
	else if (ibcc_topo_is_switch(j->t, j->t->port[j->t->endport[i]].node))
		ret = lay_switch(j, i);
	else
		ret = lay_ca(j, i);
	if (!wanted && j->out->n_reasons == n_reasons)
		ibcc_ledger_release(j->ledger, i);
	return ret;
}

int ibcc_overlay_run(const struct ibcc_overlay *l, const struct ibcc_topo *t,
		     const struct ibcc_parameters *p, const struct ibcc_settings *actual,
		     struct ibcc_ledger *ledger, struct ibcc_target *out)
{
	const struct overlaying j = { l, t, p, actual, ledger, out };
	int ret;

	*out = (struct ibcc_target){ 0 };
	ret = ibcc_settings_copy(&out->wanted, actual);
	out->without = calloc(actual->n ? actual->n : 1, sizeof(*out->without));
	if (!out->without)
		ret = -ENOMEM;
	for (uint32_t i = 0; !ret && i < t->n_endports && i < actual->n; i++)
		ret = lay(&j, i);
	if (ret)
		ibcc_target_fini(out);
	return ret;
}
