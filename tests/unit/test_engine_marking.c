/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which packets a switch marks. Sources do not react here, so that the congestion stays. */
#include <errno.h>
#include <string.h>

#include "lib/engine/internal.h"
#include "tests/unit/engines.h"

#define US IBCC_PS_PER_US
#define MS IBCC_PS_PER_MS

struct rig {
	struct ibcc_topo *topo;
	struct ibcc_engine *e;
	struct ibcc_cc_sw_setting sw;
};

/* Three sources to one sink; drain 0: the sink's link is full (root: the port that faces it has
 * credits), else the sink is slow (it has none).
 */
static void rig_new(struct rig *r, uint32_t drain_mbps)
{
	struct ibcc_model m;

	ibcc_model_defaults(&m);
	memset(r, 0, sizeof(*r));
	r->topo = fabric_lustre();
	r->e = engine_new(r->topo, &m, 1);
	r->sw.Control_Map = IBCC_CC_SW_CONTROL_MAP_ALL;
	if (drain_mbps)
		assert_int_equal(ibcc_engine_set_sink_rate(
					 r->e, fabric_port(r->topo, LUSTRE_SLOW, 1), drain_mbps),
				 0);
	for (uint32_t i = 0; i < 3; i++)
		engine_flow(r->e, r->topo, LUSTRE_SRC1 + i, LUSTRE_SLOW, 0);
	/* A neighbour of the sink, so that its port has a backlog from two inputs. */
	engine_flow(r->e, r->topo, LUSTRE_FAST, LUSTRE_SLOW, 0);
}

static void rig_free(struct rig *r)
{
	ibcc_engine_free(r->e);
	ibcc_topo_free(r->topo);
}

static void rig_set(struct rig *r, uint8_t threshold, uint8_t size, uint16_t rate)
{
	r->sw.Threshold = threshold;
	r->sw.Packet_Size = size;
	r->sw.Marking_Rate = rate;
	assert_int_equal(ibcc_engine_set_switch_cc(r->e, LUSTRE_SW2, &r->sw), 0);
}

/* Marks and packets of the port to the sink during a millisecond of steady state. */
static void rig_measure(struct rig *r, uint64_t *marks, uint64_t *packets)
{
	uint32_t port = fabric_port(r->topo, LUSTRE_SW2, 1);
	uint64_t now = ibcc_engine_now_ps(r->e);
	struct ibcc_engine_port a, b;

	engine_run(r->e, now + 100 * US);
	a = engine_port_read(r->e, port);
	engine_run(r->e, now + 100 * US + 1 * MS);
	b = engine_port_read(r->e, port);
	*marks = b.mark_fecn - a.mark_fecn;
	*packets = b.xmit_pkts - a.xmit_pkts;
	assert_true(*packets > 200);
}

static void test_marking_rate(void **state)
{
	static const uint16_t rates[] = { 0, 1, 3, 10, 99 };
	struct ibcc_engine_port sink;
	uint64_t marks, packets;
	struct rig r;

	(void)state;
	rig_new(&r, 0);
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		rig_set(&r, 15, 0, rates[i]);
		rig_measure(&r, &marks, &packets);
		assert_marks(marks, packets, rates[i]);
	}
	/* Every mark arrives, and no other port marks. */
	rig_set(&r, 0, 0, 0);
	engine_run(r.e, ibcc_engine_now_ps(r.e) + 1 * MS);
	sink = engine_port_read(r.e, fabric_port(r.topo, LUSTRE_SLOW, 1));
	assert_int_equal(sink.rcv_fecn,
			 engine_port_read(r.e, fabric_port(r.topo, LUSTRE_SW2, 1)).mark_fecn);
	assert_int_equal(sink.sl_rcv_fecn[0], sink.rcv_fecn);
	rig_free(&r);
}

static void test_off_and_thresholds(void **state)
{
	uint64_t marks, packets;
	struct rig r;

	(void)state;
	rig_new(&r, 0);
	/* Two inputs' buffers stand before the sink: 64 KB, beyond every threshold. */
	for (uint8_t t = 1; t <= 15; t += 7) {
		rig_set(&r, t, 0, 0);
		rig_measure(&r, &marks, &packets);
		assert_int_equal(marks, packets);
		rig_set(&r, 0, 0, 0);
		rig_measure(&r, &marks, &packets);
		assert_int_equal(marks, 0);
	}
	r.sw.Threshold = 16;
	assert_int_equal(ibcc_engine_set_switch_cc(r.e, LUSTRE_SW2, &r.sw), -EINVAL);
	assert_int_equal(ibcc_engine_set_switch_cc(r.e, LUSTRE_SRC1, &r.sw), -EINVAL);
	rig_free(&r);
}

/* The backlog at which marking begins: (16 - T) / 16 of the reference. One flow on each of two
 * inputs grows it by a packet in each packet time.
 */
static void test_threshold_scale(void **state)
{
	const uint64_t packet_ps = 2074 * 250;

	(void)state;
	for (uint8_t t = 1; t <= 15; t++) {
		int on = (16 - t) * 32768 / 16, sent;
		struct ibcc_engine_port p;
		struct ibcc_model m;
		struct rig r;

		memset(&r, 0, sizeof(r));
		ibcc_model_defaults(&m);
		m.buffer_bytes = 65536; /* so that the senders are not stopped before */
		m.mark_reference_bytes = 32768;
		r.topo = fabric_lustre();
		r.e = engine_new(r.topo, &m, 1);
		r.sw.Control_Map = IBCC_CC_SW_CONTROL_MAP_ALL;
		engine_flow(r.e, r.topo, LUSTRE_SRC1, LUSTRE_SLOW, 0);
		engine_flow(r.e, r.topo, LUSTRE_FAST, LUSTRE_SLOW, 0);
		rig_set(&r, t, 0, 0);
		do {
			engine_run(r.e, ibcc_engine_now_ps(r.e) + packet_ps / 4);
			p = engine_port_read(r.e, fabric_port(r.topo, LUSTRE_SW2, 1));
		} while (!p.xmit_time_cong_ps);
		sent = (int)p.xmit_pkts;
		/* Two come in for each that goes out: the backlog is about `sent` packets. */
		assert_true(sent >= on / 2074 - 1 && sent <= on / 2074 + 3);
		rig_free(&r);
	}
}

/* Bytes that wait for the port to the sink as its congested state begins and ends: a burst comes at
 * full rate, and goes to a sink that takes 32 times as long.
 */
static void boundaries(uint32_t reference, uint16_t hysteresis, uint64_t *begin, uint64_t *end)
{
	const uint64_t step = 100000; /* a fifth of a packet */
	struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_PERIODIC,
				    .load_permille = 1000,
				    .stop_ps = 10 * US };
	struct ibcc_engine_port p = { 0 };
	struct ibcc_model m;
	struct rig r;
	uint64_t was;

	memset(&r, 0, sizeof(r));
	ibcc_model_defaults(&m);
	m.buffer_bytes = 1 << 20;
	m.hca_buffer_bytes = 33 * 64;
	m.mark_reference_bytes = reference;
	m.mark_hysteresis_permille = hysteresis;
	r.topo = fabric_lustre();
	r.e = engine_new(r.topo, &m, 1);
	r.sw.Control_Map = IBCC_CC_SW_CONTROL_MAP_ALL;
	assert_int_equal(ibcc_engine_set_sink_rate(r.e, fabric_port(r.topo, LUSTRE_SLOW, 1), 1000),
			 0);
	assert_true(ibcc_engine_add_flow(r.e, &f, fabric_port(r.topo, LUSTRE_SRC1, 1),
					 fabric_port(r.topo, LUSTRE_SLOW, 1)) >= 0);
	rig_set(&r, 8, 0, 0);
	*begin = 0;
	do { /* until the time in that state stands again */
		was = p.xmit_time_cong_ps;
		engine_run(r.e, ibcc_engine_now_ps(r.e) + step);
		p = engine_port_read(r.e, fabric_port(r.topo, LUSTRE_SW2, 1));
		if (p.xmit_time_cong_ps && !*begin)
			*begin = p.backlog_bytes;
	} while (!was || p.xmit_time_cong_ps - was == step);
	*end = p.backlog_bytes;
	rig_free(&r);
}

/* To the byte, at Threshold 8, which is half of the reference: above the threshold it begins, at
 * the hysteresis' share of that or below it ends.
 */
static void test_boundaries(void **state)
{
	const uint32_t wire = 2074;
	uint64_t begin, end;

	(void)state;
	boundaries(8 * wire, 500, &begin, &end); /* 4 packets, and 2 */
	assert_int_equal(begin, 5 * wire);
	assert_int_equal(end, 2 * wire);
	boundaries(8 * wire - 2, 500, &begin, &end); /* a byte less than 4, so less than 2 */
	assert_int_equal(begin, 4 * wire);
	assert_int_equal(end, wire);
	boundaries(8 * wire + 4, 500, &begin, &end); /* two bytes more, so one more */
	assert_int_equal(begin, 5 * wire);
	assert_int_equal(end, 2 * wire);
	boundaries(8 * wire, 1000, &begin, &end);
	assert_int_equal(begin, 5 * wire);
	assert_int_equal(end, 4 * wire);
	boundaries(8 * wire, 0, &begin, &end);
	assert_int_equal(end, 0);
}

static void test_packet_size(void **state)
{
	uint64_t marks, packets;
	struct rig r;

	(void)state;
	rig_new(&r, 0);
	rig_set(&r, 15, 33, 0); /* 2074 bytes are 33 blocks */
	rig_measure(&r, &marks, &packets);
	assert_int_equal(marks, packets);
	rig_set(&r, 15, 34, 0);
	rig_measure(&r, &marks, &packets);
	assert_int_equal(marks, 0);
	rig_free(&r);
}

static void test_port_element(void **state)
{
	struct ibcc_cc_sw_port_element el = { .Valid = true, .Threshold = 0 };
	uint64_t marks, packets;
	struct rig r;

	(void)state;
	rig_new(&r, 0);
	rig_set(&r, 15, 0, 0);
	assert_int_equal(ibcc_engine_set_switch_port_cc(r.e, LUSTRE_SW2, 1, &el), 0);
	rig_measure(&r, &marks, &packets);
	assert_int_equal(marks, 0);
	el.Threshold = 15;
	el.Cong_Parm_Marking_Rate = 4;
	assert_int_equal(ibcc_engine_set_switch_port_cc(r.e, LUSTRE_SW2, 1, &el), 0);
	rig_set(&r, 0, 0, 0);
	rig_measure(&r, &marks, &packets);
	assert_marks(marks, packets, 4);
	el.Packet_Size = 34;
	assert_int_equal(ibcc_engine_set_switch_port_cc(r.e, LUSTRE_SW2, 1, &el), 0);
	rig_measure(&r, &marks, &packets);
	assert_int_equal(marks, 0);
	el.Packet_Size = 0;
	el.Control_Type = true; /* credit starvation instead of marking */
	assert_int_equal(ibcc_engine_set_switch_port_cc(r.e, LUSTRE_SW2, 1, &el), 0);
	rig_measure(&r, &marks, &packets);
	assert_int_equal(marks, 0);
	el = (struct ibcc_cc_sw_port_element){ .Threshold = 1 }; /* not valid: the switch's */
	assert_int_equal(ibcc_engine_set_switch_port_cc(r.e, LUSTRE_SW2, 1, &el), 0);
	rig_set(&r, 15, 0, 0);
	rig_measure(&r, &marks, &packets);
	assert_int_equal(marks, packets);
	assert_int_equal(ibcc_engine_set_switch_port_cc(r.e, LUSTRE_SW2, 9, &el), -EINVAL);
	rig_free(&r);
}

/* A slow sink gives no credits: its port is a victim to the switch and marks only if told to. */
static void test_victim_mask(void **state)
{
	uint64_t marks, packets;
	struct rig r;

	(void)state;
	rig_new(&r, 8000);
	rig_set(&r, 15, 0, 0);
	rig_measure(&r, &marks, &packets);
	assert_int_equal(marks, 0);
	ibcc_cc_mask_assign(&r.sw.Victim_Mask, 1, true);
	rig_set(&r, 15, 0, 0);
	rig_measure(&r, &marks, &packets);
	assert_int_equal(marks, packets);
	ibcc_cc_mask_assign(&r.sw.Victim_Mask, 1, false);
	ibcc_cc_mask_assign(&r.sw.Victim_Mask, 2, true);
	rig_set(&r, 15, 0, 0);
	rig_measure(&r, &marks, &packets);
	assert_int_equal(marks, 0);
	rig_free(&r);
}

/* The tree behind a full link waits for credits: only the root marks. */
static void test_root_and_tree(void **state)
{
	struct ibcc_engine_port tree, root;
	struct rig r;

	(void)state;
	rig_new(&r, 0);
	rig_set(&r, 9, 0, 0);
	assert_int_equal(ibcc_engine_set_switch_cc(r.e, LUSTRE_SW1, &r.sw), 0);
	engine_run(r.e, 5 * MS);
	root = engine_port_read(r.e, fabric_port(r.topo, LUSTRE_SW2, 1));
	tree = engine_port_read(r.e, fabric_port(r.topo, LUSTRE_SW1, 5));
	assert_true(root.mark_fecn > 9000);
	assert_true(tree.xmit_time_cong_ps > 4 * MS);
	assert_true(tree.mark_fecn < root.mark_fecn / 50); /* while the tree grows */
	assert_near((double)root.xmit_time_cong_ps, 5 * MS, 0.02);
	assert_true(root.vl_xmit_time_cong_ps[0] == root.xmit_time_cong_ps);
	rig_free(&r);
}

static void test_control_map(void **state)
{
	uint64_t marks, packets;
	struct rig r;

	(void)state;
	rig_new(&r, 0);
	rig_set(&r, 15, 0, 3);
	r.sw.Control_Map = 0x10; /* only the marking rate */
	rig_set(&r, 0, 99, 0);
	rig_measure(&r, &marks, &packets);
	assert_int_equal(marks, packets);
	r.sw.Control_Map = 0x04; /* only threshold and packet size */
	rig_set(&r, 0, 0, 7);
	rig_measure(&r, &marks, &packets);
	assert_int_equal(marks, 0);
	rig_free(&r);
}

static void test_log(void **state)
{
	uint16_t slow, src[4];
	struct ibcc_cc_log log;
	uint64_t marks, packets;
	struct rig r;
	uint32_t port;

	(void)state;
	rig_new(&r, 0);
	port = fabric_port(r.topo, LUSTRE_SW2, 0);
	slow = r.topo->port[fabric_port(r.topo, LUSTRE_SLOW, 1)].lid;
	src[3] = r.topo->port[fabric_port(r.topo, LUSTRE_FAST, 1)].lid;
	for (uint32_t i = 0; i < 3; i++)
		src[i] = r.topo->port[fabric_port(r.topo, LUSTRE_SRC1 + i, 1)].lid;
	assert_int_equal(ibcc_engine_log_read(r.e, port, &log), 0);
	assert_int_equal(log.LogType, IBCC_CC_LOG_SWITCH);
	assert_int_equal(log.u.sw.LogEventsCounter, 0);
	rig_set(&r, 15, 0, 0);
	rig_measure(&r, &marks, &packets);
	assert_int_equal(ibcc_engine_log_read(r.e, port, &log), 0);
	assert_int_equal(log.u.sw.LogEventsCounter,
			 engine_port_read(r.e, fabric_port(r.topo, LUSTRE_SW2, 1)).mark_fecn);
	for (unsigned int p = 0; p < 256; p++)
		assert_int_equal(ibcc_cc_mask_test(&log.u.sw.PortMap, p), p == 1);
	assert_int_equal(log.u.sw.CurrentTimeStamp, ibcc_engine_now_ps(r.e) / 1024000);
	for (int i = 0; i < 15; i++) {
		uint16_t s = log.u.sw.entry[i].SLID;

		assert_int_equal(log.u.sw.entry[i].DLID, slow);
		assert_true(s == src[0] || s == src[1] || s == src[2] || s == src[3]);
		if (i)
			assert_true(log.u.sw.entry[i].TimeStamp <= log.u.sw.entry[i - 1].TimeStamp);
	}
	/* 15 packets of half a microsecond. */
	assert_in_range(log.u.sw.CurrentTimeStamp - log.u.sw.entry[14].TimeStamp, 6, 9);
	assert_int_equal(ibcc_engine_log_read(r.e, port, &log), 0);
	assert_int_equal(log.u.sw.LogEventsCounter, 0);
	assert_int_equal(log.u.sw.entry[0].DLID, slow);
	rig_free(&r);
}

/* Backlogs beyond 2 GiB, which large buffers of many inputs can hold: those of Threshold 0 are
 * never too large, others from the threshold on, 12/16 of the reference.
 */
static void test_huge_backlogs(void **state)
{
	static const struct {
		uint8_t threshold;
		uint32_t reference, backlog;
		bool congested;
	} all[] = {
		{ 0, 0, 3000000000, false },
		{ 4, 4000000000, 2900000000, false },
		{ 4, 4000000000, 3100000000, true },
		{ 15, 16000, 2100000000, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct ibcc_cc_sw_setting s = { .Control_Map = IBCC_CC_SW_CONTROL_MAP_ALL,
						.Threshold = all[i].threshold };
		struct ibcc_topo *t = fabric_lustre();
		uint32_t port = fabric_port(t, LUSTRE_SW2, 1);
		struct ibcc_engine_port p;
		struct ibcc_model m;
		struct ibcc_engine *e;

		ibcc_model_defaults(&m);
		m.mark_reference_bytes = all[i].reference;
		e = engine_new(t, &m, 1);
		assert_int_equal(ibcc_engine_set_switch_cc(e, LUSTRE_SW2, &s), 0);
		for (uint32_t k = 0; k < 2; k++)
			engine_flow(e, t, LUSTRE_SRC1 + k, LUSTRE_SLOW, 0);
		engine_flow(e, t, LUSTRE_FAST, LUSTRE_SLOW, 0);
		room_add(port_of(e, port), -all[i].backlog);
		/* Until the first packet has to wait. */
		while (backlog_of(e, port_of(e, port)) == all[i].backlog)
			assert_int_equal(ibcc_engine_run(e, e->now_ps + 1000), 0);
		p = engine_port_read(e, port);
		assert_in_range(p.backlog_bytes, all[i].backlog + 2074, all[i].backlog + 4148);
		assert_int_equal(ibcc_engine_run(e, e->now_ps + 1000), 0);
		p = engine_port_read(e, port);
		assert_int_equal(p.xmit_time_cong_ps > 0, all[i].congested);
		/* Settings that come later see the same. */
		assert_int_equal(ibcc_engine_set_switch_cc(e, LUSTRE_SW2, &s), 0);
		assert_int_equal(!!(port_of(e, port)->flags & OUTQ_CONG), all[i].congested);
		ibcc_engine_free(e);
		ibcc_topo_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_marking_rate),    cmocka_unit_test(test_off_and_thresholds),
		cmocka_unit_test(test_threshold_scale), cmocka_unit_test(test_boundaries),
		cmocka_unit_test(test_packet_size),     cmocka_unit_test(test_port_element),
		cmocka_unit_test(test_victim_mask),     cmocka_unit_test(test_root_and_tree),
		cmocka_unit_test(test_control_map),     cmocka_unit_test(test_log),
		cmocka_unit_test(test_huge_backlogs),
	};

	return cmocka_run_group_tests_name("engine_marking", tests, NULL, NULL);
}
