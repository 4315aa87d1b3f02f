/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Passes over the counters: what is asked, what comes out, and by which clock. The fabric lets a
 * known rate flow by its own clock, so whatever that clock does, the rates must come out.
 */
#include "tests/unit/fake_fabric.h"

#include <ibcc/collect.h>
#include <ibcc/link.h>

#define MS         1000000ull
#define FLOW_MBPS  16000.0 /* half of a 4X QDR link */
#define WAIT_SHARE 300     /* permille */
#define QDR_TICK   2000.0  /* ps: 8 bytes at 32 Gb/s */

struct fixture {
	struct ibcc_topo *t;
	struct fake_fabric *f;
	struct ibcc_transport *tr; /* owns f */
	struct ibcc_collector *c;
	struct ibcc_snapshot s;
};

static struct fixture setup_on(struct ibcc_topo *t, enum ibcc_clock clock)
{
	struct fixture x = { .t = t, .f = fake_fabric(t), .c = ibcc_collector_new(clock) };

	x.tr = &x.f->base;
	assert_non_null(x.c);
	assert_int_equal(ibcc_snapshot_init(&x.s, t), 0);
	for (uint32_t i = 0; i < t->n_ports; i++) {
		x.f->counters[i].words_per_us = FLOW_MBPS / 32;
		x.f->counters[i].ticks_per_us = 1e6 / QDR_TICK * WAIT_SHARE / 1000;
	}
	for (uint32_t i = 0; i < t->n_endports; i++)
		x.f->node[i].clock_base = 0xffff0000u + 77777u * i; /* some wrap soon */
	return x;
}

static struct fixture setup(enum ibcc_clock clock)
{
	return setup_on(fabric_lustre(), clock);
}

static void teardown(struct fixture *x)
{
	ibcc_snapshot_fini(&x->s);
	ibcc_collector_free(x->c);
	ibcc_transport_free(x->tr);
	ibcc_topo_free(x->t);
}

static void pass(struct fixture *x)
{
	memset(x->f->n_class, 0, sizeof(x->f->n_class));
	assert_int_equal(ibcc_collector_pass(x->c, x->tr, x->t, &x->s, 0), 0);
	assert_int_equal(x->f->base.stats.sets, 0);
}

static const struct ibcc_port_sample *sample(const struct fixture *x, uint32_t node,
					     unsigned int num)
{
	return &x->s.port[fabric_port(x->t, node, num)];
}

/* All that are fresh flow as they should; `many` are. Errors in permille. */
static void assert_rates(const struct fixture *x, uint32_t many, uint32_t permille)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->s.n_ports; i++) {
		const struct ibcc_port_sample *p = &x->s.port[i];
		uint32_t off = (uint32_t)FLOW_MBPS * permille / 1000;

		if (p->state != IBCC_SAMPLE_FRESH)
			continue;
		n++;
		assert_in_range(ibcc_delta_xmit_mbps(&p->delta), FLOW_MBPS - off, FLOW_MBPS + off);
		if (p->delta.flags[IBCC_CTR_XMIT_WAIT])
			assert_in_range(ibcc_delta_wait_permille(&p->delta, p->tick_ps),
					WAIT_SHARE - 1 - permille, WAIT_SHARE + 1 + permille);
	}
	assert_int_equal(n, many);
	assert_int_equal(x->s.n_fresh, many);
}

#define LUSTRE_PORTS 14 /* both ends of seven links */

static void test_passes(void **state)
{
	struct fixture x = setup(IBCC_CLOCK_HOST);
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
		struct fixture x = setup(IBCC_CLOCK_HOST);
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
	struct fixture x = setup(IBCC_CLOCK_HOST);

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

static void test_dead_nodes(void **state)
{
	struct fixture x = setup(IBCC_CLOCK_HOST);

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
	struct fixture x = setup(IBCC_CLOCK_HOST);
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

/* A node is added in front: indices move, intervals go on. */
static void test_topology_changes(void **state)
{
	struct fixture x = setup(IBCC_CLOCK_HOST);
	struct ibcc_topo *old = x.t, *t = ibcc_topo_new();
	struct fake_fabric *f;

	(void)state;
	pass(&x);
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
	f->now_ns = x.f->now_ns;
	f->fabric_ns = x.f->fabric_ns;
	for (uint32_t i = 0; i < t->n_ports; i++)
		f->counters[i] = x.f->counters[1];
	assert_int_equal(ibcc_collector_pass(x.c, &f->base, t, &x.s, 0), -EINVAL);
	assert_int_equal(ibcc_snapshot_rebase(&x.s, old, t), 0);
	ibcc_transport_free(x.tr);
	ibcc_topo_free(old);
	x.t = t;
	x.f = f;
	x.tr = &f->base;
	fake_sleep(x.f, 100 * MS);
	pass(&x);
	assert_rates(&x, LUSTRE_PORTS, 1);
	assert_int_equal(sample(&x, 0, 1)->state, IBCC_SAMPLE_FIRST);
	fake_sleep(x.f, 100 * MS);
	pass(&x);
	assert_rates(&x, LUSTRE_PORTS + 2, 1);
	teardown(&x);
}

/* Requests get lost: fewer samples are fresh, none is wrong. */
static void test_loss(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 10; seed++) {
		struct ibcc_fault_options o = { .seed = seed, .loss_permille = 100 };
		struct fixture x = setup_on(fabric_tree2(8), IBCC_CLOCK_AUTO);
		uint32_t stale = 0;

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
	struct fixture x = setup(IBCC_CLOCK_AUTO);

	(void)state;
	pass(&x);
	fake_sleep(x.f, 100 * MS);
	x.f->run_err = -EIO;
	assert_int_equal(ibcc_collector_pass(x.c, x.tr, x.t, &x.s, 0), -EIO);
	x.f->run_err = -ECANCELED;
	assert_int_equal(ibcc_collector_pass(x.c, x.tr, x.t, &x.s, 0), -ECANCELED);
	assert_int_equal(x.s.pass, 1);
	assert_int_equal(sample(&x, LUSTRE_SW1, 5)->state, IBCC_SAMPLE_FIRST);
	x.f->run_err = 0;
	pass(&x);
	assert_rates(&x, LUSTRE_PORTS, 1);
	teardown(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_passes),
		cmocka_unit_test(test_capabilities),
		cmocka_unit_test(test_without_samples_control),
		cmocka_unit_test(test_dead_nodes),
		cmocka_unit_test(test_deadline),
		cmocka_unit_test(test_host_clock_is_kept),
		cmocka_unit_test(test_fabric_clock),
		cmocka_unit_test(test_uneven_speed),
		cmocka_unit_test(test_clock_comes_back),
		cmocka_unit_test(test_clock_of_some),
		cmocka_unit_test(test_no_clock),
		cmocka_unit_test(test_paused),
		cmocka_unit_test(test_topology_changes),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_breakdown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
