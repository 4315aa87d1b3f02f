/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A state file, read by a user that may write neither it nor anything beside it. */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "states.h"

#define NAME   "100%?#.db" /* it is no URI */
#define NOBODY 65534
#define UNREAD 255

int __wrap_nanosleep(const struct timespec *time, struct timespec *left);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);

/* A clock that goes forward only where the state waits. */
static uint64_t waited_ns;

int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
	(void)left;
	waited_ns += (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
	return 0;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	(void)clock;
	t->tv_sec = (time_t)(1 + waited_ns / 1000000000u);
	t->tv_nsec = (long)(waited_ns % 1000000000u);
	return 0;
}

/* More than the cache takes, so that a half of it is in the file before it is committed. */
static const char large_write[] =
	"PRAGMA journal_mode = TRUNCATE; PRAGMA cache_size = 1; BEGIN IMMEDIATE;"
	"DELETE FROM change; DELETE FROM txn;"
	"WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 1000)"
	" INSERT INTO sample SELECT x, hex(zeroblob(500)) FROM c";

/* A process that is in the middle of a write, until it is killed. */
static pid_t writer(void)
{
	int done[2];
	pid_t pid;
	char ok = 0;

	assert_int_equal(pipe(done), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		sqlite3 *db = NULL;

		ok = !prctl(PR_SET_PDEATHSIG, SIGKILL) && /* where the test fails */
		     !sqlite3_open(files_path(NAME), &db) &&
		     !sqlite3_exec(db, large_write, NULL, NULL, NULL);
		if (write(done[1], &ok, 1) == 1)
			pause();
		_exit(1);
	}
	assert_int_equal(read(done[0], &ok, 1), 1);
	assert_int_equal(ok, 1);
	close(done[0]);
	close(done[1]);
	return pid;
}

static void end(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static uint8_t n_read(struct ibcc_state *s)
{
	int err = 0;
	json_t *list = ibcc_state_history(s, 10, &err);
	uint8_t n = list ? (uint8_t)json_array_size(list) : UNREAD;

	json_decref(list);
	return n;
}

/* Transactions that a user without the right to write reads, or UNREAD, and what is wrong by its
 * state. */
static uint8_t as_reader(char *trouble, size_t len)
{
	int out[2], status;
	ssize_t got;
	pid_t pid;

	assert_int_equal(chmod(files_path(NAME), 0444), 0);
	assert_int_equal(chmod(files_path(NAME "-journal"), 0444), 0);
	assert_int_equal(chmod(files_path(""), 0555), 0);
	assert_int_equal(pipe(out), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct ibcc_state *s;
		const char *text;
		int err;

		if (!geteuid() && setuid(NOBODY))
			_exit(UNREAD - 1);
		s = ibcc_state_open(files_path(NAME), &err, NULL);
		text = s ? ibcc_state_trouble(s) : NULL;
		if (!text || write(out[1], text, strlen(text)) < 0)
			_exit(UNREAD - 1);
		_exit(n_read(s));
	}
	close(out[1]);
	got = read(out[0], trouble, len - 1);
	assert_true(got >= 0);
	trouble[got] = '\0';
	close(out[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(chmod(files_path(""), 0700), 0);
	assert_int_equal(chmod(files_path(NAME), 0644), 0);
	assert_int_equal(chmod(files_path(NAME "-journal"), 0644), 0);
	return (uint8_t)WEXITSTATUS(status);
}

static void assert_reads(uint8_t n, const char *reason, const char *step)
{
	char trouble[512];

	assert_int_equal(as_reader(trouble, sizeof(trouble)), n);
	if (!strstr(trouble, reason) || !strstr(trouble, step))
		fail_msg("%s", trouble);
}

/* Nothing is read of a write that goes on, or that has not ended, and it is told why. */
static void test_half_written(void **state)
{
	struct ibcc_state *s = open_state(NAME);
	struct stat st;
	pid_t pid;

	(void)state;
	one_change(s, GUID_A, 1, 2, 0);
	ibcc_state_close(s);
	assert_reads(1, "readonly", "make it and its folder writable");
	pid = writer();
	assert_reads(UNREAD, "locked", "end the program that holds it");
	end(pid);
	assert_int_equal(stat(files_path(NAME "-journal"), &st), 0);
	assert_true(st.st_size > 0);
	assert_reads(UNREAD, "was killed while it wrote", "start ibcc-tuned");
	/* A user that may write takes it back. */
	s = open_state(NAME);
	assert_null(ibcc_state_trouble(s));
	assert_int_equal(n_read(s), 1);
	ibcc_state_close(s);
	assert_reads(1, "readonly", "make it and its folder writable");
}

/* Whatever a request reads and writes while another program holds the file, it waits once, for a
 * moment, and says why it failed. A later request waits again, as that program may have ended.
 */
static void test_short_wait(void **state)
{
	struct ibcc_state *s = open_state("held.db");
	struct ibcc_debts debts;
	struct ibcc_why why = { "" };
	sqlite3 *other = NULL;
	uint64_t before;
	int64_t id;

	(void)state;
	one_change(s, GUID_A, 1, 2, 0);
	assert_int_equal(sqlite3_open(files_path("held.db"), &other), SQLITE_OK);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(sqlite3_exec(other, "BEGIN EXCLUSIVE", NULL, NULL, NULL), 0);
		before = waited_ns;
		assert_int_equal(n_read(s), UNREAD);
		assert_int_equal(ibcc_state_not_read(s, -EIO, &why), -EIO);
		assert_non_null(strstr(why.text, "locked; end the program that holds it"));
		for (unsigned int k = 0; k < 3; k++) {
			assert_int_equal(n_read(s), UNREAD);
			assert_int_equal(ibcc_state_debts(s, &debts), -EIO);
			assert_null(ibcc_state_note(s, "paused"));
			assert_int_equal(ibcc_state_note_set(s, "paused", "yes"), -EIO);
		}
		assert_in_range(waited_ns - before, 100000000, 400000000);
		waited_ns += 2000000000;
		assert_int_equal(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), 0);
		assert_int_equal(n_read(s), 1);
	}
	/* One that reads holds up writes only. */
	assert_int_equal(sqlite3_exec(other, "BEGIN; SELECT * FROM txn", NULL, NULL, NULL), 0);
	before = waited_ns;
	assert_int_equal(ibcc_state_begin(s, &(struct ibcc_txn){ .action = "apply" },
					  &(struct ibcc_plan){ .n = 0 }, NULL, &id, &why),
			 -EIO);
	assert_non_null(strstr(why.text, "end the program that holds it"));
	assert_in_range(waited_ns - before, 100000000, 400000000);
	assert_int_equal(n_read(s), 1);
	sqlite3_close(other);
	assert_int_equal(ibcc_state_check(s, &why), 0);
	ibcc_state_close(s);
}

/* A damaged row of a transaction is no error of SQLite's, and says nothing of the file. */
static void test_damaged_row(void **state)
{
	struct ibcc_state *s = open_state("row.db");
	struct ibcc_why why = { "" };
	int64_t id = one_change(s, GUID_A, 1, 2, 0);
	int err = 0;
	json_t *o = ibcc_state_transaction(s, id, &err);

	(void)state;
	assert_non_null(o);
	json_decref(o);
	assert_int_equal(sqlite3_exec(s->db, "UPDATE change SET old = x'01'", NULL, NULL, NULL), 0);
	assert_null(ibcc_state_transaction(s, id, &err));
	assert_int_equal(err, -EIO);
	assert_int_equal(ibcc_state_not_read(s, err, &why), -EIO);
	assert_non_null(strstr(why.text, "row.db: a row is damaged; "));
	assert_null(strstr(why.text, "new file"));
	assert_int_equal(n_read(s), 1);
	assert_int_equal(ibcc_state_not_read(s, -ENOMEM, &why), -ENOMEM);
	ibcc_state_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_half_written),
		cmocka_unit_test(test_short_wait),
		cmocka_unit_test(test_damaged_row),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
