/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sources that are on and off, sources in a closed loop, and percentiles of latency, by arithmetic.
 */
#include <errno.h>
#include <math.h>

#include "ether.h"
#include "lib/engine/latency.h"

/* Credits again, so that nothing of Ethernet is in the way. */
static void start(struct ether *x, uint32_t c_mbps)
{
	ether_model(x, c_mbps);
	x->model.flow_control = IBCC_FLOW_CONTROL_CREDITS;
	x->model.credit_delay_ps = 0;
	x->model.buffer_bytes = x->model.hca_buffer_bytes = 64 * 1024;
	ether_start(x);
}

static uint32_t add(struct ether *x, const struct ibcc_flow_spec *f, uint32_t from, uint32_t to)
{
	int i = ibcc_engine_add_flow(x->e, f, fabric_port(x->topo, from, 1),
				     to == IBCC_NONE ? IBCC_NONE : fabric_port(x->topo, to, 1));

	assert_true(i >= 0);
	return (uint32_t)i;
}

/* A host that is left out gets nothing, the others get the same, and so does the one left out as a
 * source: each of its destinations half.
 */
static void test_left_out(void **state)
{
	struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_EXPONENTIAL, .load_permille = 300 };
	struct ether x;
	uint64_t a, b, n;

	(void)state;
	start(&x, ETHER_MBPS);
	snprintf(f.not_to, sizeof(f.not_to), "%.60s", x.topo->node[ETHER_C].desc);
	add(&x, &f, ETHER_A, IBCC_NONE);
	engine_run(x.e, 20000 * US);
	n = engine_flow_read(x.e, 0).received_pkts;
	assert_true(n > 4000);
	assert_int_equal(engine_port_read(x.e, fabric_port(x.topo, ETHER_B, 1)).rcv_data_pkts, n);
	add(&x, &f, ETHER_C, IBCC_NONE);
	engine_run(x.e, 40000 * US);
	b = engine_port_read(x.e, fabric_port(x.topo, ETHER_B, 1)).rcv_data_pkts -
	    engine_flow_read(x.e, 0).received_pkts;
	a = engine_port_read(x.e, fabric_port(x.topo, ETHER_A, 1)).rcv_data_pkts;
	assert_int_equal(a + b, engine_flow_read(x.e, 1).received_pkts);
	assert_near((double)a, (double)b, 0.1);
	assert_int_equal(engine_port_read(x.e, fabric_port(x.topo, ETHER_C, 1)).rcv_data_pkts, 0);
	snprintf(f.not_to, sizeof(f.not_to), "nobody");
	assert_int_equal(ibcc_engine_add_flow(x.e, &f, fabric_port(x.topo, ETHER_A, 1), IBCC_NONE),
			 -EINVAL);
	ether_free(&x);
}

/* A packet of 1.2 us each 12 us, for 60 of 100 us: at 0, 12, 24, 36 and 48 us of a cycle. The time
 * that is on runs through the gaps, so that the sixth comes at the next cycle's beginning.
 */
static void test_on_off_periodic(void **state)
{
	struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_PERIODIC,
				    .load_permille = 100,
				    .start_ps = 7 * US,
				    .on_ps = 60 * US,
				    .off_ps = 40 * US };
	struct ether x;
	uint32_t i;

	(void)state;
	start(&x, ETHER_MBPS);
	i = add(&x, &f, ETHER_A, ETHER_C);
	for (uint64_t cycle = 0; cycle < 20; cycle++) {
		uint64_t t = 7 * US + cycle * 100 * US;

		for (unsigned int k = 0; k < 5; k++) {
			engine_run(x.e, t + k * 12 * US - 1);
			assert_int_equal(engine_flow_read(x.e, i).offered_pkts, 5 * cycle + k);
			engine_run(x.e, t + k * 12 * US);
			assert_int_equal(engine_flow_read(x.e, i).offered_pkts, 5 * cycle + k + 1);
		}
	}
	ether_free(&x);
}

/* Half the time on: half of the rate, and none of it in the other half. */
static void test_on_off_means(void **state)
{
	static const enum ibcc_arrivals kinds[] = { IBCC_ARRIVALS_EXPONENTIAL,
						    IBCC_ARRIVALS_BACKLOGGED };
	struct ether x;

	(void)state;
	for (unsigned int k = 0; k < 2; k++) {
		struct ibcc_flow_spec f = { .arrivals = kinds[k],
					    .load_permille = 500,
					    .on_ps = 1000 * US,
					    .off_ps = 1000 * US };
		uint64_t before, end = 200;
		uint32_t i;

		start(&x, ETHER_MBPS);
		i = add(&x, &f, ETHER_A, ETHER_C);
		for (uint64_t cycle = 0; cycle < end; cycle++) {
			engine_run(x.e, (2000 * cycle + 1100) * US);
			before = engine_flow_read(x.e, i).sent_pkts;
			engine_run(x.e, (2000 * cycle + 1999) * US);
			assert_int_equal(engine_flow_read(x.e, i).sent_pkts, before);
		}
		assert_near((double)engine_flow_read(x.e, i).sent_pkts,
			    (k ? 1 : 0.5) * 1000.0 / 1.2 * (double)end, 0.02);
		ether_free(&x);
	}
}

/* One message of four packets at a time: 4.8 us of sending, a link of 1 us, the packet's own 1.2 us
 * and again 1 us: the last is delivered at 3 * 1.2 + 1 + 1.2 + 1 = 6.8 us, and the next begins.
 */
static void test_closed(void **state)
{
	struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_CLOSED,
				    .message_bytes = 3 * ETHER_PACKET + 1,
				    .window = 1 };
	struct ether x;
	uint32_t i;

	(void)state;
	start(&x, ETHER_MBPS);
	i = add(&x, &f, ETHER_A, ETHER_C);
	engine_run(x.e, 68 * US / 10 - 1);
	assert_int_equal(engine_flow_read(x.e, i).sent_pkts, 4);
	assert_int_equal(engine_flow_read(x.e, i).messages, 0);
	engine_run(x.e, 68 * US / 10);
	assert_int_equal(engine_flow_read(x.e, i).sent_pkts, 5);
	assert_int_equal(engine_flow_read(x.e, i).messages, 1);
	engine_run(x.e, 6800 * US);
	assert_int_equal(engine_flow_read(x.e, i).messages, 1000);
	ether_free(&x);
}

/* A window of two covers the 2 us that the way takes: the link is always busy. */
static void test_window(void **state)
{
	struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_CLOSED,
				    .message_bytes = 4 * ETHER_PACKET,
				    .window = 2 };
	struct ether x;
	uint32_t i;

	(void)state;
	start(&x, ETHER_MBPS);
	i = add(&x, &f, ETHER_A, ETHER_C);
	for (uint64_t t = 1; t <= 500; t++) {
		struct ibcc_engine_flow r;

		engine_run(x.e, t * 1234567);
		r = engine_flow_read(x.e, i);
		assert_true(r.sent_pkts - r.messages * 4 <= 8);
	}
	engine_run(x.e, 12000 * US);
	assert_near((double)engine_flow_read(x.e, i).sent_pkts, 10000, 0.001);
	ether_free(&x);
}

/* With acknowledgements a message ends a way later: an ACK of 30 bytes takes 24 ns and two links.
 * It carries no BECN, so it does not wait until one would be ready.
 */
static void closed_acks(uint64_t becn_delay_ps)
{
	struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_CLOSED,
				    .message_bytes = ETHER_PACKET,
				    .window = 1 };
	struct ether x;
	uint32_t i;

	ether_model(&x, ETHER_MBPS);
	x.model.flow_control = IBCC_FLOW_CONTROL_CREDITS;
	x.model.buffer_bytes = x.model.hca_buffer_bytes = 64 * 1024;
	x.model.acks = true;
	x.model.ack_bytes = 30;
	x.model.becn_delay_ps = becn_delay_ps;
	ether_start(&x);
	i = add(&x, &f, ETHER_A, ETHER_C);
	engine_run(x.e, (3200 + 2024) * (US / 1000) - 1);
	assert_int_equal(engine_flow_read(x.e, i).sent_pkts, 1);
	engine_run(x.e, (3200 + 2024) * (US / 1000));
	assert_int_equal(engine_flow_read(x.e, i).sent_pkts, 2);
	ether_free(&x);
}

static void test_closed_acks(void **state)
{
	(void)state;
	closed_acks(0);
	closed_acks(7 * US);
}

/* What a dead link loses does not hold the source for ever; messages to all reach all. */
static void test_closed_loss(void **state)
{
	struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_CLOSED,
				    .message_bytes = 10 * ETHER_PACKET,
				    .window = 3 };
	struct ether x;
	uint64_t before;
	uint32_t i, port;

	(void)state;
	start(&x, 1000);
	i = add(&x, &f, ETHER_A, IBCC_NONE);
	port = fabric_port(x.topo, ETHER_C, 1);
	for (int k = 0; k < 5; k++) {
		engine_run(x.e, ibcc_engine_now_ps(x.e) + 500 * US);
		assert_int_equal(ibcc_engine_set_link(x.e, port, false), 0);
		engine_run(x.e, ibcc_engine_now_ps(x.e) + 500 * US);
		assert_int_equal(ibcc_engine_set_link(x.e, port, true), 0);
	}
	assert_true(engine_flow_read(x.e, i).dropped_pkts > 0);
	before = engine_flow_read(x.e, i).messages;
	engine_run(x.e, ibcc_engine_now_ps(x.e) + 20000 * US);
	assert_true(engine_flow_read(x.e, i).messages > before + 100);
	assert_true(ether_port(&x, ETHER_B, 1).rcv_pkts > 0);
	assert_true(ether_port(&x, ETHER_C, 1).rcv_pkts > 0);
	ether_free(&x);
}

static void test_buckets(void **state)
{
	(void)state;
	for (uint64_t ps = 0; ps < 1ull << 50; ps += 1 + ps / 7) {
		uint32_t b = ibcc_latency_bucket(ps);
		uint64_t end = ibcc_latency_bucket_end_ps(b);

		assert_true(b < LATENCY_BUCKETS);
		assert_true(ps < end);
		assert_true(!b || ps >= ibcc_latency_bucket_end_ps(b - 1));
		assert_true(end - ps <= 1024 + ps / 16);
	}
	assert_true(ibcc_latency_bucket(UINT64_MAX) < LATENCY_BUCKETS);
}

static uint64_t percentile(struct ether *x, uint32_t flow, double share)
{
	uint64_t ps;

	assert_int_equal(ibcc_engine_latency_read(x->e, IBCC_LATENCY_PACKETS, &flow, 1, share, &ps),
			 0);
	return ps;
}

/* Ten packets at once to a slow link, each 12 us after the one before: a distribution known
 * exactly. The first takes 1 + 12 + 1 us; the k-th is sent 1.2 us and delivered 12 us later than
 * the last.
 */
static void test_percentiles(void **state)
{
	struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_CLOSED,
				    .message_bytes = 10 * ETHER_PACKET,
				    .window = 1 };
	struct ether x;
	uint64_t ps;
	uint32_t i;

	(void)state;
	start(&x, 1000);
	i = add(&x, &f, ETHER_A, ETHER_C);
	assert_int_equal(ibcc_engine_latency_read(x.e, IBCC_LATENCY_PACKETS, &i, 1, 0.5, &ps),
			 -EINVAL);
	assert_int_equal(ibcc_engine_latency_start(x.e), 0);
	assert_true(percentile(&x, i, 0.5) == 0);
	engine_run(x.e, 13000 * US);
	for (int k = 0; k < 10; k++) {
		double want = (14 + 10.8 * k) * (double)US, got;

		got = (double)percentile(&x, i, 0.1 * k + 0.05);
		assert_true(got >= want && got <= want * 1.0626);
	}
	assert_int_equal(ibcc_engine_latency_start(x.e), 0);
	assert_true(percentile(&x, i, 0.999) == 0);
	assert_int_equal(ibcc_engine_latency_read(x.e, IBCC_LATENCY_PACKETS, &i, 1, 1.5, &ps),
			 -EINVAL);
	assert_int_equal(
		ibcc_engine_latency_read(x.e, IBCC_LATENCY_PACKETS, &(uint32_t){ 9 }, 1, 0.5, &ps),
		-EINVAL);
	ether_free(&x);
}

/* A place for one packet, which is free from the beginning of a packet on: the next one begins when
 * the link is free again and another packet has come, on the mean after d + g exp(-d / g), with d
 * the time of a packet and g the gap. It is the same whether refused packets are drawn or not, but
 * without them as many are offered as are sent.
 */
static void test_refused(void **state)
{
	static const uint32_t permille[] = { 500, 1000, 100000 };

	(void)state;
	for (unsigned int k = 0; k < 6; k++) {
		struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_EXPONENTIAL,
					    .load_permille = permille[k / 2],
					    .queue_packets = 1,
					    .omit_refused = k % 2 };
		double d = 1.2, g = d * 1000 / f.load_permille;
		struct ibcc_engine_flow r;
		struct ether x;

		start(&x, ETHER_MBPS);
		add(&x, &f, ETHER_A, ETHER_C);
		engine_run(x.e, 500000 * US);
		r = engine_flow_read(x.e, 0);
		assert_near((double)r.sent_pkts, 500000 / (d + g * exp(-d / g)), 0.01);
		assert_true(r.offered_pkts - r.refused_pkts <= r.sent_pkts + 1);
		assert_int_equal(r.refused_pkts == 0, k % 2);
		ether_free(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_left_out),     cmocka_unit_test(test_on_off_periodic),
		cmocka_unit_test(test_on_off_means), cmocka_unit_test(test_closed),
		cmocka_unit_test(test_window),       cmocka_unit_test(test_closed_acks),
		cmocka_unit_test(test_closed_loss),  cmocka_unit_test(test_buckets),
		cmocka_unit_test(test_percentiles),  cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests_name("engine_sources", tests, NULL, NULL);
}
