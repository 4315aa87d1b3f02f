/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* PerfMgt attributes against libibmad's field table, OpenSM's packed structs and hand-made bytes.
 */
#include "codec.h"

#include <ibcc/pma.h>

#define DATA 64

CODEC(ibcc_pma_class_port_info, ibcc_pma_class_port_info)
CODEC(ibcc_pma_samples_control, ibcc_pma_samples_control)
CODEC(ibcc_pma_counters, ibcc_pma_counters)
CODEC(ibcc_pma_counters_ext, ibcc_pma_counters_ext)

static const uint16_t arrays[] = {
	IBCC_PMA_ATTR_VL_XMIT_WAIT,      IBCC_PMA_ATTR_SW_PORT_VL_CONGESTION,
	IBCC_PMA_ATTR_RCV_CON_CTRL,      IBCC_PMA_ATTR_SL_RCV_FECN,
	IBCC_PMA_ATTR_SL_RCV_BECN,       IBCC_PMA_ATTR_XMIT_CON_CTRL,
	IBCC_PMA_ATTR_VL_XMIT_TIME_CONG, IBCC_PMA_ATTR_XMIT_DATA_SL,
};
#define N_ARRAYS (sizeof(arrays) / sizeof(arrays[0]))

static void test_class_port_info(void **state)
{
#define F(field, bits, member) WIRE(field, DATA, bits, ibcc_pma_class_port_info, member)
	static const struct wire_field f[] = {
		F(IB_CPI_BASEVER_F, 8, base_version),      F(IB_CPI_CLASSVER_F, 8, class_version),
		F(IB_CPI_CAPMASK_F, 16, cap_mask),         F(IB_CPI_CAPMASK2_F, 27, cap_mask2),
		F(IB_CPI_RESP_TIME_VALUE_F, 5, resp_time),
	};
#undef F
	struct datagram d;

	(void)state;
	CHECK_FIELDS(f, ibcc_pma_class_port_info, ibcc_pma_class_port_info);
	CHECK_ROUND_TRIP(ibcc_pma_class_port_info, ibcc_pma_class_port_info, DATA);
	for (int i = 0; i < ROUNDS; i++) {
		struct ibcc_pma_class_port_info v;
		ib_class_port_info_t *o = (ib_class_port_info_t *)(d.b + DATA);

		rnd_fill(d.b, sizeof(d.b));
		ibcc_pma_class_port_info_unpack(d.b, &v);
		assert_int_equal(v.cap_mask, ntohs(o->cap_mask));
		assert_int_equal(v.cap_mask2, ib_class_cap_mask2(o));
		assert_int_equal(v.resp_time, ib_class_resp_time_val(o));
	}
}

static void test_cap_bits(void **state)
{
	(void)state;
	assert_int_equal(IBCC_PMA_CAP_ALL_PORT, ntohs(IB_PM_ALL_PORT_SELECT));
	assert_int_equal(IBCC_PMA_CAP_EXT_WIDTH, ntohs(IB_PM_EXT_WIDTH_SUPPORTED));
	assert_int_equal(IBCC_PMA_CAP_EXT_WIDTH_NOIETF, ntohs(IB_PM_EXT_WIDTH_NOIETF_SUP));
	assert_int_equal(IBCC_PMA_CAP_XMIT_WAIT, ntohs(IB_PM_PC_XMIT_WAIT_SUP));
}

static void test_samples_control(void **state)
{
#define F(field, bits, member) WIRE(field, DATA, bits, ibcc_pma_samples_control, member)
	static const struct wire_field f[] = {
		F(IB_PSC_PORT_SELECT_F, 8, port),
		F(IB_PSC_TICK_F, 8, tick),
		F(IB_PSC_COUNTER_WIDTH_F, 3, counter_width),
		F(IB_PSC_OPTION_MASK_F, 64, option_mask),
	};
#undef F
	const struct ibcc_pma_samples_control v = {
		.port = 3,
		.tick = 7,
		.counter_width = 4,
		.option_mask = IBCC_PMA_OPT_SW_PORT_VL_CONGESTION | IBCC_PMA_OPT_VL_XMIT_TIME_CONG,
	};
	struct datagram d;

	(void)state;
	CHECK_FIELDS(f, ibcc_pma_samples_control, ibcc_pma_samples_control);
	CHECK_ROUND_TRIP(ibcc_pma_samples_control, ibcc_pma_samples_control, DATA);
	ibcc_pma_samples_control_pack(d.b, &v);
	assert_memory_equal(d.b + DATA, "\0\3\7\4\0\0\0\0\0\0\0\0\0\x41\0\0\0\0\0\0", 20);
}

static void test_select(void **state)
{
	const struct ibcc_pma_select v = { .port = 5, .counters = 0xffff, .counters2 = 1 };
	struct ibcc_pma_select got;
	struct datagram d = { { 0 } };
	const ib_port_counters_t *o = (const ib_port_counters_t *)(d.b + DATA);

	(void)state;
	ibcc_pma_select_pack(d.b, IBCC_PMA_ATTR_COUNTERS, &v);
	assert_int_equal(o->port_select, 5);
	assert_int_equal(o->counter_select, 0xffff);
	assert_int_equal(o->counter_select2, 1);
	ibcc_pma_select_unpack(d.b, IBCC_PMA_ATTR_COUNTERS, &got);
	assert_int_equal(got.port, 5);
	assert_int_equal(got.counters, 0xffff);
	assert_int_equal(got.counters2, 1);

	/* Every other counter attribute has port and 16 bits of mask. */
	for (size_t i = 0; i <= N_ARRAYS; i++) {
		uint16_t attr = i < N_ARRAYS ? arrays[i] : (uint16_t)IBCC_PMA_ATTR_COUNTERS_EXT;
		struct datagram e = { { 0 } }, want = { { 0 } };

		memcpy(want.b + DATA, "\0\5\xff\xff", 4);
		ibcc_pma_select_pack(e.b, attr, &v);
		assert_memory_equal(e.b, want.b, sizeof(e.b));
		memset(e.b, 0xff, sizeof(e.b));
		ibcc_pma_select_unpack(e.b, attr, &got);
		assert_int_equal(got.port, 255);
		assert_int_equal(got.counters, 0xffff);
		assert_int_equal(got.counters2, 0);
	}

	/* PortSamplesControl has a port, where Tick is others' mask; ClassPortInfo has neither. */
	memset(d.b, 0, sizeof(d.b));
	ibcc_pma_select_pack(d.b, IBCC_PMA_ATTR_SAMPLES_CONTROL, &v);
	assert_memory_equal(d.b + DATA, "\0\5\0\0", 4);
	memset(d.b, 0xff, sizeof(d.b));
	ibcc_pma_select_unpack(d.b, IBCC_PMA_ATTR_SAMPLES_CONTROL, &got);
	assert_int_equal(got.port, 255);
	assert_int_equal(got.counters, 0);
	ibcc_pma_select_pack(d.b, IBCC_PMA_ATTR_CLASS_PORT_INFO, &v);
	assert_memory_equal(d.b + DATA, "\xff\xff\xff\xff", 4);
	ibcc_pma_select_unpack(d.b, IBCC_PMA_ATTR_CLASS_PORT_INFO, &got);
	assert_int_equal(got.port | got.counters | got.counters2, 0);
}

static void test_counters(void **state)
{
#define F(field, bits, member) WIRE(field, DATA, bits, ibcc_pma_counters, member)
	static const struct wire_field f[] = {
		F(IB_PC_ERR_SYM_F, 16, SymbolErrorCounter),
		F(IB_PC_LINK_RECOVERS_F, 8, LinkErrorRecoveryCounter),
		F(IB_PC_LINK_DOWNED_F, 8, LinkDownedCounter),
		F(IB_PC_ERR_RCV_F, 16, PortRcvErrors),
		F(IB_PC_ERR_PHYSRCV_F, 16, PortRcvRemotePhysicalErrors),
		F(IB_PC_ERR_SWITCH_REL_F, 16, PortRcvSwitchRelayErrors),
		F(IB_PC_XMT_DISCARDS_F, 16, PortXmitDiscards),
		F(IB_PC_ERR_XMTCONSTR_F, 8, PortXmitConstraintErrors),
		F(IB_PC_ERR_RCVCONSTR_F, 8, PortRcvConstraintErrors),
		F(IB_PC_ERR_LOCALINTEG_F, 4, LocalLinkIntegrityErrors),
		F(IB_PC_ERR_EXCESS_OVR_F, 4, ExcessiveBufferOverrunErrors),
		F(IB_PC_VL15_DROPPED_F, 16, VL15Dropped),
		F(IB_PC_XMT_BYTES_F, 32, PortXmitData),
		F(IB_PC_RCV_BYTES_F, 32, PortRcvData),
		F(IB_PC_XMT_PKTS_F, 32, PortXmitPkts),
		F(IB_PC_RCV_PKTS_F, 32, PortRcvPkts),
		F(IB_PC_XMT_WAIT_F, 32, PortXmitWait),
	};
#undef F

	(void)state;
	CHECK_FIELDS(f, ibcc_pma_counters, ibcc_pma_counters);
	for (int i = 0; i < ROUNDS; i++) {
		struct ibcc_pma_counters v;
		struct datagram d, out;
		const ib_port_counters_t *o = (const ib_port_counters_t *)(d.b + DATA);

		rnd_fill(d.b, sizeof(d.b));
		ibcc_pma_counters_unpack(d.b, &v);
		assert_int_equal(v.SymbolErrorCounter, ntohs(o->symbol_err_cnt));
		assert_int_equal(v.LinkErrorRecoveryCounter, o->link_err_recover);
		assert_int_equal(v.LinkDownedCounter, o->link_downed);
		assert_int_equal(v.PortRcvErrors, ntohs(o->rcv_err));
		assert_int_equal(v.PortRcvRemotePhysicalErrors, ntohs(o->rcv_rem_phys_err));
		assert_int_equal(v.PortRcvSwitchRelayErrors, ntohs(o->rcv_switch_relay_err));
		assert_int_equal(v.PortXmitDiscards, ntohs(o->xmit_discards));
		assert_int_equal(v.PortXmitConstraintErrors, o->xmit_constraint_err);
		assert_int_equal(v.PortRcvConstraintErrors, o->rcv_constraint_err);
		assert_int_equal(v.LocalLinkIntegrityErrors,
				 PC_LINK_INT(o->link_int_buffer_overrun));
		assert_int_equal(v.ExcessiveBufferOverrunErrors,
				 PC_BUF_OVERRUN(o->link_int_buffer_overrun));
		assert_int_equal(v.VL15Dropped, ntohs(o->vl15_dropped));
		assert_int_equal(v.PortXmitData, ntohl(o->xmit_data));
		assert_int_equal(v.PortRcvData, ntohl(o->rcv_data));
		assert_int_equal(v.PortXmitPkts, ntohl(o->xmit_pkts));
		assert_int_equal(v.PortRcvPkts, ntohl(o->rcv_pkts));
		assert_int_equal(v.PortXmitWait, ntohl(o->xmit_wait));

		/* Packed over what was there: same values, head untouched, the rest cleared. */
		out = d;
		ibcc_pma_counters_pack(out.b, &v);
		assert_memory_equal(out.b, d.b, DATA + 20);
		assert_memory_equal(out.b + DATA + 20, "\0\0", 2);
		assert_memory_equal(out.b + DATA + 22, d.b + DATA + 22, 22);
		for (int j = DATA + 44; j < 256; j++)
			assert_int_equal(out.b[j], 0);
	}
}

static void test_counters_saturate(void **state)
{
	struct ibcc_pma_counters v = {
		.LocalLinkIntegrityErrors = 16,
		.ExcessiveBufferOverrunErrors = 15,
		.PortXmitData = 0x100000000ull,
		.PortRcvData = 0xffffffffull,
		.PortXmitPkts = UINT64_MAX,
		.PortRcvPkts = 0xfffffffeull,
		.PortXmitWait = 0x123456789ull,
	};
	struct ibcc_pma_counters got;
	struct datagram d = { { 0 } };

	(void)state;
	ibcc_pma_counters_pack(d.b, &v);
	ibcc_pma_counters_unpack(d.b, &got);
	assert_int_equal(got.LocalLinkIntegrityErrors, 15);
	assert_int_equal(got.ExcessiveBufferOverrunErrors, 15);
	assert_int_equal(got.PortXmitData, 0xffffffff);
	assert_int_equal(got.PortRcvData, 0xffffffff);
	assert_int_equal(got.PortXmitPkts, 0xffffffff);
	assert_int_equal(got.PortRcvPkts, 0xfffffffe);
	assert_int_equal(got.PortXmitWait, 0xffffffff);
}

static void test_counters_ext(void **state)
{
#define F(field, member) WIRE(field, DATA, 64, ibcc_pma_counters_ext, member)
	static const struct wire_field f[] = {
		F(IB_PC_EXT_XMT_BYTES_F, PortXmitData),
		F(IB_PC_EXT_RCV_BYTES_F, PortRcvData),
		F(IB_PC_EXT_XMT_PKTS_F, PortXmitPkts),
		F(IB_PC_EXT_RCV_PKTS_F, PortRcvPkts),
		F(IB_PC_EXT_XMT_UPKTS_F, PortUnicastXmitPkts),
		F(IB_PC_EXT_RCV_UPKTS_F, PortUnicastRcvPkts),
		F(IB_PC_EXT_XMT_MPKTS_F, PortMulticastXmitPkts),
		F(IB_PC_EXT_RCV_MPKTS_F, PortMulticastRcvPkts),
		F(IB_PC_EXT_XMT_WAIT_F, PortXmitWait),
	};
#undef F

	(void)state;
	CHECK_FIELDS(f, ibcc_pma_counters_ext, ibcc_pma_counters_ext);
	CHECK_ROUND_TRIP(ibcc_pma_counters_ext, ibcc_pma_counters_ext, DATA + 8);
	for (int i = 0; i < ROUNDS; i++) {
		struct ibcc_pma_counters_ext v;
		struct datagram d;
		const ib_port_counters_ext_t *o = (const ib_port_counters_ext_t *)(d.b + DATA);

		rnd_fill(d.b, sizeof(d.b));
		ibcc_pma_counters_ext_unpack(d.b, &v);
		assert_int_equal(v.PortXmitData, be64toh(o->xmit_data));
		assert_int_equal(v.PortRcvData, be64toh(o->rcv_data));
		assert_int_equal(v.PortXmitPkts, be64toh(o->xmit_pkts));
		assert_int_equal(v.PortRcvPkts, be64toh(o->rcv_pkts));
		assert_int_equal(v.PortUnicastXmitPkts, be64toh(o->unicast_xmit_pkts));
		assert_int_equal(v.PortUnicastRcvPkts, be64toh(o->unicast_rcv_pkts));
		assert_int_equal(v.PortMulticastXmitPkts, be64toh(o->multicast_xmit_pkts));
		assert_int_equal(v.PortMulticastRcvPkts, be64toh(o->multicast_rcv_pkts));
		assert_int_equal(v.PortXmitWait, be64toh(o->xmit_wait));
	}
}

/* Offsets and widths as the specification lists them: n counters from bit 32 on. */
static void test_arrays(void **state)
{
	static const struct {
		uint16_t attr;
		unsigned int len, width;
		enum MAD_FIELDS first, last;
	} want[] = {
		{ 0x1c, 16, 16, IB_PC_PORT_VL_XMIT_WAIT0_F, IB_PC_PORT_VL_XMIT_WAIT15_F },
		{ 0x30, 16, 16, IB_PC_SW_PORT_VL_CONGESTION0_F, IB_PC_SW_PORT_VL_CONGESTION15_F },
		{ 0x31, 2, 32, IB_PC_RCV_CON_CTRL_PKT_RCV_FECN_F,
		  IB_PC_RCV_CON_CTRL_PKT_RCV_BECN_F },
		{ 0x32, 16, 32, IB_PC_SL_RCV_FECN0_F, IB_PC_SL_RCV_FECN15_F },
		{ 0x33, 16, 32, IB_PC_SL_RCV_BECN0_F, IB_PC_SL_RCV_BECN15_F },
		{ 0x34, 1, 32, IB_PC_XMIT_CON_CTRL_TIME_CONG_F, IB_PC_XMIT_CON_CTRL_TIME_CONG_F },
		{ 0x35, 15, 32, IB_PC_VL_XMIT_TIME_CONG0_F, IB_PC_VL_XMIT_TIME_CONG14_F },
		{ 0x36, 16, 32, IB_PC_XMT_DATA_SL0_F, IB_PC_XMT_DATA_SL15_F },
	};

	(void)state;
	for (size_t a = 0; a < sizeof(want) / sizeof(want[0]); a++) {
		unsigned int len = want[a].len, bytes = want[a].width / 8;
		uint64_t max = (1ull << want[a].width) - 1, v[16], got[17];
		struct datagram d, head;

		assert_int_equal(ibcc_pma_array_len(want[a].attr), len);
		assert_int_equal(ibcc_pma_array_width(want[a].attr), want[a].width);
		assert_int_equal(want[a].last - want[a].first + 1, len);
		for (int r = 0; r < ROUNDS; r++) {
			rnd_fill(d.b, sizeof(d.b));
			head = d;
			for (unsigned int i = 0; i < 16; i++)
				v[i] = rnd() >> rnd() % 64;
			ibcc_pma_array_pack(d.b, want[a].attr, v);
			memset(got, 0x5a, sizeof(got));
			ibcc_pma_array_unpack(d.b, want[a].attr, got);
			for (unsigned int i = 0; i < len; i++) {
				uint64_t clamped = v[i] < max ? v[i] : max, wire = 0;

				assert_int_equal(got[i], clamped);
				assert_int_equal(
					mad_get_field(d.b, DATA,
						      (enum MAD_FIELDS)(want[a].first + i)),
					clamped);
				for (unsigned int b = 0; b < bytes; b++)
					wire = wire << 8 | d.b[DATA + 4 + i * bytes + b];
				assert_int_equal(wire, clamped);
			}
			assert_int_equal(got[len], 0x5a5a5a5a5a5a5a5a);
			assert_memory_equal(d.b, head.b, DATA + 4);
			for (unsigned int i = DATA + 4 + len * bytes; i < 256; i++)
				assert_int_equal(d.b[i], 0);
		}
	}
}

static void test_array_others(void **state)
{
	uint64_t v[16] = { 0 };
	struct datagram d, before;

	(void)state;
	rnd_fill(d.b, sizeof(d.b));
	before = d;
	for (unsigned int attr = 0; attr < 0x200; attr++) {
		bool is_array = false;

		for (size_t i = 0; i < N_ARRAYS; i++)
			is_array |= arrays[i] == attr;
		assert_int_equal(!!ibcc_pma_array_len((uint16_t)attr), is_array);
		assert_int_equal(!!ibcc_pma_array_width((uint16_t)attr), is_array);
		if (is_array)
			continue;
		ibcc_pma_array_pack(d.b, (uint16_t)attr, v);
		ibcc_pma_array_unpack(d.b, (uint16_t)attr, v);
		assert_memory_equal(d.b, before.b, sizeof(d.b));
		assert_int_equal(v[0], 0);
	}
}

static void test_names(void **state)
{
	static const struct {
		uint16_t attr;
		const char *name;
	} names[] = {
		{ 0x01, "ClassPortInfo" },          { 0x10, "PortSamplesControl" },
		{ 0x11, "PortSamplesResult" },      { 0x12, "PortCounters" },
		{ 0x1c, "PortVLXmitWaitCounters" }, { 0x1d, "PortCountersExtended" },
		{ 0x30, "SwPortVLCongestion" },     { 0x31, "PortRcvConCtrl" },
		{ 0x32, "PortSLRcvFECN" },          { 0x33, "PortSLRcvBECN" },
		{ 0x34, "PortXmitConCtrl" },        { 0x35, "PortVLXmitTimeCong" },
		{ 0x36, "PortXmitDataSL" },         { 0x37, "unknown attribute" },
		{ 0xffff, "unknown attribute" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_string_equal(ibcc_pma_attr_name(names[i].attr), names[i].name);
	assert_int_equal(IBCC_PMA_ATTR_SW_PORT_VL_CONGESTION, IB_GSI_SW_PORT_VL_CONGESTION);
	assert_int_equal(IBCC_PMA_ATTR_RCV_CON_CTRL, IB_GSI_PORT_RCV_CON_CTRL);
	assert_int_equal(IBCC_PMA_ATTR_SL_RCV_FECN, IB_GSI_PORT_SL_RCV_FECN);
	assert_int_equal(IBCC_PMA_ATTR_SL_RCV_BECN, IB_GSI_PORT_SL_RCV_BECN);
	assert_int_equal(IBCC_PMA_ATTR_XMIT_CON_CTRL, IB_GSI_PORT_XMIT_CON_CTRL);
	assert_int_equal(IBCC_PMA_ATTR_VL_XMIT_TIME_CONG, IB_GSI_PORT_VL_XMIT_TIME_CONG);
	assert_int_equal(IBCC_PMA_ATTR_XMIT_DATA_SL, IB_GSI_PORT_XMIT_DATA_SL);
	assert_int_equal(IBCC_PMA_ATTR_VL_XMIT_WAIT, IB_GSI_PORT_PORT_VL_XMIT_WAIT_COUNTERS);
	assert_int_equal(IBCC_PMA_ATTR_COUNTERS_EXT, IB_GSI_PORT_COUNTERS_EXT);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_class_port_info), cmocka_unit_test(test_cap_bits),
		cmocka_unit_test(test_samples_control), cmocka_unit_test(test_select),
		cmocka_unit_test(test_counters),        cmocka_unit_test(test_counters_saturate),
		cmocka_unit_test(test_counters_ext),    cmocka_unit_test(test_arrays),
		cmocka_unit_test(test_array_others),    cmocka_unit_test(test_names),
	};

	test_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
