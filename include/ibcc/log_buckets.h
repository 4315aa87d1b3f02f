/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Buckets of a histogram whose values are known to a share of themselves: each octave has 2^bits of
 * them, so that each is at most 1 / 2^bits wider than the one before, whatever its size; the values
 * of the first two octaves have one each.
 */
#ifndef IBCC_LOG_BUCKETS_H
#define IBCC_LOG_BUCKETS_H

#include <stdint.h>

/* How many there are for values of so many bits, at most 64. */
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
