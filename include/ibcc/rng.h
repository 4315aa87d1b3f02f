/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Random numbers: splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
 * 2014), of which each generator is one word of state.
 */
#ifndef IBCC_RNG_H
#define IBCC_RNG_H

#include <stdint.h>

static inline uint64_t ibcc_rng_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* Uniform in 0 .. n - 1, to within n / 2^32. */
static inline uint32_t ibcc_rng_below(uint64_t *state, uint32_t n)
{
	return (uint32_t)((ibcc_rng_next(state) >> 32) * n >> 32);
}

/* Negative exponential with a mean below 2^34, in integers so that every machine and compiler gives
 * the same. With u = 2^-k * (1 + f): -ln u = k ln 2 - ln(1 + f), the latter from a table of 256
 * steps of 2^-24 units, interpolated (error below 2e-6).
 */
#define IBCC_RNG_LN2_24 11629080u /* ln 2 in 2^-24 */
static inline uint64_t ibcc_rng_exponential(const uint32_t table[257], uint64_t *state,
					    uint64_t mean)
{
	uint64_t u = ibcc_rng_next(state) | 1;
	unsigned int k = (unsigned int)__builtin_clzll(u);
	uint64_t f = u << k << 1; /* fraction, 64 bits */
	uint32_t i = (uint32_t)(f >> 56), r = (uint32_t)(f >> 32 & 0xffffff);
	uint64_t ln = table[i] + ((uint64_t)(table[i + 1] - table[i]) * r >> 24);

	return ((k + 1) * (uint64_t)IBCC_RNG_LN2_24 - ln) * mean >> 24;
}

#endif
