/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What is owed at nodes that were away, in the state file. */
#include "states.h"

static void owe(struct ibcc_state *s, uint64_t guid, bool off, int64_t from, int64_t txn)
{
	const struct ibcc_debt d = {
		.node_guid = guid, .port = 1, .off = off, .from = from, .txn = txn
	};

	assert_int_equal(ibcc_state_owe(s, &d), 0);
}

static void assert_debt(struct ibcc_state *s, uint32_t n, uint64_t guid, bool off, int64_t from,
			int64_t txn)
{
	struct ibcc_debts list = { 0 };

	assert_int_equal(ibcc_state_debts(s, &list), 0);
	assert_int_equal(list.n, n);
	if (n) {
		assert_int_equal(list.debt[0].node_guid, guid);
		assert_int_equal(list.debt[0].port, 1);
		assert_int_equal(list.debt[0].off, off);
		assert_int_equal(list.debt[0].from, from);
		assert_int_equal(list.debt[0].txn, txn);
	}
	ibcc_debts_fini(&list);
}

static json_t *transaction_of(struct ibcc_state *s, int64_t id)
{
	int err = 0;
	json_t *o = ibcc_state_transaction(s, id, &err);

	assert_non_null(o);
	return o;
}

/* It outlives the process, and one that is paid is not owed, but for another one in its place. */
static void test_keep(void **state)
{
	struct ibcc_debt old = { .node_guid = GUID_A, .port = 1, .txn = 2 };
	struct ibcc_state *s = open_state("debt.db");

	(void)state;
	one_change(s, GUID_A, 1, 2, 0);
	assert_debt(s, 0, 0, false, 0, 0);
	owe(s, GUID_A, false, 0, 2);
	owe(s, GUID_B, true, 0, 3);
	ibcc_state_close(s);
	s = open_state("debt.db");
	assert_debt(s, 2, GUID_A, false, 0, 2);
	owe(s, GUID_A, true, 0, 4);
	assert_int_equal(ibcc_state_paid(s, &old), 0);
	assert_debt(s, 2, GUID_B, true, 0, 3);
	old.txn = 4;
	old.off = true;
	assert_int_equal(ibcc_state_paid(s, &old), 0);
	assert_debt(s, 1, GUID_B, true, 0, 3);
	ibcc_state_close(s);
}

/* The newest wish counts; two rollbacks go back as far as the one that goes farther. */
static void test_newest(void **state)
{
	struct ibcc_state *s = open_state("newest.db");

	(void)state;
	owe(s, GUID_A, false, 7, 9);
	owe(s, GUID_A, false, 8, 10);
	assert_debt(s, 1, GUID_A, false, 7, 10);
	owe(s, GUID_A, false, 0, 11);
	owe(s, GUID_A, false, 8, 12);
	assert_debt(s, 1, GUID_A, false, 0, 12);
	owe(s, GUID_A, true, 0, 13);
	owe(s, GUID_A, false, 8, 14);
	assert_debt(s, 1, GUID_A, false, 8, 14);
	ibcc_state_close(s);
}

/* Where a plan was written since, nothing is owed, unless that was never made, or taken back. */
static void test_void(void **state)
{
	struct ibcc_state *s = open_state("void.db");

	(void)state;
	one_change(s, GUID_A, 1, 2, 0);
	owe(s, GUID_A, false, 0, 1);
	assert_debt(s, 1, GUID_A, false, 0, 1);
	assert_true(ibcc_state_is_last_wish(s, 1));
	one_change(s, GUID_B, 1, 2, 0);
	assert_false(ibcc_state_is_last_wish(s, 1));
	one_change(s, GUID_A, 2, 3, -EPERM);
	assert_debt(s, 1, GUID_A, false, 0, 1);
	one_change(s, GUID_A, 2, 3, 0);
	assert_debt(s, 0, 0, false, 0, 0);
	ibcc_state_close(s);
}

/* A rollback, a repair and a new key ask for no settings, so a rollback that is done after them is
 * still the last wish.
 */
static void test_last_wish(void **state)
{
	static const struct {
		const char *action;
		bool is_wish;
	} cases[] = { { "rollback", false }, { "repair", false }, { "key", false },
		      { "apply", true },     { "tune", true },    { "disable", true } };
	struct ibcc_state *s = open_state("wish.db");
	struct ibcc_plan p = { 0 };
	int64_t id = one_change(s, GUID_A, 1, 2, 0);

	(void)state;
	plan_add(&p, GUID_A, CA, 0, 1, 2);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t later = transaction_for(s, cases[i].action, &p, 0);

		if (ibcc_state_is_last_wish(s, id) == cases[i].is_wish)
			fail_msg("%s", cases[i].action);
		id = cases[i].is_wish ? later : id;
	}
	ibcc_plan_fini(&p);
	ibcc_state_close(s);
}

static void check_moved(struct ibcc_state *s)
{
	assert_int_equal(ibcc_state_check(s, NULL), -EIO);
	assert_int_equal(ibcc_state_check(s, NULL), 0);
}

/* A plan that was stored in another file, while this one was moved away, is a later plan, too. A
 * rollback of which a part was stored there is none.
 */
static void test_moved(void **state)
{
	(void)state;
	for (unsigned int back = 0; back < 2; back++) {
		const char *name = back ? "back.db" : "plan.db";
		struct ibcc_plan p = { 0 };
		struct ibcc_state *s = open_state(name);
		char file[512], aside[512];
		int64_t id = 0;

		snprintf(file, sizeof(file), "%s", files_path(name));
		snprintf(aside, sizeof(aside), "%s", files_path("aside.db"));
		one_change(s, GUID_A, 1, 2, 0);
		one_change(s, GUID_A, 2, 3, 0);
		owe(s, GUID_A, false, 0, 2);
		assert_int_equal(rename(file, aside), 0);
		check_moved(s);
		assert_debt(s, 0, 0, false, 0, 0);
		if (back) {
			plan_add(&p, GUID_A, CA, 0, 3, 2);
			transaction_for(s, "rollback", &p, 0);
			ibcc_plan_fini(&p);
		} else {
			one_change(s, GUID_A, 3, 4, 0);
		}
		assert_int_equal(rename(aside, file), 0);
		check_moved(s);
		assert_debt(s, back, GUID_A, false, 0, 2);
		/* What is there now is known, and goes back to what was there at first. */
		assert_int_equal(ibcc_state_undo(s, 0, &p, &id, NULL, NULL), 0);
		assert_int_equal(p.n, 1);
		assert_int_equal(p.change[0].old_data[5], 1);
		assert_int_equal(p.change[0].new_data[5], back ? 2 : 4);
		ibcc_plan_fini(&p);
		ibcc_state_close(s);
	}
}

/* The end of a transaction that could not be stored is stored when it can be: a repair stays one,
 * which cancels nothing, and so does a plan of which nothing was sent. A plan that was made
 * cancels.
 */
static void test_late_end(void **state)
{
	static const struct {
		const char *action;
		enum ibcc_outcome outcome;
		int err;
		uint8_t from, to;
		uint32_t n_owed;
		const char *became;
	} cases[] = {
		{ "repair", IBCC_OUTCOME_VERIFIED, 0, 1, 2, 1, "done" },
		{ "apply", IBCC_OUTCOME_SKIPPED, -EIO, 2, 3, 1, "partial" },
		{ "apply", IBCC_OUTCOME_PENDING, -EPERM, 2, 3, 1, "refused" },
		{ "apply", IBCC_OUTCOME_VERIFIED, 0, 2, 3, 0, "done" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ibcc_txn txn = { .who = "me", .action = cases[i].action, .via = "none" };
		struct ibcc_result r = { 0 };
		struct ibcc_plan p = { 0 };
		struct ibcc_state *s;
		char name[32];
		json_t *o;
		int64_t id = 0;

		snprintf(name, sizeof(name), "late%zu.db", i);
		s = open_state(name);
		one_change(s, GUID_A, 1, 2, 0);
		owe(s, GUID_A, true, 0, 1);
		txn.summary = "late";
		plan_add(&p, GUID_A, CA, 0, cases[i].from, cases[i].to);
		assert_int_equal(ibcc_state_begin(s, &txn, &p, NULL, &id, NULL), 0);
		assert_int_equal(ibcc_result_init(&r, 1), 0);
		r.change[0].outcome = cases[i].outcome;
		set_no_end(s, true);
		assert_int_equal(ibcc_state_end(s, id, &r, cases[i].err, "why", NULL), -EIO);
		ibcc_result_fini(&r);
		ibcc_plan_fini(&p);
		set_no_end(s, false);
		assert_int_equal(ibcc_state_check(s, NULL), 0);
		assert_debt(s, cases[i].n_owed, GUID_A, true, 0, 1);
		o = transaction_of(s, id);
		assert_string_equal(json_string_value(json_object_get(o, "outcome")),
				    cases[i].became);
		json_decref(o);
		assert_int_equal(ibcc_state_newest(s), id);
		ibcc_state_close(s);
	}
}

static void set_up_late(struct ibcc_state *s, int64_t *id, uint64_t guid, uint8_t to,
			const char *summary, struct ibcc_plan *p, struct ibcc_txn *txn)
{
	*txn = (struct ibcc_txn){
		.who = "me", .action = "apply", .via = "none", .summary = summary
	};
	plan_add(p, guid, CA, 0, (uint8_t)(to - 1), to);
	assert_int_equal(ibcc_state_begin(s, txn, p, NULL, id, NULL), 0);
}

/* Ends a transaction, which cannot be stored. */
static void end_late(struct ibcc_state *s, int64_t id, uint32_t n, enum ibcc_outcome outcome,
		     int err)
{
	struct ibcc_result r = { 0 };

	assert_int_equal(ibcc_result_init(&r, n), 0);
	for (uint32_t i = 0; i < n; i++)
		r.change[i].outcome = outcome;
	set_no_end(s, true);
	assert_int_equal(ibcc_state_end(s, id, &r, err, "the reason", NULL), -EIO);
	set_no_end(s, false);
	ibcc_result_fini(&r);
}

static void assert_became(struct ibcc_state *s, int64_t id, const char *outcome, const char *change,
			  const char *detail)
{
	json_t *o = transaction_of(s, id),
	       *c = json_array_get(json_object_get(o, "change_list"), 0);
	char field[64];

	assert_string_equal(json_string_value(json_object_get(o, "outcome")), outcome);
	assert_string_equal(json_string_value(json_object_get(o, "detail")), detail);
	snprintf(field, sizeof(field), "\"outcome\":\"%s\"", change);
	/* Folded (ibcc_json_fold()): text behind a null character. */
	assert_non_null(strstr(json_string_value(c) + 1, field));
	json_decref(o);
}

/* A late end is stored by the next transaction, and at an orderly end of the program. */
static void test_late_end_is_stored(void **state)
{
	(void)state;
	for (int closes = 0; closes < 2; closes++) {
		struct ibcc_state *s = open_state(closes ? "close.db" : "begin.db");
		struct ibcc_plan p = { 0 }, q = { 0 };
		struct ibcc_txn txn, next;
		int64_t id, then;

		one_change(s, GUID_A, 1, 2, 0);
		set_up_late(s, &id, GUID_A, 3, "late", &p, &txn);
		end_late(s, id, 1, IBCC_OUTCOME_FAILED, -EIO);
		if (closes) {
			ibcc_state_close(s);
			s = open_state("close.db");
			assert_int_equal(ibcc_state_interrupted(s), 0);
		} else {
			set_up_late(s, &then, GUID_B, 2, "next", &q, &next);
			end_late(s, then, 0, IBCC_OUTCOME_VERIFIED, -EPERM); /* without a change */
			assert_int_equal(ibcc_state_check(s, NULL), 0);
			assert_became(s, then, "refused", "pending", "the reason");
		}
		assert_became(s, id, "partial", "failed", "the reason");
		ibcc_plan_fini(&p);
		ibcc_plan_fini(&q);
		ibcc_state_close(s);
	}
}

/* A late end waits for its file, and is not that of the same number in another one. */
static void test_late_end_of_another_file(void **state)
{
	struct ibcc_state *s = open_state("two.db");
	char file[512], aside[520];
	struct ibcc_plan p = { 0 }, q = { 0 };
	struct ibcc_txn txn, next;
	int64_t id, then = 0;

	(void)state;
	snprintf(file, sizeof(file), "%s", files_path("two.db"));
	snprintf(aside, sizeof(aside), "%s.aside", file);
	one_change(s, GUID_A, 1, 2, 0);
	one_change(s, GUID_A, 2, 3, 0);
	set_up_late(s, &id, GUID_A, 4, "first file's", &p, &txn);
	end_late(s, id, 1, IBCC_OUTCOME_FAILED, -EIO);
	assert_int_equal(rename(file, aside), 0);
	ibcc_state_check(s, NULL);
	assert_int_equal(ibcc_state_check(s, NULL), 0);
	while (ibcc_state_newest(s) < id)
		one_change(s, GUID_B, 1, 2, 0);
	then = ibcc_state_newest(s);
	assert_int_equal(then, id);
	/* It stands as it was stored in the other file, and in its own once that is back. */
	assert_became(s, id, "done", "verified", "");
	assert_int_equal(rename(aside, file), 0);
	ibcc_state_check(s, NULL);
	assert_int_equal(ibcc_state_check(s, NULL), 0);
	assert_became(s, id, "partial", "failed", "the reason");
	/* A late end of the other file is none of this one's. */
	set_up_late(s, &then, GUID_A, 4, "first file's", &q, &next);
	end_late(s, then, 1, IBCC_OUTCOME_FAILED, -EIO);
	assert_int_equal(rename(file, aside), 0);
	ibcc_state_check(s, NULL);
	assert_int_equal(ibcc_state_check(s, NULL), 0);
	ibcc_plan_fini(&q);
	while (ibcc_state_newest(s) < then - 1)
		one_change(s, GUID_B, 1, 2, 0);
	q = (struct ibcc_plan){ 0 };
	set_up_late(s, &id, GUID_B, 3, "other file's", &q, &next);
	assert_int_equal(id, then);
	end_late(s, id, 1, IBCC_OUTCOME_VERIFIED, 0);
	assert_int_equal(rename(aside, file), 0);
	ibcc_state_check(s, NULL);
	assert_int_equal(ibcc_state_check(s, NULL), 0);
	assert_became(s, then, "interrupted", "pending",
		      "the program ended while this was carried out");
	ibcc_plan_fini(&p);
	ibcc_plan_fini(&q);
	ibcc_state_close(s);
}

/* A row that is damaged asks for nothing. */
static void test_damaged(void **state)
{
	struct ibcc_state *s = open_state("damaged.db");

	(void)state;
	owe(s, GUID_A, false, 7, 9);
	owe(s, GUID_B, false, 7, 9);
	assert_int_equal(sqlite3_exec(s->db, "UPDATE debt SET off = 1 WHERE node_guid = 2", NULL,
				      NULL, NULL),
			 0);
	assert_debt(s, 1, GUID_A, false, 7, 9);
	owe(s, GUID_B, false, 8, 10);
	assert_debt(s, 2, GUID_A, false, 7, 9);
	ibcc_state_close(s);
}

/* The name is the one that the node had last. */
static void test_name(void **state)
{
	struct ibcc_state *s = open_state("name.db");
	struct ibcc_debts list = { 0 };

	(void)state;
	one_change(s, GUID_A, 1, 2, 0);
	assert_int_equal(
		sqlite3_exec(s->db, "UPDATE change SET node = 'source1'", NULL, NULL, NULL), 0);
	owe(s, GUID_A, false, 0, 1);
	assert_int_equal(ibcc_state_debts(s, &list), 0);
	assert_string_equal(list.debt[0].node, "source1");
	ibcc_debts_fini(&list);
	ibcc_state_close(s);
}

/* The history says how many a transaction has left, and keeps what they go back over. */
static void test_history(void **state)
{
	struct ibcc_state *s = open_state("owed.db");
	struct ibcc_plan p = { 0 };
	int64_t first = 0;
	json_t *o;

	(void)state;
	for (uint8_t i = 1; i <= 5; i++)
		one_change(s, GUID_A, i, i + 1, 0);
	owe(s, GUID_A, false, 3, 5);
	owe(s, GUID_B, false, 3, 5);
	o = transaction_of(s, 5);
	assert_int_equal(json_integer_value(json_object_get(o, "owed")), 2);
	json_decref(o);
	o = transaction_of(s, 4);
	assert_int_equal(json_integer_value(json_object_get(o, "owed")), 0);
	json_decref(o);
	assert_int_equal(ibcc_state_prune(s, INT64_MAX, UINT64_MAX), 0);
	assert_int_equal(ibcc_state_undo(s, 3, &p, &first, NULL, NULL), 0);
	assert_int_equal(p.n, 1);
	assert_int_equal(p.change[0].old_data[5], 3);
	ibcc_plan_fini(&p);
	assert_int_equal(ibcc_state_undo(s, 2, &p, &first, NULL, NULL), -ENOENT);
	ibcc_state_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keep),
		cmocka_unit_test(test_newest),
		cmocka_unit_test(test_void),
		cmocka_unit_test(test_name),
		cmocka_unit_test(test_history),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_last_wish),
		cmocka_unit_test(test_moved),
		cmocka_unit_test(test_late_end),
		cmocka_unit_test(test_late_end_is_stored),
		cmocka_unit_test(test_late_end_of_another_file),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
