/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Class 0x21: every attribute against libibmad's field table, OpenSM's packed structs (ib_types.h)
 * and hand-made bytes.
 */
#include "codec.h"

#include <errno.h>

#include <ibcc/ccmad.h>

#define DATA 64

CODEC(ibcc_cc_info, ibcc_cc_info)
CODEC(ibcc_cc_key_info, ibcc_cc_key_info)
CODEC(ibcc_cc_sw_setting, ibcc_cc_sw_setting)
CODEC(ibcc_cc_ca_setting, ibcc_cc_ca_setting)

static void *data(struct datagram *d)
{
	return d->b + DATA;
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(ibcc_cc_attr_name(0x01), "ClassPortInfo");
	assert_string_equal(ibcc_cc_attr_name(0x11), "CongestionInfo");
	assert_string_equal(ibcc_cc_attr_name(0x12), "CongestionKeyInfo");
	assert_string_equal(ibcc_cc_attr_name(0x13), "CongestionLog");
	assert_string_equal(ibcc_cc_attr_name(0x14), "SwitchCongestionSetting");
	assert_string_equal(ibcc_cc_attr_name(0x15), "SwitchPortCongestionSetting");
	assert_string_equal(ibcc_cc_attr_name(0x16), "CACongestionSetting");
	assert_string_equal(ibcc_cc_attr_name(0x17), "CongestionControlTable");
	assert_string_equal(ibcc_cc_attr_name(0x18), "TimeStamp");
	assert_string_equal(ibcc_cc_attr_name(0x19), "unknown attribute");
	assert_string_equal(ibcc_cc_attr_name(0xff09), "PortProfileSettings");
	assert_int_equal(IBCC_CC_ATTR_INFO, IB_CC_ATTR_CONGESTION_INFO);
	assert_int_equal(IBCC_CC_ATTR_TIMESTAMP, IB_CC_ATTR_TIMESTAMP);
	assert_int_equal(IBCC_CC_LOG_OFFS, IB_CC_LOG_DATA_OFFS);
	assert_int_equal(IBCC_CC_DATA_BYTES, IB_CC_DATA_SZ);
}

static void test_key(void **state)
{
	struct datagram d = { { 0 } };

	(void)state;
	ibcc_cc_key_pack(d.b, 0x0123456789abcdef);
	assert_int_equal(d.b[24], 0x01);
	assert_int_equal(d.b[31], 0xef);
	assert_int_equal(be64toh(ib_cc_mad_get_cc_key((const ib_cc_mad_t *)d.b)),
			 0x0123456789abcdef);
	assert_int_equal(mad_get_field64(d.b, 0, IB_CC_CCKEY_F), 0x0123456789abcdef);
	assert_int_equal(ibcc_cc_key_unpack(d.b), 0x0123456789abcdef);
	assert_int_equal(d.b[23], 0);
	assert_int_equal(d.b[32], 0);
}

static void test_info(void **state)
{
	static const struct wire_field f[] = {
		WIRE(IB_CC_CONGESTION_INFO_F, DATA, 16, ibcc_cc_info, CongestionInfo),
		WIRE(IB_CC_CONGESTION_INFO_CONTROL_TABLE_CAP_F, DATA, 8, ibcc_cc_info,
		     ControlTableCap),
	};
	const struct ibcc_cc_info v = { .CongestionInfo = 1, .ControlTableCap = 2 };
	struct datagram d;

	(void)state;
	CHECK_FIELDS(f, ibcc_cc_info, ibcc_cc_info);
	CHECK_ROUND_TRIP(ibcc_cc_info, ibcc_cc_info, DATA);
	ibcc_cc_info_pack(d.b, &v);
	assert_memory_equal(d.b + DATA, "\0\1\2\0", 4);
	assert_int_equal(((ib_cong_info_t *)data(&d))->ctrl_table_cap, 2);
}

static void test_key_info(void **state)
{
	static const struct wire_field f[] = {
		WIRE(IB_CC_CONGESTION_KEY_INFO_CC_KEY_F, DATA, 64, ibcc_cc_key_info, CC_Key),
		WIRE(IB_CC_CONGESTION_KEY_INFO_CC_KEY_PROTECT_BIT_F, DATA, 1, ibcc_cc_key_info,
		     CC_KeyProtectBit),
		WIRE(IB_CC_CONGESTION_KEY_INFO_CC_KEY_LEASE_PERIOD_F, DATA, 16, ibcc_cc_key_info,
		     CC_KeyLeasePeriod),
		WIRE(IB_CC_CONGESTION_KEY_INFO_CC_KEY_VIOLATIONS_F, DATA, 16, ibcc_cc_key_info,
		     CC_KeyViolations),
	};

	(void)state;
	CHECK_FIELDS(f, ibcc_cc_key_info, ibcc_cc_key_info);
	CHECK_ROUND_TRIP(ibcc_cc_key_info, ibcc_cc_key_info, DATA);
	for (int i = 0; i < ROUNDS; i++) {
		struct ibcc_cc_key_info v;
		struct datagram d;
		const ib_cong_key_info_t *o = data(&d);

		rnd_fill(d.b, sizeof(d.b));
		ibcc_cc_key_info_unpack(d.b, &v);
		assert_int_equal(v.CC_Key, be64toh(o->cc_key));
		assert_int_equal(v.CC_KeyProtectBit, ntohs(o->protect_bit) >> 15);
		assert_int_equal(v.CC_KeyLeasePeriod, ntohs(o->lease_period));
		assert_int_equal(v.CC_KeyViolations, ntohs(o->violations));
	}
}

static void test_mask(void **state)
{
	struct ibcc_cc_port_mask m;

	(void)state;
	memset(&m, 0, sizeof(m));
	/* Port 1 is bit 1 of the last byte, port 36 bit 4 of the fifth from the end. */
	ibcc_cc_mask_assign(&m, 1, true);
	ibcc_cc_mask_assign(&m, 36, true);
	assert_int_equal(m.byte[31], 0x02);
	assert_int_equal(m.byte[27], 0x10);
	assert_true(ibcc_cc_mask_test(&m, 1) && ibcc_cc_mask_test(&m, 36));
	ibcc_cc_mask_assign(&m, 1, false);
	assert_int_equal(m.byte[31], 0);
	for (unsigned int p = 0; p < 256; p++) {
		memset(&m, 0, sizeof(m));
		ibcc_cc_mask_assign(&m, p, true);
		for (unsigned int q = 0; q < 256; q++)
			assert_int_equal(ibcc_cc_mask_test(&m, q), q == p);
		assert_int_equal(m.byte[31 - p / 8], 1u << p % 8);
	}
}

static void test_sw_setting(void **state)
{
	static const struct wire_field f[] = {
		WIRE(IB_CC_SWITCH_CONGESTION_SETTING_CONTROL_MAP_F, DATA, 32, ibcc_cc_sw_setting,
		     Control_Map),
		WIRE(IB_CC_SWITCH_CONGESTION_SETTING_THRESHOLD_F, DATA, 4, ibcc_cc_sw_setting,
		     Threshold),
		WIRE(IB_CC_SWITCH_CONGESTION_SETTING_PACKET_SIZE_F, DATA, 8, ibcc_cc_sw_setting,
		     Packet_Size),
		WIRE(IB_CC_SWITCH_CONGESTION_SETTING_CS_THRESHOLD_F, DATA, 4, ibcc_cc_sw_setting,
		     CS_Threshold),
		WIRE(IB_CC_SWITCH_CONGESTION_SETTING_CS_RETURN_DELAY_F, DATA, 16,
		     ibcc_cc_sw_setting, CS_ReturnDelay),
		WIRE(IB_CC_SWITCH_CONGESTION_SETTING_MARKING_RATE_F, DATA, 16, ibcc_cc_sw_setting,
		     Marking_Rate),
	};

	(void)state;
	CHECK_FIELDS(f, ibcc_cc_sw_setting, ibcc_cc_sw_setting);
	CHECK_ROUND_TRIP(ibcc_cc_sw_setting, ibcc_cc_sw_setting, DATA);
	for (int i = 0; i < ROUNDS; i++) {
		struct ibcc_cc_sw_setting v;
		struct datagram d;
		const ib_sw_cong_setting_t *o = data(&d);
		uint8_t mask[32];

		rnd_fill(d.b, sizeof(d.b));
		ibcc_cc_sw_setting_unpack(d.b, &v);
		assert_int_equal(v.Control_Map, ntohl(o->control_map));
		assert_memory_equal(v.Victim_Mask.byte, o->victim_mask, 32);
		assert_memory_equal(v.Credit_Mask.byte, o->credit_mask, 32);
		assert_int_equal(v.Threshold, o->threshold_resv >> 4);
		assert_int_equal(v.Packet_Size, o->packet_size);
		assert_int_equal(v.CS_Threshold, ntohs(o->cs_threshold_resv) >> 12);
		assert_int_equal(v.CS_ReturnDelay, ntohs(o->cs_return_delay));
		assert_int_equal(v.Marking_Rate, ntohs(o->marking_rate));
		mad_get_array(d.b, DATA, IB_CC_SWITCH_CONGESTION_SETTING_VICTIM_MASK_F, mask);
		assert_memory_equal(v.Victim_Mask.byte, mask, 32);
		mad_get_array(d.b, DATA, IB_CC_SWITCH_CONGESTION_SETTING_CREDIT_MASK_F, mask);
		assert_memory_equal(v.Credit_Mask.byte, mask, 32);
	}
}

/* LLNL's setting on a 36-port switch, byte by byte. */
static void test_sw_setting_vector(void **state)
{
	struct ibcc_cc_sw_setting v = {
		.Control_Map = IBCC_CC_SW_CONTROL_MAP_ALL,
		.Threshold = 9,
		.Packet_Size = 1,
		.Marking_Rate = 15,
	};
	uint8_t want[192] = { 0 };
	struct datagram d;

	(void)state;
	for (unsigned int p = 1; p <= 36; p++)
		ibcc_cc_mask_assign(&v.Victim_Mask, p, true);
	want[3] = 0x1f;
	memcpy(want + 4 + 27, "\x1f\xff\xff\xff\xfe", 5);
	want[68] = 0x90;
	want[69] = 1;
	want[75] = 15;
	memset(d.b, 0xff, sizeof(d.b));
	ibcc_cc_sw_setting_pack(d.b, &v);
	assert_memory_equal(d.b + DATA, want, sizeof(want));
	/* Values wider than a field do not spill over. */
	v.Threshold = 0xf9;
	v.CS_Threshold = 0xf0;
	ibcc_cc_sw_setting_pack(d.b, &v);
	assert_memory_equal(d.b + DATA, want, sizeof(want));
}

static void test_sw_port_element(void **state)
{
	struct datagram d, before;

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		unsigned int slot = (unsigned int)(rnd() % IBCC_CC_SW_PORT_BLOCK_13);
		struct ibcc_cc_sw_port_element v, again;
		const ib_sw_port_cong_setting_element_t *o =
			(const ib_sw_port_cong_setting_element_t *)data(&d) + slot;
		int offs = (int)(DATA + 4 * slot);

		rnd_fill(d.b, sizeof(d.b));
		ibcc_cc_sw_port_element_unpack(d.b, slot, &v);
		assert_int_equal(v.Valid, o->valid_ctrl_type_res_threshold >> 7);
		assert_int_equal(v.Control_Type, o->valid_ctrl_type_res_threshold >> 6 & 1);
		assert_int_equal(v.Threshold, o->valid_ctrl_type_res_threshold & 0xf);
		assert_int_equal(v.Packet_Size, o->packet_size);
		assert_int_equal(v.Cong_Parm_Marking_Rate, ntohs(o->cong_param));
		assert_int_equal(
			v.Threshold,
			mad_get_field(d.b, offs,
				      IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_THRESHOLD_F));

		before = d;
		v.Cong_Parm_Marking_Rate ^= 0x1234;
		ibcc_cc_sw_port_element_pack(d.b, slot, &v);
		ibcc_cc_sw_port_element_unpack(d.b, slot, &again);
		assert_memory_equal(&again, &v, sizeof(v));
		assert_int_equal(o->valid_ctrl_type_res_threshold & 0x30, 0);
		assert_memory_equal(d.b, before.b, (size_t)offs);
		assert_memory_equal(d.b + offs + 4, before.b + offs + 4,
				    sizeof(d.b) - (size_t)offs - 4);
	}
}

static void test_sw_port_ends(void **state)
{
	const struct ibcc_cc_sw_port_element v = { true, true, 0xff, 0x12, 0x3456 };
	struct ibcc_cc_sw_port_element got = v, none = { 0 };
	struct datagram d = { { 0 } }, zero = { { 0 } };

	(void)state;
	/* The last of 48 elements ends with the data area; there is no next one. */
	ibcc_cc_sw_port_element_pack(d.b, 47, &v);
	assert_memory_equal(d.b + 252, "\xcf\x12\x34\x56", 4);
	memset(d.b, 0, sizeof(d.b));
	ibcc_cc_sw_port_element_pack(d.b, 48, &v);
	ibcc_cc_sw_port_element_pack(d.b, UINT32_MAX, &v);
	assert_memory_equal(d.b, zero.b, sizeof(d.b));
	ibcc_cc_sw_port_element_unpack(d.b, 48, &got);
	assert_memory_equal(&got, &none, sizeof(got));
}

static void test_ca_setting(void **state)
{
	static const struct wire_field f[] = {
		WIRE(IB_CC_CA_CONGESTION_SETTING_PORT_CONTROL_F, DATA, 16, ibcc_cc_ca_setting,
		     Port_Control),
		WIRE(IB_CC_CA_CONGESTION_SETTING_CONTROL_MAP_F, DATA, 16, ibcc_cc_ca_setting,
		     Control_Map),
#define ENTRY(sl_)                                                                                 \
	WIRE(IB_CC_CA_CONGESTION_ENTRY_CCTI_TIMER_F, DATA + 4 + 8 * (sl_), 16, ibcc_cc_ca_setting, \
	     sl[sl_].CCTI_Timer),                                                                  \
		WIRE(IB_CC_CA_CONGESTION_ENTRY_CCTI_INCREASE_F, DATA + 4 + 8 * (sl_), 8,           \
		     ibcc_cc_ca_setting, sl[sl_].CCTI_Increase),                                   \
		WIRE(IB_CC_CA_CONGESTION_ENTRY_TRIGGER_THRESHOLD_F, DATA + 4 + 8 * (sl_), 8,       \
		     ibcc_cc_ca_setting, sl[sl_].Trigger_Threshold),                               \
		WIRE(IB_CC_CA_CONGESTION_ENTRY_CCTI_MIN_F, DATA + 4 + 8 * (sl_), 8,                \
		     ibcc_cc_ca_setting, sl[sl_].CCTI_Min)
		ENTRY(0),
		ENTRY(1),
		ENTRY(7),
		ENTRY(14),
		ENTRY(15),
	};

	(void)state;
	CHECK_FIELDS(f, ibcc_cc_ca_setting, ibcc_cc_ca_setting);
	CHECK_ROUND_TRIP(ibcc_cc_ca_setting, ibcc_cc_ca_setting, DATA);
	for (int i = 0; i < ROUNDS; i++) {
		struct ibcc_cc_ca_setting v;
		struct datagram d;
		const ib_ca_cong_setting_t *o = data(&d);

		rnd_fill(d.b, sizeof(d.b));
		ibcc_cc_ca_setting_unpack(d.b, &v);
		assert_int_equal(v.Port_Control, ntohs(o->port_control));
		assert_int_equal(v.Control_Map, ntohs(o->control_map));
		for (int sl = 0; sl < 16; sl++) {
			assert_int_equal(v.sl[sl].CCTI_Timer, ntohs(o->entry_list[sl].ccti_timer));
			assert_int_equal(v.sl[sl].CCTI_Increase, o->entry_list[sl].ccti_increase);
			assert_int_equal(v.sl[sl].Trigger_Threshold,
					 o->entry_list[sl].trigger_threshold);
			assert_int_equal(v.sl[sl].CCTI_Min, o->entry_list[sl].ccti_min);
		}
	}
}

static void test_ca_setting_vector(void **state)
{
	struct ibcc_cc_ca_setting v = { .Port_Control = IBCC_CC_PORT_CONTROL_SL,
					.Control_Map = 0x8001 };
	struct datagram d;

	(void)state;
	v.sl[0] = (struct ibcc_cc_ca_entry){ 1650, 1, 2, 3 };
	v.sl[15] = (struct ibcc_cc_ca_entry){ 10, 5, 0, 0 };
	memset(d.b, 0xff, sizeof(d.b));
	ibcc_cc_ca_setting_pack(d.b, &v);
	assert_memory_equal(d.b + 64, "\x00\x01\x80\x01\x06\x72\x01\x02\x03\0\0\0", 12);
	assert_memory_equal(d.b + 64 + 4 + 8 * 15, "\x00\x0a\x05\x00\x00\0\0\0", 8);
	for (int i = 64 + 4 + 8 * 16; i < 256; i++)
		assert_int_equal(d.b[i], 0);
	assert_int_equal(d.b[63], 0xff);
}

static void test_cct(void **state)
{
	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		unsigned int block = (unsigned int)(rnd() % IBCC_CCT_MAX_BLOCKS);
		struct ibcc_cct t, got;
		struct datagram d;
		const ib_cc_tbl_t *o = data(&d);
		uint16_t limit;

		rnd_fill(&t, sizeof(t));
		t.limit = (uint16_t)(rnd() % 256);
		rnd_fill(d.b, sizeof(d.b));
		ibcc_cc_cct_pack(d.b, block, &t);
		assert_int_equal(ntohs(o->ccti_limit), ibcc_cct_block_limit(t.limit, block));
		assert_int_equal(o->resv, 0);
		for (unsigned int j = 0; j < 64; j++) {
			uint8_t *e = d.b + DATA + 4 + 2 * j;
			uint32_t shift, mult;
			uint16_t entry = t.entry[64 * block + j];

			assert_int_equal(ntohs(o->entry_list[j].shift_multiplier), entry);
			mad_decode_field(e, IB_CC_CONGESTION_CONTROL_TABLE_ENTRY_CCT_SHIFT_F,
					 &shift);
			mad_decode_field(e, IB_CC_CONGESTION_CONTROL_TABLE_ENTRY_CCT_MULTIPLIER_F,
					 &mult);
			assert_int_equal(ibcc_cct_entry_shift(entry), shift);
			assert_int_equal(ibcc_cct_entry_mult(entry), mult);
		}
		for (int j = 64 + 4 + 128; j < 256; j++)
			assert_int_equal(d.b[j], 0);

		memset(&got, 0, sizeof(got));
		ibcc_cc_cct_unpack(d.b, block, &got, &limit);
		assert_int_equal(limit, ibcc_cct_block_limit(t.limit, block));
		assert_memory_equal(&got.entry[64 * block], &t.entry[64 * block], 128);
		memset(&got.entry[64 * block], 0, 128);
		for (int j = 0; j < 256; j++)
			assert_int_equal(got.entry[j], 0);
	}
}

static void test_cct_ends(void **state)
{
	struct ibcc_cct t, before;
	struct datagram d;
	uint16_t limit;

	(void)state;
	/* A 128 entry table goes as limit 63, then 127. */
	assert_int_equal(ibcc_cct_build(&t, IBCC_CCT_LINEAR, 128, 127000), 0);
	ibcc_cc_cct_pack(d.b, 0, &t);
	assert_memory_equal(d.b + 64, "\x00\x3f\x00\x00\x00\x00\xc0\x08", 8);
	ibcc_cc_cct_pack(d.b, 1, &t);
	assert_memory_equal(d.b + 64, "\x00\x7f\x00\x00\xc2\x00", 6);
	/* A table of one entry, as OpenSM clears with. */
	t.limit = 0;
	ibcc_cc_cct_pack(d.b, 0, &t);
	assert_memory_equal(d.b + 64, "\x00\x00", 2);

	/* Numbers from the wire never lead outside the table. */
	before = t;
	memset(d.b, 0xff, sizeof(d.b));
	ibcc_cc_cct_unpack(d.b, 4, &t, &limit);
	assert_int_equal(limit, 0xffff);
	assert_memory_equal(&t, &before, sizeof(t));
	ibcc_cc_cct_unpack(d.b, UINT32_MAX, &t, &limit);
	assert_memory_equal(&t, &before, sizeof(t));
	t.limit = 0xffff;
	ibcc_cc_cct_pack(d.b, 1000, &t);
	assert_memory_equal(d.b + 64, "\xfa\x3f\0\0\0\0", 6);
}

static void test_timestamp(void **state)
{
	struct datagram d;

	(void)state;
	memset(d.b, 0xff, sizeof(d.b));
	ibcc_cc_timestamp_pack(d.b, 0x12345678);
	assert_memory_equal(d.b + 63, "\xff\x12\x34\x56\x78\x00", 6);
	assert_int_equal(ntohl(((ib_time_stamp_t *)data(&d))->value), 0x12345678);
	assert_int_equal(mad_get_field(d.b, DATA, IB_CC_TIMESTAMP_F), 0x12345678);
	assert_int_equal(ibcc_cc_timestamp_unpack(d.b), 0x12345678);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_key),
		cmocka_unit_test(test_info),
		cmocka_unit_test(test_key_info),
		cmocka_unit_test(test_mask),
		cmocka_unit_test(test_sw_setting),
		cmocka_unit_test(test_sw_setting_vector),
		cmocka_unit_test(test_sw_port_element),
		cmocka_unit_test(test_sw_port_ends),
		cmocka_unit_test(test_ca_setting),
		cmocka_unit_test(test_ca_setting_vector),
		cmocka_unit_test(test_cct),
		cmocka_unit_test(test_cct_ends),
		cmocka_unit_test(test_timestamp),
	};

	test_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
