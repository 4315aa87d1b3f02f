/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Files that are read or written as a whole. A link is not written through. */
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

/* Of the file, the errors and the bytes; a text has a NUL behind it. */
static int load(const char *name, size_t max, size_t want)
{
	struct stat st;
	char *text = (char *)"";
	size_t len = 4711;
	int rc = ibcc_file_load(name[0] == '/' ? name : files_path(name), max, &st, &text, &len);

	if (rc) {
		assert_null(text);
		return rc;
	}
	assert_int_equal(len, want);
	assert_int_equal(text[len], 0);
	for (size_t i = 0; i < len; i++)
		assert_int_equal(text[i], 'a' + (int)(i % 26));
	free(text);
	return 0;
}

static void fill(const char *name, size_t n)
{
	FILE *f = fopen(files_path(name), "w");

	assert_non_null(f);
	for (size_t i = 0; i < n; i++)
		assert_int_not_equal(fputc('a' + (int)(i % 26), f), EOF);
	assert_int_equal(fclose(f), 0);
}

/* Sizes around the limit and around the space that is given first. */
static void test_read(void **state)
{
	static const size_t sizes[] = { 0, 1, 4094, 4095, 4096, 4097, 100000 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		fill("sizes", sizes[i]);
		assert_int_equal(load("sizes", sizes[i], sizes[i]), 0);
		assert_int_equal(load("sizes", 200000, sizes[i]), 0);
		assert_int_equal(sizes[i] ? load("sizes", sizes[i] - 1, 0) : -EFBIG, -EFBIG);
	}
	assert_int_equal(symlink("sizes", files_path("link")), 0);
	assert_int_equal(load("link", 200000, 100000), 0);
}

/* Nothing of this waits for another process. */
static void test_read_others(void **state)
{
	struct stat st;
	size_t len;
	char *text;

	(void)state;
	assert_int_equal(load("none", 100, 0), -ENOENT);
	assert_int_equal(load("/", 100, 0), -EISDIR);
	assert_int_equal(load("/dev/null", 100, 0), -EINVAL);
	assert_int_equal(mkfifo(files_path("pipe"), 0600), 0);
	assert_int_equal(load("pipe", 100, 0), -EINVAL);
	/* A file that says that it has no bytes grows while it is read; and one that cannot be
	 * read. */
	assert_int_equal(ibcc_file_load("/proc/self/smaps", 1 << 22, &st, &text, &len), 0);
	assert_int_equal(st.st_size, 0);
	assert_true(len > 8192 && strlen(text) == len);
	free(text);
	assert_int_equal(load("/proc/self/smaps", 100, 0), -EFBIG);
	assert_true(load("/proc/self/mem", 100, 0) < 0);
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
		cmocka_unit_test(test_read),    cmocka_unit_test(test_read_others),
		cmocka_unit_test(test_replace), cmocka_unit_test(test_streams),
		cmocka_unit_test(test_write),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
