/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* When the daemon writes marking profiles by itself, and when only for a person. */
#include "nvidia.h"

#include <ibcc/control_json.h>
#include <ibcc/json.h>
#include <ibcc/plan_file.h>

static bool reason_has(struct scene *x, const char *words)
{
	json_t *status = ibcc_service_status(x->s);
	const char *reason = json_string_value(json_object_get(status, "reason"));
	bool has = reason && strstr(reason, words);

	if (!has)
		print_message("# reason: %s\n", reason);
	json_decref(status);
	return has;
}

/* A person applies, as soon as there is something to write. */
static void apply_within(struct scene *x, uint32_t confirm_s)
{
	const struct ibcc_request r = { .who = "test",
					.skip_unsupported = true,
					.confirm_s = confirm_s };

	for (unsigned int i = 0;; i++) {
		unsigned int sets = x->line.n_sets;

		assert_true(i < 50);
		assert_int_equal(
			ibcc_engine_run(x->l.engine, ibcc_engine_now_ps(x->l.engine) + PASS_PS), 0);
		x->s->again.last_ns = ibcc_now_ns();
		if (ibcc_service_pass(x->s, &r, &x->why))
			fail_msg("%s", x->why.text);
		if (x->line.n_sets > sets)
			return;
	}
}

static void apply(struct scene *x)
{
	apply_within(x, 0);
}

/* The subnet manager is here, and its configuration leaves profiles alone. */
static void test_unattended(void **state)
{
	struct scene x;

	(void)state;
	open_scene(&x, "here.db", IBCC_MODE_APPLY, "h1", "mlnx_congestion_control 0\n");
	assert_true(writes(&x));
	assert_true(is_written(&x));
	close_scene(&x);
}

/* May the daemon write by itself now? */
static bool may_write(struct scene *x)
{
	passes(x, 1);
	return !x->s->cycle.veto.text[0];
}

/* Another subnet manager is master: what is there stays, and the daemon writes nothing by itself,
 * until that one is back or a person has looked at the new one.
 */
static void test_sm_moves(void **state)
{
	struct scene x;

	(void)state;
	open_scene(&x, "moves.db", IBCC_MODE_APPLY, "h1", "mlnx_congestion_control 0\n");
	passes(&x, 1);
	x.line.sm_lid = lid_of(&x, "n4");
	assert_false(writes(&x));
	assert_true(reason_has(&x, "the subnet manager is on \"n4\""));
	x.line.sm_lid = lid_of(&x, "h1");
	assert_true(writes(&x));

	x.line.sm_lid = lid_of(&x, "n4");
	assert_false(writes(&x));
	assert_true(is_written(&x));
	close_scene(&x);

	open_scene(&x, "moved.db", IBCC_MODE_APPLY, "n4", "mlnx_congestion_control 0\n");
	assert_false(writes(&x));
	apply(&x);
	assert_true(may_write(&x));
	restart(&x);
	assert_true(may_write(&x));
	x.line.sm_lid = lid_of(&x, "n3");
	assert_false(may_write(&x));
	assert_true(reason_has(&x, "the subnet manager is on \"n3\""));
	x.line.sm_lid = 4711; /* of no node that we know */
	assert_false(may_write(&x));
	x.line.sm_lid = lid_of(&x, "n4");
	assert_true(may_write(&x));
	close_scene(&x);
}

/* A host is searched for the subnet manager's port when that is another one, not in each pass. */
static void test_sm_is_searched_once(void **state)
{
	struct scene x;

	(void)state;
	n_searches = 0;
	open_scene(&x, "searched.db", IBCC_MODE_APPLY, "n4", "mlnx_congestion_control 0\n");
	passes(&x, 10);
	assert_int_equal(n_searches, 1);
	x.line.sm_lid = lid_of(&x, "n3");
	passes(&x, 10);
	assert_int_equal(n_searches, 2);
	/* Adapters can have moved from host to host. */
	x.s->n_discoveries++;
	passes(&x, 10);
	assert_int_equal(n_searches, 3);
	close_scene(&x);
}

/* Another subnet manager becomes master while an apply writes. The person has looked at the one
 * before.
 */
static void test_sm_moves_in_apply(void **state)
{
	struct scene x;

	(void)state;
	open_scene(&x, "within.db", IBCC_MODE_APPLY, "n4", "mlnx_congestion_control 0\n");
	x.line.then_sm_lid = lid_of(&x, "n3");
	apply(&x);
	assert_int_equal(x.line.sm_lid, x.line.then_sm_lid);
	x.line.then_sm_lid = 0;
	assert_false(may_write(&x));
	assert_true(reason_has(&x, "the subnet manager is on \"n3\""));
	x.line.sm_lid = lid_of(&x, "n4");
	assert_true(may_write(&x));
	close_scene(&x);
}

static bool has_consent(struct scene *x)
{
	char *noted = ibcc_state_note(x->s->state, "nvidia_sm");
	bool has = noted;

	free(noted);
	return has;
}

/* What is on trial is a consent only when it is confirmed, and then to the subnet manager of the
 * apply.
 */
static void test_consent_on_trial(void **state)
{
	const struct ibcc_request r = { .who = "test" };

	(void)state;
	for (unsigned int confirms = 0; confirms < 2; confirms++) {
		json_t *out = NULL;
		struct scene x;

		open_scene(&x, confirms ? "kept.db" : "canceled.db", IBCC_MODE_APPLY, "n4",
			   "mlnx_congestion_control 0\n");
		apply_within(&x, 600);
		assert_false(has_consent(&x));
		x.line.sm_lid = lid_of(&x, "n3");
		passes(&x, 1);
		assert_int_equal(confirms ? ibcc_service_confirm(x.s, &r, &out, &x.why)
					  : ibcc_service_cancel_trial(x.s, &r, &out, &x.why),
				 0);
		json_decref(out);
		assert_int_equal(has_consent(&x), confirms);
		if (confirms) {
			assert_false(may_write(&x));
			x.line.sm_lid = lid_of(&x, "n4");
			assert_true(may_write(&x));
		}
		close_scene(&x);
	}
}

/* A person has consented to a plan where no configuration could be read: there is no further step.
 */
static void test_consent_is_for_the_plan(void **state)
{
	static const int modes[] = { IBCC_MODE_OBSERVE, IBCC_MODE_APPLY };

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		uint8_t data[IBCC_CC_DATA_BYTES], now[IBCC_CC_DATA_BYTES];
		struct scene x;
		unsigned int sets;

		open_scene(&x, i ? "plan1.db" : "plan0.db", modes[i], "n4", NULL);
		apply(&x);
		sets = x.line.n_sets;
		profiles(&x, 1, data);
		passes(&x, 60);
		assert_int_equal(x.line.n_sets, sets);
		profiles(&x, 1, now);
		assert_memory_equal(now, data, sizeof(now));
		assert_int_equal(x.s->refinement.stage, IBCC_REFINE_ENDED);
		assert_non_null(strstr(x.s->refinement.text.text, "could not check"));
		/* Nor does it become a consent for all that comes. */
		assert_true(modes[i] == IBCC_MODE_OBSERVE || !may_write(&x));
		close_scene(&x);
	}
}

/* A plan as a client has it. */
struct shown {
	struct ibcc_plan plan;
	struct ibcc_control control;
	struct ibcc_request r;
};

/* Shows a person the plan, as soon as there is one. */
static void show_plan(struct scene *x, struct shown *p)
{
	json_t *o = NULL;

	*p = (struct shown){ .r = { .who = "test", .skip_unsupported = true } };
	for (unsigned int i = 0; !x->s->cycle.plan.n; i++) {
		assert_true(i < 50);
		passes(x, 1);
	}
	assert_int_equal(ibcc_service_plan(x->s, true, &o, &x->why), 0);
	o = ibcc_json_unfold(o);
	if (ibcc_plan_file_read(json_object_get(o, "data"), &p->plan, &x->why))
		fail_msg("%s", x->why.text);
	assert_int_equal(ibcc_control_read(json_object_get(o, "control"), &p->control, &x->why), 0);
	p->r.shown = ibcc_service_read_warned(json_object_get(o, "unchecked_sm"), &p->r.warned_sm);
	assert_true(p->r.shown);
	json_decref(o);
}

static int apply_shown(struct scene *x, const struct shown *p)
{
	json_t *out = NULL;
	int rc = ibcc_service_apply_plan(x->s, &p->plan, &p->control, &p->r, &out, &x->why);

	json_decref(out);
	return rc;
}

/* Looks at the plan as the client of a plan's file does; returns the number of warnings. */
static size_t look_again(struct scene *x, struct shown *p)
{
	json_t *o = NULL;
	size_t n;

	p->r.shown = false;
	assert_int_equal(ibcc_service_look_at_plan(x->s, &p->plan, &p->control, &p->r, &o, &x->why),
			 0);
	p->r.shown = ibcc_service_read_warned(json_object_get(o, "unchecked_sm"), &p->r.warned_sm);
	assert_true(p->r.shown);
	n = json_array_size(json_object_get(o, "warnings"));
	json_decref(o);
	return n;
}

/* Another subnet manager becomes master between the plan that a person was shown and the apply. The
 * person has not looked at that one.
 */
static void test_sm_moves_before_apply(void **state)
{
	static const char *const first[] = { "n4", "h1" };

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct shown p;
		struct scene x;

		open_scene(&x, i ? "checked.db" : "warned.db", IBCC_MODE_OBSERVE, first[i],
			   "mlnx_congestion_control 0\n");
		show_plan(&x, &p);
		x.line.n_sets = 0;
		x.line.sm_lid = lid_of(&x, "n3");
		assert_int_equal(apply_shown(&x, &p), -ESTALE);
		assert_said(&x, i ? "the plan did not warn of it"
				  : "another subnet manager is master since the plan was shown");
		assert_said(&x, "\"n3\"");
		assert_int_equal(x.line.n_sets, 0);
		assert_false(has_consent(&x));
		/* Shown again, it may be written. */
		assert_int_equal(look_again(&x, &p), 1);
		x.line.sm_lid = lid_of(&x, first[i]);
		assert_int_equal(apply_shown(&x, &p), i ? 0 : -ESTALE);
		x.line.sm_lid = lid_of(&x, "n3");
		assert_int_equal(i ? 0 : apply_shown(&x, &p), 0);
		assert_true(x.line.n_sets > 0);
		assert_int_equal(has_consent(&x), !i);
		ibcc_control_fini(&p.control);
		ibcc_plan_fini(&p.plan);
		close_scene(&x);
	}
}

/* The subnet manager stays the same. The note of the consent for it, for which the plan had no
 * warning, is gone at the apply.
 */
static void test_consent_lost_before_apply(void **state)
{
	struct shown p;
	struct scene x;

	(void)state;
	open_scene(&x, "lost-consent.db", IBCC_MODE_OBSERVE, "n4", "mlnx_congestion_control 0\n");
	passes(&x, 1);
	ibcc_service_consent_to_sm(
		x.s, x.s->cycle.topo->port[ibcc_topo_port_of_lid(x.s->cycle.topo, lid_of(&x, "n4"))]
			     .guid);
	show_plan(&x, &p);
	assert_int_equal(sqlite3_exec(x.s->state->db, "DELETE FROM note WHERE key = 'nvidia_sm'",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	x.line.n_sets = 0;
	assert_int_equal(apply_shown(&x, &p), -ESTALE);
	assert_said(&x, "the subnet manager could not be checked now");
	assert_null(strstr(x.why.text, "another subnet manager"));
	assert_int_equal(x.line.n_sets, 0);
	ibcc_control_fini(&p.control);
	ibcc_plan_fini(&p.plan);
	close_scene(&x);
}

/* However a plan comes to the last gate, it has no profile unless the configuration allows it. */
static void test_gate(void **state)
{
	const struct ibcc_request r = { .who = "test" };
	struct ibcc_plan plan = { 0 };
	struct ibcc_result res = { 0 };
	struct ibcc_change c = { .attr_id = IBCC_VCC_ATTR_SW_PROFILE, .attr_mod = 2 };
	struct ibcc_execution forward = { .txn = { .who = "test", .action = "apply" } };
	json_t *out = NULL;
	unsigned int sets;
	struct scene x;

	(void)state;
	open_end(&x, "gate.db");
	c.node_guid = x.l.sc.topo->node[ibcc_topo_find_desc(x.l.sc.topo, "q2")].guid;
	c.lid = lid_of(&x, "q2");
	profiles(&x, 2, c.old_data);
	memcpy(c.new_data, c.old_data, sizeof(c.new_data));
	c.new_data[8] ^= 1;
	assert_int_equal(ibcc_plan_append(&plan, &c), 0);
	x.s->config.vendor_writes = IBCC_VENDOR_WRITES_NEVER;
	passes(&x, 1);
	sets = x.line.n_sets;
	assert_int_equal(ibcc_service_execute(x.s, forward, &plan, &res, &x.why), -EPERM);
	assert_said(&x, "vendor_writes");
	ibcc_result_fini(&res);
	assert_int_equal(x.line.n_sets, sets);
	/* The way back is open. */
	assert_int_equal(ibcc_service_rollback(x.s, 0, &r, &out, &x.why), 0);
	json_decref(out);
	assert_false(is_written(&x));
	ibcc_plan_fini(&plan);
	close_scene(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unattended),
		cmocka_unit_test(test_sm_moves),
		cmocka_unit_test(test_sm_is_searched_once),
		cmocka_unit_test(test_sm_moves_in_apply),
		cmocka_unit_test(test_sm_moves_before_apply),
		cmocka_unit_test(test_consent_lost_before_apply),
		cmocka_unit_test(test_consent_on_trial),
		cmocka_unit_test(test_consent_is_for_the_plan),
		cmocka_unit_test(test_gate),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
