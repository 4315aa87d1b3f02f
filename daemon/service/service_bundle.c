/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The last polling cycle as a support bundle, under true or made-up names. */
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "daemon/bundle/disguised.h"
#include "daemon/report/report.h"
#include "daemon/service/service_impl.h"

/* The plan, and which clock the collector used: the fabric's or the host's. */
static json_t *plan_of(struct ibcc_service *s, const struct ibcc_cycle *c)
{
	json_t *o = ibcc_report_plan(c, ibcc_service_source_name(s->source));
	json_t *fabric = json_object_get(o, "fabric");
	const struct ibcc_collector *seen = s->cycle.collector;

	json_object_set_new(
		fabric, "clock",
		json_string(ibcc_collector_uses_fabric_clock(seen) ? "fabric" : "host"));
	return o;
}

static int write_bundle(struct ibcc_service *s, const struct ibcc_cycle *c,
			const struct ibcc_evidence *e, bool anonymous, json_t **out)
{
	*out = ibcc_report_bundle(c->topo, &c->snapshot, c->actual_known ? &c->actual : NULL);
	if (!*out || json_object_set_new(*out, "anonymous", json_boolean(anonymous)) ||
	    json_object_set_new(*out, "plan", plan_of(s, c)) ||
	    json_object_set_new(*out, "evidence", ibcc_evidence_write(e)))
		return -ENOMEM;
	return 0;
}

static int write_disguised(struct ibcc_service *s, struct ibcc_evidence *e,
			   const struct ibcc_disguise *d, json_t **out)
{
	struct ibcc_cycle c;
	int rc = ibcc_disguised_cycle(&s->cycle, d, &c);

	if (!rc)
		rc = ibcc_disguised_evidence(d, e);
	if (!rc)
		rc = write_bundle(s, &c, e, true, out);
	ibcc_disguised_cycle_fini(&c);
	return rc;
}

int ibcc_service_bundle(struct ibcc_service *s, bool anonymous, json_t **out, struct ibcc_why *why)
{
	const struct ibcc_cycle *c = ibcc_service_cycle(s);
	struct ibcc_disguise d = { NULL, NULL };
	struct ibcc_evidence e = { .topo = NULL };
	uint64_t seed = 0;
	int rc = 0;

	*out = NULL;
	if (!c || !c->decided)
		return ibcc_service_undecided(s, why);
	if (anonymous && getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		return ibcc_why_set(
			why, -EIO, "the system gave no random number for made-up names: try again");
	if (anonymous)
		rc = ibcc_disguise_make(c->topo, seed, &d);
	if (rc && rc != -ENOMEM)
		return ibcc_why_set(why, rc,
				    "found no made-up LIDs for this topology: try again without "
				    "--anonymous, or report this");
	if (!rc)
		rc = ibcc_predictor_evidence(s->predictor, c, NULL, &e);
	if (!rc)
		rc = anonymous ? write_disguised(s, &e, &d, out)
			       : write_bundle(s, c, &e, false, out);
	ibcc_evidence_fini(&e);
	ibcc_disguise_fini(&d);
	if (!rc)
		return 0;
	json_decref(*out);
	*out = NULL;
	return ibcc_why_set(why, rc,
			    rc == -EAGAIN
				    ? "no polling cycle has ended yet: try again after the next one"
				    : "no memory");
}
