/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The whole control loop in process, on virtual time: collector, estimator, tuner, planner,
 * applier over real MADs to the agents of a packet engine.
 */
#ifndef TEST_LOOP_H
#define TEST_LOOP_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ibcc/apply.h>
#include <ibcc/collect.h>
#include <ibcc/engine.h>
#include <ibcc/estimate.h>
#include <ibcc/plan.h>
#include <ibcc/scenario_file.h>
#include <ibcc/tuner.h>

#include "sim/inproc.h"

struct loop {
	struct ibcc_scenario sc;
	struct ibcc_engine *engine;
	struct ibcc_agents *agents;
	struct ibcc_transport *tr;
	struct ibcc_collector *collector;
	struct ibcc_snapshot snap;
	struct ibcc_settings actual;
	struct ibcc_estimator_params ep;
	struct ibcc_tuner *tuner;
	uint64_t pass_ps;
	bool lossy;         /* MADs get lost: Sets and read-backs may fail */
	bool dry;           /* plans are made and not carried out */
	uint32_t n_changes; /* passes that carried out a plan */
	uint64_t bytes[4];  /* by ibcc_flow_kind, at the start of the measuring window */
	uint64_t since_ps;
	char summary[IBCC_REASON_BYTES];
	struct ibcc_estimate est; /* of the last pass */
	struct ibcc_plan plan;    /* of the last pass */
};

struct loop_rates { /* MB/s of payload, as published */
	double hot, victim, background, sum;
};

static inline void loop_start(struct loop *l, const char *file, uint64_t pass_ps,
			      const struct ibcc_agents_options *o)
{
	struct ibcc_yaml_errors errors = { 0 };
	struct ibcc_tuner_params tp;
	const char *bad = NULL;
	int err = 0;

	memset(l, 0, sizeof(*l));
	assert_int_equal(ibcc_scenario_load(file, &l->sc, &errors), 0);
	print_message("%s, seed %llu\n", l->sc.name, (unsigned long long)l->sc.seed);
	l->engine = ibcc_engine_new(l->sc.topo, &l->sc.model, l->sc.seed, &err);
	assert_non_null(l->engine);
	assert_int_equal(ibcc_engine_load(l->engine, &l->sc, &bad), 0);
	l->agents = ibcc_agents_new(l->sc.topo, l->engine, o);
	assert_non_null(l->agents);
	l->tr = ibcc_inproc_new(l->agents, l->engine, l->sc.topo, NULL);
	assert_non_null(l->tr);
	l->collector = ibcc_collector_new(IBCC_CLOCK_HOST);
	assert_non_null(l->collector);
	assert_int_equal(ibcc_snapshot_init(&l->snap, l->sc.topo), 0);
	assert_int_equal(ibcc_settings_init(&l->actual, l->sc.topo), 0);
	assert_int_equal(ibcc_readback_run(l->tr, l->sc.topo, 0, &l->actual), 0);
	ibcc_estimator_defaults(&l->ep);
	ibcc_tuner_defaults(&tp);
	l->tuner = ibcc_tuner_new(&tp);
	assert_non_null(l->tuner);
	l->pass_ps = pass_ps;
}

/* From now on a share of all MADs gets lost. */
static inline void loop_lose(struct loop *l, uint16_t permille)
{
	struct ibcc_fault_options o = { .seed = l->sc.seed, .loss_permille = permille };

	l->tr = ibcc_fault_new(l->tr, &o);
	assert_non_null(l->tr);
	l->lossy = true;
}

static inline void loop_end(struct loop *l)
{
	char why[200];

	if (ibcc_engine_check(l->engine, why, sizeof(why)))
		fail_msg("%s", why);
	ibcc_estimate_fini(&l->est);
	ibcc_plan_fini(&l->plan);
	ibcc_tuner_free(l->tuner);
	ibcc_settings_fini(&l->actual);
	ibcc_snapshot_fini(&l->snap);
	ibcc_collector_free(l->collector);
	ibcc_transport_free(l->tr);
	ibcc_agents_free(l->agents);
	ibcc_engine_free(l->engine);
	ibcc_scenario_fini(&l->sc);
}

static inline void loop_apply(struct loop *l)
{
	struct ibcc_apply_options o = { 0 };
	struct ibcc_result r;
	int ret;

	assert_int_equal(ibcc_result_init(&r, l->plan.n), 0);
	ret = ibcc_apply_run(l->tr, &l->plan, &o, &r);
	if (!l->lossy)
		assert_int_equal(ret, 0);
	assert_true(ret == 0 || ret == -EIO);
	assert_true(ret != 0 || r.n_verified == l->plan.n);
	ibcc_result_fini(&r);
	assert_int_equal(ibcc_readback_run(l->tr, l->sc.topo, 0, &l->actual), 0);
	l->n_changes++;
}

/* One pass of the daemon's cycle, after the fabric has run for an interval. */
static inline void loop_pass(struct loop *l)
{
	struct ibcc_target target;

	assert_int_equal(ibcc_engine_run(l->engine, ibcc_engine_now_ps(l->engine) + l->pass_ps), 0);
	assert_int_equal(ibcc_collector_pass(l->collector, l->tr, l->sc.topo, &l->snap, 0), 0);
	ibcc_estimate_fini(&l->est);
	assert_int_equal(ibcc_estimator_run(&l->ep, l->sc.topo, &l->snap, &l->actual, &l->est), 0);
	assert_int_equal(
		ibcc_tuner_step(l->tuner, l->sc.topo, &l->snap, &l->est, &l->actual, &target), 0);
	ibcc_plan_fini(&l->plan);
	assert_int_equal(ibcc_planner_run(l->sc.topo, &l->actual, &target, &l->plan), 0);
	memcpy(l->summary, target.summary, sizeof(l->summary));
	ibcc_target_fini(&target);
	if (l->plan.n)
		print_message("pass %llu, %u changes: %s\n", (unsigned long long)l->est.pass,
			      l->plan.n, l->summary);
	if (l->plan.n && !l->dry)
		loop_apply(l);
}

static inline void loop_passes(struct loop *l, unsigned int n)
{
	while (n--)
		loop_pass(l);
}

static inline void loop_sum(const struct loop *l, uint64_t bytes[4])
{
	memset(bytes, 0, 4 * sizeof(*bytes));
	for (uint32_t i = 0; i < ibcc_engine_n_flows(l->engine); i++) {
		struct ibcc_engine_flow f;

		assert_int_equal(ibcc_engine_flow_read(l->engine, i, &f), 0);
		bytes[ibcc_engine_flow_spec(l->engine, i)->kind] += f.received_bytes;
	}
}

/* Rates over the passes since loop_measure(). */
static inline void loop_measure(struct loop *l)
{
	loop_sum(l, l->bytes);
	l->since_ps = ibcc_engine_now_ps(l->engine);
}

static inline struct loop_rates loop_rates(const struct loop *l)
{
	double us = (double)(ibcc_engine_now_ps(l->engine) - l->since_ps) / 1e6;
	struct loop_rates r;
	uint64_t now[4];

	loop_sum(l, now);
	r.hot = (double)(now[IBCC_FLOW_HOT] - l->bytes[IBCC_FLOW_HOT]) / us;
	r.victim = (double)(now[IBCC_FLOW_VICTIM] - l->bytes[IBCC_FLOW_VICTIM]) / us;
	r.background = (double)(now[IBCC_FLOW_BACKGROUND] - l->bytes[IBCC_FLOW_BACKGROUND]) / us;
	r.sum = r.hot + r.victim + r.background;
	print_message("hot %.1f, victim %.1f, background %.1f, sum %.1f MB/s\n", r.hot, r.victim,
		      r.background, r.sum);
	return r;
}

#endif
