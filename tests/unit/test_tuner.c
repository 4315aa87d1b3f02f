/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* When the tuner takes control up, leaves things alone and lets go. */
#include "tuners.h"

static void test_healthy(void **state)
{
	struct fixture *f = *state;

	steps(f, 20);
	for (uint32_t i = 0; i < f->t->n_ports; i++)
		f->tr.port[i] = (struct traffic_port){ 30000, 30, 0, 0, 0 };
	steps(f, 50);
	assert_int_equal(f->n_changed, 0);
	assert_string_equal(f->summary, "no congestion");
}

/* Registers worked out by hand from the published relations, for four sources of 32000 Mb/s at a
 * sink of 14960: x = 4 * 32000 / 14960 - 1 = 7.56, table end 1.15 x + 0.5 = 9.19 packet times,
 * N_int = 4 * 2074 * 8 / 14960 us = 4.44 us, Timer = 4.44 / (0.12 * 1.024) = 36.1, rounded up.
 */
static void test_first_settings(void **state)
{
	struct fixture *f = *state;
	const struct ibcc_endport_cc *sw;
	const char *why;

	traffic_lustre_off(&f->tr);
	assert_int_equal(step(f), 0);
	assert_string_equal(f->summary, "congestion seen, to be confirmed");
	/* Victim mask and port element of a switch, setting and one table block of four adapters.
	 */
	assert_int_equal(step(f), 2 + 4 * 2);

	sw = sw_cc(f, LUSTRE_SW2);
	assert_int_equal(sw->sw.Threshold, 0);
	for (unsigned int p = 0; p < 256; p++)
		assert_int_equal(ibcc_cc_mask_test(&sw->sw.Victim_Mask, p), p == 1);
	for (unsigned int p = 0; p < sw->n_element; p++)
		assert_int_equal(sw->element[p].Valid, p == 1);
	assert_int_equal(sw->element[1].Threshold, 12);
	assert_int_equal(sw->element[1].Cong_Parm_Marking_Rate, 0);
	assert_int_equal(sw->element[1].Packet_Size, 2048 / 4 / 64);
	assert_int_equal(sw_cc(f, LUSTRE_SW1)->sw.Threshold, 0);

	for (unsigned int i = LUSTRE_SRC1; i <= LUSTRE_SRC4; i++) {
		const struct ibcc_endport_cc *ca = ca_cc(f, i);

		assert_int_equal(ca->ca.Port_Control & IBCC_CC_PORT_CONTROL_SL, 0);
		for (unsigned int sl = 0; sl < 16; sl++) {
			assert_int_equal(ca->ca.sl[sl].CCTI_Increase, 1);
			assert_int_equal(ca->ca.sl[sl].CCTI_Timer, 37);
			assert_int_equal(ca->ca.sl[sl].CCTI_Min, 0);
		}
		assert_int_equal(ca->cct.limit, 31);
		assert_int_equal(ibcc_cct_validate(&ca->cct, 4, NULL), 0);
		assert_in_range(ibcc_cct_entry_delay_milli(ca->cct.entry[31]), 9100, 9280);
	}
	assert_int_equal(ca_cc(f, LUSTRE_SLOW)->cct.limit, 0);
	assert_int_equal(ca_cc(f, LUSTRE_FAST)->cct.limit, 0);

	why = reason(f, f->t->port[fabric_port(f->t, LUSTRE_SW2, 0)].endport, 0x15);
	assert_non_null(strstr(why, "sw2 port 1"));
	assert_non_null(strstr(why, "PortXmitWait"));
	assert_non_null(strstr(why, "14960 of 32000 Mb/s"));
	why = reason(f, f->t->port[fabric_port(f->t, LUSTRE_SW2, 0)].endport, 0x14);
	assert_non_null(strstr(why, "Victim_Mask"));
	assert_non_null(strstr(why, "A10"));
	why = reason(f, f->t->port[fabric_port(f->t, LUSTRE_SRC2, 1)].endport, 0x17);
	assert_non_null(strstr(why, "4 sources wait"));
	assert_non_null(strstr(why, "Gusat et al. 2006"));
	assert_non_null(strstr(why, "7.56 packet times"));
	why = reason(f, f->t->port[fabric_port(f->t, LUSTRE_SRC2, 1)].endport, 0x16);
	assert_non_null(strstr(why, "CCTI_Increase 1"));
	assert_non_null(strstr(why, "Gusat et al. 2006"));
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
	/* Nothing is to be removed that never was there. */
	memset(f->tr.port, 0, sizeof(f->tr.port));
	steps(f, f->p.confirm_passes);
	assert_int_equal(f->changes, 0);
}

/* Marks name three contributors: the formulas are asked once more, then nothing moves. */
static void test_learns_then_rests(void **state)
{
	struct fixture *f = *state;
	const char *why;

	switch_on(f);
	traffic_lustre_tuned(&f->tr);
	steps(f, 40);
	assert_int_equal(f->n_changed, 2);
	why = reason(f, f->t->port[fabric_port(f->t, LUSTRE_SRC1, 1)].endport, 0x17);
	assert_non_null(strstr(why, "3 contributors (BECN)"));
	assert_non_null(strstr(why, "5.42 packet times"));
	/* x = 5.42: end 6.73, N_int 3.33 us, Timer 28 */
	assert_int_equal(ca_cc(f, LUSTRE_SRC1)->ca.sl[0].CCTI_Increase, 1);
	assert_int_equal(ca_cc(f, LUSTRE_SRC1)->ca.sl[0].CCTI_Timer, 28);
	f->n_changed = 0;
	for (unsigned int i = 0; i < 500; i++) {
		/* Rates and waits swing; the sink stays busy. */
		uint32_t more = i * 37 % 1200;

		traffic_at(&f->tr, LUSTRE_SW2, 1)->mbps = 14960 + more;
		traffic_at(&f->tr, LUSTRE_SW2, 1)->wait_permille = (uint16_t)(520 - more / 32);
		traffic_at(&f->tr, LUSTRE_SRC4, 1)->wait_permille = (uint16_t)(467 + i * 13 % 60);
		step(f);
	}
	assert_int_equal(f->n_changed, 0);
	assert_string_equal(f->summary, "1 root under control");
}

static void test_untrustworthy(void **state)
{
	struct fixture *f = *state;

	traffic_lustre_off(&f->tr);
	for (unsigned int i = 0; i < 3; i++)
		traffic_at(&f->tr, LUSTRE_SW1, i + 1)->silent = true;
	steps(f, 50);
	assert_int_equal(f->n_changed, 0);
	assert_non_null(strstr(f->summary, "counters of too many ports are missing"));
	/* Few are missing, but the most important one on the way. */
	for (unsigned int i = 0; i < 3; i++)
		traffic_at(&f->tr, LUSTRE_SW1, i + 1)->silent = false;
	traffic_at(&f->tr, LUSTRE_SW1, 5)->silent = true;
	steps(f, 50);
	assert_int_equal(f->n_changed, 0);
}

/* Counters go missing under control: what is set stays, for as long as it takes. */
static void test_blind_under_control(void **state)
{
	struct fixture *f = *state;

	under_control(f);
	for (uint32_t i = 0; i < f->t->n_ports; i++)
		f->tr.port[i].silent = true;
	steps(f, 100);
	assert_int_equal(f->n_changed, 0);
	assert_true(sw_cc(f, LUSTRE_SW2)->element[1].Valid);
}

static void test_flicker(void **state)
{
	struct fixture *f = *state;

	for (unsigned int i = 0; i < 50; i++) {
		memset(f->tr.port, 0, sizeof(f->tr.port));
		if (i % 2)
			traffic_lustre_off(&f->tr);
		step(f);
	}
	assert_int_equal(f->n_changed, 0);
}

static void test_removal(void **state)
{
	struct fixture *f = *state;
	struct ibcc_settings before;

	/* What somebody had set there comes back bit for bit. */
	sw_cc(f, LUSTRE_SW2)->sw.Threshold = 0;
	sw_cc(f, LUSTRE_SW2)->sw.Marking_Rate = 3;
	ibcc_cc_mask_assign(&sw_cc(f, LUSTRE_SW2)->sw.Victim_Mask, 7, true);
	ca_cc(f, LUSTRE_SRC1)->ca.Port_Control = 1;
	ca_cc(f, LUSTRE_SRC1)->ca.sl[2].CCTI_Timer = 150;
	assert_int_equal(ibcc_cct_build(&ca_cc(f, LUSTRE_SRC2)->cct, IBCC_CCT_LINEAR, 64, 3000), 0);
	assert_int_equal(ibcc_settings_copy(&before, &f->actual), 0);

	under_control(f);
	assert_int_equal(ca_cc(f, LUSTRE_SRC1)->ca.Port_Control, 0);
	assert_true(ibcc_cc_mask_test(&sw_cc(f, LUSTRE_SW2)->sw.Victim_Mask, 7));

	/* A pause is no end. */
	memset(f->tr.port, 0, sizeof(f->tr.port));
	steps(f, f->p.quiet_passes - 1u);
	traffic_lustre_tuned(&f->tr);
	steps(f, 3);
	memset(f->tr.port, 0, sizeof(f->tr.port));
	steps(f, f->p.quiet_passes - 1u);
	assert_int_equal(f->n_changed, 0);
	step(f);
	assert_int_equal(f->n_changed, 1);
	assert_non_null(strstr(f->summary, "congestion is over"));
	for (uint32_t i = 0; i < before.n; i++) {
		assert_memory_equal(&before.ep[i].sw, &f->actual.ep[i].sw, sizeof(before.ep[i].sw));
		assert_memory_equal(&before.ep[i].ca, &f->actual.ep[i].ca, sizeof(before.ep[i].ca));
		assert_true(ibcc_cct_equal(&before.ep[i].cct, &f->actual.ep[i].cct));
		for (unsigned int p = 0; p < before.ep[i].n_element; p++)
			assert_false(f->actual.ep[i].element[p].Valid);
	}
	ibcc_settings_fini(&before);
	/* From then on the nodes belong to others again. */
	step(f);
	ca_cc(f, LUSTRE_SRC1)->ca.sl[0].CCTI_Timer = 77;
	steps(f, 5);
	assert_int_equal(f->n_changed, 1);
}

/* Congestion that is back as soon as its settings are gone was not over. */
static void test_removal_backs_off(void **state)
{
	struct fixture *f = *state;
	unsigned int pauses = 0;

	under_control(f);
	for (unsigned int i = 0; i < 3000; i++) {
		bool on = sw_cc(f, LUSTRE_SW2)->element[1].Valid;

		/* Under control it looks like nothing. */
		memset(f->tr.port, 0, sizeof(f->tr.port));
		if (!on)
			traffic_lustre_off(&f->tr);
		step(f);
		pauses += on && !sw_cc(f, LUSTRE_SW2)->element[1].Valid;
	}
	/* 30 + 60 + 120 + ... + 960 passes make 1890, the next would end at 3810. */
	assert_in_range(pauses, 3, 6);
}

/* Three sources that all write to the slow sink and nobody else: throttling would help nobody. */
static void test_no_victims(void **state)
{
	struct fixture *f = *state;

	for (unsigned int i = 0; i < 3; i++)
		*traffic_at(&f->tr, LUSTRE_SRC1 + i, 1) =
			(struct traffic_port){ 4987, 844, 0, 0, 0 };
	*traffic_at(&f->tr, LUSTRE_SW1, 5) = (struct traffic_port){ 14960, 532, 0, 0, 0 };
	*traffic_at(&f->tr, LUSTRE_SW2, 1) = (struct traffic_port){ 14960, 532, 0, 0, 0 };
	steps(f, 50);
	assert_int_equal(f->n_roots, 1);
	assert_int_equal(f->n_changed, 0);
	assert_non_null(strstr(f->summary, "holds up nobody else"));
}

/* A node that lost its settings, by a restart for instance, gets them again. */
static void test_lost_settings(void **state)
{
	struct fixture *f = *state;

	under_control(f);
	memset(&ca_cc(f, LUSTRE_SRC2)->ca, 0, sizeof(struct ibcc_cc_ca_setting));
	assert_int_equal(step(f), 1);
	assert_int_equal(ca_cc(f, LUSTRE_SRC2)->ca.sl[0].CCTI_Timer, 28);
	assert_int_equal(step(f), 0);
}

/* A slow sink's buffer has room in the first pass, and takes 18000 Mb/s: what counts is the last
 * one. x = 4 * 32000 / 14960 - 1 = 7.56, and the table ends at 9.19.
 */
static void test_rate_of_a_buffer(void **state)
{
	struct fixture *f = *state;
	const struct ibcc_cct *c;

	traffic_lustre_off(&f->tr);
	traffic_at(&f->tr, LUSTRE_SW2, 1)->mbps = 18000;
	traffic_at(&f->tr, LUSTRE_SW2, 1)->wait_permille = 437;
	assert_int_equal(step(f), 0);
	traffic_lustre_off(&f->tr);
	assert_true(step(f));
	c = &ca_cc(f, LUSTRE_SRC1)->cct;
	assert_in_range(ibcc_cct_entry_delay_milli(c->entry[c->limit]), 9100, 9300);
}

/* Victims that wait in a tree that is getting shorter are left to it. */
static void test_draining(void **state)
{
	struct fixture *f = *state;
	double wait = 900;

	switch_on(f);
	for (unsigned int i = 0; i < 3; i++)
		traffic_at(&f->tr, LUSTRE_SRC1 + i, 1)->becn = 80;
	for (unsigned int i = 0; i < 15; i++, wait *= 0.93) {
		traffic_at(&f->tr, LUSTRE_SW1, 5)->mbps = (uint32_t)(32 * (1000 - wait));
		traffic_at(&f->tr, LUSTRE_SW1, 5)->wait_permille = (uint16_t)wait;
		step(f);
		assert_null(strstr(f->summary, "strengthen"));
	}
}

int main(void)
{
#define LUSTRE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		LUSTRE(test_healthy),           LUSTRE(test_first_settings),
		LUSTRE(test_observe_only),      LUSTRE(test_learns_then_rests),
		LUSTRE(test_untrustworthy),     LUSTRE(test_blind_under_control),
		LUSTRE(test_flicker),           LUSTRE(test_removal),
		LUSTRE(test_removal_backs_off), LUSTRE(test_no_victims),
		LUSTRE(test_lost_settings),     LUSTRE(test_rate_of_a_buffer),
		LUSTRE(test_draining),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
