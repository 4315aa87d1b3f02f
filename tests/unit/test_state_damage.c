/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Damaged rows of the state file are named and left out, and the others are taken back all the
 * same; files of the version without checksums get theirs.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "states.h"

#define SW   IBCC_CC_ATTR_SW_SETTING
#define NAME "damage.db"

#define NOBODY 65534

static struct ibcc_state *fresh(void)
{
	unlink(files_path(NAME));
	return open_state(NAME);
}

static struct ibcc_state *reopen(struct ibcc_state *s)
{
	ibcc_state_close(s);
	return open_state(NAME);
}

static void run(struct ibcc_state *s, const char *sql)
{
	char *err = NULL;

	if (sqlite3_exec(s->db, sql, NULL, NULL, &err))
		fail_msg("%s: %s", sql, err);
}

/* One bit of the old data of a change. */
#define TURN_A_BIT                                                                                 \
	"UPDATE change SET old = CAST(substr(old, 1, 4) || x'04' || substr(old, 6) AS BLOB)"       \
	" WHERE "

static struct ibcc_plan undo(struct ibcc_state *s, int64_t from, struct ibcc_damage *d)
{
	struct ibcc_plan p = { 0 };
	int64_t first = 0;

	assert_int_equal(ibcc_state_undo(s, from, &p, &first, d, NULL), 0);
	return p;
}

static void assert_damage(struct ibcc_state *s, int64_t from, uint32_t n, const char *word)
{
	struct ibcc_damage d = { 0 };
	struct ibcc_plan p = undo(s, from, &d);

	assert_int_equal(d.n, n);
	if (!strstr(d.first.text, word))
		fail_msg("%s", d.first.text);
	ibcc_plan_fini(&p);
}

/* Two nodes; the row of A is another one afterwards. */
static void test_named(void **state)
{
	struct ibcc_state *s = fresh();
	const struct ibcc_book *book;
	struct ibcc_plan p = { 0 };
	struct ibcc_damage d = { 0 };
	struct ibcc_why why = { "" };

	(void)state;
	plan_add(&p, GUID_A, SW, 0, 1, 2);
	plan_add(&p, GUID_B, SW, 0, 11, 12);
	transaction(s, &p, 0);
	ibcc_plan_fini(&p);
	assert_int_equal(ibcc_state_check(s, &why), 0);
	run(s, TURN_A_BIT "seq = 0");
	s = reopen(s);
	p = undo(s, 0, &d);
	assert_int_equal(p.n, 1);
	assert_int_equal(p.change[0].node_guid, GUID_B);
	assert_int_equal(p.change[0].old_data[5], 11);
	ibcc_plan_fini(&p);
	assert_int_equal(d.n, 1);
	assert_non_null(strstr(d.first.text,
			       "node 0xa000000000000001 port 1, "
			       "SwitchCongestionSetting of transaction 1: it does not "
			       "match its checksum"));
	/* Nothing is expected there, and nothing new is begun until it is off. */
	assert_int_equal(ibcc_state_book(s, &book, NULL), 0);
	assert_int_equal(ibcc_book_expected(book, &p), 0);
	assert_int_equal(p.n, 1);
	ibcc_plan_fini(&p);
	assert_int_equal(ibcc_state_check(s, &why), -EIO);
	assert_non_null(strstr(why.text, ": 1 setting is damaged"));
	assert_non_null(strstr(why.text, "ibcc-tune disable"));
	assert_string_equal(ibcc_state_trouble(s), why.text);
	assert_int_equal(ibcc_state_give_up_damaged(s, &why), 0);
	assert_int_equal(ibcc_state_check(s, &why), 0);
	assert_null(ibcc_state_trouble(s));
	s = reopen(s);
	assert_damage(s, 0, 0, "");
	assert_undo(s, 0, 1, 1);
	ibcc_state_close(s);
}

/* Each column that says what would be written, where and whether. */
static void test_each_column(void **state)
{
	static const char *const change[] = {
		"node_guid = 7",
		"port = 2",
		"lid = 8",
		"attr_id = 20",
		"attr_mod = 1",
		"port_block = 1",
		"new = zeroblob(192)",
		"old = zeroblob(191)",
		"old = 'text'",
		"seq = 5",
		"outcome = 'unmade'",
		"node_guid = 2.5",
		"sum = NULL",
		"sum = sum + 1",
		"outcome = 'not verified'",
	};
	static const char *const txn[] = {
		"undone_by = 0",       "undone_by = 9", "outcome = 'refused'",
		"action = 'rollback'", "sum = NULL",    "undoes_from = 77",
	};
	char sql[128];

	(void)state;
	for (size_t i = 0; i < sizeof(change) / sizeof(change[0]); i++) {
		struct ibcc_state *s = fresh();

		one_change(s, GUID_A, 1, 2, 0);
		snprintf(sql, sizeof(sql), "UPDATE change SET %s", change[i]);
		run(s, sql);
		s = reopen(s);
		assert_damage(s, 0, 1, "of transaction");
		assert_undo(s, 0, 0, 0);
		ibcc_state_close(s);
	}
	for (size_t i = 0; i < sizeof(txn) / sizeof(txn[0]); i++) {
		struct ibcc_state *s = fresh();

		one_change(s, GUID_A, 1, 2, 0);
		snprintf(sql, sizeof(sql), "UPDATE txn SET %s", txn[i]);
		run(s, sql);
		s = reopen(s);
		assert_damage(s, 0, 1, "its transaction does not match its checksum");
		ibcc_state_close(s);
	}
}

/* A row that says another node than it did: what was written later, as it seems for the first time,
 * may have been written there before, so that its old value would be one of ours.
 */
static void test_wrong_place(void **state)
{
	struct ibcc_state *s = fresh();
	struct ibcc_damage d = { 0 };
	struct ibcc_plan p;

	(void)state;
	one_change(s, GUID_B, 21, 22, 0);
	one_change(s, GUID_A, 1, 2, 0);
	one_change(s, GUID_A, 2, 3, 0);
	one_change(s, GUID_B, 22, 23, 0);
	run(s, "UPDATE change SET node_guid = 99 WHERE txn = 2");
	s = reopen(s);
	p = undo(s, 0, &d);
	assert_int_equal(d.n, 2); /* 99, and A */
	assert_int_equal(p.n, 1);
	assert_int_equal(p.change[0].node_guid, GUID_B);
	assert_int_equal(p.change[0].old_data[5], 21);
	ibcc_plan_fini(&p);
	/* From a later transaction on its values do not matter. */
	assert_damage(s, 3, 0, "");
	ibcc_state_close(s);
}

/* What is written to a row later does not make it sound. */
static void test_stays_damaged(void **state)
{
	struct ibcc_txn txn = { .who = "me", .action = "apply", .via = "none", .summary = "" };
	struct ibcc_state *s = fresh();
	struct ibcc_plan p = { 0 };
	struct ibcc_result r;
	int64_t id = 0;

	(void)state;
	plan_add(&p, GUID_A, CA, 0, 1, 2);
	assert_int_equal(ibcc_state_begin(s, &txn, &p, NULL, &id, NULL), 0);
	run(s, TURN_A_BIT "seq = 0");
	assert_int_equal(ibcc_result_init(&r, 1), 0);
	r.change[0].outcome = IBCC_OUTCOME_VERIFIED;
	assert_int_equal(ibcc_state_end(s, id, &r, 0, "", NULL), 0);
	ibcc_result_fini(&r);
	ibcc_plan_fini(&p);
	s = reopen(s);
	assert_damage(s, 0, 1, "checksum");
	/* Nor does pruning: without it the next write would seem to be the first. */
	one_change(s, GUID_A, 2, 3, 0);
	run(s, "UPDATE txn SET started = 60, ended = 60 WHERE id = 1");
	assert_int_equal(ibcc_state_prune(s, (int64_t)100 * 86400, UINT64_MAX), 0);
	s = reopen(s);
	assert_damage(s, 0, 1, "checksum");
	assert_undo(s, 0, 0, 0);
	ibcc_state_close(s);
}

/* Turns the file into one of the version before. */
static void without_sums(struct ibcc_state *s)
{
	run(s, "ALTER TABLE change DROP COLUMN sum; ALTER TABLE change DROP COLUMN place_sum;"
	       "ALTER TABLE txn DROP COLUMN sum; PRAGMA user_version = 1");
}

static void test_migration(void **state)
{
	struct ibcc_state *s = fresh();
	struct ibcc_plan p = { 0 };

	(void)state;
	plan_add(&p, GUID_A, CA, 0, 1, 2);
	plan_add(&p, GUID_B, SW, 0, 11, 12);
	transaction(s, &p, 0);
	ibcc_plan_fini(&p);
	without_sums(s);
	s = reopen(s);
	assert_damage(s, 0, 0, "");
	assert_undo(s, 0, 2, 1);
	/* From now on they are held to it. */
	run(s, TURN_A_BIT "seq = 1");
	s = reopen(s);
	assert_damage(s, 0, 1, "node 0x0000000000000002");
	ibcc_state_close(s);

	/* A row that no node could have is none, and stays none. */
	s = fresh();
	one_change(s, GUID_A, 1, 2, 0);
	one_change(s, GUID_B, 1, 2, 0);
	run(s, "UPDATE change SET old = CAST(substr(old, 1, 191) || x'01' AS BLOB) WHERE txn = 1");
	without_sums(s);
	for (int i = 0; i < 2; i++) {
		s = reopen(s);
		assert_damage(s, 0, 1, "bits that are none of its fields'");
		assert_undo(s, 0, 1, 2);
	}
	ibcc_state_close(s);
}

/* What a user that may not write the file can revert. */
static int as_nobody(void)
{
	struct ibcc_plan p = { 0 };
	struct ibcc_damage d = { 0 };
	struct ibcc_state *s;
	int64_t first = 0;
	int err = 0;

	if (!geteuid() && setuid(NOBODY))
		return 100;
	s = ibcc_state_open(files_path(NAME), &err, NULL);
	if (!s || ibcc_state_undo(s, 0, &p, &first, &d, NULL) || d.n)
		return 101;
	return (int)p.n;
}

/* A file of the version before is read as it is by a user that may not write it. */
static void test_read_only(void **state)
{
	struct ibcc_state *s = fresh();
	int status;
	pid_t pid;

	(void)state;
	one_change(s, GUID_A, 1, 2, 0);
	without_sums(s);
	ibcc_state_close(s);
	assert_int_equal(chmod(files_path(NAME), 0444), 0);
	assert_int_equal(chmod(files_path(""), 0555), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(as_nobody());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(chmod(files_path(""), 0700), 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_named),       cmocka_unit_test(test_each_column),
		cmocka_unit_test(test_wrong_place), cmocka_unit_test(test_stays_damaged),
		cmocka_unit_test(test_migration),   cmocka_unit_test(test_read_only),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
