/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Assignments on top of a file: what they change, what they leave, and how errors name them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <ibcc/yaml.h>

static const char text[] = "a: &x {b: 1, c: {d: 2}}\n"
			   "e: *x\n"
			   "l:\n  - {name: one, v: 1}\n  - {name: two, v: 2}\n  - 3\n";

static struct ibcc_yaml *load(void)
{
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_yaml *y = ibcc_yaml_load("f", text, &e);

	assert_non_null(y);
	return y;
}

static void set_ok(struct ibcc_yaml *y, const char *assignment)
{
	struct ibcc_yaml_errors e = { 0 };

	if (ibcc_yaml_set(y, assignment, &e))
		fail_msg("%s: %s", assignment, e.text ? e.text : "");
	assert_null(e.text);
}

static void set_bad(const char *assignment, const char *want)
{
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_yaml *y = load();

	assert_int_equal(ibcc_yaml_set(y, assignment, &e), -EINVAL);
	assert_int_equal(e.n, 1);
	assert_string_equal(e.text, want);
	ibcc_yaml_errors_fini(&e);
	ibcc_yaml_free(y);
}

/* The scalar at a path of keys. */
static const char *at(const struct ibcc_yaml *y, const char *k1, const char *k2, const char *k3)
{
	const struct ibcc_yaml_node *n = ibcc_yaml_get(y, ibcc_yaml_root(y), k1);

	if (n && k2)
		n = ibcc_yaml_get(y, n, k2);
	if (n && k3)
		n = ibcc_yaml_get(y, n, k3);
	return ibcc_yaml_scalar(n);
}

static const char *item(const struct ibcc_yaml *y, size_t i, const char *key)
{
	const struct ibcc_yaml_node *l = ibcc_yaml_get(y, ibcc_yaml_root(y), "l");

	return ibcc_yaml_scalar(ibcc_yaml_get(y, ibcc_yaml_item(y, l, i, NULL), key));
}

static void values_are_changed_and_added(void **state)
{
	struct ibcc_yaml *y = load();

	(void)state;
	set_ok(y, "a.b=5");
	set_ok(y, "new.deep.key=text with spaces");
	set_ok(y, "a.c.d=\"quoted, =\"");
	assert_string_equal(at(y, "a", "b", NULL), "5");
	assert_string_equal(at(y, "a", "c", "d"), "quoted, =");
	assert_string_equal(at(y, "new", "deep", "key"), "text with spaces");
	set_ok(y, "a={z: {q: 7}}");
	assert_string_equal(at(y, "a", "z", "q"), "7");
	assert_null(at(y, "a", "b", NULL));
	set_ok(y, "a.z.q=8");
	assert_string_equal(at(y, "a", "z", "q"), "8");
	ibcc_yaml_free(y);
}

/* e is an alias of a: changing a leaves e. */
static void aliases_are_left_alone(void **state)
{
	struct ibcc_yaml *y = load();

	(void)state;
	set_ok(y, "a.c.d=9");
	assert_string_equal(at(y, "a", "c", "d"), "9");
	assert_string_equal(at(y, "e", "c", "d"), "2");
	set_ok(y, "e.b=null");
	assert_null(at(y, "e", "b", NULL));
	assert_string_equal(at(y, "a", "b", NULL), "1");
	ibcc_yaml_free(y);
}

static void elements_go_by_number_or_name(void **state)
{
	struct ibcc_yaml *y = load();

	(void)state;
	set_ok(y, "l.two.v=20");
	set_ok(y, "l.0.v=10");
	assert_string_equal(item(y, 0, "v"), "10");
	assert_string_equal(item(y, 1, "v"), "20");
	set_ok(y, "l.one=~");
	assert_string_equal(item(y, 0, "name"), "two");
	assert_int_equal(ibcc_yaml_length(ibcc_yaml_get(y, ibcc_yaml_root(y), "l")), 2);
	ibcc_yaml_free(y);
}

static void bad_assignments(void **state)
{
	(void)state;
	set_bad("a.b", "--set a.b: want KEY=VALUE, got \"a.b\"\n");
	set_bad("=1", "--set =1: want KEY=VALUE, got \"=1\"\n");
	set_bad("a.b.c=1", "--set a.b.c=1: want a mapping or a list at \"b\"\n");
	set_bad("l.three.v=1", "--set l.three.v=1: the list has no element \"three\"\n");
	set_bad("l.3=1", "--set l.3=1: there is nothing named \"3\"\n");
	set_bad("nothing=null", "--set nothing=null: there is nothing named \"nothing\"\n");
	set_bad("a.b=[1",
		"--set a.b=[1: the value is not YAML: \"did not find expected ',' or ']'\"\n");
}

struct small {
	uint8_t b;
};

/* Errors in a value name the assignment; those in the file still name their place. */
static void errors_name_the_assignment(void **state)
{
	static const struct ibcc_yaml_key keys[] = {
		{ IBCC_YAML_MEMBER("b", UINT, struct small, b) },
		{ .name = NULL },
	};
	struct ibcc_yaml *y = load();
	struct ibcc_yaml_errors e = { 0 };
	struct small out = { 0 };

	(void)state;
	set_ok(y, "a.b=300");
	assert_int_equal(
		ibcc_yaml_read(y, ibcc_yaml_get(y, ibcc_yaml_root(y), "a"), "a", keys, &out, &e),
		-EINVAL);
	assert_non_null(strstr(e.text, "f:1:14: a.c: unknown key"));
	assert_non_null(strstr(e.text, "--set a.b=300: a.b: got \"300\", want a whole number "
				       "from 0 to 255\n"));
	ibcc_yaml_errors_fini(&e);
	ibcc_yaml_free(y);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_changed_and_added),
		cmocka_unit_test(aliases_are_left_alone),
		cmocka_unit_test(elements_go_by_number_or_name),
		cmocka_unit_test(bad_assignments),
		cmocka_unit_test(errors_name_the_assignment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
