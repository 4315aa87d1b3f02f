/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Settings whose tuner is gone: killed, or begun anew with another topology. The books know whose
 * they are, so nothing of ours stays on the fabric for good, and none is taken for what was there
 * before.
 */
#include "loop.h"

#include "tests/unit/files.h"

#include "lib/state/state_db.h"

#define LUSTRE  "perftest/scenarios/lustre.yaml"
#define PASS_PS (1000 * IBCC_PS_PER_US)
/* Long enough to see that congestion is gone, and to take all off. */
#define QUIET_PASSES 45
#define DRAIN_MBYTES 1870.76

struct orphans {
	struct loop l;
	struct ibcc_settings site; /* before anything of ours */
	const char *db;
};

static void open_books(struct orphans *x)
{
	int err = 0;

	x->l.state = ibcc_state_open(files_path(x->db), &err, &x->l.why);
	assert_non_null(x->l.state);
}

/* Settings of the site's own, which are neither zero nor ours. */
static void set_site(struct loop *l)
{
	struct ibcc_endport_cc *ep;
	struct ibcc_target target = { 0 };
	struct ibcc_plan plan;
	struct ibcc_result r;

	assert_int_equal(ibcc_cycle_readback(&l->c, &l->why), 0);
	assert_int_equal(ibcc_settings_copy(&target.wanted, &l->c.actual), 0);
	for (uint32_t i = 0; i < target.wanted.n; i++) {
		ep = &target.wanted.ep[i];
		if (ibcc_topo_is_switch(l->c.topo, l->c.topo->port[l->c.topo->endport[i]].node))
			ep->sw.Packet_Size = 3;
		else
			ep->ca.sl[5].CCTI_Timer = 77;
	}
	assert_int_equal(ibcc_planner_run(l->c.topo, &l->c.actual, &target, &plan), 0);
	assert_int_equal(ibcc_result_init(&r, plan.n), 0);
	assert_int_equal(ibcc_applier_run(l->direct, &plan, &r, &l->why), 0);
	ibcc_result_fini(&r);
	ibcc_plan_fini(&plan);
	ibcc_target_fini(&target);
}

static void start(struct orphans *x, const char *db)
{
	*x = (struct orphans){ .db = db };
	loop_start(&x->l, LUSTRE, PASS_PS, &loop_hardware, NULL);
	set_site(&x->l);
	assert_int_equal(ibcc_cycle_readback(&x->l.c, &x->l.why), 0);
	assert_int_equal(ibcc_settings_copy(&x->site, &x->l.c.actual), 0);
	open_books(x);
	loop_passes(&x->l, 15);
	assert_true(x->l.n_changes > 0);
}

static void finish(struct orphans *x)
{
	ibcc_state_close(x->l.state);
	ibcc_settings_fini(&x->site);
	loop_end(&x->l);
}

/* The daemon is killed and started again. */
static void restart(struct orphans *x)
{
	struct ibcc_cycle_options o = x->l.c.options;

	ibcc_state_close(x->l.state);
	ibcc_cycle_fini(&x->l.c);
	assert_int_equal(ibcc_cycle_init(&x->l.c, &o, x->l.tr), 0);
	assert_int_equal(ibcc_cycle_set_topology(&x->l.c, ibcc_topo_clone(x->l.sc.topo)), 0);
	open_books(x);
}

static void traffic(struct orphans *x, bool on)
{
	const struct ibcc_topo *t = x->l.sc.topo;
	static const char *const writers[] = { "source1", "source2", "source3" };

	for (size_t i = 0; i < 3; i++) {
		uint32_t port = t->node[ibcc_topo_find_desc(t, writers[i])].first_port + 1;

		assert_int_equal(ibcc_engine_set_send_rate(x->l.engine, port,
							   on ? t->port[port].rate_mbps : 100),
				 0);
	}
}

static void assert_as_before(struct orphans *x)
{
	assert_int_equal(ibcc_cycle_readback(&x->l.c, &x->l.why), 0);
	loop_assert_same(&x->site, &x->l.c.actual);
}

static void assert_tuned(struct orphans *x, bool tuned)
{
	uint32_t n = 0;

	assert_int_equal(ibcc_cycle_readback(&x->l.c, &x->l.why), 0);
	for (uint32_t i = 0; i < x->l.c.actual.n; i++)
		n += x->l.c.actual.ep[i].cct.limit > 0;
	assert_int_equal(n > 0, tuned);
}

/* A state file of a release that did not say what settings are for. */
static void forget_control(struct orphans *x)
{
	assert_int_equal(ibcc_state_note_set(x->l.state, "control", ""), 0);
}

/* The traffic ended with the daemon, or before it came back: the new tuner goes on with the root,
 * or only keeps its settings for a while, and takes them off in the end.
 */
static void test_killed_then_quiet(void **state)
{
	struct orphans x;

	(void)state;
	for (int known = 0; known < 2; known++) {
		start(&x, known ? "known.db" : "quiet.db");
		traffic(&x, false);
		if (!known)
			forget_control(&x);
		restart(&x);
		loop_passes(&x.l, 5);
		if (known) {
			assert_int_equal(loop_found(&x.l.c), IBCC_SITUATION_CONTROLLED);
			assert_int_equal(x.l.c.target.decisions.situation.roots, 1);
		} else {
			assert_int_equal(x.l.c.target.decisions.n_left, 5);
			assert_false(x.l.c.target.decisions.left_goes);
		}
		assert_tuned(&x, true); /* it may be what holds congestion back */
		loop_passes(&x.l, QUIET_PASSES);
		assert_as_before(&x);
		assert_int_equal(x.l.c.plan.n, 0);
		assert_int_equal(loop_found(&x.l.c), IBCC_SITUATION_NO_CONGESTION);
		assert_int_equal(x.l.c.target.decisions.n_left, 0);
		finish(&x);
	}
}

/* The traffic goes on: what was left goes on with it, as nothing gives a reason to touch it; and
 * what the new tuner leaves behind at last is not what the old one had set.
 */
static void test_killed_under_load(void **state)
{
	struct orphans x;
	struct loop_rates r;
	unsigned int n;

	(void)state;
	start(&x, "load.db");
	loop_passes(&x.l, 25);
	restart(&x);
	loop_passes(&x.l, 1);
	n = x.l.n_changes;
	loop_measure(&x.l);
	loop_passes(&x.l, 3 * QUIET_PASSES);
	r = loop_rates(&x.l);
	assert_int_equal(x.l.n_changes, n);
	assert_true(r.hot > 0.95 * DRAIN_MBYTES);
	assert_true(r.victim > 2 * 623);
	assert_tuned(&x, true);
	traffic(&x, false);
	loop_passes(&x.l, 3 * QUIET_PASSES);
	assert_as_before(&x);
	finish(&x);
}

/* Two adapters come to have each other's LIDs, those that know the way to them and those that
 * answer at them.
 */
static void swap_lids(struct ibcc_topo *t, const char *a, const char *b)
{
	uint32_t p = t->node[ibcc_topo_find_desc(t, a)].first_port + 1;
	uint32_t q = t->node[ibcc_topo_find_desc(t, b)].first_port + 1;
	uint16_t p_lid = t->port[p].lid, q_lid = t->port[q].lid;

	assert_int_not_equal(p_lid, q_lid);
	ibcc_topo_clear_lid(t, p);
	ibcc_topo_clear_lid(t, q);
	assert_int_equal(ibcc_topo_set_lid(t, p, q_lid, 0), 0);
	assert_int_equal(ibcc_topo_set_lid(t, q, p_lid, 0), 0);
}

/* A link goes and comes back: twice another topology, and other LIDs. */
static void test_flap(void **state)
{
	struct orphans x;
	struct ibcc_topo *t;

	(void)state;
	start(&x, "flap.db");
	t = ibcc_topo_clone(x.l.sc.topo);
	t->generation = 2;
	ibcc_topo_unlink(t, t->node[ibcc_topo_find_desc(t, "destination0")].first_port + 1);
	assert_int_equal(ibcc_cycle_set_topology(&x.l.c, t), 0);
	loop_passes(&x.l, 3);
	traffic(&x, false);
	swap_lids(x.l.sc.topo, "source1", "source4");
	t = ibcc_topo_clone(x.l.sc.topo);
	t->generation = 3;
	assert_int_equal(ibcc_cycle_set_topology(&x.l.c, t), 0);
	loop_passes(&x.l, 3 * QUIET_PASSES);
	assert_as_before(&x);
	finish(&x);
}

/* A daemon that only observes says what is left, and writes nothing. */
static void test_observer(void **state)
{
	struct orphans x;
	struct ibcc_act act = { .who = "test",
				.action = "tune",
				.gate = IBCC_PRECHECK_NODES_OF_TREE };
	uint64_t sets;

	(void)state;
	start(&x, "observer.db");
	traffic(&x, false);
	forget_control(&x);
	restart(&x);
	act.applier = x.l.null;
	act.state = x.l.state;
	sets = x.l.tr->stats.sets;
	for (unsigned int i = 0; i < QUIET_PASSES; i++) {
		assert_int_equal(
			ibcc_engine_run(x.l.engine, ibcc_engine_now_ps(x.l.engine) + PASS_PS), 0);
		assert_int_equal(ibcc_cycle_run(&x.l.c, &act, &x.l.why), 0);
	}
	assert_true(x.l.c.plan.n > 0);
	assert_non_null(strstr(x.l.c.plan.change[0].reason, "previously applied"));
	assert_int_equal(x.l.tr->stats.sets, sets);
	finish(&x);
}

/* A node that started anew, whatever its counters look like: what was taken from it is noticed and
 * given back within few passes, and then nothing is amiss any more.
 */
static void test_node_starts_anew(void **state)
{
	static const char *const nodes[] = { "source2", "leaf2" };
	struct ibcc_settings held;
	struct orphans x;

	(void)state;
	start(&x, "anew.db");
	loop_passes(&x.l, 25);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(ibcc_settings_copy(&held, &x.l.c.actual), 0);
		assert_int_equal(
			ibcc_agents_forget(x.l.agents, ibcc_topo_find_desc(x.l.sc.topo, nodes[i])),
			0);
		loop_passes(&x.l, 18);
		assert_int_equal(x.l.c.audit.drift.n, 0);
		assert_int_equal(ibcc_cycle_readback(&x.l.c, &x.l.why), 0);
		loop_assert_same(&held, &x.l.c.actual);
		ibcc_settings_fini(&held);
	}
	finish(&x);
}

/* The same where the books are lost, and what was left is found as it should be: nothing is
 * written, so it stands in no book.
 */
static void test_what_was_there_starts_anew(void **state)
{
	static const char *const nodes[] = { "source2", "leaf2" };
	struct ibcc_settings held;
	struct orphans x;
	unsigned int n;

	(void)state;
	start(&x, "there.db");
	loop_passes(&x.l, 25);
	x.db = "aside.db";
	restart(&x);
	n = x.l.n_changes;
	loop_passes(&x.l, 12);
	assert_int_equal(x.l.n_changes, n);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(ibcc_settings_copy(&held, &x.l.c.actual), 0);
		assert_int_equal(
			ibcc_agents_forget(x.l.agents, ibcc_topo_find_desc(x.l.sc.topo, nodes[i])),
			0);
		loop_passes(&x.l, 12);
		assert_int_equal(ibcc_cycle_readback(&x.l.c, &x.l.why), 0);
		loop_assert_same(&held, &x.l.c.actual);
		ibcc_settings_fini(&held);
	}
	finish(&x);
}

static void repairing_passes(struct orphans *x, unsigned int n)
{
	const struct ibcc_act act = { .applier = x->l.direct,
				      .state = x->l.state,
				      .who = "test",
				      .action = "tune",
				      .gate = IBCC_PRECHECK_NODES_OF_TREE,
				      .repair = true };

	for (unsigned int i = 0; i < n; i++) {
		assert_int_equal(
			ibcc_engine_run(x->l.engine, ibcc_engine_now_ps(x->l.engine) + PASS_PS), 0);
		assert_int_equal(ibcc_cycle_run(&x->l.c, &act, &x->l.why), 0);
	}
}

/* A node that was away when the daemon began comes back without what an earlier one had set: made
 * good by the books (drift: repair), it is what was left all the same, and goes.
 */
static void test_repaired_late(void **state)
{
	uint32_t node;
	struct orphans x;

	(void)state;
	start(&x, "late.db");
	node = ibcc_topo_find_desc(x.l.sc.topo, "source2");
	traffic(&x, false);
	assert_int_equal(ibcc_agents_set_loss(x.l.agents, node, 1000), 0);
	assert_int_equal(ibcc_agents_forget(x.l.agents, node), 0);
	restart(&x);
	repairing_passes(&x, 3);
	assert_int_equal(ibcc_agents_set_loss(x.l.agents, node, 0), 0);
	repairing_passes(&x, 4 * QUIET_PASSES);
	assert_tuned(&x, false);
	finish(&x);
}

/* The daemon was killed while it wrote to a node, whose settings are then unknown, and which
 * does not answer when the next one begins: what it has is found out later, and goes as well.
 */
static void test_settled_late(void **state)
{
	char sql[768];
	uint32_t node;
	struct orphans x;

	(void)state;
	start(&x, "settled.db");
	node = ibcc_topo_find_desc(x.l.sc.topo, "source2");
	traffic(&x, false);
	/* With their checksums, as the daemon would have left them. */
	snprintf(sql, sizeof(sql),
		 "UPDATE txn AS t SET outcome = 'interrupted', sum = " IBCC_STATE_TXN_SUM(
			 "t.undone_by",
			 "'interrupted'") " WHERE action = 'tune';"
					  "UPDATE change AS c SET outcome = 'pending', sum "
					  "= " IBCC_STATE_CHANGE_SUM(
						  "'pending'") " WHERE node_guid = %lld",
		 (long long)x.l.sc.topo->node[node].guid);
	assert_int_equal(sqlite3_exec(x.l.state->db, sql, NULL, NULL, NULL), 0);
	assert_int_equal(ibcc_agents_set_loss(x.l.agents, node, 1000), 0);
	restart(&x);
	loop_passes(&x.l, 3);
	assert_int_equal(ibcc_agents_set_loss(x.l.agents, node, 0), 0);
	loop_passes(&x.l, 4 * QUIET_PASSES);
	assert_as_before(&x);
	finish(&x);
}

static void set_read_only(struct orphans *x, bool on)
{
	assert_int_equal(sqlite3_exec(x->l.state->db,
				      on ? "PRAGMA query_only = 1" : "PRAGMA query_only = 0", NULL,
				      NULL, NULL),
			 0);
	if (on)
		assert_int_equal(ibcc_state_note_set(x->l.state, "any", "thing"), -EIO);
}

static int64_t n_changes_on_disk(struct orphans *x)
{
	json_t *list;
	int err = 0;
	int64_t n;

	list = ibcc_state_history(x->l.state, 1000, &err);
	assert_non_null(list);
	n = (int64_t)json_array_size(list);
	json_decref(list);
	return n;
}

/* The disk takes nothing any more: what is on goes when nothing needs it, unrecorded, and nothing
 * new comes, until there is a book to write it in.
 */
static void test_without_a_book(void **state)
{
	struct orphans x;
	uint64_t sets;
	int64_t n;

	(void)state;
	start(&x, "full.db");
	n = n_changes_on_disk(&x);
	set_read_only(&x, true);
	traffic(&x, false);
	loop_passes(&x.l, 3 * QUIET_PASSES);
	assert_as_before(&x);
	assert_int_equal(n_changes_on_disk(&x), n);
	assert_true(ibcc_state_is_ahead(x.l.state));

	sets = x.l.tr->stats.sets;
	traffic(&x, true);
	loop_passes(&x.l, 10);
	assert_true(x.l.c.plan.n > 0);
	assert_int_equal(x.l.c.act_err, -EIO);
	assert_non_null(strstr(x.l.c.blocked.text, "writable"));
	assert_int_equal(x.l.tr->stats.sets, sets);
	assert_as_before(&x);

	set_read_only(&x, false);
	loop_passes(&x.l, 10);
	assert_int_equal(x.l.c.act_err, 0);
	assert_tuned(&x, true);
	assert_false(ibcc_state_is_ahead(x.l.state));
	assert_true(n_changes_on_disk(&x) > n + 1);
	loop_passes(&x.l, 60);
	assert_int_equal(x.l.c.audit.drift.n, 0);
	finish(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_killed_then_quiet),
		cmocka_unit_test(test_killed_under_load),
		cmocka_unit_test(test_flap),
		cmocka_unit_test(test_observer),
		cmocka_unit_test(test_node_starts_anew),
		cmocka_unit_test(test_what_was_there_starts_anew),
		cmocka_unit_test(test_repaired_late),
		cmocka_unit_test(test_settled_late),
		cmocka_unit_test(test_without_a_book),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
