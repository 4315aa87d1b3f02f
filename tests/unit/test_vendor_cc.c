/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* NVIDIA's attributes, byte for byte as the documented layouts have them. */
#include "codec.h"

#include <ibcc/vendor_cc.h>

#define DATA 64

/* Words in network order. */
static void test_general_info(void **state)
{
	struct datagram d = { 0 };
	struct ibcc_vcc_general_info v;

	(void)state;
	d.b[DATA + 3] = 0x03; /* bits 0 and 1 */
	d.b[DATA + 1] = 0x04; /* bit 18 */
	d.b[DATA + 6] = 0x10; /* bit 32 + 12 */
	ibcc_vcc_general_info_unpack(d.b, &v);
	assert_true(ibcc_vcc_can(&v, IBCC_VCC_CAP_PRIVATE_LFT));
	assert_true(ibcc_vcc_can(&v, IBCC_VCC_CAP_ADAPTIVE_ROUTING));
	assert_true(ibcc_vcc_can(&v, IBCC_VCC_CAP_SHARP_AN));
	assert_true(ibcc_vcc_can(&v, IBCC_VCC_CAP_CC));
	/* Not the bit that the same mask has in class 0x0A. */
	memset(d.b, 0, sizeof(d.b));
	d.b[DATA + 7] = 0x01;
	ibcc_vcc_general_info_unpack(d.b, &v);
	assert_false(ibcc_vcc_can(&v, IBCC_VCC_CAP_CC));
}

static void test_info(void **state)
{
	struct datagram d = { 0 };
	struct ibcc_vcc_info v;

	(void)state;
	d.b[DATA] = 0x80;
	d.b[DATA + 15] = 0x06; /* bits 1 and 2, counted from the least significant */
	ibcc_vcc_info_unpack(d.b, &v);
	assert_true(v.ver0);
	assert_false(v.ver1);
	assert_int_equal(v.CC_Capability_Mask, 6);
	assert_true(v.CC_Capability_Mask & IBCC_VCC_INFO_STATISTICS);
	d.b[DATA] = 0x40;
	ibcc_vcc_info_unpack(d.b, &v);
	assert_false(v.ver0);
	assert_true(v.ver1);
}

static void test_switch(void **state)
{
	static const uint8_t bytes[12] = { 0xfe, 0xff, 0xf3, 7, 0, 0x12, 0x34, 0x56, 9, 9, 9, 4 };
	struct datagram d = { 0 };
	struct ibcc_vcc_sw_general v;

	(void)state;
	memcpy(d.b + DATA, bytes, sizeof(bytes));
	ibcc_vcc_sw_general_unpack(d.b, &v);
	assert_false(v.en);
	assert_int_equal(v.aqs_weight, 3);
	assert_int_equal(v.aqs_time, 7);
	assert_int_equal(v.cap_total_buffer_size, 0x123456);
	assert_int_equal(v.cap_cc_profile_step_size, 4);
	d.b[DATA] = 0x01;
	ibcc_vcc_sw_general_unpack(d.b, &v);
	assert_true(v.en);
}

static void test_adapter(void **state)
{
	struct datagram d = { 0 };
	struct ibcc_vcc_ca_general v;

	(void)state;
	d.b[DATA] = 0x80;
	ibcc_vcc_ca_general_unpack(d.b, &v);
	assert_true(v.en_notify && !v.en_react);
	d.b[DATA] = 0x40;
	ibcc_vcc_ca_general_unpack(d.b, &v);
	assert_true(!v.en_notify && v.en_react);
	d.b[DATA] = 0x3f;
	ibcc_vcc_ca_general_unpack(d.b, &v);
	assert_true(!v.en_notify && !v.en_react);
}

static void test_statistics(void **state)
{
	struct datagram d = { 0 };
	struct ibcc_vcc_ca_statistics v;

	(void)state;
	for (unsigned int i = 0; i < 48; i++)
		d.b[DATA + i] = (uint8_t)i;
	ibcc_vcc_ca_statistics_unpack(d.b, &v);
	assert_true(v.cnp_ignored == 0x0405060708090a0bull);
	assert_true(v.cnp_handled == 0x0c0d0e0f10111213ull);
	assert_true(v.marked_packets == 0x1415161718191a1bull);
	assert_true(v.cnp_sent == 0x1c1d1e1f20212223ull);
	/* A request that we pack does not clear. */
	ibcc_vcc_ca_statistics_pack(d.b, &v);
	assert_int_equal(d.b[DATA], 0);
}

/* IBA headers of NVIDIA's OpenSM: algo_status bit 6, SLs at 4, length and type at 6 and 7, four
 * octets a slot from 16 on.
 */
static void test_algorithms(void **state)
{
	struct ibcc_vcc_ca_algorithm v = { .sl_bitmask = 0x8001 };
	struct datagram d;

	(void)state;
	memset(d.b, 0xff, sizeof(d.b));
	ibcc_vcc_ca_algorithm_pack(d.b, &v); /* a request */
	assert_int_equal(d.b[DATA], 0);
	assert_int_equal(d.b[DATA + 4] << 8 | d.b[DATA + 5], 0x8001);
	assert_int_equal(d.b[DATA + 6], 0);
	assert_int_equal(d.b[DATA + 7], 2);
	memcpy(d.b + DATA, (uint8_t[]){ 0xc0, 0, 0, 0, 0, 1, 8, 2 }, 8);
	memcpy(d.b + DATA + 16, (uint8_t[]){ 0x12, 0x34, 5, 6, 0, 7, 8, 9 }, 8);
	ibcc_vcc_ca_algorithm_unpack(d.b, &v);
	assert_true(v.algo_status);
	assert_int_equal(v.sl_bitmask, 1);
	assert_int_equal(v.n_slots, 2);
	assert_int_equal(v.slot[0].algo_id, 0x1234);
	assert_int_equal(v.slot[0].major, 5);
	assert_int_equal(v.slot[0].minor, 6);
	assert_int_equal(v.slot[1].algo_id, 7);
	assert_int_equal(v.slot[2].algo_id, 0);
	/* Not the list that was asked for, or none that can be. */
	d.b[DATA + 7] = 1;
	ibcc_vcc_ca_algorithm_unpack(d.b, &v);
	assert_int_equal(v.n_slots, 0);
	d.b[DATA + 7] = 2;
	for (unsigned int len = 0; len < 256; len++) {
		d.b[DATA + 6] = (uint8_t)len;
		ibcc_vcc_ca_algorithm_unpack(d.b, &v);
		assert_int_equal(v.n_slots, len % 4 || len > 64 ? 0 : len / 4);
	}
}

/* What is packed is read again, whatever was in the buffer. */
static void test_round_trips(void **state)
{
	(void)state;
	test_seed();
	for (int i = 0; i < ROUNDS; i++) {
		struct ibcc_vcc_general_info g = { { (uint32_t)rnd(), (uint32_t)rnd(),
						     (uint32_t)rnd(), (uint32_t)rnd() } },
					     g2;
		struct ibcc_vcc_info n = { rnd() & 1, rnd() & 1, rnd() }, n2;
		struct ibcc_vcc_sw_general s = { rnd() & 1, rnd() & 0xf, (uint8_t)rnd(),
						 (uint32_t)rnd(), (uint8_t)rnd() },
					   s2;
		struct ibcc_vcc_ca_general c = { rnd() & 1, rnd() & 1 }, c2;
		struct ibcc_vcc_ca_statistics t = { rnd(), rnd(), rnd(), rnd() }, t2;
		struct datagram d;

		rnd_fill(d.b, sizeof(d.b));
		ibcc_vcc_general_info_pack(d.b, &g);
		ibcc_vcc_general_info_unpack(d.b, &g2);
		assert_memory_equal(&g, &g2, sizeof(g));
		ibcc_vcc_info_pack(d.b, &n);
		ibcc_vcc_info_unpack(d.b, &n2);
		assert_true(n.ver0 == n2.ver0 && n.ver1 == n2.ver1 &&
			    n.CC_Capability_Mask == n2.CC_Capability_Mask);
		ibcc_vcc_sw_general_pack(d.b, &s);
		ibcc_vcc_sw_general_unpack(d.b, &s2);
		assert_true(s.en == s2.en && s.aqs_weight == s2.aqs_weight &&
			    s.aqs_time == s2.aqs_time &&
			    s.cap_total_buffer_size == s2.cap_total_buffer_size &&
			    s.cap_cc_profile_step_size == s2.cap_cc_profile_step_size);
		ibcc_vcc_ca_general_pack(d.b, &c);
		ibcc_vcc_ca_general_unpack(d.b, &c2);
		assert_true(c.en_notify == c2.en_notify && c.en_react == c2.en_react);
		ibcc_vcc_ca_statistics_pack(d.b, &t);
		ibcc_vcc_ca_statistics_unpack(d.b, &t2);
		assert_memory_equal(&t, &t2, sizeof(t));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_general_info), cmocka_unit_test(test_info),
		cmocka_unit_test(test_switch),       cmocka_unit_test(test_adapter),
		cmocka_unit_test(test_statistics),   cmocka_unit_test(test_algorithms),
		cmocka_unit_test(test_round_trips),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
