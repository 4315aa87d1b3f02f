/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Flows whose packets have sizes of their own, against arithmetic. Packets of 2074, 538 and 90
 * bytes with their headers are 33, 9 and 2 blocks of 64 bytes.
 */
#include <errno.h>

#include "tests/unit/engines.h"

#define NS           IBCC_PS_PER_NS
#define US           IBCC_PS_PER_US
#define HEADER       26u
#define T(payload)   (((payload) + HEADER) * 250ull) /* time of a packet at 4X QDR */
#define HOP_PS       (125 * NS)                      /* link and switch of the default model */
#define WAY(payload) (2 * HOP_PS + T(payload) + 25 * NS)

static uint32_t sized_flow(struct ibcc_engine *e, const struct ibcc_topo *t, uint32_t from,
			   uint32_t to, uint32_t packet_bytes, uint8_t sl)
{
	struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_BACKLOGGED,
				    .packet_bytes = packet_bytes,
				    .sl = sl };
	int i = ibcc_engine_add_flow(e, &f, fabric_port(t, from, 1), fabric_port(t, to, 1));

	assert_true(i >= 0);
	return (uint32_t)i;
}

/* A packet takes the time of its own bytes, and the flow offers what it was asked for. */
static void test_times(void **state)
{
	static const uint32_t sizes[] = { 2048, 512, 64, 0 };
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_model m;

	(void)state;
	ibcc_model_defaults(&m);
	for (unsigned int i = 0; i < 4; i++) {
		uint32_t payload = sizes[i] ? sizes[i] : 2048;
		struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_PERIODIC,
					    .packet_bytes = sizes[i] };
		struct ibcc_engine_flow n;

		for (unsigned int by = 0; by < 2; by++) {
			struct ibcc_engine *e = engine_new(t, &m, 1);

			f.load_permille = by ? 0 : 100;
			f.rate_mbps = by ? QDR_MBPS / 10 : 0;
			assert_int_equal(ibcc_engine_add_flow(e, &f, fabric_port(t, LUSTRE_SRC1, 1),
							      fabric_port(t, LUSTRE_FAST, 1)),
					 0);
			engine_run(e, WAY(payload) - 1);
			assert_int_equal(engine_flow_read(e, 0).received_pkts, 0);
			engine_run(e, WAY(payload));
			assert_int_equal(engine_flow_read(e, 0).received_pkts, 1);
			engine_run(e, 999 * 10 * T(payload) + WAY(payload) - 1);
			assert_int_equal(engine_flow_read(e, 0).received_pkts, 999);
			engine_run(e, 999 * 10 * T(payload) + WAY(payload));
			n = engine_flow_read(e, 0);
			assert_int_equal(n.received_pkts, 1000);
			assert_true(n.received_bytes == 1000ull * payload);
			assert_true(n.latency_sum_ps == 1000 * WAY(payload));
			ibcc_engine_free(e);
		}
	}
	ibcc_topo_free(t);
}

/* Two sources send to one sink in turn, a packet each, so the octets are shared by the sizes. All
 * counters count the octets that passed.
 */
static void test_shares_and_counters(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	uint32_t sink = fabric_port(t, LUSTRE_FAST, 1), out = fabric_port(t, LUSTRE_SW2, 2), port;
	struct ibcc_engine_flow large, small;
	struct ibcc_engine_port p, s;
	struct ibcc_model m;
	struct ibcc_engine *e;

	(void)state;
	ibcc_model_defaults(&m);
	e = engine_new(t, &m, 1);
	sized_flow(e, t, LUSTRE_SRC1, LUSTRE_FAST, 0, 0);
	sized_flow(e, t, LUSTRE_SRC2, LUSTRE_FAST, 512, 1);
	engine_run(e, WAY(2048) + 1000 * (T(2048) + T(512)));
	large = engine_flow_read(e, 0);
	small = engine_flow_read(e, 1);
	assert_in_range(large.received_pkts, 999, 1001);
	assert_in_range(small.received_pkts, 999, 1001);
	p = engine_port_read(e, sink);
	assert_true(p.rcv_bytes == large.received_pkts * 2072 + small.received_pkts * 536);
	assert_true(p.rcv_payload_bytes == large.received_pkts * 2048 + small.received_pkts * 512);
	assert_true(p.rcv_payload_bytes == large.received_bytes + small.received_bytes);
	s = engine_port_read(e, out);
	assert_true(s.sl_xmit_bytes[0] % 2072 == 0);
	assert_true(s.sl_xmit_bytes[1] % 536 == 0);
	assert_in_range(s.sl_xmit_bytes[0] / 2072, large.received_pkts, large.received_pkts + 1);
	assert_in_range(s.sl_xmit_bytes[1] / 536, small.received_pkts, small.received_pkts + 1);
	assert_true(s.xmit_bytes == s.sl_xmit_bytes[0] + s.sl_xmit_bytes[1]);
	port = fabric_port(t, LUSTRE_SRC2, 1);
	s = engine_port_read(e, port);
	assert_true(s.xmit_bytes == small.sent_pkts * 536);
	assert_true(s.xmit_data_pkts == small.sent_pkts);
	ibcc_engine_free(e);
	ibcc_topo_free(t);
}

/* A buffer of 36 blocks holds one packet of 33 blocks or four of 9, and credits for it come back in
 * a round trip.
 */
static void test_credits(void **state)
{
	static const struct {
		uint32_t payload, n;
	} of[] = { { 2048, 1 }, { 512, 4 }, { 64, 18 } };
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_model m;

	(void)state;
	ibcc_model_defaults(&m);
	m.buffer_bytes = 36 * 64;
	m.link_delay_ps = 10 * US;
	for (unsigned int i = 0; i < 3; i++) {
		uint64_t trip = 2 * m.link_delay_ps + m.switch_delay_ps + m.credit_delay_ps +
				T(of[i].payload);
		uint64_t last = 3 * m.link_delay_ps + 2 * m.switch_delay_ps +
				of[i].n * T(of[i].payload) + 99 * trip;
		struct ibcc_engine *e = engine_new(t, &m, 1);

		sized_flow(e, t, LUSTRE_SRC1, LUSTRE_FAST, of[i].payload, 0);
		engine_run(e, last - 1);
		assert_int_equal(engine_flow_read(e, 0).received_pkts, 100 * of[i].n - 1);
		engine_run(e, last);
		assert_int_equal(engine_flow_read(e, 0).received_pkts, 100 * of[i].n);
		ibcc_engine_free(e);
	}
	ibcc_topo_free(t);
}

/* Flows of two sizes and SLs at one adapter share its VL by turns, also where the buffer behind it
 * never has room for both packets: the shorter one does not take the credits that the longer one
 * waits for.
 */
static void test_no_overtaking(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_model m;
	struct ibcc_engine *e;
	uint64_t large, small;

	(void)state;
	ibcc_model_defaults(&m);
	m.buffer_bytes = 40 * 64;
	for (int turn = 0; turn < 2; turn++) {
		m.hca_service = turn ? IBCC_HCA_ROUND_ROBIN : IBCC_HCA_ARRIVAL;
		e = engine_new(t, &m, 1);
		sized_flow(e, t, LUSTRE_SRC1, LUSTRE_FAST, 2048, 0);
		sized_flow(e, t, LUSTRE_SRC1, LUSTRE_SLOW, 512, 1);
		engine_run(e, 1000 * US);
		large = engine_flow_read(e, 0).received_pkts;
		small = engine_flow_read(e, 1).received_pkts;
		assert_true(large > 500);
		assert_in_range(small, large - 1, large + 1);
		ibcc_engine_free(e);
	}
	ibcc_topo_free(t);
}

/* After a packet, a throttled queue pair rests for as many times of that packet as its entry says:
 * for 1.5 of them, as one of 6 quarters.
 */
static void test_throttled(void **state)
{
	struct ibcc_cc_ca_setting s = { .Control_Map = 0xffff };
	struct ibcc_cct cct = { .limit = 1 };
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_model m;

	(void)state;
	ibcc_model_defaults(&m);
	cct.entry[1] = ibcc_cct_entry(2, 6);
	for (unsigned int sl = 0; sl < 16; sl++)
		s.sl[sl].CCTI_Min = 1;
	for (int per_sl = 0; per_sl < 2; per_sl++) {
		struct ibcc_engine *e = engine_new(t, &m, 1);
		uint32_t port = fabric_port(t, LUSTRE_SRC1, 1);
		uint64_t period = T(512) + T(512) / 4 * 6;

		s.Port_Control = per_sl ? IBCC_CC_PORT_CONTROL_SL : 0;
		sized_flow(e, t, LUSTRE_SRC1, LUSTRE_FAST, 512, 0);
		assert_int_equal(ibcc_engine_set_ca_cc(e, port, &s), 0);
		assert_int_equal(ibcc_engine_set_cct(e, port, &cct), 0);
		engine_run(e, WAY(512) + 999 * period - 1);
		assert_int_equal(engine_flow_read(e, 0).received_pkts, 999);
		engine_run(e, WAY(512) + 999 * period);
		assert_int_equal(engine_flow_read(e, 0).received_pkts, 1000);
		ibcc_engine_free(e);
	}
	ibcc_topo_free(t);
}

/* A sink of 4 Gb/s of payload takes 512 bytes each 1.024 us, and Packet_Size lets packets of 9
 * blocks pass unmarked from 10 on.
 */
static void test_sink_and_marks(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_model m;

	(void)state;
	ibcc_model_defaults(&m);
	for (uint8_t size = 9; size <= 10; size++) {
		struct ibcc_cc_sw_setting sw = { .Control_Map = IBCC_CC_SW_CONTROL_MAP_ALL,
						 .Threshold = 15,
						 .Packet_Size = size };
		struct ibcc_engine *e = engine_new(t, &m, 1);

		ibcc_cc_mask_assign(&sw.Victim_Mask, 1, true);
		assert_int_equal(ibcc_engine_set_switch_cc(e, LUSTRE_SW2, &sw), 0);
		assert_int_equal(ibcc_engine_set_sink_rate(e, fabric_port(t, LUSTRE_SLOW, 1), 4000),
				 0);
		sized_flow(e, t, LUSTRE_SRC1, LUSTRE_SLOW, 512, 0);
		engine_run(e, WAY(512) + 1000 * 1024 * NS - 1);
		assert_int_equal(engine_flow_read(e, 0).received_pkts, 999);
		engine_run(e, WAY(512) + 1000 * 1024 * NS);
		assert_int_equal(engine_flow_read(e, 0).received_pkts, 1000);
		if (size == 9)
			assert_in_range(engine_flow_read(e, 0).fecn, 900, 1000);
		else
			assert_int_equal(engine_flow_read(e, 0).fecn, 0);
		ibcc_engine_free(e);
	}
	ibcc_topo_free(t);
}

/* Messages are rounded up to packets of the flow: 1000 bytes are two of 512. */
static void test_messages(void **state)
{
	struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_CLOSED,
				    .packet_bytes = 512,
				    .message_bytes = 1000,
				    .window = 1 };
	struct ibcc_topo *t = fabric_lustre();
	uint64_t period = WAY(512) + T(512);
	struct ibcc_model m;
	struct ibcc_engine *e;

	(void)state;
	ibcc_model_defaults(&m);
	e = engine_new(t, &m, 1);
	assert_int_equal(ibcc_engine_add_flow(e, &f, fabric_port(t, LUSTRE_SRC1, 1),
					      fabric_port(t, LUSTRE_FAST, 1)),
			 0);
	engine_run(e, 100 * period - 1);
	assert_int_equal(engine_flow_read(e, 0).messages, 99);
	engine_run(e, 100 * period);
	assert_int_equal(engine_flow_read(e, 0).messages, 100);
	assert_int_equal(engine_flow_read(e, 0).received_bytes, 100 * 1024);
	ibcc_engine_free(e);
	ibcc_topo_free(t);
}

static void test_limits(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_BACKLOGGED };
	uint32_t from = fabric_port(t, LUSTRE_SRC1, 1), to = fabric_port(t, LUSTRE_FAST, 1);
	struct ibcc_model m;
	struct ibcc_engine *e;

	(void)state;
	ibcc_model_defaults(&m);
	m.buffer_bytes = 40 * 64 + 63;
	e = engine_new(t, &m, 1);
	f.packet_bytes = 40 * 64 - HEADER + 1;
	assert_int_equal(ibcc_engine_add_flow(e, &f, from, to), -EINVAL);
	for (unsigned int i = 0; i < IBCC_OTHER_SIZES; i++) {
		f.packet_bytes = 40 * 64 - HEADER - i;
		assert_int_equal(ibcc_engine_add_flow(e, &f, from, to), i);
	}
	f.packet_bytes = 64;
	assert_int_equal(ibcc_engine_add_flow(e, &f, from, to), -EINVAL);
	f.packet_bytes = 40 * 64 - HEADER;
	assert_int_equal(ibcc_engine_add_flow(e, &f, from, to), IBCC_OTHER_SIZES);
	f.packet_bytes = 2048;
	assert_int_equal(ibcc_engine_add_flow(e, &f, from, to), IBCC_OTHER_SIZES + 1);
	engine_run(e, 100 * US);
	ibcc_engine_free(e);
	ibcc_topo_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),     cmocka_unit_test(test_shares_and_counters),
		cmocka_unit_test(test_credits),   cmocka_unit_test(test_no_overtaking),
		cmocka_unit_test(test_throttled), cmocka_unit_test(test_sink_and_marks),
		cmocka_unit_test(test_messages),  cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests_name("engine_sizes", tests, NULL, NULL);
}
