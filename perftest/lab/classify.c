/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Runs the estimator on a random scenario: it finds roots while nothing marks, then contributors
 * and victims while each root in turn marks.
 */
#include "perftest/lab/classify.h"

#include <errno.h>
#include <stdlib.h>

#include <ibcc/cycle.h>

#include "perftest/bench/live.h"
#include "perftest/lab/classify_job.h"
#include "perftest/lab/draw.h"

#define SPARE_ROOTS   2u
#define SLOW_PERMILLE 250u /* threshold at a slow receiver's port, of the queue */
#define FULL_PERMILLE 900u

static int keep_roots(const struct ibcc_estimate *e, struct ibcc_classify_seen *out)
{
	free(out->root);
	*out = (struct ibcc_classify_seen){ .root = calloc(e->n_roots + 1u, sizeof(*out->root)) };
	if (!out->root)
		return -ENOMEM;
	for (uint32_t i = 0; i < e->n_roots; i++) {
		out->root[out->n] = e->root[i];
		out->root[out->n++].source = NULL;
	}
	return 0;
}

static void confirm(struct ibcc_classify_seen *now, const struct ibcc_classify_seen *before)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < now->n; i++)
		for (uint32_t k = 0; k < before->n; k++)
			if (now->root[i].port == before->root[k].port) {
				now->root[n++] = now->root[i];
				break;
			}
	now->n = n;
}

static void mark(const struct ibcc_topo *t, const struct ibcc_root *r, struct ibcc_settings *s,
		 bool on)
{
	uint32_t first = t->node[t->port[r->port].node].first_port;
	struct ibcc_endport_cc *ep = &s->ep[t->port[first].endport];
	unsigned int num = t->port[r->port].num;
	uint32_t peer = t->port[r->port].peer;
	bool output = r->kind == IBCC_CONGESTION_OUTPUT;

	if (num < ep->n_element)
		ep->element[num] = (struct ibcc_cc_sw_port_element){
			.Valid = on,
			.Threshold = ibcc_formula_threshold_register(output ? SLOW_PERMILLE
									    : FULL_PERMILLE),
		};
	if (!ibcc_topo_is_switch(t, t->port[peer].node))
		ibcc_cc_mask_assign(&ep->sw.Victim_Mask, num, on);
}

/* Turns marking on at one root; tables are without delay from the start. If several roots marked,
 * it would be unknown from which one a BECN comes.
 */
static int probe(struct ibcc_classify_job *j, struct ibcc_cycle *c, struct ibcc_applier *a,
		 uint32_t root)
{
	struct ibcc_target target = { 0 };
	struct ibcc_plan plan = { 0 };
	struct ibcc_result result = { 0 };
	struct ibcc_why why;
	int rc = ibcc_settings_copy(&target.wanted, &c->actual);

	if (!rc && root)
		mark(c->topo, &j->first.root[root - 1], &target.wanted, false);
	if (!rc) {
		mark(c->topo, &j->first.root[root], &target.wanted, true);
		rc = ibcc_planner_run(c->topo, &c->actual, &target, &plan);
	}
	if (!rc)
		rc = ibcc_result_init(&result, plan.n);
	if (!rc && plan.n)
		/* settings that were lost on the way are read back as they are */
		ibcc_applier_run(a, &plan, &result, &why);
	if (!rc)
		rc = ibcc_cycle_readback(c, &why);
	ibcc_result_fini(&result);
	ibcc_plan_fini(&plan);
	ibcc_target_fini(&target);
	return rc;
}

/* Keeps the sources that are named in at least one pass, since slow roots mark few packets in each.
 * Also keeps the passes in which each source waits.
 */
static void keep_sources(struct ibcc_classify_job *j, const struct ibcc_cycle *c, uint32_t root,
			 uint32_t nth)
{
	const struct ibcc_estimate *e = &c->estimate;
	uint32_t n_ports = j->s.topo->n_ports;

	for (uint32_t i = 0; i < n_ports; i++) {
		const struct ibcc_port_sample *p = &c->snapshot.port[i];

		if (ibcc_delta_valid(&p->delta, IBCC_CTR_RCV_BECN))
			j->becn[(size_t)root * n_ports + i] += p->delta.v[IBCC_CTR_RCV_BECN];
		j->wait[i] = (uint16_t)ibcc_delta_wait_permille(&p->delta, p->tick_ps);
	}
	for (uint32_t i = 0; i < e->n_roots; i++) {
		const struct ibcc_root *r = &e->root[i];

		for (uint32_t n = 0; n < r->n_sources; n++) {
			if (r->source[n].role == IBCC_ROLE_CONTRIBUTOR &&
			    r->port == j->first.root[root].port)
				j->named[(size_t)root * n_ports + r->source[n].port] = 1;
			if (r->source[n].role == IBCC_ROLE_VICTIM ||
			    r->source[n].role == IBCC_ROLE_CANDIDATE)
				j->waits[(size_t)root * n_ports + r->source[n].port] |=
					(uint8_t)(1u << nth);
		}
	}
}

static int begin(struct ibcc_classify_job *j, const struct ibcc_cycle *c)
{
	size_t n;
	int rc = keep_roots(&c->estimate, &j->first);

	if (rc)
		return rc;
	confirm(&j->first, &j->before);
	n = (size_t)(j->first.n + 1) * j->s.topo->n_ports;
	j->named = calloc(n, 1);
	j->waits = calloc(n, 1);
	j->becn = calloc(n, sizeof(*j->becn));
	return j->named && j->waits && j->becn ? 0 : -ENOMEM;
}

static int each(void *arg, uint32_t pass, struct ibcc_cycle *c, struct ibcc_applier *a)
{
	struct ibcc_classify_job *j = arg;
	uint32_t since = pass - IBCC_PROBE_PASS, root = (since - 1) / IBCC_PROBE_PASSES;
	int rc = 0;

	if (pass + 1 == IBCC_PROBE_PASS)
		return keep_roots(&c->estimate, &j->before);
	if (pass < IBCC_PROBE_PASS)
		return 0;
	if (!since)
		rc = begin(j, c);
	else if (root < j->first.n && (since - 1) % IBCC_PROBE_PASSES)
		keep_sources(j, c, root, (since - 1) % IBCC_PROBE_PASSES);
	if (!rc && since % IBCC_PROBE_PASSES == 0 && since / IBCC_PROBE_PASSES < j->first.n)
		rc = probe(j, c, a, since / IBCC_PROBE_PASSES);
	return rc;
}

static int run(struct ibcc_classify_job *j)
{
	struct ibcc_live_options o;
	struct ibcc_live_result live;
	uint32_t n = j->s.topo->n_ports + 1u;
	int rc;

	j->wait = calloc(n, sizeof(*j->wait));
	if (!j->wait)
		return -ENOMEM;
	ibcc_live_defaults(&o);
	o.dry = true;
	o.each = each;
	o.arg = j;
	rc = ibcc_live_run(&j->s, &o, IBCC_PS_PER_MS / 10, &j->m, &live);
	ibcc_live_result_fini(&live);
	if (rc)
		return rc;
	rc = ibcc_classify_judge(j);
	ibcc_measure_fini(&j->m);
	return rc;
}

/* Removes the ends of hotspots, so that each lasts until all of them have been probed. */
static void drop_ends(struct ibcc_scenario *s)
{
	for (uint32_t i = 0; i < s->n_flows; i++)
		s->flow[i].stop_ps = 0;
	for (uint32_t i = 0; i < s->n_events; i++)
		if (s->event[i].kind == IBCC_EVENT_SINK_RATE && !s->event[i].value)
			s->event[i].at_ps = UINT64_MAX;
}

int ibcc_classify(uint64_t seed, struct ibcc_classified *sum, FILE *notes,
		  struct ibcc_yaml_errors *e)
{
	struct ibcc_classify_job j = { .sum = sum, .seed = seed, .notes = notes };
	int rc = ibcc_draw_load(seed, &j.s, e);

	if (rc)
		return rc;
	drop_ends(&j.s);
	j.s.measure_from_ps = (IBCC_PROBE_PASS - 1) * IBCC_PS_PER_MS;
	rc = ibcc_truth_find(&j.s, j.s.measure_from_ps, &j.truth);
	/* Leaves time for some more roots than there are; a pass at the very end would not be run.
	 */
	j.s.duration_ps = (IBCC_PROBE_PASS + IBCC_PROBE_PASSES * (j.truth.n_roots + SPARE_ROOTS)) *
				  IBCC_PS_PER_MS +
			  IBCC_PS_PER_MS / 5;
	if (!rc)
		rc = run(&j);
	ibcc_truth_fini(&j.truth);
	ibcc_scenario_fini(&j.s);
	free(j.before.root);
	free(j.first.root);
	free(j.named);
	free(j.waits);
	free(j.becn);
	free(j.wait);
	return rc;
}
