/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* P. Huang's and A. Chu's Lustre fabric: without control the victim gets what each of the three
 * writers to the slow server gets; with the loop running it gets all that the link between the
 * switches has left over, and the slow server stays busy.
 */
#include "loop.h"

#define LUSTRE "perftest/scenarios/lustre.yaml"
#define QUIET  "perftest/scenarios/quiet.yaml"

#define DRAIN_MBYTES 1870.76 /* what the slow server takes, MB/s */
/* All links carry 4000 MB/s, of which 26 of 2074 bytes a packet are headers. */
#define LINK_MBYTES (4000.0 * 2048 / 2074)

static uint32_t port_of(const struct loop *l, const char *desc, unsigned int num)
{
	uint32_t port =
		ibcc_topo_port_index(l->sc.topo, ibcc_topo_find_desc(l->sc.topo, desc), num);

	assert_true(port != IBCC_NONE);
	return port;
}

/* What the loop has to reach within a few dozen passes, whatever the interval. */
static void check_lustre(struct loop *l)
{
	struct loop_rates off, on;
	const struct ibcc_root *r;

	l->dry = true;
	loop_passes(l, 5);
	loop_measure(l);
	loop_passes(l, 10);
	off = loop_rates(l);
	assert_true(off.hot > 0.99 * DRAIN_MBYTES && off.hot < 1.01 * DRAIN_MBYTES);
	assert_true(off.victim > 0.98 * off.hot / 3 && off.victim < 1.02 * off.hot / 3);

	/* The dry run names the port and the four blocked senders, and writes nothing. */
	assert_int_equal(l->c.estimate.n_roots, 1);
	r = &l->c.estimate.root[0];
	assert_int_equal(r->port, port_of(l, "leaf2", 2));
	assert_int_equal(r->kind, IBCC_CONGESTION_OUTPUT);
	assert_int_equal(r->n_contributors, 4);
	assert_true(l->c.plan.n > 0);
	assert_int_equal(l->tr->stats.sets, 0);

	l->dry = false;
	loop_passes(l, 30);
	assert_in_range(l->n_changes, 1, 4);
	l->n_changes = 0;
	loop_measure(l);
	loop_passes(l, 60);
	on = loop_rates(l);
	assert_int_equal(l->n_changes, 0);
	assert_true(on.sum > 1.2 * off.sum);
	assert_true(on.victim > 2 * off.victim);
	assert_true(on.hot > 0.9 * DRAIN_MBYTES);
	/* The aim: the link between the switches as full as it can be, the server never idle. */
	assert_true(on.sum > 0.95 * LINK_MBYTES);
	assert_true(on.hot > 0.99 * DRAIN_MBYTES);

	assert_int_equal(l->c.estimate.n_roots, 1);
	r = &l->c.estimate.root[0];
	assert_int_equal(r->port, port_of(l, "leaf2", 2));
	assert_int_equal(r->n_contributors, 3);
	for (uint32_t i = 0; i < r->n_sources; i++)
		assert_true(r->source[i].port != port_of(l, "source4", 1));
}

static void test_pass_1ms(void **state)
{
	struct loop l;

	(void)state;
	loop_start(&l, LUSTRE, 1 * IBCC_PS_PER_MS, &loop_hardware, NULL);
	check_lustre(&l);
	loop_end(&l);
}

static void test_pass_8ms(void **state)
{
	struct loop l;

	(void)state;
	loop_start(&l, LUSTRE, 8 * IBCC_PS_PER_MS, &loop_hardware, NULL);
	check_lustre(&l);
	loop_end(&l);
}

/* Blocks of 48 elements, and XmitWait in PortCounters only. */
static void test_other_hardware(void **state)
{
	struct ibcc_agents_options o = loop_hardware;
	struct loop l;

	(void)state;
	o.sw_port_block = 48;
	o.ext_xmit_wait = false;
	loop_start(&l, LUSTRE, 1 * IBCC_PS_PER_MS, &o, NULL);
	check_lustre(&l);
	loop_end(&l);
}

/* What all get together once the loop has settled, with hosts of a profile (NULL: as they are). */
static double settled_sum(const struct ibcc_profile *hosts)
{
	struct loop_rates r;
	struct loop l;

	loop_start(&l, LUSTRE, 1 * IBCC_PS_PER_MS, &loop_hardware, NULL);
	for (uint32_t i = 0; hosts && i < l.sc.topo->n_nodes; i++) {
		if (ibcc_topo_is_switch(l.sc.topo, i))
			continue;
		assert_int_equal(ibcc_agents_set_profile(l.agents, i, hosts), 0);
		l.c.topo->node[i].vendor_id = hosts->vendor_id;
		l.c.topo->node[i].device_id = hosts->device_id;
	}
	loop_passes(&l, 60);
	assert_int_equal(l.c.estimate.n_roots, 1);
	assert_int_equal(l.c.estimate.root[0].port, port_of(&l, "leaf2", 2));
	loop_measure(&l);
	loop_passes(&l, 60);
	r = loop_rates(&l);
	assert_true(r.hot > 0.99 * DRAIN_MBYTES);
	loop_end(&l);
	return r.sum;
}

/* Adapters that do not count their waits, and such whose unit is unknown, and which
 * count no marks either: the hotspot is tuned as with them.
 */
static void test_no_waits(void **state)
{
	struct ibcc_profile blind = *ibcc_profile(0);
	const double with = settled_sum(NULL);

	(void)state;
	blind.no_wait = true;
	assert_true(with > 0.95 * LINK_MBYTES);
	assert_true(settled_sum(&blind) > 0.98 * with);
	assert_true(settled_sum(ibcc_profile(2)) > 0.98 * with);
}

/* One MAD in fifty is lost for good. Counters have holes and nodes go without settings for a while,
 * and all is well in the end.
 */
static void test_lost_mads(void **state)
{
	const struct ibcc_fault_options lose = { .seed = 1, .loss_permille = 20 };
	struct loop_rates r;
	struct loop l;

	(void)state;
	loop_start(&l, LUSTRE, 1 * IBCC_PS_PER_MS, &loop_hardware, &lose);
	loop_passes(&l, 100);
	loop_measure(&l);
	loop_passes(&l, 50);
	r = loop_rates(&l);
	assert_true(r.sum > 0.95 * LINK_MBYTES);
	assert_true(r.hot > 0.99 * DRAIN_MBYTES);
	loop_end(&l);
}

/* All senders vanish: what was there before comes back, to the bit. */
static void test_end_of_congestion(void **state)
{
	struct ibcc_settings before;
	struct loop l;

	(void)state;
	loop_start(&l, LUSTRE, 1 * IBCC_PS_PER_MS, &loop_hardware, NULL);
	assert_int_equal(ibcc_cycle_readback(&l.c, &l.why), 0);
	assert_int_equal(ibcc_settings_copy(&before, &l.c.actual), 0);
	loop_passes(&l, 40);
	assert_true(l.n_changes > 0);
	for (unsigned int i = 1; i <= 4; i++) {
		char source[16];

		snprintf(source, sizeof(source), "source%u", i);
		assert_int_equal(ibcc_engine_set_link(l.engine, port_of(&l, source, 1), false), 0);
	}
	loop_passes(&l, 60);
	assert_int_equal(l.c.estimate.n_roots, 0);
	assert_int_equal(ibcc_cycle_readback(&l.c, &l.why), 0);
	loop_assert_same(&before, &l.c.actual);
	ibcc_settings_fini(&before);
	loop_end(&l);
}

static void test_quiet(void **state)
{
	struct loop l;

	(void)state;
	loop_start(&l, QUIET, 1 * IBCC_PS_PER_MS, &loop_hardware, NULL);
	loop_passes(&l, 100);
	assert_int_equal(l.tr->stats.sets, 0);
	assert_int_equal(loop_found(&l.c), IBCC_SITUATION_NO_CONGESTION);
	assert_int_equal(l.c.target.decisions.n_left, 0);
	loop_end(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pass_1ms),       cmocka_unit_test(test_pass_8ms),
		cmocka_unit_test(test_other_hardware), cmocka_unit_test(test_no_waits),
		cmocka_unit_test(test_lost_mads),      cmocka_unit_test(test_end_of_congestion),
		cmocka_unit_test(test_quiet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
