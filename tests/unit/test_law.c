/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Register values of one root, worked out by hand from the published relations. */
#include <errno.h>

#include "fabrics.h"

#include <ibcc/law.h>

static struct ibcc_root_parameters root(enum ibcc_congestion kind, uint32_t n, uint32_t n_heavy,
					uint32_t mbps)
{
	return (struct ibcc_root_parameters){
		.kind = kind,
		.phase = IBCC_PHASE_HOLD,
		.n = n,
		.n_heavy = n_heavy,
		.rate_mbps = mbps,
		.packet_bytes = 2000,
		.table_scale_permille = 1000,
		.timer_scale_permille = 1000,
		.interval_ns = 1024000,
	};
}

static struct ibcc_law_out law(const struct ibcc_root_parameters *r)
{
	struct ibcc_law_out o;

	assert_int_equal(ibcc_law_compute(r, QDR_MBPS, 128, &o), 0);
	assert_int_equal(ibcc_cct_validate(&o.cct, 2, NULL), 0);
	return o;
}

/* x = n C / R - 1, a table to 1.15 x + .5, and the timer 1 / .12 of the time between two packets of
 * the heaviest, by as many entries as a BECN takes: sqrt(n / 9) at a slow receiver.
 */
static void test_values(void **state)
{
	static const struct {
		enum ibcc_congestion kind;
		uint32_t n, n_heavy, mbps;
		uint32_t fair, end, n_int_ns;
		uint8_t increase;
		uint16_t timer;
	} c[] = {
		{ IBCC_CONGESTION_INPUT, 6, 6, 32000, 5000, 6250, 3000, 1, 25 },
		{ IBCC_CONGESTION_INPUT, 6, 3, 32000, 5000, 6250, 1500, 1, 13 },
		{ IBCC_CONGESTION_INPUT, 647, 647, 32000, 646000, 743400, 323500, 1, 2633 },
		{ IBCC_CONGESTION_OUTPUT, 36, 36, 3200, 359000, 413350, 180000, 2, 733 },
		{ IBCC_CONGESTION_OUTPUT, 36, 35, 3200, 359000, 413350, 175000, 1, 1425 },
		{ IBCC_CONGESTION_OUTPUT, 647, 647, 3200, 6469000, 7439850, 3235000, 8, 3291 },
		/* No sender need be held: the table ends at half a packet time. */
		{ IBCC_CONGESTION_INPUT, 1, 1, 32000, 0, 500, 500, 1, 5 },
		{ IBCC_CONGESTION_INPUT, 2, 2, 80000, 0, 500, 400, 1, 4 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct ibcc_root_parameters r = root(c[i].kind, c[i].n, c[i].n_heavy, c[i].mbps);
		struct ibcc_law_out o = law(&r);
		uint32_t end = ibcc_cct_entry_delay_milli(o.cct.entry[o.cct.limit]);

		assert_int_equal(o.fair_milli, c[i].fair);
		assert_int_equal(o.end_milli, c[i].end);
		assert_true(end + end / 100 >= c[i].end && end <= c[i].end + c[i].end / 100);
		assert_int_equal(o.n_int_ns, c[i].n_int_ns);
		assert_int_equal(o.increase, c[i].increase);
		assert_int_equal(o.timer, c[i].timer);
		assert_in_range(o.mark_permille, 95, 121);
		/* Each of 127 steps takes 1 - 16384^(-1/127) of the rate: 7.4 %. */
		assert_in_range(o.step_permille, 73 * o.increase - o.increase * o.increase * 3,
				74 * o.increase);
	}
}

/* Pairs that a full link is known to limit need less margin, and sources of a slow receiver do not.
 */
static void test_known_pairs(void **state)
{
	struct ibcc_root_parameters r = root(IBCC_CONGESTION_INPUT, 2, 2, 32000);

	(void)state;
	assert_int_equal(law(&r).end_milli, 1650);
	r.basis = IBCC_BASIS_MARKED;
	assert_int_equal(law(&r).end_milli, 1650);
	r.basis = IBCC_BASIS_LOGGED;
	assert_int_equal(law(&r).end_milli, 1350);
	r.kind = IBCC_CONGESTION_OUTPUT;
	assert_int_equal(law(&r).end_milli, 1650);
}

/* Feedback moves where the table ends, to an eighth of a packet time at least, and the timer. */
static void test_feedback(void **state)
{
	struct ibcc_root_parameters r = root(IBCC_CONGESTION_INPUT, 6, 6, 32000);

	(void)state;
	r.table_scale_permille = 900;
	r.timer_scale_permille = 250;
	assert_int_equal(law(&r).end_milli, 5625);
	assert_int_equal(law(&r).timer, 7); /* .75 us / .12 / 1.024 us = 6.1 */
	r.table_scale_permille = 1;
	assert_int_equal(law(&r).end_milli, 125);
}

/* x = 79: 91.35 packet times; 3.5 times that; entries grow by 16384^(1/127), so 60 reach the end,
 * in four steps; two ticks of 15 in each interval of 1.024 ms.
 */
static void test_drain(void **state)
{
	struct ibcc_root_parameters r = root(IBCC_CONGESTION_OUTPUT, 8, 8, 3200);
	struct ibcc_law_out hold = law(&r), drain;

	(void)state;
	r.phase = IBCC_PHASE_DRAIN;
	drain = law(&r);
	assert_int_equal(hold.end_milli, 91350);
	assert_int_equal(drain.end_milli, 319725);
	assert_int_equal(hold.cct.limit, 60);
	assert_int_equal(drain.increase, 15);
	assert_in_range(drain.timer, 499, 501);
	/* The last eighth has the longest delay. */
	assert_int_equal(drain.cct.limit, 60);
	for (unsigned int i = 0; i <= 60; i++)
		assert_int_equal(drain.cct.entry[i],
				 i < 60 - 60 / 8 ? hold.cct.entry[i] : drain.cct.entry[60]);
	r.table_scale_permille = r.timer_scale_permille = 500; /* feedback is for holding */
	assert_int_equal(law(&r).end_milli, 319725);
}

/* Flows of a moderate hotspot must not stop when their adapter gets the table of a severe one, nor
 * run away when it gets the moderate one's again.
 */
static void test_same_delays(void **state)
{
	struct ibcc_root_parameters mild = root(IBCC_CONGESTION_INPUT, 6, 6, 32000);
	struct ibcc_root_parameters severe = root(IBCC_CONGESTION_OUTPUT, 8, 8, 3200);
	struct ibcc_law_out a = law(&mild), b = law(&severe);

	(void)state;
	assert_true(a.cct.limit < b.cct.limit);
	for (uint32_t i = 0; i < a.cct.limit; i++)
		assert_int_equal(a.cct.entry[i], b.cct.entry[i]);
	/* A table of one block goes to the same end in fewer steps. */
	assert_int_equal(ibcc_law_compute(&severe, QDR_MBPS, 64, &b), 0);
	assert_in_range(b.cct.limit, 29, 31);
	assert_int_equal(b.end_milli, 91350);
}

static void test_mistakes(void **state)
{
	struct ibcc_root_parameters good = root(IBCC_CONGESTION_INPUT, 6, 6, 32000), r;
	struct ibcc_law_out o;

	(void)state;
	for (unsigned int i = 0; i < 6; i++) {
		r = good;
		r.n *= i != 0;
		r.n_heavy *= i != 1;
		r.rate_mbps *= i != 2;
		r.packet_bytes *= i != 3;
		assert_int_equal(ibcc_law_compute(&r, i == 4 ? 0 : QDR_MBPS, i == 5 ? 63 : 64, &o),
				 -EINVAL);
	}
	assert_int_equal(ibcc_law_fair_milli(1000000, 32000, 1), 16383000); /* no entry has more */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),      cmocka_unit_test(test_known_pairs),
		cmocka_unit_test(test_feedback),    cmocka_unit_test(test_drain),
		cmocka_unit_test(test_same_delays), cmocka_unit_test(test_mistakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
