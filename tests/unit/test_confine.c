/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The daemon's filter of system calls: what it kills, what it refuses, and what still works. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/confine.h"

#define UNCONFINED 200

/* The end of a child that is confined and calls fn: its status as of waitpid(). */
static int confined(int (*fn)(void))
{
	int status = 0;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		_exit(ibcc_confine() ? UNCONFINED : fn());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static int mount_something(void)
{
	return mount("none", "/mnt", "tmpfs", 0, NULL) ? errno : 0;
}

static void *in_a_thread(void *arg)
{
	*(int *)arg = 1;
	return NULL;
}

static int work(void)
{
	FILE *f = tmpfile();
	pthread_t thread;
	int done = 0;

	if (!f || fprintf(f, "state") != 5 || fflush(f) || fsync(fileno(f)))
		return 1;
	if (pthread_create(&thread, NULL, in_a_thread, &done) || pthread_join(thread, NULL))
		return 2;
	return done ? 0 : 3;
}

static void test_work(void **state)
{
	(void)state;
	assert_int_equal(confined(work), 0);
}

#ifdef IBCC_SANITIZED
/* The sanitizer's own calls have to work, so few are refused, and none kills. */
static void test_refused(void **state)
{
	int status = confined(mount_something);

	(void)state;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), EPERM);
}
#else
static int run_a_program(void)
{
	execl("/bin/true", "true", NULL);
	return errno;
}

static int make_a_process(void)
{
	return fork() < 0 ? errno : 0;
}

static int become_another(void)
{
	return setuid(65534) ? errno : 0;
}

/* Into the terminal that the daemon was started from. */
static int type_a_character(void)
{
	return ioctl(0, TIOCSTI, "x") ? errno : 0;
}

/* The kernel does not look at the upper half of a request. */
static int type_in_disguise(void)
{
	return syscall(SYS_ioctl, 0, 1ul << 32 | TIOCSTI, "x") ? errno : 0;
}

static int name_the_host(void)
{
	return sethostname("confined", 8) ? errno : 0;
}

static void test_killed(void **state)
{
	int (*const deadly[])(void) = { run_a_program, mount_something, become_another,
					type_a_character, type_in_disguise };

	(void)state;
	for (size_t i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++) {
		int status = confined(deadly[i]);

		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), SIGSYS);
	}
}

static void test_refused(void **state)
{
	int (*const refused[])(void) = { name_the_host, make_a_process };

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		int status = confined(refused[i]);

		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), EPERM);
	}
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_work),
		cmocka_unit_test(test_refused),
#ifndef IBCC_SANITIZED
		cmocka_unit_test(test_killed),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
