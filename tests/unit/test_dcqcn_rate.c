/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* DCQCN's rate limiter: against the published simulator of HPCC, and by arithmetic.
 *
 * The four traces are what the reaction functions of the simulator of Y. Li and others ("HPCC: High
 * Precision Congestion Control", 2019; alibaba-edu/High-Precision-Congestion-Control) give, run by
 * themselves. They have no counter of bytes, no rpg_gd and no rpg_min_dec_fac; the clamp after an
 * increase by time is always on.
 */
#include <math.h>

#include <ibcc/dcqcn.h>

#include "engines.h"

#define US 1000000ull

static const struct ibcc_dcqcn_rp hpcc = {
	.rpg_time_reset_us = 300,
	.rpg_threshold = 1,
	.rpg_ai_rate_mbps = 5,
	.rpg_hai_rate_mbps = 50,
	.rpg_gd = 11,
	.rpg_min_dec_fac = 1,
	.rpg_min_rate_mbps = 1,
	.dce_tcp_g = 1019,
	.dce_tcp_rtt_us = 1,
	.rate_reduce_monitor_period_us = 4,
	.initial_alpha_value = 1024,
	.clamp_tgt_rate_after_time_inc = true,
};

/* A trace: n CNPs, each gap_us after the one before, and rates in Mb/s at times. The simulator
 * handles a CNP before what is due at the same time, so here it comes 1 ps earlier.
 */
struct point {
	uint32_t at_us;
	double mbps, alpha; /* alpha 0: not given */
};

static void check(const struct ibcc_dcqcn_rp *p, double line, unsigned int n, unsigned int gap_us,
		  const struct point *at, unsigned int n_at)
{
	struct ibcc_dcqcn_limiter l = { .on = false };
	unsigned int cnps = 0, i = 0;

	for (uint32_t t = 0; i < n_at; t++) {
		if (cnps < n && t == cnps * gap_us) {
			ibcc_dcqcn_cnp(p, &l, line, t ? t * US - 1 : 0);
			cnps++;
		}
		if (t != at[i].at_us)
			continue;
		ibcc_dcqcn_advance(p, &l, t * US);
		assert_true(fabs(l.mbps - at[i].mbps) <= 0.051);
		if (at[i].alpha > 0)
			assert_true(fabs(l.alpha - at[i].alpha) <= 0.6e-6);
		i++;
	}
}

static void one_cnp(void **state)
{
	static const struct point at[] = { { 250, 101938.9, 0.294142 },
					   { 500, 150969.4, 0.086519 },
					   { 750, 175484.7, 0.025449 },
					   { 1000, 187742.4, 0.007486 } };

	(void)state;
	check(&hpcc, 200000, 1, 0, at, 4);
}

static void four_cnps(void **state)
{
	static const struct point at[] = { { 100, 50195.3, 0 }, { 200, 12646.5, 0 },
					   { 300, 53173.8, 0 }, { 400, 88293.5, 0 },
					   { 500, 97073.4, 0 }, { 1000, 99994.3, 0 } };
	struct ibcc_dcqcn_rp p = hpcc;

	(void)state;
	p.rpg_time_reset_us = 55;
	p.rpg_ai_rate_mbps = 20;
	p.rpg_hai_rate_mbps = 200;
	p.rpg_min_rate_mbps = 100;
	p.dce_tcp_g = 1020;
	p.dce_tcp_rtt_us = p.rate_reduce_monitor_period_us = 50;
	check(&p, 100000, 4, 60, at, 6);
}

static void three_cnps(void **state)
{
	static const struct point at[] = { { 100, 29060.4, 0 },
					   { 400, 114530.2, 0 },
					   { 700, 157265.1, 0 },
					   { 1000, 178632.5, 0 },
					   { 1300, 189316.3, 0 } };

	(void)state;
	check(&hpcc, 200000, 3, 10, at, 5);
}

static void twenty_cnps(void **state)
{
	static const struct point at[] = { { 250, 21726.7, 0 },
					   { 500, 10212.6, 0 },
					   { 1000, 6486.0, 0 },
					   { 1500, 103243.0, 0 },
					   { 3000, 196976.3, 0 } };
	struct ibcc_dcqcn_rp p = hpcc;

	(void)state;
	p.rpg_ai_rate_mbps = 40;
	p.rpg_hai_rate_mbps = 400;
	p.rpg_min_rate_mbps = 100;
	p.dce_tcp_g = 1020;
	check(&p, 200000, 20, 50, at, 5);
}

/* A cut at 4.001 us with alpha 1 (g is 0 here): 100 Gb/s to 50. Each 1000 bytes halve what is
 * missing, and with F = 1 the second raises the target, which is at the most already. After another
 * cut the target stays at 100 Gb/s: no increase was by time.
 */
static void bytes_alone(void **state)
{
	struct ibcc_dcqcn_rp p = hpcc;
	struct ibcc_dcqcn_limiter l = { .on = false };

	(void)state;
	p.dce_tcp_g = 1024;
	p.rpg_byte_reset_bytes = 1000;
	ibcc_dcqcn_cnp(&p, &l, 100000, 0);
	ibcc_dcqcn_sent(&p, &l, 999, 5 * US);
	assert_true(l.mbps == 50000);
	ibcc_dcqcn_sent(&p, &l, 1, 6 * US);
	assert_true(l.mbps == 75000);
	ibcc_dcqcn_sent(&p, &l, 1500, 7 * US);
	assert_true(l.mbps == 87500);
	assert_true(l.target_mbps == 100000);
	ibcc_dcqcn_cnp(&p, &l, 100000, 9 * US);
	ibcc_dcqcn_advance(&p, &l, 12 * US);
	assert_true(l.mbps == 87500);
	ibcc_dcqcn_advance(&p, &l, 12 * US + 1000);
	assert_true(l.mbps == 43750);
	assert_true(l.target_mbps == 100000);
	assert_int_equal(l.byte_stage, 0);
	assert_int_equal(l.bytes, 0);
	/* The paper's clamp: the next target is the rate before the cut. */
	p.clamp_tgt_rate = true;
	ibcc_dcqcn_cnp(&p, &l, 100000, 13 * US);
	ibcc_dcqcn_sent(&p, &l, 1000, 17 * US);
	assert_true(l.target_mbps == 43750);
	assert_true(l.mbps == (43750.0 / 2 + 43750.0) / 2);
}

/* 40 Gb/s, cut to half, target 20 after a second cut with the paper's clamp. Increases: fast
 * recovery while both counters are below F, by 1000 Mb/s when one has reached it, by 3000 when both
 * are beyond.
 */
static void three_phases(void **state)
{
	struct ibcc_dcqcn_rp p = hpcc;
	struct ibcc_dcqcn_limiter l = { .on = false };

	(void)state;
	p.dce_tcp_g = 1024;
	p.rpg_byte_reset_bytes = 1000;
	p.rpg_ai_rate_mbps = 1000;
	p.rpg_hai_rate_mbps = 3000;
	p.clamp_tgt_rate = true;
	ibcc_dcqcn_cnp(&p, &l, 40000, 0);
	ibcc_dcqcn_cnp(&p, &l, 40000, 5 * US);
	ibcc_dcqcn_advance(&p, &l, 10 * US);
	assert_true(l.mbps == 10000 && l.target_mbps == 20000);
	ibcc_dcqcn_sent(&p, &l, 1000, 11 * US);
	assert_true(l.mbps == 15000 && l.target_mbps == 20000);
	ibcc_dcqcn_sent(&p, &l, 1000, 12 * US);
	assert_true(l.mbps == 18000 && l.target_mbps == 21000);
	/* By time, at 308.001 us: the counter of bytes has reached F. */
	ibcc_dcqcn_advance(&p, &l, 308 * US);
	assert_true(l.mbps == 18000);
	ibcc_dcqcn_advance(&p, &l, 308 * US + 1000);
	assert_true(l.mbps == 20000 && l.target_mbps == 22000);
	ibcc_dcqcn_advance(&p, &l, 609 * US);
	assert_true(l.mbps == 21500 && l.target_mbps == 23000);
	/* Both counters are at 2, beyond F. */
	ibcc_dcqcn_sent(&p, &l, 1000, 610 * US);
	assert_true(l.mbps == 23750 && l.target_mbps == 26000);
}

/* The lowest factor, the lowest rate, rpg_gd, and the rate at the first CNP. */
static void limits(void **state)
{
	struct ibcc_dcqcn_rp p = hpcc;
	struct ibcc_dcqcn_limiter l = { .on = false };

	(void)state;
	p.dce_tcp_g = 1024;
	p.rpg_min_dec_fac = 80;
	p.rate_to_set_on_first_cnp_mbps = 10000;
	ibcc_dcqcn_cnp(&p, &l, 40000, 0);
	assert_true(l.mbps == 10000 && l.target_mbps == 10000 && l.max_mbps == 40000);
	ibcc_dcqcn_advance(&p, &l, 5 * US);
	assert_true(l.mbps == 8000);
	p.rpg_min_dec_fac = 1;
	p.rpg_gd = 12; /* alpha / 4 */
	ibcc_dcqcn_cnp(&p, &l, 40000, 5 * US);
	ibcc_dcqcn_advance(&p, &l, 10 * US);
	assert_true(l.mbps == 6000);
	p.rpg_gd = 10; /* all of it: the lowest share is left */
	ibcc_dcqcn_cnp(&p, &l, 40000, 10 * US);
	ibcc_dcqcn_advance(&p, &l, 15 * US);
	assert_true(l.mbps == 60);
	p.rpg_min_rate_mbps = 50;
	ibcc_dcqcn_cnp(&p, &l, 40000, 15 * US);
	ibcc_dcqcn_advance(&p, &l, 20 * US);
	assert_true(l.mbps == 50);
}

/* From 20 of 40 Gb/s, 16 halvings leave 0.31 Mb/s missing: the limiter ends, at 4804 us. The next
 * CNP begins anew, with alpha at its initial value.
 */
static void the_end(void **state)
{
	struct ibcc_dcqcn_rp p = hpcc;
	struct ibcc_dcqcn_limiter l = { .on = false };

	(void)state;
	p.initial_alpha_value = 1020;
	ibcc_dcqcn_cnp(&p, &l, 40000, 0);
	ibcc_dcqcn_advance(&p, &l, 4 * US + 1000);
	assert_true(l.mbps > 20000 && l.mbps < 20500);
	ibcc_dcqcn_advance(&p, &l, 4804 * US);
	assert_true(l.on);
	ibcc_dcqcn_advance(&p, &l, 4804 * US + 1000);
	assert_false(l.on);
	ibcc_dcqcn_cnp(&p, &l, 40000, 5000 * US);
	assert_true(l.on && l.mbps == 40000);
	assert_near(l.alpha, 1020 / 1024.0, 1e-12);
	/* A lower highest rate than the port's. */
	p.rpg_max_rate_mbps = 30000;
	l.on = false;
	ibcc_dcqcn_cnp(&p, &l, 40000, 5000 * US);
	assert_true(l.mbps == 30000);
}

/* A fast sender has sent more than rpg_byte_reset before the first cut. That does not end the new
 * limiter, which is at the highest rate still; nor does it end later while a CNP waits.
 */
static void no_end_before_the_cut(void **state)
{
	struct ibcc_dcqcn_rp p = hpcc;
	struct ibcc_dcqcn_limiter l = { .on = false };

	(void)state;
	p.dce_tcp_g = 1024;
	p.rpg_byte_reset_bytes = 1000;
	ibcc_dcqcn_cnp(&p, &l, 1000, 0);
	ibcc_dcqcn_sent(&p, &l, 3000, 1 * US);
	assert_true(l.on && l.mbps == 1000);
	ibcc_dcqcn_advance(&p, &l, 5 * US);
	assert_true(l.mbps == 500);
	ibcc_dcqcn_cnp(&p, &l, 1000, 5 * US);
	ibcc_dcqcn_sent(&p, &l, 20000, 6 * US); /* to 1000 - 500 / 2^20 */
	assert_true(l.on && l.mbps > 999.9);
	ibcc_dcqcn_advance(&p, &l, 9 * US);
	assert_near(l.mbps, 500, 0.001);
}

/* The same events, looked at each 100 ns or only when something comes. */
static void looking_changes_nothing(void **state)
{
	struct ibcc_dcqcn_limiter often = { .on = false }, seldom = often;

	(void)state;
	for (unsigned int t = 0; t < 30000; t++) {
		uint64_t at = t * US / 10;

		ibcc_dcqcn_advance(&hpcc, &often, at);
		if (t % 1237)
			continue;
		ibcc_dcqcn_cnp(&hpcc, &often, 200000, at);
		ibcc_dcqcn_cnp(&hpcc, &seldom, 200000, at);
		assert_near(seldom.mbps, often.mbps, 1e-9);
		assert_near(seldom.alpha, often.alpha, 1e-9);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_cnp),
		cmocka_unit_test(four_cnps),
		cmocka_unit_test(three_cnps),
		cmocka_unit_test(twenty_cnps),
		cmocka_unit_test(bytes_alone),
		cmocka_unit_test(three_phases),
		cmocka_unit_test(limits),
		cmocka_unit_test(the_end),
		cmocka_unit_test(no_end_before_the_cut),
		cmocka_unit_test(looking_changes_nothing),
	};

	return cmocka_run_group_tests_name("dcqcn_rate", tests, NULL, NULL);
}
