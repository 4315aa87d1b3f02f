/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Programs that print a map, hang, fail and leave processes behind. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/jobs/ask.h"
#include "tests/unit/files.h"

static struct ibcc_ask ask = { .stop_fd = -1 };
static struct ibcc_why why;
static char *text;
static size_t len;

static int sh(const char *script, unsigned int timeout_s)
{
	const char *const argv[] = { "/bin/sh", "-c", script, NULL };

	why.text[0] = '\0';
	return ibcc_ask_program(&ask, "the script", argv, timeout_s, &text, &len, &why);
}

static void refused(const char *script, unsigned int timeout_s, const char *want)
{
	assert_int_equal(sh(script, timeout_s), -EIO);
	assert_null(text);
	assert_string_equal(why.text, want);
}

static void test_answers(void **state)
{
	(void)state;
	assert_int_equal(sh("printf 'a\\0b'; echo x >&2; cat", 60), 0);
	assert_int_equal(len, 3);
	assert_memory_equal(text, "a\0b", 3);
	free(text);
	assert_int_equal(sh(":", 60), 0);
	assert_int_equal(len, 0);
	free(text);
	assert_int_equal(sh("head -c 3000000 /dev/zero; head -c 300000 /dev/zero >&2", 60), 0);
	assert_int_equal(len, 3000000);
	free(text);
}

static void test_failures(void **state)
{
	const char *const none[] = { "ibcc-no-such-program", NULL };

	(void)state;
	refused("echo x; exit 3", 60, "the script ended with exit code 3");
	refused("printf 'no \\033[31mway\\nout\\n' >&2; exit 1", 60,
		"the script ended with exit code 1: no ?[31mway");
	refused("kill -KILL $$", 60, "the script was ended by signal 9");
	refused("head -c 70000000 /dev/zero", 60,
		"the script printed more than 67108864 bytes and was killed");
	assert_int_equal(ibcc_ask_program(&ask, none[0], none, 60, &text, &len, &why), -EIO);
	assert_string_equal(why.text, "ibcc-jobs does not find the program ibcc-no-such-program; "
				      "install it on this host, or correct the PATH of "
				      "ibcc-jobs.service");
}

/* Whether a process that wrote its number into a file has gone. */
static bool has_gone(const char *name)
{
	char *number = files_read(files_path(name));
	pid_t pid = (pid_t)atoi(number);

	free(number);
	assert_true(pid > 1);
	for (int i = 0; i < 200 && !kill(pid, 0); i++)
		usleep(50000);
	return kill(pid, 0) && errno == ESRCH;
}

static void test_hangs(void **state)
{
	char script[900];

	(void)state;
	/* It ignores all that can be ignored, and so does its child. */
	snprintf(script, sizeof(script),
		 "trap '' TERM INT HUP; sh -c 'echo $$ >%s; sleep 600' & wait",
		 files_path("child"));
	refused(script, 1,
		"the script had not ended after 1 s and was killed; see whether the batch system "
		"answers");
	assert_true(has_gone("child"));
	/* It closes its output, and does not end. */
	refused("exec >&- 2>&-; sleep 600", 1,
		"the script had not ended after 1 s and was killed; see whether the batch system "
		"answers");
	/* It ends, but a process that it leaves behind does not, with another output. */
	snprintf(script, sizeof(script),
		 "sh -c 'echo $$ >%s; exec sleep 600' >&- 2>&- & sleep 0.2; echo x",
		 files_path("left"));
	assert_int_equal(sh(script, 60), 0);
	assert_int_equal(len, 2);
	free(text);
	assert_true(has_gone("left"));
	assert_int_equal(ask.left, 0);
}

static void test_stop(void **state)
{
	int fd[2];

	(void)state;
	assert_int_equal(pipe(fd), 0);
	assert_int_equal(write(fd[1], "x", 1), 1);
	ask.stop_fd = fd[0];
	assert_int_equal(sh("sleep 600", 60), -ECANCELED);
	assert_null(text);
	assert_int_equal(sh("exec >&- 2>&-; sleep 600", 60), -ECANCELED);
	ask.stop_fd = -1;
	close(fd[0]);
	close(fd[1]);
}

static void test_file(void **state)
{
	char folder[600];

	(void)state;
	assert_int_equal(ibcc_ask_file(files_write("map", "{}"), &text, &len, &why), 0);
	assert_int_equal(len, 2);
	assert_memory_equal(text, "{}", 2);
	free(text);
	assert_int_equal(ibcc_ask_file(files_path("none"), &text, &len, &why), -EIO);
	assert_non_null(strstr(why.text, "/none cannot be read: No such file or directory"));
	snprintf(folder, sizeof(folder), "%s", files_path("pipe"));
	assert_int_equal(mkfifo(folder, 0600), 0);
	assert_int_equal(ibcc_ask_file(folder, &text, &len, &why), -EIO);
	assert_non_null(strstr(why.text, "/pipe is no regular file"));
	assert_int_equal(truncate(files_path("map"), 70000000), 0);
	assert_int_equal(ibcc_ask_file(files_path("map"), &text, &len, &why), -EIO);
	assert_non_null(strstr(why.text, "/map has more than 67108864 bytes"));
	assert_null(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers), cmocka_unit_test(test_failures),
		cmocka_unit_test(test_hangs),   cmocka_unit_test(test_stop),
		cmocka_unit_test(test_file),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
