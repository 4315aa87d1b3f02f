/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Unified diffs, with diff(1) and patch(1) as witnesses. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ibcc/diff.h>

#include "tests/unit/files.h"

/* Runs a command in the folder. */
static void run(const char *command)
{
	char line[700];

	snprintf(line, sizeof(line), "cd %s && %s", files_dir, command);
	assert_int_equal(system(line), 0);
}

static bool has_tools(void)
{
	return !system("command -v diff patch >/dev/null");
}

static void assert_file(const char *name, const char *want)
{
	char *got = files_read(files_path(name));

	assert_string_equal(got, want);
	free(got);
}

/* diff -u says the same of two texts, and patch makes the second of the first, and the other way.
 */
static void compare(const char *a, const char *b)
{
	char *got, *want;

	assert_int_equal(ibcc_diff("a", a, strlen(a), "b", b, strlen(b), &got), 0);
	files_write("a", a);
	files_write("b", b);
	files_write("got", got);
	if (strcmp(a, b)) {
		run("{ diff -u --label a --label b a b >want; test $? -eq 1; } && "
		    "patch --binary -s -o forth a got && patch --binary -R -s -o back b got");
		assert_file("forth", b);
		assert_file("back", a);
	} else {
		run("diff -u a b >want");
	}
	want = files_read(files_path("want"));
	assert_string_equal(got, want);
	free(got);
	free(want);
}

static void test_cases(void **state)
{
	(void)state;
	if (!has_tools())
		skip();
	compare("", "");
	compare("x\n", "x\n");
	compare("x 1\n", "x 2\n");
	compare("x 1", "x 2");
	compare("x 1\ny", "x 2\ny");
	compare("x\ny 1", "x\ny 2");
	compare("x 1\r\ny\r\n", "x 22\r\ny\r\n");
	compare("\n\n\n\n\n1\n\n\n\n\n", "\n\n\n\n\n2\n\n\n\n\n");
	compare("\xef\xbb\xbf"
		"1\n\xc3\xa4\n",
		"\xef\xbb\xbf"
		"2\n\xc3\xa4\n");
}

/* Changes at all distances: whether they share a hunk, with context that ends at the file's ends.
 */
static void test_distances(void **state)
{
	(void)state;
	if (!has_tools())
		skip();
	for (unsigned int first = 0; first < 6; first++)
		for (unsigned int gap = 1; gap < 10; gap++)
			for (unsigned int rest = 0; rest < 6; rest += 1 + first) {
				char a[512] = "", b[512] = "";
				size_t len_a = 0, len_b = 0;

				for (unsigned int i = 0; i < first + gap + rest + 1; i++) {
					bool changed = i == first || i == first + gap;

					len_a += (size_t)sprintf(a + len_a, "line %u\n", i);
					len_b += (size_t)sprintf(b + len_b, "line %u%s\n", i,
								 changed ? " new" : "");
				}
				compare(a, b);
			}
}

static void test_other_lines(void **state)
{
	char *out;

	(void)state;
	assert_int_equal(ibcc_diff("a", "x\n", 2, "b", "x\ny\n", 4, &out), -EINVAL);
	assert_null(out);
	assert_int_equal(ibcc_diff("a", "", 0, "b", "x", 1, &out), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_distances),
		cmocka_unit_test(test_other_lines),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
