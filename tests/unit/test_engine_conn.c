/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Connections in the engine: two ways of different length, loss, congestion control, all kinds of
 * sources. The witness of the go-back times counts slots of a packet each, and has nothing of the
 * engine's: no queues, no events, no links.
 */
#include "engines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define US       IBCC_PS_PER_US
#define MBPS     16592u /* a packet of 2048 and 26 bytes takes 1 us */
#define PKT_PS   (1 * US)
#define ACK_PS   14464u
#define N_LINKS  3u
#define N_SWITCH 2u

enum { SRC, DST, S1, S2 };

struct two_ways {
	struct ibcc_topo *topo;
	struct ibcc_model model;
	struct ibcc_engine *e;
};

static struct ibcc_topo *two_ways_topo(void)
{
	static const uint32_t link[][4] = {
		{ SRC, 1, S1, 3 }, { S1, 1, S2, 1 }, { S1, 2, S2, 2 }, { S2, 3, DST, 1 }
	};
	struct ibcc_topo *t = ibcc_topo_new();

	assert_non_null(t);
	fabric_node(t, IBCC_NODE_CA, 1, "src");
	fabric_node(t, IBCC_NODE_CA, 1, "dst");
	fabric_node(t, IBCC_NODE_SWITCH, 3, "s1");
	fabric_node(t, IBCC_NODE_SWITCH, 3, "s2");
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(ibcc_topo_link(t, link[i][0], link[i][1], link[i][2], link[i][3],
						MBPS, 2048),
				 0);
	assert_int_equal(ibcc_route_compute(t), 0);
	return t;
}

/* Two ways, half a packet less than `round` us to and fro, so that what comes back is there when
 * the packet begins that is the round-th behind; by the second one packets take `skew` us longer.
 */
static void start(struct two_ways *x, enum ibcc_endpoint endpoint, unsigned int round,
		  unsigned int skew)
{
	uint64_t rest = round * US - PKT_PS / 2 - PKT_PS - ACK_PS;

	x->topo = two_ways_topo();
	ibcc_model_defaults(&x->model);
	x->model.endpoint = endpoint;
	x->model.routing = IBCC_ROUTING_ROUND_ROBIN;
	x->model.buffer_bytes = x->model.hca_buffer_bytes = 1 << 20;
	x->model.becn_delay_ps = 0;
	x->model.link_delay_ps = rest / (2 * N_LINKS);
	x->model.switch_delay_ps = rest % (2 * N_LINKS) / (2 * N_SWITCH);
	x->e = engine_new(x->topo, &x->model, 1);
	assert_int_equal(ibcc_engine_set_send_delay(x->e, fabric_port(x->topo, S1, 2), skew * US),
			 0);
}

static void finish(struct two_ways *x)
{
	ibcc_engine_free(x->e);
	ibcc_topo_free(x->topo);
}

static struct ibcc_engine_conn conn_read(const struct ibcc_engine *e, uint32_t flow)
{
	struct ibcc_engine_conn c;

	assert_int_equal(ibcc_engine_conn_read(e, flow, &c), 0);
	return c;
}

#define SLOTS 8000u

/* Packets in order, of so many slots: each slot one is sent, by the first way in even ones, and
 * comes back as an answer `round` slots later, by the second way `skew` slots more.
 */
static double witness(unsigned int round, unsigned int skew)
{
	static int data[SLOTS + 200], nak[SLOTS + 200]; /* by slot: packet + 1 that comes */
	int next = 0, expected = 0;
	bool asked = false;

	memset(data, 0, sizeof(data));
	memset(nak, 0, sizeof(nak));
	for (unsigned int t = 0; t < SLOTS; t++) {
		/* That what comes and what is sent share a slot's number takes out the way there:
		 * an answer is back `round` after the packet was sent.
		 */
		if (nak[t])
			next = nak[t] - 1;
		data[t + (t % 2 ? skew : 0)] = next++ + 1;
		if (data[t] == expected + 1) {
			expected++;
			asked = false;
		} else if (data[t] > expected + 1 && !asked) {
			asked = true;
			nak[t + round] = expected + 1;
		}
	}
	return (double)expected / SLOTS;
}

static double goodput(enum ibcc_endpoint endpoint, unsigned int round, unsigned int skew)
{
	struct two_ways x;
	uint64_t before;
	double share;

	start(&x, endpoint, round, skew);
	engine_flow(x.e, x.topo, SRC, DST, 0);
	engine_run(x.e, 1000 * US);
	before = engine_flow_read(x.e, 0).received_pkts;
	engine_run(x.e, 9000 * US);
	share = (double)(engine_flow_read(x.e, 0).received_pkts - before) / 8000;
	finish(&x);
	return share;
}

/* Even skews, for with odd ones packets of both ways meet at the last switch, and one waits. */
static void test_go_back(void **state)
{
	static const unsigned int rounds[] = { 10, 19, 20, 33, 40, 80 };

	(void)state;
	for (unsigned int i = 0; i < 6; i++)
		for (unsigned int skew = 2; skew < 20; skew += 2) {
			double want = witness(rounds[i], skew);
			double got = goodput(IBCC_ENDPOINT_RC, rounds[i], skew);

			assert_near(got, want, 0.05);
			/* Where both are even, two packets each time that all is sent again. */
			if (rounds[i] % 2 || skew >= rounds[i])
				continue;
			assert_near(got, 2.0 / (rounds[i] + skew + 2), 0.02);
			assert_near(want, 2.0 / (rounds[i] + skew + 2), 0.02);
		}
}

/* A skew of a packet is none: packets of two ways take turns. Out of order, none is too much. */
static void test_no_harm(void **state)
{
	struct two_ways x;
	struct ibcc_engine_conn c;

	(void)state;
	assert_near(goodput(IBCC_ENDPOINT_RC, 20, 0), 1, 0.002);
	assert_near(goodput(IBCC_ENDPOINT_RC, 20, 1), 1, 0.002);
	for (unsigned int skew = 0; skew <= 16; skew += 4)
		assert_near(goodput(IBCC_ENDPOINT_OOO, 20, skew), 1, 0.002);
	start(&x, IBCC_ENDPOINT_OOO, 20, 8);
	engine_flow(x.e, x.topo, SRC, DST, 0);
	engine_run(x.e, 2000 * US);
	c = conn_read(x.e, 0);
	assert_int_equal(c.resent + c.duplicates + c.out_of_order + c.naks, 0);
	assert_int_equal(c.depth_max, 7);
	/* Each second packet is late by 8, in which 4 came that it goes before. */
	assert_true(engine_flow_read(x.e, 0).reordered_pkts > 900);
	finish(&x);
}

/* A link that goes down and up again loses packets and answers; all arrive nevertheless, in order,
 * once. Of each kind of source.
 */
static void test_loss(void **state)
{
	static const struct ibcc_flow_spec spec[] = {
		{ .arrivals = IBCC_ARRIVALS_BACKLOGGED, .stop_ps = 3000 * US },
		{ .arrivals = IBCC_ARRIVALS_EXPONENTIAL,
		  .load_permille = 400,
		  .stop_ps = 3000 * US },
		{ .arrivals = IBCC_ARRIVALS_PERIODIC,
		  .load_permille = 300,
		  .queue_packets = 5,
		  .stop_ps = 3000 * US },
		{ .arrivals = IBCC_ARRIVALS_CLOSED,
		  .message_bytes = 20000,
		  .window = 3,
		  .stop_ps = 3000 * US },
	};
	static const enum ibcc_endpoint kinds[] = { IBCC_ENDPOINT_RC, IBCC_ENDPOINT_OOO };

	(void)state;
	for (unsigned int i = 0; i < 8; i++) {
		const struct ibcc_flow_spec *s = &spec[i / 2];
		struct ibcc_engine_flow f;
		struct ibcc_engine_conn c;
		struct two_ways x;

		start(&x, kinds[i % 2], 20, 4);
		assert_int_equal(ibcc_engine_add_flow(x.e, s, fabric_port(x.topo, SRC, 1),
						      fabric_port(x.topo, DST, 1)),
				 0);
		for (unsigned int k = 1; k <= 12; k++) {
			uint32_t port = (k + 1) / 2 % 2 ? fabric_port(x.topo, SRC, 1)
							: fabric_port(x.topo, S1, 1);

			engine_run(x.e, 200 * k * US);
			assert_int_equal(ibcc_engine_set_link(x.e, port, k % 2 == 0), 0);
		}
		engine_run(x.e, 60000 * US);
		f = engine_flow_read(x.e, 0);
		c = conn_read(x.e, 0);
		print_message("source %u, %s: %llu sent, %llu again, %llu lost, %llu time-outs\n",
			      i / 2, i % 2 ? "ooo" : "rc", (unsigned long long)f.sent_pkts,
			      (unsigned long long)c.resent, (unsigned long long)f.dropped_pkts,
			      (unsigned long long)c.timeouts);
		assert_true(f.sent_pkts > 100 && f.dropped_pkts > 0);
		assert_int_equal(f.received_pkts, f.sent_pkts);
		assert_true(c.timeouts > 0 || i % 2 == 0);
		if (s->window)
			assert_int_equal(f.messages, f.sent_pkts / 10);
		if (!ibcc_arrivals_paced(s->arrivals))
			assert_int_equal(f.offered_pkts, f.sent_pkts);
		else
			assert_int_equal(f.offered_pkts, f.sent_pkts + f.refused_pkts);
		finish(&x);
	}
}

/* Latency is from the first sending until all before it has come: by hand for a skew of 4. Each
 * second packet takes 4 us longer; those right behind it by the short way wait for it, that is 3
 * us.
 */
static void test_completion(void **state)
{
	struct two_ways x;
	struct ibcc_engine_flow a, b;
	uint64_t p50, one_way;

	(void)state;
	start(&x, IBCC_ENDPOINT_OOO, 20, 4);
	one_way = 3 * x.model.link_delay_ps + 2 * x.model.switch_delay_ps + PKT_PS;
	engine_flow(x.e, x.topo, SRC, DST, 0);
	engine_run(x.e, 1000 * US);
	a = engine_flow_read(x.e, 0);
	assert_int_equal(ibcc_engine_latency_start(x.e), 0);
	engine_run(x.e, 2000 * US);
	b = engine_flow_read(x.e, 0);
	assert_near((double)(b.latency_sum_ps - a.latency_sum_ps) /
			    (double)(b.received_pkts - a.received_pkts),
		    (double)(one_way + (4 * US + 3 * US) / 2), 0.001);
	assert_int_equal(
		ibcc_engine_latency_read(x.e, IBCC_LATENCY_PACKETS, &(uint32_t){ 0 }, 1, 0.2, &p50),
		0);
	assert_near((double)p50, (double)(one_way + 3 * US), 0.07);
	finish(&x);
}

/* Bursts go by one way each: with those of 4, three packets in four follow their like. */
static void test_bursts(void **state)
{
	struct two_ways x;
	struct ibcc_engine_port a, b;
	double rate[2];

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		x.topo = two_ways_topo();
		ibcc_model_defaults(&x.model);
		x.model.endpoint = IBCC_ENDPOINT_OOO;
		x.model.routing = IBCC_ROUTING_ROUND_ROBIN;
		x.model.path_burst_packets = i ? 4 : 1;
		/* No pause of a backlogged flow is so long: it stays where it began. */
		x.model.path_gap_ps = i ? 0 : 100 * US;
		x.e = engine_new(x.topo, &x.model, 1);
		engine_flow(x.e, x.topo, SRC, DST, 0);
		engine_run(x.e, 1000 * US);
		a = engine_port_read(x.e, fabric_port(x.topo, S1, 1));
		b = engine_port_read(x.e, fabric_port(x.topo, S1, 2));
		rate[i] = (double)a.xmit_data_pkts / (double)(a.xmit_data_pkts + b.xmit_data_pkts);
		finish(&x);
	}
	assert_true(rate[0] == 0 || rate[0] == 1);
	assert_near(rate[1], 0.5, 0.01);
}

/* Rates of links, sinks and throttling as without connections; and what has no connection. */
static void test_refused(void **state)
{
	struct ibcc_flow_spec all = { .arrivals = IBCC_ARRIVALS_EXPONENTIAL, .load_permille = 100 };
	struct two_ways x;

	(void)state;
	start(&x, IBCC_ENDPOINT_RC, 20, 0);
	assert_int_equal(ibcc_engine_add_flow(x.e, &all, fabric_port(x.topo, SRC, 1), IBCC_NONE),
			 -EINVAL);
	assert_int_equal(ibcc_engine_set_send_delay(x.e, fabric_port(x.topo, S1, 2),
						    IBCC_LINK_DELAY_MAX_PS + 1),
			 -EINVAL);
	engine_flow(x.e, x.topo, SRC, DST, 0);
	assert_int_equal(ibcc_engine_set_sink_rate(x.e, fabric_port(x.topo, DST, 1), MBPS / 4), 0);
	engine_run(x.e, 20000 * US);
	assert_near((double)engine_flow_read(x.e, 0).received_bytes * 8e6 / (20000.0 * US),
		    MBPS / 4, 0.05);
	assert_int_equal(conn_read(x.e, 0).resent, 0);
	finish(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_go_back), cmocka_unit_test(test_no_harm),
		cmocka_unit_test(test_loss),    cmocka_unit_test(test_completion),
		cmocka_unit_test(test_bursts),  cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests_name("engine_conn", tests, NULL, NULL);
}
