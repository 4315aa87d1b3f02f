/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Passes over the counters: rates are computed with the time that the fabric counts in, which is
 * the host's clock, or a simulation's own time, and never what a node says.
 */
#include "tests/unit/collectors.h"

static void passes(struct fixture *x, unsigned int n)
{
	while (n--) {
		fake_sleep(x->f, 200 * MS);
		pass(x);
	}
}

static const char *trouble(const struct fixture *x)
{
	static struct ibcc_why why;

	ibcc_collector_clock_trouble(x->c, &why);
	return why.text;
}

static void test_host_clock(void **state)
{
	struct fixture x = setup_on(fabric_tree2(16));

	(void)state;
	pass(&x);
	passes(&x, 5);
	assert_false(ibcc_collector_uses_fabric_clock(x.c));
	assert_string_equal(trouble(&x), "");
	assert_int_equal(x.f->n_class[0x21], 0); /* no node is asked for its time */
	assert_rates(&x, 2 * 256, 1);
	teardown(&x);
}

/* A simulation at a twentieth of real time, one at seven times, one that cannot quite keep up: at
 * 0.96 a full link would look 4 % idle by the host's clock.
 */
static void test_fabric_clock(void **state)
{
	const double rates[] = { 0.05, 0.5, 7, 0.96 };

	(void)state;
	for (int k = 0; k < 4; k++) {
		struct fixture x = setup_simulated(rates[k]);

		pass(&x);
		for (int i = 0; i < 30; i++) {
			passes(&x, 1);
			assert_true(ibcc_collector_uses_fabric_clock(x.c));
			assert_rates(&x, LUSTRE_PORTS, 2);
			assert_in_range(x.s.interval_ns, 199 * MS * rates[k], 203 * MS * rates[k]);
			assert_int_equal(x.f->n_class[0x21], 0);
		}
		teardown(&x);
	}
}

/* The speed of a simulation changes with what it has to do. */
static void test_uneven_speed(void **state)
{
	struct fixture x = setup_simulated(0.1);
	uint32_t rng = 1;

	(void)state;
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

/* Time runs a hundred times faster from now on, or as fast as the host's. */
static void test_other_speed(void **state)
{
	const double rates[] = { 50, 1 };

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct fixture x = setup_simulated(0.5);

		pass(&x);
		passes(&x, 3);
		x.f->clock_rate = rates[k];
		for (int i = 0; i < 20; i++) {
			passes(&x, 1);
			assert_rates(&x, LUSTRE_PORTS, 5);
			assert_string_equal(trouble(&x), "");
		}
		teardown(&x);
	}
}

/* What nodes say of their own time harms nothing: one tells half of the time, ten times it, or
 * always the same, or all clocks jump, ahead or back.
 */
static void test_lying_nodes(void **state)
{
	static const double skews[] = { 0.5, 10, -1, 0 };
	static const double rates[] = { 1, 0.05 };
	static const int64_t jumps_s[] = { 3600, -3600, 20, -20 };

	(void)state;
	for (int k = 0; k < 8; k++) {
		struct fixture x = setup_simulated(rates[k / 4]);

		pass(&x);
		passes(&x, 3);
		fake_node_of(x.f, LUSTRE_SRC1)->clock_skew = skews[k % 4];
		fake_node_of(x.f, LUSTRE_SW1)->clock_skew = skews[k % 4];
		for (uint32_t i = 0; i < x.t->n_endports; i++)
			x.f->node[i].clock_base += (uint32_t)(jumps_s[k % 4] * 1000000000 / 1024);
		for (int i = 0; i < 12; i++) {
			passes(&x, 1);
			assert_rates(&x, LUSTRE_PORTS, 2);
			assert_string_equal(trouble(&x), "");
		}
		teardown(&x);
	}
}

/* A node whose answers are late once. */
static void test_late(void **state)
{
	struct fixture x = setup_simulated(0.5);

	(void)state;
	pass(&x);
	passes(&x, 3);
	fake_node_of(x.f, LUSTRE_SW1)->late_ns = 120 * MS;
	passes(&x, 1);
	fake_node_of(x.f, LUSTRE_SW1)->late_ns = 0;
	passes(&x, 2);
	assert_rates(&x, LUSTRE_PORTS, 5);
	assert_int_equal(sample(&x, LUSTRE_SW1, 5)->tick_ps, QDR_TICK);
	teardown(&x);
}

/* Time stands still while a simulation is paused: nothing is made of such an interval, and it is
 * told, until time goes on.
 */
static void test_paused(void **state)
{
	struct fixture x = setup_simulated(0.5);

	(void)state;
	pass(&x);
	passes(&x, 3);
	x.f->clock_rate = 0;
	for (int i = 0; i < 20; i++) {
		passes(&x, 1);
		assert_int_equal(x.s.interval_ns, 0);
		if (i < 1) /* the pass before has gone on for a moment after it read some ports */
			continue;
		assert_int_equal(x.s.n_fresh, 0);
		assert_int_equal(strncmp(trouble(&x), "clock: ", 7), 0);
		assert_non_null(strstr(trouble(&x), "stands still"));
	}
	x.f->clock_rate = 0.5;
	passes(&x, 1);
	assert_string_equal(trouble(&x), "");
	passes(&x, 1);
	assert_rates(&x, LUSTRE_PORTS, 5);
	teardown(&x);
}

/* No node answers for a while, in which time stands still, and then all do again. */
static void test_silence(void **state)
{
	struct fixture x = setup_simulated(0.05);

	(void)state;
	pass(&x);
	passes(&x, 3);
	for (uint32_t i = 0; i < x.t->n_endports; i++)
		x.f->node[i].dead = true;
	x.f->clock_rate = 0;
	passes(&x, 30);
	assert_non_null(strstr(trouble(&x), "stands still"));
	for (uint32_t i = 0; i < x.t->n_endports; i++)
		x.f->node[i].dead = false;
	x.f->clock_rate = 0.05;
	for (int i = 0; i < 3; i++) {
		passes(&x, 1);
		assert_rates(&x, LUSTRE_PORTS, 5);
		assert_string_equal(trouble(&x), "");
	}
	teardown(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_host_clock),   cmocka_unit_test(test_fabric_clock),
		cmocka_unit_test(test_uneven_speed), cmocka_unit_test(test_other_speed),
		cmocka_unit_test(test_lying_nodes),  cmocka_unit_test(test_late),
		cmocka_unit_test(test_paused),       cmocka_unit_test(test_silence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
