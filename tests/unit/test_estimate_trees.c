/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Roots in trees of several switches: which adapters are behind which root, and tables that lead
 * round. */
#include "estimates.h"

/* A port by which adapters 0 and 1 send to three others: each is one source, and waits once. */
static void test_many_behind(void **state)
{
	struct fixture *f = *state;
	const struct ibcc_root *r;

	*traffic_at(&f->tr, 8, 3) = load(31900, 0, 0);
	*traffic_at(&f->tr, 0, 1) = *traffic_at(&f->tr, 1, 1) = load(16000, 500, 0);
	*traffic_at(&f->tr, 9, 3) = load(16000, 700, 0);
	assert_int_equal(pass(f)->n_roots, 1);
	r = at(f, fabric_port(f->t, 8, 3));
	assert_int_equal(r->n_sources, 2);
	assert_int_equal(r->n_waiting, 2);
	assert_int_equal(r->tree_wait_permille, 500);
}

/* One link brings nearly all that the hot port carries, and so waits little: 8 %. It is the tree
 * all the same, and no root of its own, unless it marks.
 */
static void test_one_feeder_brings_most(void **state)
{
	struct fixture *f = *state;
	uint32_t hot = fabric_port(f->t, 8, 1);

	f->tr.port[hot] = load(31950, 0, 0);
	*traffic_at(&f->tr, 12, 1) = load(29400, 80, 0);
	*traffic_at(&f->tr, 1, 1) = load(2550, 0, 0);
	for (uint32_t leaf = 1; leaf < 4; leaf++) {
		*traffic_at(&f->tr, 8 + leaf, 3) = load(9800, 690, 0);
		*traffic_at(&f->tr, 2 * leaf, 1) = load(9800, 690, 0);
	}
	assert_int_equal(pass(f)->n_roots, 1);
	assert_int_equal(at(f, hot)->kind, IBCC_CONGESTION_INPUT);
	assert_int_equal(at(f, hot)->n_contributors, 3);
	assert_int_equal(role(at(f, hot), fabric_port(f->t, 1, 1)), IBCC_ROLE_NEAR);
	/* All of twelve ports were read, or all but one: both roots', three leaves', seven
	 * adapters'.
	 */
	assert_int_equal(at(f, hot)->confidence_permille, 1000);
	traffic_at(&f->tr, 5, 1)->silent = true;
	pass(f);
	assert_int_equal(at(f, hot)->confidence_permille, 916);
	mark_at(f, 12, 1);
	assert_int_equal(pass(f)->n_roots, 2);
	/* It is one where nothing behind it is. */
	sw_cc(f, 12)->element[1].Valid = false;
	f->tr.port[hot] = load(30000, 0, 0);
	assert_int_equal(pass(f)->n_roots, 1);
	at(f, fabric_port(f->t, 12, 1));
}

/* A full link that leads to a root, where adapters beside it wait, is a root as well. */
static void test_chain(void **state)
{
	struct fixture *f = *state;

	*traffic_at(&f->tr, 32, 1) = *traffic_at(&f->tr, 40, 1) = load(31950, 0, 0);
	for (uint32_t i = 1; i < 4; i++) {
		*traffic_at(&f->tr, i, 1) = *traffic_at(&f->tr, 4 * i, 1) = load(10650, 660, 0);
		*traffic_at(&f->tr, 32 + i, 5) = load(10650, 660, 0);
	}
	assert_int_equal(pass(f)->n_roots, 2);
	assert_int_equal(role(at(f, fabric_port(f->t, 40, 1)), fabric_port(f->t, 4, 1)),
			 IBCC_ROLE_CANDIDATE);
	assert_int_equal(role(at(f, fabric_port(f->t, 32, 1)), fabric_port(f->t, 1, 1)),
			 IBCC_ROLE_CANDIDATE);
}

/* Two receivers on one switch are slow, and the tree of one holds up what is for the other: nothing
 * that leads to the other is full, but it waits for its adapter and for no other. A sender that is
 * throttled for the one, by BECNs, counts as waiting.
 */
static void test_slow_behind_slow(void **state)
{
	struct fixture *f = *state;

	*traffic_at(&f->tr, 8, 1) = load(3200, 900, 0);
	*traffic_at(&f->tr, 8, 2) = load(1600, 950, 0);
	*traffic_at(&f->tr, 12, 1) = load(3200, 900, 0);
	*traffic_at(&f->tr, 13, 1) = load(1600, 20, 0);
	for (uint32_t leaf = 1; leaf < 4; leaf++) {
		*traffic_at(&f->tr, 8 + leaf, 3) = load(1070, 965, 0);
		*traffic_at(&f->tr, 8 + leaf, 4) = load(530, 0, 0);
		*traffic_at(&f->tr, 2 * leaf, 1) = load(1600, 950, 0);
	}
	assert_int_equal(pass(f)->n_roots, 2);
	assert_int_equal(at(f, fabric_port(f->t, 8, 1))->kind, IBCC_CONGESTION_OUTPUT);
	assert_int_equal(at(f, fabric_port(f->t, 8, 2))->kind, IBCC_CONGESTION_OUTPUT);
	for (uint32_t leaf = 1; leaf < 4; leaf++)
		*traffic_at(&f->tr, 2 * leaf, 1) = load(1600, 0, 10);
	assert_int_equal(pass(f)->n_roots, 1);
	at(f, fabric_port(f->t, 8, 1));
}

/* Twelve of 128 ports are below the limit for stale ones, 14 are not. */
static void test_untrustworthy(void **state)
{
	struct fixture *f = *state;

	for (uint32_t i = 0; i < 14; i++) {
		if (i == 12)
			assert_true(pass(f)->trustworthy);
		traffic_at(&f->tr, i, 1)->silent = true;
	}
	assert_false(pass(f)->trustworthy);
}

/* Tables that lead round and round, from outside. */
static void test_loop(void **state)
{
	struct fixture *f = *state;
	uint16_t lid = traffic_lid(&f->tr, 0);

	for (uint32_t node = 6; node < 9; node++) {
		f->t->node[node].lft[lid] = 3;
		*traffic_at(&f->tr, node, 3) = load(30000, 60, 0);
	}
	for (uint32_t node = 0; node < 6; node++)
		*traffic_at(&f->tr, node, 1) = load(5000, 800, 0);
	assert_int_equal(pass(f)->n_roots, 1);
	assert_int_equal(f->e.root[0].n_contributors, 6);
}

/* Adapter 8 reaches the slow adapter 4 by another way than the sources 0 and 1 do. What it sends to
 * adapter 2 passes a link of their tree, and waits there.
 */
static void test_victim_by_another_way(void **state)
{
	struct fixture *f = *state;
	uint32_t slow = fabric_port(f->t, 12, 1), beside = fabric_port(f->t, 8, 1);

	f->tr.port[slow] = load(3200, 900, 0);
	*traffic_at(&f->tr, 10, 3) = *traffic_at(&f->tr, 11, 3) = load(3200, 900, 0);
	*traffic_at(&f->tr, 0, 1) = *traffic_at(&f->tr, 1, 1) = load(1600, 950, 0);
	*traffic_at(&f->tr, 8, 1) = *traffic_at(&f->tr, 14, 3) = load(300, 990, 0);
	assert_int_equal(pass(f)->n_roots, 1);
	assert_int_equal(role(at(f, slow), beside), IBCC_ROLE_VICTIM);
	assert_int_equal(at(f, slow)->n_victims, 1);
	assert_int_equal(at(f, slow)->n_contributors, 2);
	/* It waits for something else: the link to the tree has credits. */
	*traffic_at(&f->tr, 14, 3) = load(300, 0, 0);
	assert_int_equal(pass(f)->n_roots, 1);
	assert_int_equal(role(at(f, slow), beside), IBCC_ROLE_NONE);
	/* It does not wait. */
	*traffic_at(&f->tr, 14, 3) = load(300, 990, 0);
	*traffic_at(&f->tr, 8, 1) = load(300, 0, 0);
	assert_int_equal(pass(f)->n_roots, 1);
	assert_int_equal(role(at(f, slow), beside), IBCC_ROLE_NONE);
}

static int setup_ring(void **state)
{
	return setup_for(state, fabric_ring(3));
}

static int setup_ring_of_five(void **state)
{
	return setup_for(state, fabric_ring(5));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TREE(test_many_behind),
		TREE(test_one_feeder_brings_most),
		TREE(test_slow_behind_slow),
		TREE8(test_untrustworthy),
		TREE8(test_chain),
		cmocka_unit_test_setup_teardown(test_loop, setup_ring, teardown),
		cmocka_unit_test_setup_teardown(test_victim_by_another_way, setup_ring_of_five,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
