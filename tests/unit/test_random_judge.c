/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What chance allows a sample: binomials by hand, and tables of their tails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "perftest/lab/random_judge.h"

/* Better than asked for is no matter of chance. */
static void test_better(void **state)
{
	(void)state;
	assert_true(ibcc_random_share_holds(87, 100, 0.87, true));
	assert_true(ibcc_random_share_holds(100, 100, 0.87, true));
	assert_true(ibcc_random_share_holds(0, 100, 0.015, false));
	assert_true(ibcc_random_share_holds(15, 1000, 0.015, false));
}

/* One of one: 13 of 100 fail; of two, 169 of 10000, which is less than one of forty. */
static void test_few(void **state)
{
	(void)state;
	assert_true(ibcc_random_share_holds(0, 1, 0.87, true));
	assert_false(ibcc_random_share_holds(0, 2, 0.87, true));
	assert_false(ibcc_random_share_holds(1, 1, 0.015, false));
	assert_true(ibcc_random_share_holds(1, 1, 0.03, false));
	/* Five coins: no head comes in one of 32, six: in one of 64. */
	assert_true(ibcc_random_share_holds(0, 5, 0.5, true));
	assert_false(ibcc_random_share_holds(0, 6, 0.5, true));
	assert_true(ibcc_random_share_holds(5, 5, 0.5, false));
	assert_false(ibcc_random_share_holds(6, 6, 0.5, false));
}

/* 100 coins: 40 heads or less come in 2.84 % of all samples, 39 or less in 1.76 %. */
static void test_many(void **state)
{
	(void)state;
	assert_true(ibcc_random_share_holds(40, 100, 0.5, true));
	assert_false(ibcc_random_share_holds(39, 100, 0.5, true));
	assert_true(ibcc_random_share_holds(60, 100, 0.5, false));
	assert_false(ibcc_random_share_holds(61, 100, 0.5, false));
}

/* Nothing comes by chance where nothing may. */
static void test_certain(void **state)
{
	(void)state;
	assert_false(ibcc_random_share_holds(1, 1000, 0, false));
	assert_false(ibcc_random_share_holds(999, 1000, 1, true));
}

/* 100 values with a deviation of 0.1: a standard error of 0.01. */
static void test_mean(void **state)
{
	(void)state;
	assert_true(ibcc_random_mean_holds(0.9, 0.1, 100, 0.9));
	assert_true(ibcc_random_mean_holds(0.8801, 0.1, 100, 0.9));
	assert_false(ibcc_random_mean_holds(0.8799, 0.1, 100, 0.9));
	assert_true(ibcc_random_mean_holds(0.8799, 0.1, 90, 0.9));
	/* What changes nothing gains nothing. */
	assert_false(ibcc_random_gain_shows(0, 0, 100));
	assert_true(ibcc_random_gain_shows(0.0201, 0.1, 100));
	assert_false(ibcc_random_gain_shows(0.0199, 0.1, 100));
	assert_true(ibcc_random_gain_shows(0.0199, 0.1, 110));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_better), cmocka_unit_test(test_few),
		cmocka_unit_test(test_many),   cmocka_unit_test(test_certain),
		cmocka_unit_test(test_mean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
