/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Histograms of times in nanoseconds, exact to a 64th (1.6 %), up to 18 minutes. */
#ifndef PERFTEST_VERBS_HIST_H
#define PERFTEST_VERBS_HIST_H

#include <stdint.h>

#include <jansson.h>

#include <ibcc/log_buckets.h>

#define IBCC_PERF_HIST_BITS    6u
#define IBCC_PERF_HIST_BUCKETS IBCC_LOG_BUCKETS(40u, IBCC_PERF_HIST_BITS)

struct ibcc_perf_hist {
	uint64_t n, max_ns;
	double sum_ns;
	uint64_t bucket[IBCC_PERF_HIST_BUCKETS];
};

void ibcc_perf_hist_add(struct ibcc_perf_hist *h, uint64_t ns);
/* Adds all values of another histogram. */
void ibcc_perf_hist_merge(struct ibcc_perf_hist *h, const struct ibcc_perf_hist *other);
/* The time that a share (0..1) of the values does not exceed, in microseconds; NAN without values.
 */
double ibcc_perf_hist_us(const struct ibcc_perf_hist *h, double share);
double ibcc_perf_hist_mean_us(const struct ibcc_perf_hist *h);

/* {"max_ns","sum_ns","buckets":[[BUCKET,COUNT],...]} without empty buckets; NULL without memory.
 * Reading replaces *h: -EPROTO if the JSON is no histogram.
 */
json_t *ibcc_perf_hist_json(const struct ibcc_perf_hist *h);
int ibcc_perf_hist_read(struct ibcc_perf_hist *h, const json_t *o);

#endif
