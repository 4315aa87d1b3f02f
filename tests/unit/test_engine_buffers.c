/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Nodes with buffers of their own, against arithmetic. A packet of 2074 bytes is 33 blocks. */
#include <errno.h>

#include "tests/unit/engines.h"

#define US     IBCC_PS_PER_US
#define T_QDR  (2074 * 250ull)
#define PACKET (33u * 64)

/* Credits for a buffer of n packets come back in a round trip, for the node alone that has it. Over
 * the link between the switches, or to the host, n packets pass in each.
 */
static void test_round_trip(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_model m;

	(void)state;
	ibcc_model_defaults(&m);
	m.buffer_bytes = m.hca_buffer_bytes = 1000000;
	m.link_delay_ps = 10 * US;
	for (unsigned int host = 0; host < 2; host++) {
		for (unsigned int n = 1; n <= 16; n *= 2) {
			uint64_t trip = 2 * m.link_delay_ps + m.credit_delay_ps + T_QDR +
					(host ? 0 : m.switch_delay_ps);
			uint64_t last =
				3 * m.link_delay_ps + 2 * m.switch_delay_ps + n * T_QDR + 99 * trip;
			struct ibcc_engine *e = engine_new(t, &m, 1);

			assert_int_equal(ibcc_engine_set_buffer(e, host ? LUSTRE_FAST : LUSTRE_SW2,
								n * PACKET + 63),
					 0);
			engine_flow(e, t, LUSTRE_SRC1, LUSTRE_FAST, 0);
			engine_run(e, last - 1);
			assert_int_equal(engine_flow_read(e, 0).received_pkts, 100 * n - 1);
			engine_run(e, last);
			assert_int_equal(engine_flow_read(e, 0).received_pkts, 100 * n);
			ibcc_engine_free(e);
		}
	}
	ibcc_topo_free(t);
}

/* Threshold 8 is half of the switch's own buffer. One adapter fills it, with a sink that is slow
 * behind another switch: 20 packets wait in the model's, 60 in that of its own, and mark.
 */
static void test_threshold(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_cc_sw_setting sw = { .Control_Map = IBCC_CC_SW_CONTROL_MAP_ALL,
					 .Threshold = 8 };
	struct ibcc_model m;

	(void)state;
	ibcc_model_defaults(&m);
	m.buffer_bytes = 20 * PACKET;
	ibcc_cc_mask_assign(&sw.Victim_Mask, 1, true);
	ibcc_cc_mask_assign(&sw.Victim_Mask, 5, true);
	for (unsigned int own = 0; own < 2; own++) {
		struct ibcc_engine *e = engine_new(t, &m, 1);

		if (own)
			assert_int_equal(ibcc_engine_set_buffer(e, LUSTRE_SW1, 60 * PACKET), 0);
		assert_int_equal(ibcc_engine_set_switch_cc(e, LUSTRE_SW1, &sw), 0);
		assert_int_equal(ibcc_engine_set_sink_rate(e, fabric_port(t, LUSTRE_SLOW, 1), 4000),
				 0);
		engine_flow(e, t, LUSTRE_SRC1, LUSTRE_SLOW, 0);
		engine_run(e, 2000 * US);
		assert_in_range(engine_port_read(e, fabric_port(t, LUSTRE_SW1, 5)).backlog_bytes,
				(own ? 58 : 18) * 2074, (own ? 60 : 20) * 2074);
		assert_true(engine_flow_read(e, 0).fecn > 300);
		ibcc_engine_free(e);
	}
	ibcc_topo_free(t);
}

static void test_limits(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_BACKLOGGED, .packet_bytes = 4000 };
	struct ibcc_model m;
	struct ibcc_engine *e;

	(void)state;
	ibcc_model_defaults(&m);
	e = engine_new(t, &m, 1);
	assert_int_equal(ibcc_engine_set_buffer(e, LUSTRE_SW1, PACKET - 1), -EINVAL);
	assert_int_equal(ibcc_engine_set_buffer(e, 1000, PACKET), -EINVAL);
	assert_int_equal(ibcc_engine_set_buffer(e, LUSTRE_SW1, PACKET), 0);
	assert_int_equal(ibcc_engine_add_flow(e, &f, fabric_port(t, LUSTRE_SRC1, 1),
					      fabric_port(t, LUSTRE_FAST, 1)),
			 -EINVAL);
	engine_flow(e, t, LUSTRE_SRC1, LUSTRE_FAST, 0);
	assert_int_equal(ibcc_engine_set_buffer(e, LUSTRE_SW1, PACKET), -EINVAL);
	engine_run(e, 100 * US);
	ibcc_engine_free(e);
	m.flow_control = IBCC_FLOW_CONTROL_PAUSE;
	m.pause_headroom_bytes = 10000;
	e = engine_new(t, &m, 1);
	assert_int_equal(ibcc_engine_set_buffer(e, LUSTRE_SW1, 19999), -EINVAL);
	assert_int_equal(ibcc_engine_set_buffer(e, LUSTRE_SW1, 20000), 0);
	ibcc_engine_free(e);
	ibcc_topo_free(t);
}

/* With PAUSE, a switch stops its peer at its own buffer less the headroom. */
static void test_pause(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	uint32_t in = fabric_port(t, LUSTRE_SW2, 5);
	struct ibcc_model m;

	(void)state;
	ibcc_model_defaults(&m);
	m.flow_control = IBCC_FLOW_CONTROL_PAUSE;
	m.buffer_bytes = m.hca_buffer_bytes = 200000;
	m.pause_headroom_bytes = 20000;
	for (unsigned int own = 0; own < 2; own++) {
		struct ibcc_engine *e = engine_new(t, &m, 1);
		uint64_t xoff = own ? 80000 : 180000, most = 0;

		if (own)
			assert_int_equal(ibcc_engine_set_buffer(e, LUSTRE_SW2, 100000), 0);
		assert_int_equal(ibcc_engine_set_sink_rate(e, fabric_port(t, LUSTRE_SLOW, 1), 4000),
				 0);
		engine_flow(e, t, LUSTRE_SRC1, LUSTRE_SLOW, 0);
		for (uint64_t at = 0; at < 1000 * US; at += US) {
			engine_run(e, at);
			if (engine_port_read(e, in).held_bytes > most)
				most = engine_port_read(e, in).held_bytes;
		}
		assert_in_range(most, xoff + 1, xoff + 10000);
		assert_true(engine_port_read(e, in).pauses_sent > 0);
		ibcc_engine_free(e);
	}
	ibcc_topo_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_threshold),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_pause),
	};

	return cmocka_run_group_tests_name("engine_buffers", tests, NULL, NULL);
}
