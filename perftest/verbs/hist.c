/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/verbs/hist.h"

#include <errno.h>
#include <math.h>
#include <string.h>

void ibcc_perf_hist_add(struct ibcc_perf_hist *h, uint64_t ns)
{
	uint32_t b = ibcc_log_bucket(ns, IBCC_PERF_HIST_BITS);

	h->bucket[b < IBCC_PERF_HIST_BUCKETS ? b : IBCC_PERF_HIST_BUCKETS - 1]++;
	h->n++;
	h->sum_ns += (double)ns;
	if (ns > h->max_ns)
		h->max_ns = ns;
}

void ibcc_perf_hist_merge(struct ibcc_perf_hist *h, const struct ibcc_perf_hist *other)
{
	for (uint32_t i = 0; i < IBCC_PERF_HIST_BUCKETS; i++)
		h->bucket[i] += other->bucket[i];
	h->n += other->n;
	h->sum_ns += other->sum_ns;
	if (other->max_ns > h->max_ns)
		h->max_ns = other->max_ns;
}

double ibcc_perf_hist_us(const struct ibcc_perf_hist *h, double share)
{
	double rank = ceil(share * (double)h->n), end;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < IBCC_PERF_HIST_BUCKETS; i++) {
		sum += h->bucket[i];
		if (!sum || (double)sum < rank)
			continue;
		/* Values are whole, so the last value of the bucket counts, but never more than the
		 * greatest value.
		 */
		end = (double)(ibcc_log_bucket_end(i, IBCC_PERF_HIST_BITS) - 1);
		return fmin(end, (double)h->max_ns) / 1e3;
	}
	return NAN;
}

double ibcc_perf_hist_mean_us(const struct ibcc_perf_hist *h)
{
	return h->n ? h->sum_ns / (double)h->n / 1e3 : NAN;
}

json_t *ibcc_perf_hist_json(const struct ibcc_perf_hist *h)
{
	json_t *list = json_array();

	for (uint32_t i = 0; list && i < IBCC_PERF_HIST_BUCKETS; i++)
		if (h->bucket[i])
			json_array_append_new(
				list, json_pack("[I,I]", (json_int_t)i, (json_int_t)h->bucket[i]));
	return json_pack("{sI sf so}", "max_ns", (json_int_t)h->max_ns, "sum_ns", h->sum_ns,
			 "buckets", list);
}

int ibcc_perf_hist_read(struct ibcc_perf_hist *h, const json_t *o)
{
	json_int_t max, b, n;
	json_t *list, *item;
	size_t i;

	memset(h, 0, sizeof(*h));
	if (json_unpack((json_t *)o, "{sI sF so}", "max_ns", &max, "sum_ns", &h->sum_ns, "buckets",
			&list) ||
	    max < 0)
		return -EPROTO;
	h->max_ns = (uint64_t)max;
	json_array_foreach (list, i, item) {
		if (json_unpack(item, "[I,I]", &b, &n) || b < 0 || b >= IBCC_PERF_HIST_BUCKETS ||
		    n < 0)
			return -EPROTO;
		h->bucket[b] = (uint64_t)n;
		h->n += (uint64_t)n;
	}
	return 0;
}
