/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The stages of a polling cycle, one after the other. No other file knows all of them. */
#include <ibcc/cycle.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/execute.h>
#include <ibcc/proof.h>
#include <ibcc/refusal.h>

#include "lib/cycle/cycle_read.h"
#include "lib/cycle/cycle_resume.h"
#include "lib/cycle/cycle_rollout.h"
#include "lib/cycle/cycle_support.h"
#include "lib/cycle/profiles.h"

int ibcc_cycle_init(struct ibcc_cycle *c, const struct ibcc_cycle_options *o,
		    struct ibcc_transport *transport)
{
	*c = (struct ibcc_cycle){ .options = *o, .transport = transport };
	if (!c->options.readback_passes)
		c->options.readback_passes = IBCC_READBACK_PASSES;
	c->estimator = ibcc_estimator_new(&o->estimator);
	c->tuner = ibcc_tuner_new(&o->tuner);
	return c->estimator && c->tuner ? 0 : -ENOMEM;
}

static void forget_decision(struct ibcc_cycle *c)
{
	free(c->proved.root);
	c->proved = (struct ibcc_estimate){ 0 };
	c->unproved.n = 0;
	ibcc_estimate_fini(&c->estimate);
	ibcc_target_fini(&c->target);
	ibcc_plan_fini(&c->plan);
	ibcc_result_fini(&c->result);
	memset(&c->estimate, 0, sizeof(c->estimate));
	memset(&c->target, 0, sizeof(c->target));
	ibcc_plan_fini(&c->repaired);
	ibcc_result_fini(&c->repair);
	c->decided = false;
	c->acted = false;
	c->audited = false;
	c->act_err = 0;
	c->blocked.text[0] = '\0';
	c->refused = IBCC_REFUSED_NOT;
	free(c->control);
	free(c->nodes);
	free(c->summary);
	free(c->decisions);
	c->control = c->nodes = c->summary = c->decisions = NULL;
	c->n_controlled = 0;
}

void ibcc_cycle_fini(struct ibcc_cycle *c)
{
	if (!c)
		return;
	forget_decision(c);
	ibcc_cycle_forget_resume(c);
	ibcc_ledger_reset(&c->ledger);
	ibcc_audit_fini(&c->audit);
	ibcc_settings_fini(&c->actual);
	ibcc_vendor_fini(&c->vendor);
	ibcc_snapshot_fini(&c->snapshot);
	ibcc_focus_fini(&c->focus);
	ibcc_collector_free(c->collector);
	ibcc_estimator_free(c->estimator);
	ibcc_tuner_free(c->tuner);
	ibcc_topo_free(c->topo);
	*c = (struct ibcc_cycle){ 0 };
}

void ibcc_cycle_forget(struct ibcc_cycle *c)
{
	ibcc_tuner_reset(c->tuner);
	ibcc_cycle_forget_resume(c);
	ibcc_ledger_reset(&c->ledger);
	ibcc_rollout_forget(&c->rollout);
}

uint32_t ibcc_cycle_pending(const struct ibcc_cycle *c)
{
	bool written = c->acted && c->result.n_verified == c->plan.n;

	return (written ? 0 : c->plan.n) + c->rollout.n_left;
}

int ibcc_cycle_set_topology(struct ibcc_cycle *c, struct ibcc_topo *topo)
{
	struct ibcc_collector *collector = NULL;
	struct ibcc_settings actual = { 0 };
	struct ibcc_why loop;

	if (c->topo && ibcc_topo_equal(c->topo, topo)) {
		if (c->topo->generation != topo->generation)
			ibcc_collector_ask_again(c->collector);
		for (uint32_t i = 0; i < topo->n_ports; i++)
			c->topo->port[i].caps = topo->port[i].caps;
		c->topo->generation = topo->generation;
		ibcc_topo_free(topo);
		return 0;
	}
	collector = ibcc_collector_new();
	if (!collector || ibcc_settings_init(&actual, topo) || ibcc_faults_find_loop(topo, &loop))
		goto no_memory;
	ibcc_collector_set_deadline(collector, c->options.pass_deadline_ns);
	if (c->topo && ibcc_collector_follow(collector, topo, c->collector, c->topo))
		goto no_memory;
	if (c->topo ? ibcc_snapshot_rebase(&c->snapshot, c->topo, topo)
		    : ibcc_snapshot_init(&c->snapshot, topo))
		goto no_memory;
	if (ibcc_vendor_rebase(&c->vendor, c->topo, topo))
		goto no_memory;
	forget_decision(c);
	c->rollout = (struct ibcc_rollout){ 0 };
	ibcc_collector_free(c->collector);
	ibcc_settings_fini(&c->actual);
	ibcc_topo_free(c->topo);
	c->collector = collector;
	c->actual = actual;
	c->actual_known = false;
	ibcc_audit_fini(&c->audit);
	ibcc_focus_fini(&c->focus);
	c->topo = topo;
	c->credit_loop = loop;
	ibcc_estimator_reset(c->estimator);
	ibcc_cycle_forget(c);
	return 0;
no_memory:
	ibcc_collector_free(collector);
	ibcc_settings_fini(&actual);
	ibcc_topo_free(topo);
	return -ENOMEM;
}

int ibcc_cycle_retune(struct ibcc_cycle *c, const struct ibcc_estimator_params *e,
		      const struct ibcc_tuner_params *t)
{
	struct ibcc_tuner *tuner = ibcc_tuner_new(t);

	if (!tuner)
		return -ENOMEM;
	ibcc_estimator_retune(c->estimator, e);
	ibcc_tuner_free(c->tuner);
	c->tuner = tuner;
	ibcc_cycle_forget_resume(c);
	ibcc_ledger_reset(&c->ledger);
	c->options.estimator = *e;
	c->options.tuner = *t;
	return 0;
}

static uint64_t cpu_ns(const struct ibcc_cycle *c)
{
	return c->options.cpu_ns ? c->options.cpu_ns() : 0;
}

/* Takes the tuner's decision, and decides what to do with settings of ours that the tuner does not
 * hold.
 */
static int tune(struct ibcc_cycle *c, const struct ibcc_act *act, struct ibcc_why *why)
{
	uint32_t keep_passes = act->within ? UINT32_MAX : c->options.tuner.quiet_passes;
	const struct ibcc_book *book;
	int rc = 0;

	if (act->state)
		rc = ibcc_state_book(act->state, &book, why);
	if (!rc && act->state)
		rc = ibcc_ledger_look(&c->ledger, book, c->topo, &c->actual);
	if (!rc && act->state)
		rc = ibcc_cycle_resume(c, act->state);
	if (!rc)
		rc = ibcc_tuner_step(c->tuner, c->topo, &c->proved, &c->actual, &c->ledger,
				     &c->target);
	if (!rc)
		rc = ibcc_ledger_lay(&c->ledger, c->topo, &c->actual, &c->proved, keep_passes,
				     &c->target);
	return rc;
}

/* Finds roots that send on SLs whose packets may leave the routes of the forwarding tables
 * (adaptive routing), and keeps such roots out of the estimate.
 */
static int prove(struct ibcc_cycle *c, const struct ibcc_act *act, uint16_t loose)
{
	bool some = loose && loose != UINT16_MAX;
	const struct ibcc_estimate *p = &c->estimate;
	uint32_t *port = calloc(p->n_roots + 1, sizeof(*port));
	uint16_t *sls = calloc(p->n_roots + 1, sizeof(*sls));
	int rc = port && sls ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < p->n_roots && !rc; i++)
		port[i] = p->root[i].port;
	if (!rc && some)
		rc = ibcc_collector_read_sls(c->collector, c->transport, c->topo, &c->snapshot,
					     port, p->n_roots, sls);
	if (!rc && some && act->applier->writes && c->options.clear_counters)
		rc = ibcc_collector_clear_sls(c->collector, c->transport, c->topo, port,
					      p->n_roots);
	if (!rc)
		rc = ibcc_proof_run(p, loose, sls, &c->proved, &c->unproved);
	free(sls);
	free(port);
	return rc;
}

static int decide(struct ibcc_cycle *c, const struct ibcc_act *act, struct ibcc_why *why)
{
	const struct ibcc_bounds *bounds = &act->applier->bounds;
	uint16_t loose = c->options.trust_lft ? 0 : c->vendor.loose_sls;
	bool writes = act->applier->writes;
	uint64_t from = cpu_ns(c);
	int rc;

	rc = ibcc_estimator_run(c->estimator, c->topo, &c->snapshot, &c->actual,
				ibcc_tuner_parameters(c->tuner), &c->estimate);
	if (rc)
		return rc;
	ibcc_estimate_tell_logs(&c->estimate, c->topo, &c->snapshot);
	rc = ibcc_cycle_judge_rollout(c, act, why);
	if (!rc)
		rc = prove(c, act, loose);
	if (rc)
		return rc;
	c->refused = ibcc_refusal_find(c);
	*ibcc_tuner_limits(c->tuner) = (struct ibcc_tuner_limits){
		.overlay = { loose, bounds->max_delay, bounds->max_timer },
		.may_learn = writes && !ibcc_vendor_rules(&c->vendor),
		.recommends = !writes,
		.within = act->within,
	};
	rc = tune(c, act, why);
	ibcc_tuner_limits(c->tuner)->within = NULL;
	if (!rc)
		rc = ibcc_planner_run(c->topo, &c->actual, &c->target, &c->plan);
	if (!rc && c->plan.n && act->state && act->applier->writes)
		rc = ibcc_cycle_write_texts(c, act->refines);
	if (rc)
		return rc;
	c->decided = true;
	c->decide_ns = cpu_ns(c) - from;
	if (c->target.suspect)
		c->actual_age = c->options.readback_passes;
	return 0;
}

/* Verified changes were read back equal, so the settings are known without reading all again. */
static void adopt(struct ibcc_cycle *c)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < c->plan.n; i = ibcc_plan_end(&c->plan, i)) {
		uint32_t e = ibcc_change_endport(&c->plan.change[i], c->topo);

		if (e < c->actual.n)
			rc = ibcc_endport_cc_copy(&c->actual.ep[e], &c->target.wanted.ep[e]);
	}
	c->actual_known = !rc;
}

static struct ibcc_execution execution_for(const struct ibcc_cycle *c, const struct ibcc_act *act,
					   const char *action)
{
	return (struct ibcc_execution){
		.applier = act->applier,
		.state = act->state,
		.topo = c->topo,
		.has = &c->actual,
		.txn = { .who = act->who,
			 .action = action,
			 .summary = c->summary,
			 .decisions = c->decisions,
			 .confirm_s = act->confirm_s,
			 .extends = act->extends,
			 .control = c->control,
			 .refining = act->refines && !act->extends ? c->nodes : NULL },
	};
}

/* Carries out a part of the plan in its place. */
static int execute_part(struct ibcc_cycle *c, const struct ibcc_execution *execution,
			struct ibcc_plan *part, struct ibcc_why *why)
{
	ibcc_plan_fini(&c->plan);
	ibcc_result_fini(&c->result);
	c->plan = *part;
	c->acted = true;
	if (execution->applier->writes)
		c->actual_known = false;
	return ibcc_execute_plan(execution, &c->plan, &c->result, why);
}

/* Carries out the part of a plan that only relaxes settings, when the plan as a whole is blocked. A
 * node that cannot be reached, or must not be overwritten, is no reason to keep the others
 * throttled. The result reports which nodes were left out.
 */
static void relax(struct ibcc_cycle *c, const struct ibcc_act *act,
		  const struct ibcc_execution *execution)
{
	struct ibcc_plan part;
	struct ibcc_why why = { "" };
	bool all;
	int rc;

	if (ibcc_plan_relaxing(c->topo, &c->actual, &c->target.wanted, &c->plan, &part))
		return;
	ibcc_execute_leave_out(execution, &part);
	all = part.n == c->plan.n;
	if (!part.n || (!all && (act->all_or_nothing || !act->applier->writes))) {
		ibcc_plan_fini(&part);
		return;
	}
	c->skips = true;
	c->skipped = c->blocked;
	rc = execute_part(c, execution, &part, &why);
	if (rc || all)
		c->act_err = ibcc_why_set(&c->blocked, rc, "%s", rc ? why.text : "");
}

/* Without a state file to store changes in, only reverts are possible. */
static void act_without_book(struct ibcc_cycle *c, const struct ibcc_act *act)
{
	struct ibcc_execution execution = execution_for(c, act, act->action);
	struct ibcc_plan part = { 0 };
	const struct ibcc_book *book;
	int rc = ibcc_state_book(act->state, &book, &c->blocked);

	execution.back = execution.ours_only = true;
	if (!rc)
		rc = ibcc_ledger_way_back(book, c->topo, &c->actual, &c->plan, &part);
	if (!rc && part.n)
		rc = execute_part(c, &execution, &part, &c->blocked);
	else
		ibcc_plan_fini(&part);
	c->act_err = rc ? rc : ibcc_why_set(&c->blocked, -EIO, "%s", act->bookless);
}

/* Leaves a fabric alone that we must not write to. Only settings that we made earlier are reverted,
 * where that is still possible.
 */
static void leave_alone(struct ibcc_cycle *c, const struct ibcc_act *act,
			const struct ibcc_execution *execution)
{
	ibcc_refusal_text(c, c->refused, &c->blocked);
	c->act_err = act->applier->writes ? -EPERM : 0;
	/* Beside another program that writes profiles, even what only relaxes is left alone. */
	if (!ibcc_profiles_are_settings(c) && c->plan.n && act->bookless && act->applier->writes)
		act_without_book(c, act);
	else if (!ibcc_profiles_are_settings(c) && c->plan.n)
		relax(c, act, execution);
	c->skips = false;
	if (!c->acted) {
		ibcc_plan_fini(&c->plan);
		c->plan.n_unreachable = c->actual.n;
	}
}

static void act_on_plan(struct ibcc_cycle *c, const struct ibcc_act *act)
{
	struct ibcc_execution execution = execution_for(c, act, act->action);

	execution.all_or_nothing = act->all_or_nothing;
	if (c->refused != IBCC_REFUSED_NOT) {
		leave_alone(c, act, &execution);
		return;
	}
	if (!c->plan.n)
		return;
	if (act->bookless && act->applier->writes) {
		act_without_book(c, act);
		return;
	}
	c->act_err = ibcc_precheck_run(act->gate, c->topo, &c->actual, &c->proved, &c->target,
				       &c->blocked);
	if (c->act_err) {
		relax(c, act, &execution);
		return;
	}
	c->skips = false;
	c->act_err = ibcc_cycle_split_plan(c, act, &c->blocked);
	if (c->act_err || !c->plan.n)
		return;
	/* The split may have changed the summary and the decisions. */
	execution.txn.summary = c->summary;
	execution.txn.decisions = c->decisions;
	c->act_err = ibcc_execute_plan(&execution, &c->plan, &c->result, &c->blocked);
	c->acted = true;
	if (!act->applier->writes)
		return;
	/* nothing is sent: one node has a value that could not be put back */
	if (c->act_err == -ERANGE)
		relax(c, act, &execution);
	if (c->act_err) {
		c->actual_known = false;
		return;
	}
	adopt(c);
}

/* Restores settings that another program changed or a node lost. */
static void repair(struct ibcc_cycle *c, const struct ibcc_act *act)
{
	struct ibcc_execution execution;
	struct ibcc_why text;

	ibcc_audit_text(c->topo, &c->audit, &text);
	execution = execution_for(c, act, "repair");
	execution.txn.summary = text.text;
	execution.txn.decisions = NULL;
	execution.txn.confirm_s = 0;
	execution.txn.extends = 0;
	execution.txn.control = execution.txn.refining = NULL;
	c->repaired = c->audit.drift;
	c->audit.drift = (struct ibcc_plan){ 0 };
	c->act_err = ibcc_execute_plan(&execution, &c->repaired, &c->repair, &c->blocked);
	c->mended = !c->act_err;
	c->drifted = text;
	for (uint32_t i = 0; c->mended && i < c->repaired.n; i++)
		ibcc_tuner_disturb(c->tuner, c->topo,
				   ibcc_topo_find_endport(c->topo, c->repaired.change[i].node_guid,
							  c->repaired.change[i].port));
}

static int audit(struct ibcc_cycle *c, const struct ibcc_act *act, struct ibcc_why *why)
{
	int rc;

	ibcc_audit_fini(&c->audit);
	rc = ibcc_state_audit(act->state, c->topo, &c->actual, &c->audit, why);
	c->audited = !rc;
	return rc;
}

/* Compares the settings with the books each time that they have been read. */
static int look_at_books(struct ibcc_cycle *c, const struct ibcc_act *act, struct ibcc_why *why)
{
	int rc;

	if (!act->state || !c->actual_known || !c->read)
		return 0;
	rc = audit(c, act, why);
	if (rc || !c->audit.drift.n)
		return rc;
	if (!act->repair && !act->overrule)
		ibcc_cycle_block_foreign(c);
	if (!act->repair || ibcc_refusal_check(c, NULL) || act->bookless || !act->applier->writes)
		return rc;
	repair(c, act);
	rc = ibcc_cycle_readback(c, why);
	return rc ? rc : audit(c, act, why);
}

bool ibcc_cycle_has_focus(const struct ibcc_cycle *c)
{
	return c->focus.n_ports && c->actual_known;
}

/* Chooses what the next fast turn reads. */
static int focus(struct ibcc_cycle *c)
{
	if (!c->options.focus_nodes)
		return 0;
	return ibcc_focus_run(&c->focus, c->topo, &c->snapshot, &c->estimate,
			      ibcc_tuner_parameters(c->tuner), c->options.focus_nodes);
}

int ibcc_cycle_run(struct ibcc_cycle *c, const struct ibcc_act *act, struct ibcc_why *why)
{
	struct ibcc_why said = { "" };
	int rc;

	if (!c->topo)
		return ibcc_why_set(
			why, -ENOENT,
			"the topology is not known yet: try again after the next polling cycle");
	forget_decision(c);
	c->mended = false;
	c->fast = act->fast && ibcc_cycle_has_focus(c);
	rc = ibcc_cycle_observe(c, act, why);
	if (!rc)
		rc = look_at_books(c, act, why);
	if (rc || !c->snapshot.interval_ns || c->act_err)
		return rc;
	rc = decide(c, act, &said);
	if (!rc)
		rc = focus(c);
	if (rc) {
		forget_decision(c);
		return ibcc_why_set(why, rc, "no decision: %s",
				    said.text[0] ? said.text : strerror(-rc));
	}
	act_on_plan(c, act);
	/* With nothing to do, check whether the nodes that were skipped are back. */
	if (c->skips && !c->plan.n &&
	    !ibcc_precheck_run(act->gate, c->topo, &c->actual, &c->proved, &c->target, NULL))
		c->skips = false;
	return 0;
}
