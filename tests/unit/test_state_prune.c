/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the history drops, and what it keeps. */
#include <time.h>

#include "states.h"

/* Old transactions go, but not the values that a rollback and the audit need. */
static void test_prune(void **state)
{
	struct ibcc_state *s = open_state("prune.db");
	struct ibcc_plan p = { 0 };
	int64_t first = 0;
	int err = 0;
	json_t *list;

	(void)state;
	one_change(s, GUID_A, 1, 2, 0);
	one_change(s, GUID_A, 2, 3, 0);
	one_change(s, GUID_A, 3, 4, -EPERM);
	assert_int_equal(ibcc_state_prune(s, INT64_MAX, UINT64_MAX), 0);
	list = ibcc_state_history(s, 10, &err);
	assert_int_equal(json_array_size(list), 2);
	json_decref(list);
	s->book_fresh = false;
	assert_int_equal(ibcc_state_undo(s, 0, &p, &first, NULL, NULL), 0);
	assert_int_equal(p.n, 1);
	assert_int_equal(p.change[0].old_data[5], 1);
	assert_int_equal(p.change[0].new_data[5], 3);
	ibcc_plan_fini(&p);
	ibcc_state_close(s);
}

/* One was written while the clock stood at 1970: it is no reason to forget those before it. */
static void test_prune_wrong_clock(void **state)
{
	struct ibcc_state *s = open_state("wrong.db");
	int64_t now_s = (int64_t)time(NULL);
	int err = 0;
	json_t *list;

	(void)state;
	for (uint8_t i = 1; i <= 4; i++)
		one_change(s, GUID_A, i, i + 1, -EPERM);
	assert_int_equal(sqlite3_exec(s->db, "UPDATE txn SET started = 60, ended = 60 WHERE id = 3",
				      NULL, NULL, NULL),
			 0);
	assert_int_equal(ibcc_state_prune(s, now_s, UINT64_MAX), 0);
	list = ibcc_state_history(s, 10, &err);
	assert_int_equal(json_array_size(list), 4);
	json_decref(list);
	/* As old as they look, with those before them. */
	assert_int_equal(
		sqlite3_exec(s->db, "UPDATE txn SET ended = 60 WHERE id < 3", NULL, NULL, NULL), 0);
	assert_int_equal(ibcc_state_prune(s, now_s, UINT64_MAX), 0);
	list = ibcc_state_history(s, 10, &err);
	assert_int_equal(json_array_size(list), 1);
	json_decref(list);
	ibcc_state_close(s);
}

/* One that another program is carrying out, in a new file: it can be taken back afterwards. */
static void test_prune_beside(void **state)
{
	struct ibcc_state *s = open_state("open.db");
	struct ibcc_txn txn = { .who = "me", .action = "apply", .via = "none", .summary = "" };
	struct ibcc_result r = { 0 };
	struct ibcc_plan p = { 0 };
	int64_t id = 0;

	(void)state;
	plan_add(&p, GUID_A, CA, 0, 1, 2);
	assert_int_equal(ibcc_state_begin(s, &txn, &p, NULL, &id, NULL), 0);
	assert_int_equal(ibcc_state_prune(s, (int64_t)time(NULL), UINT64_MAX), 0);
	assert_int_equal(ibcc_result_init(&r, p.n), 0);
	r.change[0].outcome = IBCC_OUTCOME_VERIFIED;
	assert_int_equal(ibcc_state_end(s, id, &r, 0, "", NULL), 0);
	assert_undo(s, id, 1, id);
	ibcc_result_fini(&r);
	ibcc_plan_fini(&p);
	ibcc_state_close(s);
}

static int64_t file_bytes(const char *name)
{
	struct stat st;

	assert_int_equal(stat(files_path(name), &st), 0);
	return st.st_size;
}

/* Thousands of small transactions: the file stays within its bound while they come, and the way
 * back to the beginning stays, and what was switched off in between.
 */
static void test_bounded(void **state)
{
	const uint64_t bound = 1 << 20;
	struct ibcc_state *s = open_state("bounded.db");
	struct ibcc_txn off = { .who = "me", .action = "disable", .via = "none", .summary = "" };
	struct ibcc_plan p = { 0 };
	const struct ibcc_book *book;
	struct ibcc_why why = { "" };
	struct ibcc_result r;
	int64_t id, first = 0, last = 0;

	(void)state;
	assert_int_equal(sqlite3_exec(s->db, "PRAGMA synchronous = OFF", NULL, NULL, NULL), 0);
	for (unsigned int i = 0; i < 8000; i++) {
		uint8_t from = (uint8_t)(i ? 2 + (i - 1) % 200 : 1), to = (uint8_t)(2 + i % 200);

		last = one_change(s, i % 2 ? GUID_A : GUID_B, from, to, 0);
		if (i == 1000) {
			plan_add(&p, GUID_A, CA, 0, 9, 0);
			assert_int_equal(ibcc_state_begin(s, &off, &p, NULL, &id, NULL), 0);
			assert_int_equal(ibcc_result_init(&r, 1), 0);
			r.change[0].outcome = IBCC_OUTCOME_VERIFIED;
			assert_int_equal(ibcc_state_end(s, id, &r, 0, "", NULL), 0);
			ibcc_result_fini(&r);
			ibcc_plan_fini(&p);
		}
		if (i % 250)
			continue;
		assert_int_equal(ibcc_state_prune(s, 0, bound), 0);
		assert_true(file_bytes("bounded.db") < (int64_t)(3 * bound / 2));
	}
	ibcc_state_close(s);
	s = open_state("bounded.db");
	assert_int_equal(ibcc_state_undo(s, 0, &p, &first, NULL, NULL), 0);
	assert_int_equal(first, 1);
	assert_int_equal(p.n, 2);
	for (uint32_t i = 0; i < 2; i++) {
		bool a = p.change[i].node_guid == GUID_A;

		assert_int_equal(p.change[i].old_data[5], a ? 2 : 1);
		assert_int_equal(p.change[i].new_data[5], a ? 2 + 7999 % 200 : 2 + 7998 % 200);
	}
	ibcc_plan_fini(&p);
	assert_int_equal(ibcc_state_book(s, &book, NULL), 0);
	assert_true(book->entry[0]->off || book->entry[1]->off);
	/* Young ones can be gone back to, old ones not. */
	assert_undo(s, last, 1, last);
	assert_int_equal(ibcc_state_undo(s, 1, &p, &first, NULL, &why), -ENOENT);
	assert_non_null(strstr(why.text, "not kept in full"));
	ibcc_state_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prune),
		cmocka_unit_test(test_prune_wrong_clock),
		cmocka_unit_test(test_prune_beside),
		cmocka_unit_test(test_bounded),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
