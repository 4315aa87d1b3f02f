/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A rollback or a disable that does not reach a node is completed when it can be reached. */
#include "services.h"

#include "lib/state/state_db.h"

#define LUSTRE  "perftest/scenarios/lustre.yaml"
#define PASS_PS (1000 * IBCC_PS_PER_US)

struct owed {
	struct loop l;
	struct ibcc_service *s;
	struct ibcc_settings before;
	struct ibcc_why why;
	uint32_t node; /* source2 */
};

static void adopt(struct owed *x, struct ibcc_topo *t)
{
	assert_int_equal(ibcc_cycle_set_topology(&x->s->cycle, t), 0);
}

static void passes(struct owed *x, unsigned int n)
{
	while (n--)
		assert_int_equal(services_pass(&x->l, x->s, PASS_PS, &x->why), 0);
}

/* A daemon that observes, and an apply of what it recommends. */
static void start(struct owed *x, const char *file)
{
	struct ibcc_request r = { .who = "test" };
	struct ibcc_config c;

	*x = (struct owed){ 0 };
	loop_open(&x->l, LUSTRE, &loop_hardware, NULL);
	services_config(&c);
	snprintf(c.state_file, sizeof(c.state_file), "%.200s", files_path(file));
	c.mode = IBCC_MODE_OBSERVE;
	x->s = services_open(&x->l, &c);
	x->node = ibcc_topo_find_desc(x->l.sc.topo, "source2");
	adopt(x, ibcc_topo_clone(x->l.sc.topo));
	assert_int_equal(ibcc_cycle_readback(&x->s->cycle, &x->why), 0);
	assert_int_equal(ibcc_settings_copy(&x->before, &x->s->cycle.actual), 0);
	for (unsigned int i = 0; !x->s->set_mads; i++) {
		assert_true(i < 50);
		assert_int_equal(
			ibcc_engine_run(x->l.engine, ibcc_engine_now_ps(x->l.engine) + PASS_PS), 0);
		x->s->again.last_ns = ibcc_now_ns();
		assert_int_equal(ibcc_service_pass(x->s, &r, &x->why), 0);
	}
	passes(x, 10);
}

static void finish(struct owed *x)
{
	ibcc_settings_fini(&x->before);
	services_close(&x->l, x->s);
	loop_end(&x->l);
}

/* Is the fabric as it was before us, but for source2? */
static void assert_back(struct owed *x, bool source2)
{
	uint32_t e = x->l.sc.topo->port[x->l.sc.topo->node[x->node].first_port + 1].endport;
	const struct ibcc_settings *now = &x->s->cycle.actual;

	assert_int_equal(ibcc_cycle_readback(&x->s->cycle, &x->why), 0);
	for (uint32_t i = 0; i < now->n; i++)
		assert_int_equal(now->ep[i].cct.limit == x->before.ep[i].cct.limit,
				 i != e || source2);
}

/* A node that is there and keeps what it was to lose makes the state degraded; one that is away
 * does not.
 */
static void assert_owed_there(struct owed *x, json_int_t n, bool present, const char *state)
{
	json_t *o = ibcc_service_status(x->s);
	const json_t *owed = json_object_get(o, "owed");
	struct ibcc_metrics_service m;

	ibcc_service_metrics(x->s, &m);
	assert_int_equal(m.owed_present, present ? n : 0);
	assert_int_equal(m.owed_away, present ? 0 : n);
	assert_int_equal(json_integer_value(json_object_get(owed, "endports")), n);
	assert_int_equal(json_is_string(json_object_get(owed, "text")), n > 0);
	if (strcmp(json_string_value(json_object_get(o, "state")), state) != 0)
		print_message("%s\n", json_string_value(json_object_get(o, "reason")));
	assert_string_equal(json_string_value(json_object_get(o, "state")), state);
	json_decref(o);
}

static void assert_owed(struct owed *x, json_int_t n, const char *state)
{
	assert_owed_there(x, n, strcmp(state, "ok") != 0, state);
}

static int take_back(struct owed *x, bool off)
{
	struct ibcc_request r = { .who = "test" };
	json_t *out = NULL;
	int rc = off ? ibcc_service_disable(x->s, &r, &out, &x->why)
		     : ibcc_service_rollback(x->s, 0, &r, &out, &x->why);

	json_decref(out);
	return rc;
}

/* A node refuses: it is tried again, less and less often, and the state is degraded. */
static void test_refuses(void **state)
{
	struct ibcc_agent_quirks *q;
	struct owed x;
	uint64_t sets;

	(void)state;
	for (int off = 0; off < 2; off++) {
		start(&x, off ? "refuses-off.db" : "refuses.db");
		q = ibcc_agents_quirks(x.l.agents, x.node);
		q->set_status = IBCC_MAD_STATUS_BAD_FIELD;
		assert_int_not_equal(take_back(&x, off), 0);
		assert_non_null(strstr(x.why.text, "ibcc-tuned does the rest"));
		assert_owed(&x, 1, "degraded");
		passes(&x, 2);
		sets = x.s->set_mads;
		passes(&x, 60);
		assert_in_range(x.s->set_mads - sets, 1, 60);
		assert_owed(&x, 1, "degraded");
		q->set_status = 0;
		passes(&x, 64);
		assert_back(&x, true);
		passes(&x, 1);
		assert_owed(&x, 0, "ok");
		finish(&x);
	}
}

/* A node has no LID, which is as if it were away; and it is back with another daemon. */
static void test_away(void **state)
{
	struct ibcc_topo *t;
	struct owed x;

	(void)state;
	for (int off = 0; off < 2; off++) {
		start(&x, off ? "away-off.db" : "away.db");
		t = ibcc_topo_clone(x.l.sc.topo);
		t->port[t->node[x.node].first_port + 1].lid = 0;
		t->generation++;
		adopt(&x, t);
		passes(&x, 3);
		assert_int_equal(take_back(&x, off), -EHOSTUNREACH);
		passes(&x, 3);
		assert_owed(&x, 1, "ok");
		adopt(&x, ibcc_topo_clone(x.l.sc.topo));
		assert_back(&x, false);
		passes(&x, 2);
		assert_owed(&x, 0, "ok");
		assert_back(&x, true);
		/* Whatever is repeated has nothing left to do. */
		assert_int_equal(take_back(&x, off), 0);
		finish(&x);
	}
}

/* The next commit of the state file fails, and those behind it do not. */
static int fail_once(void *left)
{
	unsigned int *n = left;

	return *n ? (int)(*n)-- : 0;
}

/* A rollback or a disable that cannot be stored before it writes is carried out all the same. What
 * it owes hangs on an entry of the history of its own, not on the one before it.
 */
static void test_unstored(void **state)
{
	struct ibcc_agent_quirks *q;
	struct owed x;

	(void)state;
	for (int off = 0; off < 2; off++) {
		unsigned int left = 1;
		int64_t before;
		int err = 0;
		json_t *o;

		start(&x, off ? "unstored-off.db" : "unstored.db");
		q = ibcc_agents_quirks(x.l.agents, x.node);
		q->set_status = IBCC_MAD_STATUS_BAD_FIELD;
		before = ibcc_state_newest(x.s->state);
		sqlite3_commit_hook(x.s->state->db, fail_once, &left);
		assert_int_not_equal(take_back(&x, off), 0);
		sqlite3_commit_hook(x.s->state->db, NULL, NULL);
		assert_int_equal(left, 0);
		assert_int_equal(x.s->debts.list.n, 1);
		assert_true(x.s->debts.list.debt[0].txn > before);
		o = ibcc_state_transaction(x.s->state, x.s->debts.list.debt[0].txn, &err);
		assert_string_equal(json_string_value(json_object_get(o, "action")),
				    off ? "disable" : "rollback");
		assert_string_equal(json_string_value(json_object_get(o, "who")), "test");
		json_decref(o);
		q->set_status = 0;
		passes(&x, 64);
		assert_owed(&x, 0, "ok");
		assert_back(&x, true);
		finish(&x);
	}
}

static void assert_reason(struct owed *x, const char *begin)
{
	json_t *o = ibcc_service_status(x->s);
	const char *reason = json_string_value(json_object_get(o, "reason"));

	assert_non_null(reason);
	assert_memory_equal(reason, begin, strlen(begin));
	json_decref(o);
}

/* Of two nodes with one GUID the first was written. When there is one, it may be the other. */
static void test_shared(void **state)
{
	struct ibcc_settings held = { 0 };
	struct ibcc_plan plan = { 0 };
	struct ibcc_target target = { 0 };
	struct ibcc_result r = { 0 };
	struct owed x;

	(void)state;
	for (int off = 0; off < 2; off++) {
		start(&x, off ? "shared-off.db" : "shared.db");
		assert_int_equal(ibcc_cycle_readback(&x.s->cycle, &x.why), 0);
		assert_int_equal(ibcc_settings_copy(&held, &x.s->cycle.actual), 0);
		x.s->discovery.shared.n = 1;
		x.s->discovery.shared.guid[0] = x.l.sc.topo->node[x.node].guid;
		ibcc_why_set(&x.s->discovery.text, 0, "two nodes have it");
		snprintf(x.s->discovery.shared_text, sizeof(x.s->discovery.shared_text),
			 "GUID 1 is here and there");
		assert_int_equal(take_back(&x, off), -EHOSTUNREACH);
		passes(&x, 2);
		assert_owed_there(&x, 1, false, "degraded");
		assert_reason(&x, "two nodes have one GUID: GUID 1 is here and there;");
		/* The other one has what it had. */
		assert_back(&x, true);
		assert_int_equal(ibcc_settings_copy(&target.wanted, &x.s->cycle.actual), 0);
		for (uint32_t i = 0; i < held.n; i++) {
			uint32_t at = x.l.sc.topo->port[x.l.sc.topo->endport[i]].node;

			if (at != x.node)
				continue;
			target.wanted.ep[i].ca = held.ep[i].ca;
			target.wanted.ep[i].cct = held.ep[i].cct;
		}
		assert_int_equal(ibcc_planner_run(x.l.sc.topo, &x.s->cycle.actual, &target, &plan),
				 0);
		assert_true(plan.n > 0);
		assert_int_equal(ibcc_result_init(&r, plan.n), 0);
		assert_int_equal(ibcc_applier_run(x.s->applier, &plan, &r, &x.why), 0);
		assert_back(&x, false);
		/* As the next walk that finds one of them. */
		ibcc_discovery_reset(&x.s->discovery);
		x.s->cycle.actual_known = false;
		passes(&x, 2);
		assert_owed(&x, 0, "ok");
		assert_back(&x, true);
		ibcc_result_fini(&r);
		ibcc_plan_fini(&plan);
		ibcc_target_fini(&target);
		ibcc_settings_fini(&held);
		finish(&x);
	}
}

/* A trial is over with a node away: the rest is owed, and not tried again and again. */
static void test_trial(void **state)
{
	struct ibcc_request r = { .who = "test", .confirm_s = 3600 };
	struct ibcc_topo *t;
	json_t *out = NULL;
	struct owed x;

	(void)state;
	start(&x, "trial.db");
	assert_int_equal(take_back(&x, false), 0);
	for (unsigned int i = 0; !x.s->trial.txn; i++) {
		assert_true(i < 50);
		assert_int_equal(
			ibcc_engine_run(x.l.engine, ibcc_engine_now_ps(x.l.engine) + PASS_PS), 0);
		x.s->again.last_ns = ibcc_now_ns();
		assert_int_equal(ibcc_service_pass(x.s, &r, &x.why), 0);
	}
	t = ibcc_topo_clone(x.l.sc.topo);
	t->port[t->node[x.node].first_port + 1].lid = 0;
	t->generation++;
	adopt(&x, t);
	assert_int_equal(ibcc_service_end_trial(x.s, NULL, &out, &x.why), -EHOSTUNREACH);
	json_decref(out);
	assert_int_equal(x.s->trial.txn, 0);
	adopt(&x, ibcc_topo_clone(x.l.sc.topo));
	passes(&x, 2);
	assert_owed(&x, 0, "ok");
	assert_back(&x, true);
	finish(&x);
}

static uint32_t node_of(const struct owed *x, const char *name)
{
	uint32_t node = ibcc_topo_find_desc(x->l.sc.topo, name);

	assert_int_not_equal(node, IBCC_NONE);
	return node;
}

/* Is `text` in what the status says of debts? */
static bool owed_says(struct owed *x, const char *text)
{
	json_t *o = ibcc_service_status(x->s);
	const char *owed = json_string_value(json_object_get(json_object_get(o, "owed"), "text"));
	bool is = owed && strstr(owed, text);

	if (!is)
		print_message("not in \"%s\"\n", owed ? owed : "");
	json_decref(o);
	return is;
}

/* Each node is named with what keeps it from being changed, not with what keeps the first. */
static void test_causes(void **state)
{
	struct owed x;

	(void)state;
	start(&x, "causes.db");
	ibcc_agents_quirks(x.l.agents, x.node)->set_status = IBCC_MAD_STATUS_BAD_FIELD;
	ibcc_agents_quirks(x.l.agents, node_of(&x, "source3"))->status = IBCC_MAD_STATUS_BAD_FIELD;
	assert_int_not_equal(take_back(&x, false), 0);
	passes(&x, 3);
	assert_owed(&x, 2, "degraded");
	assert_true(owed_says(&x, "2 nodes still have settings that transaction "));
	assert_true(owed_says(&x, "\"source2\" 0x0000000200000200: refuses the values"));
	assert_true(owed_says(&x, "\"source3\" 0x0000000200000300: refuses congestion control "
				  "requests"));
	ibcc_agents_quirks(x.l.agents, x.node)->set_status = 0;
	passes(&x, 64);
	assert_true(owed_says(&x, "\"source3\" 0x0000000200000300 still has settings"));
	assert_false(owed_says(&x, "source2"));
	ibcc_agents_quirks(x.l.agents, node_of(&x, "source3"))->status = 0;
	passes(&x, 64);
	assert_owed(&x, 0, "ok");
	assert_back(&x, true);
	finish(&x);
}

/* A value that no node may be given keeps its own node owing, and no other one. */
static void test_beyond_bounds(void **state)
{
	struct ibcc_topo *t;
	struct owed x;

	(void)state;
	start(&x, "bounds.db");
	t = ibcc_topo_clone(x.l.sc.topo);
	t->port[t->node[x.node].first_port + 1].lid = 0;
	t->port[t->node[node_of(&x, "source3")].first_port + 1].lid = 0;
	t->generation++;
	adopt(&x, t);
	passes(&x, 3);
	assert_int_equal(take_back(&x, false), -EHOSTUNREACH);
	/* With two nodes unread the daemon sees too little. */
	assert_owed_there(&x, 2, false, "degraded");
	/* A table with a delay at its beginning, in a row whose checksum is right. */
	assert_int_equal(
		sqlite3_exec(x.s->state->db,
			     "UPDATE change AS c SET old = CAST(substr(old, 1, 4) ||"
			     " x'0001' || substr(old, 7) AS BLOB) WHERE node = 'source2'"
			     " AND attr_id = 23 AND attr_mod = 0;"
			     "UPDATE change AS c SET sum = " IBCC_STATE_CHANGE_SUM("c.outcome"),
			     NULL, NULL, NULL),
		SQLITE_OK);
	x.s->state->book_fresh = false;
	adopt(&x, ibcc_topo_clone(x.l.sc.topo));
	passes(&x, 3);
	assert_back(&x, false);
	assert_owed(&x, 1, "degraded");
	assert_true(owed_says(&x, "\"source2\" 0x0000000200000200 still has settings"));
	assert_true(owed_says(&x, "beyond the bounds"));
	assert_int_equal(take_back(&x, true), 0);
	assert_owed(&x, 0, "ok");
	finish(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refuses),  cmocka_unit_test(test_away),
		cmocka_unit_test(test_shared),   cmocka_unit_test(test_trial),
		cmocka_unit_test(test_causes),   cmocka_unit_test(test_beyond_bounds),
		cmocka_unit_test(test_unstored),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
