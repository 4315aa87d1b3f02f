/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The tuner's decisions on synthetic counters; how the fabric answers is scripted by each test. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "traffic.h"

#include <ibcc/plan.h>
#include <ibcc/tuner.h>

struct fixture {
	struct ibcc_topo *t;
	struct traffic tr;
	struct ibcc_settings actual;
	struct ibcc_tuner_params p;
	struct ibcc_tuner *tn;
	bool apply;         /* what is wanted is on the fabric in the next pass */
	uint32_t n_roots;   /* in the last estimate */
	uint32_t changes;   /* of the last step */
	uint32_t n_changed; /* steps that changed something */
	char summary[IBCC_REASON_BYTES];
	bool doubt;              /* of the last step */
	struct ibcc_target last; /* of the last step that wanted something */
};

static struct ibcc_endport_cc *sw_cc(struct fixture *f, uint32_t node)
{
	return &f->actual.ep[f->t->port[fabric_port(f->t, node, 0)].endport];
}

static struct ibcc_endport_cc *ca_cc(struct fixture *f, uint32_t node)
{
	return &f->actual.ep[f->t->port[fabric_port(f->t, node, 1)].endport];
}

static int setup_for(void **state, struct ibcc_topo *t)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->t = t;
	f->apply = true;
	assert_int_equal(ibcc_settings_init(&f->actual, f->t), 0);
	for (uint32_t i = 0; i < f->t->n_endports; i++) {
		uint32_t node = f->t->port[f->t->endport[i]].node;
		struct ibcc_endport_cc *ep = &f->actual.ep[i];

		ep->support = IBCC_CC_SUPPORTED;
		if (!ibcc_topo_is_switch(f->t, node)) {
			ep->info.ControlTableCap = 4;
			continue;
		}
		ep->sw_port_block = 32;
		ep->n_element = f->t->node[node].n_ports + 1u;
		ep->element = calloc(ep->n_element, sizeof(*ep->element));
	}
	traffic_init(&f->tr, f->t);
	traffic_pass(&f->tr);
	ibcc_tuner_defaults(&f->p);
	f->tn = ibcc_tuner_new(&f->p);
	*state = f;
	return 0;
}

static int setup(void **state)
{
	return setup_for(state, fabric_lustre());
}

static int setup_tree(void **state)
{
	return setup_for(state, fabric_tree2(4));
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	ibcc_target_fini(&f->last);
	ibcc_tuner_free(f->tn);
	ibcc_settings_fini(&f->actual);
	ibcc_snapshot_fini(&f->tr.s);
	ibcc_topo_free(f->t);
	free(f);
	return 0;
}

/* One pass of the loop without I/O. Returns the number of Sets it would take. */
static uint32_t step(struct fixture *f)
{
	struct ibcc_estimator_params ep;
	struct ibcc_estimate e;
	struct ibcc_target target;
	struct ibcc_plan plan;

	traffic_pass(&f->tr);
	ibcc_estimator_defaults(&ep);
	assert_int_equal(ibcc_estimator_run(&ep, f->t, &f->tr.s, &f->actual, &e), 0);
	assert_int_equal(ibcc_tuner_step(f->tn, f->t, &f->tr.s, &e, &f->actual, &target), 0);
	assert_int_equal(ibcc_planner_run(f->t, &f->actual, &target, &plan), 0);
	f->n_roots = e.n_roots;
	f->changes = plan.n;
	f->doubt = target.doubt;
	f->n_changed += plan.n > 0;
	/* Each change has its reason, and reasons exist only for changes. */
	for (uint32_t i = 0; i < plan.n; i++)
		assert_in_range(strlen(plan.change[i].reason), 20, IBCC_REASON_BYTES - 2);
	assert_true(!plan.n == !target.n_reasons);
	assert_true(target.summary[0]);
	memcpy(f->summary, target.summary, sizeof(f->summary));
	if (plan.n && f->apply) {
		ibcc_settings_fini(&f->actual);
		assert_int_equal(ibcc_settings_copy(&f->actual, &target.wanted), 0);
	}
	if (plan.n) {
		ibcc_target_fini(&f->last);
		f->last = target;
	} else {
		ibcc_target_fini(&target);
	}
	ibcc_plan_fini(&plan);
	ibcc_estimate_fini(&e);
	return f->changes;
}

static void steps(struct fixture *f, unsigned int n)
{
	while (n--)
		step(f);
}

static const char *reason(const struct fixture *f, uint32_t endport, uint16_t attr_id)
{
	for (uint32_t i = 0; i < f->last.n_reasons; i++)
		if (f->last.reason[i].endport == endport && f->last.reason[i].attr_id == attr_id)
			return f->last.reason[i].text;
	fail_msg("no reason for endport %u attribute 0x%x", endport, attr_id);
	return NULL;
}

/* Up to the first settings being on the fabric, while sources still wait as before. */
static void switch_on(struct fixture *f)
{
	traffic_lustre_off(&f->tr);
	for (unsigned int i = 0; i < 5 && !f->n_changed; i++)
		step(f);
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
 * sink of 14960: x = 4 * 32000 / 14960 - 1 = 7.56, table end 1.15 x + 0.5 = 9.19 packet times, so
 * Increase = 0.09 * 127 / ln(10.19) = 5, N_int = 4 * 2074 * 8 / 14960 us = 4.44 us,
 * Timer = 4.44 / (0.12 * 5 * 1.024) = 7.2, rounded up.
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

static uint32_t table_end(struct fixture *f)
{
	const struct ibcc_cct *cct = &ca_cc(f, LUSTRE_SRC1)->cct;

	return ibcc_cct_entry_delay_milli(cct->entry[cct->limit]);
}

/* Victims wait the less the longer the table is, until they are free. */
static void test_strengthens(void **state)
{
	struct fixture *f = *state;
	uint32_t first;

	switch_on(f);
	for (unsigned int i = 0; i < 3; i++)
		traffic_at(&f->tr, LUSTRE_SRC1 + i, 1)->becn = 80;
	steps(f, 9);
	first = table_end(f);
	f->n_changed = 0;
	for (unsigned int i = 0; i < 300; i++) {
		uint32_t wait = 400 * first / table_end(f);

		if (wait > 300) {
			traffic_at(&f->tr, LUSTRE_SRC4, 1)->wait_permille = (uint16_t)wait;
			traffic_at(&f->tr, LUSTRE_SW1, 5)->mbps = 32 * (1000 - wait);
			traffic_at(&f->tr, LUSTRE_SW1, 5)->wait_permille = (uint16_t)wait;
		} else {
			traffic_lustre_tuned(&f->tr);
		}
		step(f);
	}
	assert_in_range(f->n_changed, 2, 4);
	assert_true(table_end(f) >= first * 4 / 3);
	f->n_changed = 0;
	steps(f, 500);
	assert_int_equal(f->n_changed, 0);
}

/* Victims that wait whatever is done: each parameter is tried once and taken back. */
static void test_takes_back(void **state)
{
	struct fixture *f = *state;
	struct ibcc_endport_cc first;

	switch_on(f);
	for (unsigned int i = 0; i < 3; i++)
		traffic_at(&f->tr, LUSTRE_SRC1 + i, 1)->becn = 80;
	steps(f, 9);
	first = *ca_cc(f, LUSTRE_SRC1);
	f->n_changed = 0;
	steps(f, 200);
	assert_int_equal(f->n_changed, 4);
	assert_true(ibcc_cct_equal(&first.cct, &ca_cc(f, LUSTRE_SRC1)->cct));
	assert_memory_equal(&first.ca, &ca_cc(f, LUSTRE_SRC1)->ca, sizeof(first.ca));
	steps(f, 1000);
	assert_int_equal(f->n_changed, 4);
}

/* Nobody is marked although sources wait: the threshold moves, not the table. */
static void test_marks_earlier(void **state)
{
	struct fixture *f = *state;
	struct ibcc_cct first;

	switch_on(f);
	first = ca_cc(f, LUSTRE_SRC1)->cct;
	steps(f, 200);
	assert_int_equal(sw_cc(f, LUSTRE_SW2)->element[1].Threshold, 15);
	assert_true(ibcc_cct_equal(&first, &ca_cc(f, LUSTRE_SRC1)->cct));
	assert_true(f->n_changed <= 1 + 2);
}

static uint32_t end_milli(const struct ibcc_endport_cc *ca)
{
	return ibcc_cct_entry_delay_milli(ca->cct.entry[ca->cct.limit]);
}

static void test_relaxes(void **state)
{
	struct fixture *f = *state;
	uint64_t before, after;

	under_control(f);
	before = ca_cc(f, LUSTRE_SRC1)->ca.sl[0].CCTI_Increase *
		 ca_cc(f, LUSTRE_SRC1)->ca.sl[0].CCTI_Timer * end_milli(ca_cc(f, LUSTRE_SRC1));
	/* The sink takes 14960 Mb/s and more often has nothing to take. */
	traffic_at(&f->tr, LUSTRE_SW2, 1)->mbps = 13000;
	traffic_at(&f->tr, LUSTRE_SW2, 1)->wait_permille = 450;
	steps(f, 20);
	after = ca_cc(f, LUSTRE_SRC1)->ca.sl[0].CCTI_Increase *
		ca_cc(f, LUSTRE_SRC1)->ca.sl[0].CCTI_Timer * end_milli(ca_cc(f, LUSTRE_SRC1));
	assert_true(f->n_changed >= 1);
	assert_true(after < before);
}

/* A fabric that is never content: too weak with one setting, too strong with the next. Each
 * reversal doubles the pause, so a thousand passes see a few changes and not hundreds.
 */
static void test_no_oscillation(void **state)
{
	struct fixture *f = *state;
	uint32_t end = 0, now;

	under_control(f);
	for (unsigned int i = 0; i < 2000; i++) {
		now = end_milli(ca_cc(f, LUSTRE_SRC1));
		if (!end)
			end = now;
		if (now < end || i < 8) { /* too weak: src4 waits for the tree again */
			traffic_lustre_off(&f->tr);
			for (unsigned int k = 0; k < 3; k++)
				traffic_at(&f->tr, LUSTRE_SRC1 + k, 1)->becn = 80;
		} else {
			traffic_lustre_tuned(&f->tr);
			traffic_at(&f->tr, LUSTRE_SW2, 1)->mbps = 13000;
			traffic_at(&f->tr, LUSTRE_SW2, 1)->wait_permille = 450;
		}
		step(f);
	}
	assert_in_range(f->n_changed, 2, 20);
}

/* Each pass shows BECNs of one of the three; together they are three all the same. */
static void test_contributors_over_time(void **state)
{
	struct fixture *f = *state;

	under_control(f);
	for (unsigned int i = 0; i < 120; i++) {
		for (unsigned int k = 0; k < 3; k++)
			traffic_at(&f->tr, LUSTRE_SRC1 + k, 1)->becn = i % 3 == k ? 240 : 0;
		step(f);
	}
	assert_int_equal(f->n_changed, 0);
}

/* The sink becomes slower: the formulas are asked again, and once more if the first mean still had
 * passes from before in it.
 */
static void test_grows(void **state)
{
	struct fixture *f = *state;

	under_control(f);
	traffic_at(&f->tr, LUSTRE_SW2, 1)->mbps = 7480;
	traffic_at(&f->tr, LUSTRE_SW2, 1)->wait_permille = 766;
	steps(f, 20);
	assert_in_range(f->n_changed, 1, 2);
	/* x = 3 * 32000 / 7480 - 1 = 11.83, end 14.11 */
	assert_in_range(end_milli(ca_cc(f, LUSTRE_SRC1)), 14000, 14200);
}

static void test_switch_wide(void **state)
{
	struct fixture *f = *state;
	struct ibcc_endport_cc *sw = sw_cc(f, LUSTRE_SW2);
	const char *why;

	sw->sw_port_block = 0;
	switch_on(f);
	sw = sw_cc(f, LUSTRE_SW2);
	assert_int_equal(sw->sw.Threshold, 12);
	assert_true(ibcc_cc_mask_test(&sw->sw.Victim_Mask, 1));
	assert_false(sw->element[1].Valid);
	why = reason(f, f->t->port[fabric_port(f->t, LUSTRE_SW2, 0)].endport, 0x14);
	assert_non_null(strstr(why, "no setting for each port"));
	traffic_lustre_tuned(&f->tr);
	steps(f, 100);
	assert_int_equal(f->n_changed, 2);
}

static void test_unsupported_nodes(void **state)
{
	struct fixture *f = *state;

	/* A switch that cannot mark: nothing is set anywhere, and it is said why. */
	sw_cc(f, LUSTRE_SW2)->support = IBCC_CC_UNSUPPORTED;
	traffic_lustre_off(&f->tr);
	steps(f, 20);
	assert_int_equal(f->n_changed, 0);
	assert_non_null(strstr(f->summary, "sw2 port 1 cannot be controlled"));
	/* An adapter without tables is left out, the others are controlled. */
	sw_cc(f, LUSTRE_SW2)->support = IBCC_CC_SUPPORTED;
	ca_cc(f, LUSTRE_SRC1)->support = IBCC_CC_UNSUPPORTED;
	ca_cc(f, LUSTRE_SRC2)->info.ControlTableCap = 0;
	step(f);
	assert_int_equal(f->changes, 2 + 2 * 2);
	/* It is told that the target does without it. */
	assert_int_equal(f->last.n_without, 1);
	assert_int_equal(f->t->endport[f->last.without[0]], fabric_port(f->t, LUSTRE_SRC1, 1));
	traffic_lustre_tuned(&f->tr);
	steps(f, 40);
	assert_int_equal(f->n_changed, 2);
}

/* Settings that work already, of an administrator or from before a restart, are left alone. */
static void test_adopts(void **state)
{
	struct fixture *f = *state;

	under_control(f);
	ibcc_tuner_reset(f->tn);
	steps(f, 100);
	assert_int_equal(f->n_changed, 0);
	/* When they do not work, they are replaced. */
	traffic_lustre_off(&f->tr);
	for (unsigned int i = 0; i < 3; i++)
		traffic_at(&f->tr, LUSTRE_SRC1 + i, 1)->becn = 80;
	ca_cc(f, LUSTRE_SRC1)->ca.sl[0].CCTI_Increase = 9;
	steps(f, 3);
	assert_int_equal(f->n_changed, 1);
	assert_int_equal(ca_cc(f, LUSTRE_SRC1)->ca.sl[0].CCTI_Increase, 1);
}

/* 4-port 2-tree: adapters 0..7, leaves 8..11, roots 12, 13. Adapters of three
 * leaves send to adapter `dest`; their flows meet at the port of root switch dest % 2.
 */
static void tree_hotspot(struct fixture *f, uint32_t dest, bool slow)
{
	uint32_t leaf = 8 + dest / 2, root = 12 + dest % 2;
	uint32_t share = slow ? 2000 : 10600;

	struct traffic_port hot = { slow ? 6000 : 31900, slow ? 812 : 0, 0, 0, 0 };

	*traffic_at(&f->tr, leaf, dest % 2 + 1) = hot;
	*traffic_at(&f->tr, root, leaf - 8 + 1) = hot;
	for (uint32_t l = 8; l < 12; l++) {
		struct traffic_port p = { share, (uint16_t)(1000 - share / 32), 0, 0, 0 };

		if (l == leaf)
			continue;
		*traffic_at(&f->tr, l, 3 + dest % 2) = p;
		*traffic_at(&f->tr, 2 * (l - 8) + dest % 2, 1) = p;
	}
}

static void test_one_after_the_other(void **state)
{
	struct fixture *f = *state;

	/* Adapter 0 is slow, the way to adapter 3 overloaded. */
	tree_hotspot(f, 0, true);
	tree_hotspot(f, 3, false);
	steps(f, 2);
	assert_int_equal(f->n_roots, 2);
	/* The worse of both first: leaf0's port to adapter 0. */
	assert_int_equal(f->n_changed, 1);
	assert_true(sw_cc(f, 8)->element[1].Valid);
	assert_false(sw_cc(f, 13)->element[2].Valid);
	steps(f, 3);
	assert_false(sw_cc(f, 13)->element[2].Valid);
	/* Its tree is given 3 passes to empty, what is then set 5 to settle. */
	steps(f, 3 + 5);
	assert_true(sw_cc(f, 13)->element[2].Valid);
	/* 90 % of the queue where nobody else's packets are in it; no Victim_Mask bit where the
	 * port faces a switch.
	 */
	assert_int_equal(sw_cc(f, 13)->element[2].Threshold, 2);
	assert_false(ibcc_cc_mask_test(&sw_cc(f, 13)->sw.Victim_Mask, 2));
	assert_int_equal(ca_cc(f, 5)->cct.limit, 48);
}

/* A root may be confirmed in the very pass in which another one's settings change. */
static void test_confirmed_while_changing(void **state)
{
	struct fixture *f = *state;

	for (unsigned int later = 1; later < 8; later++) {
		struct traffic_port *port;
		uint16_t waits;

		ibcc_tuner_reset(f->tn);
		tree_hotspot(f, 0, true);
		tree_hotspot(f, 3, true);
		port = traffic_at(&f->tr, 9, 2); /* leaf1's to adapter 3 */
		waits = port->wait_permille;
		port->wait_permille = 0;
		steps(f, later);
		port->wait_permille = waits;
		steps(f, 10);
		assert_int_equal(f->n_roots, 2);
		assert_string_equal(f->summary, "2 roots under control");
	}
}

/* Marks that stop while sources wait, or that go to one of several sources: the settings are to be
 * read again, but not in each pass.
 */
static void test_doubt(void **state)
{
	struct fixture *f = *state;
	unsigned int n = 0;

	under_control(f);
	for (unsigned int i = 0; i < 3; i++)
		traffic_at(&f->tr, LUSTRE_SRC1 + i, 1)->becn = 80;
	for (unsigned int i = 0; i < 20; i++) {
		step(f);
		assert_false(f->doubt);
	}
	traffic_lustre_off(&f->tr);
	for (unsigned int i = 0; i < 30; i++) {
		step(f);
		n += f->doubt;
	}
	assert_in_range(n, 1, 5);
}

/* Repaid backlog fills many links at once; that is not many hotspots. */
static void test_too_many_roots(void **state)
{
	struct fixture *f = *state;

	for (uint32_t leaf = 0; leaf < 4; leaf++)
		for (uint32_t i = 0; i < 2; i++) {
			*traffic_at(&f->tr, 8 + leaf, 3 + i) =
				(struct traffic_port){ 24000, 250, 0, 0, 0 };
			*traffic_at(&f->tr, 12 + i, leaf + 1) =
				(struct traffic_port){ 31900, 0, 0, 0, 0 };
			*traffic_at(&f->tr, 2 * leaf + i, 1) =
				(struct traffic_port){ 24000, 250, 0, 0, 0 };
		}
	steps(f, 20);
	assert_true(f->n_roots > 2);
	assert_int_equal(f->n_changed, 0);
}

static void test_other_topology(void **state)
{
	struct fixture *f = *state;
	struct fixture *g;
	void *other;

	/* State of one fabric is never used for another. */
	under_control(f);
	setup_tree(&other);
	g = other;
	ibcc_tuner_free(g->tn);
	g->tn = f->tn;
	f->tn = NULL;
	steps(g, 20);
	assert_int_equal(g->n_changed, 0);
	teardown(&other);
	ibcc_tuner_free(NULL);
}

int main(void)
{
#define LUSTRE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
#define TREE(f)   cmocka_unit_test_setup_teardown(f, setup_tree, teardown)
	const struct CMUnitTest tests[] = {
		LUSTRE(test_healthy),
		LUSTRE(test_first_settings),
		LUSTRE(test_observe_only),
		LUSTRE(test_learns_then_rests),
		LUSTRE(test_untrustworthy),
		LUSTRE(test_blind_under_control),
		LUSTRE(test_flicker),
		LUSTRE(test_removal),
		LUSTRE(test_removal_backs_off),
		LUSTRE(test_no_victims),
		LUSTRE(test_lost_settings),
		LUSTRE(test_draining),
		LUSTRE(test_strengthens),
		LUSTRE(test_takes_back),
		LUSTRE(test_marks_earlier),
		LUSTRE(test_relaxes),
		LUSTRE(test_no_oscillation),
		LUSTRE(test_contributors_over_time),
		LUSTRE(test_grows),
		LUSTRE(test_switch_wide),
		LUSTRE(test_unsupported_nodes),
		LUSTRE(test_adopts),
		LUSTRE(test_doubt),
		TREE(test_one_after_the_other),
		TREE(test_confirmed_while_changing),
		TREE(test_too_many_roots),
		LUSTRE(test_other_topology),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
