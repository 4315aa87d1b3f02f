/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Packets on their way, against arithmetic: latency, throughput, shares, counters, send queues. */
#include <errno.h>
#include <string.h>

#include "lib/engine/internal.h"
#include "tests/unit/engines.h"

#define NS     IBCC_PS_PER_NS
#define MS     IBCC_PS_PER_MS
#define WIRE   2074u /* 2048 + 26 */
#define T_QDR  (WIRE * 250ull)
#define T_SDR  (WIRE * 1000ull)
#define HOP_PS (125 * NS) /* link and switch of the default model */

static uint32_t paced_flow(struct ibcc_engine *e, uint32_t src, uint32_t dst,
			   enum ibcc_arrivals arrivals, uint32_t load_permille, uint32_t queue)
{
	struct ibcc_flow_spec f = { .arrivals = arrivals,
				    .load_permille = load_permille,
				    .queue_packets = queue };
	int i = ibcc_engine_add_flow(e, &f, src, dst);

	assert_true(i >= 0);
	return (uint32_t)i;
}

static void test_latency(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_model m;
	struct ibcc_engine *e;
	struct ibcc_engine_flow f;
	struct ibcc_engine_totals o;
	uint32_t flow;

	(void)state;
	ibcc_model_defaults(&m);
	e = engine_new(t, &m, 1);
	flow = paced_flow(e, fabric_port(t, LUSTRE_SRC1, 1), fabric_port(t, LUSTRE_FAST, 1),
			  IBCC_ARRIVALS_PERIODIC, 100, 0);
	/* Two switches cut through, then the whole packet and the last link. */
	engine_run(e, 2 * HOP_PS + T_QDR + 25 * NS - 1);
	assert_int_equal(engine_flow_read(e, flow).received_pkts, 0);
	engine_run(e, 2 * HOP_PS + T_QDR + 25 * NS);
	f = engine_flow_read(e, flow);
	assert_int_equal(f.received_pkts, 1);
	assert_int_equal(f.received_bytes, 2048);
	assert_true(f.latency_sum_ps == 2 * HOP_PS + T_QDR + 25 * NS);
	/* Ten times the packet time apart. */
	engine_run(e, 100 * 10 * T_QDR - 1);
	f = engine_flow_read(e, flow);
	assert_int_equal(f.sent_pkts, 100);
	assert_int_equal(f.received_pkts, 100);
	assert_true(f.latency_sum_ps == 100 * (2 * HOP_PS + T_QDR + 25 * NS));
	ibcc_engine_totals(e, &o);
	assert_int_equal(o.packet_hops, 300);
	assert_int_equal(o.ack_hops, 0);
	assert_int_equal(o.in_flight, 0);
	ibcc_engine_free(e);
	ibcc_topo_free(t);
}

/* Two adapters at one switch, at rates a and b. */
static struct ibcc_topo *two_rates(uint32_t a_mbps, uint32_t b_mbps)
{
	struct ibcc_topo *t = ibcc_topo_new();

	assert_non_null(t);
	fabric_node(t, IBCC_NODE_CA, 1, "a");
	fabric_node(t, IBCC_NODE_CA, 1, "b");
	fabric_node(t, IBCC_NODE_SWITCH, 4, "s");
	assert_int_equal(ibcc_topo_link(t, 0, 1, 2, 1, a_mbps, 2048), 0);
	assert_int_equal(ibcc_topo_link(t, 1, 1, 2, 2, b_mbps, 2048), 0);
	assert_int_equal(ibcc_route_compute(t), 0);
	return t;
}

static void test_latency_of_unequal_links(void **state)
{
	static const struct {
		uint32_t a, b;
		uint64_t latency_ps;
	} c[] = {
		/* A faster output must not run dry: the last bits follow one another. */
		{ 8000, 32000, T_SDR + HOP_PS + 25 * NS },
		{ 32000, 8000, HOP_PS + T_SDR + 25 * NS },
		{ 32000, 32000, HOP_PS + T_QDR + 25 * NS },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct ibcc_topo *t = two_rates(c[i].a, c[i].b);
		struct ibcc_model m;
		struct ibcc_engine *e;
		uint32_t flow;

		ibcc_model_defaults(&m);
		e = engine_new(t, &m, 1);
		flow = paced_flow(e, fabric_port(t, 0, 1), fabric_port(t, 1, 1),
				  IBCC_ARRIVALS_PERIODIC, 10, 0);
		engine_run(e, 4000 * NS);
		assert_int_equal(engine_flow_read(e, flow).received_pkts, 1);
		assert_true(engine_flow_read(e, flow).latency_sum_ps == c[i].latency_ps);
		ibcc_engine_free(e);
		ibcc_topo_free(t);
	}
}

static void test_throughput_and_counters(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_model m;
	struct ibcc_engine *e;
	struct ibcc_engine_port p;
	uint32_t flow, src = fabric_port(t, LUSTRE_SRC1, 1);
	uint64_t n;

	(void)state;
	ibcc_model_defaults(&m);
	e = engine_new(t, &m, 1);
	flow = engine_flow(e, t, LUSTRE_SRC1, LUSTRE_FAST, 0);
	engine_run(e, 1000 * T_QDR - 1);
	/* Back to back: 4000 MB/s times 2048 / 2074 of payload. */
	assert_int_equal(engine_flow_read(e, flow).sent_pkts, 1000);
	p = engine_port_read(e, src);
	assert_int_equal(p.xmit_pkts, 1000);
	assert_int_equal(p.xmit_bytes, 1000 * (WIRE - 2)); /* without VCRC */
	assert_true(p.xmit_wait_ps == 0);
	assert_int_equal(p.rcv_pkts, 0);
	/* Switches handle packets HOP_PS after their first bit. */
	n = (1000 * T_QDR - 1 - HOP_PS) / T_QDR + 1;
	p = engine_port_read(e, fabric_port(t, LUSTRE_SW1, 1));
	assert_int_equal(p.rcv_pkts, n);
	assert_int_equal(p.rcv_bytes, n * (WIRE - 2));
	p = engine_port_read(e, fabric_port(t, LUSTRE_SW1, 5));
	assert_int_equal(p.xmit_pkts, n);
	assert_true(p.xmit_wait_ps == 0);
	assert_true(p.xmit_time_cong_ps == 0);
	assert_int_equal(engine_port_read(e, fabric_port(t, LUSTRE_SW1, 2)).rcv_pkts, 0);
	assert_int_equal(ibcc_engine_port_read(e, t->n_ports, &p), -EINVAL);
	ibcc_engine_free(e);
	ibcc_topo_free(t);
}

/* Inputs share an output equally, however many flows each carries. */
static void test_round_robin(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_model m;
	struct ibcc_engine *e;
	uint32_t far[4], near;
	uint64_t lo = UINT64_MAX, hi = 0;

	(void)state;
	ibcc_model_defaults(&m);
	e = engine_new(t, &m, 1);
	for (uint32_t i = 0; i < 4; i++)
		far[i] = engine_flow(e, t, LUSTRE_SRC1 + i, LUSTRE_FAST, 0);
	near = engine_flow(e, t, LUSTRE_SLOW, LUSTRE_FAST, 0);
	engine_run(e, 8000 * T_QDR);
	for (int i = 0; i < 4; i++) {
		uint64_t n = engine_flow_read(e, far[i]).received_pkts;

		lo = n < lo ? n : lo;
		hi = n > hi ? n : hi;
	}
	assert_true(hi - lo <= 1);
	assert_near((double)hi, 1000, 0.01);
	assert_near((double)engine_flow_read(e, near).received_pkts, 4000, 0.01);
	ibcc_engine_free(e);
	ibcc_topo_free(t);
}

/* A port with something to send either sends or waits: both add up to the time. */
static void test_xmit_wait(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_model m;
	struct ibcc_engine *e;
	struct ibcc_engine_port p;
	uint64_t end = 5 * MS;

	(void)state;
	ibcc_model_defaults(&m);
	e = engine_new(t, &m, 1);
	assert_int_equal(ibcc_engine_set_sink_rate(e, fabric_port(t, LUSTRE_SLOW, 1), 4000), 0);
	for (uint32_t i = 0; i < 3; i++)
		engine_flow(e, t, LUSTRE_SRC1 + i, LUSTRE_SLOW, 0);
	engine_run(e, end);
	for (uint32_t i = 0; i < 3; i++) {
		p = engine_port_read(e, fabric_port(t, LUSTRE_SRC1 + i, 1));
		assert_true(p.xmit_wait_ps > end / 2);
		assert_true(p.xmit_wait_ps + p.xmit_pkts * T_QDR >= end);
		assert_true(p.xmit_wait_ps + p.xmit_pkts * T_QDR < end + T_QDR);
		assert_true(p.vl_xmit_wait_ps[0] == p.xmit_wait_ps);
	}
	/* The slow sink's port has the same account, once the first packet is there. */
	p = engine_port_read(e, fabric_port(t, LUSTRE_SW2, 1));
	assert_near((double)(p.xmit_wait_ps + p.xmit_pkts * T_QDR), (double)end, 0.001);
	/* 4.096 us of payload each, and a buffer full of 15. */
	assert_in_range(p.xmit_pkts, end / 4096000 + 13, end / 4096000 + 16);
	p = engine_port_read(e, fabric_port(t, LUSTRE_SW2, 2));
	assert_true(p.xmit_wait_ps == 0);
	ibcc_engine_free(e);
	ibcc_topo_free(t);
}

static void test_send_queues(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_model m;
	struct ibcc_engine *e;
	struct ibcc_engine_flow f;
	uint32_t dst = fabric_port(t, LUSTRE_FAST, 1), open, closed, random;

	(void)state;
	ibcc_model_defaults(&m);
	e = engine_new(t, &m, 1);
	assert_int_equal(ibcc_engine_set_sink_rate(e, dst, 4000), 0);
	open = paced_flow(e, fabric_port(t, LUSTRE_SRC1, 1), dst, IBCC_ARRIVALS_PERIODIC, 500, 0);
	closed =
		paced_flow(e, fabric_port(t, LUSTRE_SRC2, 1), dst, IBCC_ARRIVALS_PERIODIC, 500, 10);
	random = paced_flow(e, fabric_port(t, LUSTRE_SRC3, 1), fabric_port(t, LUSTRE_SRC4, 1),
			    IBCC_ARRIVALS_EXPONENTIAL, 500, 0);
	engine_run(e, 20000 * T_QDR - 1);
	f = engine_flow_read(e, open);
	assert_int_equal(f.offered_pkts, 10000);
	assert_int_equal(f.refused_pkts, 0);
	assert_true(f.sent_pkts < 2000);
	f = engine_flow_read(e, closed);
	assert_int_equal(f.offered_pkts, 10000);
	assert_true(f.sent_pkts < 2000);
	assert_int_equal(f.refused_pkts + f.sent_pkts + 10, 10000);
	f = engine_flow_read(e, random);
	/* Poisson: 10000 +- 5 standard deviations; nothing stands in its way. */
	assert_true(f.offered_pkts > 9500 && f.offered_pkts < 10500);
	assert_true(f.offered_pkts - f.sent_pkts < 30);
	ibcc_engine_free(e);
	ibcc_topo_free(t);
}

/* An adapter that serves in the order of arrival; times in eighths of a packet's. At 0, 2, 4 ... a
 * packet comes to a queue of one, which takes it if it is empty; at 1, 9, 17 ... one to a queue
 * without limit.
 */
static void serve(unsigned int n, uint64_t *finite, uint64_t *open)
{
	unsigned int a = 0, b = 1;

	*finite = *open = 0;
	for (unsigned int now = 0; now < 8 * n; now += 8) {
		if (a < b) {
			++*finite;
			a = now + 2;
		} else {
			++*open;
			b += 8;
		}
	}
}

/* ... and so does the engine, whether or not counters are read meanwhile. */
static void test_full_queue(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	uint32_t src = fabric_port(t, LUSTRE_SRC1, 1), dst = fabric_port(t, LUSTRE_FAST, 1);
	struct ibcc_flow_spec open = { .arrivals = IBCC_ARRIVALS_PERIODIC,
				       .load_permille = 1000,
				       .start_ps = T_QDR / 8 };
	const unsigned int n = 800;

	(void)state;
	for (unsigned int readings = 1; readings <= 301; readings += 100) {
		struct ibcc_model m;
		struct ibcc_engine *e;
		struct ibcc_engine_flow f;
		uint32_t finite;
		uint64_t want_finite, want_open;

		ibcc_model_defaults(&m);
		e = engine_new(t, &m, 1);
		finite = paced_flow(e, src, dst, IBCC_ARRIVALS_PERIODIC, 4000, 1);
		assert_int_equal(ibcc_engine_add_flow(e, &open, src, dst), finite + 1);
		for (unsigned int i = 1; i < readings; i++) {
			engine_run(e, n * T_QDR * i / readings);
			engine_flow_read(e, finite);
		}
		engine_run(e, n * T_QDR - 1);
		serve(n, &want_finite, &want_open);
		f = engine_flow_read(e, finite);
		assert_int_equal(f.offered_pkts, 4 * n);
		assert_int_equal(f.sent_pkts, want_finite);
		assert_int_equal(f.refused_pkts, 4 * n - want_finite - 1);
		assert_int_equal(engine_flow_read(e, finite + 1).sent_pkts, want_open);
		ibcc_engine_free(e);
	}
	ibcc_topo_free(t);
}

static void test_start_and_stop(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_BACKLOGGED,
				    .start_ps = 10 * T_QDR,
				    .stop_ps = 15 * T_QDR };
	struct ibcc_model m;
	struct ibcc_engine *e;
	uint32_t src = fabric_port(t, LUSTRE_SRC1, 1), dst = fabric_port(t, LUSTRE_FAST, 1);

	(void)state;
	ibcc_model_defaults(&m);
	e = engine_new(t, &m, 1);
	assert_int_equal(ibcc_engine_add_flow(e, &f, src, dst), 0);
	f.arrivals = IBCC_ARRIVALS_PERIODIC;
	f.load_permille = 500;
	assert_int_equal(ibcc_engine_add_flow(e, &f, fabric_port(t, LUSTRE_SRC2, 1), dst), 1);
	engine_run(e, 10 * T_QDR - 1);
	assert_int_equal(engine_flow_read(e, 0).sent_pkts, 0);
	engine_run(e, 1 * MS);
	/* Five, and the one that stood in the queue when the flow stopped. */
	assert_int_equal(engine_flow_read(e, 0).received_pkts, 6);
	assert_int_equal(engine_flow_read(e, 1).received_pkts, 3); /* at 10, 12, 14 */
	assert_int_equal(ibcc_engine_run(e, 0), -EINVAL);
	ibcc_engine_free(e);
	ibcc_topo_free(t);
}

/* Packets to all others go to each about equally often, never to the source. */
static void test_uniform(void **state)
{
	struct ibcc_topo *t = fabric_tree2(4);
	struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_PERIODIC, .load_permille = 900 };
	struct ibcc_model m;
	struct ibcc_engine *e;

	(void)state;
	for (int kind = IBCC_ARRIVALS_BACKLOGGED; kind <= IBCC_ARRIVALS_EXPONENTIAL; kind++) {
		ibcc_model_defaults(&m);
		e = engine_new(t, &m, 7);
		f.arrivals = (enum ibcc_arrivals)kind;
		assert_int_equal(ibcc_engine_add_flow(e, &f, fabric_port(t, 0, 1), IBCC_NONE), 0);
		engine_run(e, 7000 * T_QDR);
		assert_int_equal(engine_port_read(e, fabric_port(t, 0, 1)).rcv_pkts, 0);
		for (uint32_t i = 1; i < 8; i++) {
			uint64_t n = engine_port_read(e, fabric_port(t, i, 1)).rcv_pkts;

			assert_true(n > 750 && n < 1170); /* 5 standard deviations of 900, 1000 */
		}
		ibcc_engine_free(e);
	}
	ibcc_topo_free(t);
}

static void test_bad_arguments(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_BACKLOGGED };
	struct ibcc_model m;
	struct ibcc_engine *e;
	uint32_t a = fabric_port(t, LUSTRE_SRC1, 1), b = fabric_port(t, LUSTRE_FAST, 1);
	int err = 0;

	(void)state;
	ibcc_model_defaults(&m);
	m.buffer_bytes = 2048; /* no room for a packet */
	assert_null(ibcc_engine_new(t, &m, 1, &err));
	assert_int_equal(err, -EINVAL);
	ibcc_model_defaults(&m);
	m.vls = 16;
	assert_null(ibcc_engine_new(t, &m, 1, NULL));
	ibcc_model_defaults(&m);
	e = engine_new(t, &m, 1);
	assert_int_equal(ibcc_engine_add_flow(e, &f, a, a), -EINVAL);
	assert_int_equal(ibcc_engine_add_flow(e, &f, a, t->n_ports), -EINVAL);
	assert_int_equal(ibcc_engine_add_flow(e, &f, fabric_port(t, LUSTRE_SW1, 1), b), -EINVAL);
	f.sl = 16;
	assert_int_equal(ibcc_engine_add_flow(e, &f, a, b), -EINVAL);
	f = (struct ibcc_flow_spec){ .arrivals = IBCC_ARRIVALS_PERIODIC };
	assert_int_equal(ibcc_engine_add_flow(e, &f, a, b), -EINVAL);
	assert_int_equal(ibcc_engine_n_flows(e), 0);
	assert_null(ibcc_engine_flow_spec(e, 0));
	engine_run(e, 1000);
	ibcc_engine_free(e);
	ibcc_engine_free(NULL);
	ibcc_topo_free(t);
}

/* Counters of packets go beyond 2^32, though only the lower halves of what arrives are kept. */
static void test_many_packets(void **state)
{
	const uint64_t before = (1ull << 32) - 10;
	struct ibcc_topo *t = fabric_lustre();
	uint32_t src = fabric_port(t, LUSTRE_SRC1, 1);
	struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_BACKLOGGED,
				    .stop_ps = 20 * IBCC_PS_PER_US };
	struct ibcc_engine_port p;
	struct ibcc_model m;
	struct ibcc_engine *e;

	(void)state;
	ibcc_model_defaults(&m);
	e = engine_new(t, &m, 1);
	assert_int_equal(ibcc_engine_add_flow(e, &f, src, fabric_port(t, LUSTRE_FAST, 1)), 0);
	port_of(e, src)->tx[DATA] = before;
	e->arrived[src].rx[DATA] = (uint32_t)before;
	for (uint64_t us = 1; us <= 20; us++) {
		engine_run(e, us * IBCC_PS_PER_US);
		p = engine_port_read(e, t->port[src].peer);
		assert_in_range(p.rcv_data_pkts, before, engine_port_read(e, src).xmit_data_pkts);
		assert_in_range(engine_port_read(e, src).xmit_data_pkts - p.rcv_data_pkts, 0, 2);
	}
	engine_run(e, IBCC_PS_PER_MS);
	p = engine_port_read(e, t->port[src].peer);
	assert_true(p.rcv_data_pkts > 1ull << 32);
	assert_int_equal(p.rcv_data_pkts - before, engine_flow_read(e, 0).received_pkts);
	ibcc_engine_free(e);
	ibcc_topo_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_latency),
		cmocka_unit_test(test_latency_of_unequal_links),
		cmocka_unit_test(test_throughput_and_counters),
		cmocka_unit_test(test_many_packets),
		cmocka_unit_test(test_round_robin),
		cmocka_unit_test(test_xmit_wait),
		cmocka_unit_test(test_send_queues),
		cmocka_unit_test(test_full_queue),
		cmocka_unit_test(test_start_and_stop),
		cmocka_unit_test(test_uniform),
		cmocka_unit_test(test_bad_arguments),
	};

	return cmocka_run_group_tests_name("engine_basic", tests, NULL, NULL);
}
