/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Histograms of packet latencies: buckets of about 1 ns at the start, then 16 to each doubling
 * (log_buckets.h).
 */
#ifndef IBCC_ENGINE_LATENCY_H
#define IBCC_ENGINE_LATENCY_H

#include <ibcc/log_buckets.h>

#include "internal.h"

#define LATENCY_UNIT_SHIFT 10u /* values are in 2^10 ps, about 1 ns */
#define LATENCY_STEP_BITS  4u
#define LATENCY_BUCKETS    IBCC_LOG_BUCKETS(64u - LATENCY_UNIT_SHIFT, LATENCY_STEP_BITS)

uint32_t ibcc_latency_bucket(uint64_t ps);
/* The latency from which on values are in the next bucket. */
uint64_t ibcc_latency_bucket_end_ps(uint32_t bucket);

static inline void latency_count(struct flow *f, uint64_t ps)
{
	if (f->latency)
		f->latency[ibcc_latency_bucket(ps)]++;
}

#endif
