/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* PAUSE by arithmetic: when it is sent, how long it lasts, that it keeps buffers from overflowing,
 * and that they overflow without it.
 */
#include <errno.h>

#include "ether.h"

/* Packet k comes in at (k - 1) * 1.2 + 1 us. The first goes out at once, at 1 Gb/s, so that the
 * next does at 13 us. The fifth makes it 6000 bytes, above XOFF: at 5.8 us. The sender knows 1.5 us
 * later, at 7.3 us, when it has begun the seventh. Going out at 13, 25, 37 and 49 us leaves 3000
 * bytes, which is XON; the fifth's last bit is out at 61 us, and the sender goes on at 62.5 us.
 */
static void test_timing(void **state)
{
	struct ibcc_engine_port c;
	struct ether x;
	uint32_t f;

	(void)state;
	ether_model(&x, 1000);
	x.model.buffer_bytes = 6000;
	x.model.pause_headroom_bytes = 1500;
	ether_start(&x);
	f = ether_flow(&x, ETHER_A, ETHER_C);
	engine_run(x.e, 58 * US / 10 - 1);
	assert_int_equal(ether_port(&x, ETHER_SWITCH, 1).held_bytes, 4500);
	assert_int_equal(ether_port(&x, ETHER_SWITCH, 1).pauses_sent, 0);
	engine_run(x.e, 58 * US / 10);
	assert_int_equal(ether_port(&x, ETHER_SWITCH, 1).held_bytes, 6000);
	assert_int_equal(ether_port(&x, ETHER_SWITCH, 1).pauses_sent, 1);
	engine_run(x.e, 73 * US / 10 - 1);
	assert_int_equal(engine_flow_read(x.e, f).sent_pkts, 7);
	assert_true(ether_port(&x, ETHER_A, 1).pause_ps == 0);
	engine_run(x.e, 625 * US / 10 - 1);
	assert_int_equal(engine_flow_read(x.e, f).sent_pkts, 7);
	c = ether_port(&x, ETHER_A, 1);
	assert_true(c.pause_ps == 552 * US / 10 - 1);
	/* XmitWait runs where PAUSE stands in the way: from the seventh's end on. */
	assert_true(c.xmit_wait_ps == 541 * US / 10 - 1);
	engine_run(x.e, 625 * US / 10);
	assert_int_equal(engine_flow_read(x.e, f).sent_pkts, 8);
	engine_run(x.e, 67 * US);
	assert_true(ether_port(&x, ETHER_A, 1).pause_ps == 552 * US / 10);
	ether_free(&x);
}

/* A tenth of the rate: stopped nine tenths of the time. A cycle fills from XON to XOFF at the
 * difference of the rates and drains at the lower: 50000 bytes in 44 and 400 us. After XOFF more
 * comes for 3.1 us (the message, half a packet, the link), which takes 28 us to drain; after
 * XON 14.5 us go by (a packet's last bit, the message, the link), which takes 2 us to fill.
 */
static void test_cycle(void **state)
{
	struct ibcc_engine_port c;
	double share, cycle_us;
	struct ether x;

	(void)state;
	ether_model(&x, 1000);
	x.model.buffer_bytes = x.model.hca_buffer_bytes = 200000;
	x.model.pause_headroom_bytes = 50000;
	ether_start(&x);
	ether_flow(&x, ETHER_A, ETHER_C);
	engine_run(x.e, 200000 * US);
	c = ether_port(&x, ETHER_A, 1);
	share = (double)c.pause_ps / (double)(200000 * US);
	cycle_us = 200000.0 / (double)ether_port(&x, ETHER_SWITCH, 1).pauses_sent;
	print_message("paused %.4f, each %.1f us\n", share, cycle_us);
	assert_near(share, 0.9, 0.01);
	assert_near(cycle_us, 492, 0.04);
	assert_near((double)engine_port_read(x.e, fabric_port(x.topo, ETHER_C, 1)).rcv_data_pkts,
		    200000.0 / 12, 0.001);
	ether_free(&x);
}

/* Two senders at line rate into a slow sink: every buffer stays within its size, nothing is lost,
 * and both ingress ports take the same part.
 */
static void test_no_overflow(void **state)
{
	struct ibcc_engine_totals o;
	struct ether x;
	uint32_t f[2];

	(void)state;
	ether_model(&x, ETHER_MBPS);
	x.model.buffer_bytes = 64000;
	ether_start(&x);
	assert_int_equal(ibcc_engine_set_sink_rate(x.e, fabric_port(x.topo, ETHER_C, 1), 500), 0);
	f[0] = ether_flow(&x, ETHER_A, ETHER_C);
	f[1] = ether_flow(&x, ETHER_B, ETHER_C);
	for (uint64_t t = 1; t <= 5000; t++) {
		engine_run(x.e, 7 * t * US);
		for (unsigned int i = 1; i <= 2; i++)
			assert_true(ether_port(&x, ETHER_SWITCH, i).held_bytes <= 64000);
		assert_true(ether_port(&x, ETHER_C, 1).held_bytes <= 30000);
	}
	ibcc_engine_totals(x.e, &o);
	assert_int_equal(o.dropped, 0);
	assert_near((double)o.delivered, 35000.0 / 24, 0.01);
	assert_near((double)engine_flow_read(x.e, f[0]).received_pkts,
		    (double)engine_flow_read(x.e, f[1]).received_pkts, 0.05);
	assert_true(ether_port(&x, ETHER_SWITCH, 1).pauses_sent > 0);
	assert_true(ether_port(&x, ETHER_C, 1).pauses_sent > 0);
	assert_true(ether_port(&x, ETHER_SWITCH, 3).pause_ps > 0);
	ether_free(&x);
}

/* A packet that comes slower than it will go is in the buffer from 1 us on and leaves it at 11.8
 * us. Its link goes down meanwhile: it is lost, and its place is free.
 */
static void test_lost_while_held(void **state)
{
	struct ether x;

	(void)state;
	ether_model(&x, 1000);
	ether_start(&x);
	ether_periodic(&x, ETHER_C, ETHER_A, 1);
	engine_run(x.e, 5 * US);
	assert_int_equal(ether_port(&x, ETHER_SWITCH, 3).held_bytes, ETHER_PACKET);
	assert_int_equal(ibcc_engine_set_link(x.e, fabric_port(x.topo, ETHER_SWITCH, 3), false), 0);
	engine_run(x.e, 20 * US);
	assert_int_equal(ether_port(&x, ETHER_SWITCH, 3).held_bytes, 0);
	assert_int_equal(engine_flow_read(x.e, 0).dropped_pkts, 1);
	ether_free(&x);
}

/* A link of 20 km that the headroom was not made for: 250 KB come after PAUSE was sent, to a memory
 * of four times 40000 bytes.
 */
static void test_overflow(void **state)
{
	struct ibcc_engine_totals o;
	struct ether x;

	(void)state;
	ether_model(&x, 1000);
	x.model.buffer_bytes = 40000;
	x.model.link_delay_ps = 100 * US;
	ether_start(&x);
	ether_flow(&x, ETHER_A, ETHER_C);
	engine_run(x.e, 20000 * US);
	ibcc_engine_totals(x.e, &o);
	assert_true(o.dropped > 0);
	assert_int_equal(ether_port(&x, ETHER_SWITCH, 1).dropped, o.dropped);
	assert_int_equal(o.injected, o.delivered + o.dropped + o.in_flight);
	ether_free(&x);
}

/* An output's queue serves in order of arrival: a's flow, which offers 6 Gb/s to 1 Gb/s, and b's
 * two of 1.5 Gb/s each get 4 and 1 and 1 parts of it. By inputs in turn, 2 and 1 and 1; by flows,
 * the same.
 */
static void test_arbitration(void **state)
{
	static const struct {
		enum ibcc_arbitration arbitration;
		double ratio;
	} want[] = { { IBCC_ARBITRATION_FIFO, 4 },
		     { IBCC_ARBITRATION_INPUT, 2 },
		     { IBCC_ARBITRATION_FLOW, 1 } };

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_PERIODIC, .rate_mbps = 1500 };
		struct ether x;
		uint32_t a, b[2];

		ether_model(&x, 1000);
		x.model.buffer_bytes = 40000000;
		x.model.arbitration = want[i].arbitration;
		ether_start(&x);
		a = ether_periodic(&x, ETHER_A, ETHER_C, 6000);
		for (uint8_t k = 0; k < 2; k++, f.sl++) { /* another SL makes another queue pair */
			int at = ibcc_engine_add_flow(x.e, &f, fabric_port(x.topo, ETHER_B, 1),
						      fabric_port(x.topo, ETHER_C, 1));

			assert_true(at >= 0);
			b[k] = (uint32_t)at;
		}
		engine_run(x.e, 10000 * US);
		assert_int_equal(ether_port(&x, ETHER_SWITCH, 1).pauses_sent, 0);
		for (unsigned int k = 0; k < 2; k++)
			assert_near((double)engine_flow_read(x.e, a).received_pkts /
					    (double)engine_flow_read(x.e, b[k]).received_pkts,
				    want[i].ratio, 0.03);
		ether_free(&x);
	}
}

/* A link that goes down while its sender is stopped works when it is up again. */
static void test_link(void **state)
{
	struct ether x;
	uint32_t port, f;
	uint64_t before;

	(void)state;
	ether_model(&x, 1000);
	ether_start(&x);
	port = fabric_port(x.topo, ETHER_A, 1);
	f = ether_flow(&x, ETHER_A, ETHER_C);
	engine_run(x.e, 10000 * US);
	assert_int_equal(ibcc_engine_set_link(x.e, port, false), 0);
	engine_run(x.e, 20000 * US);
	before = engine_flow_read(x.e, f).received_pkts;
	assert_int_equal(ether_port(&x, ETHER_SWITCH, 1).held_bytes, 0);
	assert_int_equal(ibcc_engine_set_link(x.e, port, true), 0);
	engine_run(x.e, 30000 * US);
	assert_near((double)(engine_flow_read(x.e, f).received_pkts - before), 10000.0 / 12, 0.01);
	ether_free(&x);
}

static void refused(struct ether *x)
{
	int err = 0;

	assert_null(ibcc_engine_new(x->topo, &x->model, 1, &err));
	assert_int_equal(err, -EINVAL);
	x->model.pause_headroom_bytes = 15000;
	x->model.pause_xon_permille = 500;
	x->model.vls = 1;
	x->model.flow_control = IBCC_FLOW_CONTROL_PAUSE;
	x->model.bcn.enabled = false;
}

static void test_models(void **state)
{
	struct ether x;

	(void)state;
	ether_model(&x, 1000);
	x.model.pause_headroom_bytes = 15001; /* of 30000, half of which is XON */
	refused(&x);
	x.model.pause_xon_permille = 501;
	refused(&x);
	x.model.vls = 2;
	refused(&x);
	x.model.bcn.enabled = true; /* without sizes */
	refused(&x);
	x.model.flow_control = IBCC_FLOW_CONTROL_CREDITS;
	x.model.bcn = (struct ibcc_bcn){
		.enabled = true, .sample_bytes = 1, .equilibrium_bytes = 1, .ru_mbps = 1
	};
	refused(&x);
	x.model.bcn.enabled = true;
	ether_start(&x);
	ether_free(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_timing),      cmocka_unit_test(test_cycle),
		cmocka_unit_test(test_no_overflow), cmocka_unit_test(test_lost_while_held),
		cmocka_unit_test(test_overflow),    cmocka_unit_test(test_arbitration),
		cmocka_unit_test(test_link),        cmocka_unit_test(test_models),
	};

	return cmocka_run_group_tests_name("eth_pause", tests, NULL, NULL);
}
