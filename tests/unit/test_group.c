/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Values of roots that share contributors, worked out by hand from the published relations. */
#include "hotspots.h"

/* The severe root leads: a BECN in 2 * 733 * 1.024 us = 1501.2 us. Of the severe root's packets
 * that is 12 %; with its tree it marks 8.3 times as many, which are all, and without one 3 times.
 * The mild root has 500 packets of a source in that time: it marks 8.3 times what it needs, one of
 * 60, and without a tree 1.7 times, one of 294.
 */
static void test_shared(void **state)
{
	static const struct {
		bool mild_calm, severe_calm;
		uint16_t mild, severe;
	} c[] = { { false, false, 59, 0 }, { true, false, 293, 0 }, { false, true, 59, 1 } };
	struct fixture *f = *state;
	struct two h;

	two_roots(f, &h);
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		h.mild->tree_gone = c[i].mild_calm;
		h.severe->tree_gone = c[i].severe_calm;
		ibcc_parameters_group(&h.p, f->t);
		assert_ptr_equal(&h.p.root[h.mild->leader], h.severe);
		assert_ptr_equal(&h.p.root[h.severe->leader], h.severe);
		assert_false(h.mild->alone || h.severe->alone);
		assert_int_equal(h.mild->marking_rate, c[i].mild);
		assert_int_equal(h.severe->marking_rate, c[i].severe);
	}
	/* 128 entries at 733 * 1.024 us are 96 passes. */
	assert_int_equal(h.mild->recover, 96);
	assert_int_equal(h.severe->recover, 96);
	/* Sources that may not have more than half the timer have to get twice as many. */
	h.severe->tree_gone = false;
	h.p.max_timer = 366;
	ibcc_parameters_group(&h.p, f->t);
	assert_int_equal(h.mild->marking_rate, 29);
	assert_int_equal(h.mild->recover, 47);
	h.p.max_timer = 0;
	/* Half the balance wanted there: twice as many marks to choose from. */
	h.mild->timer_scale_permille = 2000;
	ibcc_parameters_group(&h.p, f->t);
	assert_int_equal(h.mild->marking_rate, 29);
	/* All marks there are, while its tree is emptied; no register holds more than 1000. */
	h.mild->phase = IBCC_PHASE_DRAIN;
	ibcc_parameters_group(&h.p, f->t);
	assert_int_equal(h.mild->marking_rate, 0);
	h.mild->phase = IBCC_PHASE_HOLD;
	h.severe->rate_mbps = 10;
	ibcc_parameters_group(&h.p, f->t);
	assert_int_equal(h.mild->marking_rate, 1000);
	ibcc_parameters_fini(&h.p);
}

/* While a root learns it marks eight packets of each source in a pass. */
static void test_learning(void **state)
{
	static const struct {
		uint64_t interval_ns;
		uint32_t n, mbps;
		uint16_t rate;
	} c[] = {
		{ 1000000, 10, 32000, 25 }, /* 2000 packets of 2000 bytes for 80 marks */
		{ 1000000, 40, 3200, 0 },
		{ 1000000000, 10, 32000, 1000 },
	};
	struct fixture *f = *state;
	struct two h;

	two_roots(f, &h);
	h.severe->phase = IBCC_PHASE_LEARN;
	h.severe->packet_bytes = 2000;
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		h.severe->interval_ns = c[i].interval_ns;
		h.severe->n = h.severe->n_heavy = c[i].n;
		h.severe->rate_mbps = c[i].mbps;
		ibcc_parameters_group(&h.p, f->t);
		assert_int_equal(h.severe->marking_rate, c[i].rate);
	}
	ibcc_parameters_fini(&h.p);
}

/* Alone a slow receiver marks all it can, tree or not, and a full link 1.7 times what it needs. */
static void test_apart(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root_parameters *third;
	struct two h;

	two_roots(f, &h);
	h.severe->member[endport_of(f, 4)] = h.severe->member[endport_of(f, 5)] = false;
	h.mild->tree_gone = h.severe->tree_gone = true;
	ibcc_parameters_group(&h.p, f->t);
	assert_int_equal(h.mild->leader, 0);
	assert_int_equal(h.severe->leader, 1);
	assert_true(h.mild->alone && h.severe->alone);
	assert_int_equal(h.mild->marking_rate, 4); /* 25.6 us / 3 us / 1.7 = 5 */
	assert_int_equal(h.severe->marking_rate, 0);
	assert_int_equal(h.mild->recover, 25 * 128 * 1024 / 1000000);
	/* A third one that shares with both joins them, if anything of it is set. */
	third = root_at(f, &h.p, 10, 1, IBCC_CONGESTION_OUTPUT, 4, 16000);
	enlist(f, third, 5, 6);
	third->phase = IBCC_PHASE_BARRED;
	ibcc_parameters_group(&h.p, f->t);
	assert_true(h.mild->alone && h.severe->alone && third->alone);
	third->phase = IBCC_PHASE_HOLD;
	ibcc_parameters_group(&h.p, f->t);
	for (uint32_t k = 0; k < 3; k++) {
		assert_int_equal(h.p.root[k].r.leader, 1);
		assert_false(h.p.root[k].r.alone);
	}
	ibcc_parameters_fini(&h.p);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup_tree, teardown)
	const struct CMUnitTest tests[] = { TEST(test_shared), TEST(test_learning),
					    TEST(test_apart) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
