/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Carries out a plan exactly as an operator has reviewed it. The plan comes from outside, so the
 * service computes again, from the roots and the fabric, what they need, and compares.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ibcc/precheck.h>
#include <ibcc/refusal.h>
#include <ibcc/state.h>
#include <ibcc/text.h>

#include "daemon/report/report.h"
#include "daemon/service/service_impl.h"

/* Returns 0 if an endport still has the value that a change replaces. */
static int check_change(const struct ibcc_service *s, const struct ibcc_change *c,
			struct ibcc_why *why)
{
	const struct ibcc_topo *t = s->cycle.topo;
	uint32_t port = ibcc_topo_port_of_lid(t, c->lid);
	const struct ibcc_endport_cc *ep;
	char name[IBCC_DESC_BYTES + 16];

	if (port == IBCC_NONE || t->port[port].endport == IBCC_NONE)
		return ibcc_why_set(why, -ESTALE, "node 0x%016" PRIx64 " has no LID", c->node_guid);
	ibcc_topo_port_name(t, port, name, sizeof(name));
	ep = &s->cycle.actual.ep[t->port[port].endport];
	if (ep->support != IBCC_CC_SUPPORTED)
		return ibcc_why_set(why, -ESTALE, "%s %s", name, ibcc_precheck_reason(ep));
	if (!ibcc_plan_in_force(ep, c->attr_id, c->attr_mod, c->old_data))
		return ibcc_why_set(why, -ESTALE,
				    "%s has a %s that differs from the one in the plan", name,
				    ibcc_cc_attr_name(c->attr_id));
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
				"nothing is written: %u of %u change%s no longer fit%s: %s%s; make "
				"a new plan",
				n, plan->n + n_gone, ibcc_text_plural(plan->n + n_gone, "", "s"),
				ibcc_text_plural(n, "s", ""), first.text,
				n > 1 ? ", and others" : "")
		 : 0;
}

/* What the roots of a plan need on the fabric as it is now. The call initialises *plan. Settings of
 * endports that no tuner knows of stay as they are, as in the polling cycle that made the plan.
 */
static int plan_of(struct ibcc_service *s, const struct ibcc_control *control,
		   struct ibcc_plan *plan, struct ibcc_why *why)
{
	struct ibcc_cycle *c = &s->cycle;
	struct ibcc_tuner *tuner = ibcc_tuner_new(&c->options.tuner);
	struct ibcc_ledger ledger = { 0 };
	struct ibcc_target target = { 0 };
	struct ibcc_control roots = { 0 };
	const struct ibcc_book *book;
	int rc = tuner ? ibcc_state_book(s->state, &book, why) : -ENOMEM;

	for (uint32_t k = 0; !rc && k < control->n_roots; k++)
		rc = ibcc_control_add(&roots, &control->root[k]);
	if (!rc)
		rc = ibcc_ledger_look(&ledger, book, c->topo, &c->actual);
	if (!rc) {
		ibcc_tuner_limits(tuner)->overlay = (struct ibcc_overlay){
			.spared_sls = c->options.trust_lft ? 0 : c->vendor.loose_sls,
			.max_delay = s->applier->bounds.max_delay,
			.max_timer = s->applier->bounds.max_timer,
		};
		rc = ibcc_tuner_resume(tuner, c->topo, &roots, &c->actual, &ledger, true);
	}
	if (!rc && roots.n_roots)
		rc = ibcc_why_set(why, -ESTALE,
				  "nothing is written: switch 0x%016" PRIx64
				  " of the plan has no congestion control now, or does not answer; "
				  "make a new plan",
				  roots.root[0].guid);
	if (!rc)
		rc = ibcc_tuner_lay(tuner, c->topo, &c->actual, &ledger, &target);
	if (!rc)
		rc = ibcc_planner_run(c->topo, &c->actual, &target, plan);
	if (rc == -ENOMEM)
		ibcc_why_set(why, rc, "no memory");
	ibcc_target_fini(&target);
	ibcc_ledger_reset(&ledger);
	ibcc_control_fini(&roots);
	ibcc_tuner_free(tuner);
	return rc;
}

static bool same_place(const struct ibcc_change *a, const struct ibcc_change *b)
{
	return a->node_guid == b->node_guid && a->port == b->port && a->attr_id == b->attr_id &&
	       a->attr_mod == b->attr_mod;
}

/* Both plans are in the order in which nodes are written, which keeps the search short. */
static struct ibcc_change *find(struct ibcc_plan *plan, const struct ibcc_change *c, uint32_t *at)
{
	for (uint32_t i = 0; i < plan->n; i++) {
		uint32_t k = (*at + i) % plan->n;

		if (same_place(&plan->change[k], c)) {
			*at = k + 1;
			return &plan->change[k];
		}
	}
	return NULL;
}

/* Checks that the plan has every write that the roots need, and gives each of these its computed
 * reason: the text in a plan from outside can be anything.
 */
static int compare(struct ibcc_plan *plan, const struct ibcc_plan *needed, struct ibcc_why *why)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < plan->n; i++)
		snprintf(plan->change[i].reason, sizeof(plan->change[i].reason),
			 "the plan has this change, but none of its roots needs it");
	for (uint32_t i = 0; i < needed->n; i++) {
		const struct ibcc_change *want = &needed->change[i];
		struct ibcc_change *c = find(plan, want, &at);

		if (!c || memcmp(c->new_data, want->new_data, sizeof(c->new_data)))
			return ibcc_why_set(why, -ESTALE,
					    "nothing is written: at node 0x%016" PRIx64
					    " the roots of the plan need another %s than it "
					    "writes; make a new plan",
					    want->node_guid, ibcc_cc_attr_name(want->attr_id));
		memcpy(c->reason, want->reason, sizeof(c->reason));
	}
	return 0;
}

/* Does a root account for a port that marks? If a switch has no settings for each port, one root
 * makes all ports mark.
 */
static bool is_root(const struct ibcc_control *control, uint64_t guid, unsigned int port,
		    const struct ibcc_endport_cc *sw)
{
	for (uint32_t k = 0; k < control->n_roots; k++)
		if (control->root[k].guid == guid &&
		    (control->root[k].port == port || !sw->sw_port_block))
			return true;
	return false;
}

/* Settings that mark throttle senders for as long as they are there, so some root must account for
 * them.
 */
static int check_marking(const struct ibcc_service *s, const struct ibcc_settings *after,
			 const struct ibcc_control *control, struct ibcc_why *why)
{
	const struct ibcc_topo *t = s->cycle.topo;
	int rc = 0;

	for (uint32_t i = 0; i < t->n_nodes && !rc; i++) {
		uint32_t e = t->port[t->node[i].first_port].endport;

		for (unsigned int p = 1;
		     ibcc_topo_is_switch(t, i) && p <= t->node[i].n_ports && !rc; p++)
			if (ibcc_settings_port_marks(&after->ep[e], p) &&
			    !ibcc_settings_port_marks(&s->cycle.actual.ep[e], p) &&
			    !is_root(control, t->node[i].guid, p, &after->ep[e]))
				rc = ibcc_why_set(why, -EINVAL,
						  "nothing is written: the plan has %s port %u "
						  "mark, and no root there; make a new plan",
						  t->node[i].desc, p);
	}
	return rc;
}

/* A plan may disable more than its roots need, such as settings of an earlier root. But a root must
 * need whatever throttles more.
 */
static int check_the_rest(const struct ibcc_service *s, const struct ibcc_settings *after,
			  const struct ibcc_settings *needed, struct ibcc_why *why)
{
	const struct ibcc_topo *t = s->cycle.topo;

	for (uint32_t e = 0; e < after->n; e++) {
		char name[IBCC_DESC_BYTES + 16];

		if (ibcc_settings_relax(&needed->ep[e], &after->ep[e]))
			continue;
		ibcc_topo_port_name(t, t->endport[e], name, sizeof(name));
		return ibcc_why_set(why, -EINVAL,
				    "nothing is written: the plan has settings for %s that "
				    "throttle more than any of its roots needs; make a new plan",
				    name);
	}
	return 0;
}

static int check_roots(struct ibcc_service *s, struct ibcc_plan *plan,
		       const struct ibcc_control *control, struct ibcc_why *why)
{
	struct ibcc_settings after = { 0 }, wanted = { 0 };
	struct ibcc_plan needed = { 0 };
	int rc = plan_of(s, control, &needed, why);

	if (!rc)
		rc = compare(plan, &needed, why);
	if (!rc && (ibcc_settings_copy(&after, &s->cycle.actual) ||
		    ibcc_settings_copy(&wanted, &s->cycle.actual)))
		rc = ibcc_why_set(why, -ENOMEM, "no memory");
	if (!rc) {
		ibcc_plan_put(plan, s->cycle.topo, false, &after);
		ibcc_plan_put(&needed, s->cycle.topo, false, &wanted);
		rc = check_marking(s, &after, control, why);
	}
	if (!rc)
		rc = check_the_rest(s, &after, &wanted, why);
	ibcc_settings_fini(&wanted);
	ibcc_settings_fini(&after);
	ibcc_plan_fini(&needed);
	return rc;
}

static int may_apply(struct ibcc_service *s, const struct ibcc_request *r, struct ibcc_why *why)
{
	int rc = ibcc_service_may_apply(s, r, why);

	if (!rc)
		rc = ibcc_service_read_all(s, why);
	if (!rc)
		ibcc_service_look_at_nvidia(s, IBCC_SERVICE_WRITES_BY_REQUEST);
	if (!rc)
		rc = ibcc_refusal_check(&s->cycle, why);
	return rc ? rc : ibcc_service_may_write(s, true, why);
}

/* The plan as it would be written now, with LIDs and with our own reasons; or why it may not be
 * written.
 */
static int judge(struct ibcc_service *s, const struct ibcc_plan *saved,
		 const struct ibcc_control *control, const struct ibcc_request *r,
		 struct ibcc_plan *plan, struct ibcc_why *why)
{
	uint64_t gone_guid = 0;
	uint32_t n_gone = 0;
	int rc = may_apply(s, r, why);

	if (!rc && ibcc_service_address(s->cycle.topo, saved, plan, &n_gone, &gone_guid))
		rc = ibcc_why_set(why, -ENOMEM, "no memory");
	if (!rc)
		rc = ibcc_service_check_consent(s, plan, r, why);
	if (!rc)
		rc = check_fabric(s, plan, n_gone, gone_guid, why);
	if (!rc)
		rc = check_roots(s, plan, control, why);
	return rc;
}

/* What a person has to look at before the plan is written, as the daemon's own plan has it. */
static json_t *warnings(const struct ibcc_service *s, const struct ibcc_plan *plan)
{
	json_t *list = json_array();

	if (ibcc_service_has_profile(plan) && s->cycle.unchecked.text[0])
		json_array_append_new(list, ibcc_json_text(s->cycle.unchecked.text));
	return list;
}

int ibcc_service_look_at_plan(struct ibcc_service *s, const struct ibcc_plan *saved,
			      const struct ibcc_control *control, const struct ibcc_request *r,
			      json_t **out, struct ibcc_why *why)
{
	struct ibcc_plan plan = { 0 };
	char summary[IBCC_REASON_BYTES];
	int rc = judge(s, saved, control, r, &plan, why);

	if (!rc) {
		ibcc_control_explain(s->cycle.topo, control, summary, sizeof(summary));
		*out = json_pack("{si so si so so so}", "schema", IBCC_REPORT_SCHEMA, "changes",
				 ibcc_report_changes(s->cycle.topo, &plan, NULL), "writes",
				 (int)plan.n, "summary", ibcc_json_text(summary), "warnings",
				 warnings(s, &plan), "unchecked_sm", ibcc_service_warned(s));
		rc = *out ? 0 : ibcc_why_set(why, -ENOMEM, "no memory");
	}
	ibcc_plan_fini(&plan);
	return rc;
}

/* Describes the roots in our words, and where the plan comes from. */
static void explain(const struct ibcc_service *s, const struct ibcc_control *control,
		    const struct ibcc_request *r, char *buf, size_t len)
{
	time_t made = (time_t)r->made_s;
	char when[32];
	struct tm tm;
	size_t n;

	ibcc_control_explain(s->cycle.topo, control, buf, IBCC_REASON_BYTES);
	n = strlen(buf);
	if (made && gmtime_r(&made, &tm) && strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm))
		snprintf(buf + n, len - n, "; from a plan file of %s UTC", when);
}

int ibcc_service_apply_plan(struct ibcc_service *s, const struct ibcc_plan *saved,
			    const struct ibcc_control *control, const struct ibcc_request *r,
			    json_t **out, struct ibcc_why *why)
{
	struct ibcc_plan plan = { 0 };
	struct ibcc_result res = { 0 };
	struct ibcc_execution execution;
	char *text = NULL, *nodes = NULL, summary[IBCC_REASON_BYTES + 64];
	int rc = judge(s, saved, control, r, &plan, why);

	if (!rc && ibcc_cycle_texts(&plan, control, &text, &nodes))
		rc = ibcc_why_set(why, -ENOMEM, "no memory");
	if (rc)
		goto out;
	explain(s, control, r, summary, sizeof(summary));
	execution = (struct ibcc_execution){
		.all_or_nothing = true,
		.txn = { .who = r->who,
			 .action = "apply",
			 .summary = summary,
			 .confirm_s = r->confirm_s,
			 .control = control->n_roots ? text : NULL,
			 .refining = nodes },
	};
	rc = ibcc_service_execute(s, execution, &plan, &res, why);
	ibcc_service_wrote(s, &res);
	ibcc_service_begin_trial(s, r, rc, why);
	if (!rc && plan.n)
		ibcc_service_applied(s);
	if (res.set_mads) {
		ibcc_service_predict_saved(s, &plan);
		ibcc_service_pause(s, NULL);
	}
	if (plan.n)
		ibcc_service_begin_refinement(s, &res, rc);
	/* The tuner continues with the plan's roots instead of its own. */
	if (ibcc_result_may_have_written(&res))
		ibcc_service_forget(s);
	if (res.n == plan.n)
		rc = ibcc_service_outcome(s, &plan, &res, rc, why, out);
out:
	ibcc_result_fini(&res);
	ibcc_plan_fini(&plan);
	free(nodes);
	free(text);
	return rc;
}
