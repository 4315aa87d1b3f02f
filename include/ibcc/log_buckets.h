/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Buckets of a histogram that keeps values to a relative precision. Each octave has 2^bits buckets,
 * so a bucket is at most 1 / 2^bits of its values wide, whatever their size. The values of the
 * first two octaves have one bucket each.
 */
#ifndef IBCC_LOG_BUCKETS_H
#define IBCC_LOG_BUCKETS_H

#include <stdint.h>

/* The number of buckets for values of value_bits bits (at most 64). */
#define IBCC_LOG_BUCKETS(value_bits, bits) (((value_bits) - (bits) + 1u) << (bits))

static inline uint32_t ibcc_log_bucket(uint64_t v, unsigned int bits)
{
	unsigned int top;

	if (v < 2ull << bits)
		return (uint32_t)v;
	top = 63u - (unsigned int)__builtin_clzll(v);
	return ((top - bits) << bits) + (uint32_t)(v >> (top - bits));
}

/* The value from which on values are in the next bucket. */
static inline uint64_t ibcc_log_bucket_end(uint32_t bucket, unsigned int bits)
{
	uint64_t steps = 1ull << bits, octave = bucket >> bits;

	if (bucket < 2 * steps)
		return bucket + 1ull;
	return (steps + (bucket & (steps - 1)) + 1) << (octave - 1);
}

#endif
