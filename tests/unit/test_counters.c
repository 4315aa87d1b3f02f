/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Counter differences: wrap, saturation, reset, missing counters, rates. */
#include "codec.h"

#include <errno.h>

#include <ibcc/counters.h>

#define VALID     IBCC_DELTA_VALID
#define SATURATED IBCC_DELTA_SATURATED
#define RESET     IBCC_DELTA_RESET

struct one {
	uint8_t flags;
	uint64_t v;
};

/* Difference of one counter between two readings a millisecond apart. */
static struct one diff(enum ibcc_ctr c, unsigned int width, uint64_t a, uint64_t b)
{
	struct ibcc_counters prev = { .t_ns = 5000000 }, cur = { .t_ns = 6000000 };
	struct ibcc_delta d;

	prev.width[c] = cur.width[c] = (uint8_t)width;
	prev.v[c] = a;
	cur.v[c] = b;
	assert_int_equal(ibcc_counters_diff(&prev, &cur, &d), 0);
	assert_int_equal(d.dt_ns, 1000000);
	for (int i = 0; i < IBCC_CTR_COUNT; i++)
		if (i != (int)c)
			assert_int_equal(d.flags[i], 0);
	return (struct one){ d.flags[c], d.v[c] };
}

static void expect(struct one got, uint8_t flags, uint64_t v)
{
	assert_int_equal(got.flags, flags);
	assert_int_equal(got.v, v);
}

static void test_plain(void **state)
{
	(void)state;
	expect(diff(IBCC_CTR_XMIT_DATA, 64, 100, 350), VALID, 250);
	expect(diff(IBCC_CTR_XMIT_DATA, 64, 100, 100), VALID, 0);
	expect(diff(IBCC_CTR_RCV_FECN, 32, 0, 7), VALID, 7);
	/* More than 32 bits at once, and up to the last value. */
	expect(diff(IBCC_CTR_XMIT_DATA, 64, 1, 0x100000002ull), VALID, 0x100000001ull);
	expect(diff(IBCC_CTR_XMIT_WAIT, 64, 0, UINT64_MAX - 1), VALID, UINT64_MAX - 1);
}

static void test_saturated(void **state)
{
	(void)state;
	expect(diff(IBCC_CTR_XMIT_WAIT, 32, 0xfffffff0, 0xffffffff), VALID | SATURATED, 15);
	expect(diff(IBCC_CTR_XMIT_WAIT, 32, 0xffffffff, 0xffffffff), VALID | SATURATED, 0);
	expect(diff(IBCC_CTR_XMIT_DATA, 64, UINT64_MAX, UINT64_MAX), VALID | SATURATED, 0);
	/* 16-bit counters, as the VL counters have. */
	expect(diff(IBCC_CTR_XMIT_WAIT, 16, 0xff00, 0xffff), VALID | SATURATED, 0xff);
	expect(diff(IBCC_CTR_XMIT_WAIT, 16, 0xff00, 0xfffe), VALID, 0xfe);
}

static void test_reset(void **state)
{
	(void)state;
	expect(diff(IBCC_CTR_XMIT_WAIT, 32, 0xffffffff, 12), VALID | RESET, 12);
	expect(diff(IBCC_CTR_RCV_BECN, 32, 0xffff0000, 12), VALID | RESET, 12);
	expect(diff(IBCC_CTR_XMIT_PKTS, 32, 0xffff0000, 12), VALID | RESET, 12);
	expect(diff(IBCC_CTR_XMIT_DATA, 64, 5000, 40), VALID | RESET, 40);
	expect(diff(IBCC_CTR_XMIT_DATA, 64, UINT64_MAX - 5, 4), VALID | RESET, 4);
	expect(diff(IBCC_CTR_XMIT_WAIT, 16, 0xfff0, 1), VALID | RESET, 1);
}

static void test_wrap(void **state)
{
	(void)state;
	/* Only 32-bit data counters, from the top quarter into the bottom one. */
	expect(diff(IBCC_CTR_XMIT_DATA, 32, 0xfffffff0, 0x10), VALID, 0x20);
	expect(diff(IBCC_CTR_RCV_DATA, 32, 0xc0000000, 0x3fffffff), VALID, 0x7fffffff);
	expect(diff(IBCC_CTR_XMIT_DATA, 32, 0xffffffff, 0), VALID, 1);
	expect(diff(IBCC_CTR_XMIT_DATA, 32, 0xbfffffff, 0x10), VALID | RESET, 0x10);
	expect(diff(IBCC_CTR_XMIT_DATA, 32, 0xc0000000, 0x40000000), VALID | RESET, 0x40000000);
	expect(diff(IBCC_CTR_XMIT_DATA, 64, 0xfffffff0, 0x10), VALID | RESET, 0x10);
}

static void test_missing(void **state)
{
	struct ibcc_counters prev = { .t_ns = 1 }, cur = { .t_ns = 2 };
	struct ibcc_delta d;

	(void)state;
	prev.width[IBCC_CTR_XMIT_DATA] = 32;
	cur.width[IBCC_CTR_RCV_DATA] = 32;
	prev.width[IBCC_CTR_XMIT_WAIT] = 32; /* another attribute the next time */
	cur.width[IBCC_CTR_XMIT_WAIT] = 64;
	cur.v[IBCC_CTR_XMIT_WAIT] = 99;
	assert_int_equal(ibcc_counters_diff(&prev, &cur, &d), 0);
	for (int i = 0; i < IBCC_CTR_COUNT; i++) {
		assert_int_equal(d.flags[i], 0);
		assert_int_equal(d.v[i], 0);
		assert_false(ibcc_delta_valid(&d, (enum ibcc_ctr)i));
	}
	assert_int_equal(ibcc_delta_xmit_mbps(&d), 0);
	assert_int_equal(ibcc_delta_rcv_mbps(&d), 0);
	assert_int_equal(ibcc_delta_wait_permille(&d, 1000), 0);
}

static void test_time(void **state)
{
	struct ibcc_counters prev = { .t_ns = 1000 }, cur = { .t_ns = 1000 };
	struct ibcc_delta d, zero;

	(void)state;
	memset(&zero, 0, sizeof(zero));
	for (int i = 0; i < IBCC_CTR_COUNT; i++) {
		prev.width[i] = cur.width[i] = 64;
		cur.v[i] = 5;
	}
	memset(&d, 0x5a, sizeof(d));
	assert_int_equal(ibcc_counters_diff(&prev, &cur, &d), -EINVAL);
	assert_memory_equal(&d, &zero, sizeof(d));
	cur.t_ns = 999;
	memset(&d, 0x5a, sizeof(d));
	assert_int_equal(ibcc_counters_diff(&prev, &cur, &d), -EINVAL);
	assert_memory_equal(&d, &zero, sizeof(d));
	assert_false(ibcc_delta_valid(&d, IBCC_CTR_XMIT_DATA));
}

/* A counter of any width that counts, stops at its end and is cleared now and then, where a clear
 * that new counts have not overtaken is seen: every interval is told exactly.
 */
static void test_any(void **state)
{
	(void)state;
	for (int r = 0; r < ROUNDS; r++) {
		unsigned int width = (unsigned int[]){ 16, 32, 64 }[rnd() % 3];
		uint64_t max = width < 64 ? (1ull << width) - 1 : UINT64_MAX;
		uint64_t value = 0;

		for (int i = 0; i < 50; i++) {
			uint64_t before = value, step = (rnd() & max) >> (3 + rnd() % 12);
			bool clear = rnd() % 16 == 0 && before > step;

			if (clear)
				value = step;
			else
				value = before > max - step ? max : before + step;
			if (clear)
				expect(diff(IBCC_CTR_RCV_PKTS, width, before, value), VALID | RESET,
				       step);
			else
				expect(diff(IBCC_CTR_RCV_PKTS, width, before, value),
				       value == max ? VALID | SATURATED : VALID,
				       value == max ? max - before : step);
		}
	}
}

static struct ibcc_delta delta_of(enum ibcc_ctr c, uint64_t v, uint64_t dt_ns)
{
	struct ibcc_delta d = { .dt_ns = dt_ns };

	d.flags[c] = VALID;
	d.v[c] = v;
	return d;
}

static void test_rates(void **state)
{
	struct ibcc_delta d;

	(void)state;
	/* 1 GB/s is 250 million words of four bytes a second: 8000 Mb/s. */
	d = delta_of(IBCC_CTR_XMIT_DATA, 250000000, 1000000000);
	assert_int_equal(ibcc_delta_xmit_mbps(&d), 8000);
	assert_int_equal(ibcc_delta_rcv_mbps(&d), 0);
	/* A 4X QDR link that is full for 10 ms carries 40 MB. */
	d = delta_of(IBCC_CTR_RCV_DATA, 10000000, 10000000);
	assert_int_equal(ibcc_delta_rcv_mbps(&d), 32000);
	/* A full 64-bit counter in one nanosecond does not overflow. */
	d = delta_of(IBCC_CTR_XMIT_DATA, UINT64_MAX, 1);
	assert_int_equal(ibcc_delta_xmit_mbps(&d), UINT32_MAX);
	d = delta_of(IBCC_CTR_XMIT_DATA, 1, UINT64_MAX);
	assert_int_equal(ibcc_delta_xmit_mbps(&d), 0);
}

static void test_wait(void **state)
{
	/* Tick 7 is eight symbol times; a 4X QDR link moves 8 bytes in 2 ns. */
	const uint64_t tick_ps = 2000;
	struct ibcc_delta d;

	(void)state;
	d = delta_of(IBCC_CTR_XMIT_WAIT, 125000, 1000000);
	assert_int_equal(ibcc_delta_wait_permille(&d, tick_ps), 250);
	d = delta_of(IBCC_CTR_XMIT_WAIT, 500000, 1000000);
	assert_int_equal(ibcc_delta_wait_permille(&d, tick_ps), 1000);
	/* A reading taken a little late counts more ticks than the interval has. */
	d = delta_of(IBCC_CTR_XMIT_WAIT, 510000, 1000000);
	assert_int_equal(ibcc_delta_wait_permille(&d, tick_ps), 1000);
	d = delta_of(IBCC_CTR_XMIT_WAIT, UINT64_MAX, 1);
	assert_int_equal(ibcc_delta_wait_permille(&d, UINT64_MAX), 1000);
	d = delta_of(IBCC_CTR_XMIT_WAIT, 0, 1000000);
	assert_int_equal(ibcc_delta_wait_permille(&d, tick_ps), 0);
}

/* 16 of 32 Gb/s and 250 of 1000 us; beyond what there can be it goes on counting. */
static void test_busy(void **state)
{
	const uint64_t tick_ps = 2000;
	struct ibcc_delta d;

	(void)state;
	d = delta_of(IBCC_CTR_XMIT_DATA, 500000, 1000000);
	assert_int_equal(ibcc_delta_busy_permille(&d, tick_ps, 32000), 500);
	assert_int_equal(ibcc_delta_busy_permille(&d, tick_ps, 0), 0);
	d.flags[IBCC_CTR_XMIT_WAIT] = IBCC_DELTA_VALID;
	d.v[IBCC_CTR_XMIT_WAIT] = 125000;
	assert_int_equal(ibcc_delta_busy_permille(&d, tick_ps, 32000), 750);
	d.v[IBCC_CTR_XMIT_WAIT] = 665000;
	assert_int_equal(ibcc_delta_busy_permille(&d, tick_ps, 32000), 1830);
	d.flags[IBCC_CTR_XMIT_WAIT] |= IBCC_DELTA_SATURATED;
	assert_int_equal(ibcc_delta_busy_permille(&d, tick_ps, 32000), 500);
	d = delta_of(IBCC_CTR_XMIT_WAIT, UINT64_MAX, 1);
	assert_int_equal(ibcc_delta_busy_permille(&d, UINT64_MAX, 32000), UINT32_MAX);
}

/* 4X NDR carries 4e11 bits a second: 2^32 words of 32 bits in 343.6 ms; ticks of 80 ps take as
 * long. */
static void test_too_fast(void **state)
{
	const uint64_t tick_ps = 80;
	struct ibcc_counters a = { .t_ns = 1 }, b;
	struct ibcc_delta d;

	(void)state;
	for (int c = 0; c < IBCC_CTR_COUNT; c++)
		a.width[c] = 32;
	b = a;
	b.t_ns += 343000000;
	b.v[IBCC_CTR_XMIT_DATA] = b.v[IBCC_CTR_RCV_DATA] = b.v[IBCC_CTR_XMIT_WAIT] = 5;
	assert_int_equal(ibcc_counters_diff(&a, &b, &d), 0);
	ibcc_counters_distrust(&b, 400000, tick_ps, 0, &d);
	for (int c = 0; c < IBCC_CTR_COUNT; c++)
		assert_int_equal(d.flags[c], IBCC_DELTA_VALID);
	b.t_ns += 1000000;
	assert_int_equal(ibcc_counters_diff(&a, &b, &d), 0);
	ibcc_counters_distrust(&b, 400000, tick_ps, 0, &d);
	for (int c = 0; c < IBCC_CTR_COUNT; c++)
		assert_int_equal(d.flags[c] & IBCC_DELTA_SATURATED,
				 c == IBCC_CTR_XMIT_DATA || c == IBCC_CTR_RCV_DATA ||
						 c == IBCC_CTR_XMIT_WAIT
					 ? IBCC_DELTA_SATURATED
					 : 0);
	/* A slower link, no tick, 64 bits. */
	assert_int_equal(ibcc_counters_diff(&a, &b, &d), 0);
	ibcc_counters_distrust(&b, 200000, 0, 0, &d);
	for (int c = 0; c < IBCC_CTR_COUNT; c++)
		assert_int_equal(d.flags[c], IBCC_DELTA_VALID);
	a.width[IBCC_CTR_XMIT_DATA] = b.width[IBCC_CTR_XMIT_DATA] = 64;
	b.t_ns += 1000000000;
	assert_int_equal(ibcc_counters_diff(&a, &b, &d), 0);
	ibcc_counters_distrust(&b, 400000, tick_ps, 0, &d);
	assert_int_equal(d.flags[IBCC_CTR_XMIT_DATA], IBCC_DELTA_VALID);
	/* What stands still has not gone round, and what is known to stop cannot. */
	assert_int_equal(d.flags[IBCC_CTR_XMIT_WAIT], IBCC_DELTA_VALID | IBCC_DELTA_SATURATED);
	assert_int_equal(ibcc_counters_diff(&a, &b, &d), 0);
	ibcc_counters_distrust(&b, 400000, tick_ps, 1u << IBCC_CTR_XMIT_WAIT, &d);
	assert_int_equal(d.flags[IBCC_CTR_XMIT_WAIT], IBCC_DELTA_VALID);
	a.v[IBCC_CTR_XMIT_WAIT] = b.v[IBCC_CTR_XMIT_WAIT] = 77;
	assert_int_equal(ibcc_counters_diff(&a, &b, &d), 0);
	ibcc_counters_distrust(&b, 400000, tick_ps, 0, &d);
	assert_int_equal(d.flags[IBCC_CTR_XMIT_WAIT], IBCC_DELTA_VALID);
	/* At its end it stands still, too, and says nothing of how long ago it came there. */
	a.v[IBCC_CTR_XMIT_WAIT] = b.v[IBCC_CTR_XMIT_WAIT] = UINT32_MAX;
	assert_int_equal(ibcc_counters_at_end(&b), 1u << IBCC_CTR_XMIT_WAIT);
	assert_int_equal(ibcc_counters_diff(&a, &b, &d), 0);
	ibcc_counters_distrust(&b, 400000, tick_ps, 1u << IBCC_CTR_XMIT_WAIT, &d);
	assert_int_equal(d.flags[IBCC_CTR_XMIT_WAIT], IBCC_DELTA_VALID | IBCC_DELTA_SATURATED);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),    cmocka_unit_test(test_saturated),
		cmocka_unit_test(test_too_fast), cmocka_unit_test(test_reset),
		cmocka_unit_test(test_wrap),     cmocka_unit_test(test_missing),
		cmocka_unit_test(test_time),     cmocka_unit_test(test_any),
		cmocka_unit_test(test_rates),    cmocka_unit_test(test_wait),
		cmocka_unit_test(test_busy),
	};

	test_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
