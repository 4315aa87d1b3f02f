/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The books against the fabric: what a crash left open, what drifted, what is none of ours. */
#include <errno.h>
#include <string.h>

#include "tests/unit/agents.h"

#include "files.h"

#include <ibcc/apply.h>
#include <ibcc/audit.h>
#include <ibcc/collect.h>
#include <ibcc/execute.h>
#include <ibcc/inproc.h>

#include "lib/state/state_db.h"

struct fixture {
	struct agent_fabric f;
	struct ibcc_transport *tr;
	struct ibcc_applier *applier;
	struct ibcc_state *s;
	struct ibcc_settings actual;
	struct ibcc_target target;
	struct ibcc_audit a;
};

static void setup(struct fixture *x, const char *name)
{
	int err = 0;

	memset(x, 0, sizeof(*x));
	agents_open(&x->f, IBCC_CC_SW_PORT_BLOCK_121);
	x->tr = ibcc_inproc_new(x->f.agents, x->f.engine, x->f.topo, NULL);
	assert_non_null(x->tr);
	x->applier = ibcc_applier_direct_new(x->tr, 0, false);
	assert_non_null(x->applier);
	x->s = ibcc_state_open(files_path(name), &err, NULL);
	assert_non_null(x->s);
}

static void teardown(struct fixture *x)
{
	ibcc_audit_fini(&x->a);
	ibcc_settings_fini(&x->target.wanted);
	ibcc_settings_fini(&x->actual);
	ibcc_state_close(x->s);
	ibcc_applier_free(x->applier);
	ibcc_transport_free(x->tr);
	agents_close(&x->f);
}

static void audit(struct fixture *x)
{
	assert_int_equal(ibcc_readback_run(x->tr, x->f.topo, 0, &x->actual), 0);
	ibcc_audit_fini(&x->a);
	assert_int_equal(ibcc_state_audit(x->s, x->f.topo, &x->actual, &x->a, NULL), 0);
}

/* The plan that gives a source a table and a timer, and a switch a threshold. */
static struct ibcc_plan plan_for(struct fixture *x, uint32_t source, uint16_t timer,
				 uint8_t threshold)
{
	struct ibcc_endport_cc *ca, *sw;
	struct ibcc_plan p;

	assert_int_equal(ibcc_readback_run(x->tr, x->f.topo, 0, &x->actual), 0);
	ibcc_settings_fini(&x->target.wanted);
	assert_int_equal(ibcc_settings_copy(&x->target.wanted, &x->actual), 0);
	ca = &x->target.wanted.ep[agents_endport(&x->f, source)];
	sw = &x->target.wanted.ep[agents_endport(&x->f, LUSTRE_SW1)];
	ca->cct.limit = 127;
	for (unsigned int i = 0; i < 128; i++)
		ca->cct.entry[i] = (uint16_t)i;
	ca->ca.sl[3].CCTI_Timer = timer;
	sw->sw.Threshold = threshold;
	assert_int_equal(ibcc_planner_run(x->f.topo, &x->actual, &x->target, &p), 0);
	return p;
}

static int carry(struct fixture *x, const char *action, struct ibcc_plan *p, int64_t undoes)
{
	struct ibcc_execution c = {
		.applier = x->applier,
		.state = x->s,
		.topo = x->f.topo,
		.txn = { .who = "me", .action = action, .summary = "", .undoes_from = undoes },
	};
	struct ibcc_result r;
	int rc = ibcc_execute_plan(&c, p, &r, NULL);

	ibcc_result_fini(&r);
	return rc;
}

static void make(struct fixture *x, uint32_t source, uint16_t timer, uint8_t threshold)
{
	struct ibcc_plan p = plan_for(x, source, timer, threshold);

	assert_int_equal(carry(x, "tune", &p, 0), 0);
	ibcc_plan_fini(&p);
}

static void assert_drift(struct fixture *x, uint32_t n, uint32_t n_nodes)
{
	audit(x);
	assert_int_equal(x->a.drift.n, n);
	assert_int_equal(x->a.n_drift_nodes, n_nodes);
}

static void test_as_left(void **state)
{
	struct fixture x;

	(void)state;
	setup(&x, "asleft.db");
	assert_drift(&x, 0, 0);
	make(&x, LUSTRE_SRC1, 10, 5);
	assert_drift(&x, 0, 0);
	make(&x, LUSTRE_SRC1, 20, 6); /* what was written last counts */
	assert_drift(&x, 0, 0);
	teardown(&x);
}

/* A node starts anew: all that it had from us is missing, and what it gets makes it whole again. */
static void test_reboot(void **state)
{
	struct ibcc_why text;
	struct fixture x;

	(void)state;
	setup(&x, "reboot.db");
	make(&x, LUSTRE_SRC1, 10, 5);
	assert_int_equal(ibcc_agents_forget(x.f.agents, LUSTRE_SRC1), 0);
	assert_drift(&x, 3, 1);
	ibcc_audit_text(x.f.topo, &x.a, &text);
	assert_non_null(strstr(text.text, x.f.topo->node[LUSTRE_SRC1].desc));
	assert_int_equal(ibcc_agents_forget(x.f.agents, LUSTRE_SW1), 0);
	assert_drift(&x, 4, 2);
	assert_int_equal(carry(&x, "repair", &x.a.drift, 0), 0);
	assert_drift(&x, 0, 0);
	assert_int_equal(ibcc_agents_settings(x.f.agents, agents_endport(&x.f, LUSTRE_SRC1))
				 ->ca.sl[3]
				 .CCTI_Timer,
			 10);
	teardown(&x);
}

/* One block of a table is written by another program: the table is repaired as a whole. */
static void test_foreign_block(void **state)
{
	struct ibcc_cct other = { .limit = 63 };
	struct fixture x;

	(void)state;
	setup(&x, "foreign.db");
	make(&x, LUSTRE_SRC1, 10, 5);
	memset(&x.f.mad, 0, sizeof(x.f.mad));
	ibcc_cc_cct_pack(x.f.mad.b, 0, &other);
	assert_int_equal(agents_send(&x.f, LUSTRE_SRC1, IBCC_MAD_CLASS_CC, IBCC_CC_CLASS_VERSION,
				     IBCC_MAD_SET, IBCC_CC_ATTR_CCT, 0),
			 0);
	assert_drift(&x, 2, 1);
	assert_int_equal(carry(&x, "repair", &x.a.drift, 0), 0);
	assert_drift(&x, 0, 0);
	teardown(&x);
}

/* QLogic's agents tell limits and a mode that no program set: no drift. */
static void test_qlogic(void **state)
{
	struct fixture x;

	(void)state;
	setup(&x, "qlogic.db");
	ibcc_agents_quirks(x.f.agents, LUSTRE_SRC1)->qlogic = true;
	make(&x, LUSTRE_SRC1, 10, 5);
	assert_drift(&x, 0, 0);
	make(&x, LUSTRE_SRC1, 20, 5);
	assert_drift(&x, 0, 0);
	assert_int_equal(ibcc_agents_forget(x.f.agents, LUSTRE_SRC1), 0);
	audit(&x);
	assert_true(x.a.drift.n > 0);
	assert_int_equal(carry(&x, "repair", &x.a.drift, 0), 0);
	assert_drift(&x, 0, 0);
	teardown(&x);
}

/* After a rollback the settings are not ours, and a node that is not there has not drifted. */
static void test_not_ours(void **state)
{
	struct ibcc_plan joined = { 0 }, undo = { 0 };
	struct fixture x;
	int64_t first = 0;

	(void)state;
	setup(&x, "notours.db");
	make(&x, LUSTRE_SRC1, 10, 5);
	assert_int_equal(ibcc_agents_set_support(x.f.agents, LUSTRE_SRC1, false), 0);
	assert_int_equal(ibcc_agents_forget(x.f.agents, LUSTRE_SRC1), 0);
	assert_drift(&x, 0, 0);
	assert_int_equal(ibcc_agents_set_support(x.f.agents, LUSTRE_SRC1, true), 0);
	assert_drift(&x, 3, 1);
	assert_int_equal(ibcc_state_undo(x.s, 0, &joined, &first, NULL, NULL), 0);
	assert_int_equal(ibcc_plan_reverse(&joined, &undo), 0);
	assert_int_equal(carry(&x, "rollback", &undo, first), 0);
	assert_drift(&x, 0, 0);
	ibcc_plan_fini(&undo);
	ibcc_plan_fini(&joined);
	teardown(&x);
}

/* The process ended on the way: a part was made, a part not, and one was made otherwise since. */
static void test_interrupted(void **state)
{
	struct ibcc_txn txn = { .who = "me", .action = "tune", .via = "direct", .summary = "" };
	struct ibcc_apply_options o = { 0 };
	struct ibcc_plan p, part = { 0 }, left = { 0 };
	struct ibcc_result r;
	struct fixture x;
	int64_t id = 0, first = 0;

	(void)state;
	setup(&x, "interrupted.db");
	p = plan_for(&x, LUSTRE_SRC1, 10, 5);
	assert_int_equal(p.n, 4);
	assert_int_equal(ibcc_state_begin(x.s, &txn, &p, NULL, &id, NULL), 0);
	for (uint32_t i = 0; i < p.n; i++) {
		struct ibcc_change c = p.change[i];

		if (c.attr_id == IBCC_CC_ATTR_CCT)
			continue; /* not made */
		if (c.attr_id == IBCC_CC_ATTR_SW_SETTING)
			c.new_data[68] = 0xf0; /* Threshold 15, another program's */
		assert_int_equal(ibcc_plan_append(&part, &c), 0);
	}
	assert_int_equal(ibcc_result_init(&r, part.n), 0);
	assert_int_equal(ibcc_apply_run(x.tr, &part, &o, &r), 0);
	ibcc_result_fini(&r);
	/* As the next start finds it: open, by a process that is no more. */
	assert_int_equal(
		sqlite3_exec(
			x.s->db,
			"UPDATE txn AS t SET outcome = 'interrupted', sum = " IBCC_STATE_TXN_SUM(
				"t.undone_by", "'interrupted'"),
			NULL, NULL, NULL),
		0);
	x.s->book_fresh = false;
	audit(&x);
	assert_int_equal(x.a.n_made, 1);
	assert_int_equal(x.a.n_unmade, 2);
	assert_int_equal(x.a.n_other, 1);
	assert_int_equal(x.a.drift.n, 0);
	audit(&x); /* once is enough */
	assert_int_equal(x.a.n_made + x.a.n_unmade + x.a.n_other, 0);
	/* What is made can be taken back, what is not need not. */
	assert_int_equal(ibcc_state_undo(x.s, 0, &left, &first, NULL, NULL), 0);
	assert_int_equal(first, id);
	assert_int_equal(left.n, 2);
	ibcc_plan_fini(&left);
	ibcc_plan_fini(&part);
	ibcc_plan_fini(&p);
	teardown(&x);
}

/* A table that was longer than a block, then shorter, then so short that its first block was
 * written alone: what the second was told before is no drift, and repairing it would cut the table.
 */
static void test_table_that_shrank(void **state)
{
	static const uint16_t limits[] = { 127, 48, 18 };
	struct fixture x;
	struct ibcc_plan p;

	(void)state;
	setup(&x, "shrank.db");
	for (size_t i = 0; i < 3; i++) {
		struct ibcc_endport_cc *ca;

		p = plan_for(&x, LUSTRE_SRC1, 10, 5);
		ibcc_plan_fini(&p);
		ca = &x.target.wanted.ep[agents_endport(&x.f, LUSTRE_SRC1)];
		ca->cct.limit = limits[i];
		assert_int_equal(ibcc_planner_run(x.f.topo, &x.actual, &x.target, &p), 0);
		assert_int_equal(carry(&x, "tune", &p, 0), 0);
		ibcc_plan_fini(&p);
	}
	assert_drift(&x, 0, 0);
	/* By the file as well as from memory. */
	x.s->book_fresh = false;
	assert_drift(&x, 0, 0);
	teardown(&x);
}

/* The state file was moved aside: what is on is foreign, as far as the books can tell. */
static void test_unknown_origin(void **state)
{
	struct ibcc_why text;
	struct fixture x;
	int err = 0;

	(void)state;
	setup(&x, "aside.db");
	make(&x, LUSTRE_SRC1, 10, 5);
	audit(&x);
	assert_int_equal(x.a.n_unknown, 0);
	ibcc_state_close(x.s);
	x.s = ibcc_state_open(files_path("another.db"), &err, NULL);
	assert_non_null(x.s);
	audit(&x);
	assert_int_equal(x.a.n_unknown, 1); /* the switch marks; the adapter has no increase */
	ibcc_audit_unknown_text(x.f.topo, &x.a, &text);
	assert_non_null(strstr(text.text, "foreign settings"));
	assert_non_null(strstr(text.text, x.f.topo->node[LUSTRE_SW1].desc));
	teardown(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_left),           cmocka_unit_test(test_reboot),
		cmocka_unit_test(test_foreign_block),     cmocka_unit_test(test_qlogic),
		cmocka_unit_test(test_not_ours),          cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_table_that_shrank), cmocka_unit_test(test_unknown_origin),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
