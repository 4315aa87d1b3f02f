/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The daemon's cycle over the in-process engine, on virtual time: a dry one writes nothing, what
 * it wrote can be taken back bit for bit, and losses do not derail it.
 */
#include "loop.h"

#include <ibcc/execute.h>

#include "tests/unit/files.h"

#include "lib/mad/collector_state.h"

#define LUSTRE  "perftest/scenarios/lustre.yaml"
#define PASS_PS (1000 * IBCC_PS_PER_US)
/* What the victim gets without control, MB/s. */
#define UNHELPED_MBYTES 623
#define DRAIN_MBYTES    1870.76 /* what the slow server takes */
#define ALL_PORTS       14u     /* both ends of seven links */

static void start(struct loop *l, const struct ibcc_fault_options *fault)
{
	loop_start(l, LUSTRE, PASS_PS, &loop_hardware, fault);
}

static void test_dry_writes_nothing(void **state)
{
	struct loop l;
	struct ibcc_settings before;
	bool planned = false;

	(void)state;
	start(&l, NULL);
	assert_int_equal(ibcc_cycle_readback(&l.c, &l.why), 0);
	assert_int_equal(ibcc_settings_copy(&before, &l.c.actual), 0);
	l.dry = true;
	for (unsigned int i = 0; i < 20; i++) {
		loop_passes(&l, 1);
		if (!l.c.plan.n)
			continue;
		planned = true;
		assert_true(l.c.acted);
		assert_int_equal(l.c.act_err, 0);
		for (uint32_t k = 0; k < l.c.result.n; k++)
			assert_int_equal(l.c.result.change[k].outcome, IBCC_OUTCOME_DRY);
	}
	assert_true(planned);
	assert_int_equal(l.tr->stats.sets, 0);
	assert_int_equal(ibcc_cycle_readback(&l.c, &l.why), 0);
	loop_assert_same(&before, &l.c.actual);
	ibcc_settings_fini(&before);
	loop_end(&l);
}

/* Nine of ten passes read the focus: congestion is controlled as if all passes read all ports.
 * There is no focus at first, and no fast pass while settings are not known.
 */
static void test_fast(void **state)
{
	unsigned int n_partial = 0;
	struct loop l;
	struct loop_rates r;

	(void)state;
	start(&l, NULL);
	l.c.options.focus_nodes = 48;
	l.fast = true;
	loop_passes(&l, 1); /* there is no focus yet: it reads all */
	assert_false(l.c.fast);
	l.fast = false;
	loop_passes(&l, 2);
	assert_true(ibcc_cycle_has_focus(&l.c));
	for (unsigned int i = 0; i < 100; i++) {
		uint64_t before = l.tr->stats.sent;
		uint32_t n_ports = l.c.focus.n_ports;

		l.fast = i % 10 != 9;
		loop_passes(&l, 1);
		assert_int_equal(l.c.fast, l.fast);
		assert_true(l.c.decided && l.c.estimate.trustworthy);
		assert_int_equal(l.c.estimate.partial, l.fast && n_ports < ALL_PORTS);
		assert_int_equal(l.c.snapshot.n_stale, 0);
		assert_int_equal(l.c.snapshot.n_doubted, 0);
		n_partial += l.c.estimate.partial;
		/* counters, those of marks at an adapter, and two switches' logs */
		if (l.fast && !l.c.result.set_mads)
			assert_in_range(l.tr->stats.sent - before, n_ports, 2 * n_ports + 2);
		if (i == 39)
			loop_measure(&l);
	}
	assert_true(n_partial > 0);
	r = loop_rates(&l);
	assert_true(r.hot > .97 * DRAIN_MBYTES);
	assert_true(r.victim > 1.5 * UNHELPED_MBYTES);
	l.c.actual_known = false;
	assert_false(ibcc_cycle_has_focus(&l.c));
	l.fast = true;
	loop_passes(&l, 1);
	assert_false(l.c.fast);
	loop_end(&l);
}

/* Many small transactions of a live loop, taken back by one plan. */
static void test_all_taken_back(void **state)
{
	struct loop l;
	struct ibcc_settings before;
	struct ibcc_plan joined = { 0 }, undo = { 0 };
	struct ibcc_result r = { 0 };
	struct ibcc_execution execution = { 0 };
	struct ibcc_state *db;
	int64_t first = 0;
	int err = 0;

	(void)state;
	start(&l, NULL);
	db = ibcc_state_open(files_path("cycle.db"), &err, &l.why);
	assert_non_null(db);
	assert_int_equal(ibcc_cycle_readback(&l.c, &l.why), 0);
	assert_int_equal(ibcc_settings_copy(&before, &l.c.actual), 0);
	l.state = db;
	loop_passes(&l, 40);
	assert_true(l.tr->stats.sets > 0);
	assert_int_equal(ibcc_state_undo(db, 0, &joined, &first, NULL, &l.why), 0);
	assert_true(joined.n > 0 && first == 1);
	assert_int_equal(ibcc_plan_reverse(&joined, &undo), 0);
	execution = (struct ibcc_execution){
		.applier = l.direct,
		.state = db,
		.topo = l.c.topo,
		.txn = { .who = "test", .action = "rollback", .summary = "", .undoes_from = first }
	};
	assert_int_equal(ibcc_execute_plan(&execution, &undo, &r, &l.why), 0);
	assert_int_equal(ibcc_cycle_readback(&l.c, &l.why), 0);
	loop_assert_same(&before, &l.c.actual);
	ibcc_result_fini(&r);
	ibcc_plan_fini(&joined);
	assert_int_equal(ibcc_state_undo(db, 0, &joined, &first, NULL, &l.why), 0);
	assert_int_equal(joined.n, 0);
	ibcc_plan_fini(&joined);
	ibcc_plan_fini(&undo);
	ibcc_settings_fini(&before);
	ibcc_state_close(db);
	loop_end(&l);
}

/* What the cycle believes to be on the fabric is there, though it reads only after failures. */
static void test_knows_the_settings(void **state)
{
	struct loop l;
	struct ibcc_settings believed;

	(void)state;
	start(&l, NULL);
	loop_passes(&l, 15);
	assert_true(l.c.actual_known);
	assert_true(l.tr->stats.sets > 0);
	assert_int_equal(ibcc_settings_copy(&believed, &l.c.actual), 0);
	assert_int_equal(ibcc_cycle_readback(&l.c, &l.why), 0);
	loop_assert_same(&believed, &l.c.actual);
	ibcc_settings_fini(&believed);
	loop_end(&l);
}

static void test_another_topology(void **state)
{
	struct loop l;
	struct ibcc_topo *t;
	uint64_t passes_before;

	(void)state;
	start(&l, NULL);
	l.dry = true;
	loop_passes(&l, 5);
	assert_true(l.c.decided && l.c.actual_known);

	/* A new number, the same fabric: nothing is forgotten, but a node that refused is asked
	 * again. */
	t = ibcc_topo_clone(l.sc.topo);
	t->generation = 77;
	l.c.collector->node[0].refusal = (struct ibcc_refusal){ .due = UINT64_MAX, .wait = 64 };
	assert_int_equal(ibcc_cycle_set_topology(&l.c, t), 0);
	assert_true(ibcc_refusal_is_due(&l.c.collector->node[0].refusal, 0));
	assert_int_equal(l.c.topo->generation, 77);
	assert_true(l.c.decided && l.c.actual_known);
	loop_passes(&l, 1);
	assert_int_equal(l.c.plan.generation, 77);

	/* A link is gone: settings are read again, counters of the others go on. */
	t = ibcc_topo_clone(l.sc.topo);
	t->generation = 78;
	ibcc_topo_unlink(t, t->node[ibcc_topo_find_desc(t, "destination0")].first_port + 1);
	passes_before = l.c.snapshot.pass;
	assert_int_equal(ibcc_cycle_set_topology(&l.c, t), 0);
	assert_false(l.c.decided || l.c.actual_known);
	loop_passes(&l, 1);
	assert_int_equal(l.c.snapshot.pass, passes_before + 1);
	assert_true(l.c.decided && l.c.actual_known);
	assert_int_equal(l.c.estimate.n_roots, 1);
	loop_end(&l);
}

/* Adapters that react by service level, as QLogic's: the contributors are learnt before they are
 * held.
 */
static void start_learning(struct loop *l)
{
	start(l, NULL);
	for (uint32_t i = 0; i < l->sc.topo->n_nodes; i++)
		if (!ibcc_topo_is_switch(l->sc.topo, i))
			ibcc_agents_quirks(l->agents, i)->qlogic = true;
}

static uint32_t n_tables(const struct loop *l, bool planned)
{
	uint32_t n = 0;

	for (uint32_t i = 0; planned && i < l->c.plan.n; i++)
		n += l->c.plan.change[i].attr_id == IBCC_CC_ATTR_CCT;
	for (uint32_t i = 0; !planned && i < l->c.actual.n; i++)
		n += l->c.actual.ep[i].cct.entry[l->c.actual.ep[i].cct.limit] != 0;
	return n;
}

/* Packets in the switches' logs, all from the hosts that write to the slow server. */
static uint32_t n_marks(const struct loop *l)
{
	const struct ibcc_topo *t = l->c.topo;
	uint32_t victim = ibcc_topo_find_desc(t, "source4");
	uint32_t slow = ibcc_topo_find_desc(t, "destination1");

	for (uint32_t i = 0; i < l->c.snapshot.n_marks; i++) {
		const struct ibcc_mark *m = &l->c.snapshot.mark[i];

		assert_string_equal(t->node[m->node].desc, "leaf2");
		assert_int_equal(m->dlid, t->port[t->node[slow].first_port + 1].lid);
		assert_int_not_equal(m->slid, t->port[t->node[victim].first_port + 1].lid);
		assert_true(ibcc_topo_port_of_lid(t, m->slid) != IBCC_NONE);
	}
	return l->c.snapshot.n_marks;
}

/* The port of the slow server marks, and no host is slowed; its BECNs show the three that write
 * to it from the victim, and only they get tables.
 */
static void test_learning(void **state)
{
	struct loop_rates r;
	struct loop l;

	(void)state;
	start_learning(&l);
	for (unsigned int i = 0; i < 10 && !l.n_changes; i++)
		loop_passes(&l, 1);
	assert_int_equal(l.n_changes, 1);
	assert_int_equal(n_tables(&l, false), 0);
	assert_int_equal(n_marks(&l), 0); /* no switch was to be asked */
	loop_measure(&l);
	for (unsigned int i = 0; i < 20 && l.n_changes < 2; i++) {
		loop_passes(&l, 1);
		assert_int_equal(n_marks(&l), i ? IBCC_CC_LOG_SWITCH_ENTRIES : 0);
	}
	r = loop_rates(&l);
	assert_true(r.hot > 0.99 * DRAIN_MBYTES);
	assert_true(r.victim > 0.97 * UNHELPED_MBYTES);
	assert_int_equal(l.n_changes, 2);
	assert_int_equal(n_tables(&l, false), 3);
	loop_passes(&l, 30);
	loop_measure(&l);
	loop_passes(&l, 20);
	assert_true(loop_rates(&l).victim >= 2 * UNHELPED_MBYTES);
	assert_int_equal(n_tables(&l, false), 3);
	loop_end(&l);
}

/* A dry run marks nothing and recommends what would come without that. */
static void test_no_dry_learning(void **state)
{
	struct loop l;

	(void)state;
	start_learning(&l);
	l.dry = true;
	loop_passes(&l, 10);
	assert_int_equal(n_tables(&l, true), 4);
	assert_int_equal(l.tr->stats.sets, 0);
	loop_end(&l);
}

/* One MAD in twenty gets lost: writes fail here and there, the loop still gets there. */
static void test_losses(void **state)
{
	struct ibcc_fault_options fault = { .seed = 5, .loss_permille = 50 };
	struct loop l;
	double victim;

	(void)state;
	start(&l, &fault);
	loop_passes(&l, 84);
	loop_measure(&l);
	loop_passes(&l, 20);
	victim = loop_rates(&l).victim;
	assert_true(victim >= 2 * UNHELPED_MBYTES);
	loop_end(&l);
}

/* The port is gone in the middle: an error, and everything still there to go on or to free. */
static void test_port_gone(void **state)
{
	(void)state;
	for (uint64_t after = 1; after < 400; after += 37) {
		struct ibcc_fault_options fault = { .fail_after = after };
		struct loop l;
		int rc = 0;

		start(&l, &fault);
		for (unsigned int i = 0; i < 40 && !rc; i++) {
			l.why.text[0] = '\0';
			rc = loop_try(&l);
			if (!rc && l.c.act_err)
				rc = l.c.act_err;
		}
		assert_int_equal(rc, -EIO);
		assert_true(l.why.text[0] || l.c.blocked.text[0]);
		loop_end(&l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dry_writes_nothing),
		cmocka_unit_test(test_fast),
		cmocka_unit_test(test_all_taken_back),
		cmocka_unit_test(test_knows_the_settings),
		cmocka_unit_test(test_another_topology),
		cmocka_unit_test(test_learning),
		cmocka_unit_test(test_no_dry_learning),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_port_gone),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
