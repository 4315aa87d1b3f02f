/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One writer: the second one learns which was first, whatever becomes of the file. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "files.h"

#include <ibcc/lock.h>

static int take(const char *name, struct ibcc_why *why)
{
	int fd = -2, rc = ibcc_lock_take(name, &fd, why);

	assert_true(rc ? fd == -1 : fd >= -1);
	return rc ? rc : fd;
}

#define UNPRIVILEGED 65534

/* In another process, with another descriptor; root becomes user `uid` there. */
static int take_elsewhere(const char *name, uid_t uid)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		struct ibcc_why why = { "" };
		int fd, rc = !geteuid() && setuid(uid) ? -EPERM : 0;

		_exit(-(rc ? rc : ibcc_lock_take(name, &fd, &why)));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return -WEXITSTATUS(status);
}

static void test_one_holder(void **state)
{
	struct ibcc_why why = { "" };
	char name[512], who[32];
	int fd;

	(void)state;
	snprintf(name, sizeof(name), "%s", files_path("state.db"));
	for (int i = 0; i < 3; i++) {
		fd = take(name, &why);
		assert_true(fd >= 0);
		assert_int_equal(take(name, &why), -EBUSY);
		snprintf(who, sizeof(who), "process %d holds the lock ", (int)getpid());
		assert_non_null(strstr(why.text, who));
		assert_int_equal(take_elsewhere(name, 0), -EBUSY);
		close(fd);
		assert_int_equal(take_elsewhere(name, 0), 0); /* and lets go by ending */
	}
}

/* One whose holder has stopped: others know its process, and one of them may write in its place. */
static void test_take_over(void **state)
{
	struct ibcc_why why = { "" };
	char name[512];
	int holder, fd, second;

	(void)state;
	snprintf(name, sizeof(name), "%s", files_path("stopped.db"));
	assert_int_equal(ibcc_lock_holder(name), 0);
	holder = take(name, &why);
	assert_true(holder >= 0);
	assert_int_equal(ibcc_lock_holder(name), getpid());
	assert_int_equal(ibcc_lock_take_over(name, &fd, &why), 0);
	assert_int_equal(ibcc_lock_take_over(name, &second, &why), -EBUSY);
	assert_int_equal(second, -1);
	assert_non_null(strstr(why.text, "in place of the daemon"));
	close(fd);
	assert_int_equal(ibcc_lock_take_over(name, &fd, &why), 0);
	assert_int_equal(ibcc_lock_holder(name), getpid()); /* as before */
	close(fd);
	close(holder);
	assert_int_equal(ibcc_lock_holder(name), 0); /* its number is still in the file */
}

/* What is done to the file gives no process a second lock at the same place. */
static void test_removed(void **state)
{
	struct ibcc_why why = { "" };
	char name[512], path[600];
	int fd, second;

	(void)state;
	snprintf(name, sizeof(name), "%s", files_path("gone.db"));
	snprintf(path, sizeof(path), "%s.lock", name);
	fd = take(name, &why);
	assert_int_equal(unlink(path), 0);
	second = take(name, &why);
	assert_true(second >= 0);
	assert_int_equal(take(name, &why), -EBUSY);
	close(fd);
	close(second);
	unlink(path);
	assert_int_equal(symlink("/dev/null", path), 0);
	assert_int_equal(take(name, &why), -ELOOP);
	unlink(path);
}

/* Without a folder there is no other holder; a folder in which nothing can be made is the lock. */
static void test_no_place(void **state)
{
	struct ibcc_why why = { "" };
	int fd;

	(void)state;
	assert_int_equal(take("/proc/none/state.db", &why), -1);
	fd = take("/proc/self/task/state.db", &why);
	assert_true(fd >= 0);
	assert_int_equal(take("/proc/self/task/state.db", &why), -EBUSY);
	close(fd);
}

/* A folder in which we may make nothing is no lock: others may make the file there. */
static void test_no_right(void **state)
{
	char name[512];

	(void)state;
	assert_int_equal(chmod(files_path(""), 0711), 0);
	snprintf(name, sizeof(name), "%s", files_path("closed"));
	assert_int_equal(mkdir(name, 0555), 0);
	snprintf(name, sizeof(name), "%s", files_path("closed/state.db"));
	assert_int_equal(take_elsewhere(name, UNPRIVILEGED), -EACCES);
	assert_int_equal(access(name, F_OK), -1);
	assert_int_equal(rmdir(files_path("closed")), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_holder), cmocka_unit_test(test_take_over),
		cmocka_unit_test(test_removed),    cmocka_unit_test(test_no_place),
		cmocka_unit_test(test_no_right),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
