/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Roots and contributors that look like none, and the other way round. */
#include "estimators.h"

/* One link brings nearly all that the hot port carries, and so waits little: 8 %. It is the tree
 * all the same, and no root of its own.
 */
static void test_one_feeder_brings_most(void **state)
{
	struct fixture *f = *state;
	struct ibcc_estimate e;

	*traffic_at(&f->tr, 8, 1) = (struct traffic_port){ 31950, 0, 0, 0, 0 };
	*traffic_at(&f->tr, 12, 1) = (struct traffic_port){ 29400, 80, 0, 0, 0 };
	*traffic_at(&f->tr, 1, 1) = (struct traffic_port){ 2550, 0, 0, 0, 0 };
	for (uint32_t leaf = 1; leaf < 4; leaf++) {
		*traffic_at(&f->tr, 8 + leaf, 3) = (struct traffic_port){ 9800, 690, 0, 0, 0 };
		*traffic_at(&f->tr, 2 * leaf, 1) = (struct traffic_port){ 9800, 690, 0, 0, 0 };
	}
	traffic_pass(&f->tr);
	e = estimate(&f->tr, &f->actual);
	assert_int_equal(e.n_roots, 1);
	assert_int_equal(e.root[0].port, fabric_port(f->t, 8, 1));
	assert_int_equal(e.root[0].kind, IBCC_CONGESTION_INPUT);
	assert_int_equal(e.root[0].n_contributors, 3);
	assert_int_equal(role(&e, 0, fabric_port(f->t, 1, 1)), IBCC_ROLE_NEAR);
	ibcc_estimate_fini(&e);
}

/* 8-port 2-tree: adapters 0..31, leaves 32..39, roots 40..43. All that the full port to adapter 0
 * sends comes through root 40, whose port is full as well and does not wait: nothing waits at the
 * leaf's. The adapters of that leaf wait for another port.
 */
static void test_second_of_a_chain(void **state)
{
	struct fixture *f = *state;
	struct ibcc_estimate e;

	*traffic_at(&f->tr, 32, 1) = (struct traffic_port){ 31950, 0, 0, 0, 0 };
	*traffic_at(&f->tr, 40, 1) = (struct traffic_port){ 31950, 0, 0, 0, 0 };
	*traffic_at(&f->tr, 32, 6) = (struct traffic_port){ 31950, 0, 0, 0, 0 };
	for (uint32_t i = 1; i < 4; i++) {
		*traffic_at(&f->tr, i, 1) = (struct traffic_port){ 10650, 660, 0, 0, 0 };
		*traffic_at(&f->tr, 32 + i, 5) = (struct traffic_port){ 10650, 660, 0, 0, 0 };
		*traffic_at(&f->tr, 4 * i, 1) = (struct traffic_port){ 10650, 660, 0, 0, 0 };
	}
	traffic_pass(&f->tr);
	e = estimate(&f->tr, &f->actual);
	assert_int_equal(e.n_roots, 2);
	for (uint32_t i = 0; i < e.n_roots; i++)
		assert_true(e.root[i].port == fabric_port(f->t, 40, 1) ||
			    e.root[i].port == fabric_port(f->t, 32, 6));
	ibcc_estimate_fini(&e);
	/* Where the link from the root is not full, others have a part in it. */
	*traffic_at(&f->tr, 40, 1) = (struct traffic_port){ 15000, 530, 0, 0, 0 };
	traffic_pass(&f->tr);
	e = estimate(&f->tr, &f->actual);
	assert_int_equal(e.n_roots, 2);
	for (uint32_t i = 0; i < e.n_roots; i++)
		assert_true(e.root[i].port == fabric_port(f->t, 32, 1) ||
			    e.root[i].port == fabric_port(f->t, 32, 6));
	ibcc_estimate_fini(&e);
}

/* Two receivers on one switch are slow, and the tree of one holds up what is for the other: nothing
 * that leads to the other is full, but it waits for its adapter and for nobody else.
 */
static void test_slow_behind_slow(void **state)
{
	struct fixture *f = *state;
	struct ibcc_estimate e;
	bool found = false;

	*traffic_at(&f->tr, 8, 1) = (struct traffic_port){ 3200, 900, 0, 0, 0 };
	*traffic_at(&f->tr, 8, 2) = (struct traffic_port){ 1600, 950, 0, 0, 0 };
	*traffic_at(&f->tr, 12, 1) = (struct traffic_port){ 3200, 900, 0, 0, 0 };
	*traffic_at(&f->tr, 13, 1) = (struct traffic_port){ 1600, 20, 0, 0, 0 };
	for (uint32_t leaf = 1; leaf < 4; leaf++) {
		*traffic_at(&f->tr, 8 + leaf, 3) = (struct traffic_port){ 1070, 965, 0, 0, 0 };
		*traffic_at(&f->tr, 8 + leaf, 4) = (struct traffic_port){ 530, 0, 0, 0, 0 };
		*traffic_at(&f->tr, 2 * leaf, 1) = (struct traffic_port){ 1600, 950, 0, 0, 0 };
	}
	traffic_pass(&f->tr);
	e = estimate(&f->tr, &f->actual);
	assert_int_equal(e.n_roots, 2);
	for (uint32_t i = 0; i < e.n_roots; i++) {
		assert_int_equal(e.root[i].kind, IBCC_CONGESTION_OUTPUT);
		found |= e.root[i].port == fabric_port(f->t, 8, 2);
	}
	assert_true(found);
	ibcc_estimate_fini(&e);
}

/* Who is next to the root need not wait for its share of it; that of those who do must not make it
 * look small.
 */
static void test_near_contributor(void **state)
{
	struct fixture *f = *state;
	struct ibcc_estimate e;

	traffic_lustre_off(&f->tr);
	mark_at_slow(f);
	for (unsigned int i = 0; i < 3; i++)
		traffic_at(&f->tr, LUSTRE_SRC1 + i, 1)->becn = 80;
	*traffic_at(&f->tr, LUSTRE_FAST, 1) = (struct traffic_port){ 3700, 0, 80, 0, 0 };
	traffic_pass(&f->tr);
	e = estimate(&f->tr, &f->actual);
	assert_int_equal(e.n_roots, 1);
	assert_int_equal(e.root[0].n_contributors, 4);
	assert_int_equal(role(&e, 0, fabric_port(f->t, LUSTRE_FAST, 1)), IBCC_ROLE_CONTRIBUTOR);
	assert_int_equal(role(&e, 0, fabric_port(f->t, LUSTRE_SRC4, 1)), IBCC_ROLE_VICTIM);
	ibcc_estimate_fini(&e);
	/* With a fifth of the others' at least. */
	traffic_at(&f->tr, LUSTRE_FAST, 1)->becn = 15;
	traffic_pass(&f->tr);
	e = estimate(&f->tr, &f->actual);
	assert_int_equal(role(&e, 0, fabric_port(f->t, LUSTRE_FAST, 1)), IBCC_ROLE_NONE);
	ibcc_estimate_fini(&e);
}

int main(void)
{
#define TREE(f) cmocka_unit_test_setup_teardown(f, setup_tree, teardown)
	const struct CMUnitTest tests[] = {
		TREE(test_one_feeder_brings_most),
		cmocka_unit_test_setup_teardown(test_second_of_a_chain, setup_tree8, teardown),
		TREE(test_slow_behind_slow),
		cmocka_unit_test_setup_teardown(test_near_contributor, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
