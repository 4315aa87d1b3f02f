/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The table-driven checker: what it takes, and that each mistake is told at its line and column. */
#include <errno.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ibcc/guess.h>
#include <ibcc/yaml.h>

#include "files.h"

struct inner {
	uint16_t depth;
	char name[8];
};

struct outer {
	uint8_t u8;
	uint32_t u32;
	uint64_t u64;
	double ratio;
	bool on;
	int color;
	struct inner inner;
	const struct ibcc_yaml_node *list;
};

static const char *const colors[] = { "red", "green", "blue", NULL };

static const struct ibcc_yaml_key inner_keys[] = {
	{ IBCC_YAML_MEMBER("depth", UINT, struct inner, depth), .min = 1, .max = 100 },
	{ IBCC_YAML_MEMBER("name", STRING, struct inner, name), .required = true },
	{ .name = NULL },
};

static const struct ibcc_yaml_key outer_keys[] = {
	{ IBCC_YAML_MEMBER("u8", UINT, struct outer, u8) },
	{ IBCC_YAML_MEMBER("u32", UINT, struct outer, u32), .required = true },
	{ IBCC_YAML_MEMBER("u64", UINT, struct outer, u64) },
	{ IBCC_YAML_MEMBER("ratio", DOUBLE, struct outer, ratio), .min = 0.5, .max = 2.5 },
	{ IBCC_YAML_MEMBER("enabled", BOOL, struct outer, on) },
	{ IBCC_YAML_MEMBER("color", ENUM, struct outer, color), .names = colors, .min = 10 },
	{ IBCC_YAML_MEMBER("inner", MAP, struct outer, inner), .keys = inner_keys },
	{ IBCC_YAML_MEMBER("list", NODE, struct outer, list) },
	{ .name = NULL },
};

/* Reads a text by outer_keys; errors must be exactly those given. */
static struct outer read_text(const char *text, const char *errors)
{
	struct ibcc_yaml_errors e = { 0 };
	struct outer o = { .u8 = 77 };
	struct ibcc_yaml *y = ibcc_yaml_load("f", text, &e);
	int rc = -EINVAL;

	if (y)
		rc = ibcc_yaml_read(y, ibcc_yaml_root(y), NULL, outer_keys, &o, &e);
	assert_string_equal(e.text ? e.text : "", errors);
	assert_int_equal(rc, *errors ? -EINVAL : 0);
	assert_int_equal(!e.n, !*errors);
	ibcc_yaml_errors_fini(&e);
	o.list = NULL;
	ibcc_yaml_free(y);
	return o;
}

static void test_values(void **state)
{
	struct outer o = read_text("u8: 255\nu32: 0xffffffff\nu64: 18446744073709551615\n"
				   "ratio: 1.25\nenabled: on\ncolor: blue\n"
				   "inner: {depth: 100, name: \"a: b\"}\nlist: [1, 2]\n",
				   "");

	(void)state;
	assert_int_equal(o.u8, 255);
	assert_int_equal(o.u32, UINT32_MAX);
	assert_true(o.u64 == UINT64_MAX);
	assert_true(o.ratio == 1.25);
	assert_true(o.on);
	assert_int_equal(o.color, 12);
	assert_int_equal(o.inner.depth, 100);
	assert_string_equal(o.inner.name, "a: b");
}

static void test_absent_keys_keep_their_values(void **state)
{
	(void)state;
	assert_int_equal(read_text("u32: 1", "").u8, 77);
}

static void test_every_error_in_file_order(void **state)
{
	(void)state;
	/* `u32` is missing, which only the end of the mapping tells: it is reported at its start,
	 * and the errors within `inner` are found before those that follow it.
	 */
	read_text("# a comment\n"
		  "u8: 256\n"
		  "ratio: 3\n"
		  "enabled: maybe\n"
		  "color: gren\n"
		  "inner:\n"
		  "  depth: 0\n"
		  "  deepth: 5\n"
		  "  name: 12345678\n"
		  "  depth: 7\n"
		  "u64: -1\n"
		  "unknown: 1\n"
		  "u8: 3\n",
		  "f:2:1: u32: missing\n"
		  "f:2:5: u8: got \"256\", want a whole number from 0 to 255\n"
		  "f:3:8: ratio: got \"3\", want a number from 0.5 to 2.5\n"
		  "f:4:10: enabled: got \"maybe\", want true or false\n"
		  "f:5:8: color: got \"gren\", want red, green or blue (did you mean green?)\n"
		  "f:7:10: inner.depth: got \"0\", want a whole number from 1 to 100\n"
		  "f:8:3: inner.deepth: unknown key, did you mean \"depth\"?\n"
		  "f:9:9: inner.name: got \"12345678\", want text of at most 7 bytes\n"
		  "f:10:3: inner.depth: got the key again, want it once (line 7 has it)\n"
		  "f:11:6: u64: got \"-1\", want a whole number from 0 to 1.84467440737096e+19\n"
		  "f:12:1: unknown: unknown key\n"
		  "f:13:1: u8: got the key again, want it once (line 2 has it)\n");
}

static void test_wrong_kinds(void **state)
{
	(void)state;
	read_text("u32: [1]\nu8: {a: 1}\nenabled:\ninner: 5\ncolor: \"\"\n",
		  "f:1:6: u32: got a list, want a whole number from 0 to 4294967295\n"
		  "f:2:5: u8: got a mapping, want a whole number from 0 to 255\n"
		  "f:3:9: enabled: got nothing, want true or false\n"
		  "f:4:8: inner: got \"5\", want a mapping of keys\n"
		  "f:5:8: color: got \"\", want red, green or blue\n");
	read_text("[1, 2]", "f:1:1: got a list, want a mapping of keys\n");
	read_text("u32: 1\n? [a]\n: 2\n", "f:2:3: got a list, want a key\n");
	read_text("u32: 1\ninner: {}\n", "f:2:8: inner.name: missing\n");
}

static void test_numbers_are_strict(void **state)
{
	static const char *const bad[] = { "1s",
					   "010",
					   "+1",
					   " 1x",
					   "1e3",
					   "0x",
					   "0xg",
					   "1.0",
					   "1_0",
					   "\"1\"",
					   "18446744073709551616" };
	char text[64], errors[160];
	uint64_t v;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *shown = bad[i][0] == '"' ? "1" : bad[i] + strspn(bad[i], " ");

		snprintf(text, sizeof(text), "u32: 1\nu64: %s\n", bad[i]);
		snprintf(errors, sizeof(errors),
			 "f:2:%zu: u64: got \"%s\", want a whole number from 0 to "
			 "1.84467440737096e+19\n",
			 6 + strspn(bad[i], " "), shown);
		read_text(text, errors);
	}
	assert_int_equal(ibcc_yaml_parse_uint("18446744073709551616", &v), -ERANGE);
	read_text("u32: 1\nratio: nan\n",
		  "f:2:8: ratio: got \"nan\", want a number from 0.5 to 2.5\n");
}

static void test_decimal_point_in_any_locale(void **state)
{
	double v = 0;

	(void)state;
	/* Where the locale is not installed, this tests the C locale once more. */
	setlocale(LC_ALL, "de_DE.UTF-8");
	assert_int_equal(ibcc_yaml_parse_double("1.5", &v), 0);
	assert_true(v == 1.5);
	assert_int_equal(ibcc_yaml_parse_double("1,5", &v), -EINVAL);
	setlocale(LC_ALL, "C");
}

static void test_not_yaml(void **state)
{
	(void)state;
	read_text("u32: [1, 2\nu8: 3\n", "f:2:3: this is not YAML: did not find expected ',' or "
					 "']' while parsing a flow sequence "
					 "(from line 1 on)\n");
	read_text("u32: 1\n---\nu32: 2\n", "f:3:1: got a second document, want one\n");
	read_text("u32: 1\nu8: *nobody\n", "f:2:5: this is not YAML: found undefined alias\n");
	read_text("u32: \"a\\x",
		  "f:1:10: this is not YAML: did not find expected hexdecimal number while "
		  "parsing a quoted scalar (from line 1 on)\n");
}

/* A text ends at a NUL byte for a program that opens a file by it: "/tmp/a\0b" would be /tmp/a. */
static void test_nul(void **state)
{
	(void)state;
	read_text("u32: 1\nname: \"/tmp/a\\0b\"\n",
		  "f:2:7: got a text with a NUL byte in it, want none\n");
	read_text("u32: 1\n\"na\\u0000me\": x\n",
		  "f:2:1: got a text with a NUL byte in it, want none\n");
}

/* 64 levels and 256 anchors are taken, more are not. */
static void test_not_simple(void **state)
{
	char text[256 * 10] = "list: ";
	size_t len = strlen(text);

	(void)state;
	memset(text + len, '[', 63);
	memset(text + len + 63, ']', 63);
	read_text(text, "f:1:1: u32: missing\n");
	memset(text + len, '[', 64);
	memset(text + len + 64, ']', 64);
	read_text(text, "f:1:70: got lists and mappings nested deeper, want at most 64 levels\n");

	for (unsigned int i = len = 0; i < 256; i++)
		len += (size_t)sprintf(text + len, "%s&a%u 1", i ? ", " : "list: [", i);
	strcpy(text + len, "]");
	read_text(text, "f:1:1: u32: missing\n");
	strcpy(text + len, ",\n &b 1]");
	read_text(text, "f:2:2: got another anchor, want at most 256\n");
}

static void test_empty_is_an_empty_mapping(void **state)
{
	(void)state;
	read_text("", "f:1:1: u32: missing\n");
	read_text("# only a comment\n", "f:1:1: u32: missing\n");
}

static void test_odd_values_stay_in_their_line(void **state)
{
	(void)state;
	read_text("u32: \"1\\n\\e[31m\"\n",
		  "f:1:6: u32: got \"1??[31m\", want a whole number from 0 to 4294967295\n");
	/* U+009B begins a command as ESC [ does, and U+202E turns the rest of the line around. */
	read_text("u32: \"1\\x9b31m\\u202e\"\n",
		  "f:1:6: u32: got \"1??31m???\", want a whole number from 0 to 4294967295\n");
	/* 50 times a letter of two bytes is cut between letters. */
	read_text("u32: ääääääääääääääääääääääääääääääääääääääääääääääääää\n",
		  "f:1:6: u32: got \"ääääääääääääääääääääääää...\", want a whole number from 0 to "
		  "4294967295\n");
}

static void test_errors_are_counted_beyond_the_limit(void **state)
{
	struct ibcc_yaml_errors e = { 0 };
	const char *s;
	unsigned int i, lines = 0;

	(void)state;
	for (i = 0; i < 3 * IBCC_YAML_ERRORS_MAX; i++)
		ibcc_yaml_errors_add(&e, "f", 1000 - i, 1, "error");
	assert_int_equal(e.n, 3 * IBCC_YAML_ERRORS_MAX);
	for (s = e.text; (s = strchr(s, '\n')); s++)
		lines++;
	assert_int_equal(lines, IBCC_YAML_ERRORS_MAX + 1);
	assert_memory_equal(e.text, "f:901:1: error\nf:902:1: error\n", 30);
	assert_non_null(strstr(e.text, "f:1000:1: error\nf: more errors follow\n"));
	ibcc_yaml_errors_fini(&e);
	assert_null(e.text);
}

static void test_files(void **state)
{
	struct ibcc_yaml_errors e = { 0 };
	char want[600];
	const char *path = files_write("ok.yaml", "u32: 5\n");
	struct ibcc_yaml *y = ibcc_yaml_load(path, NULL, &e);
	FILE *f;
	int i;

	(void)state;
	assert_non_null(y);
	assert_string_equal(ibcc_yaml_file(y), path);
	assert_string_equal(ibcc_yaml_scalar(ibcc_yaml_get(y, ibcc_yaml_root(y), "u32")), "5");
	ibcc_yaml_free(y);

	assert_null(ibcc_yaml_load("/nonexistent/x.yaml", NULL, &e));
	assert_int_equal(errno, ENOENT);
	assert_string_equal(e.text,
			    "/nonexistent/x.yaml: cannot be read: No such file or directory\n");
	ibcc_yaml_errors_fini(&e);

	assert_null(ibcc_yaml_load("/", NULL, &e));
	assert_int_equal(errno, EISDIR);
	ibcc_yaml_errors_fini(&e);

	path = files_path("big.yaml");
	f = fopen(path, "w");
	assert_non_null(f);
	for (i = 0; i < 100000; i++)
		fputs("# a comment of forty-four characters, no more\n", f);
	fclose(f);
	assert_null(ibcc_yaml_load(path, NULL, &e));
	assert_int_equal(errno, EFBIG);
	snprintf(want, sizeof(want), "%s:1:1: got more than 4 MiB, want less\n", path);
	assert_string_equal(e.text, want);
	ibcc_yaml_errors_fini(&e);
}

static const char *word_at(const void *arg, size_t i)
{
	return ((const char *const *)arg)[i];
}

static void test_guess(void **state)
{
	static const char *const words[] = { "interval_ms", "timeout_ms", "retries", "ca", "port" };

	(void)state;
	assert_string_equal(ibcc_guess_word("intervall_ms", word_at, words, 5), "interval_ms");
	assert_string_equal(ibcc_guess_word("timeuot_ms", word_at, words, 5), "timeout_ms");
	assert_string_equal(ibcc_guess_word("ac", word_at, words, 5), "ca");
	assert_null(ibcc_guess_word("xy", word_at, words, 5));
	assert_null(ibcc_guess_word("something_else", word_at, words, 5));
	assert_null(ibcc_guess_word("", word_at, words, 5));
	assert_null(ibcc_guess_word("a_word_much_longer_than_any_key_of_ours", word_at, words, 5));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_absent_keys_keep_their_values),
		cmocka_unit_test(test_every_error_in_file_order),
		cmocka_unit_test(test_wrong_kinds),
		cmocka_unit_test(test_numbers_are_strict),
		cmocka_unit_test(test_decimal_point_in_any_locale),
		cmocka_unit_test(test_not_yaml),
		cmocka_unit_test(test_not_simple),
		cmocka_unit_test(test_nul),
		cmocka_unit_test(test_empty_is_an_empty_mapping),
		cmocka_unit_test(test_odd_values_stay_in_their_line),
		cmocka_unit_test(test_errors_are_counted_beyond_the_limit),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_guess),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
