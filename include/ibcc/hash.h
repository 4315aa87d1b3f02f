/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A sum over bytes that differs when they do, to notice changes, not attacks. */
#ifndef IBCC_HASH_H
#define IBCC_HASH_H

#include <stddef.h>
#include <stdint.h>

#define IBCC_HASH_START 0xcbf29ce484222325ull

/* Takes `len` more bytes into a sum, which begins with IBCC_HASH_START: FNV-1a of 64 bits (G.
 * Fowler, L. Noll, K.-P. Vo).
 */
static inline uint64_t ibcc_hash(uint64_t h, const void *data, size_t len)
{
	const uint8_t *b = data;

	for (size_t i = 0; i < len; i++)
		h = (h ^ b[i]) * 0x100000001b3ull;
	return h;
}

#endif
