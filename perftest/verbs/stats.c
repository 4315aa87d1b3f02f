/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/verbs/stats.h"

#include <math.h>

/* The integral of the density from 0 to t. With t = sqrt(df) tan(x) it is one of cos^(df-1) over a
 * bounded range, and Simpson's rule integrates that. Exact to better than 1e-6 from one degree of
 * freedom on.
 */
static double half(double t, double df)
{
	double top = atan(t / sqrt(df)), sum = 0, c;
	double k = exp(lgamma((df + 1) / 2) - lgamma(df / 2)) / sqrt(M_PI);
	int i, n = 2000;

	for (i = 0; i <= n; i++) {
		c = pow(cos(top * i / n), df - 1);
		sum += c * (i == 0 || i == n ? 1 : i % 2 ? 4 : 2);
	}
	return k * sum * top / n / 3;
}

double ibcc_perf_t975(double df)
{
	double low = 0, high = 1e3;

	df = fmax(df, 1);
	df = fmin(df, 1e4); /* at that point it equals the normal distribution's */
	for (int i = 0; i < 60; i++) {
		double t = (low + high) / 2;

		if (half(t, df) < 0.475)
			low = t;
		else
			high = t;
	}
	return low;
}

/* The mean, and the variance of the mean; that is NAN for one value. */
static double mean(const double *v, size_t n, double *variance)
{
	double sum = 0, square = 0, m;

	for (size_t i = 0; i < n; i++)
		sum += v[i];
	m = sum / (double)n;
	for (size_t i = 0; i < n; i++)
		square += (v[i] - m) * (v[i] - m);
	*variance = n > 1 ? square / (double)(n - 1) / (double)n : NAN;
	return m;
}

struct ibcc_perf_change ibcc_perf_change(const double *before, size_t nb, const double *after,
					 size_t na, int pairs)
{
	struct ibcc_perf_change c = { NAN, NAN, NAN, NAN };
	double vb, va, rb, ra, df, ratio = 0, square = 0;

	if (!nb || !na)
		return c;
	c.before = mean(before, nb, &vb);
	c.after = mean(after, na, &va);
	if (!(c.before > 0))
		return c;
	if (pairs) {
		for (size_t i = 0; i < nb; i++)
			ratio += after[i] / before[i] / (double)nb;
		for (size_t i = 0; i < nb; i++)
			square += pow(after[i] / before[i] - ratio, 2);
		c.percent = (ratio - 1) * 100;
		if (nb > 1)
			c.half_width = ibcc_perf_t975((double)nb - 1) * 100 *
				       sqrt(square / (double)(nb - 1) / (double)nb);
		return c;
	}
	ratio = c.after / c.before;
	c.percent = (ratio - 1) * 100;
	if (nb < 2 || na < 2)
		return c;
	/* The ratio's relative variance is the sum of those of the two means. */
	rb = vb * ratio * ratio / (c.before * c.before);
	ra = va / (c.before * c.before);
	df = rb + ra > 0 ? (rb + ra) * (rb + ra) /
				   (rb * rb / (double)(nb - 1) + ra * ra / (double)(na - 1))
			 : 1e4;
	c.half_width = ibcc_perf_t975(df) * 100 * sqrt(rb + ra);
	return c;
}
