/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* An apply that a user asks for ends with roots that hold, by every way of applying, in mode
 * observe too, and whatever happens to the daemon on the way.
 */
#include "services.h"

#include <ibcc/control_json.h>
#include <ibcc/json.h>
#include <ibcc/plan_file.h>

#define LUSTRE  "perftest/scenarios/lustre.yaml"
#define PASS_PS (1000 * IBCC_PS_PER_US)

static const struct ibcc_request me = { .who = "me" };

struct scene {
	struct loop l;
	struct ibcc_config c;
	struct ibcc_service *s;
	struct ibcc_settings before;
	struct ibcc_why why;
	struct loop_rates off; /* what flows got before anything was applied */
	json_t *plan;          /* as a file has it */
};

static struct ibcc_settings read_back(struct scene *x)
{
	struct ibcc_settings now;

	assert_int_equal(ibcc_cycle_readback(&x->s->cycle, &x->why), 0);
	assert_int_equal(ibcc_settings_copy(&now, &x->s->cycle.actual), 0);
	return now;
}

static void passes(struct scene *x, unsigned int n)
{
	while (n--)
		if (services_pass(&x->l, x->s, PASS_PS, &x->why))
			fail_msg("%s", x->why.text);
}

static void open_service(struct scene *x)
{
	x->s = services_open(&x->l, &x->c);
	assert_int_equal(ibcc_cycle_set_topology(&x->s->cycle, ibcc_topo_clone(x->l.sc.topo)), 0);
}

/* A daemon that has seen the congestion, and what flows get before it writes anything. */
static void open_scene(struct scene *x, const char *db, int mode)
{
	*x = (struct scene){ 0 };
	loop_open(&x->l, LUSTRE, &loop_hardware, NULL);
	services_config(&x->c);
	snprintf(x->c.state_file, sizeof(x->c.state_file), "%.200s", files_path(db));
	x->c.mode = IBCC_MODE_OBSERVE;
	open_service(x);
	x->before = read_back(x);
	passes(x, 15);
	loop_measure(&x->l);
	passes(x, 10);
	x->off = loop_rates(&x->l);
	x->s->config.mode = mode;
}

static void close_scene(struct scene *x)
{
	json_decref(x->plan);
	ibcc_settings_fini(&x->before);
	services_close(&x->l, x->s);
	loop_end(&x->l);
}

/* The daemon ends, and another one starts. */
static void restart(struct scene *x)
{
	int mode = x->s->config.mode;

	x->l.tr = x->s->transport;
	x->s->transport = NULL;
	ibcc_service_free(x->s);
	open_service(x);
	x->s->config.mode = mode;
	assert_int_equal(ibcc_service_open_state(x->s, &x->why), 0);
}

static void make_plan(struct scene *x)
{
	for (unsigned int i = 0; !json_integer_value(json_object_get(x->plan, "writes")); i++) {
		assert_true(i < 50);
		passes(x, 1);
		json_decref(x->plan);
		assert_int_equal(ibcc_service_plan(x->s, true, &x->plan, &x->why), 0);
		x->plan = ibcc_json_unfold(x->plan);
	}
}

static int apply_plan(struct scene *x, const struct ibcc_request *r)
{
	struct ibcc_control control;
	struct ibcc_plan plan;
	json_t *out = NULL;
	int rc;

	assert_int_equal(ibcc_plan_file_read(json_object_get(x->plan, "data"), &plan, &x->why), 0);
	assert_int_equal(ibcc_control_read(json_object_get(x->plan, "control"), &control, &x->why),
			 0);
	rc = ibcc_service_apply_plan(x->s, &plan, &control, r, &out, &x->why);
	ibcc_control_fini(&control);
	ibcc_plan_fini(&plan);
	json_decref(out);
	return rc;
}

static const char *stage(const struct scene *x, json_t **status)
{
	json_decref(*status);
	*status = ibcc_service_status(x->s);
	return json_string_value(json_object_get(json_object_get(*status, "apply"), "stage"));
}

/* Passes until an apply is complete, how it ended. */
static void complete(struct scene *x, const char *how)
{
	json_t *status = NULL;
	unsigned int n = 0;

	while (!strcmp(stage(x, &status), "refining")) {
		assert_true(n++ < 250);
		passes(x, 1);
	}
	print_message("%u passes: %s\n", n,
		      json_string_value(json_object_get(json_object_get(status, "apply"), "text")));
	assert_string_equal(stage(x, &status), how);
	json_decref(status);
}

/* Both flows have what the study's best settings give, and better. */
static void assert_good(struct scene *x)
{
	struct loop_rates now;

	passes(x, 10);
	loop_measure(&x->l);
	passes(x, 40);
	now = loop_rates(&x->l);
	assert_true(now.hot >= 0.99 * x->off.hot);
	assert_true(now.victim >= 3.2 * x->off.victim);
}

/* One transaction that stands, with an effect; all is as before it when it is rolled back. */
static void assert_one_transaction(struct scene *x, const char *who)
{
	const json_t *list, *txn;
	struct ibcc_settings now;
	json_t *out = NULL;
	int64_t id;

	assert_int_equal(ibcc_service_history(x->s, 0, 100, false, &out, &x->why), 0);
	list = json_object_get(out, "transactions");
	assert_int_equal(json_array_size(list), 1);
	txn = json_array_get(list, 0);
	id = json_integer_value(json_object_get(txn, "id"));
	assert_string_equal(json_string_value(json_object_get(txn, "action")), "apply");
	assert_string_equal(json_string_value(json_object_get(txn, "outcome")), "done");
	assert_string_equal(json_string_value(json_object_get(txn, "who")), who);
	assert_non_null(strstr(json_string_value(json_object_get(txn, "summary")), "leaf2 port 2"));
	txn = json_object_get(json_object_get(txn, "effect"), "after");
	assert_true(json_integer_value(json_object_get(txn, "total_mbps")) > 30000);
	json_decref(out);
	out = NULL;
	assert_int_equal(ibcc_service_rollback(x->s, id, &me, &out, &x->why), 0);
	json_decref(out);
	now = read_back(x);
	loop_assert_same(&x->before, &now);
	ibcc_settings_fini(&now);
	passes(x, 20);
	now = read_back(x);
	loop_assert_same(&x->before, &now);
	ibcc_settings_fini(&now);
}

static void test_plan(void **state)
{
	struct scene x;

	(void)state;
	open_scene(&x, "plan.db", IBCC_MODE_OBSERVE);
	make_plan(&x);
	assert_int_equal(apply_plan(&x, &me), 0);
	complete(&x, "settled");
	assert_good(&x);
	assert_one_transaction(&x, "me");
	close_scene(&x);
}

/* The apply of a pass, as without a question: -y. */
static void apply_now(struct scene *x, const struct ibcc_request *r)
{
	for (unsigned int i = 0; !x->s->set_mads; i++) {
		assert_true(i < 50);
		assert_int_equal(
			ibcc_engine_run(x->l.engine, ibcc_engine_now_ps(x->l.engine) + PASS_PS), 0);
		x->s->again.last_ns = ibcc_now_ns();
		if (ibcc_service_pass(x->s, r, &x->why))
			fail_msg("%s", x->why.text);
	}
	assert_int_equal(x->s->cycle.act_err, 0);
}

static void test_pass(void **state)
{
	struct scene x;

	(void)state;
	open_scene(&x, "pass.db", IBCC_MODE_OBSERVE);
	apply_now(&x, &me);
	complete(&x, "settled");
	assert_good(&x);
	assert_one_transaction(&x, "me");
	close_scene(&x);
}

/* In observe mode a daemon rests when the roots hold: whatever comes then, it recommends. */
static void test_rests(void **state)
{
	struct ibcc_settings then, now;
	struct scene x;
	uint64_t sets;

	(void)state;
	open_scene(&x, "rests.db", IBCC_MODE_OBSERVE);
	make_plan(&x);
	assert_int_equal(apply_plan(&x, &me), 0);
	complete(&x, "settled");
	sets = x.s->set_mads;
	then = read_back(&x);
	assert_int_equal(
		ibcc_engine_set_send_rate(
			x.l.engine,
			x.l.sc.topo->node[ibcc_topo_find_desc(x.l.sc.topo, "source1")].first_port +
				1,
			100),
		0);
	passes(&x, 150);
	assert_int_equal(x.s->set_mads, sets);
	now = read_back(&x);
	loop_assert_same(&then, &now);
	ibcc_settings_fini(&then);
	ibcc_settings_fini(&now);
	close_scene(&x);
}

/* In mode apply the tuner would go on anyway; the steps of the apply are one transaction. */
static void test_mode_apply(void **state)
{
	struct scene x;

	(void)state;
	open_scene(&x, "mode.db", IBCC_MODE_OBSERVE);
	make_plan(&x);
	x.s->config.mode = IBCC_MODE_APPLY;
	assert_int_equal(apply_plan(&x, &me), 0);
	complete(&x, "settled");
	assert_good(&x);
	assert_one_transaction(&x, "me");
	close_scene(&x);
}

/* On trial: steps are on trial with the first one, and confirmed with it; or all are taken back. */
static void test_trial(void **state)
{
	const struct ibcc_request try = { .who = "me", .confirm_s = 3600 };
	struct ibcc_settings now;
	json_t *out = NULL;
	struct scene x;

	(void)state;
	for (int confirmed = 0; confirmed < 2; confirmed++) {
		open_scene(&x, confirmed ? "confirmed.db" : "canceled.db", IBCC_MODE_OBSERVE);
		make_plan(&x);
		assert_int_equal(apply_plan(&x, &try), 0);
		assert_true(x.s->trial.txn > 0);
		if (confirmed) {
			complete(&x, "settled");
			assert_int_equal(ibcc_service_confirm(x.s, &me, &out, &x.why), 0);
			assert_good(&x);
			assert_one_transaction(&x, "me");
		} else {
			while (x.s->refinement.steps < 2)
				passes(&x, 1);
			assert_int_equal(ibcc_service_cancel_trial(x.s, &me, &out, &x.why), 0);
			complete(&x, "ended");
			passes(&x, 10);
			now = read_back(&x);
			loop_assert_same(&x.before, &now);
			ibcc_settings_fini(&now);
		}
		json_decref(out);
		out = NULL;
		close_scene(&x);
	}
}

/* Confirmed before it has settled: it is refined all the same. */
static void test_confirmed_early(void **state)
{
	const struct ibcc_request try = { .who = "me", .confirm_s = 3600 };
	json_t *out = NULL;
	struct scene x;

	(void)state;
	open_scene(&x, "early.db", IBCC_MODE_OBSERVE);
	make_plan(&x);
	assert_int_equal(apply_plan(&x, &try), 0);
	passes(&x, 2);
	assert_int_equal(ibcc_service_confirm(x.s, &me, &out, &x.why), 0);
	json_decref(out);
	complete(&x, "settled");
	assert_good(&x);
	assert_one_transaction(&x, "me");
	close_scene(&x);
}

/* A daemon that ends in the middle is of no consequence, whenever that is, and however it ends. */
static void test_restart(void **state)
{
	struct scene x;

	(void)state;
	for (unsigned int after = 0; after < 12; after++) {
		char db[32];

		snprintf(db, sizeof(db), "restart%u.db", after);
		open_scene(&x, db, IBCC_MODE_OBSERVE);
		make_plan(&x);
		assert_int_equal(apply_plan(&x, &me), 0);
		passes(&x, after);
		restart(&x);
		complete(&x, "settled");
		assert_good(&x);
		assert_one_transaction(&x, "me");
		close_scene(&x);
	}
}

/* When it has settled a restart leaves all as it is: what works is known to be ours. */
static void test_restart_later(void **state)
{
	struct scene x;
	uint64_t sets;

	(void)state;
	open_scene(&x, "later.db", IBCC_MODE_OBSERVE);
	make_plan(&x);
	assert_int_equal(apply_plan(&x, &me), 0);
	complete(&x, "settled");
	sets = x.s->set_mads;
	restart(&x);
	passes(&x, 5);
	loop_assert_controlled(&x.s->cycle, 1);
	assert_int_equal(x.s->cycle.plan.n, 0);
	passes(&x, 60);
	loop_assert_controlled(&x.s->cycle, 1);
	assert_int_equal(x.s->set_mads, 0);
	assert_true(sets > 0);
	assert_one_transaction(&x, "me");
	close_scene(&x);
}

/* A link comes loose and is plugged in again: twice another topology. */
static void flap(struct scene *x, const char *name, unsigned int between)
{
	struct ibcc_topo *t = ibcc_topo_clone(x->l.sc.topo);

	t->generation = 2;
	ibcc_topo_unlink(t, t->node[ibcc_topo_find_desc(t, name)].first_port + 1);
	assert_int_equal(ibcc_cycle_set_topology(&x->s->cycle, t), 0);
	passes(x, between);
	t = ibcc_topo_clone(x->l.sc.topo);
	t->generation = 3;
	assert_int_equal(ibcc_cycle_set_topology(&x->s->cycle, t), 0);
}

static void test_flap(void **state)
{
	static const char *const names[] = { "source1", "source4", "destination0" };
	struct scene x;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		char db[32];

		snprintf(db, sizeof(db), "flap%zu.db", i);
		open_scene(&x, db, IBCC_MODE_OBSERVE);
		make_plan(&x);
		assert_int_equal(apply_plan(&x, &me), 0);
		passes(&x, 3);
		flap(&x, names[i], 3);
		complete(&x, "settled");
		assert_good(&x);
		flap(&x, names[i], 5);
		passes(&x, 5);
		loop_assert_controlled(&x.s->cycle, 1);
		assert_good(&x);
		assert_one_transaction(&x, "me");
		close_scene(&x);
	}
}

/* A rollback in the middle ends it, in either mode. */
static void test_rollback(void **state)
{
	struct ibcc_settings now;
	json_t *out = NULL;
	struct scene x;

	(void)state;
	for (int disable = 0; disable < 2; disable++) {
		open_scene(&x, disable ? "disable.db" : "rollback.db", IBCC_MODE_OBSERVE);
		make_plan(&x);
		assert_int_equal(apply_plan(&x, &me), 0);
		passes(&x, 3);
		if (disable)
			assert_int_equal(ibcc_service_disable(x.s, &me, &out, &x.why), 0);
		else
			assert_int_equal(ibcc_service_rollback(x.s, 0, &me, &out, &x.why), 0);
		json_decref(out);
		out = NULL;
		complete(&x, "ended");
		restart(&x);
		passes(&x, 20);
		assert_int_equal(x.s->set_mads, 0);
		now = read_back(&x);
		for (uint32_t e = 0; e < now.n; e++)
			assert_false(ibcc_settings_are_on(&now.ep[e]));
		ibcc_settings_fini(&now);
		close_scene(&x);
	}
}

/* Any program may have written a file: writes that its roots do not need are refused. */
static void test_spoilt_plan(void **state)
{
	struct ibcc_settings now;
	json_t *root, *good, *data;
	struct scene x;

	(void)state;
	open_scene(&x, "spoilt.db", IBCC_MODE_OBSERVE);
	make_plan(&x);
	root = json_array_get(json_object_get(json_object_get(x.plan, "control"), "roots"), 0);
	good = json_deep_copy(root);
	json_object_set_new(root, "rate_mbps", json_integer(20000));
	assert_int_equal(apply_plan(&x, &me), -ESTALE);
	assert_non_null(strstr(x.why.text, "need another"));
	json_object_update(root, good);
	json_object_set_new(root, "port", json_integer(1));
	assert_true(apply_plan(&x, &me) < 0);
	json_object_update(root, good);
	json_array_clear(json_object_get(json_object_get(x.plan, "control"), "roots"));
	assert_int_equal(apply_plan(&x, &me), -EINVAL);
	assert_non_null(strstr(x.why.text, "no root there"));
	json_array_append_new(json_object_get(json_object_get(x.plan, "control"), "roots"), good);
	data = json_array_get(json_object_get(x.plan, "data"), 0);
	json_object_set_new(data, "reason", json_string("a reason of somebody's own"));
	assert_int_equal(x.s->set_mads, 0);
	now = read_back(&x);
	loop_assert_same(&x.before, &now);
	ibcc_settings_fini(&now);
	assert_int_equal(apply_plan(&x, &me), 0);
	assert_int_equal(ibcc_service_history(x.s, 1, 1, false, &good, &x.why), 0);
	good = ibcc_json_unfold(good);
	data = json_object_get(json_object_get(good, "transaction"), "change_list");
	assert_true(json_array_size(data) > 0);
	for (size_t i = 0; i < json_array_size(data); i++)
		assert_null(strstr(
			json_string_value(json_object_get(json_array_get(data, i), "reason")),
			"somebody"));
	json_decref(good);
	close_scene(&x);
}

/* Fast polling cycles between the others take an apply farther, but they do not use up its limit,
 * nor do they end a fight over settings. What was gained is measured by loads that are new at all
 * ports.
 */
static void test_fast(void **state)
{
	unsigned int n_fast = 0, n_whole = 0;
	json_t *status = NULL;
	struct scene x;
	uint64_t looks;

	(void)state;
	open_scene(&x, "fast.db", IBCC_MODE_OBSERVE);
	x.s->cycle.options.focus_nodes = 48;
	make_plan(&x);
	passes(&x, 1);
	assert_int_equal(apply_plan(&x, &me), 0);
	passes(&x, 1);
	assert_int_equal(x.s->refinement.passes, 1);
	looks = x.s->repairs.counts.pass;
	for (unsigned int i = 0; i < 9; i++) {
		assert_int_equal(
			ibcc_engine_run(x.l.engine, ibcc_engine_now_ps(x.l.engine) + PASS_PS), 0);
		x.s->again.last_ns = ibcc_now_ns();
		assert_int_equal(ibcc_service_pass_fast(x.s, &x.why), 0);
		n_fast += x.s->cycle.fast;
		n_whole += !x.s->cycle.fast;
	}
	assert_true(n_fast >= 6);
	assert_int_equal(x.s->refinement.passes, 1 + n_whole);
	assert_int_equal(x.s->repairs.counts.pass, looks + n_whole);
	assert_string_equal(stage(&x, &status), "refining");
	assert_true(x.s->effect.first);
	json_decref(status);
	complete(&x, "settled");
	assert_good(&x);
	assert_one_transaction(&x, "me");
	close_scene(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plan),        cmocka_unit_test(test_pass),
		cmocka_unit_test(test_rests),       cmocka_unit_test(test_mode_apply),
		cmocka_unit_test(test_trial),       cmocka_unit_test(test_confirmed_early),
		cmocka_unit_test(test_restart),     cmocka_unit_test(test_restart_later),
		cmocka_unit_test(test_flap),        cmocka_unit_test(test_rollback),
		cmocka_unit_test(test_spoilt_plan), cmocka_unit_test(test_fast),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
