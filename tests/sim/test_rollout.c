/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A plan for many nodes is begun with a few, and what the hardware ignores is taken back. */
#include "loop.h"

#include <ibcc/precheck.h>

#include "tests/unit/files.h"

#define CAMPUS  "perftest/scenarios/campus.yaml"
#define LUSTRE  "perftest/scenarios/lustre.yaml"
#define PASS_PS (1000 * IBCC_PS_PER_US)
#define SLOW_PS (52000 * IBCC_PS_PER_US) /* when a node of the campus gets slow */

static void open_loop(struct loop *l, const char *file, const char *db, bool canary,
		      uint64_t skip_ps)
{
	int err = 0;

	loop_start(l, file, PASS_PS, &loop_hardware, NULL);
	l->state = ibcc_state_open(files_path(db), &err, &l->why);
	assert_non_null(l->state);
	l->c.options.canary = canary;
	assert_int_equal(ibcc_engine_run(l->engine, skip_ps), 0);
}

static void close_loop(struct loop *l)
{
	ibcc_state_close(l->state);
	loop_end(l);
}

/* Nodes whose registers mark or throttle: switches, adapters. */
static void count_on(const struct loop *l, uint32_t *n_switches, uint32_t *n_adapters)
{
	const struct ibcc_topo *t = l->c.topo;

	*n_switches = *n_adapters = 0;
	for (uint32_t i = 0; i < t->n_endports; i++) {
		if (!ibcc_settings_are_on(ibcc_agents_settings(l->agents, i)))
			continue;
		if (ibcc_topo_is_switch(t, t->port[t->endport[i]].node))
			++*n_switches;
		else
			++*n_adapters;
	}
}

static unsigned int passes_to_first(struct loop *l)
{
	unsigned int n = 0;

	while (!l->n_changes && n++ < 40)
		loop_passes(l, 1);
	assert_true(l->n_changes == 1);
	return n;
}

static void test_canary(void **state)
{
	uint32_t switches, adapters, rest;
	unsigned int first;
	struct loop l;

	(void)state;
	open_loop(&l, CAMPUS, "all.db", false, SLOW_PS);
	first = passes_to_first(&l);
	count_on(&l, &switches, &adapters);
	assert_int_equal(switches, 1);
	assert_true(adapters > IBCC_ROLLOUT_NODES);
	rest = adapters - IBCC_ROLLOUT_CANARIES;
	close_loop(&l);

	open_loop(&l, CAMPUS, "canary.db", true, SLOW_PS);
	assert_int_equal(passes_to_first(&l), first);
	count_on(&l, &switches, &adapters);
	assert_int_equal(switches, 1);
	assert_int_equal(adapters, IBCC_ROLLOUT_CANARIES);
	assert_int_equal(l.c.rollout.n_left, rest);
	assert_int_equal(l.c.target.decisions.step, IBCC_STEP_FIRST);
	assert_int_equal(l.c.target.decisions.step_nodes, 4);
	assert_true(l.c.actual_known);
	/* Marked packets are counted in the next pass. */
	loop_passes(&l, 1);
	count_on(&l, &switches, &adapters);
	assert_int_equal(adapters, rest + IBCC_ROLLOUT_CANARIES);
	assert_int_equal(l.c.rollout.n_left, 0);
	loop_passes(&l, 20);
	assert_int_equal(l.c.rollout.n_ignorers, 0);
	close_loop(&l);
}

/* When settings are reverted, or others written, nothing waits for the first nodes any more. */
static void test_taken_back(void **state)
{
	struct loop l;

	(void)state;
	open_loop(&l, CAMPUS, "taken_back.db", true, SLOW_PS);
	passes_to_first(&l);
	assert_true(l.c.rollout.n_left > 0);
	ibcc_cycle_forget(&l.c);
	l.c.actual_known = false;
	l.dry = true;
	loop_passes(&l, 3);
	assert_int_equal(l.c.rollout.n_left, 0);
	close_loop(&l);
}

/* An apply that a user asked for is all or nothing. */
static void test_asked_for(void **state)
{
	uint32_t switches, adapters;
	struct loop l;
	struct ibcc_act act = { .who = "test",
				.action = "apply",
				.gate = IBCC_PRECHECK_NODES_OF_TREE,
				.all_or_nothing = true,
				.overrule = true };

	(void)state;
	open_loop(&l, CAMPUS, "asked.db", true, SLOW_PS);
	l.dry = true;
	for (unsigned int n = 0; n < 40 && !l.c.plan.n; n++)
		loop_passes(&l, 1);
	assert_true(l.c.plan.n > 0);
	act.applier = l.direct;
	act.state = l.state;
	assert_int_equal(ibcc_engine_run(l.engine, ibcc_engine_now_ps(l.engine) + PASS_PS), 0);
	assert_int_equal(ibcc_cycle_run(&l.c, &act, &l.why), 0);
	count_on(&l, &switches, &adapters);
	assert_true(adapters > IBCC_ROLLOUT_NODES);
	close_loop(&l);
}

static void ignore(struct loop *l, const char *name)
{
	ibcc_agents_quirks(l->agents, ibcc_topo_find_desc(l->c.topo, name))->ignores = true;
}

static void test_ignored(void **state)
{
	const char *words =
		"no effect after 8 polling cycles: \"leaf2\" port 2 marks and is congested";
	uint32_t switches, adapters, leaf2;
	struct ibcc_why text;
	struct loop l;
	int64_t first = 0;
	struct ibcc_plan undo = { 0 };

	(void)state;
	open_loop(&l, LUSTRE, "ignored.db", true, 0);
	ignore(&l, "leaf2");
	passes_to_first(&l);
	count_on(&l, &switches, &adapters);
	assert_int_equal(switches, 1);
	loop_passes(&l, IBCC_ROLLOUT_PASSES - 1);
	assert_int_equal(l.c.rollout.n_ignorers, 0);
	for (unsigned int n = 0; n < 4 && !l.c.rollout.n_ignorers; n++)
		loop_passes(&l, 1);
	ibcc_rollout_text(&l.c.rollout, l.c.topo, &text);
	assert_non_null(strstr(text.text, words));
	assert_non_null(strstr(text.text, "the hardware ignores it"));
	assert_int_equal(l.c.act_err, 0);
	count_on(&l, &switches, &adapters);
	assert_int_equal(switches + adapters, 0);
	assert_int_equal(ibcc_state_undo(l.state, 0, &undo, &first, NULL, &l.why), 0);
	for (uint32_t i = 0; i < undo.n; i++)
		assert_memory_equal(undo.change[i].old_data, undo.change[i].new_data,
				    IBCC_CC_DATA_BYTES);
	ibcc_plan_fini(&undo);
	/* It is not tried again, whatever is read. */
	l.n_changes = 0;
	loop_passes(&l, 10);
	l.c.actual_known = false;
	loop_passes(&l, 10);
	assert_int_equal(l.n_changes, 0);
	count_on(&l, &switches, &adapters);
	assert_int_equal(switches + adapters, 0);
	leaf2 = ibcc_topo_find_desc(l.c.topo, "leaf2");
	leaf2 = l.c.topo->port[ibcc_topo_port_index(l.c.topo, leaf2, 0)].endport;
	assert_string_equal(ibcc_precheck_reason(&l.c.actual.ep[leaf2]),
			    "accepts settings, but they have no effect");
	close_loop(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_canary),
		cmocka_unit_test(test_taken_back),
		cmocka_unit_test(test_asked_for),
		cmocka_unit_test(test_ignored),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
