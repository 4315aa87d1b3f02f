/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Congestion control tables: coding, shapes, checks, blocks. */
#include "codec.h"

#include <errno.h>
#include <math.h>

#include <ibcc/cct.h>

static void test_entry_vectors(void **state)
{
	(void)state;
	/* Shift in bits 15:14, multiplier in 13:0; delay = mult / 2^shift packet times. */
	assert_int_equal(ibcc_cct_entry(3, 46), 0xc02e);
	assert_int_equal(ibcc_cct_entry_delay_milli(0xc02e), 5750); /* LLNL's last entry, 46/8 */
	assert_int_equal(ibcc_cct_entry_delay_milli(0xc018), 3000); /* LLNL's testers, 24/8 */
	assert_int_equal(ibcc_cct_entry_delay_milli(0x007f), 127000);
	assert_int_equal(ibcc_cct_entry_delay_milli(0xc001), 125);
	assert_int_equal(ibcc_cct_entry_delay_milli(0x8001), 250);
	assert_int_equal(ibcc_cct_entry_delay_milli(0x3fff), 16383000);
	assert_int_equal(ibcc_cct_entry_delay_milli(0xc000), 0);

	assert_int_equal(ibcc_cct_entry_encode(0), 0);
	assert_int_equal(ibcc_cct_entry_encode(62), 0);
	assert_int_equal(ibcc_cct_entry_encode(63), 0xc001);
	assert_int_equal(ibcc_cct_entry_encode(5750), 0xc02e);
	assert_int_equal(ibcc_cct_entry_encode(31000), ibcc_cct_entry(3, 248));
	/* 14 bits at shift 3 end at 2047.875 packet times. */
	assert_int_equal(ibcc_cct_entry_encode(2047875), ibcc_cct_entry(3, 0x3fff));
	assert_int_equal(ibcc_cct_entry_encode(2048000), ibcc_cct_entry(2, 8192));
	assert_int_equal(ibcc_cct_entry_encode(5000000), ibcc_cct_entry(1, 10000));
	assert_int_equal(ibcc_cct_entry_encode(10000000), ibcc_cct_entry(0, 10000));
	assert_int_equal(ibcc_cct_entry_encode(16383000), 0x3fff);
	assert_int_equal(ibcc_cct_entry_encode(UINT32_MAX), 0x3fff);
}

/* No entry of all 65536 is nearer than the one chosen, except by a tie. */
static void test_entry_nearest(void **state)
{
	(void)state;
	for (int i = 0; i < 60; i++) {
		uint32_t want = (uint32_t)(rnd() % 16383001 >> rnd() % 20);
		unsigned int e = ibcc_cct_entry_encode(want);
		double err = fabs((e & 0x3fff) * 1000.0 / (1 << (e >> 14)) - want);
		double best = 1e18;

		for (unsigned int x = 0; x < 65536; x++) {
			double d = fabs((x & 0x3fff) * 1000.0 / (1 << (x >> 14)) - want);

			if (d < best)
				best = d;
		}
		assert_true(err <= best + 1e-9);
	}
}

static void test_entry_round_trip(void **state)
{
	(void)state;
	for (unsigned int x = 0; x < 65536; x++) {
		uint32_t d = ibcc_cct_entry_delay_milli((uint16_t)x);
		uint32_t again = ibcc_cct_entry_delay_milli(ibcc_cct_entry_encode(d));

		assert_int_equal(again, d);
	}
}

static double delay(const struct ibcc_cct *t, unsigned int i)
{
	return (t->entry[i] & 0x3fff) / (double)(1 << (t->entry[i] >> 14));
}

static void test_shapes(void **state)
{
	struct ibcc_cct t;

	(void)state;
	/* Gusat 2006, 32 nodes: 128 linear entries up to 31 packet times. */
	assert_int_equal(ibcc_cct_build(&t, IBCC_CCT_LINEAR, 128, 31000), 0);
	assert_int_equal(t.limit, 127);
	for (unsigned int i = 0; i < 128; i++)
		assert_true(fabs(delay(&t, i) - 31.0 * i / 127) <= 1 / 16.0 + 0.0006);
	assert_int_equal(t.entry[0], 0);
	assert_true(delay(&t, 127) == 31);
	assert_int_equal(t.entry[128], 0);

	/* ibccconfig's manual: 0:0, 0:1 .. 0:127 are these delays. */
	assert_int_equal(ibcc_cct_build(&t, IBCC_CCT_LINEAR, 128, 127000), 0);
	for (unsigned int i = 0; i < 128; i++)
		assert_true(delay(&t, i) == i);

	/* LLNL's tables grow with the square of the index. */
	assert_int_equal(ibcc_cct_build(&t, IBCC_CCT_QUADRATIC, 128, 5750), 0);
	for (unsigned int i = 0; i < 128; i++)
		assert_true(fabs(delay(&t, i) - 5.75 * i * i / (127.0 * 127)) <= 1 / 16.0 + 0.0006);
	assert_int_equal(t.entry[127], 0xc02e);

	/* Each step costs the same share of the rate: 1 + delay is a geometric series. */
	assert_int_equal(ibcc_cct_build(&t, IBCC_CCT_MULTIPLICATIVE, 128, 405000), 0);
	for (unsigned int i = 0; i < 128; i++)
		assert_true(fabs(delay(&t, i) - (exp(i / 127.0 * log(406.0)) - 1)) <=
			    1 / 16.0 + 0.0006);
	assert_true(delay(&t, 127) == 405);

	assert_int_equal(ibcc_cct_build(&t, IBCC_CCT_ZERO, 256, 99), 0);
	assert_int_equal(t.limit, 255);
	for (unsigned int i = 0; i < 256; i++)
		assert_int_equal(t.entry[i], 0);
}

static void test_build_any(void **state)
{
	static const enum ibcc_cct_shape shapes[] = { IBCC_CCT_ZERO, IBCC_CCT_LINEAR,
						      IBCC_CCT_QUADRATIC, IBCC_CCT_MULTIPLICATIVE };

	(void)state;
	for (int r = 0; r < ROUNDS; r++) {
		enum ibcc_cct_shape shape = shapes[rnd() % 4];
		unsigned int n = 2 + (unsigned int)(rnd() % 255);
		uint32_t max = (uint32_t)(rnd() % 16383001 >> rnd() % 20);
		struct ibcc_cct t;

		assert_int_equal(ibcc_cct_build(&t, shape, n, max), 0);
		assert_int_equal(t.limit, n - 1);
		assert_int_equal(ibcc_cct_validate(&t, 4, NULL), 0);
		assert_int_equal(t.entry[n - 1],
				 shape == IBCC_CCT_ZERO ? 0 : ibcc_cct_entry_encode(max));
	}
}

static void test_build_bad(void **state)
{
	struct ibcc_cct t, before;

	(void)state;
	memset(&before, 0x5a, sizeof(before));
	t = before;
	assert_int_equal(ibcc_cct_build(&t, IBCC_CCT_LINEAR, 0, 1000), -EINVAL);
	assert_int_equal(ibcc_cct_build(&t, IBCC_CCT_LINEAR, 1, 1000), -EINVAL);
	assert_int_equal(ibcc_cct_build(&t, IBCC_CCT_LINEAR, 257, 1000), -EINVAL);
	assert_int_equal(ibcc_cct_build(&t, IBCC_CCT_LINEAR, 128, 16383001), -EINVAL);
	assert_memory_equal(&t, &before, sizeof(t));
	assert_int_equal(ibcc_cct_build(&t, IBCC_CCT_LINEAR, 2, 16383000), 0);
}

static void test_validate(void **state)
{
	unsigned int bad = 999;
	struct ibcc_cct t;

	(void)state;
	assert_int_equal(ibcc_cct_build(&t, IBCC_CCT_LINEAR, 128, 31000), 0);
	assert_int_equal(ibcc_cct_validate(&t, 2, &bad), 0);
	assert_int_equal(bad, 999);
	assert_int_equal(ibcc_cct_validate(&t, 1, &bad), -ERANGE);
	assert_int_equal(bad, 64);
	assert_int_equal(ibcc_cct_validate(&t, 0, NULL), -ERANGE);
	/* A fall hidden behind another shift: 100/8 after 13/1. */
	t.entry[99] = ibcc_cct_entry(0, 13);
	t.entry[100] = ibcc_cct_entry(3, 100);
	for (unsigned int i = 0; i < 99; i++)
		t.entry[i] = 0;
	assert_int_equal(ibcc_cct_validate(&t, 2, &bad), -EINVAL);
	assert_int_equal(bad, 100);
	t.entry[100] = ibcc_cct_entry(3, 104);
	t.entry[0] = 1;
	assert_int_equal(ibcc_cct_validate(&t, 2, &bad), -EINVAL);
	assert_int_equal(bad, 0);
	t.limit = 65535;
	assert_int_equal(ibcc_cct_validate(&t, 1000, &bad), -ERANGE);
	assert_int_equal(bad, 256);
}

static void test_blocks(void **state)
{
	(void)state;
	assert_int_equal(ibcc_cct_blocks(0), 1);
	assert_int_equal(ibcc_cct_blocks(63), 1);
	assert_int_equal(ibcc_cct_blocks(64), 2);
	assert_int_equal(ibcc_cct_blocks(127), 2);
	assert_int_equal(ibcc_cct_blocks(255), 4);
	/* What ibccconfig demands and QLogic's agent counts: 63, then 127. */
	assert_int_equal(ibcc_cct_block_limit(127, 0), 63);
	assert_int_equal(ibcc_cct_block_limit(127, 1), 127);
	assert_int_equal(ibcc_cct_block_limit(127, 2), 127);
	assert_int_equal(ibcc_cct_block_limit(63, 0), 63);
	assert_int_equal(ibcc_cct_block_limit(64, 0), 63);
	assert_int_equal(ibcc_cct_block_limit(64, 1), 64);
	assert_int_equal(ibcc_cct_block_limit(9, 0), 9);
	assert_int_equal(ibcc_cct_block_limit(65535, UINT32_MAX), 65535);
	for (unsigned int limit = 0; limit < 256; limit++)
		for (unsigned int k = 0; k < ibcc_cct_blocks((uint16_t)limit); k++)
			assert_int_equal(ibcc_cct_block_limit((uint16_t)limit, k),
					 64 * (k + 1) - 1 < limit ? 64 * (k + 1) - 1 : limit);
}

static void test_equal(void **state)
{
	struct ibcc_cct a, b;

	(void)state;
	assert_int_equal(ibcc_cct_build(&a, IBCC_CCT_LINEAR, 100, 31000), 0);
	b = a;
	assert_true(ibcc_cct_equal(&a, &b));
	b.entry[100] = 7;
	assert_true(ibcc_cct_equal(&a, &b));
	b.entry[99] ^= 1;
	assert_false(ibcc_cct_equal(&a, &b));
	b = a;
	b.limit--;
	assert_false(ibcc_cct_equal(&a, &b));
	/* A limit from the wire may be beyond the array. */
	a.limit = b.limit = 65535;
	b.entry[255] = a.entry[255];
	assert_true(ibcc_cct_equal(&a, &b));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entry_vectors),
		cmocka_unit_test(test_entry_nearest),
		cmocka_unit_test(test_entry_round_trip),
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_build_any),
		cmocka_unit_test(test_build_bad),
		cmocka_unit_test(test_validate),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_equal),
	};

	test_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
