/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Objects with a long list, read by element. fuzz_jobs holds the reader against jansson. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ibcc/json_each.h>

struct seen {
	char text[512];
	int stop_at; /* an element; -1: none */
};

static int see(void *arg, size_t i, const json_t *v)
{
	struct seen *s = arg;
	char *text = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);
	size_t len = strlen(s->text);

	assert_non_null(text);
	snprintf(s->text + len, sizeof(s->text) - len, "%zu=%s;", i, text);
	free(text);
	return (int)i == s->stop_at ? -ECANCELED : 0;
}

static int each(const char *text, size_t len, struct seen *s, json_t **rest, struct ibcc_why *why)
{
	*s = (struct seen){ "", -1 };
	return ibcc_json_each(text, len, "list", 64, see, s, rest, why);
}

static void test_read(void **state)
{
	static const char text[] =
		" {\"a\": {\"list\": [9]}, \"list\" :[1, \"]\\\"}\", {\"b\":[2,{}]},"
		"[],null , -3.5e1],\"z\\n\":\"\\\\\"}\n";
	struct seen s;
	json_t *rest;
	char *others;

	(void)state;
	assert_int_equal(each(text, strlen(text), &s, &rest, NULL), 0);
	assert_string_equal(s.text, "0=1;1=\"]\\\"}\";2={\"b\":[2,{}]};3=[];4=null;5=-35.0;");
	others = json_dumps(rest, JSON_COMPACT);
	assert_string_equal(others, "{\"a\":{\"list\":[9]},\"z\\n\":\"\\\\\"}");
	free(others);
	json_decref(rest);
	assert_int_equal(each("{\"list\":[]}", 11, &s, &rest, NULL), 0);
	assert_string_equal(s.text, "");
	assert_int_equal(json_object_size(rest), 0);
	json_decref(rest);
}

/* Users write names of jobs; batch systems hand on what they wrote. */
static void test_unclean(void **state)
{
	static const char text[] =
		"{\"list\":[\"a\xff\xc3\",\"\xc3\xa4\",\"x\ny\",\"b\0c\",\"\\u0000d\"]}";
	struct seen s;
	json_t *rest;

	(void)state;
	assert_int_equal(each(text, sizeof(text) - 1, &s, &rest, NULL), 0);
	assert_string_equal(s.text, "0=\"a??\";1=\"\xc3\xa4\";2=\"x y\";3=\"b?c\";4=\"\\u0000d\";");
	json_decref(rest);
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{ "", "byte 1: want an object" },
		{ "[]", "want an object" },
		{ "{}", "there is no list \"list\"" },
		{ "{\"x\":1}", "there is no list \"list\"" },
		{ "{\"list\":1}", "want a list" },
		{ "{\"list\":{}}", "want a list" },
		{ "{\"list\":[1", "byte 11: want a comma or the end of the list" },
		{ "{\"list\":[1 2]}", "want a comma or the end of the list" },
		{ "{\"list\":[1,]}", "byte 12: want a JSON value" },
		{ "{\"list\":[,1]}", "want a JSON value" },
		{ "{\"list\":[{\"a\":1,\"a\":2}]}", "want a JSON value" },
		{ "{\"list\":[{]}", "want a JSON value" },
		{ "{\"list\":[\"x]}", "want a JSON value" },
		{ "{\"list\":[nil]}", "want a JSON value" },
		{ "{\"list\":[1\"x\"]}", "want a JSON value" },
		{ "{\"list\":[]", "want a comma or the end of the object" },
		{ "{\"list\":[],}", "want a JSON value" },
		{ "{\"list\":[]}x", "byte 12: want nothing behind the object" },
		{ "{\"list\":[],\"list\":[]}", "want the list only once" },
		{ "{\"a\":1,\"list\":[],\"a\":1}", "want each member only once" },
		{ "{\"list\" []}", "want a name and a colon" },
		{ "{1:[]}", "want a name and a colon" },
		{ "{\"list\":[\"0123456789012345678901234567890123456789012345678901234567890123\"]"
		  "}",
		  "want a value that is shorter" },
		{ "{\"a\":\"0123456789012345678901234\",\"b\":\"0123456789012345678901234567\","
		  "\"list\":[]}",
		  "want a value that is shorter" },
	};
	struct seen s;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct ibcc_why why = { "" };
		json_t *rest;

		assert_int_equal(each(rows[i].text, strlen(rows[i].text), &s, &rest, &why),
				 -EINVAL);
		assert_null(rest);
		if (!strstr(why.text, rows[i].why))
			fail_msg("%s: \"%s\" does not say \"%s\"", rows[i].text, why.text,
				 rows[i].why);
	}
}

/* Blanks are not kept, so they neither use up what may be kept nor lift the limit. */
static void test_blanks(void **state)
{
	struct seen s;
	json_t *rest;
	char text[512];

	(void)state;
	snprintf(text, sizeof(text), "{%100s\"a\":%100s1,\"list\":[]}", "", "");
	assert_int_equal(each(text, strlen(text), &s, &rest, NULL), 0);
	assert_int_equal(json_object_size(rest), 1);
	json_decref(rest);
	snprintf(text, sizeof(text), "{\"a\":%100s1,\"b\":\"%070d\",\"list\":[]}", "", 0);
	assert_int_equal(each(text, strlen(text), &s, &rest, NULL), -EINVAL);
	assert_null(rest);
}

static void test_stop(void **state)
{
	static const char text[] = "{\"list\":[1,2,3}";
	struct seen s = { "", 1 };
	json_t *rest;

	(void)state;
	assert_int_equal(ibcc_json_each(text, strlen(text), "list", 64, see, &s, &rest, NULL),
			 -ECANCELED);
	assert_string_equal(s.text, "0=1;1=2;");
	assert_null(rest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),    cmocka_unit_test(test_unclean),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_blanks),
		cmocka_unit_test(test_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
