/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Files that are written as a whole: links are not followed. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ibcc/file.h>

#include "tests/unit/files.h"

static void assert_file(const char *name, const char *want)
{
	char *text = files_read(files_path(name));

	assert_string_equal(text, want);
	free(text);
}

static void test_replace(void **state)
{
	char target[512], ours[600];
	struct stat st;

	(void)state;
	assert_int_equal(ibcc_file_replace(files_path("plot.svg"), "one", 3), 0);
	assert_file("plot.svg", "one");
	assert_int_equal(ibcc_file_replace(files_path("plot.svg"), "two", 3), 0);
	assert_file("plot.svg", "two");

	/* Another user's link to a file that we may write. */
	snprintf(target, sizeof(target), "%s", files_write("precious", "mine"));
	assert_int_equal(symlink(target, files_path("link.svg")), 0);
	assert_int_equal(ibcc_file_replace(files_path("link.svg"), "plot", 4), 0);
	assert_file("precious", "mine");
	assert_file("link.svg", "plot");
	assert_int_equal(lstat(files_path("link.svg"), &st), 0);
	assert_true(S_ISREG(st.st_mode));

	/* The name of what is written first is taken: nothing happens. */
	snprintf(ours, sizeof(ours), "%s.%d", files_path("plot.svg"), (int)getpid());
	assert_int_equal(symlink(target, ours), 0);
	assert_int_equal(ibcc_file_replace(files_path("plot.svg"), "three", 5), -EEXIST);
	assert_file("precious", "mine");
	assert_file("plot.svg", "two");
	assert_int_equal(unlink(ours), 0);
}

/* A link to what cannot be replaced, as /dev/stdout is, is written to, and stays. */
static void test_streams(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(symlink("/dev/null", files_path("null")), 0);
	assert_int_equal(ibcc_file_replace(files_path("null"), "x", 1), 0);
	assert_int_equal(lstat(files_path("null"), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(ibcc_file_replace(files_path("none/plot.svg"), "x", 1), -ENOENT);
	assert_int_equal(unlink(files_path("null")), 0);
}

static int write_text(void *text, FILE *out)
{
	return fputs(text, out) == EOF ? -EIO : 0;
}

static int fail_halfway(void *text, FILE *out)
{
	fputs(text, out);
	return -EDOM;
}

static void test_write(void **state)
{
	(void)state;
	assert_int_equal(ibcc_file_write(files_path("page"), write_text, (void *)"whole"), 0);
	assert_file("page", "whole");
	assert_int_equal(ibcc_file_write(files_path("page"), fail_halfway, (void *)"half"), -EDOM);
	assert_file("page", "whole");
	assert_int_equal(ibcc_file_write(files_path("page"), write_text, (void *)""), 0);
	assert_file("page", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replace),
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_write),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
