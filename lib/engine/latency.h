/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Histograms of the latencies of packets and messages: buckets of about 1 ns at the start, then 16
 * to each doubling (log_buckets.h).
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

/* `histogram` NULL: latencies are not counted. */
static inline void latency_count(uint32_t *histogram, uint64_t ps)
{
	if (histogram)
		histogram[ibcc_latency_bucket(ps)]++;
}

#endif
