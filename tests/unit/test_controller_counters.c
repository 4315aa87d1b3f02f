/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Ways in which laws went wrong, from counters to registers: this one must not. */
#include "tuners.h"

/* Up to the first settings being on the fabric, while sources still wait as before. */
static void switch_on(struct fixture *f)
{
	traffic_lustre_off(&f->tr);
	steps(f, 2);
	assert_int_equal(f->n_changed, 1);
}

/* The ideal under control, settled and learned. */
static void under_control(struct fixture *f)
{
	switch_on(f);
	traffic_lustre_tuned(&f->tr);
	steps(f, 40);
	f->n_changed = 0;
}

/* Registers worked out by hand from the published relations, for four sources of 32000 Mb/s at a
 * sink of 14960: x = 4 * 32000 / 14960 - 1 = 7.56, table end 1.15 x + 0.5 = 9.19 packet times,
 * N_int = 4 * 2074 * 8 / 14960 us = 4.44 us, Timer = 4.44 / (0.12 * 1.024) = 36.1, rounded up. Then
 * marks name three: x = 5.42, end 6.73, N_int 3.33 us, Timer 28; and nothing moves any more.
 */
static void test_first_settings(void **state)
{
	struct fixture *f = *state;
	const struct ibcc_endport_cc *sw;

	traffic_lustre_off(&f->tr);
	assert_int_equal(step(f), 0);
	/* Victim mask and port element of a switch, setting and one table block of four adapters.
	 */
	assert_int_equal(step(f), 2 + 4 * 2);
	sw = cc(f, LUSTRE_SW2);
	assert_int_equal(sw->sw.Threshold, 0);
	assert_true(ibcc_cc_mask_test(&sw->sw.Victim_Mask, 1));
	assert_int_equal(sw->element[1].Threshold, 12);
	assert_int_equal(sw->element[1].Cong_Parm_Marking_Rate, 0);
	for (unsigned int i = LUSTRE_SRC1; i <= LUSTRE_SRC4; i++) {
		assert_int_equal(cc(f, i)->ca.sl[0].CCTI_Increase, 1);
		assert_int_equal(cc(f, i)->ca.sl[0].CCTI_Timer, 37);
		assert_int_equal(cc(f, i)->cct.limit, 31);
		assert_in_range(end_milli(cc(f, i)), 9100, 9280);
	}
	assert_int_equal(cc(f, LUSTRE_SLOW)->cct.limit, 0);
	assert_why(f, LUSTRE_SW2, IBCC_CC_ATTR_SW_PORT_SETTING,
		   "congestion starts at slow (sw2 port 1): it takes 14960 of 32000 Mb/s, and the "
		   "port "
		   "to it is blocked 53.2 % of the time (PortXmitWait); mark there alone, from 25 "
		   "% of the "
		   "queue on (Threshold 12)");
	assert_why(f, LUSTRE_SW2, IBCC_CC_ATTR_SW_SETTING,
		   "has no credits 53.2 % of the time (PortXmitWait): its Victim_Mask bit lets it");
	assert_why(f, LUSTRE_SRC2, IBCC_CC_ATTR_CCT,
		   "blocked senders (PortXmitWait) of sw2 port 1 at 14960 Mb/s");
	assert_why(
		f, LUSTRE_SRC2, IBCC_CC_ATTR_CA_SETTING,
		"a BECN takes 7 % of the rate: CCTI_Increase 1; CCTI_Timer 37 * 1.024 us balances "
		"12 % marked of a source's packets in 4.44 us each at sw2 port 1");

	traffic_lustre_tuned(&f->tr);
	steps(f, 40);
	assert_int_equal(f->n_changed, 2);
	assert_why(f, LUSTRE_SRC1, IBCC_CC_ATTR_CCT, "3 contributors (BECN)");
	assert_why(f, LUSTRE_SRC1, IBCC_CC_ATTR_CCT, "5.42 packet times");
	assert_int_equal(cc(f, LUSTRE_SRC1)->ca.sl[0].CCTI_Timer, 28);
	for (unsigned int i = 0; i < 500; i++) {
		/* Rates and waits swing; the sink stays busy. */
		uint32_t more = i * 37 % 1200;

		traffic_at(&f->tr, LUSTRE_SW2, 1)->mbps = 14960 + more;
		traffic_at(&f->tr, LUSTRE_SW2, 1)->wait_permille = (uint16_t)(520 - more / 32);
		traffic_at(&f->tr, LUSTRE_SRC4, 1)->wait_permille = (uint16_t)(467 + i * 13 % 60);
		step(f);
	}
	assert_int_equal(f->n_changed, 2);
}

/* Nothing applied, as in observe mode: the same plan again and again, and no judging of an effect
 * that cannot be there.
 */
static void test_observe_only(void **state)
{
	struct fixture *f = *state;
	struct ibcc_cct first;

	f->apply = false;
	switch_on(f);
	first = f->last.wanted.ep[0].cct;
	for (unsigned int i = 0; i < 100; i++) {
		/* The sink's rate is never quite the same. */
		traffic_at(&f->tr, LUSTRE_SW2, 1)->mbps = 14960 + i % 7 * 100;
		assert_int_equal(step(f), 2 + 4 * 2);
		assert_true(ibcc_cct_equal(&first, &f->last.wanted.ep[0].cct));
	}
}

/* Sources that share a sink and send nothing else but acknowledgements: a law that acts on waiting
 * alone starts, finds no victim, stops, and starts again.
 */
static void test_no_foreign_traffic(void **state)
{
	struct fixture *f = *state;

	traffic_lustre_off(&f->tr);
	*traffic_at(&f->tr, LUSTRE_SRC4, 1) = (struct traffic_port){ 0 };
	*traffic_at(&f->tr, LUSTRE_SW1, 5) =
		(struct traffic_port){ .mbps = 14960, .wait_permille = 532 };
	for (unsigned int i = 0; i < 200; i++) {
		/* 0 to 1.5 % that goes elsewhere. */
		traffic_at(&f->tr, LUSTRE_SRC1, 1)->mbps = 4987 + i % 16 * 15;
		step(f);
	}
	assert_int_equal(f->n_roots, 1);
	assert_int_equal(f->n_changed, 0);
}

/* The victim comes and goes under control, and in each pass another one of the three is marked. */
static void test_comes_and_goes(void **state)
{
	struct fixture *f = *state;

	under_control(f);
	for (unsigned int i = 0; i < 200; i++) {
		bool there = i / 10 % 2;

		*traffic_at(&f->tr, LUSTRE_SRC4, 1) =
			there ? (struct traffic_port){ .mbps = 17040, .wait_permille = 467 }
			      : (struct traffic_port){ 0 };
		*traffic_at(&f->tr, LUSTRE_SW1, 5) =
			(struct traffic_port){ .mbps = there ? 32000 : 14960 };
		for (unsigned int k = 0; k < 3; k++)
			traffic_at(&f->tr, LUSTRE_SRC1 + k, 1)->becn = i % 3 == k ? 240 : 0;
		step(f);
	}
	assert_int_equal(f->n_changed, 0);
}

/* A sink that is not kept busy takes less than it could. A law that takes that for its rate sets
 * values for a slower one, which keep it less busy still. Here feedback goes as far as it may, and
 * rests.
 */
static void test_rate_of_an_idle_sink(void **state)
{
	struct fixture *f = *state;

	under_control(f);
	traffic_at(&f->tr, LUSTRE_SW2, 1)->mbps = 10000;
	traffic_at(&f->tr, LUSTRE_SW2, 1)->wait_permille = 300;
	for (unsigned int i = 0; i < 300; i++) {
		step(f);
		assert_null(said(f, IBCC_DECISION_ADMIT));
		assert_null(said(f, IBCC_DECISION_TURNED));
		assert_null(said(f, IBCC_DECISION_NUMBERS));
		assert_null(said(f, IBCC_DECISION_PAIRS));
	}
	assert_in_range(f->n_changed, 1, 5);
}

/* Settings that work already, of an administrator or from before a restart, are left alone. */
static void test_adopts(void **state)
{
	struct fixture *f = *state;

	under_control(f);
	forget(f);
	steps(f, 100);
	assert_int_equal(f->n_changed, 0);
}

int main(void)
{
#define LUSTRE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		LUSTRE(test_first_settings),       LUSTRE(test_observe_only),
		LUSTRE(test_no_foreign_traffic),   LUSTRE(test_comes_and_goes),
		LUSTRE(test_rate_of_an_idle_sink), LUSTRE(test_adopts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
