/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A whole power of a number, by multiplications alone, which every machine rounds alike. */
#ifndef IBCC_ENGINE_POWER_H
#define IBCC_ENGINE_POWER_H

#include <stdint.h>

static inline double power(double base, uint64_t n)
{
	double r = 1;

	for (; n; n >>= 1, base *= base)
		if (n & 1)
			r *= base;
	return r;
}

#endif
