/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* DCQCN's rate limiter (dcqcn.h): Y. Zhu and others, "Congestion Control for Large-Scale RDMA
 * Deployments", 2015, section 3, with the clocks that adapters have.
 *
 * The first CNP makes a limiter. It sets off two clocks:
 *
 * 	each dce_tcp_rtt:                 alpha = (1 - g) alpha, plus g if a CNP came since
 * 	each rate_reduce_monitor_period:  a cut, if a CNP came since the last cut
 *
 * A cut multiplies the rate by 1 - alpha / 2 (with rpg_gd 11), and first moves the target to the
 * rate before it where a clamp says so. It sets both counters to 0. From then on each
 * rpg_time_reset and each rpg_byte_reset bytes are an increase, to the middle of rate and target:
 *
 * 	both counters below F:   fast recovery, the target stays
 * 	otherwise:               the target rises by rpg_ai_rate
 * 	both counters above F:   the target rises by rpg_hai_rate
 *
 * F is rpg_threshold; a counter has the increases before this one. With rpg_byte_reset 0 the
 * counter of time is both. Before the first cut neither counts. The limiter ends at the highest
 * rate, to the Mb/s in which rates are set, but not while a CNP waits for its cut.
 *
 * The second clock is 1 ns late, so that alpha is up to date where their periods meet. The time
 * between two events is jumped over; alpha without a CNP is a power.
 */
#include <math.h>
#include <stddef.h>

#include <ibcc/dcqcn.h>

#include "power.h"

#define PS_PER_US   1000000ull
#define LOOK_LAG_PS 1000u
#define NEVER       UINT64_MAX
#define MBPS_END    0.5 /* less than this below the highest rate is at it */

void ibcc_dcqcn_rp_defaults(struct ibcc_dcqcn_rp *p)
{
	*p = (struct ibcc_dcqcn_rp){
		.rpg_time_reset_us = 300,
		.rpg_byte_reset_bytes = 32767,
		.rpg_threshold = 1,
		.rpg_ai_rate_mbps = 5,
		.rpg_hai_rate_mbps = 50,
		.rpg_gd = 11,
		.rpg_min_dec_fac = 50,
		.rpg_min_rate_mbps = 1,
		.dce_tcp_g = 1019,
		.dce_tcp_rtt_us = 1,
		.rate_reduce_monitor_period_us = 4,
		.initial_alpha_value = 1023,
		.clamp_tgt_rate_after_time_inc = true,
	};
}

static double gain(const struct ibcc_dcqcn_rp *p)
{
	return (double)(IBCC_DCQCN_ONE - p->dce_tcp_g) / IBCC_DCQCN_ONE;
}

/* Brings alpha up to its last update at or before t. */
static void update_alpha(const struct ibcc_dcqcn_rp *p, struct ibcc_dcqcn_limiter *l, uint64_t t)
{
	uint64_t period = p->dce_tcp_rtt_us * PS_PER_US, n;
	double g = gain(p);

	if (t < l->alpha_ps)
		return;
	n = (t - l->alpha_ps) / period + 1;
	l->alpha *= power(1 - g, n);
	if (l->cnp_for_alpha) /* the first of them added g, which faded with the others */
		l->alpha += g * power(1 - g, n - 1);
	l->cnp_for_alpha = false;
	l->alpha_ps += n * period;
}

/* Moves the clock of cuts to its first look after t. */
static void skip_looks(const struct ibcc_dcqcn_rp *p, struct ibcc_dcqcn_limiter *l, uint64_t t)
{
	uint64_t period = p->rate_reduce_monitor_period_us * PS_PER_US;

	if (l->look_ps <= t)
		l->look_ps += ((t - l->look_ps) / period + 1) * period;
}

static void cut(const struct ibcc_dcqcn_rp *p, struct ibcc_dcqcn_limiter *l)
{
	double factor = 1 - l->alpha * IBCC_DCQCN_ONE / (double)(1ull << p->rpg_gd);

	if (p->clamp_tgt_rate || (p->clamp_tgt_rate_after_time_inc && l->time_stage))
		l->target_mbps = l->mbps;
	l->mbps = fmax(p->rpg_min_rate_mbps, l->mbps * fmax(factor, p->rpg_min_dec_fac / 100.0));
	l->cnp_for_cut = false;
	l->time_stage = l->byte_stage = 0;
	l->bytes = 0;
	l->time_ps = l->look_ps + p->rpg_time_reset_us * PS_PER_US;
	skip_looks(p, l, l->look_ps);
}

/* An increase by the counter `stage`, which counts it. */
static void increase(const struct ibcc_dcqcn_rp *p, struct ibcc_dcqcn_limiter *l, uint32_t *stage)
{
	uint32_t most = l->time_stage > l->byte_stage ? l->time_stage : l->byte_stage;
	uint32_t least = l->time_stage < l->byte_stage ? l->time_stage : l->byte_stage;

	if (!p->rpg_byte_reset_bytes)
		least = l->time_stage;
	if (least > p->rpg_threshold)
		l->target_mbps += p->rpg_hai_rate_mbps;
	else if (most >= p->rpg_threshold)
		l->target_mbps += p->rpg_ai_rate_mbps;
	l->target_mbps = fmin(l->target_mbps, l->max_mbps);
	l->mbps = (l->mbps + l->target_mbps) / 2;
	++*stage;
	if (l->mbps > l->max_mbps - MBPS_END && !l->cnp_for_cut)
		*l = (struct ibcc_dcqcn_limiter){ .on = false };
}

void ibcc_dcqcn_advance(const struct ibcc_dcqcn_rp *p, struct ibcc_dcqcn_limiter *l,
			uint64_t now_ps)
{
	while (l->on) {
		uint64_t cut_ps = l->cnp_for_cut ? l->look_ps : NEVER;
		bool cuts = cut_ps <= l->time_ps;
		uint64_t t = cuts ? cut_ps : l->time_ps;

		if (t > now_ps)
			break;
		if (cuts) {
			update_alpha(p, l, t);
			cut(p, l);
		} else {
			l->time_ps += p->rpg_time_reset_us * PS_PER_US;
			increase(p, l, &l->time_stage);
		}
	}
	if (l->on)
		update_alpha(p, l, now_ps);
}

void ibcc_dcqcn_cnp(const struct ibcc_dcqcn_rp *p, struct ibcc_dcqcn_limiter *l, double line_mbps,
		    uint64_t now_ps)
{
	ibcc_dcqcn_advance(p, l, now_ps);
	if (!l->on) {
		double max =
			p->rpg_max_rate_mbps ? fmin(p->rpg_max_rate_mbps, line_mbps) : line_mbps;
		double first = p->rate_to_set_on_first_cnp_mbps
				       ? fmin(p->rate_to_set_on_first_cnp_mbps, max)
				       : max;

		*l = (struct ibcc_dcqcn_limiter){
			.on = true,
			.cnp_for_cut = true,
			.mbps = first,
			.target_mbps = first,
			.alpha = (double)p->initial_alpha_value / IBCC_DCQCN_ONE,
			.max_mbps = max,
			.alpha_ps = now_ps + p->dce_tcp_rtt_us * PS_PER_US,
			.look_ps =
				now_ps + p->rate_reduce_monitor_period_us * PS_PER_US + LOOK_LAG_PS,
			.time_ps = NEVER,
		};
		return;
	}
	if (!l->cnp_for_cut)
		skip_looks(p, l, now_ps);
	l->cnp_for_alpha = l->cnp_for_cut = true;
}

void ibcc_dcqcn_sent(const struct ibcc_dcqcn_rp *p, struct ibcc_dcqcn_limiter *l, uint32_t bytes,
		     uint64_t now_ps)
{
	ibcc_dcqcn_advance(p, l, now_ps);
	if (!l->on || !p->rpg_byte_reset_bytes || l->time_ps == NEVER)
		return;
	for (l->bytes += bytes; l->on && l->bytes >= p->rpg_byte_reset_bytes;) {
		l->bytes -= p->rpg_byte_reset_bytes;
		increase(p, l, &l->byte_stage);
	}
}
