/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* GUIDs, bytes and whole numbers in JSON: what is written is read, and nothing else is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_guid),
		cmocka_unit_test(test_hex),
		cmocka_unit_test(test_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
