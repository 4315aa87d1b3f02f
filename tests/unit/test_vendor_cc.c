/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* NVIDIA's attributes, byte for byte as the documented layouts have them. */
#include "codec.h"

#include <ibcc/dcqcn.h>
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

/* Checks each field of an attribute against its value in these bytes, and that writing it touches
 * no bit of another: from all zero the known bits come, and nothing else.
 */
static void assert_fields(uint16_t attr, const uint8_t *data, const uint32_t *want, unsigned int n)
{
	uint8_t zero[IBCC_VCC_PARAMETER_BYTES] = { 0 }, ones[IBCC_VCC_PARAMETER_BYTES];
	const struct ibcc_vcc_field *f;
	unsigned int n_fields;

	f = ibcc_vcc_fields(attr, &n_fields);
	assert_non_null(f);
	assert_non_null(ibcc_vcc_parameters_name(attr));
	assert_int_equal(n_fields, n);
	memset(ones, 0xff, sizeof(ones));
	for (unsigned int i = 0; i < n; i++) {
		if (ibcc_vcc_field_get(data, &f[i]) != want[i])
			fail_msg("%s is %u, not %u", f[i].name, ibcc_vcc_field_get(data, &f[i]),
				 want[i]);
		ibcc_vcc_field_set(zero, &f[i], want[i]);
		ibcc_vcc_field_set(ones, &f[i], want[i]);
	}
	assert_memory_equal(zero, data, sizeof(zero));
	for (unsigned int i = 0; i < n; i++) {
		assert_int_equal(ibcc_vcc_field_get(ones, &f[i]), want[i]);
		ibcc_vcc_field_set(ones, &f[i], UINT32_MAX);
	}
	for (unsigned int i = 0; i < sizeof(ones); i++) /* bits that no field has are kept */
		assert_int_equal(ones[i], 0xff);
}

/* Octet 0: mode in bit 7, unit in bit 6; octets 2 and 3: VLs; from 4 on three profiles of eight
 * octets: 20 bits of min, then 7 bits of percent in front of 20 bits of max.
 */
static void test_profile(void **state)
{
	static const uint8_t data[IBCC_VCC_PARAMETER_BYTES] = {
		0xc0, 0, 0x12, 0x34, 0, 0x0f, 0xed, 0xcb, 0x64, 0x01, 0x23, 0x45, 0,    0,
		0,    1, 2,    0,    0, 3,    0,    0,    0,    4,    0x7f, 0x0f, 0xff, 0xff,
	};
	static const uint32_t want[] = { 1, 1, 0x1234, 0xfedcb, 100, 0x12345,
					 1, 2, 3,      4,       127, 0xfffff };

	(void)state;
	assert_fields(0xff09, data, want, 12);
}

/* SL 0 is in the two most significant bits. */
static void test_sl_mapping(void **state)
{
	static const uint8_t data[IBCC_VCC_PARAMETER_BYTES] = { 0x6c, 0, 0, 0x03 };
	static const uint32_t want[16] = { 1, 2, 3, [15] = 3 };

	(void)state;
	assert_fields(0xff10, data, want, 16);
}

/* One word for each parameter, behind one with two bits. */
static void test_reaction(void **state)
{
	static const uint8_t data[IBCC_VCC_PARAMETER_BYTES] = {
		0x40, 0, 0,    0,    0, 1,    0xff, 0xff, 0, 7, 0xff, 0xff, 0, 0, 0,   31,
		0,    4, 0x5,  0x6,  0, 0,    0x12, 0x34, 0, 0, 0x56, 0x78, 0, 0, 0,   11,
		0,    0, 0,    50,   0, 6,    7,    8,    9, 8, 7,    6,    0, 0, 0x3, 0xfb,
		0,    1, 0x86, 0xa0, 0, 0x01, 0x02, 4,    0, 0, 0x3,  0xff,
	};
	static const uint32_t want[] = { 0,      1,      0x1ffff, 0x7ffff, 31,      0x40506,
					 0x1234, 0x5678, 11,      50,      0x60708, 0x09080706,
					 1019,   100000, 0x10204, 1023 };

	(void)state;
	assert_fields(0xff21, data, want, 16);
}

/* Octets 2 and 3: the time; octet 5: cnp_sl_mode in bit 0, rtt_sl_mode in bit 1; 6 and 7: SLs. */
static void test_notification(void **state)
{
	static const uint8_t data[IBCC_VCC_PARAMETER_BYTES] = { 0, 0, 0x01, 0x2c, 0, 2, 5, 14 };
	static const uint32_t want[] = { 300, 0, 1, 5, 14 };
	unsigned int n;

	(void)state;
	assert_fields(0xff22, data, want, 5);
	assert_null(ibcc_vcc_fields(0xff20, &n));
	assert_int_equal(n, 0);
	assert_null(ibcc_vcc_parameters_name(0xff20));
}

/* Names are those of NVIDIA's headers; only attributes of parameters have fields. */
static void test_names(void **state)
{
	(void)state;
	assert_string_equal(ibcc_vcc_attr_name(0xff08), "SwitchGeneralSettings");
	assert_string_equal(ibcc_vcc_attr_name(0xff20), "HCAGeneralSettings");
	assert_string_equal(ibcc_vcc_attr_name(0xff23), "HCAStatisticsQuery");
	assert_string_equal(ibcc_vcc_attr_name(0xff30), "unknown attribute");
	assert_string_equal(ibcc_vcc_parameters_name(0xff21), "HCARPParameters");
	assert_null(ibcc_vcc_parameters_name(0xff20));
}

/* As parameters of a limiter: each field, with a value of its own, in the member of its name. */
static void test_limiter(void **state)
{
	static const uint32_t values[] = { 1,  0,  301, 32766, 3,    100, 6, 51,
					   10, 49, 2,   77,    1018, 5,   9, 1000 };
	uint8_t data[IBCC_VCC_PARAMETER_BYTES] = { 0 };
	struct ibcc_dcqcn_rp p;
	unsigned int n;
	const struct ibcc_vcc_field *f = ibcc_vcc_fields(0xff21, &n);

	(void)state;
	assert_int_equal(n, sizeof(values) / sizeof(*values));
	for (unsigned int i = 0; i < n; i++)
		ibcc_vcc_field_set(data, &f[i], values[i]);
	ibcc_vcc_rp_unpack(data, &p);
	assert_true(p.clamp_tgt_rate && !p.clamp_tgt_rate_after_time_inc);
	assert_int_equal(p.rpg_time_reset_us, 301);
	assert_int_equal(p.rpg_byte_reset_bytes, 32766);
	assert_int_equal(p.rpg_threshold, 3);
	assert_int_equal(p.rpg_max_rate_mbps, 100);
	assert_int_equal(p.rpg_ai_rate_mbps, 6);
	assert_int_equal(p.rpg_hai_rate_mbps, 51);
	assert_int_equal(p.rpg_gd, 10);
	assert_int_equal(p.rpg_min_dec_fac, 49);
	assert_int_equal(p.rpg_min_rate_mbps, 2);
	assert_int_equal(p.rate_to_set_on_first_cnp_mbps, 77);
	assert_int_equal(p.dce_tcp_g, 1018);
	assert_int_equal(p.dce_tcp_rtt_us, 5);
	assert_int_equal(p.rate_reduce_monitor_period_us, 9);
	assert_int_equal(p.initial_alpha_value, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),      cmocka_unit_test(test_general_info),
		cmocka_unit_test(test_info),       cmocka_unit_test(test_switch),
		cmocka_unit_test(test_adapter),    cmocka_unit_test(test_statistics),
		cmocka_unit_test(test_algorithms), cmocka_unit_test(test_round_trips),
		cmocka_unit_test(test_profile),    cmocka_unit_test(test_sl_mapping),
		cmocka_unit_test(test_reaction),   cmocka_unit_test(test_notification),
		cmocka_unit_test(test_limiter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
