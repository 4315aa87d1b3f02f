/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The engine against theory: line rate, equal shares, max-min fairness, the queue with Poisson
 * arrivals and constant service, throughput that credits limit.
 */
#include <string.h>

#include <ibcc/ideal.h>
#include <ibcc/rng.h>

#include "tests/unit/engines.h"

#define US    IBCC_PS_PER_US
#define MS    IBCC_PS_PER_MS
#define WIRE  2074u /* 2048 + 26 */
#define T_SDR (WIRE * 1000ull)
#define T_QDR (WIRE * 250ull)

/* n adapters h0, h1, ... at ports 1, 2, ... of a switch that is the last node. */
static struct ibcc_topo *star(const uint32_t *rate_mbps, unsigned int n)
{
	struct ibcc_topo *t = ibcc_topo_new();
	char name[16];

	assert_non_null(t);
	for (unsigned int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "h%u", i);
		fabric_node(t, IBCC_NODE_CA, 1, name);
	}
	fabric_node(t, IBCC_NODE_SWITCH, n, "s");
	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(ibcc_topo_link(t, i, 1, n, i + 1, rate_mbps[i], 2048), 0);
	assert_int_equal(ibcc_route_compute(t), 0);
	return t;
}

/* A lone flow gets the line rate, over any number of switches and at any speed. */
static void test_line_rate(void **state)
{
	static const uint32_t rates[] = { 8000, 16000, 32000, 54545, 96969, 400000 };

	(void)state;
	for (unsigned int i = 0; i < 4 * sizeof(rates) / sizeof(rates[0]); i++) {
		unsigned int n_sw = 1 + i % 4;
		uint32_t rate = rates[i / 4];
		struct ibcc_topo *t = ibcc_topo_new();
		struct ibcc_model m;
		struct ibcc_engine *e;
		struct engine_rates r;

		assert_non_null(t);
		fabric_node(t, IBCC_NODE_CA, 1, "a");
		fabric_node(t, IBCC_NODE_CA, 1, "b");
		for (unsigned int k = 0; k < n_sw; k++) {
			fabric_node(t, IBCC_NODE_SWITCH, 4, "s");
			assert_int_equal(
				ibcc_topo_link(t, k ? k + 1 : 0, k ? 2 : 1, k + 2, 1, rate, 2048),
				0);
		}
		assert_int_equal(ibcc_topo_link(t, n_sw + 1, 2, 1, 1, rate, 2048), 0);
		assert_int_equal(ibcc_route_compute(t), 0);
		ibcc_model_defaults(&m);
		e = engine_new(t, &m, 1);
		engine_flow(e, t, 0, 1, 0);
		engine_rates(e, 100 * US, 2100 * US, &r);
		assert_near(r.mbytes[0], rate / 8.0 * 2048 / WIRE, 0.005);
		ibcc_engine_free(e);
		ibcc_topo_free(t);
	}
}

/* Equal flows into one sink: none gets more than a few packets above another. */
static void test_equal_shares(void **state)
{
	(void)state;
	for (unsigned int n = 2; n <= 32; n++) {
		uint32_t rate[33], least = UINT32_MAX, most = 0;
		struct ibcc_model m;
		struct ibcc_topo *t;
		struct ibcc_engine *e;

		for (unsigned int i = 0; i <= n; i++)
			rate[i] = QDR_MBPS;
		t = star(rate, n + 1);
		ibcc_model_defaults(&m);
		e = engine_new(t, &m, n);
		for (unsigned int i = 1; i <= n; i++)
			engine_flow(e, t, i, 0, 0);
		engine_run(e, 3 * MS);
		for (unsigned int i = 0; i < n; i++) {
			uint32_t got = (uint32_t)engine_flow_read(e, i).received_pkts;

			least = got < least ? got : least;
			most = got > most ? got : most;
		}
		assert_near(least, 3.0 * MS / T_QDR / n, 0.01);
		assert_true(most - least <= 1);
		ibcc_engine_free(e);
		ibcc_topo_free(t);
	}
}

/* Random sources, each with one flow, at one switch, so that no packet stands before another's:
 * each gets what the ideal gives it.
 */
static void test_max_min(void **state)
{
	static const uint32_t rates[] = { 8000, 16000, 32000 };

	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct ibcc_scenario s = { .seed = seed };
		struct ibcc_flow_spec f[20];
		struct ibcc_ideal ideal;
		struct engine_rates r;
		struct ibcc_engine *e;
		uint64_t rng = seed;
		uint32_t n = 2 + ibcc_rng_below(&rng, 19), n_sinks = 1 + ibcc_rng_below(&rng, 4),
			 rate[24];

		print_message("seed %llu\n", (unsigned long long)seed);
		for (uint32_t i = 0; i < n + n_sinks; i++)
			rate[i] = rates[ibcc_rng_below(&rng, 3)];
		memset(f, 0, sizeof(f));
		for (uint32_t i = 0; i < n; i++) {
			snprintf(f[i].from, sizeof(f[i].from), "h%u", i);
			snprintf(f[i].to, sizeof(f[i].to), "h%u",
				 n + ibcc_rng_below(&rng, n_sinks));
			f[i].arrivals = ibcc_rng_below(&rng, 2) ? IBCC_ARRIVALS_BACKLOGGED
								: IBCC_ARRIVALS_PERIODIC;
			f[i].load_permille = 10 + ibcc_rng_below(&rng, 990);
		}
		s.topo = star(rate, n + n_sinks);
		s.flow = f;
		s.n_flows = n;
		ibcc_model_defaults(&s.model);
		e = engine_new(s.topo, &s.model, seed);
		assert_int_equal(ibcc_engine_load(e, &s, NULL), 0);
		engine_rates(e, 5 * MS, 25 * MS, &r);
		assert_int_equal(ibcc_ideal_compute(&s, 5 * MS, 25 * MS, &ideal), 0);
		for (uint32_t i = 0; i < n; i++)
			assert_near(r.mbytes[i], ideal.flow_mbps[i] / 8, 0.01);
		ibcc_ideal_fini(&ideal);
		ibcc_engine_free(e);
		ibcc_topo_free(s.topo);
	}
}

/* One flow over two roots, by one of them a narrow link: spread evenly, half of its packets wait
 * for that, and the others behind them, so that it gets twice the link's rate, as the ideal has it.
 * While the narrow link sends n packets, the flow sends 2n in all, with a standard deviation of the
 * square root of that; four of it are allowed. Adaptively packets go where nothing waits, and the
 * flow gets all of its own link.
 */
static void test_spread(void **state)
{
	static const uint32_t narrow[] = { 2000, 8000, 12000 };
	const uint64_t n = 240000;

	(void)state;
	for (unsigned int i = 0; i < 6; i++) {
		struct ibcc_flow_spec f = { .from = "h0", .to = "h3" };
		struct ibcc_event_spec v = { .kind = IBCC_EVENT_LINK_RATE,
					     .node = "leaf0",
					     .port = 4,
					     .value = narrow[i / 2] };
		struct ibcc_scenario s = { .topo = fabric_tree2(4),
					   .n_flows = 1,
					   .flow = &f,
					   .n_events = 1,
					   .event = &v };
		struct ibcc_ideal ideal;
		struct engine_rates r;
		struct ibcc_engine *e;
		uint64_t end = 5 * MS + (i % 2 ? 20 * MS : n * WIRE * 8 * US / narrow[i / 2]);

		ibcc_model_defaults(&s.model);
		s.model.buffer_bytes =
			1000000; /* where packets for the narrow link never run out */
		s.model.routing = i % 2 ? IBCC_ROUTING_ADAPTIVE : IBCC_ROUTING_RANDOM;
		e = engine_new(s.topo, &s.model, i + 1);
		assert_int_equal(ibcc_engine_load(e, &s, NULL), 0);
		engine_rates(e, 5 * MS, end, &r);
		assert_int_equal(ibcc_ideal_compute(&s, 5 * MS, end, &ideal), 0);
		assert_near(ideal.flow_mbps[0], 2.0 * narrow[i / 2] * 2048 / WIRE, 1e-9);
		print_message("%u Mb/s, routing %d: %.1f MB/s, ideal %.1f\n", narrow[i / 2],
			      s.model.routing, r.mbytes[0], ideal.flow_mbps[0] / 8);
		if (s.model.routing == IBCC_ROUTING_RANDOM)
			assert_near(r.mbytes[0], ideal.flow_mbps[0] / 8, 4 / sqrt(2.0 * n));
		else
			assert_near(r.mbytes[0], QDR_MBPS / 8.0 * 2048 / WIRE, 0.005);
		ibcc_ideal_fini(&ideal);
		ibcc_engine_free(e);
		ibcc_topo_free(s.topo);
	}
}

/* Poisson arrivals at a switch's output, each served in a fixed time T, wait rho T / (2 (1 - rho))
 * on average (Pollaczek, Khinchine). They come from many sources on links so fast that packets
 * hardly ever wait there.
 */
static void test_poisson_queue(void **state)
{
	enum { SOURCES = 16, FAST_MBPS = 400000, SLOW_MBPS = 8000 };
	static const double load[] = { 0.3, 0.5, 0.8 };

	(void)state;
	for (size_t k = 0; k < sizeof(load) / sizeof(load[0]); k++) {
		uint32_t rate[SOURCES + 1] = { SLOW_MBPS };
		uint64_t packets = 0, latency_ps = 0, direct_ps;
		struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_EXPONENTIAL,
					    .rate_mbps =
						    (uint32_t)(load[k] * SLOW_MBPS / SOURCES) };
		struct ibcc_model m;
		struct ibcc_engine *e;
		struct ibcc_topo *t;
		double wait;

		for (unsigned int i = 1; i <= SOURCES; i++)
			rate[i] = FAST_MBPS;
		t = star(rate, SOURCES + 1);
		ibcc_model_defaults(&m);
		m.buffer_bytes = 100000000; /* never full */
		e = engine_new(t, &m, 7);
		for (unsigned int i = 1; i <= SOURCES; i++)
			assert_true(ibcc_engine_add_flow(e, &f, fabric_port(t, i, 1),
							 fabric_port(t, 0, 1)) >= 0);
		engine_run(e, 3000 * MS);
		for (unsigned int i = 0; i < SOURCES; i++) {
			struct ibcc_engine_flow v = engine_flow_read(e, i);

			packets += v.received_pkts;
			latency_ps += v.latency_sum_ps;
		}
		direct_ps = 2 * m.link_delay_ps + m.switch_delay_ps + T_SDR;
		wait = (double)latency_ps / (double)packets - (double)direct_ps;
		assert_near((double)packets, load[k] * 3000 * MS / T_SDR, 0.005);
		assert_near(wait, load[k] * T_SDR / (2 * (1 - load[k])), 0.02);
		ibcc_engine_free(e);
		ibcc_topo_free(t);
	}
}

/* A long link carries a buffer in a round trip: the header's way to the switch and through it, the
 * packet out of the buffer, the credit's way back.
 */
static void test_long_link(void **state)
{
	static const uint32_t rate[] = { QDR_MBPS, QDR_MBPS };

	(void)state;
	for (unsigned int packets = 1; packets <= 16; packets++) {
		struct ibcc_topo *t = star(rate, 2);
		struct engine_rates r;
		struct ibcc_model m;
		struct ibcc_engine *e;
		double trip_ps;

		ibcc_model_defaults(&m);
		m.link_delay_ps = 50 * US;          /* 10 km */
		m.buffer_bytes = packets * 33 * 64; /* 2074 bytes take 33 blocks */
		m.hca_buffer_bytes = 10000000;
		e = engine_new(t, &m, 1);
		engine_flow(e, t, 0, 1, 0);
		engine_rates(e, 2 * MS, 52 * MS, &r);
		trip_ps = 2.0 * (double)m.link_delay_ps + (double)m.switch_delay_ps +
			  (double)m.credit_delay_ps + T_QDR;
		assert_near(r.mbytes[0], packets * 2048 * 1e6 / trip_ps, 0.01);
		ibcc_engine_free(e);
		ibcc_topo_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line_rate), cmocka_unit_test(test_equal_shares),
		cmocka_unit_test(test_max_min),   cmocka_unit_test(test_poisson_queue),
		cmocka_unit_test(test_long_link), cmocka_unit_test(test_spread),
	};

	return cmocka_run_group_tests_name("engine_theory", tests, NULL, NULL);
}
