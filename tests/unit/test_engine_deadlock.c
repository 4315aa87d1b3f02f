/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Deadlocks in rings, where packets go both ways around at random, and what looks like one but
 * ends: slow receivers, full links, much traffic. The oracle is that packets which are still in the
 * fabric long after the last source stopped are in a deadlock, and that nothing else is.
 */
#include <errno.h>
#include <string.h>

#include "engines.h"

#define US   IBCC_PS_PER_US
#define MS   IBCC_PS_PER_MS
#define WIRE 2074u

struct ring {
	struct ibcc_topo *topo;
	struct ibcc_model model;
	struct ibcc_engine *e;
	unsigned int n;
};

static void ring_new(struct ring *r, unsigned int n)
{
	r->n = n;
	r->topo = fabric_ring(n);
	ibcc_model_defaults(&r->model);
	r->model.routing = IBCC_ROUTING_RANDOM;
	r->model.buffer_bytes = 2 * 33 * 64; /* two packets */
}

static void ring_start(struct ring *r, uint64_t seed)
{
	for (uint32_t i = 0; i < r->topo->n_ports; i++)
		r->topo->port[i].op_vls = r->model.vls;
	r->e = engine_new(r->topo, &r->model, seed);
}

static void ring_free(struct ring *r)
{
	ibcc_engine_free(r->e);
	ibcc_topo_free(r->topo);
}

/* From both hosts of each switch to those of the switch so many farther on. Were it one, what goes
 * on had every other turn, and would leave as fast as it comes.
 */
static void flows_across(struct ring *r, unsigned int distance, uint8_t sl)
{
	for (unsigned int i = 0; i < 2 * r->n; i++)
		engine_flow(r->e, r->topo, i, (i + 2 * distance) % (2 * r->n), sl);
}

/* How often a sentence has some words. */
static unsigned int times(const char *sentence, const char *words)
{
	unsigned int n = 0;

	for (; (sentence = strstr(sentence, words)); sentence++)
		n++;
	return n;
}

static uint64_t in_flight(const struct ibcc_engine *e)
{
	struct ibcc_engine_totals o;

	ibcc_engine_totals(e, &o);
	return o.in_flight;
}

/* Flows across a ring of four: all stand, and the circle is one way around. */
static void test_ring(void **state)
{
	char buf[IBCC_DEADLOCK_BYTES];
	struct ibcc_engine_totals a, b;
	double ms = 0;
	struct ring r;

	(void)state;
	ring_new(&r, 4);
	ring_start(&r, 1);
	assert_int_equal(ibcc_engine_deadlock(r.e, buf, sizeof(buf)), 0);
	assert_string_equal(buf, "");
	flows_across(&r, 2, 0);
	engine_run(r.e, 10 * MS);
	assert_int_equal(ibcc_engine_deadlock(r.e, buf, sizeof(buf)), -EDEADLK);
	print_message("%s\n", buf);
	assert_int_equal(times(buf, " waits for "), 4);
	assert_int_equal(times(buf, "s0 port "), 2); /* where it begins and ends */
	for (unsigned int i = 1; i < 4; i++) {
		char name[16];

		snprintf(name, sizeof(name), "s%u port ", i);
		assert_int_equal(times(buf, name), 1);
	}
	assert_true(times(buf, "port 3") == 5 || times(buf, "port 4") == 5);
	/* It is told from when on: nothing was sent after that by those in it, and little before.
	 */
	assert_int_equal(sscanf(buf, "deadlock at %lf ms", &ms), 1);
	assert_true(ms > 0 && ms < 5);
	ibcc_engine_totals(r.e, &a);
	engine_run(r.e, 50 * MS);
	ibcc_engine_totals(r.e, &b);
	assert_int_equal(a.packet_hops, b.packet_hops);
	ring_free(&r);
}

/* The sentence is cut where there is no room, and circles of many are not told in full. */
static void test_sentence(void **state)
{
	char buf[IBCC_DEADLOCK_BYTES], few[40];
	struct ring r;

	(void)state;
	ring_new(&r, 12);
	ring_start(&r, 1);
	flows_across(&r, 6, 0);
	engine_run(r.e, 10 * MS);
	assert_int_equal(ibcc_engine_deadlock(r.e, buf, sizeof(buf)), -EDEADLK);
	print_message("%s\n", buf);
	assert_int_equal(times(buf, " waits for "), 9);
	assert_int_equal(times(buf, "waits for ... waits for s0 port"), 1);
	assert_int_equal(ibcc_engine_deadlock(r.e, few, sizeof(few)), -EDEADLK);
	assert_int_equal(strlen(few), sizeof(few) - 1);
	assert_memory_equal(few, buf, sizeof(few) - 1);
	ring_free(&r);
}

/* Two hosts at one switch go on sending to each other while all else stands. */
static void test_part(void **state)
{
	char buf[IBCC_DEADLOCK_BYTES];
	struct ibcc_engine_flow a, b;
	struct ring r;
	uint32_t near;

	(void)state;
	ring_new(&r, 4);
	ring_start(&r, 1);
	for (unsigned int i = 0; i < 8; i++)
		if (i != 1)
			engine_flow(r.e, r.topo, i, (i + 4) % 8, 0);
	near = engine_flow(r.e, r.topo, 1, 0, 0);
	engine_run(r.e, 10 * MS);
	assert_int_equal(ibcc_engine_deadlock(r.e, buf, sizeof(buf)), -EDEADLK);
	assert_int_equal(times(buf, " waits for "), 4);
	a = engine_flow_read(r.e, near);
	engine_run(r.e, 11 * MS);
	b = engine_flow_read(r.e, near);
	assert_near((double)(b.received_pkts - a.received_pkts), 1000 / 0.5185, 0.01);
	ring_free(&r);
}

/* On one of two lanes. What goes but one switch far on the other lane goes on. */
static void test_lane(void **state)
{
	char buf[IBCC_DEADLOCK_BYTES];
	struct ibcc_engine_flow a, b;
	struct ring r;

	(void)state;
	ring_new(&r, 4);
	r.model.vls = 2;
	ring_start(&r, 1);
	flows_across(&r, 2, 1);
	engine_run(r.e, 10 * MS);
	flows_across(&r, 1, 0);
	engine_run(r.e, 11 * MS);
	assert_int_equal(ibcc_engine_deadlock(r.e, buf, sizeof(buf)), -EDEADLK);
	print_message("%s\n", buf);
	assert_int_equal(times(buf, " waits for "), 4);
	assert_int_equal(times(buf, "port 3 VL 1") + times(buf, "port 4 VL 1"), 5);
	a = engine_flow_read(r.e, 8);
	engine_run(r.e, 12 * MS);
	b = engine_flow_read(r.e, 8);
	assert_true(b.received_pkts > a.received_pkts + 500);
	ring_free(&r);
}

/* A link that goes down loses what waits for it, and so ends the deadlock. */
static void test_link_down(void **state)
{
	char buf[IBCC_DEADLOCK_BYTES], name[32];
	uint32_t port;
	struct ring r;

	(void)state;
	ring_new(&r, 4);
	ring_start(&r, 1);
	flows_across(&r, 2, 0);
	engine_run(r.e, 10 * MS);
	assert_int_equal(ibcc_engine_deadlock(r.e, buf, sizeof(buf)), -EDEADLK);
	port = times(buf, "s0 port 3") ? 3 : 4;
	snprintf(name, sizeof(name), "s0 port %u", port);
	assert_int_equal(times(buf, name), 2);
	assert_int_equal(ibcc_engine_set_link(r.e, fabric_port(r.topo, 2 * r.n, port), false), 0);
	if (ibcc_engine_deadlock(r.e, buf, sizeof(buf))) /* the other way around may be one, too */
		assert_int_equal(times(buf, name), 0);
	ring_free(&r);
}

/* Everything waits for a receiver that is so slow that a packet takes 16 ms, or for one link. */
static void test_slow_sink(void **state)
{
	char buf[IBCC_DEADLOCK_BYTES];
	struct ibcc_topo *t = fabric_tree2(4);
	struct ibcc_model m;
	struct ibcc_engine *e;

	(void)state;
	ibcc_model_defaults(&m);
	m.buffer_bytes = m.hca_buffer_bytes = 2 * 33 * 64;
	for (unsigned int routing = 0; routing < 3; routing++) {
		m.routing = (enum ibcc_routing)routing;
		for (uint32_t mbps = 0; mbps < 2; mbps++) {
			e = engine_new(t, &m, 1);
			assert_int_equal(ibcc_engine_set_sink_rate(e, fabric_port(t, 0, 1), mbps),
					 0);
			for (uint32_t h = 1; h < 8; h++)
				engine_flow(e, t, h, 0, 0);
			for (uint64_t k = 1; k <= 100; k++) {
				engine_run(e, k * 37 * US);
				assert_int_equal(ibcc_engine_deadlock(e, buf, sizeof(buf)), 0);
			}
			engine_run(e, 100 * MS);
			assert_int_equal(ibcc_engine_deadlock(e, buf, sizeof(buf)), 0);
			assert_true(in_flight(e) > 10);
			ibcc_engine_free(e);
		}
	}
	ibcc_topo_free(t);
}

/* Room for more than there is on the way. */
static void test_little_traffic(void **state)
{
	char buf[IBCC_DEADLOCK_BYTES];
	struct ring r;

	(void)state;
	ring_new(&r, 4);
	r.model.buffer_bytes = 1 << 20;
	ring_start(&r, 1);
	for (unsigned int i = 0; i < 4; i++) {
		struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_EXPONENTIAL,
					    .load_permille = 300 };

		assert_true(ibcc_engine_add_flow(r.e, &f, fabric_port(r.topo, 2 * i, 1),
						 fabric_port(r.topo, 2 * ((i + 2) % 4), 1)) >= 0);
	}
	for (uint64_t k = 1; k <= 100; k++) {
		engine_run(r.e, k * 100 * US);
		assert_int_equal(ibcc_engine_deadlock(r.e, buf, sizeof(buf)), 0);
	}
	assert_true(in_flight(r.e) < 100);
	ring_free(&r);
}

/* Packets that the outputs which a sentence names have sent. */
static uint64_t sent_by(struct ring *r, const char *sentence)
{
	uint64_t n = 0;
	unsigned int sw, port;

	while ((sentence = strchr(sentence, 's'))) {
		if (sscanf(sentence, "s%u port %u", &sw, &port) == 2)
			n += engine_port_read(r->e, fabric_port(r->topo, 2 * r->n + sw, port))
				     .xmit_pkts;
		sentence++;
	}
	return n;
}

/* All that is left when sources have stopped for long is in a deadlock or waits for one, and what
 * was found in one never sends again.
 */
static void judge(struct ring *r, unsigned int *n_found)
{
	char first[IBCC_DEADLOCK_BYTES] = "", buf[IBCC_DEADLOCK_BYTES];
	uint64_t sent = 0;

	for (uint64_t k = 1; k <= 40; k++) {
		int rc;

		engine_run(r->e, k * 5 * US);
		rc = ibcc_engine_deadlock(r->e, buf, sizeof(buf));
		assert_true(rc == 0 || rc == -EDEADLK);
		assert_true(!first[0] || rc);
		if (!rc || first[0])
			continue;
		strcpy(first, buf);
		sent = sent_by(r, first);
	}
	engine_run(r->e, 50 * MS);
	assert_int_equal(ibcc_engine_deadlock(r->e, buf, sizeof(buf)),
			 in_flight(r->e) ? -EDEADLK : 0);
	if (r->model.vls == 1 && first[0]) /* on another lane they may go on */
		assert_int_equal(sent_by(r, first), sent);
	*n_found += in_flight(r->e) > 0;
}

static void test_chance(void **state)
{
	unsigned int n_found = 0, n = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct ring r;

		ring_new(&r, 3 + seed % 4);
		r.model.buffer_bytes = (uint32_t)(1 + seed % 5) * 33 * 64;
		r.model.acks = seed & 8;
		r.model.vls = (uint8_t)(1 + (seed >> 4 & 1));
		r.model.arbitration = (enum ibcc_arbitration)(seed % 3);
		r.model.routing = seed & 1 ? IBCC_ROUTING_RANDOM : IBCC_ROUTING_ADAPTIVE;
		ring_start(&r, seed);
		for (uint32_t i = 0; i < 2 * r.n; i++) {
			struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_EXPONENTIAL,
						    .load_permille = 300 + (uint32_t)seed * 10,
						    .sl = (uint8_t)(i % 2),
						    .stop_ps = 150 * US };

			assert_true(ibcc_engine_add_flow(r.e, &f, fabric_port(r.topo, i, 1),
							 IBCC_NONE) >= 0);
		}
		judge(&r, &n_found);
		n++;
		ring_free(&r);
	}
	print_message("%u deadlocks in %u runs\n", n_found, n);
	assert_true(n_found >= 10 && n - n_found >= 10);
}

/* The same with PAUSE, which stops all of a link. */
static void test_pause(void **state)
{
	unsigned int n_found = 0, n = 0;
	struct ring r;

	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		ring_new(&r, 3 + seed % 4);
		r.model.flow_control = IBCC_FLOW_CONTROL_PAUSE;
		r.model.buffer_bytes = 10 * WIRE;
		r.model.pause_headroom_bytes = 4 * WIRE;
		r.model.pause_xon_permille = (uint16_t)(seed % 2 ? 300 : 600);
		ring_start(&r, seed);
		for (uint32_t i = 0; i < 2 * r.n; i++) {
			struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_EXPONENTIAL,
						    .load_permille = 400 + (uint32_t)seed * 8,
						    .stop_ps = 150 * US };

			assert_true(ibcc_engine_add_flow(r.e, &f, fabric_port(r.topo, i, 1),
							 IBCC_NONE) >= 0);
		}
		judge(&r, &n_found);
		n++;
		ring_free(&r);
	}
	print_message("%u deadlocks in %u runs\n", n_found, n);
	assert_true(n_found >= 10 && n - n_found >= 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ring),           cmocka_unit_test(test_sentence),
		cmocka_unit_test(test_part),           cmocka_unit_test(test_lane),
		cmocka_unit_test(test_link_down),      cmocka_unit_test(test_slow_sink),
		cmocka_unit_test(test_little_traffic), cmocka_unit_test(test_chance),
		cmocka_unit_test(test_pause),
	};

	return cmocka_run_group_tests_name("engine_deadlock", tests, NULL, NULL);
}
