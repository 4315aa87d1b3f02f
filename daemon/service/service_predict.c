/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Predictions that a client asked for: of the last polling cycle's plan, or of the client's own
 * settings.
 */
#include <errno.h>

#include <ibcc/state.h>

#include "daemon/predict/what_if.h"
#include "daemon/report/report.h"
#include "daemon/service/service_impl.h"

/* Takes over `what`, the plan and its roots. */
static int asked(struct ibcc_service *s, json_t *what, struct ibcc_plan plan,
		 struct ibcc_control control, bool what_if)
{
	json_decref(s->asked);
	s->asked = what;
	s->asked_what_if = what_if;
	s->asked_advice = false;
	ibcc_plan_fini(&s->asked_plan);
	s->asked_plan = plan;
	ibcc_control_fini(&s->asked_control);
	s->asked_control = control;
	return -EINPROGRESS;
}

int ibcc_service_asked_advice(struct ibcc_service *s, json_t *what)
{
	int rc = asked(s, what, (struct ibcc_plan){ 0 }, (struct ibcc_control){ 0 }, true);

	s->asked_advice = true;
	return rc;
}

static int copy_plan(const struct ibcc_plan *from, struct ibcc_plan *to)
{
	int rc = 0;

	for (uint32_t i = 0; i < from->n && !rc; i++)
		rc = ibcc_plan_append(to, &from->change[i]);
	return rc;
}

int ibcc_service_predict(struct ibcc_service *s, void (*done)(void *arg), void *arg)
{
	json_t *outline = ibcc_service_plan_outline(s);
	struct ibcc_control control = { 0 };
	struct ibcc_plan plan = { 0 };
	int rc;

	if (!outline)
		return 0;
	rc = copy_plan(&s->cycle.plan, &plan);
	if (!rc)
		rc = ibcc_cycle_control(&s->cycle, &control);
	if (!rc)
		rc = ibcc_predictor_begin(s->predictor, &s->cycle, NULL, done, arg);
	if (!rc)
		return asked(s, outline, plan, control, false);
	ibcc_plan_fini(&plan);
	ibcc_control_fini(&control);
	json_decref(outline);
	if (rc != -EBUSY)
		return 0;
	return s->asked && !s->asked_what_if ? -EINPROGRESS : -EBUSY;
}

int ibcc_service_what_if(struct ibcc_service *s, const json_t *set, void (*done)(void *arg),
			 void *arg, struct ibcc_why *why)
{
	const struct ibcc_cycle *c = ibcc_service_cycle(s);
	struct ibcc_settings wanted;
	json_t *what;
	int rc;

	if (!c || !c->decided)
		return ibcc_service_undecided(s, why);
	rc = ibcc_what_if(c->topo, c->estimate.root, c->estimate.n_roots, &c->target.wanted, set,
			  &wanted, why);
	if (rc)
		return rc;
	what = json_pack("{si sO}", "schema", IBCC_REPORT_SCHEMA, "set", set);
	rc = what ? ibcc_predictor_begin(s->predictor, c, &wanted, done, arg) : -ENOMEM;
	ibcc_settings_fini(&wanted);
	if (!rc)
		return asked(s, what, (struct ibcc_plan){ 0 }, (struct ibcc_control){ 0 }, true);
	json_decref(what);
	return rc == -EBUSY ? rc : ibcc_why_set(why, rc, "there is no prediction at present");
}

/* The plan as ibcc_service_plan() has it. */
static int add_plan(const struct ibcc_service *s, bool data, json_t *o)
{
	const struct ibcc_plan *plan = &s->asked_plan;
	int rc = json_object_set_new(o, "changes", ibcc_report_changes(s->cycle.topo, plan, NULL));

	if (!rc && data)
		rc = ibcc_service_add_data(plan, &s->asked_control, o);
	return rc ? -ENOMEM : 0;
}

int ibcc_service_predicted(struct ibcc_service *s, bool data, json_t **out, struct ibcc_why *why)
{
	ibcc_predictor_wait(s->predictor);
	*out = json_copy(s->asked); /* parts are shared, not copied */
	if (!*out || json_object_set_new(*out, s->asked_advice ? "advice" : "prediction",
					 ibcc_predictor_tell(s->predictor, 0)))
		return ibcc_why_set(why, -ENOMEM, "no memory");
	if (!s->asked_what_if && add_plan(s, data, *out))
		return ibcc_why_set(why, -ENOMEM, "no memory");
	return 0;
}

bool ibcc_service_abandon_prediction(struct ibcc_service *s)
{
	if (s->predicted_txn || !s->asked_what_if)
		return false;
	ibcc_predictor_abandon(s->predictor);
	return true;
}

void ibcc_service_on_predicted(struct ibcc_service *s, void (*done)(void *arg), void *arg)
{
	s->on_predicted = done;
	s->predicted_arg = arg;
}

void ibcc_service_predict_written(struct ibcc_service *s, int64_t newest_before)
{
	int64_t newest = ibcc_state_newest(s->state);
	int rc;

	/* An adapter is held for a root, even if one polling cycle does not see that root. */
	if (!s->on_predicted || newest <= newest_before || !s->cycle.acted ||
	    !s->cycle.result.set_mads ||
	    (!s->cycle.estimate.n_roots &&
	     !ibcc_loads_held(s->cycle.topo, &s->cycle.target.wanted)))
		return;
	rc = ibcc_predictor_begin_written(s->predictor, &s->cycle, NULL, s->on_predicted,
					  s->predicted_arg);
	/* A client asked for a prediction of this plan a moment ago. */
	if (!rc || (rc == -EBUSY && s->asked && !s->asked_what_if))
		s->predicted_txn = newest;
}

void ibcc_service_predict_saved(struct ibcc_service *s, const struct ibcc_plan *plan)
{
	const struct ibcc_topo *t = s->cycle.topo;
	struct ibcc_settings wanted;
	int rc = -ENOENT;

	if (!s->on_predicted || !s->cycle.decided || ibcc_settings_copy(&wanted, &s->cycle.actual))
		return;
	ibcc_plan_put(plan, t, false, &wanted);
	if (s->cycle.estimate.n_roots || ibcc_loads_held(t, &wanted))
		rc = ibcc_predictor_begin_written(s->predictor, &s->cycle, &wanted, s->on_predicted,
						  s->predicted_arg);
	ibcc_settings_fini(&wanted);
	if (!rc)
		s->predicted_txn = ibcc_state_newest(s->state);
}

static void keep(struct ibcc_service *s)
{
	json_t *p = ibcc_predictor_tell(s->predictor, 0);

	json_object_del(p, "sources"); /* one entry per adapter */
	if (p && s->state)
		ibcc_state_predicted(s->state, s->predicted_txn, p);
	json_decref(p);
	s->predicted_txn = 0;
}

void ibcc_service_predicted_all(struct ibcc_service *s)
{
	ibcc_predictor_wait(s->predictor); /* it has called back, and is ending */
	if (s->predicted_txn)
		keep(s);
	asked(s, NULL, (struct ibcc_plan){ 0 }, (struct ibcc_control){ 0 }, false);
}
