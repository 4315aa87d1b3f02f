/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Changes of a file of the administrator's that are killed, or disturbed, at each system call. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "tests/unit/acls.h"
#include "tests/unit/edits.h"

/* Starts an action in a process that stops before and after each system call. */
static pid_t trace(int (*action)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(99);
		raise(SIGSTOP);
		_exit(action() ? 1 : 0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 99)
		return 0;
	assert_true(WIFSTOPPED(status));
	assert_int_equal(ptrace(PTRACE_SETOPTIONS, pid, NULL,
				(void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)),
			 0);
	return pid;
}

/* Lets it go on to its next stop; false if it has ended, then with *rc. */
static bool step(pid_t pid, int *rc)
{
	int status;

	assert_int_equal(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSTOPPED(status))
		return true;
	assert_true(WIFEXITED(status));
	*rc = WEXITSTATUS(status);
	return false;
}

/* Lets an action go on to its system call number n, from 1. 0: it had ended before, without an
 * error.
 */
static pid_t stop_at(int (*action)(void), unsigned int n)
{
	pid_t pid = trace(action);
	int rc;

	if (!pid)
		skip();
	for (unsigned int stops = 2 * n - 1; stops; stops--) {
		if (step(pid, &rc))
			continue;
		assert_int_equal(rc, 0);
		return 0;
	}
	return pid;
}

/* Kills it before that system call. */
static bool killed_at(int (*action)(void), unsigned int n)
{
	pid_t pid = stop_at(action, n);
	int status;

	if (!pid)
		return false;
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return true;
}

static int write_one(void)
{
	return change("f", "one");
}

static int write_two(void)
{
	return change("f", "two");
}

static int undo_f(void)
{
	return undo("f");
}

/* Which of two texts the file has. */
static bool is_new(const char *old, const char *new)
{
	char *text = files_read(files_path("f"));
	bool is = !strcmp(text, new);

	assert_true(is || !strcmp(text, old));
	free(text);
	return is;
}

static void test_crash_first(void **state)
{
	unsigned int n, n_new = 0;

	(void)state;
	for (n = 1;; n++) {
		clean();
		files_write("f", "original");
		if (!killed_at(write_one, n))
			break;
		if (is_new("original", "one")) {
			n_new++;
			assert_file("f.ibcc-before", "original");
			if (n % 2) /* both ways to go on */
				assert_int_equal(change("f", "three"), 0);
			assert_int_equal(undo("f"), 0);
		} else {
			assert_true(undo("f") < 0);
			assert_file("f", "original");
			assert_int_equal(change("f", "three"), 0);
			assert_int_equal(undo("f"), 0);
		}
		assert_file("f", "original");
		assert_false(exists("f.ibcc-next"));
		assert_false(exists("f.ibcc-new"));
	}
	print_message("killed at %u calls, at %u of them after the change\n", n - 1, n_new);
	assert_true(n > 40 && n_new > 3 && n_new < n / 2);
}

static void test_crash_second(void **state)
{
	unsigned int n, n_new = 0;

	(void)state;
	for (n = 1;; n++) {
		clean();
		files_write("f", "original");
		assert_int_equal(change("f", "one"), 0);
		if (!killed_at(write_two, n))
			break;
		n_new += is_new("one", "two");
		assert_file("f.ibcc-before", "original");
		if (n % 2)
			assert_int_equal(change("f", "three"), 0);
		assert_int_equal(undo("f"), 0);
		assert_file("f", "original");
	}
	print_message("killed at %u calls, at %u of them after the change\n", n - 1, n_new);
	assert_true(n > 40 && n_new > 3 && n_new < n / 2);
}

/* The crash of one change, and that of the next. */
static void test_crash_twice(void **state)
{
	unsigned int n, k;

	(void)state;
	for (n = 1;; n += 3) {
		clean();
		files_write("f", "original");
		if (!killed_at(write_one, n))
			break;
		for (k = 1; killed_at(write_two, k); k += 5) {
			char *text = files_read(files_path("f"));

			assert_true(!strcmp(text, "original") || !strcmp(text, "one") ||
				    !strcmp(text, "two"));
			if (strcmp(text, "original"))
				assert_file("f.ibcc-before", "original");
			free(text);
		}
		assert_int_equal(undo("f"), 0);
		assert_file("f", "original");
	}
	assert_true(n > 40);
}

/* The administrator saves the file at a moment of the change: it is refused then, or what was saved
 * is kept as FILE.ibcc-before, or stays as the file. Only between the last look at the file and the
 * rename, for a few calls, it is lost.
 */
static void test_changed_at_each_call(void **state)
{
	unsigned int n, n_lost = 0, n_refused = 0;
	char *before;
	pid_t pid;
	int rc = 0;

	(void)state;
	for (n = 1;; n++) {
		clean();
		files_write("f", "original");
		pid = stop_at(write_one, n);
		if (!pid)
			break;
		files_write("f", "by hand");
		while (step(pid, &rc))
			;
		n_refused += rc == 1;
		if (!is_new("by hand", "one"))
			continue;
		before = files_read(files_path("f.ibcc-before"));
		n_lost += strcmp(before, "by hand") != 0;
		free(before);
	}
	print_message("saved at %u calls: refused at %u, lost at %u\n", n - 1, n_refused, n_lost);
	assert_true(n_refused > 20);
	assert_true(n_lost <= 8);
}

static void test_crash_undo(void **state)
{
	unsigned int n, n_new = 0;

	(void)state;
	for (n = 1;; n++) {
		clean();
		files_write("f", "original");
		assert_int_equal(change("f", "one"), 0);
		if (!killed_at(undo_f, n))
			break;
		if (is_new("one", "original"))
			n_new++;
		else
			assert_int_equal(undo("f"), 0);
		assert_file("f", "original");
		assert_int_equal(change("f", "two"), 0);
		assert_file("f.ibcc-before", "original");
	}
	print_message("killed at %u calls, at %u of them after the change\n", n - 1, n_new);
	assert_true(n > 40 && n_new > 3 && n_new < n);
}

/* On a disk that loses power: what was written is synced before it is renamed, and the folder
 * after.
 */
static void test_order(void **state)
{
	unsigned int n_written = 0, n_renamed = 0, n_renames = 0;
	bool entry = true;
	int rc = 1;
	pid_t pid;

	(void)state;
	clean();
	files_write("f", "original");
	pid = trace(write_one);
	if (!pid)
		skip();
	for (; step(pid, &rc); entry = !entry) {
		struct __ptrace_syscall_info info;

		if (!entry)
			continue;
		if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof(info), &info) <= 0)
			fail();
		switch (info.entry.nr) {
#ifdef SYS_rename
		case SYS_rename:
#endif
#ifdef SYS_renameat
		case SYS_renameat:
#endif
		case SYS_renameat2:
			assert_int_equal(n_written, 0);
			assert_int_equal(n_renamed, 0);
			n_renamed = 1;
			n_renames++;
			break;
		case SYS_write:
			assert_int_equal(n_renamed, 0);
			n_written++;
			break;
		case SYS_fsync: n_written = n_renamed = 0; break;
		}
	}
	assert_int_equal(rc, 0);
	assert_int_equal(n_written, 0);
	assert_int_equal(n_renamed, 0);
	assert_int_equal(n_renames, 4);
}

/* Whether the new file gives rights to a group only with the ACL that FILE has, or without one as
 * FILE has none. The bits of the group are the mask of an ACL.
 */
static bool is_closed(void)
{
	bool wants = getxattr(files_path("f"), ACL_ACCESS, NULL, 0) >= 0;
	struct stat st;

	return stat(files_path("f.ibcc-new"), &st) || !(st.st_mode & 070) ||
	       (getxattr(files_path("f.ibcc-new"), ACL_ACCESS, NULL, 0) >= 0) == wants;
}

/* A user who opens the new file at any moment keeps its descriptor, and reads what is written
 * later. So rights come last: at no call does an ACL of the folder give a user what FILE does not,
 * nor the mode give the group what only a user in FILE's ACL has.
 */
static void test_rights_at_each_call(void **state)
{
	uint8_t acl[ACL_BYTES];

	(void)state;
	acl_make(acl, ACL_RW, 0, ACL_RW);
	for (unsigned int of_file = 0; of_file < 2; of_file++) {
		unsigned int n = 0;
		pid_t pid;
		int rc = 1;

		clean();
		files_write("f", "original");
		assert_int_equal(chmod(files_path("f"), 0640), 0);
		if (setxattr(files_path(of_file ? "f" : ""), of_file ? ACL_ACCESS : ACL_DEFAULT,
			     acl, sizeof(acl), 0))
			skip();
		pid = trace(write_one);
		if (!pid)
			skip();
		for (; step(pid, &rc); n++)
			if (!is_closed())
				fail_msg("call %u, %s", n / 2 + 1, of_file ? "file" : "folder");
		assert_int_equal(rc, 0);
		if (!of_file)
			assert_int_equal(removexattr(files_path(""), ACL_DEFAULT), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_crash_first),          cmocka_unit_test(test_crash_second),
		cmocka_unit_test(test_crash_twice),          cmocka_unit_test(test_crash_undo),
		cmocka_unit_test(test_changed_at_each_call), cmocka_unit_test(test_order),
		cmocka_unit_test(test_rights_at_each_call),
	};

	/* In memory if there is such a folder: hundreds of changes wait for a disk for half a
	 * minute.
	 */
	if (!access("/dev/shm", W_OK))
		strcpy(files_dir, "/dev/shm/ibcc.XXXXXX");
	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
