/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* PerfMgt of simulated nodes: libibmad reads what the engine counted. */
#include <errno.h>

#include "lib/agents/state.h"
#include "tests/unit/agents.h"

enum { CPI = 0x01, SAMPLES = 0x10, PC = 0x12, VL_WAIT = 0x1c, EXT = 0x1d };
enum { VL_CONG = 0x30, RCV_CC, SL_FECN, SL_BECN, XMIT_CC, VL_TIME_CONG };
static int ask(struct agent_fabric *f, uint32_t node, uint8_t method, uint16_t attr,
	       unsigned int port, uint16_t select)
{
	agents_put(f, 0, IB_PC_PORT_SELECT_F, port);
	agents_put(f, 0, IB_PC_COUNTER_SELECT_F, select);
	return agents_send(f, node, 4, 1, method, attr, 0);
}

static int get(struct agent_fabric *f, uint32_t node, uint16_t attr, unsigned int port)
{
	agents_clear(f);
	return ask(f, node, 1, attr, port, 0);
}

static struct ibcc_engine_port truth(struct agent_fabric *f, uint32_t node, unsigned int port)
{
	struct ibcc_engine_port c;

	assert_int_equal(ibcc_engine_port_read(f->engine, fabric_port(f->topo, node, port), &c), 0);
	return c;
}

static uint64_t ext(struct agent_fabric *f, enum MAD_FIELDS field)
{
	return mad_get_field64(f->mad.b, MAD_DATA, field);
}

static void loaded(struct agent_fabric *f)
{
	uint8_t mask[32];

	agents_open(f, 48);
	agents_congest(f);
	memset(mask, 0xff, sizeof(mask));
	agents_put(f, 0, IB_CC_SWITCH_CONGESTION_SETTING_CONTROL_MAP_F, 0x1f);
	mad_set_array(f->mad.b, MAD_DATA, IB_CC_SWITCH_CONGESTION_SETTING_VICTIM_MASK_F, mask);
	agents_put(f, 0, IB_CC_SWITCH_CONGESTION_SETTING_THRESHOLD_F, 15);
	assert_int_equal(agents_send(f, LUSTRE_SW2, 0x21, 2, 2, 0x14, 0), OK);
	engine_run(f->engine, IBCC_PS_PER_MS);
}

static void test_capabilities(void **state)
{
	struct agent_fabric f = { 0 };

	(void)state;
	agents_open(&f, 48);
	assert_int_equal(get(&f, LUSTRE_SW1, CPI, 0), OK);
	/* AllPortSelect, extended width, XmitWait. */
	assert_int_equal(agents_field(&f, 0, IB_CPI_CAPMASK_F), 1 << 8 | 1 << 9 | 1 << 12);
	assert_int_equal(get(&f, LUSTRE_SRC1, CPI, 0), OK);
	assert_int_equal(agents_field(&f, 0, IB_CPI_CAPMASK_F), 1 << 9 | 1 << 12);
	assert_int_equal(agents_field(&f, 0, IB_CPI_CAPMASK2_F), 0);
	assert_int_equal(get(&f, LUSTRE_SRC1, SAMPLES, 1), OK);
	assert_int_equal(agents_field(&f, 0, IB_PSC_TICK_F), 7);
	/* Bits 48 to 54: the congestion attributes. */
	assert_true(mad_get_field64(f.mad.b, MAD_DATA, IB_PSC_OPTION_MASK_F) == 0x7full << 48);
	agents_close(&f);
}

static void test_status_codes(void **state)
{
	struct agent_fabric f = { 0 };

	(void)state;
	agents_open(&f, 48);
	assert_int_equal(agents_send(&f, LUSTRE_SRC1, 4, 2, 1, PC, 0), BAD_VERSION);
	assert_int_equal(agents_send(&f, LUSTRE_SRC1, 4, 1, 6, PC, 0), BAD_METHOD);
	assert_int_equal(get(&f, LUSTRE_SRC1, 0x37, 1), BAD_ATTR);
	assert_int_equal(get(&f, LUSTRE_SRC1, 0x11, 1), BAD_ATTR);
	assert_int_equal(ask(&f, LUSTRE_SRC1, 2, CPI, 1, 0), BAD_ATTR);
	assert_int_equal(ask(&f, LUSTRE_SRC1, 2, SAMPLES, 1, 0), BAD_ATTR);
	assert_int_equal(agents_send(&f, LUSTRE_SRC1, 4, 1, 1, PC, 1), BAD_FIELD);
	assert_int_equal(get(&f, LUSTRE_SRC1, PC, 0), BAD_FIELD);
	assert_int_equal(get(&f, LUSTRE_SRC1, PC, 2), BAD_FIELD);
	assert_int_equal(get(&f, LUSTRE_SRC1, PC, 0xff), BAD_FIELD);
	assert_int_equal(get(&f, LUSTRE_SRC1, SAMPLES, 2), BAD_FIELD);
	assert_int_equal(get(&f, LUSTRE_SW1, PC, 0), OK);
	assert_int_equal(get(&f, LUSTRE_SW1, PC, 8), OK);
	assert_int_equal(get(&f, LUSTRE_SW1, PC, 9), BAD_FIELD);
	assert_int_equal(get(&f, LUSTRE_SW1, RCV_CC, 9), BAD_FIELD);
	agents_close(&f);
}

static void test_counters(void **state)
{
	struct agent_fabric f = { 0 };
	struct ibcc_engine_port c;
	uint64_t sum = 0;
	unsigned int p;

	(void)state;
	loaded(&f);
	c = truth(&f, LUSTRE_SW1, 5);
	assert_true(c.xmit_bytes > 0 && c.xmit_wait_ps > 0);
	assert_int_equal(get(&f, LUSTRE_SW1, PC, 5), OK);
	assert_int_equal(agents_field(&f, 0, IB_PC_PORT_SELECT_F), 5);
	assert_int_equal(agents_field(&f, 0, IB_PC_XMT_BYTES_F), c.xmit_bytes / 4);
	assert_int_equal(agents_field(&f, 0, IB_PC_XMT_PKTS_F), c.xmit_pkts);
	/* Tick 7: eight bytes at 32 Gb/s are 2 ns. */
	assert_int_equal(agents_field(&f, 0, IB_PC_XMT_WAIT_F), c.xmit_wait_ps / 2000);
	assert_int_equal(get(&f, LUSTRE_SW1, EXT, 5), OK);
	assert_true(ext(&f, IB_PC_EXT_XMT_BYTES_F) == c.xmit_bytes / 4);
	assert_true(ext(&f, IB_PC_EXT_XMT_PKTS_F) == c.xmit_pkts);
	assert_true(ext(&f, IB_PC_EXT_XMT_UPKTS_F) == c.xmit_pkts);
	assert_true(ext(&f, IB_PC_EXT_RCV_BYTES_F) == c.rcv_bytes / 4);
	assert_true(ext(&f, IB_PC_EXT_XMT_WAIT_F) == c.xmit_wait_ps / 2000);

	for (p = 1; p <= 8; p++)
		sum += truth(&f, LUSTRE_SW1, p).rcv_pkts;
	assert_int_equal(get(&f, LUSTRE_SW1, PC, 0xff), OK);
	assert_int_equal(agents_field(&f, 0, IB_PC_RCV_PKTS_F), sum);
	agents_close(&f);
}

static void test_congestion_counters(void **state)
{
	struct agent_fabric f = { 0 };
	struct ibcc_engine_port c;

	(void)state;
	loaded(&f);
	c = truth(&f, LUSTRE_SLOW, 1);
	assert_true(c.rcv_fecn > 0);
	assert_int_equal(get(&f, LUSTRE_SLOW, RCV_CC, 1), OK);
	assert_int_equal(agents_field(&f, 0, IB_PC_RCV_CON_CTRL_PKT_RCV_FECN_F), c.rcv_fecn);
	assert_int_equal(agents_field(&f, 0, IB_PC_RCV_CON_CTRL_PKT_RCV_BECN_F), 0);
	assert_int_equal(get(&f, LUSTRE_SLOW, SL_FECN, 1), OK);
	assert_int_equal(agents_field(&f, 0, IB_PC_SL_RCV_FECN0_F), c.rcv_fecn);
	assert_int_equal(agents_field(&f, 0, IB_PC_SL_RCV_FECN1_F), 0);
	c = truth(&f, LUSTRE_SRC1, 1);
	assert_true(c.rcv_becn > 0);
	assert_int_equal(get(&f, LUSTRE_SRC1, RCV_CC, 1), OK);
	assert_int_equal(agents_field(&f, 0, IB_PC_RCV_CON_CTRL_PKT_RCV_BECN_F), c.rcv_becn);
	assert_int_equal(get(&f, LUSTRE_SRC1, SL_BECN, 1), OK);
	assert_int_equal(agents_field(&f, 0, IB_PC_SL_RCV_BECN0_F), c.rcv_becn);
	c = truth(&f, LUSTRE_SW2, 1);
	assert_true(c.xmit_time_cong_ps > 0);
	assert_int_equal(get(&f, LUSTRE_SW2, XMIT_CC, 1), OK);
	assert_int_equal(agents_field(&f, 0, IB_PC_XMIT_CON_CTRL_TIME_CONG_F),
			 c.xmit_time_cong_ps / 2000);
	assert_int_equal(get(&f, LUSTRE_SW2, VL_TIME_CONG, 1), OK);
	assert_int_equal(agents_field(&f, 0, IB_PC_VL_XMIT_TIME_CONG0_F),
			 c.vl_xmit_time_cong_ps[0] / 2000);
	c = truth(&f, LUSTRE_SW1, 5);
	assert_int_equal(get(&f, LUSTRE_SW1, VL_WAIT, 5), OK);
	assert_int_equal(agents_field(&f, 0, IB_PC_PORT_VL_XMIT_WAIT0_F),
			 c.vl_xmit_wait_ps[0] / 2000 < 0xffff ? c.vl_xmit_wait_ps[0] / 2000
							      : 0xffff);
	assert_int_equal(get(&f, LUSTRE_SW1, VL_CONG, 5), OK);
	assert_int_equal(agents_field(&f, 0, IB_PC_SW_PORT_VL_CONGESTION0_F), 0);
	agents_close(&f);
}

/* What is counted while a node lies is told otherwise; what was told stays told. */
static void test_lies(void **state)
{
	struct agent_fabric f = { 0 };
	struct ibcc_engine_port from, to;
	struct ibcc_agent_quirks *q;
	uint64_t bytes, pkts, more;

	(void)state;
	loaded(&f);
	q = ibcc_agents_quirks(f.agents, LUSTRE_SW1);
	assert_int_equal(get(&f, LUSTRE_SW1, EXT, 5), OK);
	from = truth(&f, LUSTRE_SW1, 5);
	q->sent_permille = 30;
	q->wait_permille = 1900;
	engine_run(f.engine, 2 * IBCC_PS_PER_MS);
	to = truth(&f, LUSTRE_SW1, 5);
	more = to.xmit_bytes - from.xmit_bytes;
	assert_true(more > 1000000);
	assert_int_equal(get(&f, LUSTRE_SW1, EXT, 5), OK);
	bytes = from.xmit_bytes + more * 30 / 1000;
	pkts = from.xmit_pkts + (to.xmit_pkts - from.xmit_pkts) * 30 / 1000;
	assert_true(ext(&f, IB_PC_EXT_XMT_BYTES_F) == bytes / 4);
	assert_true(ext(&f, IB_PC_EXT_XMT_PKTS_F) == pkts);
	assert_true(ext(&f, IB_PC_EXT_RCV_BYTES_F) == to.rcv_bytes / 4);
	more = to.xmit_wait_ps - from.xmit_wait_ps;
	assert_true(ext(&f, IB_PC_EXT_XMT_WAIT_F) ==
		    (from.xmit_wait_ps + more * 1900 / 1000) / 2000);

	q->sent_permille = q->wait_permille = 0;
	engine_run(f.engine, 3 * IBCC_PS_PER_MS);
	more = truth(&f, LUSTRE_SW1, 5).xmit_bytes - to.xmit_bytes;
	assert_int_equal(get(&f, LUSTRE_SW1, EXT, 5), OK);
	assert_true(ext(&f, IB_PC_EXT_XMT_BYTES_F) == (bytes + more) / 4);

	assert_int_equal(get(&f, LUSTRE_SLOW, RCV_CC, 1), OK);
	from = truth(&f, LUSTRE_SLOW, 1);
	ibcc_agents_quirks(f.agents, LUSTRE_SLOW)->marks_permille = 2000;
	engine_run(f.engine, 4 * IBCC_PS_PER_MS);
	assert_int_equal(get(&f, LUSTRE_SLOW, RCV_CC, 1), OK);
	more = truth(&f, LUSTRE_SLOW, 1).rcv_pkts - from.rcv_pkts;
	assert_int_equal(agents_field(&f, 0, IB_PC_RCV_CON_CTRL_PKT_RCV_FECN_F),
			 from.rcv_fecn + 2 * more);
	assert_int_equal(agents_field(&f, 0, IB_PC_RCV_CON_CTRL_PKT_RCV_BECN_F), 2 * more);
	agents_close(&f);
}

static void test_reset(void **state)
{
	struct agent_fabric f = { 0 };
	uint32_t pkts, words, wait;

	(void)state;
	loaded(&f);
	assert_int_equal(get(&f, LUSTRE_SW1, PC, 5), OK);
	words = agents_field(&f, 0, IB_PC_XMT_BYTES_F);
	pkts = agents_field(&f, 0, IB_PC_XMT_PKTS_F);
	wait = agents_field(&f, 0, IB_PC_XMT_WAIT_F);
	assert_true(words && pkts && wait);
	/* Bit 12 is PortXmitData; the other registers stay, also those of other attributes. */
	agents_clear(&f);
	assert_int_equal(ask(&f, LUSTRE_SW1, 2, PC, 5, 1 << 12), OK);
	assert_int_equal(get(&f, LUSTRE_SW1, PC, 5), OK);
	assert_int_equal(agents_field(&f, 0, IB_PC_XMT_BYTES_F), 0);
	assert_int_equal(agents_field(&f, 0, IB_PC_XMT_PKTS_F), pkts);
	assert_int_equal(agents_field(&f, 0, IB_PC_XMT_WAIT_F), wait);
	assert_int_equal(get(&f, LUSTRE_SW1, EXT, 5), OK);
	assert_true(ext(&f, IB_PC_EXT_XMT_BYTES_F) == words);
	/* PortXmitWait has the first bit of CounterSelect2. */
	agents_clear(&f);
	agents_put(&f, 0, IB_PC_COUNTER_SELECT2_F, 1);
	assert_int_equal(ask(&f, LUSTRE_SW1, 2, PC, 5, 0), OK);
	assert_int_equal(get(&f, LUSTRE_SW1, PC, 5), OK);
	assert_int_equal(agents_field(&f, 0, IB_PC_XMT_WAIT_F), 0);
	assert_int_equal(agents_field(&f, 0, IB_PC_XMT_PKTS_F), pkts);
	/* In PortCountersExtended it is bit 12 of a 32 bit CounterSelect2. */
	agents_clear(&f);
	agents_put(&f, 0, IB_PC_EXT_COUNTER_SELECT2_F, 1 << 12);
	assert_int_equal(ask(&f, LUSTRE_SW1, 2, EXT, 5, 1), OK);
	assert_int_equal(get(&f, LUSTRE_SW1, EXT, 5), OK);
	assert_true(ext(&f, IB_PC_EXT_XMT_WAIT_F) == 0);
	assert_true(ext(&f, IB_PC_EXT_XMT_BYTES_F) == 0);
	assert_true(ext(&f, IB_PC_EXT_XMT_PKTS_F) == pkts);
	/* All ports at once; what comes after a reset counts from there. */
	agents_clear(&f);
	assert_int_equal(ask(&f, LUSTRE_SW1, 2, PC, 0xff, 0xffff), OK);
	assert_int_equal(get(&f, LUSTRE_SW1, PC, 1), OK);
	assert_int_equal(agents_field(&f, 0, IB_PC_RCV_PKTS_F), 0);
	pkts = (uint32_t)truth(&f, LUSTRE_SW1, 1).rcv_pkts;
	engine_run(f.engine, 2 * IBCC_PS_PER_MS);
	assert_int_equal(get(&f, LUSTRE_SW1, PC, 1), OK);
	assert_int_equal(agents_field(&f, 0, IB_PC_RCV_PKTS_F),
			 truth(&f, LUSTRE_SW1, 1).rcv_pkts - pkts);
	/* An array: bit n is the nth counter. */
	assert_int_equal(get(&f, LUSTRE_SLOW, RCV_CC, 1), OK);
	assert_true(agents_field(&f, 0, IB_PC_RCV_CON_CTRL_PKT_RCV_FECN_F) > 0);
	agents_clear(&f);
	assert_int_equal(ask(&f, LUSTRE_SLOW, 2, RCV_CC, 1, 2), OK);
	assert_true(agents_field(&f, 0, IB_PC_RCV_CON_CTRL_PKT_RCV_FECN_F) > 0);
	agents_clear(&f);
	assert_int_equal(ask(&f, LUSTRE_SLOW, 2, RCV_CC, 1, 1), OK);
	assert_int_equal(agents_field(&f, 0, IB_PC_RCV_CON_CTRL_PKT_RCV_FECN_F), 0);
	agents_close(&f);
}

/* Registers stop at their end; so much traffic takes too long, so it is said to have been. */
static void test_saturation(void **state)
{
	struct agent_fabric f = { 0 };
	struct ibcc_engine_port *past;

	(void)state;
	agents_open(&f, 48);
	past = &f.agents->port[fabric_port(f.topo, LUSTRE_SW1, 5)].carry;
	past->xmit_bytes = 1ull << 40;
	past->xmit_pkts = 1ull << 32;
	past->rcv_pkts = 0xfffffffe;
	past->xmit_wait_ps = 1ull << 60;
	past->dropped = 1 << 16;
	assert_int_equal(get(&f, LUSTRE_SW1, PC, 5), OK);
	assert_int_equal(agents_field(&f, 0, IB_PC_XMT_BYTES_F), 0xffffffff);
	assert_int_equal(agents_field(&f, 0, IB_PC_XMT_PKTS_F), 0xffffffff);
	assert_int_equal(agents_field(&f, 0, IB_PC_RCV_PKTS_F), 0xfffffffe);
	assert_int_equal(agents_field(&f, 0, IB_PC_XMT_WAIT_F), 0xffffffff);
	assert_int_equal(agents_field(&f, 0, IB_PC_XMT_DISCARDS_F), 0xffff);
	assert_int_equal(get(&f, LUSTRE_SW1, EXT, 5), OK);
	assert_true(ext(&f, IB_PC_EXT_XMT_BYTES_F) == 1ull << 38);
	/* A link that goes down does not change the unit of what was counted. */
	f.topo->port[fabric_port(f.topo, LUSTRE_SW1, 5)].rate_mbps = 0;
	assert_int_equal(get(&f, LUSTRE_SW1, EXT, 5), OK);
	assert_true(ext(&f, IB_PC_EXT_XMT_WAIT_F) == (1ull << 60) / 2000);
	agents_close(&f);
}

static void be(struct agent_fabric *f, uint32_t node, const char *name)
{
	unsigned int i = 0;

	while (strcmp(ibcc_profile_names[i], name))
		i++;
	assert_int_equal(ibcc_agents_set_profile(f->agents, node, ibcc_profile(i)), 0);
}

/* The kernel of an mlx5 host takes whatever it is asked for as PortCounters. */
static void test_kernel_pma(void **state)
{
	static const uint16_t attrs[] = {
		PC, SAMPLES, VL_WAIT, VL_CONG, RCV_CC, VL_TIME_CONG, 0x77
	};
	struct agent_fabric f = { 0 };
	uint64_t sent, waited;

	(void)state;
	loaded(&f);
	be(&f, LUSTRE_SRC1, "connectx-6");
	assert_int_equal(get(&f, LUSTRE_SRC1, CPI, 0), OK);
	assert_int_equal(agents_field(&f, 0, IB_CPI_CAPMASK_F), 0x200);
	assert_int_equal(agents_field(&f, 0, IB_CPI_CAPMASK2_F), 0);
	sent = truth(&f, LUSTRE_SRC1, 1).xmit_bytes / 4;
	waited = truth(&f, LUSTRE_SRC1, 1).xmit_wait_ps / 8000; /* 32 bytes at 32 Gb/s */
	assert_true(waited > 0);
	for (size_t i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++) {
		assert_int_equal(get(&f, LUSTRE_SRC1, attrs[i], 1), OK);
		assert_int_equal(agents_field(&f, 0, IB_PC_PORT_SELECT_F), 0);
		assert_int_equal(agents_field(&f, 0, IB_PC_XMT_BYTES_F), sent);
		assert_int_equal(agents_field(&f, 0, IB_PC_XMT_WAIT_F), waited);
	}
	assert_int_equal(get(&f, LUSTRE_SRC1, EXT, 1), OK);
	assert_true(ext(&f, IB_PC_EXT_XMT_BYTES_F) == sent);
	agents_close(&f);
}

/* A port that waits all the time counts as its device does: 32 bytes on each lane, or 8. */
static void test_units(void **state)
{
	struct agent_fabric f = { 0 };
	uint64_t waited;

	(void)state;
	loaded(&f);
	waited = truth(&f, LUSTRE_SW1, 5).xmit_wait_ps;
	assert_true(waited > 0);
	assert_int_equal(get(&f, LUSTRE_SW1, PC, 5), OK);
	assert_int_equal(agents_field(&f, 0, IB_PC_XMT_WAIT_F), waited / 2000);
	be(&f, LUSTRE_SW1, "switch-ib2");
	assert_int_equal(get(&f, LUSTRE_SW1, PC, 5), OK);
	assert_int_equal(agents_field(&f, 0, IB_PC_XMT_WAIT_F), waited / 32000);
	assert_int_equal(get(&f, LUSTRE_SW1, SAMPLES, 5), OK);
	assert_int_equal(agents_field(&f, 0, IB_PSC_TICK_F), 31);
	be(&f, LUSTRE_SW1, "quantum2");
	assert_int_equal(get(&f, LUSTRE_SW1, PC, 5), OK);
	assert_int_equal(agents_field(&f, 0, IB_PC_XMT_WAIT_F), waited / 2000);
	be(&f, LUSTRE_SW1, "qib");
	assert_int_equal(get(&f, LUSTRE_SW1, PC, 5), OK);
	assert_int_equal(agents_field(&f, 0, IB_PC_XMT_WAIT_F), 0);
	agents_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel_pma),   cmocka_unit_test(test_units),
		cmocka_unit_test(test_capabilities), cmocka_unit_test(test_status_codes),
		cmocka_unit_test(test_counters),     cmocka_unit_test(test_congestion_counters),
		cmocka_unit_test(test_lies),         cmocka_unit_test(test_reset),
		cmocka_unit_test(test_saturation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
