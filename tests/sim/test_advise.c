/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Advice on DCQCN against what it brings: random fabrics of HDR and NDR, whose switches mark and
 * whose adapters react as advised.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "perftest/lab/advise.h"

static struct ibcc_advise_case draw_with(uint64_t seed, bool search, bool live)
{
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_advise_case c;

	if (ibcc_advise_draw(seed, search, live, &c, &e))
		fail_msg("seed %llu: %s", (unsigned long long)seed, e.text);
	return c;
}

static struct ibcc_advise_case draw(uint64_t seed)
{
	return draw_with(seed, false, false);
}

/* 26 hosts share a link, and others wait behind them. The fabric delivers a quarter more in truth,
 * and the range of the prediction holds that.
 */
static void turned_on(void **state)
{
	struct ibcc_advise_case c = draw(180320);
	double total = c.total_mbps[IBCC_ADVISE_FORMULA] / c.total_mbps[IBCC_ADVISE_OFF];

	(void)state;
	assert_int_equal(c.a.verdict, IBCC_ADVISE_ON);
	assert_int_equal(ibcc_advise_followed(&c), IBCC_ADVISE_FORMULA);
	assert_true(c.share[IBCC_ADVISE_FORMULA] > 1.1 * c.share[IBCC_ADVISE_OFF]);
	assert_true(total * c.a.p.total.now_mbps >= c.a.p.total.low_mbps);
	assert_true(total * c.a.p.total.now_mbps <= c.a.p.total.high_mbps);
	assert_true(c.a.quiet > 0.99 && c.a.quiet < 1.01);
}

/* A receiver is slow. Where switches mark only at ports with credits, nothing marks, and nothing is
 * lost; where they mark at all ports, as here, the fabric delivers twice as much.
 */
static void turned_on_for_one_of_two_ways(void **state)
{
	struct ibcc_advise_case c = draw(180370);
	double total = c.total_mbps[IBCC_ADVISE_FORMULA] / c.total_mbps[IBCC_ADVISE_OFF];

	(void)state;
	assert_int_equal(c.a.verdict, IBCC_ADVISE_ON);
	assert_false(c.a.source_only);
	assert_true(fabs(c.a.worst_total) < 0.02);
	assert_true(total > 1.8);
	assert_true(total * c.a.p.total.now_mbps >= c.a.p.total.low_mbps);
	assert_true(total * c.a.p.total.now_mbps <= c.a.p.total.high_mbps);
}

/* Without hotspots there is nothing to advise on. */
static void no_congestion(void **state)
{
	struct ibcc_advise_case c = draw(180304);

	(void)state;
	assert_false(c.congested);
	assert_int_equal(ibcc_advise_followed(&c), IBCC_ADVISE_OFF);
	assert_true(isnan(c.share[IBCC_ADVISE_FORMULA]));
}

/* Marks that cost throughput on the twin are not advised; in truth they harm this fabric, too. */
static void left_off(void **state)
{
	struct ibcc_advise_case c = draw(180105);

	(void)state;
	assert_int_equal(c.a.verdict, IBCC_ADVISE_OFF_COSTS);
	assert_true(c.share[IBCC_ADVISE_FORMULA] < 0.99 * c.share[IBCC_ADVISE_OFF]);
}

/* No profile that was tried is better than the best one; one of the search is the best here. */
static void best_of_search(void **state)
{
	struct ibcc_advise_case c = draw_with(180308, true, false);

	(void)state;
	for (int i = 0; i < IBCC_ADVISE_LIVE; i++)
		assert_true(c.share[i] < c.share[IBCC_ADVISE_BEST]);
}

/* The replay does not agree with the counters, so nothing is advised. The profiles that the daemon
 * sets at roots free a part of the fabric all the same.
 */
static void live(void **state)
{
	struct ibcc_advise_case c = draw_with(185004, false, true);

	(void)state;
	assert_int_equal(ibcc_advise_followed(&c), IBCC_ADVISE_OFF);
	assert_true(c.share[IBCC_ADVISE_LIVE] > 1.05 * c.share[IBCC_ADVISE_OFF]);
	assert_true(isnan(c.share[IBCC_ADVISE_BEST]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(turned_on),      cmocka_unit_test(turned_on_for_one_of_two_ways),
		cmocka_unit_test(no_congestion),  cmocka_unit_test(left_off),
		cmocka_unit_test(best_of_search), cmocka_unit_test(live),
	};

	return cmocka_run_group_tests_name("advise", tests, NULL, NULL);
}
