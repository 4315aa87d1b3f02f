/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Values of roots that share contributors, worked out by hand from the published relations. */

#include "tests/unit/tuner_fixture.h"

static int setup(void **state)
{
	fixture_new(state);
	return 0;
}

/* A root to which adapters first..last contribute. */
static struct ibcc_tuner_root *add(struct fixture *f, uint32_t port, uint32_t rate_mbps,
				   uint32_t first, uint32_t last)
{
	struct ibcc_tuner_root *r = ibcc_tuner_add(f->tn, port);

	assert_non_null(r);
	r->kind = rate_mbps < 20000 ? IBCC_CONGESTION_OUTPUT : IBCC_CONGESTION_INPUT;
	r->on = true;
	ibcc_tuner_number(r, last - first + 1, last - first + 1, rate_mbps);
	r->packet_bytes = 2000;
	for (uint32_t i = first; i <= last; i++)
		r->member[f->t->port[fabric_port(f->t, i, 1)].endport] = true;
	return r;
}

static void test_shared(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *fast = add(f, 1, 32000, 0, 5);
	struct ibcc_tuner_root *slow = add(f, 2, 3200, 4, 7);
	struct ibcc_tuner_root *off = add(f, 3, 1000, 0, 7);
	struct ibcc_law_out alone, law;

	off->on = false;
	assert_int_equal(ibcc_tuner_law(slow, 32000, 128, &alone), 0);
	ibcc_tuner_group(f->tn, f->t);
	/* x is 5 at one and 39 at the other; packets of a flow are 3 us and 20 us apart, so at the
	 * fast one the share to be marked is 6.67 times smaller. The slow one leads with half the
	 * timer that it would need alone, which doubles what both mark: 1 in 3.
	 */
	assert_ptr_equal(&f->tn->root[fast->leader], slow);
	assert_ptr_equal(&f->tn->root[slow->leader], slow);
	assert_true(slow->leads_faster);
	assert_false(fast->leads_faster);
	assert_int_equal(ibcc_tuner_law(slow, 32000, 128, &law), 0);
	assert_in_range(law.timer, alone.timer / 2, alone.timer / 2 + 1);
	assert_int_equal(law.end_milli, alone.end_milli);
	assert_int_equal(slow->marking_rate, 0);
	assert_int_equal(fast->marking_rate, 2);
	/* Half the balance wanted there: twice as many marks to choose from. */
	fast->loop_permille = 2000;
	ibcc_tuner_group(f->tn, f->t);
	assert_int_equal(fast->marking_rate, 0);
	/* Without a tree it marks 1.7 times what it needs, 0.12 / 3.33 of its packets: 1 in 16. */
	fast->loop_permille = 1000;
	fast->calm = true;
	ibcc_tuner_group(f->tn, f->t);
	assert_int_equal(fast->marking_rate, 15);
}

/* A slow receiver alone has its own timer, and marks all it can, tree or not. Where another one's
 * sources have that timer, it marks 3 times what it needs without a tree, which is 0.12 of its
 * packets: 1 in 2.
 */
static void test_calm_slow(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *slow = add(f, 2, 3200, 4, 7), *other;

	ibcc_tuner_group(f->tn, f->t);
	assert_false(slow->leads_faster);
	assert_int_equal(slow->marking_rate, 0);
	slow->calm = true;
	ibcc_tuner_group(f->tn, f->t);
	assert_true(slow->alone);
	assert_int_equal(slow->marking_rate, 0);
	other = add(f, 3, 6400, 0, 4);
	ibcc_tuner_group(f->tn, f->t);
	assert_false(slow->alone || other->alone || slow->leads_faster);
	assert_ptr_equal(&f->tn->root[other->leader], slow);
	assert_int_equal(slow->marking_rate, 1);
	other->on = false;
	ibcc_tuner_group(f->tn, f->t);
	assert_true(slow->alone);
	assert_int_equal(slow->marking_rate, 0);
}

static void test_apart(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *a = add(f, 1, 32000, 0, 3);
	struct ibcc_tuner_root *b = add(f, 2, 3200, 4, 7);

	ibcc_tuner_group(f->tn, f->t);
	assert_ptr_equal(&f->tn->root[a->leader], a);
	assert_ptr_equal(&f->tn->root[b->leader], b);
	assert_int_equal(a->marking_rate, 0);
	/* A third one that shares with both joins them. */
	add(f, 3, 16000, 3, 4);
	ibcc_tuner_group(f->tn, f->t);
	for (uint32_t i = 0; i < 3; i++)
		assert_ptr_equal(&f->tn->root[f->tn->root[i].leader], &f->tn->root[1]);
	assert_true(f->tn->root[0].marking_rate > 0);
}

static void test_drain(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = add(f, 2, 3200, 0, 7);
	struct ibcc_law_out hold, drain;

	assert_int_equal(ibcc_tuner_law(r, 32000, 128, &hold), 0);
	r->drain = 5;
	r->interval_ns = 1024000;
	assert_int_equal(ibcc_tuner_law(r, 32000, 128, &drain), 0);
	/* x = 79: 91.35 packet times; 3.5 times that; entries grow by 16384^(1/127), so 60 reach
	 * the end, in four steps; two ticks of 1.024 us in each interval, less one unit for
	 * rounding.
	 */
	assert_in_range(hold.end_milli, 91340, 91360);
	assert_in_range(drain.end_milli, 319680, 319760);
	assert_int_equal(hold.cct.limit, 60);
	assert_int_equal(drain.cct.limit, 60);
	assert_int_equal(drain.increase, 15);
	assert_in_range(drain.timer, 499, 501);
}

/* Flows of a moderate hotspot must not stop when their adapter gets the table of a severe one, nor
 * run away when it gets the moderate one's again.
 */
static void test_same_delays(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *mild = add(f, 1, 32000, 0, 5);
	struct ibcc_tuner_root *severe = add(f, 2, 3200, 0, 7);
	struct ibcc_law_out a, b, c;

	severe->interval_ns = 1000000;
	assert_int_equal(ibcc_tuner_law(mild, 32000, 128, &a), 0);
	assert_int_equal(ibcc_tuner_law(severe, 32000, 128, &b), 0);
	severe->drain = 3;
	assert_int_equal(ibcc_tuner_law(severe, 32000, 128, &c), 0);
	assert_true(a.cct.limit < b.cct.limit);
	for (uint32_t i = 0; i < a.cct.limit; i++) {
		assert_int_equal(a.cct.entry[i], b.cct.entry[i]);
		assert_int_equal(a.cct.entry[i], c.cct.entry[i]);
	}
}

/* The heaviest flow is the one that is held: light ones stretch the table, not the timer. */
static void test_heavy(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = add(f, 1, 32000, 0, 7);
	struct ibcc_law_out even, uneven;

	assert_int_equal(ibcc_tuner_law(r, 32000, 128, &even), 0);
	r->n_heavy = 4;
	assert_int_equal(ibcc_tuner_law(r, 32000, 128, &uneven), 0);
	assert_int_equal(uneven.end_milli, even.end_milli);
	assert_in_range(uneven.timer, even.timer / 2, even.timer / 2 + 1);

	/* Six with 100 BECNs each, two with 400: the latter count as 400 - 2 * 20. */
	for (uint32_t i = 0; i < 8; i++)
		r->becn[f->t->port[fabric_port(f->t, i, 1)].endport] = (i < 6 ? 100 : 400);
	assert_int_equal(ibcc_tuner_contributors(r, f->tn->n_endports), 8);
	assert_int_equal(ibcc_tuner_heavy(r, f->tn->n_endports), 4); /* 1400 / 360 */
	/* One that has lost its settings hides nobody. */
	r->becn[f->t->port[fabric_port(f->t, 0, 1)].endport] = 100000;
	assert_int_equal(ibcc_tuner_contributors(r, f->tn->n_endports), 8);
	/* Small numbers that differ by chance alone. */
	for (uint32_t i = 0; i < 8; i++)
		r->becn[f->t->port[fabric_port(f->t, i, 1)].endport] = (8 + i % 4);
	assert_int_equal(ibcc_tuner_heavy(r, f->tn->n_endports), 8);
}

/* A root's sources are jammed by another one's tree if both give them the same values. */
static void test_jammed(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *a = add(f, 1, 32000, 0, 5);
	struct ibcc_tuner_root *b = add(f, 2, 32000, 4, 7);
	struct ibcc_root *now = &f->root[0];

	b->in_force = true;
	*now = (struct ibcc_root){ .port = 2, .link_mbps = 32000, .rate_mbps = 31800 };
	now->tree_wait_permille = 300;
	now->n_waiting = 3;
	f->e.root = f->root;
	f->e.n_roots = 1;
	ibcc_tuner_group(f->tn, f->t);
	assert_true(ibcc_tuner_jammed(f->tn, a, &f->e));
	assert_false(ibcc_tuner_jammed(f->tn, b, &f->e)); /* its own */
	now->n_waiting = 2;                               /* of four contributors */
	assert_false(ibcc_tuner_jammed(f->tn, a, &f->e));
	now->n_waiting = 3;
	now->rate_mbps = 31000; /* is not full: nothing stands there */
	assert_false(ibcc_tuner_jammed(f->tn, a, &f->e));
	now->rate_mbps = 31800;
	b->member[f->t->port[fabric_port(f->t, 4, 1)].endport] = false;
	b->member[f->t->port[fabric_port(f->t, 5, 1)].endport] = false;
	ibcc_tuner_group(f->tn, f->t);
	assert_false(ibcc_tuner_jammed(f->tn, a, &f->e));
}

/* Three of its four adapters wait, whether or not they send twice as many pairs. */
static void test_jammed_by_pairs(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *a = add(f, 1, 32000, 0, 5);
	struct ibcc_tuner_root *b = add(f, 2, 32000, 4, 7);

	b->in_force = true;
	b->n = b->n_heavy = 8;
	b->counts_pairs = true;
	f->root[0] = (struct ibcc_root){
		.port = 2,
		.link_mbps = 32000,
		.rate_mbps = 31800,
		.tree_wait_permille = 300,
		.n_waiting = 3,
	};
	f->e.root = f->root;
	f->e.n_roots = 1;
	ibcc_tuner_group(f->tn, f->t);
	assert_true(ibcc_tuner_jammed(f->tn, a, &f->e));
	f->root[0].n_waiting = 2;
	assert_false(ibcc_tuner_jammed(f->tn, a, &f->e));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_shared), TEST(test_calm_slow),       TEST(test_apart),
		TEST(test_drain),  TEST(test_same_delays),     TEST(test_heavy),
		TEST(test_jammed), TEST(test_jammed_by_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
