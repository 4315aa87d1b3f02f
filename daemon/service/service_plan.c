/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A plan that somebody has looked at, carried out as he saw it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include <ibcc/gate.h>

#include "daemon/apply/refusal.h"
#include "daemon/report/report.h"
#include "daemon/service/service_impl.h"
#include "daemon/state/state.h"

/* 0 if an endport still has what a change is to replace. */
static int check_change(const struct ibcc_service *s, const struct ibcc_change *c,
			struct ibcc_why *why)
{
	const struct ibcc_topo *t = s->cycle.topo;
	uint32_t port = ibcc_topo_port_of_lid(t, c->lid);
	const struct ibcc_endport_cc *ep;
	const char *desc;

	if (port == IBCC_NONE || t->port[port].endport == IBCC_NONE)
		return ibcc_why_set(why, -ESTALE, "node 0x%016" PRIx64 " has no LID", c->node_guid);
	desc = t->node[t->port[port].node].desc;
	ep = &s->cycle.actual.ep[t->port[port].endport];
	if (ep->support != IBCC_CC_SUPPORTED)
		return ibcc_why_set(why, -ESTALE, "%s 0x%016" PRIx64 " %s", desc, c->node_guid,
				    ibcc_gate_reason(ep));
	if (!ibcc_plan_in_force(ep, c->attr_id, c->attr_mod, c->old_data))
		return ibcc_why_set(why, -ESTALE,
				    "%s 0x%016" PRIx64
				    " has another %s than when the plan was made",
				    desc, c->node_guid, ibcc_cc_attr_name(c->attr_id));
	return 0;
}

static int check_fabric(const struct ibcc_service *s, const struct ibcc_plan *plan, uint32_t n_gone,
			uint64_t gone_guid, struct ibcc_why *why)
{
	struct ibcc_why first = { "" };
	uint32_t n = n_gone;

	if (n_gone)
		ibcc_why_set(&first, 0, "node 0x%016" PRIx64 " is not on the fabric", gone_guid);
	for (uint32_t i = 0; i < plan->n; i++)
		n += check_change(s, &plan->change[i], n ? NULL : &first) != 0;
	return n ? ibcc_why_set(why, -ESTALE,
				"nothing is written: %u of %u writes no longer fit: %s%s; make "
				"another plan",
				n, plan->n + n_gone, first.text, n > 1 ? ", and others" : "")
		 : 0;
}

int ibcc_service_apply_plan(struct ibcc_service *s, const struct ibcc_plan *saved,
			    const struct ibcc_request *r, json_t **out, struct ibcc_why *why)
{
	struct ibcc_plan plan = { 0 };
	struct ibcc_result res = { 0 };
	struct ibcc_carry carry;
	uint64_t gone_guid = 0;
	uint32_t n_gone = 0;
	int rc = ibcc_service_may_apply(s, r, why);

	if (!rc)
		rc = ibcc_service_read_all(s, why);
	if (!rc)
		rc = ibcc_refusal_check(&s->cycle, why);
	if (!rc)
		rc = ibcc_service_may_write(s, true, why);
	if (!rc && ibcc_service_address(s->cycle.topo, saved, &plan, &n_gone, &gone_guid))
		rc = ibcc_why_set(why, -ENOMEM, "no memory");
	if (!rc)
		rc = check_fabric(s, &plan, n_gone, gone_guid, why);
	if (rc)
		goto out;
	carry = (struct ibcc_carry){
		.all_or_nothing = true,
		.txn = { .who = r->who,
			 .action = "apply",
			 .summary = "a plan made earlier",
			 .confirm_s = r->confirm_s },
	};
	rc = ibcc_service_carry(s, carry, &plan, &res, why);
	ibcc_service_wrote(s, &res);
	ibcc_service_begin_trial(s, r, rc, why);
	if (res.set_mads) {
		ibcc_service_predict_saved(s, &plan);
		ibcc_service_pause(s, NULL);
	}
	/* What is there now is ours by the books, and the tuner has not made it. */
	if (ibcc_result_may_have_written(&res))
		ibcc_service_forget(s);
	if (res.n == plan.n)
		rc = ibcc_service_outcome(s, &plan, &res, rc, why, out);
out:
	ibcc_result_fini(&res);
	ibcc_plan_fini(&plan);
	return rc;
}
