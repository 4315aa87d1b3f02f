/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "daemon/service/service.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ibcc/notice.h>
#include <ibcc/now.h>
#include <ibcc/plugin_client.h>
#include <ibcc/precheck.h>
#include <ibcc/refusal.h>
#include <ibcc/state.h>
#include <ibcc/throttle.h>
#include <ibcc/version.h>

#include "daemon/report/report.h"
#include "daemon/service/service_impl.h"

/* The longest pause after a failed plan, in polling cycles. The applier's limits see to it that no
 * node gets too many MADs.
 */
#define HOLD_MAX_PASSES 8u

bool ibcc_service_writes(const struct ibcc_service *s)
{
	return s->config.mode == IBCC_MODE_APPLY && !s->paused && !s->trial.txn;
}

const struct ibcc_cycle *ibcc_service_cycle(const struct ibcc_service *s)
{
	return s->transport && s->cycle.topo ? &s->cycle : NULL;
}

static const char *state_trouble(const struct ibcc_service *s)
{
	const char *text = s->state ? ibcc_state_trouble(s->state) : NULL;

	return text ? text : "";
}

/* Delays the next try of a plan that failed: the reason is seldom gone after one polling cycle. */
static void count_hold(struct ibcc_service *s, bool tried)
{
	if (!tried)
		return;
	if (!s->cycle.act_err) {
		s->hold_next = 0;
		return;
	}
	s->hold_next = s->hold_next ? (uint16_t)(2 * s->hold_next) : 1;
	s->hold_why = s->cycle.blocked;
	if (s->hold_next > HOLD_MAX_PASSES)
		s->hold_next = HOLD_MAX_PASSES;
	s->hold = s->hold_next;
}

/* Remembers the result of a polling cycle for the status. */
static int conclude(struct ibcc_service *s, int rc, const struct ibcc_why *why)
{
	s->last_err = rc;
	s->last_act_err = rc ? 0 : s->cycle.act_err;
	if (rc)
		s->last_why = *why;
	else if (s->last_act_err)
		s->last_why = s->cycle.blocked;
	return rc;
}

static int run_cycle(struct ibcc_service *s, const struct ibcc_act *act, struct ibcc_why *why)
{
	int rc;

	ibcc_service_begin_jobs(s);
	rc = ibcc_cycle_run(&s->cycle, act, why);

	/* If there is no memory for it, there is no prediction. */
	if (!rc)
		ibcc_predictor_look(s->predictor, &s->cycle, s->state);

	/* Fast passes are a part of what the passes over all cost: rates are means from one of
	 * these to the next.
	 */
	if (!s->cycle.fast)
		ibcc_mad_rate_look(&s->mad_rate, &s->transport->stats,
				   ibcc_transport_now_ns(s->transport));
	if (!rc && s->cycle.decided) {
		s->decided_ns = ibcc_now_ns();
		ibcc_service_look_at_jobs(s);
	}
	if (rc == -EIO) {
		ibcc_service_drop(s);
	} else if (!rc) {
		ibcc_service_note_repair(s);
		ibcc_service_wrote(s, &s->cycle.repair);
		ibcc_service_wrote(s, &s->cycle.result);
	}
	return rc;
}

int ibcc_service_pass_dry(struct ibcc_service *s, struct ibcc_why *why)
{
	struct ibcc_act act = { .applier = s->null_applier, .gate = IBCC_PRECHECK_NODES_OF_TREE };
	int rc = ibcc_service_prepare(s, why);

	return conclude(s, rc ? rc : run_cycle(s, &act, why), why);
}

/* An apply that an operator asked for is all or nothing, and does not wait until a pause ends. */
static void act_by_request(struct ibcc_service *s, const struct ibcc_request *r,
			   struct ibcc_act *act)
{
	act->who = r->who;
	act->action = "apply";
	act->confirm_s = r->confirm_s;
	act->gate = r->skip_unsupported ? IBCC_PRECHECK_NODES_OF_TREE : IBCC_PRECHECK_ALL_NODES;
	act->all_or_nothing = true;
	act->overrule = true;
	act->refines = true;
	s->cycle.actual_known = false;
	s->hold = 0;
	if (s->paused && !act->bookless)
		ibcc_service_pause(s, NULL);
}

static int run_pass(struct ibcc_service *s, const struct ibcc_request *apply, bool fast,
		    struct ibcc_why *why)
{
	struct ibcc_act act = { .who = "ibcc-tuned",
				.action = "tune",
				.fast = fast,
				.gate = IBCC_PRECHECK_NODES_OF_TREE };
	struct ibcc_why disk = { "" }, led = { "" };
	bool stored, writes, leads, refines, *within = NULL;
	int64_t newest;
	int rc = apply ? ibcc_service_may_apply(s, apply, why) : 0;

	if (rc)
		return rc;
	rc = ibcc_service_check_state(s, &disk);
	stored = !rc;
	if (rc == -ENOMEM)
		ibcc_why_set(why, rc, "%s", disk.text);
	else
		/* the applier is created when the port is opened */
		rc = ibcc_service_prepare(s, why);
	if (rc)
		return conclude(s, rc, why);
	act.bookless = stored ? NULL : disk.text;
	s->plan_is_old = s->changed_since = false;
	rc = ibcc_service_may_write(s, apply, &led);
	if (apply && rc) {
		*why = led;
		return conclude(s, rc, why);
	}
	leads = !rc;
	if (apply)
		act_by_request(s, apply, &act);
	refines = !apply && !act.bookless && ibcc_service_refines(s);
	if (refines && ibcc_service_refine_act(s, &act, &within))
		return conclude(s, ibcc_why_set(why, -ENOMEM, "no memory"), why);
	writes = (ibcc_service_writes(s) || refines) && leads && !s->hold;
	if (s->hold && !fast)
		s->hold--;
	act.applier = apply || writes ? s->applier : s->null_applier;
	if (apply || writes)
		ibcc_service_look_at_nvidia(s, apply ? IBCC_SERVICE_WRITES_BY_REQUEST
						     : IBCC_SERVICE_WRITES_UNATTENDED);
	act.state = s->state;
	act.repair = s->config.drift == IBCC_DRIFT_REPAIR && ibcc_service_writes(s);
	newest = ibcc_state_newest(s->state);
	rc = run_cycle(s, &act, why);
	free(within);
	if (!rc)
		ibcc_service_measure(s, newest);
	if (!rc && apply && s->cycle.acted)
		ibcc_service_begin_refinement(s, &s->cycle.result, s->cycle.act_err);
	else if (!rc && refines)
		ibcc_service_look_at_refinement(s);
	if (!rc)
		ibcc_service_predict_written(s, newest);
	if (!rc && !act.bookless)
		count_hold(s, act.applier->writes && (s->cycle.acted || s->cycle.repair.n));
	if (!rc && !apply && !fast && leads && !act.bookless)
		ibcc_service_pay(s);
	if (apply)
		ibcc_service_begin_trial(s, apply, rc ? rc : s->cycle.act_err,
					 rc ? why : &s->cycle.blocked);
	if (!rc && apply && s->cycle.acted && !s->cycle.act_err)
		ibcc_service_applied(s);
	return conclude(s, rc, why);
}

int ibcc_service_pass(struct ibcc_service *s, const struct ibcc_request *apply,
		      struct ibcc_why *why)
{
	return run_pass(s, apply, false, why);
}

int ibcc_service_pass_fast(struct ibcc_service *s, struct ibcc_why *why)
{
	return run_pass(s, NULL, true, why);
}

void ibcc_service_answered(struct ibcc_service *s)
{
	if (s->cycle.acted && s->cycle.result.set_mads)
		s->plan_is_old = true;
}

/* Reads the parameters of the nodes that a filter names. */
static int read_parameters(struct ibcc_service *s, const char *filter,
			   struct ibcc_vendor_parameters *p)
{
	const struct ibcc_topo *t = s->cycle.topo;
	bool *which = calloc(t->n_endports + 1, sizeof(*which));
	int rc = -ENOMEM;

	for (uint32_t i = 0; which && i < t->n_endports; i++)
		which[i] = ibcc_report_is_wanted(t, t->endport[i], filter);
	if (which)
		rc = ibcc_cycle_read_parameters(&s->cycle, which, p);
	free(which);
	return rc;
}

int ibcc_service_show(struct ibcc_service *s, const char *filter, json_t **out,
		      struct ibcc_why *why)
{
	struct ibcc_vendor_parameters p = { 0 };
	json_t *o;
	int rc = ibcc_service_prepare(s, why);

	if (!rc)
		rc = ibcc_cycle_readback(&s->cycle, why);
	if (rc)
		return rc;
	rc = read_parameters(s, filter, &p);
	if (rc)
		return ibcc_why_set(why, rc,
				    "the settings are not shown, since reading those of NVIDIA's "
				    "congestion control failed: %s; repeat the command",
				    strerror(-rc));
	o = ibcc_report_show(&s->cycle, &p, filter);
	if (!s->parameters)
		s->parameters = json_object();
	if (o)
		json_object_set_new(o, "nvidia_changed",
				    ibcc_report_changed_parameters(
					    s->parameters, s->cycle.topo, &p,
					    ibcc_transport_now_ns(s->transport) / 1000000000));
	ibcc_vendor_parameters_fini(&p);
	if (!o)
		return ibcc_why_set(why, -ENOMEM, "no memory");
	if (filter && !json_array_size(json_object_get(o, "nodes"))) {
		json_decref(o);
		return ibcc_why_set(why, -ENOENT, "no node has the name, GUID or LID \"%s\"",
				    filter);
	}
	*out = o;
	return ibcc_discovery_is_doubtful(&s->discovery) ? ibcc_service_missed(s, 0, why) : 0;
}

int ibcc_service_history(struct ibcc_service *s, int64_t id, unsigned int limit, bool series,
			 json_t **out, struct ibcc_why *why)
{
	int rc = ibcc_service_open_state(s, why);
	json_t *list;

	if (rc)
		return rc;
	list = id > 0 ? ibcc_state_transaction(s->state, id, &rc)
		      : ibcc_state_history(s->state, limit, &rc);
	/* On a new host there is no file, and only the daemon may create one. */
	if (!list && access(s->config.state_file, F_OK) && errno == ENOENT) {
		list = id > 0 ? NULL : json_array();
		rc = -ENOENT;
	}
	if (!list && rc == -ENOENT)
		return ibcc_why_set(why, rc,
				    "there is no transaction %lld: ibcc-tune history lists them",
				    (long long)id);
	if (!list)
		return state_trouble(s)[0] ? ibcc_why_set(why, rc, "%s", state_trouble(s))
					   : ibcc_state_not_read(s->state, rc, why);
	*out = json_pack("{si so}", "schema", IBCC_REPORT_SCHEMA,
			 id > 0 ? "transaction" : "transactions", list);
	if (*out && series && json_object_set_new(*out, "series", ibcc_state_series(s->state, &rc)))
		json_object_set_new(*out, "series", json_null());
	return *out ? 0 : ibcc_why_set(why, -ENOMEM, "no memory");
}

static json_t *sm_status(const struct ibcc_service *s)
{
	const struct ibcc_proto_state *p = ibcc_plugin_state(s->plugin);

	if (!p)
		return json_null();
	return json_pack("{ss ss ss sb so so}", "state", ibcc_proto_sm_state_name(p->sm_state),
			 "opensm", p->opensm_version, "plugin", p->plugin_version,
			 "own_congestion_control", p->own_cc != 0, "port_guid",
			 ibcc_json_guid(p->port_guid), "bounds",
			 json_pack("{si si si}", "max_delay", (int)p->max_delay, "max_timer",
				   (int)p->max_timer, "sets_per_minute", (int)p->sets_per_minute));
}

/* Why the plugin is unreachable, or of another release than this daemon. */
static json_t *plugin_trouble(const struct ibcc_service *s)
{
	struct ibcc_why why = s->plugin_why;

	if (s->config.apply_via == IBCC_VIA_DIRECT)
		return json_null();
	if (ibcc_plugin_state(s->plugin) && !s->plugin_silent)
		why.text[0] = '\0';
	ibcc_plugin_is_other_release(s->plugin, &why);
	return why.text[0] ? ibcc_json_text(why.text) : json_null();
}

static json_t *busiest_node(const struct ibcc_service *s, const struct ibcc_cycle *c)
{
	const struct ibcc_mad_rate *r = &s->mad_rate;
	uint32_t port = c ? ibcc_topo_port_of_lid(c->topo, r->busiest_lid) : IBCC_NONE;
	const struct ibcc_topo_node *n;

	if (port == IBCC_NONE)
		return json_null();
	n = &c->topo->node[c->topo->port[port].node];
	return json_pack("{so so sf}", "node_guid", ibcc_json_guid(n->guid), "node",
			 ibcc_json_text(n->desc), "per_second", r->busiest_per_s);
}

/* Adds how much of the fabric's and of the subnet manager's time this daemon takes. */
static int add_mad_rates(const struct ibcc_service *s, const struct ibcc_cycle *c, json_t *o)
{
	const struct ibcc_transport_stats *t = &s->transport->stats;

	return json_object_set_new(o, "per_second", json_real(s->mad_rate.per_s)) ||
	       json_object_set_new(o, "busiest", busiest_node(s, c)) ||
	       json_object_set_new(o, "smps_lately",
				   json_integer((json_int_t)ibcc_mad_rate_smps(&s->mad_rate, t))) ||
	       json_object_set_new(o, "window", json_integer(t->window));
}

static json_t *mad_status(const struct ibcc_service *s)
{
	const struct ibcc_transport_stats *t = &s->transport->stats;
	const struct ibcc_cycle *c = ibcc_service_cycle(s);
	uint32_t left_out = 0;
	json_t *o, *errors = c ? ibcc_report_mad_errors(c->topo, t->node, &left_out) : json_array();

	o = json_pack("{sI sI sI sI sI sI sI so si}", "sent", (json_int_t)t->sent, "smps",
		      (json_int_t)t->smps, "answered", (json_int_t)t->answered, "retried",
		      (json_int_t)t->retried, "refused", (json_int_t)t->refused, "timed_out",
		      (json_int_t)t->timed_out, "sets", (json_int_t)s->set_mads, "errors", errors,
		      "errors_left_out", (int)left_out);
	if (o && !add_mad_rates(s, c, o))
		return o;
	json_decref(o);
	return NULL;
}

/* What is read more often than the rest. */
static json_t *focus_status(const struct ibcc_service *s, const struct ibcc_cycle *c)
{
	return json_pack("{si si si}", "ports", (int)c->focus.n_ports, "nodes",
			 (int)c->focus.n_nodes, "interval_ms", (int)s->config.fast_interval_ms);
}

/* State of the traps that report fabric changes where there is no plugin to report them. */
static json_t *traps_status(const struct ibcc_service *s)
{
	struct ibcc_notices_state n;

	if (!s->notices)
		return json_null();
	ibcc_notices_look(s->notices, &n);
	return json_pack("{sb sI si so}", "subscribed", n.subscribed, "received",
			 (json_int_t)n.n_traps, "last", (int)n.last_trap, "trouble",
			 n.trouble ? ibcc_json_text(n.trouble) : json_null());
}

static json_t *drift_status(const struct ibcc_service *s, const struct ibcc_cycle *c)
{
	struct ibcc_why text;

	ibcc_audit_text(c->topo, &c->audit, &text);
	return json_pack("{si si so so}", "writes", (int)c->audit.drift.n, "nodes",
			 (int)c->audit.n_drift_nodes, "text",
			 text.text[0] ? ibcc_json_text(text.text) : json_null(), "repaired",
			 ibcc_service_repairs(s));
}

static json_t *endports_status(uint32_t n, const struct ibcc_why *text)
{
	return json_pack("{si so}", "endports", (int)n, "text",
			 text->text[0] ? ibcc_json_text(text->text) : json_null());
}

static json_t *held_back_status(const struct ibcc_cycle *c)
{
	struct ibcc_why text;
	uint32_t n = ibcc_throttle_text(c->topo, &c->actual, &text);

	return endports_status(n, &text);
}

static json_t *held_below_status(const struct ibcc_cycle *c)
{
	struct ibcc_why text;

	ibcc_throttle_excess_text(c->topo, &c->audit.excess, &text);
	return endports_status(c->audit.excess.n, &text);
}

static json_t *unknown_status(const struct ibcc_cycle *c)
{
	struct ibcc_why text;

	ibcc_audit_unknown_text(c->topo, &c->audit, &text);
	return endports_status(c->audit.n_unknown, &text);
}

/* How far a gradual rollout of a plan has got, and at which nodes settings have no effect. */
static json_t *rollout_status(const struct ibcc_cycle *c)
{
	struct ibcc_why text;

	ibcc_rollout_text(&c->rollout, c->topo, &text);
	return json_pack("{si si so}", "nodes_written", (int)c->rollout.n_written, "nodes_left",
			 (int)c->rollout.n_left, "no_effect",
			 text.text[0] ? ibcc_json_text(text.text) : json_null());
}

/* Returns a word for the state of the service. If it is not well, gives the cause, too, and
 * describes it.
 */
static const char *judge(const struct ibcc_service *s, const struct ibcc_cycle *c,
			 enum ibcc_trouble *cause, struct ibcc_why *reason)
{
	*cause = ibcc_service_trouble(s, IBCC_TROUBLE_PLUGIN, IBCC_TROUBLE_SHARED, reason);
	if (*cause == IBCC_TROUBLE_PLUGIN)
		return "stalled";
	if (*cause != IBCC_TROUBLE_NONE)
		return "degraded";
	return c && c->decided ? "ok" : "starting";
}

static json_t *cause_json(enum ibcc_trouble cause)
{
	return cause == IBCC_TROUBLE_NONE ? json_null() : json_string(ibcc_trouble_name(cause));
}

/* How often the measured value was within the predicted range. */
static json_t *predictions_status(const struct ibcc_service *s)
{
	uint32_t held = 0, of = 0;

	if (s->state)
		ibcc_state_hits(s->state, &held, &of);
	return json_pack("{si si}", "held", (int)held, "of", (int)of);
}

static json_t *now_status(const struct ibcc_service *s, const struct ibcc_cycle *c)
{
	json_t *o = ibcc_report_now(c);

	ibcc_service_add_jobs(s, json_object_get(o, "roots"));
	ibcc_service_add_jobs_at(s, json_object_get(o, "blocked"));
	return o;
}

json_t *ibcc_service_status(const struct ibcc_service *s)
{
	const struct ibcc_cycle *c = ibcc_service_cycle(s);
	enum ibcc_trouble cause;
	struct ibcc_why reason;
	const char *state = judge(s, c, &cause, &reason), *gaps = s->discovery.text.text;
	json_t *o;

	o = json_pack("{si ss ss so ss so so ss so so so}", "schema", IBCC_REPORT_SCHEMA, "version",
		      IBCC_VERSION, "mode", s->config.mode == IBCC_MODE_APPLY ? "apply" : "observe",
		      "paused", s->paused ? ibcc_json_text(s->paused) : json_null(), "state", state,
		      "cause", cause_json(cause), "reason",
		      cause == IBCC_TROUBLE_NONE ? json_null() : ibcc_json_text(reason.text),
		      "apply_via", s->config.apply_via == IBCC_VIA_DIRECT ? "direct" : "plugin",
		      "sm", sm_status(s), "mads", s->transport ? mad_status(s) : json_null(),
		      "fabric",
		      c ? ibcc_report_fabric(c, ibcc_service_source_name(s->source)) : json_null());
	if (o) {
		json_object_set_new(o, "trial", ibcc_service_trial(s));
		json_object_set_new(o, "apply", ibcc_service_refinement(s));
		json_object_set_new(o, "plugin_trouble", plugin_trouble(s));
		json_object_set_new(o, "discovery_trouble",
				    gaps[0] ? ibcc_json_text(gaps) : json_null());
		json_object_set_new(o, "state_trouble",
				    state_trouble(s)[0] ? ibcc_json_text(state_trouble(s))
							: json_null());
	}
	if (o) {
		json_object_set_new(o, "discoveries", json_integer((json_int_t)s->n_discoveries));
		json_object_set_new(o, "traps", traps_status(s));
		json_object_set_new(o, "election", ibcc_service_election(s));
		json_object_set_new(o, "owed", ibcc_service_owed(s));
		json_object_set_new(o, "jobs", ibcc_service_jobs_status(s));
	}
	if (o && c) {
		json_object_set_new(o, "nvidia", ibcc_report_vendor(c));
		json_object_set_new(o, "routing", ibcc_report_routing(c));
		json_object_set_new(o, "focus", focus_status(s, c));
		json_object_set_new(o, "rollout", rollout_status(c));
		json_object_set_new(o, "drift", drift_status(s, c));
		json_object_set_new(o, "unknown_origin", unknown_status(c));
		json_object_set_new(o, "held_back", held_back_status(c));
		json_object_set_new(o, "held_below", held_below_status(c));
	}
	if (o && c && c->decided) {
		json_object_set_new(o, "verdict", ibcc_report_verdict(c));
		json_object_set_new(o, "roots", json_integer(c->estimate.n_roots));
		json_object_set_new(o, "writes_pending",
				    json_integer(s->changed_since ? 0 : ibcc_cycle_pending(c)));
		json_object_set_new(o, "decision",
				    s->changed_since
					    ? json_string("settings were written since the last "
							  "polling cycle; the next one decides")
					    : ibcc_report_decided(c));
		ibcc_report_add_decisions(c, o);
		json_object_set_new(o, "now", now_status(s, c));
		json_object_set_new(o, "whose", ibcc_service_whose_text(s));
		json_object_set_new(o, "gain", ibcc_service_gain(s));
	}
	if (o)
		json_object_set_new(o, "predictions", predictions_status(s));
	return o;
}
