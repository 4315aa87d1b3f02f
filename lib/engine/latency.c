/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Histograms of latencies (latency.h): a percentile is exact to a sixteenth. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "latency.h"
#include "messages.h"

uint32_t ibcc_latency_bucket(uint64_t ps)
{
	return ibcc_log_bucket(ps >> LATENCY_UNIT_SHIFT, LATENCY_STEP_BITS);
}

uint64_t ibcc_latency_bucket_end_ps(uint32_t bucket)
{
	return ibcc_log_bucket_end(bucket, LATENCY_STEP_BITS) << LATENCY_UNIT_SHIFT;
}

static int start(uint32_t **histogram)
{
	if (*histogram)
		memset(*histogram, 0, LATENCY_BUCKETS * sizeof(**histogram));
	else
		*histogram = calloc(LATENCY_BUCKETS, sizeof(**histogram));
	return *histogram ? 0 : -ENOMEM;
}

int ibcc_engine_latency_start(struct ibcc_engine *e)
{
	int rc = 0;

	for (uint32_t i = 0; i < e->n_flow && !rc; i++) {
		struct flow *f = &e->flow[i];

		rc = start(&f->latency);
		if (!rc && f->messages)
			rc = start(&f->messages->latency);
	}
	return rc;
}

int ibcc_engine_latency_read(const struct ibcc_engine *e, enum ibcc_latency of,
			     const uint32_t *flow, uint32_t n_flows, double share, uint64_t *ps)
{
	uint64_t h[LATENCY_BUCKETS] = { 0 }, n = 0, sum = 0, rank;

	if (!(share >= 0 && share <= 1))
		return -EINVAL;
	for (uint32_t k = 0; k < n_flows; k++) {
		const uint32_t *one = flow[k] < e->n_flow ? e->flow[flow[k]].latency : NULL;

		if (!one)
			return -EINVAL;
		if (of == IBCC_LATENCY_MESSAGES)
			one = e->flow[flow[k]].messages ? e->flow[flow[k]].messages->latency : NULL;
		if (!one)
			continue;
		for (uint32_t i = 0; i < LATENCY_BUCKETS; i++) {
			h[i] += one[i];
			n += one[i];
		}
	}
	*ps = 0;
	if (!n)
		return 0;
	rank = (uint64_t)(share * (double)n);
	for (uint32_t i = 0; i < LATENCY_BUCKETS && !*ps; i++) {
		sum += h[i];
		if (sum > rank || sum == n)
			*ps = ibcc_latency_bucket_end_ps(i);
	}
	return 0;
}
