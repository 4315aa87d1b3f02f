/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a killed process leaves in a state file, and where it is. */
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "states.h"

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
	struct ibcc_execution c = { .applier = &f.base,
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
		ibcc_execute_plan(&c, &p, &r, NULL);
		break;
	case BEFORE_OUTCOME:
		sqlite3_exec(c.state->db,
			     "CREATE TEMP TRIGGER t BEFORE UPDATE OF ended ON txn BEGIN"
			     " SELECT RAISE(ABORT, 'no'); END",
			     NULL, NULL, NULL);
		ibcc_execute_plan(&c, &p, &r, NULL);
		break;
	case AFTER_OUTCOME: ibcc_execute_plan(&c, &p, &r, NULL); break;
	}
	kill(getpid(), SIGKILL);
}

/* It is unknown how far the dead process came: what it may have sent can be taken back, what it had
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
	struct ibcc_execution c = { .applier = &f.base,
				    .state = s,
				    .txn = { .who = "me", .action = "tune", .summary = "" } };
	struct ibcc_plan p = { 0 };
	struct ibcc_result r = { 0 };
	struct ibcc_why why = { "" };

	(void)state;
	assert_int_equal(sqlite3_exec(s->db, "PRAGMA query_only = 1", NULL, NULL, NULL), 0);
	plan_add(&p, GUID_A, CA, 0, 1, 2);
	assert_int_equal(ibcc_execute_plan(&c, &p, &r, &why), -EIO);
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
	char sql[256];

	(void)state;
	one_change(s, GUID_A, 1, 2, 0);
	snprintf(sql, sizeof(sql), SET_OUTCOME("open") ", pid = %d", (int)getppid());
	assert_int_equal(sqlite3_exec(s->db, sql, NULL, NULL, NULL), 0);
	again = open_state("living.db");
	assert_int_equal(ibcc_state_interrupted(again), 0);
	/* Unless that one only has the number, as the lock tells. */
	assert_int_equal(ibcc_state_claim(again), 0);
	assert_int_equal(ibcc_state_interrupted(again), 1);
	ibcc_state_close(again);
	again = open_state("living.db");
	assert_int_equal(ibcc_state_interrupted(again), 0);
	ibcc_state_close(again);
	ibcc_state_close(s);
}

static void test_place(void **state)
{
	struct ibcc_why why = { "" };
	char real[512], file[600];
	struct ibcc_state *s;
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
	s = ibcc_state_open(files_path("link.db"), &err, &why);
	assert_non_null(s);
	assert_non_null(strstr(ibcc_state_trouble(s), "link.db"));
	ibcc_state_close(s);
}

/* A FIFO has no end that ever comes. The alarm ends a test that waits for it. */
static void test_fifo(void **state)
{
	struct ibcc_why why = { "" };
	struct ibcc_state *s;
	int err = 0;

	(void)state;
	assert_int_equal(mkfifo(files_path("fifo.db"), 0600), 0);
	alarm(60);
	s = ibcc_state_open(files_path("fifo.db"), &err, &why);
	assert_non_null(s);
	assert_non_null(ibcc_state_trouble(s));
	assert_non_null(strstr(ibcc_state_trouble(s), "fifo.db: it is not a regular file"));
	ibcc_state_close(s);
	alarm(0);
}

/* A FIFO in the place of the journal. */
static void test_journal_fifo(void **state)
{
	struct ibcc_state *s = open_state("queue.db");
	struct ibcc_why why = { "" };
	int err = 0;

	(void)state;
	one_change(s, GUID_A, 1, 2, 0);
	ibcc_state_close(s);
	unlink(files_path("queue.db-journal"));
	assert_int_equal(mkfifo(files_path("queue.db-journal"), 0600), 0);
	alarm(60);
	s = ibcc_state_open(files_path("queue.db"), &err, &why);
	assert_non_null(s);
	assert_non_null(ibcc_state_trouble(s));
	ibcc_state_close(s);
	alarm(0);
}

/* A number as SQLite has it in its journals. */
static void put_number(FILE *f, uint32_t n)
{
	const uint8_t bytes[] = { (uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8),
				  (uint8_t)n };

	assert_int_equal(fwrite(bytes, 1, sizeof(bytes), f), sizeof(bytes));
}

/* A journal as a transaction over several databases leaves it, which SQLite deletes the common
 * journal of when it has been rolled back: of no page of the database, which has so
 * many, and the common journal is `victim`.
 */
static void put_journal(const char *path, uint32_t n_pages, const char *victim)
{
	static const uint8_t magic[8] = { 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7 };
	static const uint8_t zero[512 - sizeof(magic) - 20];
	FILE *f = fopen(path, "w");
	uint32_t sum = 0;

	assert_non_null(f);
	fwrite(magic, 1, sizeof(magic), f);
	put_number(f, 0); /* pages in it */
	put_number(f, 1); /* of their checksums */
	put_number(f, n_pages);
	put_number(f, 512);  /* sector */
	put_number(f, 4096); /* page */
	fwrite(zero, 1, sizeof(zero), f);
	put_number(f, 0x40000000 / 4096 + 1);
	fwrite(victim, 1, strlen(victim), f);
	for (const char *c = victim; *c; c++)
		sum += (uint8_t)*c;
	put_number(f, (uint32_t)strlen(victim));
	put_number(f, sum);
	fwrite(magic, 1, sizeof(magic), f);
	assert_int_equal(fclose(f), 0);
}

/* A user that can write in the folder must not have root delete another file. */
static void test_journal_of_another(void **state)
{
	struct ibcc_state *s = open_state("named.db");
	struct ibcc_why why = { "" };
	char victim[512];
	struct stat st;
	int err = 0;

	(void)state;
	one_change(s, GUID_A, 1, 2, 0);
	ibcc_state_close(s);
	snprintf(victim, sizeof(victim), "%s", files_path("victim.conf"));
	files_write("victim.conf", "PermitRootLogin no\n");
	assert_int_equal(stat(files_path("named.db"), &st), 0);
	put_journal(files_path("named.db-journal"), (uint32_t)(st.st_size / 4096), victim);
	s = ibcc_state_open(files_path("named.db"), &err, &why);
	assert_non_null(s);
	assert_int_equal(access(victim, F_OK), 0);
	/* The journal itself is spent, as one that a crash has left. */
	assert_null(ibcc_state_trouble(s));
	ibcc_state_close(s);
}

/* A view in the place of a table, which has no last row. */
static void test_view(void **state)
{
	struct ibcc_state *s = open_state("view.db");
	struct ibcc_why why = { "" };
	struct ibcc_plan p = { 0 };
	int64_t first = 0;
	int err = 0;

	(void)state;
	one_change(s, GUID_A, 1, 2, 0);
	assert_int_equal(
		sqlite3_exec(s->db,
			     "PRAGMA foreign_keys = OFF; ALTER TABLE change RENAME TO was;"
			     "CREATE VIEW change AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL"
			     " SELECT x + 1 FROM n) SELECT was.*, x FROM n, was",
			     NULL, NULL, NULL),
		SQLITE_OK);
	ibcc_state_close(s);
	alarm(60);
	s = ibcc_state_open(files_path("view.db"), &err, &why);
	assert_non_null(s);
	assert_int_not_equal(ibcc_state_undo(s, 0, &p, &first, NULL, &why), 0);
	assert_string_not_equal(why.text, "");
	ibcc_plan_fini(&p);
	ibcc_state_close(s);
	alarm(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_no_write_ahead_no_write),
		cmocka_unit_test(test_open_of_the_living),
		cmocka_unit_test(test_place),
		cmocka_unit_test(test_fifo),
		cmocka_unit_test(test_journal_fifo),
		cmocka_unit_test(test_journal_of_another),
		cmocka_unit_test(test_view),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
