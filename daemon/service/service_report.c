/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reports: the plan of the last polling cycle, everything about it in one object, and what devices
 * support.
 */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <ibcc/control_json.h>
#include <ibcc/now.h>
#include <ibcc/plan_file.h>
#include <ibcc/version.h>

#include "daemon/report/report.h"
#include "daemon/service/service_impl.h"

#define TRANSACTIONS 20u
#define JOBS_SINCE_S 86400u

int ibcc_service_undecided(const struct ibcc_service *s, struct ibcc_why *why)
{
	const struct ibcc_cycle *c = ibcc_service_cycle(s);
	struct ibcc_why clock = { "" };

	if (s->last_err)
		return ibcc_why_set(why, s->last_err, "%s", s->last_why.text);
	if (c)
		ibcc_collector_clock_trouble(c->collector, &clock);
	if (clock.text[0])
		return ibcc_why_set(why, -ETIME, "%s", clock.text);
	return ibcc_why_set(
		why, -EAGAIN,
		"no polling cycle has come to a decision yet: try again after the next one");
}

/* `report` is ibcc_report_plan() or ibcc_report_outline(). */
static int plan_of(struct ibcc_service *s,
		   json_t *(*report)(const struct ibcc_cycle *c, const char *source), json_t **out,
		   struct ibcc_why *why)
{
	const struct ibcc_cycle *c = ibcc_service_cycle(s);
	uint64_t age_ms;

	if (!c || !c->decided || s->plan_is_old)
		return ibcc_service_undecided(s, why);
	*out = report(c, ibcc_service_source_name(s->source));
	ibcc_service_add_jobs(s, json_object_get(*out, "roots"));
	if (*out && ibcc_service_has_jobs(s))
		json_object_set_new(*out, "whose", ibcc_service_whose_text(s));
	if (*out && c->options.profiles)
		json_object_set_new(*out, "unchecked_sm", ibcc_service_warned(s));
	age_ms = (ibcc_now_ns() - s->decided_ns) / 1000000;
	if (*out && json_object_set_new(*out, "age_ms", json_integer((json_int_t)age_ms)))
		return ibcc_why_set(why, -ENOMEM, "no memory");
	return *out ? 0 : ibcc_why_set(why, -ENOMEM, "no memory");
}

int ibcc_service_add_data(const struct ibcc_plan *plan, const struct ibcc_control *control,
			  json_t *o)
{
	if (json_object_set_new(o, "data", ibcc_plan_file_writes(plan)) ||
	    json_object_set_new(o, "control", ibcc_control_json(control)))
		return -ENOMEM;
	return 0;
}

int ibcc_service_plan(struct ibcc_service *s, bool data, json_t **out, struct ibcc_why *why)
{
	struct ibcc_control control = { 0 };
	int rc = plan_of(s, ibcc_report_plan, out, why);

	if (!rc && data &&
	    (ibcc_cycle_control(&s->cycle, &control) ||
	     ibcc_service_add_data(&s->cycle.plan, &control, *out)))
		rc = ibcc_why_set(why, -ENOMEM, "no memory");
	ibcc_control_fini(&control);
	if (!rc)
		json_object_set_new(*out, "prediction",
				    ibcc_predictor_tell(s->predictor, s->cycle.estimate.pass));
	return rc;
}

json_t *ibcc_service_plan_outline(struct ibcc_service *s)
{
	struct ibcc_why why;
	json_t *o = NULL;

	if (s->cycle.acted && s->cycle.result.set_mads)
		return NULL;
	return plan_of(s, ibcc_report_outline, &o, &why) ? NULL : o;
}

/* Adds the history to *o, or null if it is not known. */
static void add_history(struct ibcc_service *s, json_t *o)
{
	static const char *const keys[] = { "transactions", "series" };
	static const char *const names[] = { "history", "series" };
	struct ibcc_why why = { "" };
	json_t *h = NULL;
	int rc = ibcc_service_history(s, 0, TRANSACTIONS, true, &h, &why);

	for (size_t i = 0; i < 2; i++) {
		json_t *part = rc ? NULL : json_object_get(h, keys[i]);

		json_object_set_new(o, names[i], part ? json_incref(part) : json_null());
	}
	json_decref(h);
}

/* Jobs of the last day; null where no batch system is known, or they cannot be read. */
static json_t *jobs(struct ibcc_service *s, const json_t *status)
{
	struct ibcc_why why = { "" };
	json_t *o = NULL, *list = NULL;

	if (!ibcc_service_jobs(s, JOBS_SINCE_S, "", "", &o, &why))
		list = json_incref(json_object_get(o, "jobs"));
	json_decref(o);
	if (json_array_size(list) || (list && json_is_object(json_object_get(status, "jobs"))))
		return list;
	json_decref(list);
	return json_null();
}

static json_t *settings(const struct ibcc_cycle *c)
{
	json_t *o, *list;

	if (!c->actual_known)
		return json_null();
	o = ibcc_report_settings(c->topo, &c->actual, NULL);
	list = json_incref(json_object_get(o, "nodes"));
	json_decref(o);
	return list;
}

int ibcc_service_report(struct ibcc_service *s, json_t **out, struct ibcc_why *why)
{
	const struct ibcc_cycle *c;
	char host[256] = "";
	json_t *plan = NULL;
	int rc = ibcc_service_plan(s, false, &plan, why);

	/* Operators read a report to find what keeps the service from its work. */
	if (rc == -EAGAIN || rc == -ENOMEM) {
		json_decref(plan);
		return rc;
	}
	if (gethostname(host, sizeof(host) - 1))
		host[0] = '\0';
	c = ibcc_service_cycle(s);
	*out = json_pack("{si ss sI so so so so so so so}", "schema", IBCC_REPORT_SCHEMA, "version",
			 IBCC_VERSION, "made", (json_int_t)time(NULL), "host", ibcc_json_text(host),
			 "status", ibcc_service_status(s), "error",
			 rc ? ibcc_json_text(why->text) : json_null(), "plan",
			 plan ? plan : json_null(), "map", c ? ibcc_report_map(c) : json_null(),
			 "links", c ? ibcc_report_faults(c) : json_null(), "settings",
			 c ? settings(c) : json_null());
	if (*out) {
		add_history(s, *out);
		json_object_set_new(*out, "jobs", jobs(s, json_object_get(*out, "status")));
	}
	return *out ? 0 : ibcc_why_set(why, -ENOMEM, "no memory");
}

int ibcc_service_probe(struct ibcc_service *s, json_t **out, struct ibcc_why *why)
{
	struct ibcc_cycle *c = &s->cycle;
	struct ibcc_vendor_parameters v = { 0 };
	struct ibcc_probe p = { 0 };
	int rc = ibcc_service_prepare(s, why);

	if (!rc)
		rc = ibcc_cycle_readback(c, why);
	if (rc)
		return rc;
	rc = ibcc_probe_run(s->transport, c->topo, s->cc_key, &c->actual, &p);
	if (!rc)
		rc = ibcc_cycle_read_parameters(c, NULL, &v);
	if (!rc)
		*out = ibcc_report_probe(c, &p, &v);
	ibcc_vendor_parameters_fini(&v);
	ibcc_probe_fini(&p);
	if (rc)
		return ibcc_why_set(
			why, rc, "asking the devices failed, so there is no record: %s; try again",
			strerror(-rc));
	if (!*out)
		return ibcc_why_set(why, -ENOMEM, "no memory");
	return ibcc_discovery_is_doubtful(&s->discovery) ? ibcc_service_missed(s, 0, why) : 0;
}
