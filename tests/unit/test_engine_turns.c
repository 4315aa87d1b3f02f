/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Turns: queues of adapters and of switches get one packet each, counted when the choice is made.
 */
#include "tests/unit/engines.h"

#define NS   IBCC_PS_PER_NS
#define MS   IBCC_PS_PER_MS
#define T_PS 518500ull /* 2074 bytes at 32 Gb/s */

#define MAX_SENDERS 6u

/* Adapters 0..n - 1 at one switch, the last node; each at a rate of its own, or QDR for 0. */
static struct ibcc_topo *star(unsigned int n, const uint32_t *mbps)
{
	struct ibcc_topo *t = ibcc_topo_new();

	assert_non_null(t);
	for (unsigned int i = 0; i < n; i++)
		fabric_node(t, IBCC_NODE_CA, 1, (char[]){ 'a', (char)('a' + i), 0 });
	fabric_node(t, IBCC_NODE_SWITCH, n, "switch");
	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(ibcc_topo_link(t, i, 1, n, i + 1,
						mbps && mbps[i] ? mbps[i] : QDR_MBPS, 2048),
				 0);
	assert_int_equal(ibcc_route_compute(t), 0);
	return t;
}

/* One SL of an adapter rests after each of its packets, whether anything is marked or not. */
static void rest(struct ibcc_engine *e, uint32_t port, uint8_t sl, uint16_t entry)
{
	struct ibcc_cc_ca_setting s = { .Control_Map = (uint16_t)(1u << sl) };
	struct ibcc_cct cct = { .limit = 1, .entry = { 0, entry } };

	s.sl[sl].CCTI_Min = 1;
	assert_int_equal(ibcc_engine_set_ca_cc(e, port, &s), 0);
	assert_int_equal(ibcc_engine_set_cct(e, port, &cct), 0);
}

static uint64_t sent(struct ibcc_engine *e, uint32_t flow)
{
	return engine_flow_read(e, flow).sent_pkts;
}

/* Node 0 sends to each of the next n, the first flow with a delay; 1000 packet times. All find the
 * link free in turn, for each is ready again long before, or just when, all others had their turn.
 */
static void check_adapter(const struct ibcc_topo *t, enum ibcc_hca_service service, unsigned int n,
			  uint16_t entry)
{
	uint32_t flow[MAX_SENDERS];
	struct ibcc_engine *e;
	struct ibcc_model m;

	ibcc_model_defaults(&m);
	m.hca_service = service;
	e = engine_new(t, &m, 1);
	rest(e, fabric_port(t, 0, 1), 1, entry);
	for (uint32_t i = 0; i < n; i++)
		flow[i] = engine_flow(e, t, 0, i + 1, i == 0);
	engine_run(e, 1000 * T_PS * n - 1);
	for (uint32_t i = 0; i < n; i++)
		assert_in_range(sent(e, flow[i]), 999, 1001);
	ibcc_engine_free(e);
}

/* 32000 Mb/s for x and y are 16000 each, though x rests for an eighth of a packet, or for one,
 * which ends just when that of y does. When x is ready, y has been served last.
 */
static void test_adapter(void **state)
{
	struct ibcc_topo *t = star(6, NULL);

	(void)state;
	for (unsigned int service = IBCC_HCA_ARRIVAL; service <= IBCC_HCA_ROUND_ROBIN; service++) {
		check_adapter(t, service, 2, ibcc_cct_entry(3, 1));
		check_adapter(t, service, 2, ibcc_cct_entry(0, 1));
		check_adapter(t, service, 3, ibcc_cct_entry(3, 1));
		check_adapter(t, service, 3, ibcc_cct_entry(0, 2));
		check_adapter(t, service, 5, ibcc_cct_entry(3, 1));
		check_adapter(t, service, 5, ibcc_cct_entry(0, 4));
	}
	ibcc_topo_free(t);
}

/* The same where links have so many rates that the ports' events stand among all others. */
static void test_many_rates(void **state)
{
	static const uint32_t mbps[MAX_SENDERS] = { 32000, 54545, 100000, 16000, 8000, 40000 };
	static const uint32_t turned[MAX_SENDERS] = { 40000, 8000, 16000, 100000, 54545, 32000 };
	struct ibcc_topo *t = star(6, mbps);

	(void)state;
	check_adapter(t, IBCC_HCA_ROUND_ROBIN, 2, ibcc_cct_entry(0, 1));
	ibcc_topo_free(t);
	t = star(6, turned);
	for (unsigned int n = 0; n < 2; n++) {
		struct ibcc_engine *e;
		struct ibcc_model m;

		/* The last adapter's rate is the last to be known, so that it has no lanes. */
		ibcc_model_defaults(&m);
		m.hca_service = IBCC_HCA_ROUND_ROBIN;
		e = engine_new(t, &m, 1);
		rest(e, fabric_port(t, 5, 1), 1, ibcc_cct_entry(0, 1));
		engine_flow(e, t, 5, n ? 0 : 3, 1);
		engine_flow(e, t, 5, n ? 3 : 0, 0);
		engine_run(e, 2000 * T_PS - 1);
		assert_in_range(sent(e, 0), 999, 1001);
		assert_in_range(sent(e, 1), 999, 1001);
		ibcc_engine_free(e);
	}
	ibcc_topo_free(t);
}

/* Tables choose among VLs first: here, lane 0 and lane 1 in turn, so that each packet of lane 1
 * comes between two of lane 0, where x and y have turns of their own.
 */
static void test_adapter_lanes(void **state)
{
	struct ibcc_topo *t = star(4, NULL);
	struct ibcc_engine *e;
	struct ibcc_model m;

	(void)state;
	ibcc_model_defaults(&m);
	m.hca_service = IBCC_HCA_ROUND_ROBIN;
	m.vls = 2;
	m.vlarb.low = (struct ibcc_vlarb_table){ .n = 2, .entry = { { 0, 1 }, { 1, 1 } } };
	for (uint32_t i = 0; i < t->n_ports; i++)
		t->port[i].op_vls = 2;
	e = engine_new(t, &m, 1);
	/* x is ready an eighth into the packet of lane 1 that follows its own. */
	rest(e, fabric_port(t, 0, 1), 2, ibcc_cct_entry(3, 1));
	engine_flow(e, t, 0, 1, 2);
	engine_flow(e, t, 0, 2, 0);
	engine_flow(e, t, 0, 3, 1);
	engine_run(e, 4000 * T_PS - 1);
	assert_in_range(sent(e, 0), 999, 1001);
	assert_in_range(sent(e, 1), 999, 1001);
	assert_in_range(sent(e, 2), 1999, 2001);
	ibcc_engine_free(e);
	ibcc_topo_free(t);
}

/* A queue that has always something to send does not make another wait for two of its packets. With
 * 2048 bytes on the wire and no other delays, a packet that comes at any time waits for half of one
 * in the mean, 0.256 us, and takes 0.512 us itself. Where it waits for two, it is 1.280.
 */
static void test_switch_latency(void **state)
{
	static const enum ibcc_arbitration rule[] = { IBCC_ARBITRATION_INPUT,
						      IBCC_ARBITRATION_FLOW };
	struct ibcc_topo *t = star(3, NULL);

	(void)state;
	for (unsigned int i = 0; i < sizeof(rule) / sizeof(*rule); i++) {
		struct ibcc_flow_spec spec = { .arrivals = IBCC_ARRIVALS_EXPONENTIAL,
					       .load_permille = 10 };
		struct ibcc_engine_flow f;
		struct ibcc_engine *e;
		struct ibcc_model m;
		int b;

		ibcc_model_defaults(&m);
		m.header_bytes = 0;
		m.link_delay_ps = m.switch_delay_ps = m.credit_delay_ps = 0;
		m.arbitration = rule[i];
		e = engine_new(t, &m, 1);
		engine_flow(e, t, 0, 2, 0);
		b = ibcc_engine_add_flow(e, &spec, fabric_port(t, 1, 1), fabric_port(t, 2, 1));
		assert_true(b >= 0);
		engine_run(e, 200 * MS);
		f = engine_flow_read(e, (uint32_t)b);
		assert_in_range(f.received_pkts, 3500, 4300);
		assert_near((double)f.latency_sum_ps / (double)f.received_pkts / 1e6, 0.768, 0.02);
		ibcc_engine_free(e);
	}
	ibcc_topo_free(t);
}

/* Turns count packets, not bytes: data packets of some adapters, and from others acknowledgements
 * of half their size, which node 0 asks for faster than they get through to it. A round of d data
 * packets and a acknowledgements takes d + a / 2 packet times.
 */
static void check_switch(unsigned int n_data, unsigned int n_acks)
{
	unsigned int n = n_data + n_acks;
	struct ibcc_topo *t = star(n + 1, NULL);
	double rounds = 1000 / (n_data + n_acks / 2.);
	uint64_t data[MAX_SENDERS], acks[MAX_SENDERS];
	struct ibcc_engine *e;
	struct ibcc_model m;

	ibcc_model_defaults(&m);
	m.acks = true;
	m.ack_bytes = 1037;
	m.becn_delay_ps = 0;
	m.hca_service = IBCC_HCA_ROUND_ROBIN;
	e = engine_new(t, &m, 1);
	/* Node 0 acknowledges by its own link, where answers go first. So data comes from where it
	 * is wanted more than half the time only.
	 */
	for (uint32_t i = 1; i <= n; i++)
		engine_flow(e, t, i <= n_data ? i : 0, i <= n_data ? 0 : i, 0);
	engine_run(e, 2000 * T_PS);
	for (uint32_t i = 0; i < n; i++) {
		data[i] = engine_flow_read(e, i).received_pkts;
		acks[i] = engine_port_read(e, fabric_port(t, i + 1, 1)).xmit_pkts;
	}
	engine_run(e, 3000 * T_PS);
	for (uint32_t i = 0; i < n_data; i++)
		assert_near((double)(engine_flow_read(e, i).received_pkts - data[i]), rounds, 0.01);
	for (uint32_t i = n_data; i < n; i++)
		assert_near(
			(double)(engine_port_read(e, fabric_port(t, i + 1, 1)).xmit_pkts - acks[i]),
			rounds, 0.01);
	ibcc_engine_free(e);
	ibcc_topo_free(t);
}

static void test_switch_sizes(void **state)
{
	(void)state;
	check_switch(1, 1);
	check_switch(2, 1);
	check_switch(3, 2);
}

/* A host that sends slower than it receives owes answers all the time, to windows of 16 on two SLs.
 * They go in the order in which they were ready, so neither SL waits for the other.
 */
static void test_answers(void **state)
{
	struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_CLOSED,
				    .message_bytes = 2048,
				    .window = 16 };
	struct ibcc_topo *t = star(3, NULL);
	struct ibcc_model m;
	struct ibcc_engine *e;

	(void)state;
	ibcc_model_defaults(&m);
	m.acks = true;
	m.ack_bytes = 2000;
	e = engine_new(t, &m, 1);
	assert_int_equal(ibcc_engine_set_send_rate(e, fabric_port(t, 2, 1), 8000), 0);
	for (uint8_t i = 0; i < 2; i++) {
		f.sl = i;
		assert_int_equal(
			ibcc_engine_add_flow(e, &f, fabric_port(t, i, 1), fabric_port(t, 2, 1)), i);
	}
	engine_run(e, 2 * MS); /* 1000 answers of 2 us */
	for (uint32_t i = 0; i < 2; i++)
		assert_in_range(engine_flow_read(e, i).messages, 490, 510);
	ibcc_engine_free(e);
	ibcc_topo_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_adapter),       cmocka_unit_test(test_many_rates),
		cmocka_unit_test(test_adapter_lanes), cmocka_unit_test(test_switch_latency),
		cmocka_unit_test(test_switch_sizes),  cmocka_unit_test(test_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
