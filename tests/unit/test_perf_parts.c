/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The parts of ibcc-perf that call no verbs: histogram, pace, statistics, counters. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ibcc/rng.h>

#include "perftest/verbs/counters.h"
#include "perftest/verbs/hist.h"
#include "perftest/verbs/pace.h"
#include "perftest/verbs/stats.h"
#include "tests/unit/files.h"

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Percentiles as sorting gives them, to a 64th. */
static void test_hist(void **state)
{
	static struct ibcc_perf_hist h, back;
	enum { N = 20000 };
	static uint64_t v[N];
	static const double shares[] = { 0.001, 0.5, 0.9, 0.99, 0.999, 1 };
	uint64_t rng = 7;
	double sum = 0;
	json_t *o;

	(void)state;
	assert_true(isnan(ibcc_perf_hist_us(&h, 0.5)));
	for (int i = 0; i < N; i++) {
		v[i] = ibcc_rng_next(&rng) >> (24 + i % 36); /* many octaves */
		sum += (double)v[i];
		ibcc_perf_hist_add(&h, v[i]);
	}
	qsort(v, N, sizeof(*v), by_value);
	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
		double want = (double)v[(size_t)ceil(shares[i] * N) - 1] / 1e3;
		double got = ibcc_perf_hist_us(&h, shares[i]);

		assert_true(got >= want && got <= want * (1 + 1.0 / 64));
	}
	assert_true(fabs(ibcc_perf_hist_mean_us(&h) - sum / N / 1e3) < 1e-6 * sum / N / 1e3);
	assert_true(ibcc_perf_hist_us(&h, 1) == (double)v[N - 1] / 1e3);
	o = ibcc_perf_hist_json(&h);
	assert_int_equal(ibcc_perf_hist_read(&back, o), 0);
	assert_memory_equal(back.bucket, h.bucket, sizeof(h.bucket));
	assert_true(back.n == h.n && back.max_ns == h.max_ns);
	json_object_set_new(o, "buckets", json_pack("[[i,i]]", IBCC_PERF_HIST_BUCKETS, 1));
	assert_int_equal(ibcc_perf_hist_read(&back, o), -EPROTO);
	json_decref(o);
}

/* Asks each `step` as a busy host would, and counts what is due. */
static uint64_t count(struct ibcc_perf_pace *p, uint64_t to_ns, uint64_t step)
{
	uint64_t n = 0, due, last = 0;

	ibcc_perf_pace_start(p);
	for (uint64_t now = 0; now < to_ns; now += step)
		while (ibcc_perf_pace_take(p, now, &due)) {
			assert_true(due <= now && due >= last);
			last = due;
			n++;
		}
	return n;
}

static void test_pace(void **state)
{
	struct ibcc_perf_pace p = { .interval_ns = 1000, .depth = 1000, .rng = 3 };
	uint64_t due, change;
	double n;

	(void)state;
	assert_int_equal(count(&p, 1000000, 10), 1000);
	assert_int_equal(count(&p, 1000000, 7777),
			 1000 - (1000000 - 1 - 999999 / 7777 * 7777) / 1000);
	p.start_ns = 200000;
	p.stop_ns = 700000;
	assert_int_equal(count(&p, 1000000, 10), 500);
	/* A third of the time on: a third of the messages. */
	p.start_ns = p.stop_ns = 0;
	p.on_ns = 10000;
	p.off_ns = 20000;
	assert_int_equal(count(&p, 900000, 10), 300);
	assert_false(ibcc_perf_pace_on(&p, 15000, &change));
	assert_int_equal(change, 30000);
	assert_true(ibcc_perf_pace_on(&p, 35000, &change));
	assert_int_equal(change, 40000);
	/* Drawn gaps have the same mean: within five deviations of a Poisson count. */
	p = (struct ibcc_perf_pace){
		.interval_ns = 100, .depth = 100, .rng = 3, .exponential = true
	};
	n = (double)count(&p, 10000000, 10);
	assert_true(fabs(n - 1e5) < 5 * sqrt(1e5));
	/* A late sender has the bucket's depth; the rest is given up, and counted. */
	p = (struct ibcc_perf_pace){ .interval_ns = 1000, .depth = 5 };
	ibcc_perf_pace_start(&p);
	n = 0;
	while (ibcc_perf_pace_take(&p, 1000000, &due))
		n++;
	assert_true(n == 6);
	assert_int_equal(p.due + p.missed, 1001);
	assert_int_equal(ibcc_perf_pace_next(&p, 1000000), 1001000);
	/* No rate: at once, while it is on. */
	/* Nothing was asked between 1 and 80 ms, when it stopped: the messages of that time are
	 * missed. */
	p = (struct ibcc_perf_pace){
		.start_ns = 20000, .stop_ns = 80000, .interval_ns = 1000, .depth = 100
	};
	ibcc_perf_pace_start(&p);
	while (ibcc_perf_pace_take(&p, 30500, &due))
		;
	assert_int_equal(p.due, 11);
	ibcc_perf_pace_end(&p, 100000);
	assert_int_equal(p.due + p.missed, 60);
	assert_false(ibcc_perf_pace_take(&p, 100000, &due));
	ibcc_perf_pace_end(&p, 100000);
	assert_int_equal(p.due + p.missed, 60);

	p = (struct ibcc_perf_pace){ .start_ns = 50 };
	ibcc_perf_pace_start(&p);
	assert_false(ibcc_perf_pace_take(&p, 49, &due));
	assert_int_equal(ibcc_perf_pace_next(&p, 49), 50);
	assert_true(ibcc_perf_pace_take(&p, 77, &due));
	assert_int_equal(due, 77);
}

/* Student's t from tables (R: qt(0.975, df)); a change from a paper and pencil. */
static void test_stats(void **state)
{
	static const double t[][2] = { { 1, 12.7062 }, { 2, 4.30265 },  { 4, 2.77645 },
				       { 9, 2.26216 }, { 30, 2.04227 }, { 1e6, 1.96006 } };
	static const double before[] = { 100, 102, 98 }, after[] = { 200, 206, 194 };
	struct ibcc_perf_change c;

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++)
		assert_true(fabs(ibcc_perf_t975(t[i][0]) - t[i][1]) < 2e-4);
	/* Variances of the means 4/3 and 12; of the ratio (2/100)^2 4/3 + 12/100^2 = 1.7333e-3;
	 * degrees of freedom 1.7333^2 / ((0.5333^2 + 1.2^2) / 2) = 3.485, t = 2.946.
	 */
	c = ibcc_perf_change(before, 3, after, 3, 0);
	assert_true(fabs(c.percent - 100) < 1e-9);
	assert_true(fabs(c.half_width - 2.946 * 100 * sqrt(1.73333e-3)) < 0.02);
	/* As pairs each went to the double, or nearly: 2, 2.0196, 1.9796. */
	c = ibcc_perf_change(before, 3, after, 3, 1);
	assert_true(fabs(c.percent - 99.973) < 1e-3);
	assert_true(fabs(c.half_width - 4.30265 * 100 * 0.0200130 / sqrt(3)) < 0.01);
	c = ibcc_perf_change(before, 1, after, 1, 0);
	assert_true(isnan(c.half_width) && fabs(c.percent - 100) < 1e-9);
	c = ibcc_perf_change((const double[]){ 0 }, 1, after, 1, 0);
	assert_true(isnan(c.percent));
}

static void folder(const char *name)
{
	assert_int_equal(mkdir(files_path(name), 0700), 0);
}

static void test_counters(void **state)
{
	char sysfs[512];
	json_t *a, *b, *d;

	(void)state;
	folder("class");
	folder("class/infiniband");
	folder("class/infiniband/d0");
	folder("class/infiniband/d0/ports");
	folder("class/infiniband/d0/ports/1");
	folder("class/infiniband/d0/ports/1/counters");
	folder("class/infiniband/d0/ports/1/hw_counters");
	snprintf(sysfs, sizeof(sysfs), "%s", files_dir);
	files_write("class/infiniband/d0/ports/1/counters/port_xmit_wait", "100\n");
	files_write("class/infiniband/d0/ports/1/counters/odd", "N/A (no PMA)\n");
	files_write("class/infiniband/d0/ports/1/hw_counters/rnr_nak_retry_err", "5\n");
	files_write("class/infiniband/d0/ports/1/hw_counters/lifespan", "10\n");
	a = ibcc_perf_counters(sysfs, "d0", 1);
	assert_int_equal(json_object_size(a), 2);
	files_write("class/infiniband/d0/ports/1/counters/port_xmit_wait", "180\n");
	files_write("class/infiniband/d0/ports/1/hw_counters/new", "1\n");
	b = ibcc_perf_counters(sysfs, "d0", 1);
	d = ibcc_perf_counters_since(a, b);
	/* Neither what stands still, but for retries, nor what was not there before. */
	assert_int_equal(json_object_size(d), 2);
	assert_int_equal(ibcc_perf_counters_retries(d), 0);
	json_object_set_new(d, "local_ack_timeout_err", json_integer(3));
	json_object_set_new(d, "rcvd_rnr_err", json_integer(4));
	assert_int_equal(ibcc_perf_counters_retries(d), 7);
	assert_int_equal(json_integer_value(json_object_get(d, "port_xmit_wait")), 80);
	json_decref(a);
	json_decref(b);
	json_decref(d);
	a = ibcc_perf_counters(sysfs, "d1", 1);
	assert_int_equal(json_object_size(a), 0);
	assert_int_equal(ibcc_perf_counters_retries(a), -1); /* unknown is not none */
	json_decref(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hist),
		cmocka_unit_test(test_pace),
		cmocka_unit_test(test_stats),
		cmocka_unit_test(test_counters),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
