/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Plans that begin at a few nodes (ibcc/rollout.h, cycle_rollout.h). This file splits a plan,
 * judges after some passes whether the first part had an effect, and reverts it if it had none.
 */
#include "lib/cycle/cycle_rollout.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <ibcc/execute.h>
#include <ibcc/state.h>

#include "lib/cycle/cycle_resume.h"
#include "lib/cycle/cycle_support.h"

static bool is_needed_elsewhere(const struct ibcc_parameters *p, const struct ibcc_topo *t,
				uint32_t port, uint32_t endport)
{
	for (uint32_t k = 0; k < p->n_roots; k++) {
		const struct ibcc_root_parameters *r = &p->root[k].r;

		if (r->port != port && ibcc_phase_sets(r->phase) &&
		    ibcc_topo_switch_endport(t, r->port) != ibcc_topo_switch_endport(t, port) &&
		    r->member[endport])
			return true;
	}
	return false;
}

/* Makes a plan for the switch of a root, and for its adapters that no other root needs. It gives
 * them the settings that they would have without us.
 */
static int plan_back(const struct ibcc_cycle *c, struct ibcc_state *state, uint32_t port,
		     struct ibcc_plan *plan, struct ibcc_why *why)
{
	const struct ibcc_parameters *p = ibcc_tuner_parameters(c->tuner);
	uint32_t sw = ibcc_topo_switch_endport(c->topo, port);
	struct ibcc_target target = { 0 };
	const struct ibcc_book *book;
	int rc = ibcc_state_book(state, &book, why);

	if (!rc)
		rc = ibcc_settings_copy(&target.wanted, &c->actual);
	for (uint32_t k = 0; !rc && k < p->n_roots; k++) {
		const struct ibcc_root_parameters *r = &p->root[k].r;

		for (uint32_t e = 0; e < c->actual.n; e++) {
			if (ibcc_topo_switch_endport(c->topo, r->port) == sw &&
			    (e == sw || r->member[e]) && !is_needed_elsewhere(p, c->topo, port, e))
				ibcc_ledger_without(book, c->topo, e, &target.wanted.ep[e]);
		}
	}
	if (!rc)
		rc = ibcc_planner_run(c->topo, &c->actual, &target, plan);
	for (uint32_t i = 0; !rc && i < plan->n; i++)
		snprintf(plan->change[i].reason, sizeof(plan->change[i].reason),
			 "as it was before: it has no effect");
	ibcc_target_fini(&target);
	return rc;
}

static int take_back(struct ibcc_cycle *c, const struct ibcc_act *act, uint32_t port,
		     struct ibcc_why *why)
{
	struct ibcc_execution execution = {
		.applier = act->applier,
		.state = act->state,
		.topo = c->topo,
		.back = true,
		.ours_only = true,
	};
	struct ibcc_why text;
	int rc = plan_back(c, act->state, port, &c->repaired, why);

	if (rc)
		return rc;
	ibcc_rollout_text(&c->rollout, c->topo, &text);
	execution.txn =
		(struct ibcc_txn){ .who = act->who, .action = "tune", .summary = text.text };
	if (c->repaired.n)
		c->act_err = ibcc_execute_plan(&execution, &c->repaired, &c->repair, &c->blocked);
	ibcc_cycle_forget(c);
	c->actual_known = false;
	return 0;
}

int ibcc_cycle_judge_rollout(struct ibcc_cycle *c, const struct ibcc_act *act, struct ibcc_why *why)
{
	uint32_t port;
	int rc = 0;

	if (act->overrule)
		c->rollout = (struct ibcc_rollout){ 0 };
	if (act->state && act->applier->writes && !c->repaired.n) {
		port = ibcc_rollout_judge(&c->rollout, c->topo, ibcc_tuner_parameters(c->tuner),
					  &c->estimate, &c->snapshot, &c->actual);
		if (port != IBCC_NONE)
			rc = take_back(c, act, port, why);
	}
	ibcc_cycle_block_ignorers(c);
	return rc;
}

static enum ibcc_rollout_step step_of(const struct ibcc_rollout *r)
{
	if (r->n_left)
		return r->n_left_then ? IBCC_STEP_WAIT : IBCC_STEP_FIRST;
	return r->n_left_then ? IBCC_STEP_THE_REST : IBCC_STEP_ALL;
}

/* Adds the step to the decisions, and to the history. If an operator asked for the plan, its roots
 * are its purpose, whatever was decided in this pass.
 */
static int note_step(struct ibcc_cycle *c, const struct ibcc_act *act)
{
	struct ibcc_decisions *d = &c->target.decisions;

	d->step = step_of(&c->rollout);
	d->step_nodes = c->rollout.n_written;
	d->nodes_left = c->rollout.n_left;
	if (d->step == IBCC_STEP_ALL || (act->refines && c->n_controlled))
		return 0;
	return ibcc_cycle_write_decisions(c);
}

int ibcc_cycle_split_plan(struct ibcc_cycle *c, const struct ibcc_act *act, struct ibcc_why *why)
{
	const struct ibcc_parameters *p = ibcc_tuner_parameters(c->tuner);
	struct ibcc_plan part;

	if (!act->state || !act->applier->writes)
		return 0;
	if (!c->options.canary || act->all_or_nothing || act->extends) {
		ibcc_rollout_all(&c->rollout, p);
		return 0;
	}
	if (ibcc_rollout_split(&c->rollout, c->topo, p, &c->estimate, &c->actual, &c->target.wanted,
			       &c->plan, &part))
		return ibcc_why_set(why, -ENOMEM, "no memory");
	ibcc_plan_fini(&c->plan);
	c->plan = part;
	return note_step(c, act) ? ibcc_why_set(why, -ENOMEM, "no memory") : 0;
}
