/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Histograms of latencies.
 *
 * Buckets are sixteenths of powers of two, so that each is at most a sixteenth wider than the one
 * before and a percentile is exact to 6.25 %, whatever its size. Values are in units of 2^10 ps,
 * about 1 ns.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "latency.h"

#define UNIT_SHIFT 10u

uint32_t ibcc_latency_bucket(uint64_t ps)
{
	uint64_t v = ps >> UNIT_SHIFT;
	unsigned int top;

	if (v < 2 * LATENCY_STEPS)
		return (uint32_t)v;
	top = 63u - (unsigned int)__builtin_clzll(v);
	return (top - LATENCY_STEP_BITS) * LATENCY_STEPS +
	       (uint32_t)(v >> (top - LATENCY_STEP_BITS));
}

uint64_t ibcc_latency_bucket_end_ps(uint32_t bucket)
{
	unsigned int octave = bucket / LATENCY_STEPS;
	uint64_t step = bucket % LATENCY_STEPS + 1;

	if (bucket < 2 * LATENCY_STEPS)
		return ((uint64_t)bucket + 1) << UNIT_SHIFT;
	return (LATENCY_STEPS + step) << (octave - 1) << UNIT_SHIFT;
}

int ibcc_engine_latency_start(struct ibcc_engine *e)
{
	for (uint32_t i = 0; i < e->n_flow; i++) {
		struct flow *f = &e->flow[i];

		if (f->latency)
			memset(f->latency, 0, LATENCY_BUCKETS * sizeof(*f->latency));
		else
			f->latency = calloc(LATENCY_BUCKETS, sizeof(*f->latency));
		if (!f->latency)
			return -ENOMEM;
	}
	return 0;
}

int ibcc_engine_latency_read(const struct ibcc_engine *e, uint32_t flow, double share, uint64_t *ps)
{
	const uint32_t *h;
	uint64_t n = 0, sum = 0, rank;

	if (flow >= e->n_flow || !e->flow[flow].latency || !(share >= 0 && share <= 1))
		return -EINVAL;
	h = e->flow[flow].latency;
	for (uint32_t i = 0; i < LATENCY_BUCKETS; i++)
		n += h[i];
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
