/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Packet sequence numbers: 24 bits that wrap (IBA vol. 1, 9.7.2). Of two, that one is later which
 * is less than half of the circle ahead.
 */
#ifndef IBCC_ENGINE_PSN_H
#define IBCC_ENGINE_PSN_H

#include <stdint.h>

#define PSN_MASK 0xffffffu

static inline uint32_t psn_add(uint32_t psn, uint32_t n)
{
	return (psn + n) & PSN_MASK;
}

/* How far a is ahead of b, -2^23 to 2^23 - 1. */
static inline int32_t psn_diff(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << 8) >> 8;
}

#endif
