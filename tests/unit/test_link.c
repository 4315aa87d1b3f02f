/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Link rates and packet times, against published rates. */
#include "codec.h"

#include <ibcc/link.h>

static void test_rates(void **state)
{
	static const struct {
		unsigned int lanes;
		enum ibcc_link_speed speed;
		uint32_t mbps;
	} rates[] = {
		{ 1, IBCC_LINK_SPEED_SDR, 2000 },   { 4, IBCC_LINK_SPEED_SDR, 8000 },
		{ 12, IBCC_LINK_SPEED_SDR, 24000 }, { 4, IBCC_LINK_SPEED_DDR, 16000 },
		{ 4, IBCC_LINK_SPEED_QDR, 32000 },  { 8, IBCC_LINK_SPEED_QDR, 64000 },
		{ 12, IBCC_LINK_SPEED_QDR, 96000 }, { 4, IBCC_LINK_SPEED_FDR10, 40000 },
		{ 1, IBCC_LINK_SPEED_FDR, 13636 },  { 4, IBCC_LINK_SPEED_FDR, 54545 },
		{ 4, IBCC_LINK_SPEED_EDR, 100000 }, { 2, IBCC_LINK_SPEED_HDR, 100000 },
		{ 4, IBCC_LINK_SPEED_HDR, 200000 }, { 4, IBCC_LINK_SPEED_NDR, 400000 },
		{ 4, IBCC_LINK_SPEED_XDR, 800000 }, { 12, IBCC_LINK_SPEED_XDR, 2400000 },
		{ 4, IBCC_LINK_SPEED_NONE, 0 },     { 0, IBCC_LINK_SPEED_QDR, 0 },
		{ 3, IBCC_LINK_SPEED_QDR, 0 },      { 16, IBCC_LINK_SPEED_QDR, 0 },
		{ 4, (enum ibcc_link_speed)99, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		assert_int_equal(ibcc_link_rate_mbps(rates[i].lanes, rates[i].speed),
				 rates[i].mbps);
}

static void test_codes(void **state)
{
	static const unsigned int lanes[][2] = { { 0, 0 }, { 1, 1 },  { 2, 4 },  { 3, 0 },
						 { 4, 8 }, { 8, 12 }, { 16, 2 }, { 32, 0 } };
	static const uint16_t mtu[] = { 0, 256, 512, 1024, 2048, 4096, 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(lanes) / sizeof(lanes[0]); i++)
		assert_int_equal(ibcc_link_width_lanes((uint8_t)lanes[i][0]), lanes[i][1]);
	for (uint8_t i = 0; i < sizeof(mtu) / sizeof(mtu[0]); i++)
		assert_int_equal(ibcc_link_mtu_bytes(i), mtu[i]);
	assert_int_equal(ibcc_link_mtu_bytes(255), 0);

	assert_int_equal(ibcc_link_speed_decode(0, 0, 0), IBCC_LINK_SPEED_NONE);
	assert_int_equal(ibcc_link_speed_decode(1, 0, 0), IBCC_LINK_SPEED_SDR);
	assert_int_equal(ibcc_link_speed_decode(2, 0, 0), IBCC_LINK_SPEED_DDR);
	assert_int_equal(ibcc_link_speed_decode(4, 0, 0), IBCC_LINK_SPEED_QDR);
	assert_int_equal(ibcc_link_speed_decode(4, 0, 1), IBCC_LINK_SPEED_FDR10);
	assert_int_equal(ibcc_link_speed_decode(2, 0, 1), IBCC_LINK_SPEED_DDR);
	assert_int_equal(ibcc_link_speed_decode(7, 0, 0), IBCC_LINK_SPEED_NONE);
	/* The extended speed wins over what LinkSpeedActive keeps saying. */
	assert_int_equal(ibcc_link_speed_decode(4, 1, 1), IBCC_LINK_SPEED_FDR);
	assert_int_equal(ibcc_link_speed_decode(4, 2, 0), IBCC_LINK_SPEED_EDR);
	assert_int_equal(ibcc_link_speed_decode(4, 4, 0), IBCC_LINK_SPEED_HDR);
	assert_int_equal(ibcc_link_speed_decode(4, 8, 0), IBCC_LINK_SPEED_NDR);
	assert_int_equal(ibcc_link_speed_decode(4, IBCC_LINK_SPEED_EXT_XDR, 0),
			 IBCC_LINK_SPEED_XDR);
	assert_int_equal(ibcc_link_speed_decode(4, 3, 0), IBCC_LINK_SPEED_NONE);
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(ibcc_link_speed_name(IBCC_LINK_SPEED_NONE), "none");
	assert_string_equal(ibcc_link_speed_name(IBCC_LINK_SPEED_SDR), "SDR");
	assert_string_equal(ibcc_link_speed_name(IBCC_LINK_SPEED_FDR10), "FDR10");
	assert_string_equal(ibcc_link_speed_name(IBCC_LINK_SPEED_XDR), "XDR");
	assert_string_equal(ibcc_link_speed_name((enum ibcc_link_speed) - 1), "none");
}

#define SPEED(s) (1u << IBCC_LINK_SPEED_##s)

/* Masks as IBA vol. 1, 14.2.5.6 has them for PortInfo. */
static void test_caps(void **state)
{
	const uint16_t to_qdr = SPEED(SDR) | SPEED(DDR) | SPEED(QDR);
	static const struct {
		struct ibcc_link_masks supported, enabled;
		uint8_t widths;
		uint16_t speeds;
	} cases[] = {
		{ { 0, 0, 0, 0 }, { 0, 0, 0, 0 }, 0, 0 },
		{ { 3, 1, 0, 0 }, { 3, 1, 0, 0 }, 3, SPEED(SDR) },
		{ { 11, 3, 0, 0 }, { 11, 3, 0, 0 }, 11, SPEED(SDR) | SPEED(DDR) },
		{ { 3, 5, 0, 0 }, { 3, 5, 0, 0 }, 3, SPEED(SDR) | SPEED(QDR) },
		/* What an administrator has disabled: 1x alone, DDR at most. */
		{ { 3, 7, 0, 0 }, { 1, 3, 0, 0 }, 1, SPEED(SDR) | SPEED(DDR) },
		/* 255 and 15 stand for all that is supported, 0 is not reported. */
		{ { 3, 7, 0, 0 }, { 255, 15, 0, 0 }, 3, to_qdr },
		{ { 3, 7, 3, 0 }, { 0, 0, 0, 0 }, 3, to_qdr | SPEED(FDR) | SPEED(EDR) },
		{ { 19, 7, 15, 0 },
		  { 19, 7, 31, 0 },
		  19,
		  to_qdr | SPEED(FDR) | SPEED(EDR) | SPEED(HDR) | SPEED(NDR) },
		/* 30: extended speeds are off. */
		{ { 3, 7, 3, 0 }, { 3, 7, 30, 0 }, 3, to_qdr },
		{ { 3, 7, 8, 1 }, { 3, 7, 8, 1 }, 3, to_qdr | SPEED(NDR) | SPEED(XDR) },
		{ { 3, 7, 8, 1 }, { 3, 7, 8, 2 }, 3, to_qdr | SPEED(NDR) },
		/* Reserved bits name nothing. */
		{ { 0xe0, 8, 16, 2 }, { 0xff, 15, 31, 7 }, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ibcc_link_caps c =
			ibcc_link_caps_decode(&cases[i].supported, &cases[i].enabled);

		assert_int_equal(c.widths, cases[i].widths);
		assert_int_equal(c.speeds, cases[i].speeds);
	}
	assert_int_equal(IBCC_LINK_SPEEDS, to_qdr | SPEED(FDR10) | SPEED(FDR) | SPEED(EDR) |
						   SPEED(HDR) | SPEED(NDR) | SPEED(XDR));
	assert_int_equal(IBCC_LINK_WIDTHS, 1 | 2 | 4 | 8 | 16);
}

/* Codes of widths are not in the order of widths: 2x is the highest bit. */
static void test_best(void **state)
{
	static const struct {
		struct ibcc_link_caps a, b;
		unsigned int lanes;
		enum ibcc_link_speed speed;
	} cases[] = {
		{ { 3, SPEED(SDR) | SPEED(DDR) }, { 3, SPEED(SDR) }, 4, IBCC_LINK_SPEED_SDR },
		{ { 16 | 1, SPEED(HDR) }, { 16 | 3, SPEED(HDR) }, 2, IBCC_LINK_SPEED_HDR },
		{ { 16 | 3, SPEED(HDR) }, { 16 | 3, SPEED(HDR) }, 4, IBCC_LINK_SPEED_HDR },
		/* 12x and 8x have only 4x in common. */
		{ { 8 | 3, SPEED(QDR) }, { 4 | 3, SPEED(QDR) }, 4, IBCC_LINK_SPEED_QDR },
		{ { 8 | 3, SPEED(QDR) }, { 8, SPEED(QDR) }, 12, IBCC_LINK_SPEED_QDR },
	};
	unsigned int lanes;
	enum ibcc_link_speed speed;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(ibcc_link_best(&cases[i].a, &cases[i].b, &lanes, &speed));
		assert_int_equal(lanes, cases[i].lanes);
		assert_int_equal(speed, cases[i].speed);
		assert_true(ibcc_link_best(&cases[i].b, &cases[i].a, &lanes, &speed));
		assert_int_equal(lanes, cases[i].lanes);
	}
	assert_false(ibcc_link_best(&(struct ibcc_link_caps){ 1, SPEED(SDR) },
				    &(struct ibcc_link_caps){ 2, SPEED(SDR) }, &lanes, &speed));
	assert_false(ibcc_link_best(&(struct ibcc_link_caps){ 3, SPEED(SDR) },
				    &(struct ibcc_link_caps){ 3, SPEED(DDR) }, &lanes, &speed));
	assert_false(ibcc_link_best(&(struct ibcc_link_caps){ 3, SPEED(SDR) },
				    &(struct ibcc_link_caps){ 0, 0 }, &lanes, &speed));
	assert_int_equal(ibcc_link_speed_of(4, 54545), IBCC_LINK_SPEED_FDR);
	assert_int_equal(ibcc_link_speed_of(2, 100000), IBCC_LINK_SPEED_HDR);
	assert_int_equal(ibcc_link_speed_of(4, 100000), IBCC_LINK_SPEED_EDR);
	assert_int_equal(ibcc_link_speed_of(4, 99999), IBCC_LINK_SPEED_NONE);
	assert_int_equal(ibcc_link_speed_of(0, 0), IBCC_LINK_SPEED_NONE);
}

static void test_packet_times(void **state)
{
	const uint32_t wire = 2048 + IBCC_LINK_HEADER_BYTES;

	(void)state;
	/* Gusat 2006: 2 KB at 24 Gb/s; its IPD unit of 21 ns is one 64 byte block. */
	assert_int_equal(ibcc_link_packet_ps(2048, 24000), 682667);
	assert_int_equal(ibcc_link_packet_ps(IBCC_LINK_CREDIT_BYTES, 24000), 21334);
	/* 2 KB packets with headers: QDR 518 ns, FDR 304, EDR 166, HDR 83, NDR 41.5. */
	assert_int_equal(ibcc_link_packet_ps(wire, 32000), 518500);
	assert_int_equal(ibcc_link_packet_ps(wire, 54545) / 1000, 304);
	assert_int_equal(ibcc_link_packet_ps(wire, 100000), 165920);
	assert_int_equal(ibcc_link_packet_ps(wire, 200000), 82960);
	assert_int_equal(ibcc_link_packet_ps(wire, 400000), 41480);
	/* Rounded up, never to nothing, and no overflow at the ends of the arguments. */
	assert_int_equal(ibcc_link_packet_ps(0, 1), 0);
	assert_int_equal(ibcc_link_packet_ps(1, UINT32_MAX), 1);
	assert_int_equal(ibcc_link_packet_ps(UINT32_MAX, 1), 8000000ull * UINT32_MAX);
	assert_int_equal(ibcc_link_packet_ps(1, 3), 2666667);
}

/* To nearest: 8 bytes at 32 Gb/s are 2 ns. */
static void test_bytes(void **state)
{
	(void)state;
	assert_int_equal(ibcc_link_bytes_ps(32000, 8), 2000);
	assert_int_equal(ibcc_link_bytes_ps(32000, 1), 250);
	assert_int_equal(ibcc_link_bytes_ps(100000, 8), 640);
	assert_int_equal(ibcc_link_bytes_ps(54545, 32), 4693); /* 256 bits / 54.545 Gb/s */
	assert_int_equal(ibcc_link_bytes_ps(2000, 256), 1024000);
	assert_int_equal(ibcc_link_bytes_ps(0, 8), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),        cmocka_unit_test(test_rates),
		cmocka_unit_test(test_codes),        cmocka_unit_test(test_names),
		cmocka_unit_test(test_packet_times), cmocka_unit_test(test_caps),
		cmocka_unit_test(test_best),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
