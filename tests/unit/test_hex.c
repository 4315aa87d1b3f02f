/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ibcc/hex.h>

static void digits_are_read(void **state)
{
	static const struct {
		const char *text;
		size_t n;
		uint64_t v;
	} row[] = {
		{ "0", 1, 0 },
		{ "00ff", 4, 0xff },
		{ "DeadBeef)", 8, 0xdeadbeef },
		{ "ffffffffffffffff", 16, UINT64_MAX },
		{ "0ffffffffffffffff", 0, 0 }, /* 17 digits */
		{ "", 0, 0 },
		{ "g", 0, 0 },
		{ " 1", 0, 0 },
		{ "-1", 0, 0 },
		{ "0x1", 1, 0 },
	};
	uint64_t v;

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		v = 7;
		assert_int_equal(ibcc_hex_read(row[i].text, &v), row[i].n);
		assert_int_equal(v, row[i].v);
	}
}

static void digits_behind_0x_are_read(void **state)
{
	static const char *const bad[] = { "",    "0",  "0x",   "1",
					   "0xg", "x1", "00x1", "0x00000000000000001" };
	uint64_t v;

	(void)state;
	assert_int_equal(ibcc_hex_read_0x("0x0002c90300a1b2c3", &v), 18);
	assert_int_equal(v, 0x0002c90300a1b2c3);
	assert_int_equal(ibcc_hex_read_0x("0XA b", &v), 3);
	assert_int_equal(v, 10);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(ibcc_hex_read_0x(bad[i], &v), 0);
		assert_int_equal(v, 0);
	}
}

static void bytes_are_read(void **state)
{
	uint8_t data[3] = { 0 };

	(void)state;
	assert_true(ibcc_hex_read_bytes("00ffA7 ", data, 3));
	assert_int_equal(data[0], 0);
	assert_int_equal(data[1], 0xff);
	assert_int_equal(data[2], 0xa7);
	assert_false(ibcc_hex_read_bytes("00ff7", data, 3));
	assert_false(ibcc_hex_read_bytes("0g0000", data, 3));
	assert_true(ibcc_hex_read_bytes("", data, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digits_are_read),
		cmocka_unit_test(digits_behind_0x_are_read),
		cmocka_unit_test(bytes_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
