/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The equilibrium of DCQCN against figures that another program solved from the same equations, the
 * approximation for few marks, and the queue that follows.
 */
#include <math.h>

#include <ibcc/equilibrium.h>

#include "engines.h"

/* The parameters of the papers of Y. Zhu and others, at 40 Gb/s with packets of 1000 bytes. */
static const struct ibcc_dcqcn_rp paper = {
	.rpg_time_reset_us = 55,
	.rpg_byte_reset_bytes = 10000000,
	.rpg_threshold = 5,
	.rpg_ai_rate_mbps = 40,
	.dce_tcp_rtt_us = 55,
	.rate_reduce_monitor_period_us = 50,
};

static double of_paper(unsigned int n)
{
	return ibcc_equilibrium_mark_share(&paper, 40000, 1000, n);
}

/* The factory values, at 200 Gb/s with packets of 4096 bytes and 26 of headers. */
static double of_factory(unsigned int n)
{
	struct ibcc_dcqcn_rp p;

	ibcc_dcqcn_rp_defaults(&p);
	return ibcc_equilibrium_mark_share(&p, 200000, 4122, n);
}

static void published(void **state)
{
	(void)state;
	assert_near(of_paper(2), 0.00078, 0.007);
	assert_near(of_paper(8), 0.00455, 0.002);
	assert_near(of_paper(32), 0.02562, 0.001);
	assert_near(of_paper(128), 0.1310, 0.001);
	assert_near(of_factory(2), 0.00632, 0.001);
	assert_near(of_factory(8), 0.01495, 0.001);
	assert_near(of_factory(32), 0.03379, 0.001);
	assert_near(of_factory(128), 0.07601, 0.001);
}

/* For a small p: p*^3 = R_AI N^2 / (tau' C^2) * (1/B + N / (T C))^2, in packets. With an increase
 * of 1 Mb/s and F = 1, p F T R is 0.04 and the other products are smaller, each a few percent in
 * p*^3.
 */
static void few_marks(void **state)
{
	struct ibcc_dcqcn_rp p = paper;
	double c = 5, ai = 1 / 8000.0, by_time = 2 / (55 * c), by_bytes = 1 / 1000.0;

	(void)state;
	p.rpg_ai_rate_mbps = 1;
	p.rpg_threshold = 1;
	p.rpg_byte_reset_bytes = 1000000;
	assert_near(ibcc_equilibrium_mark_share(&p, 40000, 1000, 2),
		    cbrt(ai * 4 / (55 * c * c) * (by_time + by_bytes) * (by_time + by_bytes)),
		    0.05);
	/* Without a counter of bytes its terms are gone. */
	p.rpg_byte_reset_bytes = 0;
	assert_near(ibcc_equilibrium_mark_share(&p, 40000, 1000, 2),
		    cbrt(ai * 4 / (55 * c * c) * by_time * by_time), 0.05);
}

/* By how much p* of eight senders changes if one parameter doubles. */
static void sensitivity(void **state)
{
	struct ibcc_dcqcn_rp p;
	double base = of_paper(8);

#define DOUBLED(member)                                                                            \
	(p = paper, p.member *= 2, ibcc_equilibrium_mark_share(&p, 40000, 1000, 8) / base)
	(void)state;
	assert_near(DOUBLED(rpg_ai_rate_mbps), 1.20, 0.01);
	assert_near(DOUBLED(rpg_time_reset_us), 0.58, 0.01);
	assert_near(DOUBLED(dce_tcp_rtt_us), 0.84, 0.01);
	assert_near(DOUBLED(rpg_threshold), 0.84, 0.01);
	assert_near(DOUBLED(rate_reduce_monitor_period_us), 1.04, 0.01);
	assert_near(DOUBLED(rpg_byte_reset_bytes), 1.00, 0.01);
#undef DOUBLED
}

/* Marking from 5 to 200 KB, up to 1 %: two senders rest at 20 KB, eight at 94 KB, sixteen nowhere.
 */
static void queues(void **state)
{
	(void)state;
	assert_near(ibcc_equilibrium_queue_bytes(of_paper(2), 5000, 200000, 0.01), 20000, 0.02);
	assert_near(ibcc_equilibrium_queue_bytes(of_paper(8), 5000, 200000, 0.01), 94000, 0.01);
	assert_true(isnan(ibcc_equilibrium_queue_bytes(of_paper(16), 5000, 200000, 0.01)));
}

static void nothing(void **state)
{
	struct ibcc_dcqcn_rp p = paper;

	(void)state;
	assert_true(isnan(ibcc_equilibrium_mark_share(&p, 0, 1000, 2)));
	assert_true(isnan(ibcc_equilibrium_mark_share(&p, 40000, 0, 2)));
	assert_true(isnan(ibcc_equilibrium_mark_share(&p, 40000, 1000, 0)));
	/* Nothing raises the target: there is no equilibrium. */
	p.rpg_ai_rate_mbps = 0;
	assert_true(isnan(ibcc_equilibrium_mark_share(&p, 40000, 1000, 2)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published),   cmocka_unit_test(few_marks),
		cmocka_unit_test(sensitivity), cmocka_unit_test(queues),
		cmocka_unit_test(nothing),
	};

	return cmocka_run_group_tests_name("equilibrium", tests, NULL, NULL);
}
