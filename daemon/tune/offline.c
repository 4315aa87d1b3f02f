/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A bundle's plan is shown as recorded; its effect is computed here. */
#include "daemon/tune/offline.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include <ibcc/json.h>
#include <ibcc/now.h>

#include "daemon/bundle/bundle.h"
#include "daemon/predict/what_if.h"
#include "daemon/report/report.h"

bool tune_is_offline(const struct tune *t)
{
	return t->cache || t->counters;
}

static uint64_t cpu_ns(void *arg)
{
	(void)arg;
	return ibcc_now_cpu_ns();
}

static int load(const char *file, json_t **out, struct ibcc_why *why)
{
	json_error_t e;

	*out = json_load_file(file, JSON_REJECT_DUPLICATES, &e);
	if (*out)
		return 0;
	return e.line > 0
		       ? ibcc_why_set(why, -EINVAL, "%s:%d:%d: %s", file, e.line, e.column, e.text)
		       : ibcc_why_set(why, -EINVAL, "%s", e.text);
}

static json_t *predict(const struct tune *t, struct ibcc_evidence *e,
		       enum ibcc_prediction_why refuse)
{
	struct ibcc_prediction p;
	json_t *o;

	if (refuse != IBCC_PREDICTION_TELLS)
		e->in.refuse = refuse;
	else if (!t->config.predict_cpu_s)
		e->in.refuse = IBCC_PREDICTION_CPU;
	e->in.prefer_latency = t->config.prefer == IBCC_PREFER_LATENCY;
	e->in.budget_ns = t->config.predict_cpu_s * 1000000000ull;
	e->in.cpu_ns = cpu_ns;
	if (ibcc_predict(&e->in, &p))
		p = (struct ibcc_prediction){ .why = IBCC_PREDICTION_FAILED,
					      .roots_why = IBCC_PREDICTION_FAILED };
	o = ibcc_report_prediction(e->topo, &e->in, &p);
	ibcc_prediction_fini(&p);
	return o;
}

static int plan(const struct tune *t, struct ibcc_bundle *b, json_t **out, struct ibcc_why *why)
{
	bool empty = !tune_int(b->plan, "writes");

	*out = json_deep_copy(b->plan);
	if (!*out || json_object_set_new(*out, "made", json_integer(b->made)) ||
	    json_object_set_new(
		    *out, "prediction",
		    predict(t, &b->e, empty ? IBCC_PREDICTION_NO_PLAN : IBCC_PREDICTION_TELLS)))
		return ibcc_why_set(why, -ENOMEM, "no memory");
	return 0;
}

static int what_if(const struct tune *t, struct ibcc_bundle *b, const json_t *set, json_t **out,
		   struct ibcc_why *why)
{
	struct ibcc_settings wanted;
	int rc = ibcc_what_if(b->e.topo, b->e.root, b->e.in.n_roots, &b->e.wanted, set, &wanted,
			      why);

	if (rc)
		return rc;
	ibcc_settings_fini(&b->e.wanted);
	b->e.wanted = wanted;
	*out = json_pack("{si sO so}", "schema", IBCC_REPORT_SCHEMA, "set", set, "prediction",
			 predict(t, &b->e, IBCC_PREDICTION_TELLS));
	return *out ? 0 : ibcc_why_set(why, -ENOMEM, "no memory");
}

static int run(const struct tune *t, const char *command, const json_t *args, const json_t *cache,
	       const json_t *counters, json_t **out, bool *anonymous, struct ibcc_why *why)
{
	struct ibcc_bundle b;
	struct ibcc_why at = { "" };
	int rc = ibcc_bundle_read(cache, counters, &b, &at);

	if (rc)
		ibcc_why_set(why, rc, "%s: %s", t->counters ? t->counters : t->cache, at.text);
	else if (!strcmp(command, "plan"))
		rc = plan(t, &b, out, why);
	else
		rc = what_if(t, &b, json_object_get(args, "set"), out, why);
	*anonymous = b.anonymous;
	ibcc_bundle_fini(&b);
	return rc;
}

int tune_do_offline(const struct tune *t, const char *command, const json_t *args, json_t **out,
		    bool *anonymous, struct ibcc_why *why)
{
	json_t *cache = NULL, *counters = NULL;
	bool same = !t->cache || !t->counters || !strcmp(t->cache, t->counters);
	int rc = load(t->cache ? t->cache : t->counters, &cache, why);

	*out = NULL;
	if (!rc && !same)
		rc = load(t->counters, &counters, why);
	if (!rc)
		rc = run(t, command, args, cache, same ? cache : counters, out, anonymous, why);
	json_decref(cache);
	json_decref(counters);
	return rc;
}
