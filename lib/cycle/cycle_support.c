/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Endports that must not be written although they have congestion control: with NVIDIA's own at
 * work, of a type that has the log only, with another program's settings, or without any effect of
 * ours (cycle_support.h).
 */
#include "lib/cycle/cycle_support.h"

#include "lib/cycle/profiles.h"

#include <ibcc/device.h>

static void block(struct ibcc_cycle *c, uint32_t endport, enum ibcc_cc_support why)
{
	if (endport < c->actual.n && c->actual.ep[endport].support == IBCC_CC_SUPPORTED)
		ibcc_endport_judge(&c->actual.ep[endport], why);
}

static bool has_log_only(const struct ibcc_topo *t, uint32_t endport)
{
	const struct ibcc_topo_node *n = &t->node[t->port[t->endport[endport]].node];
	const struct ibcc_device *d = ibcc_device_find(n->vendor_id, n->device_id);

	return ibcc_device_facts(ibcc_device_generation(d))->refusal != NULL;
}

void ibcc_cycle_block_vendors(struct ibcc_cycle *c)
{
	for (uint32_t i = 0; i < c->actual.n; i++) {
		enum ibcc_cc_support why = ibcc_vendor_block(&c->vendor, i);

		c->actual.ep[i].mechanism = ibcc_profiles_mechanism(c, i);
		if (c->actual.ep[i].mechanism == IBCC_MECHANISM_DCQCN) {
			ibcc_endport_judge(&c->actual.ep[i], IBCC_CC_SUPPORTED);
			continue;
		}
		if (has_log_only(c->topo, i))
			why = IBCC_CC_LOG_ONLY;
		/* The annex's settings are not written beside NVIDIA's control, at no node. */
		if (why == IBCC_CC_SUPPORTED && ibcc_profiles_are_settings(c))
			block(c, i, IBCC_CC_VENDOR_ON);
		if (why != IBCC_CC_SUPPORTED)
			ibcc_endport_judge(&c->actual.ep[i], why);
	}
}

void ibcc_cycle_block_foreign(struct ibcc_cycle *c)
{
	const struct ibcc_audit *a = &c->audit;

	if (a->n_made + a->n_unmade + a->n_other)
		return;
	for (uint32_t i = 0; i < a->drift.n; i++) {
		const struct ibcc_change *ch = &a->drift.change[i];
		uint32_t e = ibcc_topo_find_endport(c->topo, ch->node_guid, ch->port);

		if (e < c->actual.n && ibcc_settings_are_on(&c->actual.ep[e]))
			block(c, e, IBCC_CC_FOREIGN);
	}
}

void ibcc_cycle_block_ignorers(struct ibcc_cycle *c)
{
	for (uint32_t i = 0; i < c->rollout.n_ignorers; i++)
		block(c, c->rollout.ignorer[i].endport, IBCC_CC_NO_EFFECT);
}
