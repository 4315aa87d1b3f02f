/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Input-generated congestion in the 32 node tree of Gusat and Denzel's study: three senders to one
 * node at 90 %, uniform traffic of all others at 90 %. Without control the tree takes a sixth of
 * the uniform traffic with it; the loop gives that back and keeps the hot port busy.
 */
#include "loop.h"

#define TREE "perftest/scenarios/tree.yaml"

/* 28 of 29 nodes that send uniform traffic reach others than the hot one; 12X SDR, 90 %, payload.
 */
#define OFFERED_MBYTES (29 * 3000.0 * 0.9 * 2048 / 2074)

static void test_input_generated(void **state)
{
	struct loop_rates off, on;
	struct loop l;
	uint32_t changes;

	(void)state;
	loop_start(&l, TREE, 1 * IBCC_PS_PER_MS, &loop_hardware, NULL);
	l.dry = true;
	loop_passes(&l, 4);
	loop_measure(&l);
	loop_passes(&l, 5);
	off = loop_rates(&l);
	assert_true(l.c.estimate.n_roots >= 1);
	assert_int_equal(l.c.estimate.root[0].kind, IBCC_CONGESTION_INPUT);
	assert_int_equal(l.tr->stats.sets, 0);

	l.dry = false;
	loop_passes(&l, 25);
	changes = l.n_changes;
	loop_measure(&l);
	loop_passes(&l, 15);
	on = loop_rates(&l);
	assert_true(on.background > 1.15 * off.background);
	assert_true(on.background > 0.99 * OFFERED_MBYTES);
	assert_in_range(l.n_changes - changes, 0, 2);
	loop_end(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_input_generated) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
