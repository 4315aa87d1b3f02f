/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/lab/random_judge.h"

#include <math.h>

#define CHANCE 0.025

static double binomial(uint64_t k, uint64_t n, double p)
{
	if (p <= 0 || p >= 1)
		return (p <= 0 ? k == 0 : k == n) ? 1 : 0;
	return exp(lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1) +
		   (double)k * log(p) + (double)(n - k) * log1p(-p));
}

bool ibcc_random_share_holds(uint64_t count, uint64_t n, double target, bool at_least)
{
	uint64_t from = at_least ? 0 : count, to = at_least ? count : n;
	double chance = 0;

	if (at_least ? (double)count >= target * (double)n : (double)count <= target * (double)n)
		return true;
	for (uint64_t k = from; k <= to; k++)
		chance += binomial(k, n, target);
	return chance >= CHANCE;
}

bool ibcc_random_mean_holds(double mean, double deviation, uint64_t n, double target)
{
	return mean >= target - 2 * deviation / sqrt((double)n);
}

bool ibcc_random_gain_shows(double mean, double deviation, uint64_t n)
{
	return mean > 2 * deviation / sqrt((double)n);
}
