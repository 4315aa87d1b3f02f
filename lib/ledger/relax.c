/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds changes that only loosen congestion control, by their effect on packets: fewer marks,
 * shorter delays. Such a change can hold up no traffic, so it may be made where others are not.
 * Begin with ibcc_settings_relax().
 */
#include <errno.h>
#include <stdlib.h>

#include <ibcc/plan.h>
#include <ibcc/settings.h>
#include <ibcc/vendor_cc.h>

/* Whether an SL can be throttled. Without CCTI_Increase no mark raises the index, and without
 * CCTI_Min it falls to 0. */
static bool throttles(const struct ibcc_cc_ca_entry *e)
{
	return e->CCTI_Increase || e->CCTI_Min;
}

static bool table_relaxes(const struct ibcc_cct *from, const struct ibcc_cct *to)
{
	if (to->limit > from->limit || to->limit >= IBCC_CCT_MAX_ENTRIES)
		return false;
	for (unsigned int i = 0; i <= to->limit; i++)
		if (ibcc_cct_entry_delay_milli(to->entry[i]) >
		    ibcc_cct_entry_delay_milli(from->entry[i]))
			return false;
	return true;
}

static bool adapter_relaxes(const struct ibcc_endport_cc *from, const struct ibcc_endport_cc *to)
{
	bool any = false;

	for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++) {
		const struct ibcc_cc_ca_entry *a = &from->ca.sl[sl], *b = &to->ca.sl[sl];

		if (!throttles(b))
			continue;
		any = true;
		if (b->CCTI_Increase > a->CCTI_Increase || b->CCTI_Min > a->CCTI_Min ||
		    b->CCTI_Timer > a->CCTI_Timer)
			return false;
	}
	return !any || (from->ca.Port_Control == to->ca.Port_Control &&
			table_relaxes(&from->cct, &to->cct));
}

static bool port_relaxes(const struct ibcc_endport_cc *from, const struct ibcc_endport_cc *to,
			 unsigned int port)
{
	struct ibcc_cc_sw_port_element a = ibcc_settings_effective(from, port);
	struct ibcc_cc_sw_port_element b = ibcc_settings_effective(to, port);

	return !b.Threshold || (a.Control_Type == b.Control_Type && b.Threshold <= a.Threshold &&
				b.Packet_Size >= a.Packet_Size &&
				b.Cong_Parm_Marking_Rate >= a.Cong_Parm_Marking_Rate);
}

static bool masks_within(const struct ibcc_cc_port_mask *a, const struct ibcc_cc_port_mask *b)
{
	for (unsigned int i = 0; i < sizeof(a->byte); i++)
		if (b->byte[i] & ~a->byte[i])
			return false;
	return true;
}

static bool switch_relaxes(const struct ibcc_endport_cc *from, const struct ibcc_endport_cc *to)
{
	unsigned int n = from->n_element > to->n_element ? from->n_element : to->n_element;

	if (!masks_within(&from->sw.Victim_Mask, &to->sw.Victim_Mask) ||
	    !masks_within(&from->sw.Credit_Mask, &to->sw.Credit_Mask) ||
	    to->sw.CS_Threshold > from->sw.CS_Threshold ||
	    ibcc_cct_entry_delay_milli(to->sw.CS_ReturnDelay) >
		    ibcc_cct_entry_delay_milli(from->sw.CS_ReturnDelay))
		return false;
	/* The port behind the last element has the setting of the whole switch. */
	for (unsigned int port = 0; port <= n; port++)
		if (!port_relaxes(from, to, port))
			return false;
	return true;
}

/* Whether no port's profile begins to mark at a shorter queue, or marks more of a queue. */
static bool profiles_relax(const struct ibcc_endport_cc *from, const struct ibcc_endport_cc *to)
{
	for (unsigned int port = 0; port < from->n_profile && port < to->n_profile; port++)
		for (unsigned int k = 0;
		     from->profile[port].known && to->profile[port].known && k < IBCC_VCC_PROFILES;
		     k++) {
			struct ibcc_vcc_profile a =
				ibcc_vcc_profile_get(from->profile[port].data, k);
			struct ibcc_vcc_profile b = ibcc_vcc_profile_get(to->profile[port].data, k);

			if (b.min < a.min || b.max < a.max || b.percent > a.percent)
				return false;
		}
	return true;
}

bool ibcc_settings_relax(const struct ibcc_endport_cc *from, const struct ibcc_endport_cc *to)
{
	return adapter_relaxes(from, to) && switch_relaxes(from, to) && profiles_relax(from, to);
}

int ibcc_plan_relaxing(const struct ibcc_topo *t, const struct ibcc_settings *actual,
		       const struct ibcc_settings *wanted, const struct ibcc_plan *plan,
		       struct ibcc_plan *part)
{
	int rc = 0;

	*part = (struct ibcc_plan){ .generation = plan->generation,
				    .n_unchanged = plan->n_unchanged,
				    .n_unreachable = plan->n_unreachable };
	for (uint32_t i = 0; i < plan->n && !rc; i++) {
		uint32_t e = ibcc_change_endport(&plan->change[i], t);

		if (e != IBCC_NONE && ibcc_settings_relax(&actual->ep[e], &wanted->ep[e]))
			rc = ibcc_plan_append(part, &plan->change[i]);
	}
	if (rc)
		ibcc_plan_fini(part);
	return rc;
}
