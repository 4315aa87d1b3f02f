/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Marking profiles of NVIDIA's switches as settings (profiles.h): where they are, what is not read
 * yet, and whether another program writes them.
 */
#include "lib/cycle/profiles.h"

#include <ibcc/text.h>

bool ibcc_profiles_are_settings(const struct ibcc_cycle *c)
{
	return c->options.profiles && ibcc_vendor_rules(&c->vendor);
}

static bool is_switch(const struct ibcc_cycle *c, uint32_t endport)
{
	return ibcc_topo_is_switch(c->topo, c->topo->port[c->topo->endport[endport]].node);
}

static bool is_on(const struct ibcc_cycle *c, uint32_t endport)
{
	return endport < c->vendor.n && c->vendor.ep[endport].cc == IBCC_VENDOR_CC_ON;
}

enum ibcc_mechanism ibcc_profiles_mechanism(const struct ibcc_cycle *c, uint32_t endport)
{
	bool ours = ibcc_profiles_are_settings(c) && is_on(c, endport) &&
		    (is_switch(c, endport) ? c->actual.ep[endport].n_profile
					   : c->vendor.ep[endport].reacts);

	return ours ? IBCC_MECHANISM_DCQCN : IBCC_MECHANISM_A10;
}

bool ibcc_profiles_are_unread(const struct ibcc_cycle *c, uint32_t endport)
{
	const struct ibcc_endport_cc *ep = &c->actual.ep[endport];

	return ibcc_profiles_are_settings(c) && is_on(c, endport) &&
	       (is_switch(c, endport) ? !ep->n_profile : !ep->rp_known);
}

bool ibcc_profiles_changed(const struct ibcc_cycle *c, struct ibcc_why *text)
{
	const struct ibcc_change *first = NULL;
	uint32_t n = 0, node;

	for (uint32_t i = 0; i < c->audit.drift.n; i++)
		if (c->audit.drift.change[i].attr_id == IBCC_VCC_ATTR_SW_PROFILE && !n++)
			first = &c->audit.drift.change[i];
	if (!n)
		return false;
	node = ibcc_topo_find_guid(c->topo, first->node_guid);
	ibcc_why_set(text, 0,
		     "marking profiles of %u port%s, the first at \"%s\" port %u, are not those "
		     "that ibcc-tune wrote: another program, such as NVIDIA's OpenSM, writes them, "
		     "or the switch restarted. ibcc-tune writes no more of them: find the other "
		     "program, then run \"ibcc-tune rollback\"",
		     n, ibcc_text_plural(n, "", "s"),
		     node == IBCC_NONE ? "" : c->topo->node[node].desc, first->attr_mod);
	return true;
}
