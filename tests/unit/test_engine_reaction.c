/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The channel adapter's reaction: BECNs, CCTI, timer, table, delay; in exact numbers. */
#include <errno.h>
#include <string.h>

#include "tests/unit/engines.h"

#define US    IBCC_PS_PER_US
#define MS    IBCC_PS_PER_MS
#define T_PS  518500ull  /* 2074 bytes at 32 Gb/s */
#define UNIT  1024000ull /* CCTI_Timer */
#define LIMIT 127

struct rig {
	struct ibcc_topo *topo;
	struct ibcc_engine *e;
	struct ibcc_cc_ca_setting ca;
	struct ibcc_cct cct;
	uint32_t src; /* port of src1 */
};

static void rig_new(struct rig *r, const struct ibcc_model *model)
{
	struct ibcc_model m;

	ibcc_model_defaults(&m);
	memset(r, 0, sizeof(*r));
	r->topo = fabric_lustre();
	r->e = engine_new(r->topo, model ? model : &m, 1);
	r->ca.Control_Map = 0xffff;
	r->cct.limit = LIMIT;
	r->src = fabric_port(r->topo, LUSTRE_SRC1, 1);
}

static void rig_free(struct rig *r)
{
	ibcc_engine_free(r->e);
	ibcc_topo_free(r->topo);
}

static void rig_apply(struct rig *r)
{
	assert_int_equal(ibcc_engine_set_ca_cc(r->e, r->src, &r->ca), 0);
	assert_int_equal(ibcc_engine_set_cct(r->e, r->src, &r->cct), 0);
}

/* Congestion at the port to the slow sink, which marks every packet. */
static void rig_congest(struct rig *r)
{
	assert_int_equal(
		ibcc_engine_set_sink_rate(r->e, fabric_port(r->topo, LUSTRE_SLOW, 1), 8000), 0);
	engine_marking(r->e, r->topo, LUSTRE_SW2, 1, 15, 0);
}

/* (packet time >> Shift) * Multiplier after each packet: C / (1 + M / 2^S). CCTI_Min holds the
 * index without any congestion.
 */
static void test_delay(void **state)
{
	static const struct {
		unsigned int shift, mult;
	} c[] = { { 0, 0 }, { 0, 1 }, { 0, 31 }, { 1, 1 }, { 2, 7 }, { 3, 1 }, { 3, 100 } };
	struct rig r;

	(void)state;
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		uint64_t gap = T_PS + (T_PS >> c[i].shift) * c[i].mult;

		rig_new(&r, NULL);
		r.ca.sl[0].CCTI_Min = 10;
		r.cct.entry[10] = ibcc_cct_entry(c[i].shift, c[i].mult);
		rig_apply(&r);
		engine_flow(r.e, r.topo, LUSTRE_SRC1, LUSTRE_FAST, 0);
		engine_run(r.e, 1000 * gap - 1);
		assert_int_equal(engine_flow_read(r.e, 0).sent_pkts, 1000);
		assert_int_equal(engine_flow_read(r.e, 0).ccti, 10);
		engine_run(r.e, 1000 * gap);
		assert_int_equal(engine_flow_read(r.e, 0).sent_pkts, 1001);
		/* Throttled is not waiting. */
		assert_true(engine_port_read(r.e, r.src).xmit_wait_ps == 0);
		rig_free(&r);
	}
}

/* Flows between two ports on one SL share a queue pair: the delay is between packets of any. Flows
 * to others do not wait for it, whichever order the adapter serves them in.
 */
static void test_shared_queue_pair(void **state)
{
	const uint64_t gap = 10 * T_PS;
	struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_PERIODIC, .load_permille = 1000 };

	(void)state;
	for (int in_turn = 0; in_turn <= 1; in_turn++) {
		struct ibcc_engine_flow a, b, u;
		struct ibcc_model m;
		struct rig r;

		ibcc_model_defaults(&m);
		m.hca_service = in_turn ? IBCC_HCA_ROUND_ROBIN : IBCC_HCA_ARRIVAL;
		rig_new(&r, &m);
		r.ca.sl[0].CCTI_Min = 1;
		r.cct.entry[1] = ibcc_cct_entry(0, 9);
		rig_apply(&r);
		engine_flow(r.e, r.topo, LUSTRE_SRC1, LUSTRE_FAST, 0);
		engine_flow(r.e, r.topo, LUSTRE_SRC1, LUSTRE_FAST, 0);
		engine_run(r.e, 1000 * gap - 1);
		a = engine_flow_read(r.e, 0);
		b = engine_flow_read(r.e, 1);
		assert_int_equal(a.sent_pkts + b.sent_pkts, 1000);
		assert_in_range(a.sent_pkts, 499, 501);
		/* One more, to all five others at the link's rate: each queue pair gets a tenth of
		 * the link, the one to `fast` shared with the former two.
		 */
		assert_int_equal(ibcc_engine_add_flow(r.e, &f, r.src, IBCC_NONE), 2);
		engine_run(r.e, 11000 * gap);
		u = engine_flow_read(r.e, 2);
		a.sent_pkts = engine_flow_read(r.e, 0).sent_pkts - a.sent_pkts;
		b.sent_pkts = engine_flow_read(r.e, 1).sent_pkts - b.sent_pkts;
		assert_in_range(u.offered_pkts, 99999, 100001);
		assert_near((double)(a.sent_pkts + b.sent_pkts + u.sent_pkts), 50000, 0.05);
		assert_near(
			(double)engine_port_read(r.e, fabric_port(r.topo, LUSTRE_FAST, 1)).rcv_pkts,
			11000, 0.05);
		rig_free(&r);
	}
}

/* Entries beyond CCTI_Limit are not used. */
static void test_limit(void **state)
{
	struct rig r;

	(void)state;
	rig_new(&r, NULL);
	r.ca.sl[0] = (struct ibcc_cc_ca_entry){ .CCTI_Increase = 7, .CCTI_Timer = 60000 };
	r.cct.limit = 63;
	for (unsigned int i = 0; i < 128; i++)
		r.cct.entry[i] = ibcc_cct_entry(0, i < 64 ? 1 : 1000);
	rig_apply(&r);
	rig_congest(&r);
	engine_flow(r.e, r.topo, LUSTRE_SRC1, LUSTRE_SLOW, 0);
	engine_run(r.e, 1 * MS);
	assert_int_equal(engine_flow_read(r.e, 0).ccti, 63);
	assert_near((double)engine_flow_read(r.e, 0).sent_pkts, 1e9 / 2048000, 0.1);
	r.cct.limit = 128; /* two blocks end at 127 */
	assert_int_equal(ibcc_engine_set_cct(r.e, r.src, &r.cct), -EINVAL);
	assert_int_equal(ibcc_engine_set_cct(r.e, fabric_port(r.topo, LUSTRE_SW1, 1), &r.cct),
			 -EINVAL);
	rig_free(&r);
}

/* One step down for each period, to the minimum, on a clock that BECNs do not restart. */
static void test_timer(void **state)
{
	const uint64_t period = 100 * UNIT;
	struct ibcc_engine_flow f;
	uint64_t first, t;
	struct rig r;

	(void)state;
	rig_new(&r, NULL);
	r.ca.sl[0] =
		(struct ibcc_cc_ca_entry){ .CCTI_Increase = 1, .CCTI_Timer = 100, .CCTI_Min = 3 };
	rig_apply(&r);
	rig_congest(&r);
	engine_flow(r.e, r.topo, LUSTRE_SRC1, LUSTRE_SLOW, 0);
	do {
		engine_run(r.e, ibcc_engine_now_ps(r.e) + 10000);
		f = engine_flow_read(r.e, 0);
	} while (!f.becn);
	first = ibcc_engine_now_ps(r.e);
	assert_int_equal(f.ccti, 4); /* from the minimum, up by one */
	/* The table has no delays, so BECNs go on; stop them before the limit. */
	engine_run(r.e, first + 3 * period / 4);
	assert_int_equal(ibcc_engine_set_sink_rate(r.e, fabric_port(r.topo, LUSTRE_SLOW, 1), 0), 0);
	engine_marking(r.e, r.topo, LUSTRE_SW2, 1, 0, 0);
	engine_run(r.e, first + period - 20000);
	f = engine_flow_read(r.e, 0);
	assert_true(f.becn > 10 && f.becn < 100);
	assert_int_equal(f.ccti, 3 + f.becn);
	for (t = 1; t <= f.becn + 3; t++) {
		engine_run(r.e, first + t * period + 20000);
		assert_int_equal(engine_flow_read(r.e, 0).ccti, t < f.becn ? 3 + f.becn - t : 3);
	}
	rig_free(&r);
}

/* In equilibrium, BECNs lift as fast as the timer lowers. Steps of one entry keep the swings away
 * from the table's end, where a BECN lifts nothing.
 */
static void test_equilibrium(void **state)
{
	struct ibcc_engine_flow a[3], b[3];
	struct rig r;

	(void)state;
	rig_new(&r, NULL);
	engine_reaction(r.e, r.topo, 1, 24, 60000);
	rig_congest(&r);
	for (uint32_t i = 0; i < 3; i++)
		engine_flow(r.e, r.topo, LUSTRE_SRC1 + i, LUSTRE_SLOW, 0);
	engine_run(r.e, 5 * MS);
	for (uint32_t i = 0; i < 3; i++)
		a[i] = engine_flow_read(r.e, i);
	engine_run(r.e, 65 * MS);
	for (uint32_t i = 0; i < 3; i++) {
		double ticks = 60e9 / (24 * UNIT);

		b[i] = engine_flow_read(r.e, i);
		assert_true(b[i].ccti > 0 && b[i].ccti < LIMIT);
		assert_near((double)(b[i].becn - a[i].becn + a[i].ccti - b[i].ccti), ticks, 0.001);
	}
	rig_free(&r);
}

/* Per queue pair only the hot flow slows down; per SL, all of the SL do, and no other SL. */
static void test_sl_mode(void **state)
{
	struct ibcc_engine_flow f[3];
	struct rig r;

	(void)state;
	for (uint16_t mode = 0; mode <= 1; mode++) {
		struct ibcc_model m;

		ibcc_model_defaults(&m);
		m.vls = 2;
		m.hca_service = IBCC_HCA_ROUND_ROBIN;
		rig_new(&r, &m);
		r.ca.Port_Control = mode;
		for (int sl = 0; sl < 16; sl++)
			r.ca.sl[sl] =
				(struct ibcc_cc_ca_entry){ .CCTI_Increase = 1, .CCTI_Timer = 0 };
		r.cct.limit = 1; /* the first BECN throttles for good: one packet in 25 */
		r.cct.entry[1] = ibcc_cct_entry(0, 24);
		rig_apply(&r);
		rig_congest(&r);
		engine_flow(r.e, r.topo, LUSTRE_SRC1, LUSTRE_SLOW, 0);
		engine_flow(r.e, r.topo, LUSTRE_SRC1, LUSTRE_FAST, 0);
		engine_flow(r.e, r.topo, LUSTRE_SRC1, LUSTRE_SRC2, 1);
		engine_run(r.e, 1 * MS);
		for (uint32_t i = 0; i < 3; i++)
			f[i] = engine_flow_read(r.e, i);
		engine_run(r.e, 1 * MS + 25000 * T_PS);
		for (uint32_t i = 0; i < 3; i++)
			f[i].sent_pkts = engine_flow_read(r.e, i).sent_pkts - f[i].sent_pkts;
		assert_true(f[0].becn > 0);
		if (mode) {
			/* One after the other, each 24 packet times after the last. */
			assert_in_range(f[0].sent_pkts, 499, 501);
			assert_in_range(f[1].sent_pkts, 499, 501);
			assert_in_range(f[2].sent_pkts, 23999, 24001);
			assert_int_equal(engine_flow_read(r.e, 1).ccti, 1);
			assert_int_equal(engine_flow_read(r.e, 2).ccti, 0);
		} else {
			/* 24 packet times of rest end with a packet of the others; both have been
			 * served since.
			 */
			assert_near((double)f[0].sent_pkts, 25000 / 25., 0.01);
			assert_near((double)f[1].sent_pkts, 12000, 0.02);
			assert_near((double)f[2].sent_pkts, 12000, 0.02);
			assert_int_equal(engine_flow_read(r.e, 1).ccti, 0);
		}
		/* A change of mode begins anew. */
		r.ca.Port_Control = !mode;
		rig_apply(&r);
		assert_int_equal(engine_flow_read(r.e, 0).ccti, 0);
		engine_run(r.e, ibcc_engine_now_ps(r.e) + 1 * MS);
		rig_free(&r);
	}
}

/* Control_Map of the CA setting selects the SLs that change. */
static void test_control_map(void **state)
{
	struct rig r;

	(void)state;
	rig_new(&r, NULL);
	r.ca.sl[0].CCTI_Min = 5;
	r.ca.sl[1].CCTI_Min = 6;
	r.ca.Control_Map = 1 << 1;
	rig_apply(&r);
	engine_flow(r.e, r.topo, LUSTRE_SRC1, LUSTRE_FAST, 0);
	engine_flow(r.e, r.topo, LUSTRE_SRC1, LUSTRE_FAST, 1);
	assert_int_equal(engine_flow_read(r.e, 0).ccti, 0);
	assert_int_equal(engine_flow_read(r.e, 1).ccti, 6);
	rig_free(&r);
}

static void test_trigger_log(void **state)
{
	struct ibcc_engine_flow f;
	struct ibcc_cc_log log;
	struct rig r;

	(void)state;
	rig_new(&r, NULL);
	r.ca.sl[0] = (struct ibcc_cc_ca_entry){ .CCTI_Increase = 1, .Trigger_Threshold = 20 };
	rig_apply(&r);
	rig_congest(&r);
	engine_flow(r.e, r.topo, LUSTRE_SRC1, LUSTRE_SLOW, 0);
	engine_run(r.e, 1 * MS);
	f = engine_flow_read(r.e, 0);
	assert_int_equal(f.ccti, LIMIT);
	assert_int_equal(ibcc_engine_log_read(r.e, r.src, &log), 0);
	assert_int_equal(log.LogType, IBCC_CC_LOG_CA);
	assert_int_equal(log.u.ca.ThresholdEventCounter, f.becn - 19);
	assert_int_equal(log.u.ca.ThresholdCongestionEventMap, 1);
	for (int i = 0; i < 13; i++) {
		assert_int_equal(log.u.ca.entry[i].Local_LID_CN, r.topo->port[r.src].lid);
		assert_int_equal(log.u.ca.entry[i].Remote_LID_CN_Entry,
				 r.topo->port[fabric_port(r.topo, LUSTRE_SLOW, 1)].lid);
		assert_true(log.u.ca.entry[i].TimeStamp_CN_Entry <= log.u.ca.CurrentTimeStamp);
	}
	assert_int_equal(ibcc_engine_log_read(r.e, r.src, &log), 0);
	assert_int_equal(log.u.ca.ThresholdEventCounter, 0);
	assert_int_equal(log.u.ca.ThresholdCongestionEventMap, 0);
	rig_free(&r);
}

/* Answers travel in band: one CNP for each FECN, or one ACK for each packet, by the way back. */
static void test_answers(void **state)
{
	(void)state;
	for (int acks = 0; acks <= 1; acks++) {
		struct ibcc_model m;
		struct ibcc_engine_port p;
		struct ibcc_engine_flow f;
		struct ibcc_engine_totals o;
		struct rig r;

		ibcc_model_defaults(&m);
		m.acks = acks;
		rig_new(&r, &m);
		rig_congest(&r);
		engine_flow(r.e, r.topo, LUSTRE_SRC1, LUSTRE_SLOW, 3);
		engine_run(r.e, 2 * MS);
		f = engine_flow_read(r.e, 0);
		p = engine_port_read(r.e, r.src);
		ibcc_engine_totals(r.e, &o);
		assert_true(f.fecn > 100);
		assert_int_equal(p.rcv_pkts, acks ? f.received_pkts - 1 : f.becn);
		assert_in_range(f.fecn - f.becn, 0, 2);
		assert_int_equal(p.rcv_becn, f.becn);
		assert_int_equal(p.sl_rcv_becn[3], f.becn);
		assert_int_equal(p.rcv_bytes, p.rcv_pkts * 28);
		assert_in_range(o.ack_hops, 3 * p.rcv_pkts, 3 * p.rcv_pkts + 6);
		rig_free(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_delay),       cmocka_unit_test(test_shared_queue_pair),
		cmocka_unit_test(test_limit),       cmocka_unit_test(test_timer),
		cmocka_unit_test(test_equilibrium), cmocka_unit_test(test_sl_mode),
		cmocka_unit_test(test_control_map), cmocka_unit_test(test_trigger_log),
		cmocka_unit_test(test_answers),
	};

	return cmocka_run_group_tests_name("engine_reaction", tests, NULL, NULL);
}
