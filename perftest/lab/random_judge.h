/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Decides whether a sample of drawn scenarios meets the requirements on all of them. */
#ifndef PERFTEST_LAB_RANDOM_JUDGE_H
#define PERFTEST_LAB_RANDOM_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

/* A share of n draws, as counted, that must be `target` at least or at most. True unless chance
 * would bring a count this far on the wrong side in less than one of forty samples (binomial).
 */
bool ibcc_random_share_holds(uint64_t count, uint64_t n, double target, bool at_least);

/* A mean of n values with a standard deviation, that must be `target` at least. True unless it is
 * two standard errors below.
 */
bool ibcc_random_mean_holds(double mean, double deviation, uint64_t n, double target);

/* Does the sample show that the mean is above 0? True only if it is so by more than two standard
 * errors.
 */
bool ibcc_random_gain_shows(double mean, double deviation, uint64_t n);

#endif
