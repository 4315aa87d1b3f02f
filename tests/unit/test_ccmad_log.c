/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* CongestionLog of switches (against libibmad and ib_types.h) and of channel adapters (against
 * libibmad only: ib_types.h has another entry).
 */
#include "codec.h"

#include <errno.h>

#include <ibcc/ccmad.h>

#define LOG 32

static void ibcc_cc_log_pack_any(uint8_t *mad, const void *v)
{
	ibcc_cc_log_pack(mad, v);
}

static void unpack_switch(const uint8_t *mad, void *v)
{
	struct datagram d;

	memcpy(d.b, mad, sizeof(d.b));
	d.b[LOG] = IBCC_CC_LOG_SWITCH;
	assert_int_equal(ibcc_cc_log_unpack(d.b, v), 0);
}

static void unpack_ca(const uint8_t *mad, void *v)
{
	struct datagram d;

	memcpy(d.b, mad, sizeof(d.b));
	d.b[LOG] = IBCC_CC_LOG_CA;
	assert_int_equal(ibcc_cc_log_unpack(d.b, v), 0);
}

static void test_round_trips(void **state)
{
	(void)state;
	check_round_trip(sizeof(struct ibcc_cc_log), LOG, ibcc_cc_log_pack_any, unpack_switch);
	check_round_trip(sizeof(struct ibcc_cc_log), LOG, ibcc_cc_log_pack_any, unpack_ca);
}

static void test_switch(void **state)
{
	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		struct ibcc_cc_log v;
		struct datagram d;
		const ib_cong_log_t *o = (const ib_cong_log_t *)(d.b + LOG);
		uint8_t map[32];

		rnd_fill(d.b, sizeof(d.b));
		d.b[LOG] = IBCC_CC_LOG_SWITCH;
		assert_int_equal(ibcc_cc_log_unpack(d.b, &v), 0);
		assert_int_equal(v.LogType, o->log_type);
		assert_int_equal(v.CongestionFlags, o->log_details.log_sw.cong_flags);
		assert_int_equal(v.u.sw.LogEventsCounter,
				 ntohs(o->log_details.log_sw.event_counter));
		assert_int_equal(v.u.sw.CurrentTimeStamp, ntohl(o->log_details.log_sw.time_stamp));
		assert_memory_equal(v.u.sw.PortMap.byte, o->log_details.log_sw.port_map, 32);
		mad_get_array(d.b, LOG, IB_CC_CONGESTION_LOG_SWITCH_PORTMAP_F, map);
		assert_memory_equal(v.u.sw.PortMap.byte, map, 32);
		for (int e = 0; e < 15; e++) {
			ib_cong_log_event_sw_t ev;
			int offs = LOG + 40 + 12 * e;

			memcpy(&ev, &o->log_details.log_sw.entry_list[e], sizeof(ev));
			assert_int_equal(v.u.sw.entry[e].SLID, ntohs(ev.slid));
			assert_int_equal(v.u.sw.entry[e].DLID, ntohs(ev.dlid));
			assert_int_equal(v.u.sw.entry[e].SL, ntohl(ev.sl) >> 28);
			assert_int_equal(v.u.sw.entry[e].TimeStamp, ntohl(ev.time_stamp));
			assert_int_equal(
				v.u.sw.entry[e].SL,
				mad_get_field(d.b, offs, IB_CC_CONGESTION_LOG_ENTRY_SWITCH_SL_F));
		}
	}
}

static void test_ca(void **state)
{
	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		struct ibcc_cc_log v;
		struct datagram d;
		const ib_cong_log_t *o = (const ib_cong_log_t *)(d.b + LOG);

		rnd_fill(d.b, sizeof(d.b));
		d.b[LOG] = IBCC_CC_LOG_CA;
		assert_int_equal(ibcc_cc_log_unpack(d.b, &v), 0);
		assert_int_equal(v.u.ca.ThresholdEventCounter,
				 ntohs(o->log_details.log_ca.event_counter));
		assert_int_equal(v.u.ca.ThresholdCongestionEventMap,
				 ntohs(o->log_details.log_ca.event_map));
		assert_int_equal(v.u.ca.CurrentTimeStamp, ntohl(o->log_details.log_ca.time_stamp));
		for (int e = 0; e < 13; e++) {
			int offs = LOG + 12 + 16 * e;

#define FIELD(name) mad_get_field(d.b, offs, IB_CC_CONGESTION_LOG_ENTRY_CA_##name##_F)
			assert_int_equal(v.u.ca.entry[e].Local_QP_CN_Entry,
					 FIELD(LOCAL_QP_CN_ENTRY));
			assert_int_equal(v.u.ca.entry[e].SL_CN_Entry, FIELD(SL_CN_ENTRY));
			assert_int_equal(v.u.ca.entry[e].Service_Type_CN_Entry,
					 FIELD(SERVICE_TYPE_CN_ENTRY));
			assert_int_equal(v.u.ca.entry[e].Remote_QP_Number_CN_Entry,
					 FIELD(REMOTE_QP_NUMBER_CN_ENTRY));
			assert_int_equal(v.u.ca.entry[e].Local_LID_CN, FIELD(LOCAL_LID_CN));
			assert_int_equal(v.u.ca.entry[e].Remote_LID_CN_Entry,
					 FIELD(REMOTE_LID_CN_ENTRY));
			assert_int_equal(v.u.ca.entry[e].TimeStamp_CN_Entry,
					 FIELD(TIMESTAMP_CN_ENTRY));
		}
	}
}

static void test_vectors(void **state)
{
	struct ibcc_cc_log sw = { .LogType = IBCC_CC_LOG_SWITCH, .CongestionFlags = 1 };
	struct ibcc_cc_log ca = { .LogType = IBCC_CC_LOG_CA };
	struct datagram d;

	(void)state;
	sw.u.sw.LogEventsCounter = 0x0203;
	sw.u.sw.CurrentTimeStamp = 0x04050607;
	ibcc_cc_mask_assign(&sw.u.sw.PortMap, 9, true);
	sw.u.sw.entry[14].SLID = 0x1122;
	sw.u.sw.entry[14].DLID = 0x3344;
	sw.u.sw.entry[14].SL = 0xf5; /* four bits of it */
	sw.u.sw.entry[14].TimeStamp = 0x66778899;
	memset(d.b, 0xff, sizeof(d.b));
	ibcc_cc_log_pack(d.b, &sw);
	assert_memory_equal(d.b + 31, "\xff\x01\x01\x02\x03\x04\x05\x06\x07\x00", 10);
	assert_int_equal(d.b[32 + 8 + 30], 0x02);
	assert_memory_equal(d.b + 32 + 40 + 12 * 14,
			    "\x11\x22\x33\x44\x50\x00\x00\x00\x66\x77\x88\x99\0\0\0\0", 16);

	ca.u.ca.ThresholdEventCounter = 0x0203;
	ca.u.ca.ThresholdCongestionEventMap = 0x8001;
	ca.u.ca.CurrentTimeStamp = 0x04050607;
	ca.u.ca.entry[0].Local_QP_CN_Entry = 0xff112233;
	ca.u.ca.entry[0].SL_CN_Entry = 0xf4;
	ca.u.ca.entry[0].Service_Type_CN_Entry = 0xf5;
	ca.u.ca.entry[0].Remote_QP_Number_CN_Entry = 0xff667788;
	ca.u.ca.entry[0].Local_LID_CN = 0x99aa;
	ca.u.ca.entry[0].Remote_LID_CN_Entry = 0xbbcc;
	ca.u.ca.entry[0].TimeStamp_CN_Entry = 0xddeeff00;
	memset(d.b, 0xff, sizeof(d.b));
	ibcc_cc_log_pack(d.b, &ca);
	assert_memory_equal(d.b + 32,
			    "\x02\x00\x02\x03\x80\x01\x00\x00\x04\x05\x06\x07"
			    "\x11\x22\x33\x45\x66\x77\x88\x00\x99\xaa\xbb\xcc\xdd\xee\xff\x00\0",
			    29);
}

static void test_other_types(void **state)
{
	struct ibcc_cc_log v, before;
	struct datagram d;

	(void)state;
	memset(&before, 0x5a, sizeof(before));
	for (unsigned int type = 0; type < 256; type++) {
		memset(d.b, 0, sizeof(d.b));
		d.b[LOG] = (uint8_t)type;
		memcpy(&v, &before, sizeof(v));
		if (type == 1 || type == 2) {
			assert_int_equal(ibcc_cc_log_unpack(d.b, &v), 0);
			continue;
		}
		assert_int_equal(ibcc_cc_log_unpack(d.b, &v), -EPROTO);
		assert_memory_equal(&v, &before, sizeof(v));
	}
	/* A type that has no layout is sent as an empty log. */
	before.LogType = 9;
	ibcc_cc_log_pack(d.b, &before);
	assert_memory_equal(d.b + LOG, "\x09\x5a\0\0\0\0\0\0", 8);
	assert_int_equal(ibcc_cc_log_unpack(d.b, &v), -EPROTO);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trips), cmocka_unit_test(test_switch),
		cmocka_unit_test(test_ca),          cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_other_types),
	};

	test_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
