/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Passes over the counters: what is asked, what comes out, and what is missing. */
#include "tests/unit/collectors.h"

#include "lib/mad/collector_state.h"

static void test_passes(void **state)
{
	struct fixture x = setup();
	const struct ibcc_port_sample *p = sample(&x, LUSTRE_SW1, 5);

	(void)state;
	pass(&x);
	assert_int_equal(x.s.pass, 1);
	assert_int_equal(p->state, IBCC_SAMPLE_FIRST);
	assert_int_equal(p->tick_ps, 2000);
	assert_int_equal(p->now.width[IBCC_CTR_XMIT_DATA], 64);
	assert_int_equal(p->now.width[IBCC_CTR_XMIT_WAIT], 64);
	assert_int_equal(p->now.width[IBCC_CTR_RCV_FECN], 0);
	/* ClassPortInfo of 8 nodes, then SamplesControl and counters of 14 ports, FECN of 6. */
	assert_int_equal(x.f->n_class[4], 8 + 14 + 14 + 6);
	assert_int_equal(x.f->n_class[0x21], 0);
	x.f->counters[fabric_port(x.t, LUSTRE_SLOW, 1)].fecn = 11;
	x.f->counters[fabric_port(x.t, LUSTRE_SLOW, 1)].becn = 7;
	fake_sleep(x.f, 100 * MS);
	pass(&x);
	assert_int_equal(x.f->n_class[4], 14 + 6);
	assert_rates(&x, LUSTRE_PORTS, 1);
	assert_int_equal(sample(&x, LUSTRE_SW1, 7)->state, IBCC_SAMPLE_NONE);
	assert_int_equal(sample(&x, LUSTRE_SLOW, 1)->delta.v[IBCC_CTR_RCV_FECN], 11);
	assert_int_equal(sample(&x, LUSTRE_SLOW, 1)->delta.v[IBCC_CTR_RCV_BECN], 7);
	assert_in_range(x.s.interval_ns, 100 * MS, 101 * MS);
	teardown(&x);
}

/* Each combination of what hardware has: 64-bit counters, with or without XmitWait among them. */
static void test_capabilities(void **state)
{
	static const struct {
		uint16_t cap;
		uint32_t cap2;
		uint8_t data_width, wait_width;
		unsigned int mads;
	} cases[] = {
		{ 0x1200, 2, 64, 64, 1 }, { 0x1200, 0, 64, 32, 2 }, { 0x0200, 0, 64, 0, 1 },
		{ 0x0400, 2, 64, 64, 1 }, { 0x1000, 0, 32, 32, 1 }, { 0x0000, 2, 32, 0, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture x = setup();
		const struct ibcc_counters *now = &sample(&x, LUSTRE_SW1, 5)->now;

		for (uint32_t e = 0; e < x.t->n_endports; e++) {
			x.f->node[e].pma_cap = cases[i].cap;
			x.f->node[e].pma_cap2 = cases[i].cap2;
			x.f->node[e].option_mask = 0;
		}
		pass(&x);
		fake_sleep(x.f, 50 * MS);
		pass(&x);
		assert_int_equal(now->width[IBCC_CTR_XMIT_DATA], cases[i].data_width);
		assert_int_equal(now->width[IBCC_CTR_RCV_PKTS], cases[i].data_width);
		assert_int_equal(now->width[IBCC_CTR_XMIT_WAIT], cases[i].wait_width);
		assert_int_equal(now->width[IBCC_CTR_RCV_BECN], 0);
		assert_int_equal(x.f->n_class[4], LUSTRE_PORTS * cases[i].mads);
		assert_rates(&x, LUSTRE_PORTS, 1);
		teardown(&x);
	}
}

/* Nodes that keep silent about PortSamplesControl are asked a few times, and counted. */
static void test_without_samples_control(void **state)
{
	struct fixture x = setup();

	(void)state;
	fake_node_of(x.f, LUSTRE_SLOW)->no_samples = true;
	for (int i = 0; i < 5; i++) {
		pass(&x);
		fake_sleep(x.f, 50 * MS);
	}
	assert_int_equal(x.f->n_class[4], 14 + 5);
	assert_rates(&x, LUSTRE_PORTS, 1);
	assert_int_equal(sample(&x, LUSTRE_SLOW, 1)->now.width[IBCC_CTR_XMIT_WAIT], 0);
	assert_int_equal(sample(&x, LUSTRE_FAST, 1)->now.width[IBCC_CTR_XMIT_WAIT], 64);
	teardown(&x);
}

static bool has_all(const struct fixture *x, uint32_t node)
{
	const struct ibcc_counters *now = &sample(x, node, 1)->now;
	bool sw = ibcc_topo_is_switch(x->t, node);

	return now->width[IBCC_CTR_XMIT_DATA] == 64 && now->width[IBCC_CTR_XMIT_WAIT] == 64 &&
	       (sw || now->width[IBCC_CTR_RCV_BECN] == 32);
}

static unsigned int passes_until_all(struct fixture *x, uint32_t node)
{
	unsigned int n = 0;

	do {
		fake_sleep(x->f, 50 * MS);
		pass(x);
	} while (!has_all(x, node) && ++n < 1000);
	return n;
}

/* A pass over one port costs one MAD, and leaves all other readings as they are. The next pass over
 * all has the right rates of the time in between.
 */
static void test_confined(void **state)
{
	struct fixture x = setup();
	uint32_t port = fabric_port(x.t, LUSTRE_SW1, 5);
	bool *only = calloc(x.t->n_ports, sizeof(*only));

	(void)state;
	assert_non_null(only);
	only[port] = true;
	for (unsigned int i = 0; i < 2; i++) {
		fake_sleep(x.f, 100 * MS);
		pass(&x);
	}
	ibcc_collector_confine(x.c, only);
	for (unsigned int i = 0; i < 3; i++) {
		fake_sleep(x.f, 10 * MS);
		pass(&x);
		assert_int_equal(x.f->n_class[4], 1);
		assert_int_equal(x.s.n_fresh, LUSTRE_PORTS);
		assert_int_equal(x.s.n_stale, 0);
		assert_in_range(x.s.interval_ns, 10 * MS, 11 * MS);
		assert_int_equal(x.s.port[port].state, IBCC_SAMPLE_FRESH);
		assert_in_range(x.s.port[port].delta.dt_ns, 9 * MS, 11 * MS);
		assert_int_equal(sample(&x, LUSTRE_SW1, 1)->state, IBCC_SAMPLE_KEPT);
		assert_int_equal(sample(&x, LUSTRE_SRC1, 1)->state, IBCC_SAMPLE_KEPT);
		assert_in_range(sample(&x, LUSTRE_SRC1, 1)->delta.dt_ns, 99 * MS, 101 * MS);
	}
	ibcc_collector_confine(x.c, NULL);
	fake_sleep(x.f, 10 * MS);
	pass(&x);
	assert_rates(&x, LUSTRE_PORTS, 10);
	assert_in_range(sample(&x, LUSTRE_SRC1, 1)->delta.dt_ns, 40 * MS, 42 * MS);
	assert_in_range(sample(&x, LUSTRE_SRC1, 1)->kept_ns, 30 * MS, 32 * MS);
	free(only);
	teardown(&x);
}

/* Capabilities that were refused for a moment are there soon after it, or at once when the fabric
 * has changed; what was told before stays; and a node that refuses for good is asked once in 64
 * passes.
 */
static void test_refusals(void **state)
{
	struct fixture x = setup();
	static const uint32_t nodes[] = { LUSTRE_SW1, LUSTRE_SRC1 };
	unsigned int i, asked = 0;

	(void)state;
	for (i = 0; i < 2; i++)
		fake_node_of(x.f, nodes[i])->refuses_caps = true;
	for (i = 0; i < 15; i++) { /* three seconds of 200 ms */
		fake_sleep(x.f, 50 * MS);
		pass(&x);
		assert_int_equal(x.s.n_fresh, i ? LUSTRE_PORTS : 0);
		assert_false(has_all(&x, LUSTRE_SW1));
	}
	for (i = 0; i < 2; i++)
		fake_node_of(x.f, nodes[i])->refuses_caps = false;
	assert_in_range(passes_until_all(&x, LUSTRE_SW1), 0, 16);
	assert_in_range(passes_until_all(&x, LUSTRE_SRC1), 0, 16);

	/* A restart of the node, say: it is silent, then refuses what it has told already. */
	fake_node_of(x.f, LUSTRE_SRC1)->dead = true;
	pass(&x);
	fake_node_of(x.f, LUSTRE_SRC1)->dead = false;
	fake_node_of(x.f, LUSTRE_SRC1)->refuses_caps = true;
	assert_int_equal(passes_until_all(&x, LUSTRE_SRC1), 0);
	teardown(&x);

	x = setup();
	fake_node_of(x.f, LUSTRE_SW1)->refuses_caps = true;
	for (i = 0; i < 640; i++) {
		fake_sleep(x.f, 50 * MS);
		pass(&x);
		asked += x.f->n_class[4] - LUSTRE_PORTS - 6 /* adapters' PortRcvConCtrl */;
		/* Errors of links are in PortCounters, which SW1's five ports are asked for anyway.
		 */
		asked -= x.f->n_plain - 5;
	}
	/* The class, and each of five ports; fifteen times, and at first all other nodes. */
	assert_in_range(asked, 10 * 6, 16 * 6 + 20);
	fake_node_of(x.f, LUSTRE_SW1)->refuses_caps = false;
	ibcc_collector_ask_again(x.c);
	assert_int_equal(passes_until_all(&x, LUSTRE_SW1), 0);
	teardown(&x);
}

/* One refusal among answers: BECNs are counted again in the pass after the next. */
static void test_one_refusal(void **state)
{
	struct fixture x = setup();

	(void)state;
	assert_int_equal(passes_until_all(&x, LUSTRE_SRC1), 0);
	fake_node_of(x.f, LUSTRE_SRC1)->refuses_con = true;
	pass(&x);
	assert_false(has_all(&x, LUSTRE_SRC1));
	fake_node_of(x.f, LUSTRE_SRC1)->refuses_con = false;
	assert_in_range(passes_until_all(&x, LUSTRE_SRC1), 0, 1);
	teardown(&x);
}

static void test_dead_nodes(void **state)
{
	struct fixture x = setup();

	(void)state;
	fake_node_of(x.f, LUSTRE_SW2)->dead = true;
	pass(&x);
	assert_int_equal(x.s.n_unreachable, 3);
	assert_int_equal(sample(&x, LUSTRE_SW2, 1)->state, IBCC_SAMPLE_UNREACHABLE);
	assert_int_equal(sample(&x, LUSTRE_SW2, 1)->err, -ETIMEDOUT);
	fake_sleep(x.f, 50 * MS);
	pass(&x);
	/* One question for the dead switch, not three. */
	assert_int_equal(x.f->n_class[4], 1 + 11 + 6);
	assert_rates(&x, 11, 1);
	fake_node_of(x.f, LUSTRE_SW2)->dead = false;
	fake_sleep(x.f, 50 * MS);
	pass(&x);
	fake_sleep(x.f, 50 * MS);
	pass(&x);
	assert_rates(&x, LUSTRE_PORTS, 1);
	/* Once read, it is stale when it dies, and the difference bridges the gap. */
	fake_node_of(x.f, LUSTRE_SW2)->dead = true;
	pass(&x);
	assert_int_equal(x.s.n_stale, 3);
	fake_sleep(x.f, 50 * MS);
	pass(&x);
	assert_int_equal(x.f->n_class[4], 1 + 11 + 6);
	fake_node_of(x.f, LUSTRE_SW2)->dead = false;
	fake_sleep(x.f, 50 * MS);
	pass(&x);
	assert_rates(&x, LUSTRE_PORTS, 1);
	teardown(&x);
}

/* What is not read in time is stale and says why; nothing is left out. */
static void test_deadline(void **state)
{
	struct fixture x = setup();
	uint32_t n_late = 0;

	(void)state;
	pass(&x);
	fake_sleep(x.f, 50 * MS);
	ibcc_collector_set_deadline(x.c, 7 * x.f->step_ns);
	pass(&x);
	for (uint32_t i = 0; i < x.s.n_ports; i++)
		n_late += x.s.port[i].err == -ETIMEDOUT;
	assert_int_equal(x.s.n_fresh + x.s.n_stale, LUSTRE_PORTS);
	/* Adapters come first, with two requests each: counters, FECN and BECN. */
	assert_int_equal(x.s.n_fresh, 4);
	assert_int_equal(x.s.n_stale, n_late);
	assert_int_equal(x.f->base.deadline_ns, 0);
	fake_sleep(x.f, 50 * MS);
	ibcc_collector_set_deadline(x.c, 0);
	pass(&x);
	assert_int_equal(x.s.n_fresh, LUSTRE_PORTS);
	teardown(&x);
}

/* A node is added in front: indices move. */
static void grow(struct fixture *x)
{
	struct ibcc_topo *old = x->t, *t = ibcc_topo_new();
	struct fake_fabric *f;

	assert_non_null(t);
	assert_int_equal(ibcc_topo_add_node(t, 0x99, IBCC_NODE_CA, 1, "new"), 0);
	for (uint32_t i = 0; i < old->n_nodes; i++)
		assert_int_equal(ibcc_topo_add_node(t, old->node[i].guid, old->node[i].type,
						    old->node[i].n_ports, old->node[i].desc),
				 i + 1);
	for (uint32_t i = 0; i < old->n_ports; i++) {
		const struct ibcc_topo_port *a = &old->port[i];

		if (a->peer != IBCC_NONE && a->peer > i)
			fabric_link(t, a->node + 1, a->num, old->port[a->peer].node + 1,
				    old->port[a->peer].num);
	}
	fabric_link(t, 0, 1, LUSTRE_SW1 + 1, 6);
	assert_int_equal(ibcc_route_compute(t), 0);

	f = fake_fabric(t);
	f->now_ns = x->f->now_ns;
	f->fabric_ns = x->f->fabric_ns;
	f->clock_rate = x->f->clock_rate;
	f->base.simulated = x->f->base.simulated;
	for (uint32_t i = 0; i < t->n_ports; i++)
		f->counters[i] = x->f->counters[1];
	for (uint32_t i = 0; i < old->n_nodes; i++)
		fake_node_of(f, i + 1)->clock_base = fake_node_of(x->f, i)->clock_base;
	assert_int_equal(ibcc_collector_pass(x->c, &f->base, t, &x->s, 0, NULL), -EINVAL);
	assert_int_equal(ibcc_snapshot_rebase(&x->s, old, t), 0);
	ibcc_transport_free(x->tr);
	x->t = t;
	x->f = f;
	x->tr = &f->base;
}

/* Intervals go on, with the same collector, */
static void test_topology_changes(void **state)
{
	struct fixture x = setup();
	struct ibcc_topo *old = x.t;

	(void)state;
	pass(&x);
	grow(&x);
	ibcc_topo_free(old);
	fake_sleep(x.f, 100 * MS);
	pass(&x);
	assert_rates(&x, LUSTRE_PORTS, 1);
	assert_int_equal(sample(&x, 0, 1)->state, IBCC_SAMPLE_FIRST);
	fake_sleep(x.f, 100 * MS);
	pass(&x);
	assert_rates(&x, LUSTRE_PORTS + 2, 1);
	teardown(&x);
}

/* The same, and a new collector goes on with it, where the old one was. */
static void grow_anew(struct fixture *x)
{
	struct ibcc_collector *next = ibcc_collector_new();
	struct ibcc_topo *old = x->t;

	assert_non_null(next);
	grow(x);
	assert_int_equal(ibcc_collector_follow(next, x->t, x->c, old), 0);
	ibcc_collector_free(x->c);
	ibcc_topo_free(old);
	x->c = next;
}

/* and the next one knows at once when the fabric's time stands still. */
static void test_time_goes_on(void **state)
{
	struct fixture x = setup_simulated(0.05);
	struct ibcc_why why;

	(void)state;
	for (int i = 0; i < 3; i++) {
		pass(&x);
		fake_sleep(x.f, 200 * MS);
	}
	grow_anew(&x);
	pass(&x);
	assert_true(ibcc_collector_uses_fabric_clock(x.c));
	assert_rates(&x, LUSTRE_PORTS, 5);
	x.f->clock_rate = 0;
	for (int i = 0; i < 3; i++) {
		fake_sleep(x.f, 200 * MS);
		pass(&x);
	}
	ibcc_collector_clock_trouble(x.c, &why);
	assert_non_null(strstr(why.text, "stands still"));
	teardown(&x);
}

/* All were silent while time stood still, and what answers then is another topology: rates over the
 * gap are as they were.
 */
static void test_silence_before(void **state)
{
	struct fixture x = setup_simulated(0.05);

	(void)state;
	for (int i = 0; i < 4; i++) {
		pass(&x);
		fake_sleep(x.f, 200 * MS);
	}
	for (uint32_t i = 0; i < x.t->n_endports; i++)
		x.f->node[i].dead = true;
	x.f->clock_rate = 0;
	for (int i = 0; i < 30; i++) {
		fake_sleep(x.f, 200 * MS);
		pass(&x);
	}
	x.f->clock_rate = 0.05;
	grow_anew(&x);
	fake_sleep(x.f, 200 * MS);
	pass(&x);
	assert_rates(&x, LUSTRE_PORTS, 5);
	fake_sleep(x.f, 200 * MS);
	pass(&x);
	assert_rates(&x, LUSTRE_PORTS + 2, 5);
	teardown(&x);
}

/* Requests get lost: fewer samples are fresh, none is wrong. */
static void test_loss(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 10; seed++) {
		struct ibcc_fault_options o = { .seed = seed, .loss_permille = 100 };
		struct fixture x = setup_on(fabric_tree2(8));
		uint32_t stale = 0;

		x.f->base.simulated = true;
		x.f->clock_rate = 0.3;
		x.tr = ibcc_fault_new(x.tr, &o);
		pass(&x);
		for (int i = 0; i < 20; i++) {
			fake_sleep(x.f, 100 * MS);
			pass(&x);
			stale += x.s.n_stale;
			if (i < 3)
				continue;
			assert_true(ibcc_collector_uses_fabric_clock(x.c));
			assert_rates(&x, x.s.n_fresh, 10);
			assert_in_range(x.s.n_fresh, 64, 128);
		}
		assert_true(stale > 0);
		teardown(&x);
	}
}

static void test_breakdown(void **state)
{
	struct fixture x = setup();

	(void)state;
	pass(&x);
	fake_sleep(x.f, 100 * MS);
	x.f->run_err = -EIO;
	assert_int_equal(ibcc_collector_pass(x.c, x.tr, x.t, &x.s, 0, NULL), -EIO);
	x.f->run_err = -ECANCELED;
	assert_int_equal(ibcc_collector_pass(x.c, x.tr, x.t, &x.s, 0, NULL), -ECANCELED);
	assert_int_equal(x.s.pass, 1);
	assert_int_equal(sample(&x, LUSTRE_SW1, 5)->state, IBCC_SAMPLE_FIRST);
	x.f->run_err = 0;
	pass(&x);
	assert_rates(&x, LUSTRE_PORTS, 1);
	teardown(&x);
}

/* The host was busy with something else: an interval looks shorter by a quarter than it was, in
 * which all ports seem to send and wait for 107 % of it. That is not their unit's fault.
 */
static void test_late_answers(void **state)
{
	struct fixture x = setup();

	(void)state;
	x.f->late_ns = 50 * MS;
	pass(&x);
	x.f->late_ns = 0;
	for (int i = 0; i < 3; i++) {
		fake_sleep(x.f, 200 * MS);
		pass(&x);
	}
	assert_rates(&x, LUSTRE_PORTS, 5);
	assert_int_equal(sample(&x, LUSTRE_SW1, 5)->tick_ps, QDR_TICK);

	/* Nor where what was late was read of another topology. */
	x.f->late_ns = 50 * MS;
	pass(&x);
	grow_anew(&x);
	fake_sleep(x.f, 200 * MS);
	pass(&x);
	assert_int_equal(sample(&x, LUSTRE_SW1 + 1, 5)->tick_ps, QDR_TICK);
	teardown(&x);
}

/* Not late, and so it is its fault. */
static void test_wrong_unit(void **state)
{
	struct fixture x = setup();

	(void)state;
	for (uint32_t i = 0; i < x.t->n_ports; i++)
		x.f->counters[i].ticks_per_us *= 2;
	for (int i = 0; i < 3; i++) {
		fake_sleep(x.f, 200 * MS);
		pass(&x);
	}
	assert_int_not_equal(sample(&x, LUSTRE_SW1, 5)->tick_ps, QDR_TICK);
	teardown(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_passes),
		cmocka_unit_test(test_capabilities),
		cmocka_unit_test(test_without_samples_control),
		cmocka_unit_test(test_confined),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_one_refusal),
		cmocka_unit_test(test_dead_nodes),
		cmocka_unit_test(test_deadline),
		cmocka_unit_test(test_topology_changes),
		cmocka_unit_test(test_time_goes_on),
		cmocka_unit_test(test_silence_before),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_breakdown),
		cmocka_unit_test(test_late_answers),
		cmocka_unit_test(test_wrong_unit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
