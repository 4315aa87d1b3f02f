/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Congestion control tables. Delays are counted in packet times, so that one table suits every
 * packet size and link rate; what an entry means to a source is 1 / (1 + delay) of its rate.
 */
#include <ibcc/cct.h>

#include <errno.h>
#include <math.h>

uint16_t ibcc_cct_entry_encode(uint32_t delay_milli)
{
	unsigned int shift;

	if (delay_milli > IBCC_CCT_MAX_DELAY_MILLI)
		delay_milli = IBCC_CCT_MAX_DELAY_MILLI;
	for (shift = IBCC_CCT_MAX_SHIFT;; shift--) {
		uint64_t mult = (((uint64_t)delay_milli << shift) + 500) / 1000;

		/* No delay is written as plain zero, as every manager does. */
		if (!mult)
			return 0;
		if (mult <= IBCC_CCT_MAX_MULT)
			return ibcc_cct_entry(shift, (unsigned int)mult);
	}
}

uint32_t ibcc_cct_entry_delay_milli(uint16_t entry)
{
	unsigned int shift = ibcc_cct_entry_shift(entry);

	return (1000u * ibcc_cct_entry_mult(entry) + ((1u << shift) >> 1)) >> shift;
}

/* Delay in eighths of a packet time, which all entries are whole numbers of. */
static uint32_t entry_eighths(uint16_t entry)
{
	return (uint32_t)ibcc_cct_entry_mult(entry)
	       << (IBCC_CCT_MAX_SHIFT - ibcc_cct_entry_shift(entry));
}

/* Delay at index i of 0..last. */
static uint32_t shape_delay_milli(enum ibcc_cct_shape shape, unsigned int i, unsigned int last,
				  uint32_t max)
{
	switch (shape) {
	case IBCC_CCT_ZERO: return 0;
	case IBCC_CCT_LINEAR: return (uint32_t)(((uint64_t)max * i + last / 2) / last);
	case IBCC_CCT_QUADRATIC: {
		uint32_t sq = last * last;

		return (uint32_t)(((uint64_t)max * i * i + sq / 2) / sq);
	}
	case IBCC_CCT_MULTIPLICATIVE:
		if (i == last)
			return max;
		return (uint32_t)lround(1000 * (pow(1 + max / 1000.0, (double)i / last) - 1));
	}
	return 0;
}

int ibcc_cct_build(struct ibcc_cct *cct, enum ibcc_cct_shape shape, unsigned int entries,
		   uint32_t max_delay_milli)
{
	struct ibcc_cct t = { 0 };
	unsigned int i;

	if (entries < 2 || entries > IBCC_CCT_MAX_ENTRIES ||
	    max_delay_milli > IBCC_CCT_MAX_DELAY_MILLI)
		return -EINVAL;
	t.limit = (uint16_t)(entries - 1);
	for (i = 0; i < entries; i++)
		t.entry[i] = ibcc_cct_entry_encode(
			shape_delay_milli(shape, i, entries - 1, max_delay_milli));
	*cct = t;
	return 0;
}

int ibcc_cct_validate(const struct ibcc_cct *cct, unsigned int cap_blocks, unsigned int *bad_index)
{
	unsigned int cap = IBCC_CCT_MAX_ENTRIES;
	unsigned int i;
	int err = 0;

	if (cap_blocks < IBCC_CCT_MAX_BLOCKS)
		cap = cap_blocks * IBCC_CCT_BLOCK_ENTRIES;
	if (cct->limit >= cap) {
		i = cap;
		err = -ERANGE;
		goto out;
	}
	for (i = 0; i <= cct->limit; i++) {
		uint32_t least = i ? entry_eighths(cct->entry[i - 1]) : 0;
		uint32_t delay = entry_eighths(cct->entry[i]);

		if (i ? delay < least : delay > 0) {
			err = -EINVAL;
			goto out;
		}
	}
out:
	if (err && bad_index)
		*bad_index = i;
	return err;
}

unsigned int ibcc_cct_blocks(uint16_t limit)
{
	return limit / IBCC_CCT_BLOCK_ENTRIES + 1;
}

uint16_t ibcc_cct_block_limit(uint16_t final_limit, unsigned int block)
{
	if (block >= final_limit / IBCC_CCT_BLOCK_ENTRIES)
		return final_limit;
	return (uint16_t)(IBCC_CCT_BLOCK_ENTRIES * (block + 1) - 1);
}

bool ibcc_cct_equal(const struct ibcc_cct *a, const struct ibcc_cct *b)
{
	unsigned int i;

	if (a->limit != b->limit)
		return false;
	for (i = 0; i <= a->limit && i < IBCC_CCT_MAX_ENTRIES; i++)
		if (a->entry[i] != b->entry[i])
			return false;
	return true;
}
