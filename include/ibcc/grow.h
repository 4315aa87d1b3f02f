/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Arrays that grow. */
#ifndef IBCC_GROW_H
#define IBCC_GROW_H

#include <stdint.h>
#include <stdlib.h>

/* Room for element n of an array of *cap elements: the array, which may have moved; NULL without
 * memory, and the old one is as it was.
 */
static inline void *ibcc_grow(void *array, uint32_t n, uint32_t *cap, size_t size)
{
	uint32_t more = *cap ? 2 * *cap : 8;
	void *grown;

	if (n < *cap)
		return array;
	if (more < *cap)
		return NULL;
	grown = reallocarray(array, more, size);
	if (grown)
		*cap = more;
	return grown;
}

#endif
