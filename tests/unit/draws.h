/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Numbers that look random and are equal in each run. */
#ifndef TEST_DRAWS_H
#define TEST_DRAWS_H

#include <stdint.h>

static inline uint32_t draw(uint32_t *rng)
{
	*rng = *rng * 1664525u + 1013904223u;
	return *rng >> 8;
}

#endif
