/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* CRC32c against the examples of RFC 3720, B.4, and against the definition, bit by bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mpa.h"
#include "perftest/mpa/crc32c.h"

/* Division by the polynomial as RFC 3720, 12.1 tells it. */
static uint32_t by_bits(const uint8_t *p, size_t len)
{
	uint32_t crc = ~0u;

	for (size_t i = 0; i < len; i++)
		for (int bit = 0; bit < 8; bit++) {
			uint32_t out = (crc ^ p[i] >> bit) & 1;

			crc = crc >> 1 ^ (out ? 0x82f63b78u : 0);
		}
	return ~crc;
}

static void same(const uint8_t *p, size_t len, uint32_t want)
{
	assert_int_equal(by_bits(p, len), want);
	for (enum ibcc_crc32c by = IBCC_CRC32C_TABLE; by < IBCC_CRC32C_N; by++)
		if (ibcc_crc32c_has(by))
			assert_int_equal(ibcc_crc32c(by, 0, p, len), want);
}

static void published_examples(void **state)
{
	static const uint8_t read_pdu[48] = {
		0x01,        0xc0,        0x00,        0x00, [16] = 0x14,
		[22] = 0x04, [27] = 0x14, [31] = 0x18, 0x28, [40] = 0x02,
	};
	uint8_t p[32];

	(void)state;
	same((const uint8_t *)"123456789", 9, 0xe3069283);
	memset(p, 0, 32);
	same(p, 32, 0x8a9136aa);
	memset(p, 0xff, 32);
	same(p, 32, 0x62a8ab43);
	for (int i = 0; i < 32; i++)
		p[i] = (uint8_t)i;
	same(p, 32, 0x46dd794e);
	for (int i = 0; i < 32; i++)
		p[i] = (uint8_t)(31 - i);
	same(p, 32, 0x113fdb5c);
	same(read_pdu, 48, 0xd9963a56);
}

/* Any length at any address, and in two parts. */
static void parts_and_addresses(void **state)
{
	uint8_t p[300];
	uint64_t rnd = 4711;

	(void)state;
	for (size_t i = 0; i < sizeof(p); i++)
		p[i] = (uint8_t)ibcc_rng_next(&rnd);
	for (int i = 0; i < 2000; i++) {
		size_t from = ibcc_rng_below(&rnd, 20), len = ibcc_rng_below(&rnd, 280),
		       cut = ibcc_rng_below(&rnd, (uint32_t)len + 1);
		uint32_t want = by_bits(p + from, len);

		same(p + from, len, want);
		for (enum ibcc_crc32c by = IBCC_CRC32C_TABLE; by < IBCC_CRC32C_N; by++)
			if (ibcc_crc32c_has(by))
				assert_int_equal(ibcc_crc32c(by, ibcc_crc32c(by, 0, p + from, cut),
							     p + from + cut, len - cut),
						 want);
	}
}

static void choice(void **state)
{
	(void)state;
	assert_true(ibcc_crc32c_has(IBCC_CRC32C_NONE) && ibcc_crc32c_has(IBCC_CRC32C_TABLE));
	assert_true(ibcc_crc32c_has(ibcc_crc32c_best()));
	assert_int_not_equal(ibcc_crc32c_best(), IBCC_CRC32C_NONE);
	assert_int_equal(ibcc_crc32c(IBCC_CRC32C_NONE, 0, "123456789", 9), 0);
	assert_string_equal(ibcc_crc32c_name(IBCC_CRC32C_TABLE), "table");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_examples),
		cmocka_unit_test(parts_and_addresses),
		cmocka_unit_test(choice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
