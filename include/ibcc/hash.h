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

/* Spreads endports, which a node's GUID and a port's number name, over hash tables of a power of
 * two places: all bits of both reach the low bits. GUIDs of a fabric differ in few bits, of either
 * half, and adapters of one batch have consecutive ones. A multiplication by 2^64 divided by the
 * golden ratio spreads those (D. Knuth, The Art of Computer Programming, vol. 3, 6.4); the port's
 * factor keeps port 2 of one adapter apart from port 1 of the next.
 */
static inline uint32_t ibcc_hash_endport(uint64_t guid, uint8_t port)
{
	uint64_t key = guid + port * 0xbf58476d1ce4e5b9ull;

	key ^= key >> 32;
	return (uint32_t)(key * 0x9e3779b97f4a7c15ull >> 32);
}

#endif
