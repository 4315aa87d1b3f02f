/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The daemon's cycle in process, on virtual time, over real MADs to the agents of a packet engine;
 * and the throughput of its flows.
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

#include <ibcc/cycle.h>
#include <ibcc/engine.h>
#include <ibcc/inproc.h>
#include <ibcc/scenario_file.h>
#include <ibcc/state.h>

struct loop {
	struct ibcc_scenario sc;
	struct ibcc_engine *engine;
	struct ibcc_agents *agents;
	/* the cycle's transport; on request a faulty one around the engine's */
	struct ibcc_transport *tr;
	struct ibcc_applier *null, *direct;
	struct ibcc_cycle c;
	struct ibcc_state *state; /* NULL: nothing is stored */
	struct ibcc_why why;
	uint64_t pass_ps;
	bool dry;           /* plans are made and not carried out */
	bool fast;          /* the next pass reads the focus alone */
	uint32_t n_changes; /* passes that carried out a plan */
	uint64_t bytes[4];  /* by ibcc_flow_kind, at the start of the measuring window */
	uint64_t since_ps;
};

struct loop_rates { /* MB/s of payload, as published */
	double hot, victim, background, sum;
};

static const struct ibcc_agents_options loop_hardware = {
	.cct_blocks = 2,
	.wait_tick = 7,
	.ext_xmit_wait = true,
	.sw_port_block = 32,
};

static inline void loop_open(struct loop *l, const char *file, const struct ibcc_agents_options *o,
			     const struct ibcc_fault_options *fault)
{
	struct ibcc_yaml_errors errors = { 0 };
	const char *bad = NULL;
	int err = 0;

	assert_int_equal(ibcc_scenario_load(file, &l->sc, &errors), 0);
	print_message("%s, seed %llu\n", l->sc.name, (unsigned long long)l->sc.seed);
	l->engine = ibcc_engine_new(l->sc.topo, &l->sc.model, l->sc.seed, &err);
	assert_non_null(l->engine);
	assert_int_equal(ibcc_engine_load(l->engine, &l->sc, &bad), 0);
	l->agents = ibcc_agents_new(l->sc.topo, l->engine, o);
	assert_non_null(l->agents);
	assert_int_equal(ibcc_agents_load(l->agents, &l->sc.cc), 0);
	l->tr = ibcc_inproc_new(l->agents, l->engine, l->sc.topo, NULL);
	assert_non_null(l->tr);
	if (fault)
		l->tr = ibcc_fault_new(l->tr, fault);
	assert_non_null(l->tr);
}

/* Starts the loop. `fault` NULL: all MADs arrive. */
static inline void loop_start(struct loop *l, const char *file, uint64_t pass_ps,
			      const struct ibcc_agents_options *o,
			      const struct ibcc_fault_options *fault)
{
	struct ibcc_cycle_options co = { .pass_deadline_ns = 0 };

	memset(l, 0, sizeof(*l));
	loop_open(l, file, o, fault);
	ibcc_estimator_defaults(&co.estimator);
	ibcc_tuner_defaults(&co.tuner);
	assert_int_equal(ibcc_cycle_init(&l->c, &co, l->tr), 0);
	assert_int_equal(ibcc_cycle_set_topology(&l->c, ibcc_topo_clone(l->sc.topo)), 0);
	l->null = ibcc_applier_null_new();
	l->direct = ibcc_applier_direct_new(l->tr, 0, false);
	assert_true(l->null && l->direct);
	l->pass_ps = pass_ps;
}

static inline void loop_end(struct loop *l)
{
	char why[200];

	if (ibcc_engine_check(l->engine, why, sizeof(why)))
		fail_msg("%s", why);
	ibcc_applier_free(l->null);
	ibcc_applier_free(l->direct);
	ibcc_cycle_fini(&l->c);
	ibcc_transport_free(l->tr);
	ibcc_agents_free(l->agents);
	ibcc_engine_free(l->engine);
	ibcc_scenario_fini(&l->sc);
}

/* The situation that a pass found which decided nothing. */
static inline enum ibcc_situation_code loop_found(const struct ibcc_cycle *c)
{
	assert_int_equal(c->target.decisions.n, 0);
	assert_int_equal(c->target.decisions.step, IBCC_STEP_ALL);
	assert_int_equal(c->refused, IBCC_REFUSED_NOT);
	return c->target.decisions.situation.code;
}

/* Asserts that the last pass found the congestion controlled, and nothing else. */
static inline void loop_assert_controlled(const struct ibcc_cycle *c, uint32_t roots)
{
	assert_int_equal(loop_found(c), IBCC_SITUATION_CONTROLLED);
	assert_int_equal(c->target.decisions.situation.roots, roots);
	assert_false(c->target.decisions.situation.lacking);
	assert_int_equal(c->target.decisions.n_left, 0);
}

/* Runs the fabric for an interval, then one pass of the cycle. */
static inline int loop_try(struct loop *l)
{
	char *words;
	struct ibcc_why disk = { "" };
	struct ibcc_act act = {
		.applier = l->dry ? l->null : l->direct,
		.fast = l->fast,
		.state = l->dry ? NULL : l->state,
		.who = "test",
		.action = "tune",
		.gate = IBCC_PRECHECK_NODES_OF_TREE,
	};
	int rc;

	assert_int_equal(ibcc_engine_run(l->engine, ibcc_engine_now_ps(l->engine) + l->pass_ps), 0);
	l->why.text[0] = '\0';
	if (l->state && ibcc_state_check(l->state, &disk))
		act.bookless = disk.text;
	rc = ibcc_cycle_run(&l->c, &act, &l->why);
	if (rc || !l->c.plan.n)
		return rc;
	words = ibcc_cycle_words(&l->c);
	print_message("pass %llu, %u changes: %s\n", (unsigned long long)l->c.estimate.pass,
		      l->c.plan.n, words ? words : "no memory");
	free(words);
	l->n_changes += l->c.acted && !l->dry;
	return 0;
}

static inline void loop_passes(struct loop *l, unsigned int n)
{
	while (n--)
		assert_int_equal(loop_try(l), 0);
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

/* Asserts that the registers are equal: all fields except those that select what a Set changes. */
static inline void loop_assert_same(const struct ibcc_settings *a, const struct ibcc_settings *b)
{
	assert_int_equal(a->n, b->n);
	for (uint32_t i = 0; i < a->n; i++) {
		struct ibcc_endport_cc x = a->ep[i], y = b->ep[i];

		x.sw.Control_Map = y.sw.Control_Map = 0;
		x.ca.Control_Map = y.ca.Control_Map = 0;
		assert_int_equal(x.support, y.support);
		assert_memory_equal(&x.sw, &y.sw, sizeof(x.sw));
		assert_memory_equal(&x.ca, &y.ca, sizeof(x.ca));
		assert_int_equal(x.cct.limit, y.cct.limit);
		assert_memory_equal(x.cct.entry, y.cct.entry, sizeof(x.cct.entry));
		assert_int_equal(x.n_element, y.n_element);
		if (x.n_element)
			assert_memory_equal(x.element, y.element, x.n_element * sizeof(*x.element));
	}
}

#endif
