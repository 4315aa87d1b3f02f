/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whose clock is believed: nodes that lie, jump, stand still or are silent. */
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

	ibcc_collector_clock_trouble(x->c, x->t, &why);
	return why.text;
}

static void assert_names(const struct fixture *x, uint32_t node)
{
	if (strncmp(trouble(x), "clock: ", 7) || !strstr(trouble(x), x->t->node[node].desc))
		fail_msg("%s", trouble(x));
}

/* A node that tells half of the time, or ten times it: nobody else is led astray by it, nor are its
 * own rates for long, and it is named; on a fabric with the host's time, and on one with another.
 */
static void test_liar(void **state)
{
	static const double skews[] = { 0.5, 10, -1 };
	static const double rates[] = { 1, 0.05 };

	(void)state;
	for (int k = 0; k < 6; k++) {
		struct fixture x = setup(IBCC_CLOCK_AUTO);

		x.f->clock_rate = rates[k / 3];
		pass(&x);
		passes(&x, 3);
		assert_rates(&x, LUSTRE_PORTS, 2);
		assert_string_equal(trouble(&x), "");
		fake_node_of(x.f, LUSTRE_SRC1)->clock_skew = skews[k % 3];
		passes(&x, 3); /* its jump, and the first doubt */
		for (int i = 0; i < 10; i++) {
			passes(&x, 1);
			assert_int_equal(ibcc_collector_uses_fabric_clock(x.c), k / 3);
			assert_rates(&x, LUSTRE_PORTS, 5);
		}
		assert_names(&x, LUSTRE_SRC1);
		/* It learns to tell the truth. */
		fake_node_of(x.f, LUSTRE_SRC1)->clock_skew = 0;
		passes(&x, 3);
		assert_string_equal(trouble(&x), "");
		assert_rates(&x, LUSTRE_PORTS, 5);
		teardown(&x);
	}
}

/* One node's clock jumps, or those of all do, ahead or back: not even in the pass of the jump is a
 * rate wrong, or anybody called a liar.
 */
static void test_jump(void **state)
{
	static const double rates[] = { 1, 0.05 };
	static const int64_t jumps_s[] = { 3600, -3600, 20, -20 };

	(void)state;
	for (int k = 0; k < 16; k++) {
		struct fixture x = setup(IBCC_CLOCK_AUTO);

		x.f->clock_rate = rates[k % 2];
		pass(&x);
		passes(&x, 3);
		for (uint32_t i = 0; i < x.t->n_endports; i++) {
			if (k < 8 || &x.f->node[i] == fake_node_of(x.f, LUSTRE_SW1))
				x.f->node[i].clock_base +=
					(uint32_t)(jumps_s[k / 2 % 4] * 1000000000 / 1024);
		}
		for (int i = 0; i < 12; i++) {
			passes(&x, 1);
			assert_int_equal(ibcc_collector_uses_fabric_clock(x.c), k % 2);
			assert_rates(&x, LUSTRE_PORTS, 5);
			assert_string_equal(trouble(&x), "");
		}
		teardown(&x);
	}
}

/* Nor by a jump as short as an interval, of a node that others contradict. */
static void test_short_jump(void **state)
{
	static const double rates[] = { 0.05, 0.5, 0.96 };
	static const double jumps[] = { -0.5, 0.5, 2, 4 }; /* in intervals */

	(void)state;
	for (int k = 0; k < 12; k++) {
		struct fixture x = setup(IBCC_CLOCK_AUTO);
		double rate = rates[k % 3];

		x.f->clock_rate = rate;
		pass(&x);
		passes(&x, 3);
		fake_node_of(x.f, LUSTRE_SW1)->clock_base +=
			(uint32_t)(int64_t)(jumps[k / 3] * 200 * MS * rate / 1024);
		for (int i = 0; i < 3; i++) {
			passes(&x, 1);
			assert_rates(&x, LUSTRE_PORTS, 10);
			assert_string_equal(trouble(&x), "");
		}
		teardown(&x);
	}
}

/* A node whose answers are late once seems to have a clock that is slow, and then fast: it has not.
 */
static void test_late(void **state)
{
	struct fixture x = setup(IBCC_CLOCK_AUTO);

	(void)state;
	x.f->clock_rate = 0.5;
	pass(&x);
	passes(&x, 3);
	for (int i = 0; i < 6; i++) {
		fake_node_of(x.f, LUSTRE_SW1)->late_ns = i % 3 ? 0 : 120 * MS;
		passes(&x, 1);
		assert_rates(&x, LUSTRE_PORTS, 5);
	}
	teardown(&x);
}

/* Time that runs a hundred times faster from now on is no jump. */
static void test_much_faster(void **state)
{
	struct fixture x = setup(IBCC_CLOCK_AUTO);

	(void)state;
	x.f->clock_rate = 0.5;
	pass(&x);
	passes(&x, 3);
	x.f->clock_rate = 50;
	passes(&x, 2);
	for (int i = 0; i < 5; i++) {
		passes(&x, 1);
		assert_rates(&x, LUSTRE_PORTS, 5);
		assert_string_equal(trouble(&x), "");
	}
	teardown(&x);
}

/* One of two switches does. */
static void test_lying_switch(void **state)
{
	struct fixture x = setup(IBCC_CLOCK_AUTO);

	(void)state;
	x.f->clock_rate = 0.05;
	pass(&x);
	passes(&x, 3);
	fake_node_of(x.f, LUSTRE_SW1)->clock_skew = 2;
	passes(&x, 3);
	for (int i = 0; i < 20; i++) {
		passes(&x, 1);
		assert_true(ibcc_collector_uses_fabric_clock(x.c));
		assert_rates(&x, LUSTRE_PORTS, 5);
	}
	assert_names(&x, LUSTRE_SW1);
	teardown(&x);
}

/* One node alone tells the time, or two: not enough to leave the host's clock for. */
static void test_few(void **state)
{
	struct fixture x = setup(IBCC_CLOCK_AUTO);

	(void)state;
	for (uint32_t i = 0; i < x.t->n_endports; i++)
		x.f->node[i].no_timestamp = true;
	fake_node_of(x.f, LUSTRE_SW1)->no_timestamp = false;
	fake_node_of(x.f, LUSTRE_SW1)->clock_skew = 0.5;
	fake_node_of(x.f, LUSTRE_SRC1)->no_timestamp = false;
	fake_node_of(x.f, LUSTRE_SRC1)->clock_skew = 0.5;
	pass(&x);
	for (int i = 0; i < 20; i++) {
		passes(&x, 1);
		assert_false(ibcc_collector_uses_fabric_clock(x.c));
		assert_rates(&x, LUSTRE_PORTS, 1);
	}
	teardown(&x);
}

/* All hosts lie alike, and are most: without switches that say the same they are not believed. */
static void test_hosts_conspire(void **state)
{
	struct fixture x = setup(IBCC_CLOCK_AUTO);

	(void)state;
	for (uint32_t i = 0; i < x.t->n_endports; i++)
		if (!ibcc_topo_is_switch(x.t, x.t->port[x.t->endport[i]].node))
			x.f->node[i].clock_skew = 2;
	pass(&x);
	for (int i = 0; i < 20; i++) {
		passes(&x, 1);
		assert_false(ibcc_collector_uses_fabric_clock(x.c));
		assert_rates(&x, LUSTRE_PORTS, 1);
	}
	assert_int_equal(strncmp(trouble(&x), "clock: ", 7), 0);
	teardown(&x);
}

/* All TimeStamps stand still while traffic goes on: the host's clock again, and the reason. */
static void test_all_still(void **state)
{
	struct fixture x = setup(IBCC_CLOCK_AUTO);

	(void)state;
	x.f->clock_rate = 0.5;
	pass(&x);
	passes(&x, 3);
	assert_true(ibcc_collector_uses_fabric_clock(x.c));
	for (uint32_t i = 0; i < x.t->n_endports; i++)
		x.f->node[i].clock_skew = -1;
	passes(&x, 4);
	assert_non_null(strstr(trouble(&x), "stand still"));
	passes(&x, 20);
	assert_false(ibcc_collector_uses_fabric_clock(x.c));
	assert_non_null(strstr(trouble(&x), "host's clock"));
	assert_int_equal(x.s.n_fresh, LUSTRE_PORTS);
	assert_in_range(x.s.interval_ns, 199 * MS, 203 * MS);
	teardown(&x);
}

/* Nobody says anything for a while, in which time may stand still, and then everybody goes on: so
 * does the fabric's time, and no rate is computed over the gap.
 */
static void test_silence(void **state)
{
	struct fixture x = setup(IBCC_CLOCK_AUTO);

	(void)state;
	x.f->clock_rate = 0.05;
	pass(&x);
	passes(&x, 3);
	for (uint32_t i = 0; i < x.t->n_endports; i++)
		x.f->node[i].dead = true;
	x.f->clock_rate = 0;
	passes(&x, 30);
	for (uint32_t i = 0; i < x.t->n_endports; i++)
		x.f->node[i].dead = false;
	x.f->clock_rate = 0.05;
	passes(&x, 1);
	assert_int_equal(x.s.n_fresh, 0);
	passes(&x, 1);
	assert_rates(&x, LUSTRE_PORTS, 5);
	passes(&x, 1);
	assert_true(ibcc_collector_uses_fabric_clock(x.c));
	assert_rates(&x, LUSTRE_PORTS, 5);
	teardown(&x);
}

/* Time stands still for so long that it is left for the host's, and then answers are lost: when all
 * is well again it is soon told by enough of them.
 */
static void test_lost_when_still(void **state)
{
	struct fixture x = setup(IBCC_CLOCK_AUTO);

	(void)state;
	x.f->clock_rate = 0.05;
	pass(&x);
	passes(&x, 3);
	x.f->clock_rate = 0;
	passes(&x, 20);
	assert_false(ibcc_collector_uses_fabric_clock(x.c));
	for (uint32_t i = 1; i < x.t->n_endports; i++)
		x.f->node[i].cc_silent = true;
	passes(&x, 2);
	for (uint32_t i = 1; i < x.t->n_endports; i++)
		x.f->node[i].cc_silent = false;
	x.f->clock_rate = 0.05;
	passes(&x, 8);
	assert_true(ibcc_collector_uses_fabric_clock(x.c));
	assert_rates(&x, LUSTRE_PORTS, 5);
	assert_string_equal(trouble(&x), "");
	teardown(&x);
}

/* All have forgotten how late it is, but not how to count: that is told, and is over soon when they
 * remember.
 */
static void test_time_refused(void **state)
{
	struct fixture x = setup(IBCC_CLOCK_AUTO);

	(void)state;
	x.f->clock_rate = 0.05;
	pass(&x);
	passes(&x, 3);
	for (uint32_t i = 0; i < x.t->n_endports; i++)
		x.f->node[i].no_timestamp = true;
	for (int i = 0; i < 12; i++) {
		passes(&x, 1);
		assert_rates(&x, LUSTRE_PORTS, 5);
	}
	assert_int_equal(strncmp(trouble(&x), "clock: ", 7), 0);
	for (uint32_t i = 0; i < x.t->n_endports; i++)
		x.f->node[i].no_timestamp = false;
	passes(&x, 6);
	assert_string_equal(trouble(&x), "");
	assert_true(ibcc_collector_uses_fabric_clock(x.c));
	assert_rates(&x, LUSTRE_PORTS, 5);
	teardown(&x);
}

/* A node's counter was led far away and comes back by jumps: what is computed is right again. */
static void test_ran_away(void **state)
{
	struct fixture x = setup(IBCC_CLOCK_AUTO);

	(void)state;
	x.f->clock_rate = 0.25;
	pass(&x);
	for (int i = 0; i < 12; i++) {
		/* Less than what is taken for a restart, again and again. */
		fake_node_of(x.f, LUSTRE_SW1)->clock_base += i % 2 ? 0 : 900000;
		passes(&x, 1);
	}
	passes(&x, 3);
	for (int i = 0; i < 10; i++) {
		passes(&x, 1);
		assert_rates(&x, LUSTRE_PORTS, 5);
		assert_in_range(x.s.interval_ns, 199 * MS / 4, 203 * MS / 4);
	}
	teardown(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_liar),        cmocka_unit_test(test_jump),
		cmocka_unit_test(test_short_jump),  cmocka_unit_test(test_late),
		cmocka_unit_test(test_much_faster), cmocka_unit_test(test_lying_switch),
		cmocka_unit_test(test_few),         cmocka_unit_test(test_hosts_conspire),
		cmocka_unit_test(test_all_still),   cmocka_unit_test(test_lost_when_still),
		cmocka_unit_test(test_silence),     cmocka_unit_test(test_time_refused),
		cmocka_unit_test(test_ran_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
