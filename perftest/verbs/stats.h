/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Means over repeats, and how certain they are. */
#ifndef PERFTEST_VERBS_STATS_H
#define PERFTEST_VERBS_STATS_H

#include <stddef.h>

struct ibcc_perf_change {
	double before, after; /* means */
	double percent;       /* change of the mean; NAN if it was zero before */
	double half_width;    /* of the interval of percent at 95 %; NAN with one repeat */
};

/* The change of the mean between two series of repeats. The interval is that of a ratio of two
 * means (delta method), with Student's t at the degrees of freedom of B. L. Welch, "The
 * generalization of 'Student's' problem when several different population variances are involved"
 * (1947).
 *
 * If the values come in pairs, b[i] and a[i] are of one repeat (nb = na), and the interval is that
 * of the mean of their ratios.
 */
struct ibcc_perf_change ibcc_perf_change(const double *before, size_t nb, const double *after,
					 size_t na, int pairs);

/* The 97.5 % quantile of Student's t with df > 0 degrees of freedom: 12.71 for 1, 1.96 for many. */
double ibcc_perf_t975(double df);

#endif
