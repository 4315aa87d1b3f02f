/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What is on disk after each step, and the ways back. */
#include "states.h"

static void test_oldest_old_newest_new(void **state)
{
	struct ibcc_state *s = open_state("join.db");
	struct ibcc_plan p = { 0 };
	int64_t a, first = 0;

	(void)state;
	assert_undo(s, 0, 0, 0);
	a = one_change(s, GUID_A, 1, 2, 0);
	one_change(s, GUID_B, 11, 12, 0);
	one_change(s, GUID_A, 2, 3, 0);
	assert_int_equal(ibcc_state_undo(s, 0, &p, &first, NULL, NULL), 0);
	assert_int_equal(first, a);
	assert_int_equal(p.n, 2);
	for (uint32_t i = 0; i < 2; i++) {
		bool is_a = p.change[i].node_guid == GUID_A;

		assert_true(is_a || p.change[i].node_guid == GUID_B);
		assert_int_equal(p.change[i].old_data[5], is_a ? 1 : 11);
		assert_int_equal(p.change[i].new_data[5], is_a ? 3 : 12);
		assert_int_equal(p.change[i].lid, 7);
	}
	ibcc_plan_fini(&p);
	ibcc_state_close(s);
}

static void test_from_a_number(void **state)
{
	struct ibcc_state *s = open_state("from.db");
	struct ibcc_plan p = { 0 };
	struct ibcc_why why = { "" };
	int64_t first = 0, b;

	(void)state;
	one_change(s, GUID_A, 1, 2, 0);
	b = one_change(s, GUID_A, 2, 3, 0);
	one_change(s, GUID_A, 3, 4, 0);
	assert_int_equal(ibcc_state_undo(s, b, &p, &first, NULL, NULL), 0);
	assert_int_equal(first, b);
	assert_int_equal(p.n, 1);
	assert_int_equal(p.change[0].old_data[5], 2);
	ibcc_plan_fini(&p);
	assert_int_equal(ibcc_state_undo(s, 99, &p, &first, NULL, &why), -ENOENT);
	assert_non_null(strstr(why.text, "99"));
	ibcc_state_close(s);
}

/* A refused plan wrote nothing; one whose applier was lost may have. */
static void test_outcomes_that_count(void **state)
{
	struct ibcc_state *s = open_state("outcomes.db");
	int64_t lost;

	(void)state;
	one_change(s, GUID_A, 1, 2, -EPERM);
	assert_undo(s, 0, 0, 0);
	lost = one_change(s, GUID_A, 1, 2, -ENOTCONN);
	assert_undo(s, 0, 1, lost);
	ibcc_state_close(s);
}

/* An ibcc_state_settle() callback: the fabric has the old value. */
static const char *never_made(void *arg, struct ibcc_change *c)
{
	unsigned int *asked = arg;

	assert_int_equal(c->node_guid, GUID_B);
	++*asked;
	return "unmade";
}

/* The plugin stopped on the way: what it made is undone by a rollback, and the rest is looked at
 * before anything relies on it.
 */
static void test_stopped_midway(void **state)
{
	struct ibcc_state *s = open_state("midway.db");
	struct ibcc_txn txn = { .who = "me", .action = "apply", .via = "none", .summary = "" };
	struct ibcc_plan p = { 0 };
	struct ibcc_result r;
	unsigned int asked = 0;
	int64_t id = 0;
	int err = 0;
	json_t *list;

	(void)state;
	plan_add(&p, GUID_A, CA, 0, 1, 2);
	plan_add(&p, GUID_B, CA, 0, 11, 12);
	assert_int_equal(ibcc_state_begin(s, &txn, &p, NULL, &id, NULL), 0);
	assert_int_equal(ibcc_result_init(&r, p.n), 0);
	r.change[0].outcome = IBCC_OUTCOME_VERIFIED;
	assert_int_equal(ibcc_state_end(s, id, &r, -ECANCELED, "stopped", NULL), 0);
	list = ibcc_state_history(s, 1, &err);
	assert_string_equal(json_string_value(json_object_get(json_array_get(list, 0), "outcome")),
			    "partial");
	json_decref(list);
	assert_undo(s, 0, 2, id);
	assert_int_equal(ibcc_state_settle(s, never_made, &asked, NULL), 0);
	assert_int_equal(asked, 1);
	assert_undo(s, 0, 1, id);
	ibcc_result_fini(&r);
	ibcc_plan_fini(&p);
	ibcc_state_close(s);
}

static void test_rollback_marks(void **state)
{
	struct ibcc_state *s = open_state("rollback.db");
	struct fake_applier f = fake_applier();
	struct ibcc_execution c = { .applier = &f.base,
				    .state = s,
				    .txn = { .who = "me", .action = "rollback", .summary = "" } };
	struct ibcc_plan joined = { 0 }, undo = { 0 };
	struct ibcc_result r = { 0 };
	int64_t a, first = 0;

	(void)state;
	a = one_change(s, GUID_A, 1, 2, 0);
	one_change(s, GUID_A, 2, 3, 0);
	assert_int_equal(ibcc_state_undo(s, 0, &joined, &first, NULL, NULL), 0);
	assert_int_equal(ibcc_plan_reverse(&joined, &undo), 0);
	c.txn.undoes_from = first;

	/* It fails: all is as before, to be tried again. */
	f.fail_guid = GUID_A;
	f.fail_err = -ETIMEDOUT;
	assert_int_equal(ibcc_execute_plan(&c, &undo, &r, NULL), -EIO);
	ibcc_result_fini(&r);
	assert_undo(s, 0, 1, a);

	f.fail_guid = 0;
	assert_int_equal(ibcc_execute_plan(&c, &undo, &r, NULL), 0);
	ibcc_result_fini(&r);
	assert_int_equal(fake_value(&f, GUID_A, CA, 0), 1);
	assert_undo(s, 0, 0, 0);
	ibcc_plan_fini(&joined);
	ibcc_plan_fini(&undo);
	ibcc_plan_fini(&f.applied);
	ibcc_state_close(s);
}

static void put_limit(struct ibcc_change *c, uint16_t from, uint16_t to)
{
	c->old_data[0] = (uint8_t)(from >> 8);
	c->old_data[1] = (uint8_t)from;
	c->new_data[0] = (uint8_t)(to >> 8);
	c->new_data[1] = (uint8_t)to;
}

/* A table of limit 0 that grew to one block, then to two: the way back must end with limit 0, also
 * with the block that the first transaction did not write.
 */
static void test_table_that_grew(void **state)
{
	struct ibcc_state *s = open_state("table.db");
	struct ibcc_plan p = { 0 }, joined = { 0 };
	int64_t first;

	(void)state;
	plan_add(&p, GUID_A, CCT, 0, 0, 1);
	put_limit(&p.change[0], 0, 63);
	transaction(s, &p, 0);
	ibcc_plan_fini(&p);
	plan_add(&p, GUID_A, CCT, 0, 1, 2);
	put_limit(&p.change[0], 63, 63);
	plan_add(&p, GUID_A, CCT, 1, 0, 2);
	put_limit(&p.change[1], 63, 127);
	transaction(s, &p, 0);
	ibcc_plan_fini(&p);

	assert_int_equal(ibcc_state_undo(s, 0, &joined, &first, NULL, NULL), 0);
	assert_int_equal(joined.n, 2);
	for (uint32_t b = 0; b < 2; b++) {
		assert_int_equal(joined.change[b].attr_mod, b);
		assert_int_equal(joined.change[b].old_data[0], 0);
		assert_int_equal(joined.change[b].old_data[1], 0);
	}
	assert_int_equal(joined.change[1].new_data[1], 127);
	ibcc_plan_fini(&joined);
	ibcc_state_close(s);
}

static void test_not_ready_leaves_no_trace(void **state)
{
	struct ibcc_state *s = open_state("ready.db");
	struct fake_applier f = fake_applier();
	struct ibcc_execution c = { .applier = &f.base,
				    .state = s,
				    .txn = { .who = "me", .action = "tune", .summary = "" } };
	struct ibcc_plan p = { 0 };
	struct ibcc_result r = { 0 };
	int err = 0;
	json_t *list;

	(void)state;
	f.ready_err = -EPERM;
	plan_add(&p, GUID_A, CA, 0, 1, 2);
	assert_int_equal(ibcc_execute_plan(&c, &p, &r, NULL), -EPERM);
	assert_int_equal(f.runs, 0);
	list = ibcc_state_history(s, 10, &err);
	assert_int_equal(json_array_size(list), 0);
	json_decref(list);
	ibcc_result_fini(&r);
	ibcc_plan_fini(&p);
	ibcc_state_close(s);
}

/* What could not be put back is not overwritten, but for taking it off; that is about what was
 * there before us, not about what we made of it.
 */
static void test_no_way_back(void **state)
{
	struct ibcc_state *s = open_state("noway.db");
	struct fake_applier f = fake_applier();
	struct ibcc_execution c = { .applier = &f.base,
				    .state = s,
				    .txn = { .who = "me", .action = "tune", .summary = "" } };
	struct ibcc_plan p = { 0 };
	struct ibcc_result r = { 0 };
	struct ibcc_why why = { "" };

	(void)state;
	plan_add(&p, GUID_A, CCT, 0, 1, 0); /* a delay at index 0 */
	assert_int_equal(ibcc_execute_plan(&c, &p, &r, &why), -ERANGE);
	assert_int_equal(f.runs, 0);
	assert_non_null(strstr(why.text, "disable"));
	ibcc_result_fini(&r);
	c.back = true;
	assert_int_equal(ibcc_execute_plan(&c, &p, &r, &why), 0);
	ibcc_result_fini(&r);
	c.back = false;
	assert_int_equal(ibcc_execute_plan(&c, &p, &r, &why), 0);
	ibcc_result_fini(&r);
	ibcc_plan_fini(&p);
	ibcc_plan_fini(&f.applied);
	ibcc_state_close(s);
}

/* Nor is what lies beyond the bounds of the program that would have to restore it. */
static void test_no_way_back_in_bounds(void **state)
{
	struct ibcc_state *s = open_state("caps.db");
	struct fake_applier f = fake_applier();
	struct ibcc_execution c = { .applier = &f.base,
				    .state = s,
				    .txn = { .who = "me", .action = "tune", .summary = "" } };
	struct ibcc_plan p = { 0 };
	struct ibcc_result r = { 0 };
	struct ibcc_why why = { "" };

	(void)state;
	plan_add(&p, GUID_A, CA, 0, 100, 10); /* CCTI_Timer of SL 0 */
	p.change[0].old_data[3] = p.change[0].new_data[3] = 1;
	f.base.bounds.max_timer = 99;
	assert_int_equal(ibcc_execute_plan(&c, &p, &r, &why), -ERANGE);
	assert_int_equal(f.runs, 0);
	assert_non_null(strstr(why.text, "CCTI_Timer"));
	assert_undo(s, 0, 0, 0);
	ibcc_result_fini(&r);
	f.base.bounds.max_timer = 100;
	assert_int_equal(ibcc_execute_plan(&c, &p, &r, &why), 0);
	ibcc_result_fini(&r);
	ibcc_plan_fini(&p);
	ibcc_plan_fini(&f.applied);
	ibcc_state_close(s);
}

/* One node fails: what the others took is taken back, and remembered as taken back. */
static void test_all_or_nothing(void **state)
{
	struct ibcc_state *s = open_state("all.db");
	struct fake_applier f = fake_applier();
	struct ibcc_execution c = { .applier = &f.base,
				    .state = s,
				    .txn = { .who = "me", .action = "apply", .summary = "" },
				    .all_or_nothing = true };
	struct ibcc_plan p = { 0 };
	struct ibcc_result r = { 0 };
	struct ibcc_why why = { "" };

	(void)state;
	plan_add(&p, GUID_A, CA, 0, 1, 2);
	plan_add(&p, GUID_A, CCT, 1, 3, 4);
	plan_add(&p, GUID_B, CA, 0, 11, 12);
	f.fail_guid = GUID_B;
	f.fail_err = -EREMOTEIO; /* refused: surely not there */
	assert_int_equal(ibcc_execute_plan(&c, &p, &r, &why), -EIO);
	assert_int_equal(f.runs, 2);
	assert_int_equal(fake_value(&f, GUID_A, CA, 0), 1);
	assert_int_equal(fake_value(&f, GUID_A, CCT, 1), 3);
	assert_int_equal(fake_value(&f, GUID_B, CA, 0), -1);
	assert_non_null(strstr(why.text, "the others are reverted"));
	assert_int_equal(r.change[2].outcome, IBCC_OUTCOME_FAILED);
	assert_undo(s, 0, 0, 0);
	ibcc_result_fini(&r);
	ibcc_plan_fini(&p);
	ibcc_plan_fini(&f.applied);
	ibcc_state_close(s);
}

/* Of what may be there and is not verified, nothing stays behind when the others are taken back. */
static void test_nothing_left(void **state)
{
	static const int errs[] = { -ETIMEDOUT, -EIO, -ENODATA, -EBUSY };

	(void)state;
	for (unsigned int i = 0; i < sizeof(errs) / sizeof(errs[0]); i++) {
		char name[] = "left0.db";
		struct fake_applier f = fake_applier();
		struct ibcc_execution c = {
			.applier = &f.base,
			.txn = { .who = "me", .action = "apply", .summary = "" },
			.all_or_nothing = true
		};
		struct ibcc_plan p = { 0 };
		struct ibcc_result r = { 0 };

		name[4] += (char)i;
		c.state = open_state(name);
		plan_add(&p, GUID_A, CA, 0, 1, 2);
		plan_add(&p, GUID_B, CA, 0, 11, 12);
		f.fail_guid = GUID_B;
		f.fail_err = errs[i];
		assert_int_equal(ibcc_execute_plan(&c, &p, &r, NULL), -EIO);
		assert_int_equal(f.runs, 2);
		assert_int_equal(fake_value(&f, GUID_A, CA, 0), 1);
		/* The way back failed there, too: then it is not forgotten. */
		assert_undo(c.state, 0, 2, 1);
		ibcc_result_fini(&r);
		ibcc_plan_fini(&p);
		ibcc_plan_fini(&f.applied);
		ibcc_state_close(c.state);
	}
}

/* A single change that was taken, and could not be read back, is taken back as well. */
static void test_nothing_verified(void **state)
{
	static const struct {
		int err;
		unsigned int runs;
	} cases[] = { { -ENODATA, 2 }, { -ETIMEDOUT, 1 }, { -EREMOTEIO, 1 } };

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fake_applier f = fake_applier();
		struct ibcc_execution c = {
			.applier = &f.base,
			.state = open_state("unverified.db"),
			.txn = { .who = "me", .action = "apply", .summary = "" },
			.all_or_nothing = true
		};
		struct ibcc_plan p = { 0 };
		struct ibcc_result r = { 0 };

		plan_add(&p, GUID_B, CA, 0, 11, 12);
		f.fail_guid = GUID_B;
		f.fail_err = cases[i].err;
		assert_int_equal(ibcc_execute_plan(&c, &p, &r, NULL), -EIO);
		assert_int_equal(f.runs, cases[i].runs);
		ibcc_result_fini(&r);
		ibcc_plan_fini(&p);
		ibcc_plan_fini(&f.applied);
		ibcc_state_close(c.state);
	}
}

static void test_notes(void **state)
{
	struct ibcc_state *s = open_state("notes.db");
	char *text;

	(void)state;
	assert_null(ibcc_state_note(s, "paused"));
	assert_int_equal(ibcc_state_note_set(s, "paused", "by me"), 0);
	assert_int_equal(ibcc_state_note_set(s, "paused", "by you"), 0);
	ibcc_state_close(s);
	s = open_state("notes.db");
	text = ibcc_state_note(s, "paused");
	assert_string_equal(text, "by you");
	free(text);
	assert_int_equal(ibcc_state_note_set(s, "paused", ""), 0);
	assert_null(ibcc_state_note(s, "paused"));
	ibcc_state_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_oldest_old_newest_new),
		cmocka_unit_test(test_from_a_number),
		cmocka_unit_test(test_outcomes_that_count),
		cmocka_unit_test(test_stopped_midway),
		cmocka_unit_test(test_rollback_marks),
		cmocka_unit_test(test_table_that_grew),
		cmocka_unit_test(test_not_ready_leaves_no_trace),
		cmocka_unit_test(test_no_way_back),
		cmocka_unit_test(test_no_way_back_in_bounds),
		cmocka_unit_test(test_all_or_nothing),
		cmocka_unit_test(test_nothing_left),
		cmocka_unit_test(test_nothing_verified),
		cmocka_unit_test(test_notes),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
