/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Changes of a file of the administrator's on a disk that fails at each write and at each fsync in
 * turn, as a full or broken one does. The C library's two functions are replaced here.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "tests/unit/edits.h"

static unsigned int countdown; /* of calls to the one that fails; 0: none does */
static int error;

static bool is_failing(void)
{
	if (!countdown || --countdown)
		return false;
	errno = error;
	return true;
}

int fsync(int fd)
{
	return is_failing() ? -1 : (int)syscall(SYS_fsync, fd);
}

ssize_t write(int fd, const void *buf, size_t len)
{
	return is_failing() ? -1 : syscall(SYS_write, fd, buf, len);
}

/* FILE is the old or the new text, its owner can undo what has become of it, and can go on. */
static void fail_at_each(int err, bool is_second)
{
	const char *old = is_second ? "one" : "original";
	unsigned int n, n_new = 0;
	char *text;
	bool over;
	int rc;

	error = err;
	for (n = 1;; n++) {
		clean();
		files_write("f", "original");
		if (is_second)
			assert_int_equal(change("f", "one"), 0);
		countdown = n;
		rc = change("f", "two");
		over = countdown;
		countdown = 0;
		if (over)
			break;
		assert_int_equal(rc, -err);
		assert_false(exists("f.ibcc-new"));
		assert_false(exists("f.ibcc-lock"));
		text = files_read(files_path("f"));
		if (strcmp(text, old)) {
			assert_string_equal(text, "two");
			n_new++;
		}
		free(text);
		if (n % 2)
			assert_int_equal(change("f", "three"), 0);
		rc = undo("f");
		assert_true(!rc || (!(n % 2) && (rc == -ENOENT || rc == -EALREADY)));
		assert_file("f", "original");
	}
	print_message("failed at %u calls, at %u of them after the change\n", n - 1, n_new);
	assert_true(n > 6 && n_new >= 2);
}

static void test_first(void **state)
{
	(void)state;
	fail_at_each(ENOSPC, false);
}

static void test_second(void **state)
{
	(void)state;
	fail_at_each(EIO, true);
}

static void test_undo(void **state)
{
	unsigned int n;
	bool over;
	int rc;

	(void)state;
	error = ENOSPC;
	for (n = 1;; n++) {
		clean();
		files_write("f", "original");
		assert_int_equal(change("f", "one"), 0);
		countdown = n;
		rc = undo("f");
		over = countdown;
		countdown = 0;
		if (over)
			break;
		rc = undo("f");
		assert_true(!rc || rc == -ENOENT || rc == -EALREADY);
		assert_file("f", "original");
		assert_int_equal(change("f", "two"), 0);
		assert_file("f.ibcc-before", "original");
	}
	assert_true(n > 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first),
		cmocka_unit_test(test_second),
		cmocka_unit_test(test_undo),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
