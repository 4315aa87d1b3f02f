/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The congestion control table (CCT): injection rate delays by index (IBA vol. 1, Annex A10). */
#ifndef IBCC_CCT_H
#define IBCC_CCT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CCTI_Min and Trigger_Threshold have eight bits, so no index beyond 255 can be addressed. */
#define IBCC_CCT_MAX_ENTRIES   256u
#define IBCC_CCT_BLOCK_ENTRIES 64u
#define IBCC_CCT_MAX_BLOCKS    (IBCC_CCT_MAX_ENTRIES / IBCC_CCT_BLOCK_ENTRIES)
#define IBCC_CCT_MAX_SHIFT     3u
#define IBCC_CCT_MAX_MULT      0x3fffu
/* The longest delay of an entry, in 1/1000 packet times. */
#define IBCC_CCT_MAX_DELAY_MILLI (IBCC_CCT_MAX_MULT * 1000u)

/* Entries are kept as the wire has them: CCT_Shift in the 2 most significant bits, CCT_Multiplier
 * in the 14 others. `limit` is CCTI_Limit, the highest valid index.
 */
struct ibcc_cct {
	uint16_t limit;
	uint16_t entry[IBCC_CCT_MAX_ENTRIES];
};

enum ibcc_cct_shape {
	IBCC_CCT_ZERO,      /* no delay anywhere: packets are marked and counted, none is delayed */
	IBCC_CCT_LINEAR,    /* delay grows in equal steps (seed: Gusat 2006, input-generated) */
	IBCC_CCT_QUADRATIC, /* delay grows with the square of the index (LLNL's published scripts)
			     */
	IBCC_CCT_MULTIPLICATIVE, /* 1 + delay grows by one factor (Gusat 2006, output-generated) */
};

/* Encodes a delay, given in 1/1000 packet times, as the nearest representable entry, with the
 * largest shift that holds it (most precise). Delays beyond 16383 packet times are clamped.
 */
uint16_t ibcc_cct_entry_encode(uint32_t delay_milli);

/* Delay of an entry in 1/1000 packet times: 1000 * Multiplier / 2^Shift, rounded to nearest.
 * Annex A10: IRD = (packet time >> Shift) * Multiplier.
 */
uint32_t ibcc_cct_entry_delay_milli(uint16_t entry);

static inline uint16_t ibcc_cct_entry(unsigned int shift, unsigned int mult)
{
	return (uint16_t)((shift & IBCC_CCT_MAX_SHIFT) << 14 | (mult & IBCC_CCT_MAX_MULT));
}

static inline unsigned int ibcc_cct_entry_shift(uint16_t entry)
{
	return entry >> 14;
}

static inline unsigned int ibcc_cct_entry_mult(uint16_t entry)
{
	return entry & IBCC_CCT_MAX_MULT;
}

/* Fills a table of `entries` (2..IBCC_CCT_MAX_ENTRIES). Its index 0 has no delay. Its last index
 * has max_delay_milli, in 1/1000 packet times: a source at index i sends at 1 / (1 + delay) of its
 * rate. Returns 0, or -EINVAL for a number of entries or a delay out of range; *cct is untouched
 * then.
 */
int ibcc_cct_build(struct ibcc_cct *cct, enum ibcc_cct_shape shape, unsigned int entries,
		   uint32_t max_delay_milli);

/* Checks what a channel adapter can take: limit below the capacity (blocks of 64 entries, from
 * CongestionInfo:ControlTableCap), entry 0 without delay, delays that never fall. Returns 0,
 * -ERANGE (limit beyond capacity), or -EINVAL; *bad_index (may be NULL) names the first bad entry.
 */
int ibcc_cct_validate(const struct ibcc_cct *cct, unsigned int cap_blocks, unsigned int *bad_index);

/* Blocks of 64 entries that a table up to `limit` occupies. */
unsigned int ibcc_cct_blocks(uint16_t limit);

/* CCTI_Limit to send with block k so that all known firmware takes it: the lesser of the final
 * limit and 64 * (k + 1) - 1. Blocks are sent in ascending order.
 */
uint16_t ibcc_cct_block_limit(uint16_t final_limit, unsigned int block);

/* True if both tables have the same limit and the same entries up to it. */
bool ibcc_cct_equal(const struct ibcc_cct *a, const struct ibcc_cct *b);

#endif
