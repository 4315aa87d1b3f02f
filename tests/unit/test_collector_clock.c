/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Passes over the counters: by which clock rates are computed. */
#include "tests/unit/collectors.h"

static void test_host_clock_is_kept(void **state)
{
	struct fixture x = setup_on(fabric_tree2(16), IBCC_CLOCK_AUTO);

	(void)state;
	for (int i = 0; i < 5; i++) {
		pass(&x);
		fake_sleep(x.f, 200 * MS);
	}
	assert_false(ibcc_collector_uses_fabric_clock(x.c));
	assert_in_range(ibcc_collector_clock_permille(x.c), 999, 1001);
	/* A few nodes are watched, not all 152. */
	assert_in_range(x.f->n_class[0x21], 1, 16);
	assert_rates(&x, 2 * 256, 1);
	teardown(&x);
}

/* A simulation at a twentieth of real time, one at seven times, one that cannot quite keep up (at
 * 0.96 a full link would look 4 % idle by the host's clock), in both modes that may see it.
 */
static void test_fabric_clock(void **state)
{
	const double rates[] = { 0.05, 0.5, 7, 0.96 };
	const enum ibcc_clock modes[] = { IBCC_CLOCK_AUTO, IBCC_CLOCK_FABRIC };

	(void)state;
	for (int k = 0; k < 8; k++) {
		struct fixture x = setup(modes[k % 2]);
		double rate = rates[k / 2];

		x.f->clock_rate = rate;
		pass(&x);
		for (int i = 0; i < 30; i++) {
			fake_sleep(x.f, 200 * MS);
			pass(&x);
			assert_true(ibcc_collector_uses_fabric_clock(x.c));
			assert_rates(&x, LUSTRE_PORTS, 2);
			assert_in_range(x.s.interval_ns, 199 * MS * rate, 203 * MS * rate);
		}
		assert_in_range(ibcc_collector_clock_permille(x.c), rate * 1000 - 1,
				rate * 1000 + 1);
		assert_int_equal(x.f->n_class[0x21], 8);
		teardown(&x);
	}
}

/* The speed of a simulation changes with what it has to do. */
static void test_uneven_speed(void **state)
{
	struct fixture x = setup(IBCC_CLOCK_AUTO);
	uint32_t rng = 1;

	(void)state;
	x.f->clock_rate = 0.1;
	pass(&x);
	for (int i = 0; i < 100; i++) {
		for (int k = 0; k < 10; k++) {
			rng = rng * 1664525u + 1013904223u;
			x.f->clock_rate = 0.02 + (rng >> 16) % 1000 / 1000.0 * 0.4;
			fake_sleep(x.f, 20 * MS);
		}
		pass(&x);
		assert_rates(&x, LUSTRE_PORTS, 5);
	}
	teardown(&x);
}

static void test_clock_comes_back(void **state)
{
	struct fixture x = setup(IBCC_CLOCK_AUTO);

	(void)state;
	x.f->clock_rate = 0.25;
	for (int i = 0; i < 5; i++) {
		pass(&x);
		fake_sleep(x.f, 200 * MS);
	}
	assert_true(ibcc_collector_uses_fabric_clock(x.c));
	x.f->clock_rate = 1;
	for (int i = 0; i < 20; i++) {
		fake_sleep(x.f, 200 * MS);
		pass(&x);
		assert_rates(&x, LUSTRE_PORTS, 2);
	}
	assert_false(ibcc_collector_uses_fabric_clock(x.c));
	teardown(&x);
}

/* Nodes without TimeStamp, and one whose counter starts anew, follow the others' clock. */
static void test_clock_of_some(void **state)
{
	struct fixture x = setup(IBCC_CLOCK_FABRIC);

	(void)state;
	x.f->clock_rate = 0.2;
	fake_node_of(x.f, LUSTRE_SW1)->no_timestamp = true;
	fake_node_of(x.f, LUSTRE_SRC2)->cc_silent = true;
	for (int i = 0; i < 3; i++) {
		pass(&x);
		fake_sleep(x.f, 200 * MS);
	}
	assert_rates(&x, LUSTRE_PORTS, 5);
	fake_node_of(x.f, LUSTRE_SRC1)->clock_base -= 5000000;
	pass(&x);
	assert_rates(&x, LUSTRE_PORTS, 5);
	fake_sleep(x.f, 200 * MS);
	pass(&x);
	assert_rates(&x, LUSTRE_PORTS, 5);
	teardown(&x);
}

/* No node has a clock: the host's is used, whatever was asked for. */
static void test_no_clock(void **state)
{
	struct fixture x = setup(IBCC_CLOCK_AUTO);

	(void)state;
	for (uint32_t i = 0; i < x.t->n_endports; i++)
		x.f->node[i].no_cc = true;
	for (int i = 0; i < 3; i++) {
		pass(&x);
		fake_sleep(x.f, 200 * MS);
	}
	assert_int_equal(ibcc_collector_clock_permille(x.c), 0);
	assert_false(ibcc_collector_uses_fabric_clock(x.c));
	assert_rates(&x, LUSTRE_PORTS, 1);
	assert_int_equal(x.f->n_class[0x21], 0); /* not asked again and again */
	teardown(&x);
}

/* A clock that stands still is a simulation that pauses: nothing is made of such an interval. */
static void test_paused(void **state)
{
	struct fixture x = setup(IBCC_CLOCK_AUTO);

	(void)state;
	x.f->clock_rate = 0.5;
	for (int i = 0; i < 3; i++) {
		pass(&x);
		fake_sleep(x.f, 200 * MS);
	}
	pass(&x);
	x.f->clock_rate = 0;
	fake_sleep(x.f, 200 * MS);
	pass(&x);
	fake_sleep(x.f, 200 * MS);
	pass(&x);
	assert_int_equal(x.s.n_fresh, 0);
	x.f->clock_rate = 0.5;
	for (int i = 0; i < 2; i++) {
		fake_sleep(x.f, 200 * MS);
		pass(&x);
	}
	assert_rates(&x, LUSTRE_PORTS, 5);
	teardown(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_host_clock_is_kept),
		cmocka_unit_test(test_fabric_clock),
		cmocka_unit_test(test_uneven_speed),
		cmocka_unit_test(test_clock_comes_back),
		cmocka_unit_test(test_clock_of_some),
		cmocka_unit_test(test_no_clock),
		cmocka_unit_test(test_paused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
