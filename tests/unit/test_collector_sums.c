/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Switches at which nothing happens are read by one request. */
#include "tests/unit/collectors.h"

#include <ibcc/pma.h>

#define SW1_PORTS 5u /* with a link; LUSTRE_SW2 has three */
#define HOSTS     6u

/* A fabric without traffic, of which nothing is to be learned any more. */
static struct fixture idle_fabric(uint16_t cap, uint32_t cap2)
{
	struct fixture x = setup();

	for (uint32_t i = 0; i < x.t->n_ports; i++) {
		x.f->counters[i].words_per_us = x.f->counters[i].ticks_per_us = 0;
		x.f->counters[i].xmit_data = 1000000;
	}
	for (uint32_t e = 0; e < x.t->n_endports; e++) {
		x.f->node[e].pma_cap = cap;
		x.f->node[e].pma_cap2 = cap2;
		x.f->node[e].option_mask = 0;
	}
	for (int i = 0; i < 4; i++) {
		pass(&x);
		fake_sleep(x.f, 100 * MS);
	}
	return x;
}

static void more(struct fixture *x)
{
	pass(x);
	fake_sleep(x->f, 100 * MS);
}

static struct fake_counters *counters(struct fixture *x, uint32_t node, unsigned int num)
{
	return &x->f->counters[fabric_port(x->t, node, num)];
}

static void assert_lustre(const struct fixture *x)
{
	uint32_t n[2] = { 0 };

	for (uint32_t i = 0; i < x->t->n_ports; i++) {
		bool sw1 = x->t->port[i].node == LUSTRE_SW1, sw2 = x->t->port[i].node == LUSTRE_SW2;

		n[0] += sw1 && x->t->port[i].peer != IBCC_NONE;
		n[1] += sw2 && x->t->port[i].peer != IBCC_NONE;
	}
	assert_int_equal(n[0], SW1_PORTS);
	assert_int_equal(n[0] + n[1] + HOSTS, LUSTRE_PORTS);
}

static void test_quiet(void **state)
{
	struct fixture x = idle_fabric(0x1300, 2);
	const struct ibcc_port_sample *p = sample(&x, LUSTRE_SW1, 5);

	(void)state;
	assert_lustre(&x);
	/* One of each switch, one of each host. */
	for (int i = 0; i < 5; i++) {
		more(&x);
		assert_int_equal(x.f->n_class[4], 2 + HOSTS);
		assert_int_equal(x.s.n_fresh, LUSTRE_PORTS);
		assert_int_equal(p->state, IBCC_SAMPLE_FRESH);
		assert_true(ibcc_delta_exact(&p->delta, IBCC_CTR_XMIT_DATA));
		assert_true(ibcc_delta_exact(&p->delta, IBCC_CTR_XMIT_WAIT));
		assert_in_range(p->delta.dt_ns, 100 * MS, 101 * MS);
	}
	teardown(&x);
	/* Without PortXmitWait among the wide ones it is asked for beside. */
	x = idle_fabric(0x1300, 0);
	more(&x);
	assert_int_equal(x.f->n_class[4], 2 * (2 + HOSTS));
	teardown(&x);
	/* No node is asked for what it does not have. */
	x = idle_fabric(0x1200, 2);
	more(&x);
	assert_int_equal(x.f->n_class[4], LUSTRE_PORTS);
	teardown(&x);
	x = idle_fabric(0x1100, 0);
	more(&x);
	assert_int_equal(x.f->n_class[4], LUSTRE_PORTS);
	teardown(&x);
}

/* What moves is read in detail in the very pass, and its rate is that of the interval. */
static void test_something_moves(void **state)
{
	struct fixture x = idle_fabric(0x1300, 2);

	(void)state;
	more(&x);
	counters(&x, LUSTRE_SW1, 5)->xmit_data += (uint64_t)(FLOW_MBPS / 32 * 1e5); /* 100 ms */
	more(&x);
	assert_int_equal(x.f->n_class[4], 1 + SW1_PORTS + 1 + HOSTS);
	assert_in_range(ibcc_delta_xmit_mbps(&sample(&x, LUSTRE_SW1, 5)->delta), 15900, 16000);
	assert_int_equal(ibcc_delta_xmit_mbps(&sample(&x, LUSTRE_SW1, 1)->delta), 0);
	/* Without a sum as long as it goes on. */
	counters(&x, LUSTRE_SW1, 5)->xmit_data += (uint64_t)(FLOW_MBPS / 32 * 1e5);
	more(&x);
	assert_int_equal(x.f->n_class[4], SW1_PORTS + 1 + HOSTS);
	/* A port that waits and sends nothing. */
	more(&x);
	more(&x);
	more(&x);
	assert_int_equal(x.f->n_class[4], 2 + HOSTS);
	counters(&x, LUSTRE_SW2, 2)->xmit_wait += (uint64_t)(1e11 / QDR_TICK / 20); /* 5 % */
	more(&x);
	assert_in_range(ibcc_delta_wait_permille(&sample(&x, LUSTRE_SW2, 2)->delta,
						 sample(&x, LUSTRE_SW2, 2)->tick_ps),
			49, 51);
	teardown(&x);
}

/* Little by little is not nothing: it is told before it is more than a hundredth of an interval. */
static void test_little_by_little(void **state)
{
	struct fixture x = idle_fabric(0x1300, 2);
	uint64_t words = (uint64_t)(32000.0 / 32 * 1e5 / 300),
		 told = 0; /* a third of a hundredth */
	uint32_t port = fabric_port(x.t, LUSTRE_SW1, 2);
	unsigned int mads = 0, i;

	(void)state;
	more(&x);
	for (i = 1; i <= 30; i++) {
		x.f->counters[port].xmit_data += words;
		more(&x);
		told += x.s.port[port].delta.v[IBCC_CTR_XMIT_DATA];
		assert_true(i * words - told <= 4 * words);
		assert_true(x.s.port[port].delta.v[IBCC_CTR_XMIT_DATA] <= 4 * words);
		mads += x.f->n_class[4];
	}
	assert_true(mads < 30 * (2 + HOSTS + SW1_PORTS));
	teardown(&x);
}

/* Ends of a cable do not contradict each other for that: what a switch has not been asked for in
 * detail comes later.
 */
static void test_trust(void **state)
{
	struct fixture x = idle_fabric(0x1300, 2);
	struct fake_counters *ca = counters(&x, LUSTRE_SRC1, 1), *sw = counters(&x, LUSTRE_SW1, 1);
	uint64_t words = (uint64_t)(32000.0 / 32 * 1e8 / 100 / 40); /* of intervals of 100 s */
	unsigned int quiet = 0;

	(void)state;
	assert_int_equal(x.t->port[fabric_port(x.t, LUSTRE_SRC1, 1)].peer,
			 fabric_port(x.t, LUSTRE_SW1, 1));
	for (int i = 0; i < 200; i++) {
		ca->xmit_data += words;
		sw->rcv_data += words;
		sw->xmit_data += words;
		ca->rcv_data += words;
		pass(&x);
		quiet += x.f->n_class[4] < 2 + HOSTS + SW1_PORTS;
		ibcc_trust_judge(x.t, &x.s);
		assert_int_equal(x.s.n_doubted, 0);
		fake_sleep(x.f, 100000 * MS);
	}
	assert_true(quiet > 150);
	teardown(&x);
}

/* Sums that are less than the parts, or refused, are not asked for again. */
static void test_liars(void **state)
{
	struct fixture x = idle_fabric(0x1300, 2);

	(void)state;
	for (unsigned int p = 1; p <= SW1_PORTS; p++)
		counters(&x, LUSTRE_SW1, p)->xmit_data += 1ull << 40;
	more(&x);
	more(&x);
	x.f->sum_shift = 8;
	for (int i = 0; i < 4; i++) {
		counters(&x, LUSTRE_SW1, 1)->xmit_data += (uint64_t)1e9 * (i == 0);
		more(&x);
	}
	assert_int_equal(x.f->n_class[4], LUSTRE_PORTS);
	teardown(&x);
}

/* And all the same the ports have their turn now and then. */
static void test_detail_in_the_end(void **state)
{
	struct fixture x = idle_fabric(0x1300, 2);
	unsigned int detailed = 0;

	(void)state;
	more(&x);
	for (int i = 0; i < 130; i++) {
		more(&x);
		/* Not counting what is asked for the errors of links. */
		detailed += x.f->n_class[4] - x.f->n_plain > 2 + HOSTS;
	}
	assert_int_equal(detailed, 2);
	teardown(&x);
}

/* A switch that does not answer is not quiet. */
static void test_silence(void **state)
{
	struct fixture x = idle_fabric(0x1300, 2);

	(void)state;
	more(&x);
	fake_node_of(x.f, LUSTRE_SW1)->dead = true;
	more(&x);
	assert_int_equal(x.s.n_stale, SW1_PORTS);
	assert_int_equal(sample(&x, LUSTRE_SW1, 5)->state, IBCC_SAMPLE_STALE);
	fake_node_of(x.f, LUSTRE_SW1)->dead = false;
	more(&x);
	more(&x);
	assert_int_equal(x.s.n_fresh, LUSTRE_PORTS);
	teardown(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quiet),
		cmocka_unit_test(test_something_moves),
		cmocka_unit_test(test_little_by_little),
		cmocka_unit_test(test_liars),
		cmocka_unit_test(test_trust),
		cmocka_unit_test(test_detail_in_the_end),
		cmocka_unit_test(test_silence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
