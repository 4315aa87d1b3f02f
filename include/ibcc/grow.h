/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Arrays that grow. */
#ifndef IBCC_GROW_H
#define IBCC_GROW_H

#include <stdint.h>
#include <stdlib.h>

/* Room for `need` elements in an array of *cap elements, by doubling it: the array, which may have
 * moved; NULL without memory, and the old one is as it was.
 */
static inline void *ibcc_grow_to(void *array, uint32_t need, uint32_t *cap, size_t size)
{
	uint64_t more = *cap ? *cap : 8;
	void *grown;

	if (need <= *cap)
		return array;
	while (more < need)
		more *= 2;
	if (more > UINT32_MAX)
		return NULL;
	grown = reallocarray(array, more, size);
	if (grown)
		*cap = (uint32_t)more;
	return grown;
}

/* Makes room for element n of an array whose elements 0..n - 1 are in use. */
static inline void *ibcc_grow(void *array, uint32_t n, uint32_t *cap, size_t size)
{
	return n == UINT32_MAX ? NULL : ibcc_grow_to(array, n + 1, cap, size);
}

#endif
