/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What is on disk after each step, the ways back, and what a killed process leaves. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "fabrics.h"

#include "files.h"
#include "plans.h"

#include "daemon/carry.h"
#include "daemon/state_db.h"

#define GUID_A 0xa000000000000001u /* the top bit: numbers in the database are signed */
#define GUID_B 0x2u
#define CA     IBCC_CC_ATTR_CA_SETTING
#define CCT    IBCC_CC_ATTR_CCT

static struct ibcc_state *open_state(const char *name)
{
	struct ibcc_why why = { "" };
	int err = 0;
	struct ibcc_state *s = ibcc_state_open(files_path(name), &err, &why);

	if (!s)
		fail_msg("%s", why.text);
	return s;
}

/* Carries a plan out as a transaction and ends it with `err`. */
static int64_t transaction(struct ibcc_state *s, const struct ibcc_plan *plan, int err)
{
	struct ibcc_txn txn = { .who = "me", .action = "apply", .via = "none", .summary = "" };
	struct ibcc_result r;
	int64_t id = 0;
	uint32_t i;

	assert_int_equal(ibcc_state_begin(s, &txn, plan, NULL, &id, NULL), 0);
	assert_int_equal(ibcc_result_init(&r, plan->n), 0);
	for (i = 0; !err && i < plan->n; i++)
		r.change[i].outcome = IBCC_OUTCOME_VERIFIED;
	assert_int_equal(ibcc_state_end(s, id, &r, err, "as told", NULL), 0);
	ibcc_result_fini(&r);
	return id;
}

static int64_t one_change(struct ibcc_state *s, uint64_t guid, uint8_t from, uint8_t to, int err)
{
	struct ibcc_plan p = { 0 };
	int64_t id;

	plan_add(&p, guid, CA, 0, from, to);
	id = transaction(s, &p, err);
	ibcc_plan_fini(&p);
	return id;
}

static void assert_undo(struct ibcc_state *s, int64_t from, uint32_t n, int64_t first)
{
	struct ibcc_plan p = { 0 };
	int64_t got = -1;

	assert_int_equal(ibcc_state_undo(s, from, &p, &got, NULL), 0);
	assert_int_equal(p.n, n);
	assert_int_equal(got, first);
	ibcc_plan_fini(&p);
}

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
	assert_int_equal(ibcc_state_undo(s, 0, &p, &first, NULL), 0);
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
	assert_int_equal(ibcc_state_undo(s, b, &p, &first, NULL), 0);
	assert_int_equal(first, b);
	assert_int_equal(p.n, 1);
	assert_int_equal(p.change[0].old_data[5], 2);
	ibcc_plan_fini(&p);
	assert_int_equal(ibcc_state_undo(s, 99, &p, &first, &why), -ENOENT);
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

static void test_rollback_marks(void **state)
{
	struct ibcc_state *s = open_state("rollback.db");
	struct fake_applier f = fake_applier();
	struct ibcc_carry c = { .applier = &f.base,
				.state = s,
				.txn = { .who = "me", .action = "rollback", .summary = "" } };
	struct ibcc_plan joined = { 0 }, undo = { 0 };
	struct ibcc_result r = { 0 };
	int64_t a, first = 0;

	(void)state;
	a = one_change(s, GUID_A, 1, 2, 0);
	one_change(s, GUID_A, 2, 3, 0);
	assert_int_equal(ibcc_state_undo(s, 0, &joined, &first, NULL), 0);
	assert_int_equal(ibcc_plan_reverse(&joined, &undo), 0);
	c.txn.undoes_from = first;

	/* It fails: all is as before, to be tried again. */
	f.fail_guid = GUID_A;
	f.fail_err = -ETIMEDOUT;
	assert_int_equal(ibcc_carry_out(&c, &undo, &r, NULL), -EIO);
	ibcc_result_fini(&r);
	assert_undo(s, 0, 1, a);

	f.fail_guid = 0;
	assert_int_equal(ibcc_carry_out(&c, &undo, &r, NULL), 0);
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

	assert_int_equal(ibcc_state_undo(s, 0, &joined, &first, NULL), 0);
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

/* Where a process is when it is killed. */
enum step { IN_WRITE_AHEAD, IN_APPLIER, BEFORE_OUTCOME, AFTER_OUTCOME };

static int killer_run(struct ibcc_applier *a, const struct ibcc_plan *plan, struct ibcc_result *r,
		      struct ibcc_why *why)
{
	(void)a;
	(void)plan;
	(void)r;
	(void)why;
	return -kill(getpid(), SIGKILL);
}

static const struct ibcc_applier_ops killer_ops = { fake_ready, killer_run, NULL };

static void die_at(enum step step, const char *file)
{
	struct fake_applier f = fake_applier();
	struct ibcc_plan p = { 0 };
	struct ibcc_result r = { 0 };
	struct ibcc_carry c = { .applier = &f.base,
				.txn = { .who = "me", .action = "tune", .summary = "" } };
	int err;

	c.state = ibcc_state_open(file, &err, NULL);
	plan_add(&p, GUID_A, CA, 0, 1, 2);
	plan_add(&p, GUID_B, CA, 0, 11, 12);
	switch (step) {
	case IN_WRITE_AHEAD:
		sqlite3_exec(
			c.state->db,
			"BEGIN IMMEDIATE; INSERT INTO txn (pid, started, who, action, via, summary,"
			" undoes_from, outcome) VALUES (1, 1, '', 'tune', '', '', 0, 'open')",
			NULL, NULL, NULL);
		break;
	case IN_APPLIER:
		f.base.ops = &killer_ops;
		ibcc_carry_out(&c, &p, &r, NULL);
		break;
	case BEFORE_OUTCOME:
		sqlite3_exec(c.state->db,
			     "CREATE TEMP TRIGGER t BEFORE UPDATE ON txn BEGIN"
			     " SELECT RAISE(ABORT, 'no'); END",
			     NULL, NULL, NULL);
		ibcc_carry_out(&c, &p, &r, NULL);
		break;
	case AFTER_OUTCOME: ibcc_carry_out(&c, &p, &r, NULL); break;
	}
	kill(getpid(), SIGKILL);
}

/* Nobody knows how far the dead process came: what it may have sent can be taken back, what it had
 * not written down yet it has not sent.
 */
static void test_killed(void **state)
{
	static const struct {
		enum step step;
		const char *name, *outcome;
		uint32_t interrupted, to_undo;
	} cases[] = {
		{ IN_WRITE_AHEAD, "k0.db", NULL, 0, 0 },
		{ IN_APPLIER, "k1.db", "interrupted", 1, 2 },
		{ BEFORE_OUTCOME, "k2.db", "interrupted", 1, 2 },
		{ AFTER_OUTCOME, "k3.db", "done", 0, 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ibcc_state *s;
		json_t *list;
		int status, err = 0;
		pid_t child = fork();

		assert_true(child >= 0);
		if (!child)
			die_at(cases[i].step, files_path(cases[i].name));
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

		s = open_state(cases[i].name);
		assert_int_equal(ibcc_state_interrupted(s), cases[i].interrupted);
		assert_undo(s, 0, cases[i].to_undo, cases[i].to_undo ? 1 : 0);
		list = ibcc_state_history(s, 10, &err);
		assert_int_equal(json_array_size(list), cases[i].outcome ? 1 : 0);
		if (cases[i].outcome)
			assert_string_equal(json_string_value(json_object_get(
						    json_array_get(list, 0), "outcome")),
					    cases[i].outcome);
		json_decref(list);
		ibcc_state_close(s);
		s = open_state(cases[i].name);
		assert_int_equal(ibcc_state_interrupted(s), 0);
		ibcc_state_close(s);
	}
}

/* A disk that takes nothing: then nothing is sent either. */
static void test_no_write_ahead_no_write(void **state)
{
	struct ibcc_state *s = open_state("full.db");
	struct fake_applier f = fake_applier();
	struct ibcc_carry c = { .applier = &f.base,
				.state = s,
				.txn = { .who = "me", .action = "tune", .summary = "" } };
	struct ibcc_plan p = { 0 };
	struct ibcc_result r = { 0 };
	struct ibcc_why why = { "" };

	(void)state;
	assert_int_equal(sqlite3_exec(s->db, "PRAGMA query_only = 1", NULL, NULL, NULL), 0);
	plan_add(&p, GUID_A, CA, 0, 1, 2);
	assert_int_equal(ibcc_carry_out(&c, &p, &r, &why), -EIO);
	assert_int_equal(f.runs, 0);
	assert_non_null(strstr(why.text, "state file"));
	ibcc_result_fini(&r);
	ibcc_plan_fini(&p);
	ibcc_state_close(s);
}

/* Another process is in the middle of its work: that is not for us to close. */
static void test_open_of_the_living(void **state)
{
	struct ibcc_state *s = open_state("living.db"), *again;
	char sql[80];

	(void)state;
	one_change(s, GUID_A, 1, 2, 0);
	snprintf(sql, sizeof(sql), "UPDATE txn SET outcome = 'open', pid = %d", (int)getppid());
	assert_int_equal(sqlite3_exec(s->db, sql, NULL, NULL, NULL), 0);
	again = open_state("living.db");
	assert_int_equal(ibcc_state_interrupted(again), 0);
	ibcc_state_close(again);
	ibcc_state_close(s);
}

static void test_not_ready_leaves_no_trace(void **state)
{
	struct ibcc_state *s = open_state("ready.db");
	struct fake_applier f = fake_applier();
	struct ibcc_carry c = { .applier = &f.base,
				.state = s,
				.txn = { .who = "me", .action = "tune", .summary = "" } };
	struct ibcc_plan p = { 0 };
	struct ibcc_result r = { 0 };
	int err = 0;
	json_t *list;

	(void)state;
	f.ready_err = -EPERM;
	plan_add(&p, GUID_A, CA, 0, 1, 2);
	assert_int_equal(ibcc_carry_out(&c, &p, &r, NULL), -EPERM);
	assert_int_equal(f.runs, 0);
	list = ibcc_state_history(s, 10, &err);
	assert_int_equal(json_array_size(list), 0);
	json_decref(list);
	ibcc_result_fini(&r);
	ibcc_plan_fini(&p);
	ibcc_state_close(s);
}

/* One node fails: what the others took is taken back, and remembered as taken back. */
static void test_all_or_nothing(void **state)
{
	struct ibcc_state *s = open_state("all.db");
	struct fake_applier f = fake_applier();
	struct ibcc_carry c = { .applier = &f.base,
				.state = s,
				.txn = { .who = "me", .action = "apply", .summary = "" },
				.all_or_nothing = true };
	struct ibcc_plan p = { 0 };
	struct ibcc_result r = { 0 };
	struct ibcc_why why = { "" };

	(void)state;
	plan_add(&p, GUID_A, CA, 0, 1, 2);
	plan_add(&p, GUID_A, CCT, 0, 3, 4);
	plan_add(&p, GUID_B, CA, 0, 11, 12);
	f.fail_guid = GUID_B;
	f.fail_err = -EREMOTEIO; /* refused: surely not there */
	assert_int_equal(ibcc_carry_out(&c, &p, &r, &why), -EIO);
	assert_int_equal(f.runs, 2);
	assert_int_equal(fake_value(&f, GUID_A, CA, 0), 1);
	assert_int_equal(fake_value(&f, GUID_A, CCT, 0), 3);
	assert_int_equal(fake_value(&f, GUID_B, CA, 0), -1);
	assert_non_null(strstr(why.text, "taken back"));
	assert_int_equal(r.change[2].outcome, IBCC_OUTCOME_FAILED);
	assert_undo(s, 0, 0, 0);
	ibcc_result_fini(&r);
	ibcc_plan_fini(&p);
	ibcc_plan_fini(&f.applied);
	ibcc_state_close(s);
}

/* Old transactions go, but not the value that a rollback would need. */
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
	assert_int_equal(ibcc_state_prune(s, INT64_MAX), 0);
	list = ibcc_state_history(s, 10, &err);
	assert_int_equal(json_array_size(list), 1);
	json_decref(list);
	assert_int_equal(ibcc_state_undo(s, 0, &p, &first, NULL), 0);
	assert_int_equal(p.n, 1);
	assert_int_equal(p.change[0].old_data[5], 1);
	ibcc_plan_fini(&p);
	ibcc_state_close(s);
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

static void test_bad_files(void **state)
{
	struct ibcc_why why = { "" };
	int err = 0;

	(void)state;
	assert_null(ibcc_state_open(files_write("text.db", "this is no database, just a text of "
							   "more than a hundred bytes, so that "
							   "nobody takes it for a new one........"),
				    &err, &why));
	assert_int_equal(err, -EIO);
	assert_non_null(strstr(why.text, "text.db"));
	assert_null(ibcc_state_open("/nowhere/at/all.db", &err, &why));
	assert_non_null(strstr(why.text, "/nowhere"));
}

static void test_place(void **state)
{
	struct ibcc_why why = { "" };
	char real[512], file[600];
	struct stat st;
	int err = 0;

	(void)state;
	snprintf(real, sizeof(real), "%s", files_path("real"));
	snprintf(file, sizeof(file), "%s/state.db", real);
	assert_int_equal(mkdir(real, 0755), 0);
	if (!geteuid())
		assert_int_equal(chown(real, 4711, 4712), 0);
	assert_int_equal(symlink(real, files_path("linked")), 0);
	ibcc_state_close(open_state("linked/state.db"));
	assert_int_equal(lstat(file, &st), 0);
	if (!geteuid()) {
		assert_int_equal(st.st_uid, 4711);
		assert_int_equal(st.st_gid, 4712);
	}
	/* The file itself must be none. */
	assert_int_equal(symlink(file, files_path("link.db")), 0);
	assert_null(ibcc_state_open(files_path("link.db"), &err, &why));
	assert_non_null(strstr(why.text, "link.db"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_oldest_old_newest_new),
		cmocka_unit_test(test_from_a_number),
		cmocka_unit_test(test_outcomes_that_count),
		cmocka_unit_test(test_rollback_marks),
		cmocka_unit_test(test_table_that_grew),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_open_of_the_living),
		cmocka_unit_test(test_no_write_ahead_no_write),
		cmocka_unit_test(test_not_ready_leaves_no_trace),
		cmocka_unit_test(test_all_or_nothing),
		cmocka_unit_test(test_prune),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_bad_files),
		cmocka_unit_test(test_place),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
