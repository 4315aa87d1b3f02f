/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A state file that cannot be written, or is not there: what is known stays known, things can be
 * taken off and none be begun, and all is written down when it can be.
 */
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "states.h"

static struct ibcc_execution carry_of(struct fake_applier *f, struct ibcc_state *s,
				      const char *action)
{
	return (struct ibcc_execution){ .applier = &f->base,
					.state = s,
					.txn = { .who = "me", .action = action, .summary = "" } };
}

static int carry(struct fake_applier *f, struct ibcc_state *s, const char *action,
		 struct ibcc_plan *p, int64_t undoes)
{
	struct ibcc_execution c = carry_of(f, s, action);
	struct ibcc_result r = { 0 };
	int rc;

	c.txn.undoes_from = undoes;
	c.back = strcmp(action, "tune") != 0;
	rc = ibcc_execute_plan(&c, p, &r, NULL);
	ibcc_result_fini(&r);
	return rc;
}

/* Takes back all that is known. */
static int roll_back(struct fake_applier *f, struct ibcc_state *s)
{
	struct ibcc_plan joined = { 0 }, undo = { 0 };
	int64_t first = 0;
	int rc = ibcc_state_undo(s, 0, &joined, &first, NULL, NULL);

	if (rc)
		return rc;
	assert_int_equal(ibcc_plan_reverse(&joined, &undo), 0);
	rc = carry(f, s, "rollback", &undo, first);
	ibcc_plan_fini(&joined);
	ibcc_plan_fini(&undo);
	return rc;
}

static void set_full(struct ibcc_state *s, bool full)
{
	char sql[64];

	snprintf(sql, sizeof(sql), "PRAGMA max_page_count = %d", full ? 1 : 1000000);
	assert_int_equal(sqlite3_exec(s->db, sql, NULL, NULL, NULL), 0);
}

/* As full as it can be made: the pages that are there have no room for a plan of this size. */
static struct ibcc_plan large_plan(void)
{
	struct ibcc_plan p = { 0 };

	for (unsigned int i = 0; i < 200; i++)
		plan_add(&p, GUID_B + i, CA, 0, 1, 2);
	return p;
}

static void assert_trouble(struct ibcc_state *s, const char *what)
{
	const char *text = ibcc_state_trouble(s);

	assert_non_null(text);
	if (!strstr(text, what))
		fail_msg("%s", text);
}

static const char *newest_action(struct ibcc_state *s, const char *key)
{
	static char text[64];
	int err = 0;
	json_t *list = ibcc_state_history(s, 1, &err);

	assert_non_null(list);
	snprintf(text, sizeof(text), "%s",
		 json_string_value(json_object_get(json_array_get(list, 0), key)));
	json_decref(list);
	return text;
}

static void test_disk_full(void **state)
{
	struct ibcc_state *s = open_state("disk.db");
	struct fake_applier f = fake_applier();
	struct ibcc_plan p = large_plan();
	struct ibcc_why why = { "" };

	(void)state;
	one_change(s, GUID_A, 1, 2, 0);
	assert_null(ibcc_state_trouble(s));
	set_full(s, true);
	/* Nothing is begun without a book to write it in, */
	assert_int_equal(carry(&f, s, "tune", &p, 0), -EIO);
	assert_int_equal(f.runs, 0);
	assert_trouble(s, "full");
	assert_trouble(s, "make room");
	/* and everything can be taken off. */
	assert_int_equal(carry(&f, s, "disable", &p, 0), 0);
	assert_int_equal(f.runs, 1);
	assert_true(ibcc_state_is_ahead(s));
	assert_int_equal(roll_back(&f, s), 0);
	assert_int_equal(fake_value(&f, GUID_A, CA, 0), 1);
	assert_int_equal(fake_value(&f, GUID_B, CA, 0), 1);
	assert_undo(s, 0, 0, 0);
	set_full(s, false);
	assert_int_equal(ibcc_state_check(s, &why), 0);
	assert_null(ibcc_state_trouble(s));
	assert_false(ibcc_state_is_ahead(s));
	assert_string_equal(newest_action(s, "action"), "rollback");
	assert_string_equal(newest_action(s, "via"), "memory");
	assert_undo(s, 0, 0, 0);
	ibcc_state_close(s);
	s = open_state("disk.db");
	assert_undo(s, 0, 0, 0);
	ibcc_state_close(s);
	ibcc_plan_fini(&p);
	ibcc_plan_fini(&f.applied);
}

/* Read-only from one moment to the next. */
static void test_read_only(void **state)
{
	struct ibcc_state *s = open_state("ro.db");
	struct fake_applier f = fake_applier();
	struct ibcc_plan p = { 0 };
	int64_t first;

	(void)state;
	first = one_change(s, GUID_A, 1, 2, 0);
	one_change(s, GUID_B, 11, 12, 0);
	assert_int_equal(sqlite3_exec(s->db, "PRAGMA query_only = 1", NULL, NULL, NULL), 0);
	plan_add(&p, GUID_A, CA, 0, 2, 0);
	assert_int_equal(carry(&f, s, "disable", &p, 0), 0);
	assert_trouble(s, "writable");
	assert_int_equal(ibcc_state_check(s, NULL), -EIO);
	assert_int_equal(sqlite3_exec(s->db, "PRAGMA query_only = 0", NULL, NULL, NULL), 0);
	assert_int_equal(ibcc_state_check(s, NULL), 0);
	assert_string_equal(newest_action(s, "action"), "disable");
	ibcc_state_close(s);
	s = open_state("ro.db");
	assert_undo(s, 0, 2, first);
	assert_int_equal(roll_back(&f, s), 0);
	assert_int_equal(fake_value(&f, GUID_A, CA, 0), 1);
	ibcc_state_close(s);
	ibcc_plan_fini(&p);
	ibcc_plan_fini(&f.applied);
}

/* It goes while it is in use: another one is begun, with all that is ours. */
static void test_goes_away(void **state)
{
	struct ibcc_state *s = open_state("goes.db");
	struct ibcc_plan p = { 0 };
	struct ibcc_why why = { "" };
	int64_t first = 0;

	(void)state;
	one_change(s, GUID_A, 1, 2, 0);
	one_change(s, GUID_A, 2, 3, 0);
	one_change(s, GUID_B, 11, 12, 0);
	assert_int_equal(ibcc_state_check(s, &why), 0);
	assert_int_equal(unlink(files_path("goes.db")), 0);
	assert_int_equal(ibcc_state_check(s, &why), -EIO);
	assert_non_null(strstr(why.text, "gone"));
	assert_trouble(s, "goes.db");
	assert_undo(s, 0, 2, 1);
	assert_int_equal(ibcc_state_check(s, &why), 0);
	assert_null(ibcc_state_trouble(s));
	ibcc_state_close(s);
	s = open_state("goes.db");
	assert_string_equal(newest_action(s, "action"), "unrecorded");
	assert_int_equal(ibcc_state_undo(s, 0, &p, &first, NULL, NULL), 0);
	assert_int_equal(p.n, 2);
	for (uint32_t i = 0; i < 2; i++) {
		bool a = p.change[i].node_guid == GUID_A;

		assert_int_equal(p.change[i].old_data[5], a ? 1 : 11);
		assert_int_equal(p.change[i].new_data[5], a ? 3 : 12);
	}
	ibcc_plan_fini(&p);
	ibcc_state_close(s);
}

static size_t n_transactions(struct ibcc_state *s)
{
	int err = 0;
	json_t *list = ibcc_state_history(s, 100, &err);
	size_t n = json_array_size(list);

	assert_non_null(list);
	json_decref(list);
	return n;
}

/* Moved aside, a file has all that was written to it, and the one that is begun in its place has
 * nothing of it but what is ours.
 */
static void test_moved_aside(void **state)
{
	struct ibcc_state *s = open_state("moved.db"), *aside;
	struct ibcc_why why = { "" };
	char file[512], other[512];

	(void)state;
	snprintf(file, sizeof(file), "%s", files_path("moved.db"));
	snprintf(other, sizeof(other), "%s", files_path("aside.db"));
	one_change(s, GUID_A, 1, 2, 0);
	one_change(s, GUID_A, 2, 3, 0);
	one_change(s, GUID_B, 11, 12, 0);
	assert_int_equal(rename(file, other), 0);
	assert_int_equal(ibcc_state_check(s, &why), -EIO);
	assert_int_equal(ibcc_state_check(s, &why), 0);
	assert_int_equal(n_transactions(s), 1);
	assert_string_equal(newest_action(s, "action"), "unrecorded");
	aside = open_state("aside.db");
	assert_int_equal(n_transactions(aside), 3);
	ibcc_state_close(aside);

	/* It comes back. */
	assert_int_equal(rename(other, file), 0);
	assert_int_equal(ibcc_state_check(s, &why), -EIO);
	assert_int_equal(ibcc_state_check(s, &why), 0);
	assert_null(ibcc_state_trouble(s));
	assert_undo(s, 0, 2, 1);
	ibcc_state_close(s);
	s = open_state("moved.db");
	assert_in_range(n_transactions(s), 3, 4);
	ibcc_state_close(s);
}

/* No database: the earlier settings are unknown, so there is no way back to that, but things can be
 * taken off; and once it is there it has its say.
 */
static void test_never_known(void **state)
{
	struct ibcc_state *s = open_state("kept.db");
	struct fake_applier f = fake_applier();
	struct ibcc_plan p = { 0 };
	struct ibcc_why why = { "" };
	char kept[512], file[512];
	int64_t first = 0;
	int err = 0;

	(void)state;
	one_change(s, GUID_A, 1, 2, 0);
	one_change(s, GUID_B, 11, 12, 0);
	ibcc_state_close(s);
	snprintf(kept, sizeof(kept), "%s", files_path("kept.db"));
	snprintf(file, sizeof(file), "%s",
		 files_write("text.db", "this is no database, just a text of more than a hundred "
					"bytes, so that nobody takes it for a new one........"));
	s = ibcc_state_open(file, &err, &why);
	assert_non_null(s);
	assert_trouble(s, "not a database");
	assert_trouble(s, "move the file aside");
	assert_int_equal(ibcc_state_undo(s, 0, &p, &first, NULL, &why), -EIO);
	assert_non_null(strstr(why.text, "disable"));
	assert_null(ibcc_state_history(s, 1, &err));
	assert_int_equal(ibcc_state_check(s, &why), -EIO);
	plan_add(&p, GUID_A, CA, 0, 2, 0);
	assert_int_equal(carry(&f, s, "tune", &p, 0), -EIO);
	assert_int_equal(carry(&f, s, "disable", &p, 0), 0);
	assert_int_equal(fake_value(&f, GUID_A, CA, 0), 0);
	/* What was just taken off must not come back by a rollback. */
	ibcc_plan_fini(&p);
	assert_int_equal(ibcc_state_undo(s, 0, &p, &first, NULL, &why), -EIO);

	assert_int_equal(rename(kept, file), 0);
	assert_int_equal(ibcc_state_check(s, &why), 0);
	assert_string_equal(newest_action(s, "action"), "disable");
	assert_undo(s, 0, 2, 1);
	assert_int_equal(roll_back(&f, s), 0);
	assert_int_equal(fake_value(&f, GUID_A, CA, 0), 1);
	assert_int_equal(fake_value(&f, GUID_B, CA, 0), 11);
	ibcc_state_close(s);
	ibcc_plan_fini(&f.applied);
}

/* The folder comes later, as one that is mounted does. */
static void test_no_folder(void **state)
{
	struct ibcc_why why = { "" };
	char file[512];
	int err = 0;
	struct ibcc_state *s;

	(void)state;
	snprintf(file, sizeof(file), "%s", files_path("later/state.db"));
	s = ibcc_state_open(file, &err, &why);
	assert_non_null(s);
	assert_trouble(s, "folder");
	assert_int_equal(mkdir(files_path("later"), 0755), 0);
	assert_int_equal(ibcc_state_check(s, &why), 0);
	one_change(s, GUID_A, 1, 2, 0);
	assert_undo(s, 0, 1, 1);
	ibcc_state_close(s);
}

/* The end of a transaction is what cannot be written: what was made is known nevertheless. */
static void test_no_end(void **state)
{
	struct ibcc_state *s = open_state("end.db");
	struct fake_applier f = fake_applier();
	struct ibcc_plan p = { 0 };

	(void)state;
	set_no_end(s, true);
	plan_add(&p, GUID_A, CA, 0, 1, 2);
	assert_int_equal(carry(&f, s, "tune", &p, 0), -EIO);
	assert_int_equal(f.runs, 1);
	assert_true(ibcc_state_is_ahead(s));
	assert_undo(s, 0, 1, 1);
	assert_undo(s, 1, 1, 1); /* to its moment, too, as for a trial */
	assert_int_equal(roll_back(&f, s), 0);
	assert_int_equal(fake_value(&f, GUID_A, CA, 0), 1);
	assert_undo(s, 0, 0, 0);
	ibcc_plan_fini(&p);
	ibcc_plan_fini(&f.applied);
	ibcc_state_close(s);
}

static void run(struct ibcc_state *s, const char *sql)
{
	assert_int_equal(sqlite3_exec(s->db, sql, NULL, NULL, NULL), 0);
}

/* Of what is to be written down a part can be, and then the disk is full again. */
static void test_in_part(void **state)
{
	struct ibcc_state *s = open_state("part.db");
	struct fake_applier f = fake_applier();
	struct ibcc_plan p = { 0 };
	int64_t first = 0;

	(void)state;
	one_change(s, GUID_A, 1, 2, 0);
	run(s, "PRAGMA query_only = 1");
	assert_int_equal(roll_back(&f, s), 0);
	plan_add(&p, GUID_B, CA, 0, 11, 0);
	assert_int_equal(carry(&f, s, "disable", &p, 0), 0);
	ibcc_plan_fini(&p);
	run(s, "PRAGMA query_only = 0");
	run(s, "CREATE TEMP TRIGGER t BEFORE INSERT ON txn WHEN NEW.action = 'disable' BEGIN"
	       " SELECT RAISE(ABORT, 'no'); END");
	assert_int_equal(ibcc_state_check(s, NULL), -EIO);
	assert_string_equal(newest_action(s, "action"), "rollback");
	assert_true(ibcc_state_is_ahead(s));
	run(s, "DROP TRIGGER t");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(ibcc_state_undo(s, 0, &p, &first, NULL, NULL), 0);
		assert_int_equal(p.n, 1);
		assert_true(p.change[0].node_guid == GUID_B);
		assert_int_equal(p.change[0].old_data[5], 11);
		ibcc_plan_fini(&p);
		assert_int_equal(ibcc_state_check(s, NULL), 0);
		assert_false(ibcc_state_is_ahead(s));
		assert_string_equal(newest_action(s, "action"), "disable");
	}
	ibcc_plan_fini(&f.applied);
	ibcc_state_close(s);
}

static void *commit_soon(void *db)
{
	usleep(50000);
	return sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) ? db : NULL;
}

/* A user that can only read waits for a writer to end, as one that can write does. */
static void test_read_beside(void **state)
{
	struct ibcc_state *s = open_state("beside.db");
	sqlite3 *other = NULL;
	json_t *list;
	pthread_t thread;
	void *failed;
	int err = 0;

	(void)state;
	one_change(s, GUID_A, 1, 2, 0);
	run(s, SET_OUTCOME("open") ", pid = 0;"
				   "CREATE INDEX i ON txn (iif(outcome = 'open', 0,"
				   " json_extract('{}', 'no')))");
	ibcc_state_close(s);
	s = open_state("beside.db");
	assert_trouble(s, "no");
	assert_int_equal(sqlite3_open(files_path("beside.db"), &other), 0);
	assert_int_equal(sqlite3_exec(other, "BEGIN EXCLUSIVE", NULL, NULL, NULL), 0);
	assert_int_equal(pthread_create(&thread, NULL, commit_soon, other), 0);
	list = ibcc_state_history(s, 1, &err);
	assert_int_equal(pthread_join(thread, &failed), 0);
	assert_null(failed);
	assert_int_equal(json_array_size(list), 1);
	json_decref(list);
	sqlite3_close(other);
	ibcc_state_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_disk_full),   cmocka_unit_test(test_read_only),
		cmocka_unit_test(test_goes_away),   cmocka_unit_test(test_moved_aside),
		cmocka_unit_test(test_never_known), cmocka_unit_test(test_no_folder),
		cmocka_unit_test(test_no_end),      cmocka_unit_test(test_in_part),
		cmocka_unit_test(test_read_beside),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
