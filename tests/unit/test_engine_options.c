/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What models may do besides what InfiniBand's switches do, against arithmetic. */
#include "tests/unit/engines.h"

#define NS IBCC_PS_PER_NS
#define US IBCC_PS_PER_US
#define MS IBCC_PS_PER_MS

#define WIRE     2074u /* 2048 + 26 */
#define LINK     (25 * NS)
#define SWITCH   (100 * NS)
#define T(mbps)  (WIRE * 8000000ull / (mbps))
#define MAX_HOPS 3u

/* Adapters a (node 0) and b (1) at the ends of a chain of switches, links at these rates. */
static struct ibcc_topo *chain(unsigned int n_switches, const uint32_t *mbps)
{
	struct ibcc_topo *t = ibcc_topo_new();

	assert_non_null(t);
	fabric_node(t, IBCC_NODE_CA, 1, "a");
	fabric_node(t, IBCC_NODE_CA, 1, "b");
	for (unsigned int i = 0; i < n_switches; i++)
		fabric_node(t, IBCC_NODE_SWITCH, 2, "s");
	for (unsigned int i = 0; i <= n_switches; i++)
		assert_int_equal(ibcc_topo_link(t, i ? 1 + i : 0, i ? 2 : 1,
						i < n_switches ? 2 + i : 1, 1, mbps[i], 2048),
				 0);
	assert_int_equal(ibcc_route_compute(t), 0);
	return t;
}

/* Of the first packet from a to b, with nothing else under way. */
static uint64_t latency(const struct ibcc_topo *t, const struct ibcc_model *m)
{
	struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_PERIODIC, .rate_mbps = 10 };
	struct ibcc_engine *e = engine_new(t, m, 1);
	struct ibcc_engine_flow r;

	assert_int_equal(ibcc_engine_add_flow(e, &f, fabric_port(t, 0, 1), fabric_port(t, 1, 1)),
			 0);
	engine_run(e, 100 * US);
	r = engine_flow_read(e, 0);
	assert_int_equal(r.received_pkts, 1);
	ibcc_engine_free(e);
	return r.latency_sum_ps;
}

static void test_switching(void **state)
{
	static const struct {
		unsigned int n;
		uint32_t mbps[MAX_HOPS + 1];
		/* On the links, in packet times of 8000 Mb/s by four. */
		unsigned int cut, store;
	} c[] = {
		{ 1, { 32000, 32000 }, 1, 2 },
		{ 2, { 32000, 32000, 32000 }, 1, 3 },
		{ 3, { 32000, 32000, 32000, 32000 }, 1, 4 },
		{ 1, { 8000, 32000 }, 4, 5 },
		{ 1, { 32000, 8000 }, 4, 5 },
		/* Held at one switch for the next not to run dry, and then slow again. */
		{ 2, { 8000, 32000, 8000 }, 4 + 3, 9 },
		{ 2, { 32000, 8000, 32000 }, 4, 6 },
		{ 3, { 16000, 32000, 8000, 32000 }, 2 + 3, 2 + 1 + 4 + 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct ibcc_topo *t = chain(c[i].n, c[i].mbps);
		uint64_t rest = (c[i].n + 1) * LINK + c[i].n * SWITCH;
		struct ibcc_model m;

		ibcc_model_defaults(&m);
		assert_true(latency(t, &m) == rest + c[i].cut * T(32000));
		m.vls = 2; /* another path of the code */
		assert_true(latency(t, &m) == rest + c[i].cut * T(32000));
		m.switching = IBCC_SWITCHING_STORE_AND_FORWARD;
		assert_true(latency(t, &m) == rest + c[i].store * T(32000));
		m.vls = 1;
		assert_true(latency(t, &m) == rest + c[i].store * T(32000));
		ibcc_topo_free(t);
	}
}

/* Packets behind one another overlap on different links: full rate, also of the slowest link. */
static void test_stored_throughput(void **state)
{
	static const uint32_t mbps[] = { 32000, 8000, 16000, 32000 };
	struct ibcc_topo *t = chain(3, mbps);
	struct engine_rates r;
	struct ibcc_engine *e;
	struct ibcc_model m;

	(void)state;
	ibcc_model_defaults(&m);
	m.switching = IBCC_SWITCHING_STORE_AND_FORWARD;
	e = engine_new(t, &m, 1);
	engine_flow(e, t, 0, 1, 0);
	engine_rates(e, 1 * MS, 5 * MS, &r);
	assert_near(r.mbytes[0], 1000.0 * 2048 / 2074, 0.002);
	ibcc_engine_free(e);
	ibcc_topo_free(t);
}

/* a and b send to c by one switch, whose port to c marks all that passes when more than one packet
 * waits. Of two at once, the second finds the first's backlog.
 */
static struct ibcc_topo *two_to_one(void)
{
	struct ibcc_topo *t = ibcc_topo_new();

	assert_non_null(t);
	fabric_node(t, IBCC_NODE_CA, 1, "a");
	fabric_node(t, IBCC_NODE_CA, 1, "b");
	fabric_node(t, IBCC_NODE_CA, 1, "c");
	fabric_node(t, IBCC_NODE_SWITCH, 4, "s");
	for (unsigned int i = 0; i < 3; i++)
		fabric_link(t, i, 1, 3, i + 1);
	assert_int_equal(ibcc_route_compute(t), 0);
	return t;
}

/* Steps from delivery to delivery: each mark that comes out raises CCTI by one the delay later, to
 * the picosecond, and nothing but data crosses the fabric, save ACKs if there are any.
 */
static void out_of_band(bool acks, uint64_t delay_ps)
{
	struct ibcc_topo *t = two_to_one();
	uint64_t fecn = 0, seen[64] = { 0 }, n = 0;
	struct ibcc_engine_totals o;
	struct ibcc_engine_flow f;
	struct ibcc_engine *e;
	struct ibcc_model m;

	ibcc_model_defaults(&m);
	m.becn_path = IBCC_BECN_OUT_OF_BAND;
	m.becn_delay_ps = delay_ps;
	m.acks = acks;
	e = engine_new(t, &m, 1);
	engine_flow(e, t, 0, 2, 0);
	engine_flow(e, t, 1, 2, 0);
	engine_reaction(e, t, 1, 0, 100); /* indices stay */
	engine_marking(e, t, 3, 3, 15, 0);
	/* Find out when marked packets of the first flow arrive, then look again. */
	for (uint64_t at = 0; n < 5; at += 1 * NS) {
		assert_true(at < 1 * MS);
		assert_int_equal(ibcc_engine_run(e, at), 0);
		f = engine_flow_read(e, 0);
		for (; fecn < f.fecn; fecn++)
			seen[n++] = at;
	}
	engine_checked(e);
	ibcc_engine_free(e);
	e = engine_new(t, &m, 1);
	engine_flow(e, t, 0, 2, 0);
	engine_flow(e, t, 1, 2, 0);
	engine_reaction(e, t, 1, 0, 100);
	engine_marking(e, t, 3, 3, 15, 0);
	for (unsigned int i = 0; i < n; i++) {
		engine_run(e, seen[i] - 1 * NS + delay_ps - !!delay_ps);
		assert_int_equal(engine_flow_read(e, 0).ccti, i);
		engine_run(e, seen[i] + delay_ps);
		assert_int_equal(engine_flow_read(e, 0).ccti, i + 1);
		assert_int_equal(engine_flow_read(e, 0).becn, i + 1);
	}
	assert_int_equal(engine_port_read(e, fabric_port(t, 0, 1)).rcv_becn, n);
	assert_int_equal(engine_port_read(e, fabric_port(t, 0, 1)).sl_rcv_becn[0], n);
	engine_run(e, 2 * MS);
	ibcc_engine_totals(e, &o);
	if (!acks) {
		assert_int_equal(o.ack_hops, 0);
		assert_int_equal(engine_port_read(e, fabric_port(t, 2, 1)).xmit_pkts, 0);
	} else {
		assert_near((double)o.ack_hops, (double)o.delivered * 2, 0.01);
	}
	ibcc_engine_free(e);
	ibcc_topo_free(t);
}

static void test_out_of_band(void **state)
{
	(void)state;
	out_of_band(false, 1 * US);
	out_of_band(true, 1 * US);
	out_of_band(false, 0);
	out_of_band(true, 7 * NS);
}

/* Hosts at one switch, each at a rate of its own. */
static struct ibcc_topo *star(unsigned int n, const uint32_t *mbps)
{
	struct ibcc_topo *t = ibcc_topo_new();

	assert_non_null(t);
	for (unsigned int i = 0; i < n; i++)
		fabric_node(t, IBCC_NODE_CA, 1, "h");
	fabric_node(t, IBCC_NODE_SWITCH, 36, "s");
	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(ibcc_topo_link(t, i, 1, n, i + 1, mbps[i], 2048), 0);
	assert_int_equal(ibcc_route_compute(t), 0);
	return t;
}

/* A packet for b and one for c, one behind the other, to outputs that take four times as long to
 * send them: the second waits for the first, which began when its header was there.
 */
static void test_reads_latency(void **state)
{
	static const uint32_t mbps[] = { 32000, 8000, 8000 };
	struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_PERIODIC, .rate_mbps = 10 };
	struct ibcc_topo *t = star(3, mbps);
	struct ibcc_model m;

	(void)state;
	ibcc_model_defaults(&m);
	for (int one = 0; one < 2; one++) {
		struct ibcc_engine *e;

		m.switch_reads = one ? IBCC_SWITCH_READS_ONE : IBCC_SWITCH_READS_ALL;
		e = engine_new(t, &m, 1);
		for (uint32_t to = 1; to <= 2; to++)
			assert_true(ibcc_engine_add_flow(e, &f, fabric_port(t, 0, 1),
							 fabric_port(t, to, 1)) >= 0);
		engine_run(e, 100 * US);
		assert_true(engine_flow_read(e, 0).latency_sum_ps == 2 * LINK + SWITCH + T(8000));
		assert_true(engine_flow_read(e, 1).latency_sum_ps ==
			    2 * LINK + SWITCH + (one ? 2 * T(8000) - T(32000) : T(8000)));
		ibcc_engine_free(e);
	}
	ibcc_topo_free(t);
}

struct share {
	uint32_t from, to;
	double mbps[2]; /* all, one */
};

/* What backlogged flows get, of payload. Buffers do not fill, for then the order of what is there
 * would decide which flow gets what.
 */
static void check_shares(const uint32_t *rates, unsigned int n_hosts, const struct share *s,
			 unsigned int n, enum ibcc_arbitration arbitration, uint8_t vls)
{
	struct ibcc_topo *t = star(n_hosts, rates);
	struct ibcc_model m;

	ibcc_model_defaults(&m);
	m.hca_service = IBCC_HCA_ROUND_ROBIN;
	m.buffer_bytes = 32u << 20;
	m.arbitration = arbitration;
	m.vls = vls;
	for (int one = 0; one < 2; one++) {
		struct engine_rates r;
		struct ibcc_engine *e;

		m.switch_reads = one ? IBCC_SWITCH_READS_ONE : IBCC_SWITCH_READS_ALL;
		e = engine_new(t, &m, 1);
		for (unsigned int i = 0; i < n; i++)
			engine_flow(e, t, s[i].from, s[i].to, (uint8_t)(i % vls));
		engine_rates(e, 1 * MS, 5 * MS, &r);
		for (unsigned int i = 0; i < n; i++)
			assert_near(r.mbytes[i], s[i].mbps[one] / 8 * 2048 / WIRE, 0.01);
		ibcc_engine_free(e);
	}
	ibcc_topo_free(t);
}

static void test_reads(void **state)
{
	static const enum ibcc_arbitration arbitrations[] = { IBCC_ARBITRATION_INPUT,
							      IBCC_ARBITRATION_FLOW,
							      IBCC_ARBITRATION_FIFO };
	/* One input for two outputs of half its rate: both at once, or by turns. */
	static const uint32_t slow[] = { 32000, 16000, 16000 };
	static const struct share halves[] = { { 0, 1, { 16000, 8000 } },
					       { 0, 2, { 16000, 8000 } } };
	/* For three: those that wait go round. */
	static const uint32_t three[] = { 32000, 16000, 16000, 16000 };
	static const struct share thirds[] = { { 0, 1, { 32000 / 3.0, 16000 / 3.0 } },
					       { 0, 2, { 32000 / 3.0, 16000 / 3.0 } },
					       { 0, 3, { 32000 / 3.0, 16000 / 3.0 } } };
	/* Two inputs for two outputs: they cross, and nothing is lost by it. */
	static const uint32_t equal[] = { 32000, 32000, 32000, 32000 };
	static const struct share cross[] = { { 0, 2, { 16000, 16000 } },
					      { 0, 3, { 16000, 16000 } },
					      { 1, 2, { 16000, 16000 } },
					      { 1, 3, { 16000, 16000 } } };

	(void)state;
	for (int i = 0; i < 3; i++) {
		check_shares(slow, 3, halves, 2, arbitrations[i], 1);
		check_shares(slow, 3, halves, 2, arbitrations[i], 2);
		check_shares(three, 4, thirds, 3, arbitrations[i], 1);
		check_shares(equal, 4, cross, 4, arbitrations[i], 1);
	}
}

/* The first input serves two outputs by turns, the second has the other half of one of them: an
 * input that is passed over keeps its turn.
 */
static void test_reads_passed_over(void **state)
{
	static const uint32_t rates[] = { 32000, 32000, 32000, 32000 };
	static const struct share s[] = { { 0, 2, { 16000, 16000 } },
					  { 0, 3, { 16000, 16000 } },
					  { 1, 3, { 16000, 16000 } } };

	(void)state;
	check_shares(rates, 4, s, 3, IBCC_ARBITRATION_INPUT, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_switching),   cmocka_unit_test(test_stored_throughput),
		cmocka_unit_test(test_out_of_band), cmocka_unit_test(test_reads_latency),
		cmocka_unit_test(test_reads),       cmocka_unit_test(test_reads_passed_over),
	};

	return cmocka_run_group_tests_name("engine_options", tests, NULL, NULL);
}
