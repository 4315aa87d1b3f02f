/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The daemon's cycle over the in-process engine, on virtual time: it frees the victim, a dry one
 * writes nothing, what it wrote can be taken back bit for bit, and losses do not derail it.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/files.h"

#include <ibcc/scenario_file.h>

#include "daemon/carry.h"
#include "daemon/cycle.h"
#include "sim/inproc.h"

#define PASS_PS (1000 * IBCC_PS_PER_US)

struct fixture {
	struct ibcc_scenario sc;
	struct ibcc_engine *engine;
	struct ibcc_transport *tr; /* the cycle's; the engine's or a faulty one around it */
	struct ibcc_cycle c;
	struct ibcc_applier *null, *direct;
	struct ibcc_why why;
	uint64_t bytes[4], since_ps;
};

static void start(struct fixture *f, const struct ibcc_fault_options *fault)
{
	struct ibcc_inproc_options io = { 0 };
	struct ibcc_cycle_options o = { .clock = IBCC_CLOCK_HOST };
	struct ibcc_yaml_errors errors = { 0 };
	int err = 0;

	memset(f, 0, sizeof(*f));
	assert_int_equal(ibcc_scenario_load("perftest/scenarios/lustre.yaml", &f->sc, &errors), 0);
	f->tr = ibcc_inproc_open(&f->sc, &io, &err, NULL);
	assert_non_null(f->tr);
	f->engine = ibcc_inproc_engine(f->tr);
	if (fault)
		f->tr = ibcc_fault_new(f->tr, fault);
	ibcc_estimator_defaults(&o.estimator);
	ibcc_tuner_defaults(&o.tuner);
	assert_int_equal(ibcc_cycle_init(&f->c, &o, f->tr), 0);
	assert_int_equal(ibcc_cycle_set_topology(&f->c, ibcc_topo_clone(f->sc.topo)), 0);
	f->null = ibcc_applier_null_new();
	f->direct = ibcc_applier_direct_new(f->tr, 0);
	assert_true(f->null && f->direct);
}

static void end(struct fixture *f)
{
	char why[200];

	if (ibcc_engine_check(f->engine, why, sizeof(why)))
		fail_msg("%s", why);
	ibcc_applier_free(f->null);
	ibcc_applier_free(f->direct);
	ibcc_cycle_fini(&f->c);
	ibcc_transport_free(f->tr);
	ibcc_scenario_fini(&f->sc);
}

/* The fabric runs for an interval, then the cycle makes a turn. */
static int pass(struct fixture *f, struct ibcc_applier *applier, struct ibcc_state *state)
{
	struct ibcc_act act = { .applier = applier,
				.state = state,
				.who = "test",
				.action = "tune",
				.gate = IBCC_GATE_NODES_OF_TREE };

	assert_int_equal(ibcc_engine_run(f->engine, ibcc_engine_now_ps(f->engine) + PASS_PS), 0);
	return ibcc_cycle_run(&f->c, &act, &f->why);
}

static void passes(struct fixture *f, struct ibcc_applier *applier, struct ibcc_state *state,
		   unsigned int n)
{
	while (n--)
		assert_int_equal(pass(f, applier, state), 0);
}

static void sum(const struct fixture *f, uint64_t bytes[4])
{
	memset(bytes, 0, 4 * sizeof(*bytes));
	for (uint32_t i = 0; i < ibcc_engine_n_flows(f->engine); i++) {
		struct ibcc_engine_flow flow;

		assert_int_equal(ibcc_engine_flow_read(f->engine, i, &flow), 0);
		bytes[ibcc_engine_flow_spec(f->engine, i)->kind] += flow.received_bytes;
	}
}

/* MB/s of a kind of flows since the last call for any kind. */
static double rate(struct fixture *f, enum ibcc_flow_kind kind, bool restart)
{
	double us = (double)(ibcc_engine_now_ps(f->engine) - f->since_ps) / 1e6;
	uint64_t now[4];
	double r;

	sum(f, now);
	r = (double)(now[kind] - f->bytes[kind]) / us;
	if (restart) {
		memcpy(f->bytes, now, sizeof(now));
		f->since_ps = ibcc_engine_now_ps(f->engine);
	}
	return r;
}

static void test_frees_the_victim(void **state)
{
	struct fixture f;
	double hot, victim;

	(void)state;
	start(&f, NULL);
	passes(&f, f.null, NULL, 10);
	rate(&f, IBCC_FLOW_HOT, true);
	passes(&f, f.null, NULL, 10);
	hot = rate(&f, IBCC_FLOW_HOT, false);
	victim = rate(&f, IBCC_FLOW_VICTIM, true);
	passes(&f, f.direct, NULL, 40);
	rate(&f, IBCC_FLOW_HOT, true);
	passes(&f, f.direct, NULL, 20);
	print_message("hot %.1f -> %.1f, victim %.1f -> %.1f MB/s\n", hot,
		      rate(&f, IBCC_FLOW_HOT, false), victim, rate(&f, IBCC_FLOW_VICTIM, false));
	assert_true(rate(&f, IBCC_FLOW_VICTIM, false) >= 2 * victim);
	assert_true(rate(&f, IBCC_FLOW_HOT, false) >= 0.9 * hot);
	end(&f);
}

static void assert_same(const struct ibcc_settings *a, const struct ibcc_settings *b)
{
	assert_int_equal(a->n, b->n);
	for (uint32_t i = 0; i < a->n; i++) {
		const struct ibcc_endport_cc *x = &a->ep[i], *y = &b->ep[i];

		assert_int_equal(x->support, y->support);
		assert_memory_equal(&x->sw, &y->sw, sizeof(x->sw));
		assert_memory_equal(&x->ca, &y->ca, sizeof(x->ca));
		assert_int_equal(x->cct.limit, y->cct.limit);
		assert_memory_equal(x->cct.entry, y->cct.entry, sizeof(x->cct.entry));
		assert_int_equal(x->n_element, y->n_element);
		if (x->n_element)
			assert_memory_equal(x->element, y->element,
					    x->n_element * sizeof(*x->element));
	}
}

static void test_dry_writes_nothing(void **state)
{
	struct fixture f;
	struct ibcc_settings before;
	bool planned = false;

	(void)state;
	start(&f, NULL);
	assert_int_equal(ibcc_cycle_readback(&f.c, &f.why), 0);
	assert_int_equal(ibcc_settings_copy(&before, &f.c.actual), 0);
	for (unsigned int i = 0; i < 20; i++) {
		passes(&f, f.null, NULL, 1);
		if (!f.c.plan.n)
			continue;
		planned = true;
		assert_true(f.c.acted);
		assert_int_equal(f.c.act_err, 0);
		for (uint32_t k = 0; k < f.c.result.n; k++)
			assert_int_equal(f.c.result.change[k].outcome, IBCC_OUTCOME_DRY);
	}
	assert_true(planned);
	assert_int_equal(f.tr->stats.sets, 0);
	assert_int_equal(ibcc_cycle_readback(&f.c, &f.why), 0);
	assert_same(&before, &f.c.actual);
	ibcc_settings_fini(&before);
	end(&f);
}

/* Many small transactions of a live loop, taken back by one plan. */
static void test_all_taken_back(void **state)
{
	struct fixture f;
	struct ibcc_settings before;
	struct ibcc_plan joined = { 0 }, undo = { 0 };
	struct ibcc_result r = { 0 };
	struct ibcc_carry carry = { 0 };
	struct ibcc_state *db;
	int64_t first = 0;
	int err = 0;

	(void)state;
	start(&f, NULL);
	db = ibcc_state_open(files_path("cycle.db"), &err, &f.why);
	assert_non_null(db);
	assert_int_equal(ibcc_cycle_readback(&f.c, &f.why), 0);
	assert_int_equal(ibcc_settings_copy(&before, &f.c.actual), 0);
	passes(&f, f.direct, db, 40);
	assert_true(f.tr->stats.sets > 0);
	assert_int_equal(ibcc_state_undo(db, 0, &joined, &first, &f.why), 0);
	assert_true(joined.n > 0 && first == 1);
	assert_int_equal(ibcc_plan_reverse(&joined, &undo), 0);
	carry = (struct ibcc_carry){
		.applier = f.direct,
		.state = db,
		.topo = f.c.topo,
		.txn = { .who = "test", .action = "rollback", .summary = "", .undoes_from = first }
	};
	assert_int_equal(ibcc_carry_out(&carry, &undo, &r, &f.why), 0);
	assert_int_equal(ibcc_cycle_readback(&f.c, &f.why), 0);
	assert_same(&before, &f.c.actual);
	ibcc_result_fini(&r);
	ibcc_plan_fini(&joined);
	assert_int_equal(ibcc_state_undo(db, 0, &joined, &first, &f.why), 0);
	assert_int_equal(joined.n, 0);
	ibcc_plan_fini(&joined);
	ibcc_plan_fini(&undo);
	ibcc_settings_fini(&before);
	ibcc_state_close(db);
	end(&f);
}

/* What the cycle believes to be on the fabric is there, though it reads only after failures. */
static void test_knows_the_settings(void **state)
{
	struct fixture f;
	struct ibcc_settings believed;

	(void)state;
	start(&f, NULL);
	passes(&f, f.direct, NULL, 15);
	assert_true(f.c.actual_known);
	assert_true(f.tr->stats.sets > 0);
	assert_int_equal(ibcc_settings_copy(&believed, &f.c.actual), 0);
	for (uint32_t i = 0; i < believed.n; i++) {
		/* Not a register: which fields a Set is about. */
		believed.ep[i].sw.Control_Map = 0;
		believed.ep[i].ca.Control_Map = 0;
	}
	assert_int_equal(ibcc_cycle_readback(&f.c, &f.why), 0);
	for (uint32_t i = 0; i < believed.n; i++) {
		f.c.actual.ep[i].sw.Control_Map = 0;
		f.c.actual.ep[i].ca.Control_Map = 0;
	}
	assert_same(&believed, &f.c.actual);
	ibcc_settings_fini(&believed);
	end(&f);
}

static void test_another_topology(void **state)
{
	struct fixture f;
	struct ibcc_topo *t;
	uint64_t passes_before;

	(void)state;
	start(&f, NULL);
	passes(&f, f.null, NULL, 5);
	assert_true(f.c.decided && f.c.actual_known);

	/* A new number on the same fabric: nothing is forgotten. */
	t = ibcc_topo_clone(f.sc.topo);
	t->generation = 77;
	assert_int_equal(ibcc_cycle_set_topology(&f.c, t), 0);
	assert_int_equal(f.c.topo->generation, 77);
	assert_true(f.c.decided && f.c.actual_known);
	passes(&f, f.null, NULL, 1);
	assert_int_equal(f.c.plan.generation, 77);

	/* A link is gone: settings are read again, counters of the others go on. */
	t = ibcc_topo_clone(f.sc.topo);
	t->generation = 78;
	ibcc_topo_unlink(t, t->node[ibcc_topo_find_desc(t, "destination0")].first_port + 1);
	passes_before = f.c.snapshot.pass;
	assert_int_equal(ibcc_cycle_set_topology(&f.c, t), 0);
	assert_false(f.c.decided || f.c.actual_known);
	passes(&f, f.null, NULL, 1);
	assert_int_equal(f.c.snapshot.pass, passes_before + 1);
	assert_true(f.c.decided && f.c.actual_known);
	assert_int_equal(f.c.estimate.n_roots, 1);
	end(&f);
}

/* One MAD in twenty gets lost: writes fail here and there, the loop still gets there. */
static void test_losses(void **state)
{
	struct ibcc_fault_options fault = { .seed = 5, .loss_permille = 50 };
	struct fixture f;
	double victim;

	(void)state;
	start(&f, &fault);
	passes(&f, f.direct, NULL, 4);
	rate(&f, IBCC_FLOW_HOT, true);
	victim = 623;
	passes(&f, f.direct, NULL, 80);
	rate(&f, IBCC_FLOW_HOT, true);
	passes(&f, f.direct, NULL, 20);
	print_message("victim %.1f MB/s with 5 %% losses\n", rate(&f, IBCC_FLOW_VICTIM, false));
	assert_true(rate(&f, IBCC_FLOW_VICTIM, false) >= 2 * victim);
	end(&f);
}

/* The port is gone in the middle: an error, and everything still there to go on or to free. */
static void test_port_gone(void **state)
{
	(void)state;
	for (uint64_t after = 1; after < 400; after += 37) {
		struct ibcc_fault_options fault = { .fail_after = after };
		struct fixture f;
		int rc = 0;

		start(&f, &fault);
		for (unsigned int i = 0; i < 40 && !rc; i++) {
			f.why.text[0] = '\0';
			rc = pass(&f, f.direct, NULL);
			if (!rc && f.c.act_err)
				rc = f.c.act_err;
		}
		assert_int_equal(rc, -EIO);
		assert_true(f.why.text[0] || f.c.blocked.text[0]);
		end(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frees_the_victim), cmocka_unit_test(test_dry_writes_nothing),
		cmocka_unit_test(test_all_taken_back),   cmocka_unit_test(test_knows_the_settings),
		cmocka_unit_test(test_another_topology), cmocka_unit_test(test_losses),
		cmocka_unit_test(test_port_gone),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
