/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Firmware by GeneralInfo, in bytes where vendstat has them; that itself is a witness in a system
 * test.
 */
#include "codec.h"

#include <ibcc/vendor_info.h>

static void put32(uint8_t *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> (24 - 8 * i));
}

static void test_wide(void **state)
{
	struct ibcc_vinfo_general v;
	struct datagram d;

	(void)state;
	memset(&d, 0, sizeof(d));
	d.b[34] = 0xcf;
	d.b[35] = 0x08;
	d.b[65] = 15;
	d.b[66] = 216; /* 2008, cut off */
	put32(d.b + 100, 15);
	put32(d.b + 104, 2008);
	put32(d.b + 108, 2036);
	assert_true(ibcc_vinfo_general_unpack(d.b, &v));
	assert_int_equal(v.device_id, 0xcf08);
	assert_int_equal(v.major, 15);
	assert_int_equal(v.minor, 2008);
	assert_int_equal(v.sub, 2036);
}

/* An older device has the version of its software there. */
static void test_narrow(void **state)
{
	struct ibcc_vinfo_general v;
	struct datagram d;

	(void)state;
	memset(&d, 0, sizeof(d));
	d.b[65] = 1;
	d.b[66] = 0;
	d.b[67] = 5;
	put32(d.b + 100, 0x00020304);
	put32(d.b + 104, 0xffffffff);
	assert_true(ibcc_vinfo_general_unpack(d.b, &v));
	assert_int_equal(v.major, 1);
	assert_int_equal(v.minor, 0);
	assert_int_equal(v.sub, 5);
}

static void test_none(void **state)
{
	struct ibcc_vinfo_general v;
	struct datagram d;

	(void)state;
	memset(&d, 0, sizeof(d));
	assert_false(ibcc_vinfo_general_unpack(d.b, &v));
}

static void test_round_trip(void **state)
{
	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		struct ibcc_vinfo_general got,
			v = { (uint16_t)rnd(), 1 + rnd() % 255, (uint32_t)rnd(), (uint32_t)rnd() };
		struct datagram d, before;

		rnd_fill(d.b, sizeof(d.b));
		before = d;
		ibcc_vinfo_general_pack(d.b, &v);
		assert_memory_equal(d.b, before.b, 32); /* header and key */
		assert_true(ibcc_vinfo_general_unpack(d.b, &got));
		assert_int_equal(got.device_id, v.device_id);
		assert_int_equal(got.major, v.major);
		assert_int_equal(got.minor, v.minor);
		assert_int_equal(got.sub, v.sub);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
