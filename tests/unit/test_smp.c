/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Subnet management attributes against OpenSM's packed structs and accessors. */
#include "codec.h"

#include <ibcc/smp.h>

#define DATA 64

static void test_direct_get(void **state)
{
	struct ibcc_smp_path path = { .hops = 3, .port = { 9, 1, 36, 7, 8 } };
	struct datagram d;
	const ib_smp_t *o = (const ib_smp_t *)d.b;

	(void)state;
	memset(d.b, 0xff, sizeof(d.b));
	ibcc_smp_direct_get(d.b, &path, IBCC_SMP_ATTR_NODE_INFO, 0x01020304);
	assert_int_equal(o->base_ver, 1);
	assert_int_equal(o->mgmt_class, IB_MCLASS_SUBN_DIR);
	assert_int_equal(o->class_ver, 1);
	assert_int_equal(o->method, IB_MAD_METHOD_GET);
	assert_int_equal(o->status, 0);
	assert_int_equal(o->hop_ptr, 0);
	assert_int_equal(o->hop_count, 3);
	assert_int_equal(o->attr_id, IB_MAD_ATTR_NODE_INFO);
	assert_int_equal(ntohl(o->attr_mod), 0x01020304);
	assert_int_equal(o->dr_slid, 0xffff);
	assert_int_equal(o->dr_dlid, 0xffff);
	/* Only the hops that count, from index 1. */
	assert_memory_equal(o->initial_path, "\0\1\x24\7\0\0\0\0", 8);
	for (int i = 0; i < 64; i++)
		assert_int_equal(o->data[i] | o->return_path[i], 0);

	path.hops = 63;
	memset(path.port, 0x11, sizeof(path.port));
	ibcc_smp_direct_get(d.b, &path, IBCC_SMP_ATTR_NODE_INFO, 0);
	assert_int_equal(o->hop_count, 63);
	assert_int_equal(o->initial_path[0], 0);
	assert_int_equal(o->initial_path[63], 0x11);
	assert_int_equal(o->return_path[0], 0);
	path.hops = 255;
	ibcc_smp_direct_get(d.b, &path, IBCC_SMP_ATTR_NODE_INFO, 0);
	assert_int_equal(o->hop_count, 63);
	path.hops = 0;
	ibcc_smp_direct_get(d.b, &path, IBCC_SMP_ATTR_PORT_INFO, 1);
	assert_int_equal(o->hop_count, 0);
	assert_int_equal(o->initial_path[1], 0);
}

static void test_attributes(void **state)
{
	(void)state;
	assert_int_equal(htons(IBCC_SMP_ATTR_NODE_DESC), IB_MAD_ATTR_NODE_DESC);
	assert_int_equal(htons(IBCC_SMP_ATTR_SWITCH_INFO), IB_MAD_ATTR_SWITCH_INFO);
	assert_int_equal(htons(IBCC_SMP_ATTR_PORT_INFO), IB_MAD_ATTR_PORT_INFO);
	assert_int_equal(htons(IBCC_SMP_ATTR_PKEY_TABLE), IB_MAD_ATTR_P_KEY_TABLE);
	assert_int_equal(htons(IBCC_SMP_ATTR_SL2VL), IB_MAD_ATTR_SLVL_TABLE);
	assert_int_equal(htons(IBCC_SMP_ATTR_VLARB), IB_MAD_ATTR_VL_ARBITRATION);
	assert_int_equal(htons(IBCC_SMP_ATTR_LFT), IB_MAD_ATTR_LIN_FWD_TBL);
	assert_int_equal(htons(IBCC_SMP_ATTR_SM_INFO), IB_MAD_ATTR_SM_INFO);
}

static void test_node_info(void **state)
{
	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		struct ibcc_smp_node_info v;
		struct datagram d;
		const ib_node_info_t *o = (const ib_node_info_t *)(d.b + DATA);

		rnd_fill(d.b, sizeof(d.b));
		ibcc_smp_node_info_unpack(d.b, &v);
		assert_int_equal(v.node_type, o->node_type);
		assert_int_equal(v.num_ports, o->num_ports);
		assert_int_equal(v.sys_guid, be64toh(o->sys_guid));
		assert_int_equal(v.node_guid, be64toh(o->node_guid));
		assert_int_equal(v.port_guid, be64toh(o->port_guid));
		assert_int_equal(v.local_port, ib_node_info_get_local_port_num(o));
		assert_int_equal(v.vendor_id, ntohl(ib_node_info_get_vendor_id(o)));
		assert_int_equal(v.device_id, ntohs(o->device_id));
	}
}

static void test_switch_info(void **state)
{
	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		struct ibcc_smp_switch_info v;
		struct datagram d;
		const ib_switch_info_t *o = (const ib_switch_info_t *)(d.b + DATA);

		rnd_fill(d.b, sizeof(d.b));
		ibcc_smp_switch_info_unpack(d.b, &v);
		assert_int_equal(v.lft_cap, ntohs(o->lin_cap));
		assert_int_equal(v.lft_top, ntohs(o->lin_top));
		assert_int_equal(v.enhanced_port0, !!ib_switch_info_is_enhanced_port0(o));
	}
}

/* The masks where OpenSM's accessors find them; and as ibcc_link_caps_decode() reads them. */
static void assert_caps(const struct ibcc_link_caps *got, const ib_port_info_t *o)
{
	uint8_t ext2 = ((const uint8_t *)o)[56];
	struct ibcc_link_masks supported = { o->link_width_supported,
					     ib_port_info_get_link_speed_sup(o),
					     ib_port_info_get_link_speed_ext_sup(o),
					     ext2 >> 3 & 3 };
	struct ibcc_link_masks enabled = { o->link_width_enabled,
					   ib_port_info_get_link_speed_enabled(o),
					   ib_port_info_get_link_speed_ext_enabled(o), ext2 & 7 };
	struct ibcc_link_caps want = ibcc_link_caps_decode(&supported, &enabled);

	assert_int_equal(got->widths, want.widths);
	assert_int_equal(got->speeds, want.speeds);
}

static void test_port_info(void **state)
{
	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		struct ibcc_smp_port_info v;
		struct datagram d;
		const ib_port_info_t *o = (const ib_port_info_t *)(d.b + DATA);

		rnd_fill(d.b, sizeof(d.b));
		ibcc_smp_port_info_unpack(d.b, &v);
		assert_true(v.gid_prefix == be64toh(o->subnet_prefix));
		assert_int_equal(v.lid, ntohs(o->base_lid));
		assert_int_equal(v.sm_lid, ntohs(o->master_sm_base_lid));
		assert_int_equal(v.lmc, ib_port_info_get_lmc(o));
		assert_int_equal(v.state, ib_port_info_get_port_state(o));
		assert_int_equal(v.phys_state, ib_port_info_get_port_phys_state(o));
		assert_int_equal(v.mtu_code, ib_port_info_get_neighbor_mtu(o));
		assert_int_equal(v.op_vls, ib_port_info_get_op_vls(o));
		assert_int_equal(v.lanes, ibcc_link_width_lanes(o->link_width_active));
		assert_caps(&v.caps, o);
	}
}

/* Signalling rate in Mb/s of PathRecord's rate codes, by width and speed as OpenSM maps them. */
static uint32_t signalling_mbps(uint8_t rate_code)
{
	static const uint32_t mbps[] = {
		[IB_PATH_RECORD_RATE_2_5_GBS] = 2500,   [IB_PATH_RECORD_RATE_10_GBS] = 10000,
		[IB_PATH_RECORD_RATE_30_GBS] = 30000,   [IB_PATH_RECORD_RATE_5_GBS] = 5000,
		[IB_PATH_RECORD_RATE_20_GBS] = 20000,   [IB_PATH_RECORD_RATE_40_GBS] = 40000,
		[IB_PATH_RECORD_RATE_60_GBS] = 60000,   [IB_PATH_RECORD_RATE_80_GBS] = 80000,
		[IB_PATH_RECORD_RATE_120_GBS] = 120000,
	};

	assert_true(rate_code < sizeof(mbps) / sizeof(mbps[0]));
	return mbps[rate_code];
}

static void test_port_rate(void **state)
{
	static const uint8_t widths[] = { 1, 2, 4, 8, 16 };
	/* Code, data rate of 4 lanes. */
	static const uint32_t ext[][2] = {
		{ 1, 54545 }, { 2, 100000 }, { 4, 200000 }, { 8, 400000 }
	};
	struct ibcc_smp_port_info v;

	(void)state;
	for (size_t w = 0; w < sizeof(widths); w++) {
		struct datagram d = { { 0 } };
		ib_port_info_t *o = (ib_port_info_t *)(d.b + DATA);

		o->link_width_active = widths[w];
		for (uint8_t speed = 1; speed <= 4; speed = (uint8_t)(speed * 2)) {
			o->link_speed = (uint8_t)(speed << 4);
			ibcc_smp_port_info_unpack(d.b, &v);
			/* 8b/10b leaves four fifths of the signalling rate. */
			assert_int_equal(v.rate_mbps,
					 signalling_mbps(ib_port_info_compute_rate(o, 0)) * 4 / 5);
		}
	}
	for (size_t i = 0; i < sizeof(ext) / sizeof(ext[0]); i++) {
		struct datagram d = { { 0 } };
		ib_port_info_t *o = (ib_port_info_t *)(d.b + DATA);

		o->link_width_active = 2;
		o->link_speed = 0x40;
		o->link_speed_ext = (uint8_t)(ext[i][0] << 4);
		ibcc_smp_port_info_unpack(d.b, &v);
		assert_int_equal(v.rate_mbps, ext[i][1]);
		assert_int_equal(v.lanes, 4);
	}
	/* XDR: LinkSpeedExtActive2 = 1 in bits 6..5 of byte 56, above the link latency. */
	struct datagram d = { { 0 } };
	ib_port_info_t *o = (ib_port_info_t *)(d.b + DATA);

	o->link_width_active = 2;
	o->link_speed_ext = 0x80;
	o->link_rt_latency = htonl(0x20000000);
	ibcc_smp_port_info_unpack(d.b, &v);
	assert_int_equal(v.speed, IBCC_LINK_SPEED_XDR);
	assert_int_equal(v.rate_mbps, 800000);
	o->link_rt_latency = htonl(0x00ffffff);
	ibcc_smp_port_info_unpack(d.b, &v);
	assert_int_equal(v.speed, IBCC_LINK_SPEED_NDR);
	/* A port that is down, or with bits that name nothing, has no rate. */
	memset(d.b, 0, sizeof(d.b));
	ibcc_smp_port_info_unpack(d.b, &v);
	assert_int_equal(v.rate_mbps, 0);
	assert_int_equal(v.lanes, 0);
}

static void test_sl2vl(void **state)
{
	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		struct datagram d;
		uint8_t vl[16];

		rnd_fill(d.b, sizeof(d.b));
		ibcc_smp_sl2vl_unpack(d.b, vl);
		for (uint8_t sl = 0; sl < 16; sl++)
			assert_int_equal(
				vl[sl],
				ib_slvl_table_get((const ib_slvl_table_t *)(d.b + DATA), sl));
	}
}

static void test_lft(void **state)
{
	struct datagram d;
	uint8_t port[IBCC_SMP_LFT_BLOCK];

	(void)state;
	rnd_fill(d.b, sizeof(d.b));
	ibcc_smp_lft_unpack(d.b, port);
	assert_memory_equal(port, d.b + DATA, sizeof(port));
}

static void test_node_desc(void **state)
{
	struct datagram d;
	char desc[66];

	(void)state;
	memset(d.b, 0, sizeof(d.b));
	memcpy(d.b + DATA, "node17 HCA-1", 12);
	memcpy(d.b + DATA + 20, "secret", 6);
	ibcc_smp_node_desc_unpack(d.b, desc);
	assert_string_equal(desc, "node17 HCA-1");

	memcpy(d.b + DATA, "a\x1b[31m\n\x7f\x80\xff~ ", 12);
	ibcc_smp_node_desc_unpack(d.b, desc);
	assert_string_equal(desc, "a?[31m????~ ");

	/* Without an end: 64 characters, nothing of what follows. */
	memset(d.b, 'x', sizeof(d.b));
	desc[65] = '!';
	ibcc_smp_node_desc_unpack(d.b, desc);
	assert_int_equal(strlen(desc), 64);
	assert_int_equal(desc[65], '!');
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_direct_get), cmocka_unit_test(test_attributes),
		cmocka_unit_test(test_node_info),  cmocka_unit_test(test_switch_info),
		cmocka_unit_test(test_port_info),  cmocka_unit_test(test_port_rate),
		cmocka_unit_test(test_sl2vl),      cmocka_unit_test(test_lft),
		cmocka_unit_test(test_node_desc),
	};

	test_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
