/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Counts of SMPs on fat trees: the paper's equations worked by hand, and what stock OpenSM 3.3.23
 * was seen to send under ibsim.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "perftest/lab/osm_model.h"

static uint64_t sum(const struct ibcc_osm_tree *t, enum ibcc_osm_smp from, enum ibcc_osm_smp to)
{
	uint64_t n = 0;

	for (int k = (int)from; k <= (int)to; k++)
		n += ibcc_osm_count(t, (enum ibcc_osm_smp)k);
	return n;
}

static void test_trees(void **state)
{
	const struct {
		uint32_t m, n;
		uint64_t hosts, switches, gets, sets;
	} seen[] = {
		{ 4, 2, 8, 6, 148, 136 },
		{ 36, 2, 648, 54, 10532, 9828 },
		{ 24, 3, 3456, 720, 85106, 118800 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(seen) / sizeof(*seen); i++) {
		struct ibcc_osm_tree t = ibcc_osm_tree(seen[i].m, seen[i].n);

		assert_int_equal(t.hosts, seen[i].hosts);
		assert_int_equal(t.switches, seen[i].switches);
		assert_int_equal(sum(&t, IBCC_OSM_GET_NODE_INFO, IBCC_OSM_GET_PKEY), seen[i].gets);
		assert_int_equal(sum(&t, IBCC_OSM_SET_PORT_INFO, IBCC_OSM_SET_LFT), seen[i].sets);
		assert_int_equal(ibcc_osm_total(&t), seen[i].gets + seen[i].sets);
	}
}

static void test_paper(void **state)
{
	struct ibcc_osm_tree t = ibcc_osm_tree(8, 1); /* one switch, eight hosts */

	(void)state;
	assert_int_equal(ibcc_osm_paper(&t, IBCC_OSM_GET_NODE_INFO), 16);
	assert_int_equal(ibcc_osm_paper(&t, IBCC_OSM_GET_PORT_INFO), 16);
	assert_int_equal(ibcc_osm_paper(&t, IBCC_OSM_SET_PORT_INFO), 8);
	assert_int_equal(ibcc_osm_paper(&t, IBCC_OSM_SET_LFT), 2);
	t = ibcc_osm_tree(24, 3); /* 3456 hosts: 5.06 MTUs of 2048 bytes with 3 bytes each */
	assert_int_equal(ibcc_osm_paper(&t, IBCC_OSM_GET_NODE_INFO), 720 * 24 + 3456);
	assert_int_equal(ibcc_osm_paper(&t, IBCC_OSM_SET_LFT), 720 * 7);
	assert_int_equal(ibcc_osm_paper(&t, IBCC_OSM_GET_PKEY), 0);
}

/* Times that were used to make sweeps are found again, also for a tree that was left out. */
static void test_fit(void **state)
{
	const struct ibcc_osm_times made = { .base_s = 0.01, .smp_s = 45e-6, .route_s = 4e-9 };
	struct ibcc_osm_tree t[] = { ibcc_osm_tree(8, 2), ibcc_osm_tree(16, 2),
				     ibcc_osm_tree(36, 2), ibcc_osm_tree(24, 3),
				     ibcc_osm_tree(36, 3) };
	struct ibcc_osm_times x;
	double s[5], path[5];

	(void)state;
	for (int i = 0; i < 5; i++) {
		s[i] = ibcc_osm_sweep_s(&t[i], &made);
		path[i] = 4e-9 * (double)t[i].switches * t[i].m *
			  (double)(t[i].hosts + t[i].switches) * (t[i].n - 1);
	}
	assert_true(fabs(s[2] - (0.01 + 45e-6 * 20360 + 4e-9 * 54 * 36 * 702)) < 1e-9);
	x = ibcc_osm_fit(t, s, path, 5, 4);
	assert_true(fabs(x.smp_s / made.smp_s - 1) < 1e-6);
	assert_true(fabs(x.route_s / made.route_s - 1) < 1e-6);
	assert_true(fabs(ibcc_osm_sweep_s(&t[4], &x) / s[4] - 1) < 1e-6);
	/* Nothing takes negative time: here one constant is all there is. */
	for (int i = 0; i < 5; i++) {
		s[i] = 1e-4 * (double)ibcc_osm_total(&t[i]) - 1e-3;
		path[i] = 0;
	}
	x = ibcc_osm_fit(t, s, path, 5, 5);
	assert_true(x.base_s >= 0 && x.route_s >= 0);
	assert_true(fabs(x.smp_s / 1e-4 - 1) < 0.02);
}

static void test_plans(void **state)
{
	struct ibcc_osm_tree t = ibcc_osm_tree(36, 2);

	(void)state;
	/* 2592 ports with two attributes, 648 of them with a third. */
	assert_int_equal(ibcc_osm_poll_mads(&t), 2592 * 2 + 648);
	/* 648 times a setting and two blocks; 54 times a setting and 37 ports in a block of 48. */
	assert_int_equal(ibcc_osm_push_mads(&t), 2 * (648 * 3 + 54 * 2));
	t = ibcc_osm_tree(58, 1); /* 58 hosts at one switch, which has 59 ports */
	assert_int_equal(ibcc_osm_push_mads(&t), 2 * (58 * 3 + 3));
}

/* 2 ms and 5 us for each, but one, which is left out, and one that was not measured. */
static void test_rate(void **state)
{
	const double mads[] = { 100, 1000, 10000, 50000 };
	double s[] = { 0.0025, 0.007, 0.052, 7 };
	struct ibcc_osm_rate x = ibcc_osm_fit_rate(mads, s, 4, 3);

	(void)state;
	assert_true(fabs(x.base_s / 0.002 - 1) < 1e-6);
	assert_true(fabs(x.mad_s / 5e-6 - 1) < 1e-6);
	assert_true(fabs(ibcc_osm_mads_s(50000, &x) / 0.252 - 1) < 1e-6);
	s[3] = 0;
	x = ibcc_osm_fit_rate(mads, s, 4, 4);
	assert_true(fabs(x.mad_s / 5e-6 - 1) < 1e-6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trees), cmocka_unit_test(test_paper),
		cmocka_unit_test(test_fit),   cmocka_unit_test(test_plans),
		cmocka_unit_test(test_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
