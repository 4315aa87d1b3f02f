/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The ways back: to the settings from before our first change, and to no congestion control at all.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/device.h>
#include <ibcc/precheck.h>
#include <ibcc/refusal.h>
#include <ibcc/state.h>
#include <ibcc/text.h>

#include "daemon/report/report.h"
#include "daemon/service/service_impl.h"

/* After a rollback or a disable the tuner would repeat what was just reverted. So it pauses until
 * an operator asks for an apply.
 */
static void pause_after(struct ibcc_service *s, const char *what, const struct ibcc_request *r,
			const char *reason)
{
	char text[256];

	if (s->config.mode == IBCC_MODE_APPLY) {
		snprintf(text, sizeof(text), "%s by %s%s%.120s", what, r->who, reason ? ": " : "",
			 reason ? reason : "");
		ibcc_service_pause(s, text);
	}
	snprintf(text, sizeof(text), "%s by %s", what, r->who);
	ibcc_service_end_refinement(s, text);
	(void)ibcc_state_end_refining(s->state, true);
	ibcc_service_forget(s);
}

/* What happens to the rest, if the state file has it. */
static const char when_back[] = "ibcc-tuned does the rest as soon as that is possible, and "
				"\"ibcc-tune status\" shows what is "
				"owed";

void ibcc_service_forget(struct ibcc_service *s)
{
	s->cycle.actual_known = false;
	s->plan_is_old = s->changed_since = true;
	ibcc_cycle_forget(&s->cycle);
}

int ibcc_service_outcome(struct ibcc_service *s, const struct ibcc_plan *plan,
			 const struct ibcc_result *res, int rc, const struct ibcc_why *why,
			 json_t **out)
{
	const char *trouble = ibcc_state_is_ahead(s->state) ? ibcc_state_trouble(s->state) : NULL;
	json_t *o = json_pack("{si so si si si so so}", "schema", IBCC_REPORT_SCHEMA, "changes",
			      ibcc_report_changes(s->cycle.topo, plan, res), "writes", (int)plan->n,
			      "verified", (int)res->n_verified, "set_mads", (int)res->set_mads,
			      "unrecorded", trouble ? ibcc_json_text(trouble) : json_null(),
			      "error", rc ? ibcc_json_text(why->text) : json_null());

	*out = o;
	return o ? rc : -ENOMEM;
}

int ibcc_service_address(const struct ibcc_topo *t, const struct ibcc_plan *from,
			 struct ibcc_plan *plan, uint32_t *n_gone, uint64_t *gone_guid)
{
	uint32_t i, node, port;

	*n_gone = 0;
	plan->generation = t->generation;
	for (i = 0; i < from->n; i++) {
		struct ibcc_change c = from->change[i];

		node = ibcc_topo_find_guid(t, c.node_guid);
		port = node == IBCC_NONE ? IBCC_NONE : ibcc_topo_port_index(t, node, c.port);
		if (port == IBCC_NONE || !t->port[port].lid) {
			if (!(*n_gone)++)
				*gone_guid = c.node_guid;
			continue;
		}
		c.lid = t->port[port].lid;
		if (ibcc_plan_append(plan, &c))
			return -ENOMEM;
	}
	return 0;
}

/* Counts writes to GUIDs that two nodes share: one node gets the setting, and we cannot know which
 * one.
 */
static uint32_t count_shared(const struct ibcc_service *s, const struct ibcc_plan *plan)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < plan->n; i++)
		n += ibcc_walk_is_shared(&s->discovery.shared, plan->change[i].node_guid);
	return n;
}

int ibcc_service_take_back(struct ibcc_service *s, int64_t from, const struct ibcc_request *r,
			   const char *reason, json_t **out, struct ibcc_why *why)
{
	static const struct ibcc_bounds wire = IBCC_BOUNDS_DEFAULT;
	struct ibcc_plan joined = { 0 }, undo = { 0 }, plan = { 0 };
	struct ibcc_result res = { 0 };
	struct ibcc_execution execution = { 0 };
	struct ibcc_damage damage = { 0 };
	struct ibcc_why what = { "" };
	char summary[96 + IBCC_WHY_BYTES];
	uint64_t gone_guid = 0;
	uint32_t n_gone = 0, n_bad = 0, n_shared = 0, n_owed = 0;
	int64_t first = 0;
	int rc, owe = 0;

	rc = ibcc_service_prepare(s, why);
	if (!rc && ibcc_service_check_state(s, why) == -ENOMEM)
		rc = -ENOMEM;
	if (!rc)
		rc = ibcc_state_undo(s->state, from, &joined, &first, &damage, why);
	if (!rc && (ibcc_plan_reverse(&joined, &undo) ||
		    ibcc_service_address(s->cycle.topo, &undo, &plan, &n_gone, &gone_guid)))
		rc = ibcc_why_set(why, -ENOMEM, "no memory");
	if (rc)
		goto out;
	for (uint32_t i = 0; i < plan.n; i++)
		snprintf(plan.change[i].reason, sizeof(plan.change[i].reason),
			 "as it was before transaction %lld", (long long)first);
	/* The bytes come from a file. */
	n_bad = ibcc_bounds_drop(&wire, s->cycle.topo, &s->cycle.actual, &plan, &what);
	n_shared = count_shared(s, &plan);
	snprintf(summary, sizeof(summary), "back to before transaction %lld%s%s", (long long)first,
		 reason ? ": " : "", reason ? reason : "");
	execution = (struct ibcc_execution){
		/* If nodes are missing or left out, the transactions are only partly reverted. */
		.txn = { .who = r->who,
			 .action = "rollback",
			 .summary = summary,
			 .undoes_from = n_gone + n_bad + n_shared + damage.n ? 0 : first },
		.back = true,
	};
	rc = ibcc_service_execute(s, execution, &plan, &res, why);
	ibcc_service_wrote(s, &res);
	if (!rc || ibcc_result_may_have_written(&res))
		owe = ibcc_service_owe_rollback(s, &execution.txn, from, &undo, &plan, &res,
						&n_owed);
	if (!rc && n_gone)
		rc = ibcc_why_set(why, -EHOSTUNREACH,
				  "%u setting%s could not be restored: node 0x%016llx %s not on "
				  "the fabric; %s",
				  n_gone, ibcc_text_plural(n_gone, "", "s"),
				  (unsigned long long)gone_guid,
				  n_owed > 1 ? "and others are" : "is",
				  owe ? "repeat the rollback when it is back" : when_back);
	else if (!rc && n_shared)
		rc = ibcc_why_set(why, -EHOSTUNREACH, "%s; %s", s->discovery.text.text,
				  owe ? "repeat the rollback when one of them is gone" : when_back);
	else if (rc && n_owed && !owe)
		ibcc_why_set(why, rc, "%s; %s", why->text, when_back);
	else if (!rc && damage.n)
		rc = ibcc_why_set(why, -ERANGE,
				  "%u setting%s could not be restored, as the state file is "
				  "damaged there: %s; \"ibcc-tune disable\" removes all settings",
				  damage.n, ibcc_text_plural(damage.n, "", "s"), damage.first.text);
	else if (!rc && n_bad)
		rc = ibcc_why_set(why, -ERANGE,
				  "%u setting%s of the state file %s not valid for any node (%s); "
				  "\"ibcc-tune disable\" removes the settings there",
				  n_bad, ibcc_text_plural(n_bad, "", "s"),
				  ibcc_text_plural(n_bad, "is", "are"), what.text);
	if (n_owed || (plan.n && ibcc_result_may_have_written(&res)))
		pause_after(s, "rollback", r, reason);
	if (res.n == plan.n)
		rc = ibcc_service_outcome(s, &plan, &res, rc, why, out);
out:
	ibcc_result_fini(&res);
	ibcc_plan_fini(&plan);
	ibcc_plan_fini(&undo);
	ibcc_plan_fini(&joined);
	return rc;
}

int ibcc_service_rollback(struct ibcc_service *s, int64_t from, const struct ibcc_request *r,
			  json_t **out, struct ibcc_why *why)
{
	int rc = ibcc_service_take_back(s, from, r, NULL, out, why);

	ibcc_service_drop_trial(s, NULL, r->who);
	return rc;
}

static int want_off(const struct ibcc_topo *t, uint32_t i, struct ibcc_target *target)
{
	struct ibcc_endport_cc *ep = &target->wanted.ep[i];
	static const uint16_t attrs[2][2] = {
		{ IBCC_CC_ATTR_CA_SETTING, IBCC_CC_ATTR_CCT },
		{ IBCC_CC_ATTR_SW_SETTING, IBCC_CC_ATTR_SW_PORT_SETTING },
	};
	bool is_switch = ibcc_topo_is_switch(t, t->port[t->endport[i]].node);
	unsigned int k;

	ep->sw.Threshold = 0;
	for (k = 0; k < ep->n_element; k++)
		ep->element[k] = (struct ibcc_cc_sw_port_element){ 0 };
	/* With marking off nothing raises an index. But an index that may not fall would keep
	 * throttling.
	 */
	for (k = 0; k < IBCC_CC_SLS; k++) {
		ep->ca.sl[k].CCTI_Increase = 0;
		ep->ca.sl[k].CCTI_Min = 0;
	}
	/* Some nodes report only the last block of a table, not where it ends. */
	memset(ep->cct.entry, 0, sizeof(ep->cct.entry));
	if (!ep->by_block)
		ep->cct.limit = 0;
	for (k = 0; k < 2; k++)
		if (!ibcc_target_add(target, i, attrs[is_switch][k], IBCC_REASON_SWITCHED_OFF))
			return -ENOMEM;
	return 0;
}

/* NVIDIA's control itself is never switched. Profiles become what they were before our first write.
 */
static int want_profiles_back(const struct ibcc_service *s, uint32_t i, struct ibcc_target *target)
{
	const struct ibcc_book *book;

	if (target->wanted.ep[i].mechanism != IBCC_MECHANISM_DCQCN || !s->state ||
	    ibcc_state_book(s->state, &book, NULL))
		return 0;
	ibcc_ledger_without(book, s->cycle.topo, i, &target->wanted.ep[i]);
	return ibcc_target_add(target, i, IBCC_VCC_ATTR_SW_PROFILE, IBCC_REASON_SWITCHED_OFF)
		       ? 0
		       : -ENOMEM;
}

int ibcc_service_plan_off(const struct ibcc_service *s, const bool *which, struct ibcc_plan *plan)
{
	struct ibcc_settings actual = { 0 };
	struct ibcc_target target = { 0 };
	int rc = ibcc_settings_copy(&actual, &s->cycle.actual);

	if (!rc)
		rc = ibcc_settings_copy(&target.wanted, &actual);
	for (uint32_t e = 0; !rc && e < actual.n; e++) {
		if (which && !which[e])
			continue;
		if (which || actual.ep[e].support == IBCC_CC_LOG_ONLY)
			ibcc_endport_judge(&actual.ep[e], IBCC_CC_SUPPORTED);
		rc = want_profiles_back(s, e, &target);
		if (!rc)
			rc = want_off(s->cycle.topo, e, &target);
	}
	if (!rc)
		rc = ibcc_planner_run(s->cycle.topo, &actual, &target, plan);
	ibcc_target_fini(&target);
	ibcc_settings_fini(&actual);
	return rc;
}

/* Reports nodes that may have settings which could not be disabled; returns 0 or why not. */
static int left_over(const struct ibcc_topo *t, const struct ibcc_settings *actual,
		     struct ibcc_why *why)
{
	const struct ibcc_topo_node *first = NULL;
	struct ibcc_endport_cc ep = { .support = IBCC_CC_UNKNOWN };
	uint32_t i, n = 0;

	for (i = 0; i < t->n_endports; i++) {
		enum ibcc_cc_support can = ibcc_endport_support_back(&actual->ep[i]);

		if (!t->port[t->endport[i]].lid || can == IBCC_CC_SUPPORTED ||
		    can == IBCC_CC_UNSUPPORTED ||
		    !ibcc_device_takes_part(t, t->port[t->endport[i]].node))
			continue;
		if (!n++) {
			first = &t->node[t->port[t->endport[i]].node];
			ep = actual->ep[i];
			ep.support = can;
		}
	}
	if (!n)
		return 0;
	return ibcc_why_set(why, -EHOSTUNREACH,
			    "%u node%s could not be cleared, and keep%s %s settings: \"%s\" %s%s; "
			    "repeat ibcc-tune disable when %s",
			    n, ibcc_text_plural(n, "", "s"), ibcc_text_plural(n, "s", ""),
			    ibcc_text_plural(n, "its", "their"), first->desc,
			    ibcc_precheck_reason(&ep), n > 1 ? ", and others" : "",
			    ibcc_text_plural(n, "it answers", "they answer"));
}

int ibcc_service_disable(struct ibcc_service *s, const struct ibcc_request *r, json_t **out,
			 struct ibcc_why *why)
{
	struct ibcc_plan plan = { 0 };
	struct ibcc_result res = { 0 };
	struct ibcc_execution execution = { 0 };
	uint32_t n_owed = 0;
	int rc, owe = 0;

	rc = ibcc_service_read_all(s, why);
	if (rc)
		return rc;
	if (ibcc_service_plan_off(s, NULL, &plan))
		return ibcc_why_set(why, -ENOMEM, "no memory");
	execution = (struct ibcc_execution){
		.txn = { .who = r->who,
			 .action = "disable",
			 .summary = "marking and throttling taken off" },
		.back = true,
	};
	rc = ibcc_service_execute(s, execution, &plan, &res, why);
	ibcc_service_wrote(s, &res);
	if (!rc || ibcc_result_may_have_written(&res))
		owe = ibcc_service_owe_disable(s, &execution.txn, &plan, &res, &n_owed);
	if (!rc)
		rc = ibcc_service_missed(s, left_over(s->cycle.topo, &s->cycle.actual, why), why);
	/* All settings are certainly off, so the damaged rows are not needed any more. */
	if (!rc && !n_owed)
		rc = ibcc_state_give_up_damaged(s->state, why);
	if (!rc && n_owed)
		rc = ibcc_why_set(why, -EHOSTUNREACH,
				  "%u node%s with settings of ibcc-tune %s not on the fabric, or "
				  "%s the same GUID as another node",
				  n_owed, ibcc_text_plural(n_owed, "", "s"),
				  ibcc_text_plural(n_owed, "is", "are"),
				  ibcc_text_plural(n_owed, "has", "have"));
	if (n_owed)
		ibcc_why_set(why, rc, "%s; %s", why->text,
			     owe ? "repeat this when they are back" : when_back);
	if (!rc || res.set_mads)
		ibcc_service_drop_trial(s, "switched off", r->who);
	if (!rc || n_owed || ibcc_result_may_have_written(&res))
		pause_after(s, "disable", r, NULL);
	if (res.n == plan.n)
		rc = ibcc_service_outcome(s, &plan, &res, rc, why, out);
	ibcc_result_fini(&res);
	ibcc_plan_fini(&plan);
	return rc;
}

int ibcc_service_repair(struct ibcc_service *s, const struct ibcc_request *r, json_t **out,
			struct ibcc_why *why)
{
	struct ibcc_audit audit = { 0 };
	struct ibcc_result res = { 0 };
	struct ibcc_execution execution;
	struct ibcc_why text;
	int rc;

	rc = ibcc_service_open_state(s, why);
	if (!rc)
		rc = ibcc_service_no_trial(s, why);
	if (!rc)
		rc = ibcc_service_read_all(s, why);
	if (!rc)
		rc = ibcc_refusal_check(&s->cycle, why);
	if (!rc)
		rc = ibcc_service_may_write(s, true, why);
	if (!rc)
		rc = ibcc_state_audit(s->state, s->cycle.topo, &s->cycle.actual, &audit, why);
	if (rc)
		return rc;
	ibcc_audit_text(s->cycle.topo, &audit, &text);
	execution = (struct ibcc_execution){
		.txn = { .who = r->who, .action = "repair", .summary = text.text },
	};
	rc = ibcc_service_execute(s, execution, &audit.drift, &res, why);
	ibcc_service_wrote(s, &res);
	if (ibcc_result_may_have_written(&res))
		s->cycle.actual_known = false;
	/* The problem that the last check found is fixed. The next check is in the next polling
	 * cycle.
	 */
	if (!rc)
		ibcc_audit_fini(&s->cycle.audit);
	rc = ibcc_service_missed(s, rc, why);
	if (res.n == audit.drift.n)
		rc = ibcc_service_outcome(s, &audit.drift, &res, rc, why, out);
	ibcc_result_fini(&res);
	ibcc_audit_fini(&audit);
	return rc;
}
