/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* NVIDIA's routing attributes, byte for byte as the documented layouts have them. */
#include "codec.h"

#include <ibcc/vendor_route.h>

#define DATA 64

static void test_adaptive(void **state)
{
	struct datagram d = { 0 };
	struct ibcc_vroute_adaptive v;

	(void)state;
	d.b[DATA + 3] = 0xfe; /* everything but that it is on */
	ibcc_vroute_adaptive_unpack(d.b, &v);
	assert_false(v.enabled || v.by_sl || v.hbf_enabled);
	d.b[DATA + 3] = 0x01;
	d.b[DATA] = 0x10;
	d.b[DATA + 8] = 0x80;
	d.b[DATA + 9] = 0x02;
	d.b[DATA + 20] = 0xc0; /* supported is not on */
	ibcc_vroute_adaptive_unpack(d.b, &v);
	assert_true(v.enabled && v.by_sl && !v.hbf_enabled);
	assert_int_equal(v.sl_mask, 0x8002);
	d.b[DATA + 22] = 0x40;
	d.b[DATA + 27] = 0x04;
	ibcc_vroute_adaptive_unpack(d.b, &v);
	assert_true(v.hbf_enabled);
	assert_int_equal(v.hbf_sl_mask, 4);
}

static void test_private_lft(void **state)
{
	struct datagram d = { 0 };
	struct ibcc_vroute_private_lft v;

	(void)state;
	d.b[DATA + 1] = 4; /* has tables */
	d.b[DATA + 2] = 3; /* could */
	d.b[DATA + 3] = 0xf8;
	ibcc_vroute_private_lft_unpack(d.b, &v);
	assert_int_equal(v.active_mode, 0);
	d.b[DATA + 3] = 0x02;
	ibcc_vroute_private_lft_unpack(d.b, &v);
	assert_int_equal(v.active_mode, 2);
}

static void test_sls(void **state)
{
	struct ibcc_vroute_adaptive a = { 0 };
	struct ibcc_vroute_private_lft p = { 0 };

	(void)state;
	a.sl_mask = 0x0f;
	a.hbf_sl_mask = 0x100;
	assert_int_equal(ibcc_vroute_sls(&a, &p), 0);
	a.enabled = true;
	assert_int_equal(ibcc_vroute_sls(&a, &p), 0xffff);
	a.by_sl = true;
	assert_int_equal(ibcc_vroute_sls(&a, &p), 0x0f);
	a.hbf_enabled = true;
	assert_int_equal(ibcc_vroute_sls(&a, &p), 0x10f);
	a.hbf_sl_mask = 0;
	assert_int_equal(ibcc_vroute_sls(&a, &p), 0xffff);
	a = (struct ibcc_vroute_adaptive){ 0 };
	p.active_mode = 1;
	assert_int_equal(ibcc_vroute_sls(&a, &p), 0xffff);
}

static void test_round_trips(void **state)
{
	(void)state;
	test_seed();
	for (int i = 0; i < ROUNDS; i++) {
		struct ibcc_vroute_adaptive a = { rnd() & 1, rnd() & 1, (uint16_t)rnd(), rnd() & 1,
						  (uint16_t)rnd() },
					    a2;
		struct ibcc_vroute_private_lft p = { rnd() & 7 }, p2;
		struct datagram d;

		rnd_fill(d.b, sizeof(d.b));
		ibcc_vroute_adaptive_pack(d.b, &a);
		ibcc_vroute_adaptive_unpack(d.b, &a2);
		assert_true(a.enabled == a2.enabled && a.by_sl == a2.by_sl &&
			    a.sl_mask == a2.sl_mask && a.hbf_enabled == a2.hbf_enabled &&
			    a.hbf_sl_mask == a2.hbf_sl_mask);
		ibcc_vroute_private_lft_pack(d.b, &p);
		ibcc_vroute_private_lft_unpack(d.b, &p2);
		assert_int_equal(p.active_mode, p2.active_mode);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_adaptive),
		cmocka_unit_test(test_private_lft),
		cmocka_unit_test(test_sls),
		cmocka_unit_test(test_round_trips),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
