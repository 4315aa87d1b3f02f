/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Access to the fields of MADs for the codecs: libibmad's field functions, with const where they
 * only read, and with values that cannot spill over into a neighbouring field. Private to
 * lib/codec.
 *
 * libibmad's functions are pure although their prototypes take plain pointers. Offsets must be
 * multiples of four, because libibmad swaps bytes within words counted from the buffer's start;
 * smaller elements are reached by moving the buffer instead.
 */
#ifndef IBCC_CODEC_WIRE_H
#define IBCC_CODEC_WIRE_H

#include <stdint.h>

#include <infiniband/mad.h>

static inline uint32_t wire_get(const uint8_t *mad, unsigned int offs, enum MAD_FIELDS field)
{
	return mad_get_field((void *)(uintptr_t)mad, (int)offs, field);
}

static inline uint64_t wire_get64(const uint8_t *mad, unsigned int offs, enum MAD_FIELDS field)
{
	return mad_get_field64((void *)(uintptr_t)mad, (int)offs, field);
}

/* mad_set_field() does not mask values that end inside a byte, so the width is repeated here. */
static inline void wire_set(uint8_t *mad, unsigned int offs, enum MAD_FIELDS field,
			    unsigned int bits, uint32_t v)
{
	mad_set_field(mad, (int)offs, field, bits < 32 ? v & ((1u << bits) - 1) : v);
}

static inline void wire_set64(uint8_t *mad, unsigned int offs, enum MAD_FIELDS field, uint64_t v)
{
	mad_set_field64(mad, (int)offs, field, v);
}

/* Counters of the PerfMgt class stop at all ones. */
static inline uint32_t wire_saturate(uint64_t v, unsigned int bits)
{
	uint64_t max = (1ull << bits) - 1; /* bits <= 32 */

	return (uint32_t)(v < max ? v : max);
}

static inline void wire_put_be16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static inline uint16_t wire_get_be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline void wire_put_be32(uint8_t *p, uint32_t v)
{
	wire_put_be16(p, (uint16_t)(v >> 16));
	wire_put_be16(p + 2, (uint16_t)v);
}

static inline uint32_t wire_get_be32(const uint8_t *p)
{
	return (uint32_t)wire_get_be16(p) << 16 | wire_get_be16(p + 2);
}

static inline void wire_put_be64(uint8_t *p, uint64_t v)
{
	wire_put_be32(p, (uint32_t)(v >> 32));
	wire_put_be32(p + 4, (uint32_t)v);
}

static inline uint64_t wire_get_be64(const uint8_t *p)
{
	return (uint64_t)wire_get_be32(p) << 32 | wire_get_be32(p + 4);
}

#endif
