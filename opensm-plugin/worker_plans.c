/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Plans in the service thread: whether a client's plan may be applied, when its turn is, and its
 * outcome. Begin with ibcc_plugin_worker_submit().
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/now.h>
#include <ibcc/text.h>
#include <ibcc/vendor.h>

#include "opensm-plugin/fabric.h"
#include "opensm-plugin/worker_impl.h"

enum ibcc_proto_refusal ibcc_plugin_worker_objection(void *arg)
{
	struct ibcc_plugin_worker *w = arg;
	struct ibcc_proto_state s;

	ibcc_plugin_sm_read(w->osm, &s);
	if (s.sm_state != IBCC_SM_MASTER || ibcc_plugin_sm_exiting())
		return IBCC_REFUSAL_NOT_MASTER;
	return s.own_cc ? IBCC_REFUSAL_TWO_WRITERS : IBCC_REFUSAL_NONE;
}

/* MADs go to LIDs, but plans mean nodes: finds the first change with the LID of another node, or
 * NULL.
 */
static const struct ibcc_change *find_misdirected(const struct ibcc_topo *t,
						  const struct ibcc_plan *plan)
{
	for (uint32_t i = 0; i < plan->n; i++) {
		const struct ibcc_change *c = &plan->change[i];
		uint32_t p = ibcc_topo_port_of_lid(t, c->lid);

		if (p == IBCC_NONE || t->node[t->port[p].node].guid != c->node_guid ||
		    t->port[p].num != c->port)
			return c;
	}
	return NULL;
}

/* May a plan be applied now? If not, *why has a sentence. */
static enum ibcc_proto_refusal judge(struct ibcc_plugin_worker *w, const struct ibcc_plan *plan,
				     struct ibcc_proto_error *why)
{
	enum ibcc_proto_refusal refusal;
	const struct ibcc_change *lost;

	/* The plan may be for a topology that has just changed, through an event of this moment. */
	ibcc_plugin_worker_catch_up(w);
	refusal = ibcc_plugin_worker_objection(w);
	if (refusal != IBCC_REFUSAL_NONE) {
		struct ibcc_proto_state s;

		ibcc_plugin_worker_state(w, &s);
		snprintf(why->text, sizeof(why->text),
			 refusal == IBCC_REFUSAL_TWO_WRITERS
				 ? "OpenSM's own congestion_control is TRUE (SM state %s); set it "
				   "to FALSE in opensm.conf and send OpenSM a SIGHUP"
				 : "this SM is %s; only the plugin of the MASTER SM writes",
			 ibcc_proto_sm_state_name(s.sm_state));
		return refusal;
	}
	if (!w->topo || plan->generation != w->topo->topo->generation) {
		snprintf(why->text, sizeof(why->text),
			 "the plan is for topology generation %llu, now it is %llu; nothing was "
			 "written, make a new plan",
			 (unsigned long long)plan->generation,
			 (unsigned long long)(w->topo ? w->topo->topo->generation : 0));
		return IBCC_REFUSAL_STALE;
	}
	lost = find_misdirected(w->topo->topo, plan);
	if (lost) {
		snprintf(
			why->text, sizeof(why->text),
			"the plan has LID %u for port %u of node 0x%016llx, which has another one; "
			"nothing was written, make a new plan",
			lost->lid, lost->port, (unsigned long long)lost->node_guid);
		return IBCC_REFUSAL_STALE;
	}
	return IBCC_REFUSAL_NONE;
}

/* Starts a plan if it may be applied. */
static enum ibcc_proto_refusal start(struct ibcc_plugin_worker *w, struct ibcc_session *s,
				     struct ibcc_plan *plan, uint64_t cc_key,
				     struct ibcc_proto_error *why)
{
	enum ibcc_proto_refusal refusal = judge(w, plan, why);
	struct ibcc_proto_state state;
	uint32_t n = plan->n;

	ibcc_plugin_worker_state(w, &state);
	if (refusal == IBCC_REFUSAL_NONE) {
		ibcc_vendor_mark(w->topo->topo, plan);
		why->err = ibcc_record_mark(&w->record, plan);
		if (!why->err)
			why->err = ibcc_push_start(w->push, plan, cc_key, state.port_guid);
		if (why->err) {
			refusal = why->err == -EBUSY ? IBCC_REFUSAL_BUSY : IBCC_REFUSAL_INTERNAL;
			snprintf(why->text, sizeof(why->text), "%s",
				 why->err == -EBUSY ? "another plan is being applied"
						    : "OpenSM has no memory for this plan");
		}
	}
	if (refusal == IBCC_REFUSAL_NONE) {
		w->cc_key = cc_key;
		w->pushing = s;
		if (n) /* an empty plan does not take the writer's place */
			w->writer = s;
		ibcc_plugin_log(&w->log, IBCC_PLUGIN_VERBOSE, "applying a plan of %u change%s", n,
				ibcc_text_plural(n, "", "s"));
	}
	return refusal;
}

/* Keeps a plan until the one that is being applied has stopped; the client waits. */
static enum ibcc_proto_refusal park(struct ibcc_plugin_worker *w, struct ibcc_session *s,
				    struct ibcc_plan *plan, uint64_t cc_key,
				    struct ibcc_proto_error *why)
{
	if (w->next.session) {
		snprintf(why->text, sizeof(why->text), "another plan waits for its turn");
		return IBCC_REFUSAL_BUSY;
	}
	ibcc_push_stop(w->push, IBCC_REFUSAL_BUSY);
	w->next.session = s;
	w->next.plan = *plan;
	w->next.cc_key = cc_key;
	memset(plan, 0, sizeof(*plan));
	return IBCC_REFUSAL_NONE;
}

/* Applies a plan, keeps it, or refuses it: only one client writes at a time (writer.h). */
static enum ibcc_proto_refusal take_turn(struct ibcc_plugin_worker *w, struct ibcc_session *s,
					 struct ibcc_plan *plan, uint64_t cc_key,
					 struct ibcc_proto_error *why)
{
	struct ibcc_session *present = w->writer;
	enum ibcc_writer_turn turn =
		plan->n ? ibcc_writer_turn(present, s, ibcc_now_ms()) : IBCC_WRITER_MAY;

	/* For example a daemon with a process that was stopped during a write, and continues now.
	 */
	if (plan->n && s->behind && turn != IBCC_WRITER_WAITS) {
		s->behind = false;
		snprintf(why->text, sizeof(why->text),
			 "another client has written since this one looked at the settings; it "
			 "has to read them again");
		return IBCC_REFUSAL_BUSY;
	}
	switch (turn) {
	case IBCC_WRITER_MAY: break;
	case IBCC_WRITER_WAITS:
		snprintf(why->text, sizeof(why->text), "%s client %ld (uid %ld)%s",
			 ibcc_push_busy(w->push) ? "another plan is being applied, of"
						 : "another daemon writes through this plugin,",
			 (long)present->pid, (long)present->uid,
			 present->uid ? "; a plan by root replaces it" : "");
		return IBCC_REFUSAL_BUSY;
	case IBCC_WRITER_TAKES:
		ibcc_plugin_log(&w->log, IBCC_PLUGIN_ERROR,
				"ERR IC11: client %ld (uid %ld) writes from now on in place of "
				"client %ld (uid %ld)%s",
				(long)s->pid, (long)s->uid, (long)present->pid, (long)present->uid,
				ibcc_writer_lives(present, ibcc_now_ms()) ? ""
									  : ", which has stopped");
		present->behind = true;
		w->writer = s;
		if (ibcc_push_busy(w->push))
			return park(w, s, plan, cc_key, why);
		break;
	}
	return start(w, s, plan, cc_key, why);
}

enum ibcc_proto_refusal ibcc_plugin_worker_submit(void *arg, struct ibcc_session *s,
						  struct ibcc_plan *plan, uint64_t cc_key,
						  struct ibcc_proto_error *why)
{
	struct ibcc_plugin_worker *w = arg;
	enum ibcc_proto_refusal refusal = take_turn(w, s, plan, cc_key, why);

	if (refusal != IBCC_REFUSAL_NONE &&
	    refusal != w->logged_refusal) /* a daemon asks repeatedly */
		ibcc_plugin_log(&w->log, IBCC_PLUGIN_ERROR, "ERR IC07: plan refused (%s): %s",
				ibcc_proto_refusal_text(refusal), why->text);
	w->logged_refusal = refusal;
	return refusal;
}

void ibcc_plugin_worker_drop_next(struct ibcc_plugin_worker *w)
{
	ibcc_plan_fini(&w->next.plan);
	memset(&w->next, 0, sizeof(w->next));
}

/* Starts the plan that has waited. It is checked only now, because the fabric may have changed. */
static void start_next(struct ibcc_plugin_worker *w)
{
	struct ibcc_session *s = w->next.session;
	struct ibcc_proto_error why = { 0 };
	struct ibcc_plan_report *report;

	if (!s || ibcc_push_busy(w->push))
		return;
	why.refusal = start(w, s, &w->next.plan, w->next.cc_key, &why);
	ibcc_plugin_worker_drop_next(w);
	if (why.refusal == IBCC_REFUSAL_NONE)
		return;
	report = calloc(1, sizeof(*report));
	if (report)
		report->end = why;
	ibcc_server_finish(&w->server, s, report);
}

/* A client is gone. Its plan stops where it is: the next client reads the fabric, and must not see
 * it change meanwhile.
 */
void ibcc_plugin_worker_gone(void *arg, struct ibcc_session *s)
{
	struct ibcc_plugin_worker *w = arg;

	if (w->writer == s)
		w->writer = NULL;
	if (w->next.session == s)
		ibcc_plugin_worker_drop_next(w);
	if (w->pushing == s) {
		ibcc_push_abandon(w->push);
		w->pushing = NULL;
	}
}

/* Takes the outcome of a finished plan: logs it, notes it, and passes it to the client. */
static void take_report(struct ibcc_plugin_worker *w)
{
	struct ibcc_plan_report *r;
	uint64_t ms = 0;

	r = ibcc_push_take(w->push, &ms);
	if (!r)
		return;
	if (r->end.refusal != IBCC_REFUSAL_NONE)
		ibcc_plugin_log(&w->log, IBCC_PLUGIN_ERROR,
				"ERR IC08: plan ended early: %s; %u of %u change%s verified",
				r->end.text, r->result.n_verified, r->result.n,
				ibcc_text_plural(r->result.n, "", "s"));
	else
		ibcc_plugin_log(&w->log, r->end.err ? IBCC_PLUGIN_ERROR : IBCC_PLUGIN_INFO,
				"%splan applied: %u of %u change%s verified, %u failed, %u Set "
				"MAD%s, %llu ms",
				r->end.err ? "ERR IC09: " : "", r->result.n_verified, r->result.n,
				ibcc_text_plural(r->result.n, "", "s"), r->result.n_failed,
				r->result.set_mads, ibcc_text_plural(r->result.set_mads, "", "s"),
				(unsigned long long)ms);
	ibcc_record_note(&w->record, &r->plan, &r->result, w->cc_key);
	ibcc_server_finish(&w->server, w->pushing, r);
	w->pushing = NULL;
}

void ibcc_plugin_worker_revert(struct ibcc_plugin_worker *w)
{
	struct ibcc_proto_state s;
	struct ibcc_plan plan;

	if (!w->topo || ibcc_plugin_worker_objection(w) != IBCC_REFUSAL_NONE ||
	    ibcc_push_busy(w->push) || ibcc_record_plan(&w->record, w->topo->topo, &plan))
		return;
	ibcc_plugin_worker_state(w, &s);
	w->cc_key = w->record.cc_key;
	ibcc_vendor_mark(w->topo->topo, &plan);
	if (plan.n && !ibcc_record_mark(&w->record, &plan) &&
	    !ibcc_push_start(w->push, &plan, w->cc_key, s.port_guid)) {
		w->pushing = NULL;
		ibcc_plugin_log(&w->log, IBCC_PLUGIN_ERROR,
				"ERR IC10: no daemon has renewed %u setting%s for %u s: the plugin "
				"reverts them",
				w->record.left.n, ibcc_text_plural(w->record.left.n, "", "s"),
				w->options.revert_after_s);
	}
	ibcc_plan_fini(&plan);
}

void ibcc_plugin_worker_next(struct ibcc_plugin_worker *w)
{
	take_report(w);
	start_next(w);
}
