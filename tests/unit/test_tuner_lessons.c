/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Ways in which other laws went wrong: this one must not. */
#include "tuners.h"

/* Sources that share a sink and send nothing else but acknowledgements: who acts on waiting alone
 * starts, finds no victim, stops, and starts again.
 */
static void test_no_foreign_traffic(void **state)
{
	struct fixture *f = *state;

	for (unsigned int i = 0; i < 3; i++)
		*traffic_at(&f->tr, LUSTRE_SRC1 + i, 1) =
			(struct traffic_port){ 4987, 844, 0, 0, 0 };
	*traffic_at(&f->tr, LUSTRE_SW1, 5) = (struct traffic_port){ 14960, 532, 0, 0, 0 };
	*traffic_at(&f->tr, LUSTRE_SW2, 1) = (struct traffic_port){ 14960, 532, 0, 0, 0 };
	for (unsigned int i = 0; i < 200; i++) {
		/* 0 to 1.5 % that goes elsewhere. */
		traffic_at(&f->tr, LUSTRE_SRC1, 1)->mbps = 4987 + i % 16 * 15;
		step(f);
	}
	assert_int_equal(f->n_roots, 1);
	assert_int_equal(f->n_changed, 0);
}

/* The victim comes and goes under control: what is set stays. */
static void test_victim_comes_and_goes(void **state)
{
	struct fixture *f = *state;

	under_control(f);
	for (unsigned int i = 0; i < 200; i++) {
		bool there = i / 10 % 2;

		*traffic_at(&f->tr, LUSTRE_SRC4, 1) =
			there ? (struct traffic_port){ 17040, 467, 0, 0, 0 }
			      : (struct traffic_port){ 0, 0, 0, 0, 0 };
		*traffic_at(&f->tr, LUSTRE_SW1, 5) =
			(struct traffic_port){ there ? 32000 : 14960, 0, 0, 0, 0 };
		step(f);
	}
	assert_int_equal(f->n_changed, 0);
}

/* A sink that is not kept busy takes less than it could. Who takes that for its rate sets values
 * for a slower one, which keep it less busy still.
 */
static void test_rate_of_an_idle_sink(void **state)
{
	struct fixture *f = *state;

	under_control(f);
	traffic_at(&f->tr, LUSTRE_SW2, 1)->mbps = 10000;
	traffic_at(&f->tr, LUSTRE_SW2, 1)->wait_permille = 300;
	for (unsigned int i = 0; i < 300; i++) {
		uint32_t changed = f->n_changed;

		step(f);
		assert_null(strstr(f->summary, "formulas"));
		if (f->n_changed > changed)
			assert_non_null(strstr(f->summary, "relax"));
	}
	assert_in_range(f->n_changed, 1, 8); /* as far as feedback goes, then no more */
	/* Every other pass an idle one, every other one jammed. */
	f->n_changed = 0;
	for (unsigned int i = 0; i < 300; i++) {
		traffic_at(&f->tr, LUSTRE_SW2, 1)->mbps = i % 2 ? 14960 : 10000;
		traffic_at(&f->tr, LUSTRE_SW2, 1)->wait_permille = i % 2 ? 530 : 100;
		step(f);
		assert_null(strstr(f->summary, "formulas"));
	}
	assert_in_range(f->n_changed, 0, 2);
}

/* The fewest passes from one change to the next. */
static unsigned int shortest_pause(struct fixture *f, unsigned int passes)
{
	unsigned int shortest = passes, since = passes;

	for (unsigned int i = 0; i < passes; i++, since++) {
		if (!step(f))
			continue;
		shortest = since < shortest ? since : shortest;
		since = 0;
	}
	return shortest;
}

/* A sink that is never busy enough. At first steps follow as soon as each can be judged; once the
 * root has been under control for long there is one in 20 passes at most, the aim for a settled
 * fabric. A sink that fills its link is news, and steps follow soon again.
 */
static void test_rests_when_steady(void **state)
{
	struct fixture *f = *state;
	unsigned int pause = 0;

	switch_on(f);
	traffic_lustre_tuned(&f->tr);
	traffic_at(&f->tr, LUSTRE_SW2, 1)->mbps = 12000;
	traffic_at(&f->tr, LUSTRE_SW2, 1)->wait_permille = 300;
	assert_in_range(shortest_pause(f, 18), 4, 10);
	steps(f, 4);
	assert_in_range(shortest_pause(f, 100), 20, 99);
	traffic_at(&f->tr, LUSTRE_SW2, 1)->mbps = 31900;
	traffic_at(&f->tr, LUSTRE_SW2, 1)->wait_permille = 0;
	steps(f, 4);
	traffic_at(&f->tr, LUSTRE_SW2, 1)->mbps = 30000;
	while (pause < 20 && !step(f))
		pause++;
	assert_in_range(pause, 3, 10);
}

static double loop_of(struct fixture *f)
{
	const struct ibcc_endport_cc *ca = ca_cc(f, LUSTRE_SRC1);

	return (double)ca->ca.sl[0].CCTI_Increase * ca->ca.sl[0].CCTI_Timer;
}

static double end_of(struct fixture *f)
{
	const struct ibcc_cct *cct = &ca_cc(f, LUSTRE_SRC1)->cct;

	return ibcc_cct_entry_delay_milli(cct->entry[cct->limit]);
}

/* The share of packets to be marked is what balances increase * timer: by no more than half as much
 * again at a step, since the next step is only judged when the fabric has answered to the last.
 */
static void test_small_steps(void **state)
{
	struct fixture *f = *state;
	unsigned int moved = 0;

	switch_on(f);
	for (unsigned int i = 0; i < 3; i++)
		traffic_at(&f->tr, LUSTRE_SRC1 + i, 1)->becn = 80;
	steps(f, 9);
	for (unsigned int i = 0; i < 400; i++) {
		double loop = loop_of(f), end = end_of(f);
		/* Victims wait a little less after each step, so that it is not taken back, and in
		 * the end the hot port is not busy any more.
		 */
		uint32_t wait = 500 - (uint32_t)(end / 100) - (uint32_t)loop;

		traffic_at(&f->tr, LUSTRE_SRC4, 1)->wait_permille = (uint16_t)wait;
		if (i >= 300) {
			traffic_at(&f->tr, LUSTRE_SW2, 1)->mbps = 13000;
			traffic_at(&f->tr, LUSTRE_SW2, 1)->wait_permille = 300;
		}
		step(f);
		moved += loop_of(f) != loop || end_of(f) != end;
		/* Timers are whole numbers, of which the least that occurs is some 7. */
		assert_true(loop_of(f) < loop * 1.5 + 1 && loop_of(f) > loop / 1.5 - 1);
		assert_true(end_of(f) < end * 1.26 && end_of(f) > end / 1.26);
	}
	assert_true(moved >= 4);
}

/* 4-port 2-tree: root switch 13's port 2 leads to the leaf with adapter 3, to which 1, 5 and 7 send
 * more than it carries, and something elsewhere.
 */
static uint8_t marking_rate(struct fixture *f)
{
	return (uint8_t)sw_cc(f, 13)->element[2].Cong_Parm_Marking_Rate;
}

static void tree(struct fixture *f, bool stands)
{
	for (uint32_t l = 8; l < 12; l++) {
		struct traffic_port p = { 11600, stands ? 637 : 0, 80, 0, 0 };

		if (l == 9)
			continue;
		*traffic_at(&f->tr, l, 4) = p;
		traffic_at(&f->tr, l, 4)->becn = 0;
		*traffic_at(&f->tr, 2 * (l - 8) + 1, 1) = p;
	}
}

/* A full link whose tree is gone marks 1.7 times what holding takes, no more all that it can.
 * Packets of one of three flows are 3 * 2074 * 8 / 31900 = 1.56 us apart, the timer is 1.56 / (0.12
 * * 1.024) = 12.7, rounded up to 13.3 us, and 13.3 / 1.56 / 1.7 = 5.02: one packet of 5. The tree
 * must be gone for four passes, or back for two; then it must be gone for eight.
 */
static void test_calm(void **state)
{
	struct fixture *f = *state;

	tree_hotspot(f, 3, false);
	tree(f, true);
	steps(f, 12);
	assert_true(sw_cc(f, 13)->element[2].Valid);
	assert_int_equal(marking_rate(f), 0);
	f->n_changed = 0;
	for (unsigned int i = 0; i < 40; i++) {
		tree(f, i % 4 == 3);
		step(f);
		assert_int_equal(marking_rate(f), 0);
	}
	tree(f, false);
	steps(f, 3);
	assert_int_equal(marking_rate(f), 0);
	steps(f, 2);
	assert_int_equal(marking_rate(f), 4);
	for (unsigned int i = 0; i < 40; i++) {
		tree(f, i % 2);
		step(f);
		assert_int_equal(marking_rate(f), 4);
	}
	tree(f, true);
	steps(f, 3);
	assert_int_equal(marking_rate(f), 0);
	tree(f, false);
	steps(f, 7);
	assert_int_equal(marking_rate(f), 0);
	steps(f, 2);
	assert_int_equal(marking_rate(f), 4);
}

int main(void)
{
#define LUSTRE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
#define TREE(f)   cmocka_unit_test_setup_teardown(f, setup_tree, teardown)
	const struct CMUnitTest tests[] = {
		LUSTRE(test_no_foreign_traffic),   LUSTRE(test_victim_comes_and_goes),
		LUSTRE(test_rate_of_an_idle_sink), LUSTRE(test_rests_when_steady),
		LUSTRE(test_small_steps),          TREE(test_calm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
