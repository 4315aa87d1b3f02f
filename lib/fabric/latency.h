/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBCC_FABRIC_LATENCY_H
#define IBCC_FABRIC_LATENCY_H

#include "internal.h"

#define LATENCY_STEP_BITS 4u
#define LATENCY_STEPS     (1u << LATENCY_STEP_BITS)
/* 64 - 10 bits of value; the first two octaves are exact. */
#define LATENCY_BUCKETS ((64u - 10u - LATENCY_STEP_BITS + 1u) * LATENCY_STEPS)

uint32_t ibcc_latency_bucket(uint64_t ps);
/* The latency from which on values are in the next bucket. */
uint64_t ibcc_latency_bucket_end_ps(uint32_t bucket);

static inline void latency_count(struct flow *f, uint64_t ps)
{
	if (f->latency)
		f->latency[ibcc_latency_bucket(ps)]++;
}

#endif
