/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The equilibrium of DCQCN's fluid model. The formulas are at the declaration. */
#include <math.h>

#include <ibcc/equilibrium.h>

#define STEPS 200 /* more than a double has bits */

struct point {
	double r;                    /* packets in a microsecond */
	double ai;                   /* R_AI, in packets in a microsecond, each */
	double tau, alpha_period, t; /* us */
	double bytes, threshold;     /* packets; 0: no counter of bytes */
};

/* (1 - p)^n, also for a small p and a large n. */
static double unmarked(double p, double n)
{
	return exp(n * log1p(-p));
}

/* p / ((1 - p)^-n - 1): increases for each packet, if one follows n packets without a mark. */
static double increases(double p, double n)
{
	return n > 0 ? p / expm1(-n * log1p(-p)) : 0;
}

/* How much stronger the cuts are than the increases at a share of p. */
static double surplus(const struct point *x, double p)
{
	double a = -expm1(x->tau * x->r * log1p(-p));
	double alpha = -expm1(x->alpha_period * x->r * log1p(-p));
	double b = increases(p, x->bytes), d = increases(p, x->t * x->r);
	double c = b * unmarked(p, x->threshold * x->bytes);
	double e = d * unmarked(p, x->threshold * x->t * x->r);

	return alpha * a * a - x->tau * x->tau * x->ai * x->r * (b + d) * (c + e);
}

double ibcc_equilibrium_mark_share(const struct ibcc_dcqcn_rp *p, double link_mbps,
				   uint32_t packet_bytes, unsigned int n)
{
	double bits = 8.0 * packet_bytes, low = -40, high = log(0.999999);
	struct point x;

	if (!(link_mbps > 0) || !packet_bytes || !n)
		return NAN;
	x = (struct point){
		.r = link_mbps / n / bits,
		.ai = p->rpg_ai_rate_mbps / bits,
		.tau = p->rate_reduce_monitor_period_us,
		.alpha_period = p->dce_tcp_rtt_us,
		.t = p->rpg_time_reset_us,
		.bytes = (double)p->rpg_byte_reset_bytes / packet_bytes,
		.threshold = p->rpg_threshold,
	};
	if (surplus(&x, exp(low)) > 0 || !(surplus(&x, exp(high)) > 0))
		return NAN;
	for (int i = 0; i < STEPS; i++) {
		double middle = (low + high) / 2;

		if (surplus(&x, exp(middle)) > 0)
			high = middle;
		else
			low = middle;
	}
	return exp((low + high) / 2);
}

double ibcc_equilibrium_queue_bytes(double share, double min_bytes, double max_bytes,
				    double max_share)
{
	if (!(share <= max_share))
		return NAN;
	return min_bytes + share / max_share * (max_bytes - min_bytes);
}
