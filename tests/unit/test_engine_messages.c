/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The latency of messages, by arithmetic: from when the window has room for a message until its
 * last packet is delivered.
 */
#include "engines.h"

#define US IBCC_PS_PER_US

/* 2074 bytes at 32 Gb/s. */
#define T     518500ull
#define MBPS  32000u
#define BYTES 2048u
/* Two links and a switch in between. */
#define WAY (2 * 25000ull + 100000)

struct line {
	struct ibcc_topo *t;
	struct ibcc_model m;
	struct ibcc_engine *e;
};

/* Two hosts at each end of a line of switches: 0 and 1 at the first one, 2 and 3 at the last. */
static void line(struct line *x, unsigned int switches)
{
	x->t = ibcc_topo_new();
	assert_non_null(x->t);
	for (unsigned int i = 0; i < 4; i++)
		fabric_node(x->t, IBCC_NODE_CA, 1, (char[]){ 'a' + (char)i, '\0' });
	for (unsigned int i = 0; i < switches; i++)
		fabric_node(x->t, IBCC_NODE_SWITCH, 6, (char[]){ 's', '1' + (char)i, '\0' });
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(
			ibcc_topo_link(x->t, i, 1, i < 2 ? 4 : 3 + switches, 1 + i, MBPS, 4096), 0);
	for (unsigned int i = 1; i < switches; i++)
		assert_int_equal(ibcc_topo_link(x->t, 3 + i, 6, 4 + i, 5, MBPS, 4096), 0);
	assert_int_equal(ibcc_route_compute(x->t), 0);
	ibcc_model_defaults(&x->m);
	x->m.packet_bytes = BYTES;
	x->m.header_bytes = 26;
	x->m.link_delay_ps = 25000;
	x->m.switch_delay_ps = 100000;
	x->m.buffer_bytes = x->m.hca_buffer_bytes = 64 * 1024;
}

static void start(struct line *x)
{
	x->e = engine_new(x->t, &x->m, 1);
}

static void done(struct line *x)
{
	ibcc_engine_free(x->e);
	ibcc_topo_free(x->t);
}

static uint32_t add_spec(struct line *x, uint32_t from, uint32_t to, const struct ibcc_flow_spec *f)
{
	int i = ibcc_engine_add_flow(x->e, f, fabric_port(x->t, from, 1),
				     to == IBCC_NONE ? IBCC_NONE : fabric_port(x->t, to, 1));

	assert_true(i >= 0);
	return (uint32_t)i;
}

static uint32_t add(struct line *x, uint32_t from, uint32_t to, unsigned int packets,
		    unsigned int window)
{
	const struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_CLOSED,
					  .message_bytes = packets * BYTES,
					  .window = window };

	return add_spec(x, from, to, &f);
}

/* Lets time pass until a flow has had a number of messages, and compares their latencies' sum. */
static void sums_to(struct line *x, uint32_t flow, uint64_t messages, uint64_t ps)
{
	struct ibcc_engine_flow f = engine_flow_read(x->e, flow);

	while (f.received_messages < messages) {
		engine_run(x->e, ibcc_engine_now_ps(x->e) + T / 4);
		f = engine_flow_read(x->e, flow);
	}
	assert_int_equal(f.received_messages, messages);
	assert_int_equal(f.message_latency_sum_ps, ps);
}

static uint64_t percentile(const struct line *x, uint32_t flow, double share)
{
	uint64_t ps;

	assert_int_equal(
		ibcc_engine_latency_read(x->e, IBCC_LATENCY_MESSAGES, &flow, 1, share, &ps), 0);
	return ps;
}

/* Its packets follow each other, and each cuts through all switches. With acknowledgements the next
 * message begins later, and takes as long. A flow that is no closed loop has no messages.
 */
static void a_lone_message(void **state)
{
	(void)state;
	for (unsigned int k = 1; k <= 4; k++) {
		for (unsigned int packets = 1; packets <= 7; packets += 3) {
			uint64_t want = packets * T + (k + 1) * 25000 + k * 100000;
			struct line x;
			uint32_t i;

			line(&x, k);
			x.m.acks = packets > 1;
			start(&x);
			i = add(&x, 0, 2, packets, 1);
			assert_int_equal(ibcc_engine_latency_start(x.e), 0);
			assert_int_equal(percentile(&x, i, 0.5), 0);
			engine_run(x.e, want - 1);
			assert_int_equal(engine_flow_read(x.e, i).received_messages, 0);
			engine_run(x.e, want);
			sums_to(&x, i, 1, want);
			sums_to(&x, i, 100, 100 * want);
			assert_true(percentile(&x, i, 0.5) > want);
			assert_true(percentile(&x, i, 0.99) <= want * 17 / 16 + 1024);
			i = engine_flow(x.e, x.t, 1, 3, 0);
			engine_run(x.e, ibcc_engine_now_ps(x.e) + 100 * T);
			assert_true(engine_flow_read(x.e, i).received_pkts > 0);
			assert_int_equal(engine_flow_read(x.e, i).received_messages, 0);
			done(&x);
		}
	}
}

/* A window of two: the second message waits for the first one to be sent, and from then on each for
 * the one before it. The link is busy all the time.
 */
static void two_in_the_window(void **state)
{
	struct line x;
	uint32_t i;

	(void)state;
	line(&x, 1);
	start(&x);
	i = add(&x, 0, 2, 5, 2);
	sums_to(&x, i, 1, 5 * T + WAY);
	sums_to(&x, i, 2, 15 * T + 2 * WAY);
	sums_to(&x, i, 3, 15 * T + 2 * WAY + 10 * T);
	sums_to(&x, i, 50, 15 * T + 2 * WAY + 48 * 10 * T);
	done(&x);
}

/* Two sources begin at once, and the link to their receiver takes a packet of each in turn. The
 * first one to end has waited for all but one packet of the other. Its next message is there before
 * the last packet of the other has been sent, since the way takes less time than a packet. So the
 * link is always busy from then on, and each message takes the time of all packets of both.
 */
static void two_share_a_link(void **state)
{
	enum { N = 6 };
	const uint64_t each = (2 * N - 1) * T + WAY;
	uint64_t first;
	struct line x;

	(void)state;
	line(&x, 1);
	start(&x);
	add(&x, 0, 2, N, 1);
	add(&x, 1, 2, N, 1);
	engine_run(x.e, each);
	first = engine_flow_read(x.e, 0).received_messages ? 0 : 1;
	sums_to(&x, (uint32_t)first, 1, each);
	sums_to(&x, (uint32_t)!first, 1, each + T);
	for (uint32_t i = 0; i < 2; i++)
		sums_to(&x, i, 40, each + (i == first ? 0 : T) + 39 * 2 * N * T);
	done(&x);
}

/* A message that could begin in a time that is off begins with the next one that is on. */
static void off_times_do_not_count(void **state)
{
	const struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_CLOSED,
					  .message_bytes = 1,
					  .window = 1,
					  .start_ps = 3 * US,
					  .on_ps = 2 * US,
					  .off_ps = 98 * US };
	struct line x;
	uint32_t i;

	(void)state;
	line(&x, 1);
	start(&x);
	i = add_spec(&x, 0, 2, &f);
	/* Each 0.6685 us: three begin in a time that is on, the last of them at 1.337 us. */
	sums_to(&x, i, 30, 30 * (T + WAY));
	assert_true(ibcc_engine_now_ps(x.e) > 900 * US);
	done(&x);
}

/* What a dead link loses is no message that came, and holds no clock: the others are timed on. */
static void lost_ones_do_not_count(void **state)
{
	struct ibcc_engine_flow f;
	struct line x;
	uint64_t n;
	uint32_t i;

	(void)state;
	line(&x, 1);
	start(&x);
	i = add(&x, 0, 2, 5, 3);
	for (int k = 0; k < 7; k++) {
		engine_run(x.e, ibcc_engine_now_ps(x.e) + 20 * T + 12345);
		assert_int_equal(ibcc_engine_set_link(x.e, fabric_port(x.t, 2, 1), false), 0);
		engine_run(x.e, ibcc_engine_now_ps(x.e) + 20 * T);
		assert_int_equal(ibcc_engine_set_link(x.e, fabric_port(x.t, 2, 1), true), 0);
	}
	engine_run(x.e, ibcc_engine_now_ps(x.e) + 100 * T);
	f = engine_flow_read(x.e, i);
	assert_true(f.dropped_pkts > 0);
	assert_true(f.received_messages < f.messages);
	/* All that came since are there, and wait for the two before them. */
	assert_int_equal(ibcc_engine_latency_start(x.e), 0);
	n = f.received_messages;
	engine_run(x.e, ibcc_engine_now_ps(x.e) + 1000 * T);
	assert_in_range(engine_flow_read(x.e, i).received_messages - n, 199, 201);
	assert_true(percentile(&x, i, 0.01) >= 15 * T);
	assert_true(percentile(&x, i, 0.99) <= 15 * T * 17 / 16 + 1024);
	done(&x);
}

/* Messages to a slow host and to fast ones overtake each other. A message for a fast host waits for
 * what its source sends before it, which is no more than the window: three messages. One to the
 * slow host takes at least as long as that takes for its packets.
 */
static void they_overtake(void **state)
{
	struct line x;
	uint64_t slow, fast;
	uint32_t i;

	(void)state;
	line(&x, 1);
	start(&x);
	assert_int_equal(ibcc_engine_set_sink_rate(x.e, fabric_port(x.t, 3, 1), MBPS / 20), 0);
	i = add(&x, 0, IBCC_NONE, 4, 3);
	assert_int_equal(ibcc_engine_latency_start(x.e), 0);
	engine_run(x.e, 100000 * T);
	slow = percentile(&x, i, 0.999);
	fast = percentile(&x, i, 0.01);
	assert_true(engine_flow_read(x.e, i).received_messages > 1000);
	assert_in_range(engine_flow_read(x.e, i).sent_pkts -
				4 * engine_flow_read(x.e, i).received_messages,
			0, 12 + 4 * 12);
	assert_true(fast >= 4 * T + WAY && fast <= (12 * T + WAY) * 17 / 16 + 1024);
	assert_true(slow >= 4 * 20 * BYTES * 8000000ull / MBPS);
	done(&x);
}

/* The same with connections, whose packets are acknowledged and complete in order. */
static void with_connections(void **state)
{
	(void)state;
	for (unsigned int window = 1; window <= 2; window++) {
		uint64_t first = 5 * T + WAY;
		struct line x;
		uint32_t i;

		line(&x, 1);
		x.m.acks = true;
		x.m.endpoint = IBCC_ENDPOINT_RC;
		x.m.endpoint_window = 64;
		start(&x);
		i = add(&x, 0, 2, 5, window);
		sums_to(&x, i, 1, first);
		if (window == 1)
			sums_to(&x, i, 50, 50 * first);
		else
			sums_to(&x, i, 2, 2 * first + 5 * T);
		done(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lone_message),         cmocka_unit_test(two_in_the_window),
		cmocka_unit_test(two_share_a_link),       cmocka_unit_test(off_times_do_not_count),
		cmocka_unit_test(lost_ones_do_not_count), cmocka_unit_test(they_overtake),
		cmocka_unit_test(with_connections),
	};

	return cmocka_run_group_tests_name("engine_messages", tests, NULL, NULL);
}
