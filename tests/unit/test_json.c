/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* GUIDs, bytes and whole numbers in JSON: what is written is read, and nothing else is. And what is
 * folded leaves as jansson would have written it.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ibcc/json.h>

static void test_guid(void **state)
{
	static const char *const bad[] = { "0x2c90300a1b2c3",
					   "0x0002c90300a1b2c3 ",
					   "0x0002C90300A1B2C3",
					   "0X0002c90300a1b2c3",
					   "000002c90300a1b2c3",
					   "0x0002c90300a1b2cg",
					   "" };
	json_t *v = ibcc_json_guid(0x0002c90300a1b2c3);
	uint64_t guid = 0;

	(void)state;
	assert_string_equal(json_string_value(v), "0x0002c90300a1b2c3");
	assert_true(ibcc_json_read_guid(v, &guid));
	assert_true(guid == 0x0002c90300a1b2c3);
	json_decref(v);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		v = json_string(bad[i]);
		assert_false(ibcc_json_read_guid(v, &guid));
		json_decref(v);
	}
	v = json_integer(1);
	assert_false(ibcc_json_read_guid(v, &guid));
	json_decref(v);
	assert_false(ibcc_json_read_guid(NULL, &guid));
}

static void test_hex(void **state)
{
	static const char *const bad[] = { "00ff1", "00ff1a0", "00FF1A", "00ff1g", "00ff1a00", "" };
	static const uint8_t data[] = { 0x00, 0xff, 0x1a };
	json_t *v = ibcc_json_hex(data, sizeof(data));
	uint8_t got[sizeof(data)];

	(void)state;
	assert_string_equal(json_string_value(v), "00ff1a");
	assert_true(ibcc_json_read_hex(v, got, sizeof(got)));
	assert_memory_equal(got, data, sizeof(data));
	json_decref(v);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		v = json_string(bad[i]);
		assert_false(ibcc_json_read_hex(v, got, sizeof(got)));
		json_decref(v);
	}
	/* What JSON's strings can hold and C's cannot. */
	v = json_stringn("00ff\0a", 6);
	assert_false(ibcc_json_read_hex(v, got, sizeof(got)));
	json_decref(v);
	v = ibcc_json_hex(data, 0);
	assert_string_equal(json_string_value(v), "");
	assert_true(ibcc_json_read_hex(v, got, 0));
	json_decref(v);
	assert_false(ibcc_json_read_hex(NULL, got, 0));
}

static void test_whole(void **state)
{
	json_t *v = json_loads("[0, 255, 256, -1, 1.0, \"1\"]", 0, NULL);
	json_int_t n;

	(void)state;
	for (size_t i = 0; i < json_array_size(v); i++)
		assert_int_equal(ibcc_json_read_whole(json_array_get(v, i), 255, &n), i < 2);
	assert_true(ibcc_json_read_whole(json_array_get(v, 1), 255, &n));
	assert_int_equal(n, 255);
	assert_false(ibcc_json_read_whole(NULL, 255, &n));
	json_decref(v);
}

static json_t *element(int i)
{
	return json_pack("{ss si sf s[b n] sn s{}}", "a \"name\"", "\x01\\ \xc3\xa4\n\"", "i", i,
			 "x", i / 7.0, "list", 1, "none", "empty");
}

static void assert_dumps(const json_t *folded, const json_t *plain)
{
	char *got = ibcc_json_dump(folded), *want = json_dumps(plain, JSON_COMPACT);

	assert_non_null(got);
	assert_string_equal(got, want);
	free(got);
	free(want);
}

/* Into an answer's list, one by one and several at once, at any depth. */
static void test_fold(void **state)
{
	json_t *plain = json_array(), *list = json_array(), *several = json_array(), *a, *b;

	(void)state;
	for (int i = 0; i < 5; i++)
		json_array_append_new(plain, element(i));
	assert_int_equal(ibcc_json_fold(list, element(0)), 0);
	for (int i = 1; i < 4; i++)
		json_array_append_new(several, element(i));
	assert_int_equal(ibcc_json_fold(list, several), 0);
	assert_int_equal(ibcc_json_fold(list, json_array()), 0); /* nothing */
	json_array_append_new(list, element(4));
	assert_dumps(list, plain);

	a = json_pack("{sO s{sO ss} s[] s[O]}", "first", plain, "in", "list", plain, "last", "",
		      "empty", "deep", plain);
	b = json_pack("{sO s{sO ss} s[] so}", "first", list, "in", "list", list, "last", "",
		      "empty", "deep", json_array());
	json_array_append(json_object_get(b, "deep"), list);
	assert_dumps(b, a);
	/* What is folded may be folded again. */
	several = json_array();
	assert_int_equal(ibcc_json_fold(several, json_incref(b)), 0);
	several = ibcc_json_unfold(several);
	assert_true(json_equal(json_array_get(several, 0), a));
	json_decref(several);
	b = ibcc_json_unfold(b);
	assert_true(json_equal(a, b));
	json_decref(a);
	json_decref(b);
	json_decref(list);
	json_decref(plain);
}

static void test_fold_nothing(void **state)
{
	json_t *list = json_array();

	(void)state;
	assert_int_equal(ibcc_json_fold(list, NULL), -ENOMEM);
	assert_int_equal(ibcc_json_fold(NULL, json_null()), -ENOMEM);
	assert_int_equal(json_array_size(list), 0);
	assert_int_equal(ibcc_json_fold(list, json_array()), 0);
	assert_int_equal(json_array_size(list), 0);
	assert_null(ibcc_json_dump(NULL));
	assert_null(ibcc_json_unfold(NULL));
	/* No client can send what looks folded. */
	assert_null(json_loads("[\"\\u0000]\"]", 0, NULL));
	json_decref(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_guid),         cmocka_unit_test(test_hex),
		cmocka_unit_test(test_whole),        cmocka_unit_test(test_fold),
		cmocka_unit_test(test_fold_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
