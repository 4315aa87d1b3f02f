/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Nothing is allocated once the first passes are over: no request can fail for want of memory, and
 * none waits for the allocator.
 */
#include "tests/unit/collectors.h"

#include "tests/unit/allocs.h"
#include "tests/unit/fake_port.h"

static unsigned int n_allocs;

static bool alloc_fails(void)
{
	n_allocs++;
	return false;
}

static void test_window(void **state)
{
	struct port_fixture x = port_setup(LOSE_ONCE, 32, 2, 1000);

	(void)state;
	n_allocs = 0;
	assert_int_equal(port_run(&x), 0);
	assert_true(n_allocs > 0); /* the wrappers are there */
	port_assert_answered(&x);
	n_allocs = 0;
	for (x.n = 1000; x.n > 0; x.n -= 200)
		assert_int_equal(port_run(&x), 0);
	assert_int_equal(n_allocs, 0);
	assert_int_equal(x.stats.answered, 1000 + 1000 + 800 + 600 + 400 + 200);
	x.n = 1000;
	port_teardown(&x);
}

static void test_passes(void **state)
{
	struct fixture x = setup_on(fabric_tree2(16));

	(void)state;
	for (int i = 0; i < 10; i++) {
		/* Capabilities are asked by the first. */
		if (i == 3)
			n_allocs = 0;
		if (i == 5)
			x.f->node[2].dead = true;
		fake_sleep(x.f, 100 * MS);
		pass(&x);
	}
	assert_int_equal(n_allocs, 0);
	assert_true(x.s.n_fresh > 0 && x.s.n_stale > 0);
	teardown(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_passes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
