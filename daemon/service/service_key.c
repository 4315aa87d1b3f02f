/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Gives all nodes a CC_Key, or another one. An interrupted run can be completed by doing it again:
 * nodes that have the new key already are left alone.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/collect.h>
#include <ibcc/mad.h>
#include <ibcc/precheck.h>

#include "daemon/report/report.h"
#include "daemon/service/service_impl.h"

static void pack(uint8_t *data, const struct ibcc_cc_key_info *key)
{
	uint8_t mad[IBCC_MAD_BYTES] = { 0 };

	ibcc_cc_key_info_pack(mad, key);
	memcpy(data, mad + IBCC_MAD_DATA_OFFS, IBCC_CC_DATA_BYTES);
}

/* `own`: the key that the node expects, if it is not ours. */
static int add(const struct ibcc_service *s, uint32_t endport, const struct ibcc_cc_key_info *key,
	       uint64_t own, struct ibcc_plan *plan)
{
	const struct ibcc_topo *t = s->cycle.topo;
	const struct ibcc_topo_port *p = &t->port[t->endport[endport]];
	struct ibcc_cc_key_info old = { .CC_Key = own ? own : s->cc_key };
	struct ibcc_change c = { .node_guid = t->node[p->node].guid,
				 .lid = p->lid,
				 .port = p->num,
				 .attr_id = IBCC_CC_ATTR_KEY_INFO,
				 .cc_key = own,
				 .reason = "the CC_Key is set" };

	pack(c.old_data, &old);
	pack(c.new_data, key);
	return ibcc_plan_append(plan, &c);
}

/* Does a node that has the key also have the protect bit and the lease? If it does not answer that,
 * it counts as having them.
 */
static bool has_all(const struct ibcc_service *s, uint32_t endport,
		    const struct ibcc_cc_key_info *key)
{
	const struct ibcc_topo *t = s->cycle.topo;
	struct ibcc_mad_op op = { .lid = t->port[t->endport[endport]].lid };
	struct ibcc_cc_key_info has;

	if (!key->CC_KeyProtectBit && !key->CC_KeyLeasePeriod)
		return true;
	ibcc_mad_request(op.mad, IBCC_MAD_CLASS_CC, IBCC_MAD_GET, IBCC_CC_ATTR_KEY_INFO, 0);
	ibcc_cc_key_pack(op.mad, key->CC_Key);
	if (ibcc_transport_run(s->transport, &op, 1) || op.err)
		return true;
	ibcc_cc_key_info_unpack(op.mad, &has);
	return has.CC_KeyProtectBit == key->CC_KeyProtectBit &&
	       has.CC_KeyLeasePeriod == key->CC_KeyLeasePeriod;
}

/* Nodes that accept our key get the new one. Nodes that accept neither are reported. */
static int make_plan(struct ibcc_service *s, const struct ibcc_settings *with_new,
		     const struct ibcc_cc_key_info *key, struct ibcc_plan *plan,
		     struct ibcc_why *strangers)
{
	const struct ibcc_topo *t = s->cycle.topo;
	uint32_t i, n = 0;
	int rc = 0;

	plan->generation = t->generation;
	for (i = 0; !rc && i < t->n_endports; i++) {
		struct ibcc_endport_cc ep = s->cycle.actual.ep[i];
		char name[IBCC_DESC_BYTES + 16];

		/* A device without anything but the log has the key, too: its log is read with it.
		 */
		ep.support = ibcc_endport_support_back(&ep);
		if (!t->port[t->endport[i]].lid || ep.support == IBCC_CC_UNSUPPORTED)
			continue;
		if (ep.support == IBCC_CC_SUPPORTED) {
			rc = add(s, i, key, 0, plan);
		} else if (with_new->ep[i].support == IBCC_CC_SUPPORTED && !has_all(s, i, key)) {
			rc = add(s, i, key, key->CC_Key, plan);
		} else if (with_new->ep[i].support == IBCC_CC_SUPPORTED) {
			plan->n_unchanged++;
		} else if (!n++) {
			ibcc_topo_port_name(t, t->endport[i], name, sizeof(name));
			ibcc_why_set(strangers, -EACCES, "%s %s", name, ibcc_precheck_reason(&ep));
		}
	}
	return rc;
}

/* Asks only nodes that refuse our key, because a node counts wrong keys and starts its lease. */
static int try_new_key(struct ibcc_service *s, uint64_t key, struct ibcc_settings *with_new)
{
	bool *which = calloc(s->cycle.actual.n + 1, sizeof(*which));
	int rc = which ? ibcc_settings_copy(with_new, &s->cycle.actual) : -ENOMEM;

	for (uint32_t i = 0; !rc && i < with_new->n; i++) {
		enum ibcc_cc_support can = ibcc_endport_support_back(&with_new->ep[i]);

		which[i] = can == IBCC_CC_KEY_REFUSED || can == IBCC_CC_UNKNOWN;
	}
	if (!rc)
		rc = ibcc_readback_some(s->transport, s->cycle.topo, key, which, with_new);
	free(which);
	return rc;
}

int ibcc_service_set_key(struct ibcc_service *s, const struct ibcc_cc_key_info *key,
			 const struct ibcc_request *r, json_t **out, struct ibcc_why *why)
{
	struct ibcc_settings with_new = { 0 };
	struct ibcc_plan plan = { 0 };
	struct ibcc_result res = { 0 };
	struct ibcc_why strangers = { "" };
	struct ibcc_execution execution;
	int rc;

	rc = ibcc_service_read_all(s, why);
	if (!rc && try_new_key(s, key->CC_Key, &with_new))
		rc = ibcc_why_set(why, -EIO,
				  "reading the settings back failed, so it is not known which "
				  "nodes have the key: repeat this");
	if (!rc && make_plan(s, &with_new, key, &plan, &strangers))
		rc = ibcc_why_set(why, -ENOMEM, "no memory");
	if (rc)
		goto out;
	execution = (struct ibcc_execution){
		.txn = { .who = r->who, .action = "key", .summary = "CC_Key set at all nodes" },
	};
	rc = ibcc_service_execute(s, execution, &plan, &res, why);
	if (!rc && strangers.text[0])
		rc = ibcc_why_set(why, -EACCES, "%s", strangers.text);
	rc = ibcc_service_missed(s, rc, why);
	s->cycle.actual_known = false;
	*out = json_pack("{si so si si si so}", "schema", IBCC_REPORT_SCHEMA, "changes",
			 ibcc_report_changes(s->cycle.topo, &plan, &res), "writes", (int)plan.n,
			 "verified", (int)res.n_verified, "unchanged", (int)plan.n_unchanged,
			 "error", rc ? ibcc_json_text(why->text) : json_null());
out:
	ibcc_result_fini(&res);
	ibcc_plan_fini(&plan);
	ibcc_settings_fini(&with_new);
	return rc;
}
