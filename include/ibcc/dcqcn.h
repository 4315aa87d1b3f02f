/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The reaction point of DCQCN: what a channel adapter does to the rate of a sender when congestion
 * notification packets (CNPs) reach it.
 *
 * DCQCN is Y. Zhu and others, "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015.
 * Adapters from ConnectX-4 on have a variant of it, with more parameters. Their names and units are
 * those of mlxconfig in the source of mstflint (NVIDIA), which describes the copy for RoCE. Where
 * its text and the behaviour of the hardware's model differ, the comment at the member says so.
 *
 * The functions are pure: a limiter, a time, and what happened. Rates are in Mb/s, times in
 * picoseconds from any origin.
 */
#ifndef IBCC_DCQCN_H
#define IBCC_DCQCN_H

#include <stdbool.h>
#include <stdint.h>

#define IBCC_DCQCN_ONE 1024u /* scale of alpha and of DCE_TCP_G */

/* Parameters. Members have the names of mlxconfig, so that an administrator finds them again. */
struct ibcc_dcqcn_rp {
	uint32_t rpg_time_reset_us;    /* between two increases of a rate without a cut; not 0 */
	uint32_t rpg_byte_reset_bytes; /* bytes sent between two increases; 0: time alone */
	/* Increases by time, or by bytes, of which each brings the rate half the way back to its
	 * target. After these the target rises too. The paper's F.
	 */
	uint32_t rpg_threshold;
	uint32_t rpg_max_rate_mbps; /* where a limiter ends; 0: the rate of the port */
	uint32_t rpg_ai_rate_mbps;  /* how far the target rises at a time */
	uint32_t rpg_hai_rate_mbps; /* the same when both counters are beyond rpg_threshold */
	uint32_t rpg_gd;            /* a cut is to 1 - 1024 alpha / 2^rpg_gd; 11: 1 - alpha / 2 */
	uint32_t rpg_min_dec_fac;   /* a cut leaves this share of the rate at least; percent */
	uint32_t rpg_min_rate_mbps; /* no cut goes below; not 0 */
	uint32_t rate_to_set_on_first_cnp_mbps; /* of a new limiter; 0: rpg_max_rate_mbps */
	/* Weight of the past in alpha, in 1024ths: alpha becomes (1 - g) alpha, plus g after a CNP,
	 * with g = (1024 - dce_tcp_g) / 1024. The description in mlxconfig has g the other way
	 * around. With the factory value of 1019 alpha would forget within a microsecond what it
	 * had learned, and a CNP would leave the rate as it was. Published settings for the same
	 * adapters have g = 1/256 (Y. Li and others, "HPCC: High Precision Congestion Control",
	 * SIGCOMM 2019, in the authors' simulator). Which of both holds was not seen on hardware.
	 */
	uint32_t dce_tcp_g;
	uint32_t dce_tcp_rtt_us;                /* between two updates of alpha; not 0 */
	uint32_t rate_reduce_monitor_period_us; /* between two looks for a cut; not 0 */
	uint32_t initial_alpha_value;           /* of a new limiter, 0 to 1024, in 1024ths */
	bool clamp_tgt_rate; /* each cut lowers the target to the rate before it, as in the paper */
	/* A cut does so if the rate was raised by time since the cut before. */
	bool clamp_tgt_rate_after_time_inc;
};

/* The factory values of ConnectX-4 to ConnectX-6, for RoCE. Whether InfiniBand ports have the same
 * is not known.
 */
void ibcc_dcqcn_rp_defaults(struct ibcc_dcqcn_rp *p);

/* A rate limiter. All zero: it does not limit. */
struct ibcc_dcqcn_limiter {
	bool on;
	bool cnp_for_alpha, cnp_for_cut; /* one has come since the last update, the last cut */
	double mbps, target_mbps, alpha; /* alpha: 0 to 1 */
	double max_mbps;
	uint64_t alpha_ps; /* next update */
	uint64_t look_ps;  /* next look for a cut */
	uint64_t time_ps;  /* next increase by time; UINT64_MAX: none before the first cut */
	uint32_t time_stage, byte_stage; /* increases since the last cut */
	uint64_t bytes;                  /* sent since the last increase by bytes */
};

/* Time passes until now_ps, at which events that are due still happen. Earlier times than the last
 * one are ignored. At the same time alpha comes first, then the cut, then the increase.
 */
void ibcc_dcqcn_advance(const struct ibcc_dcqcn_rp *p, struct ibcc_dcqcn_limiter *l,
			uint64_t now_ps);
/* A CNP comes at now_ps. line_mbps, which is not 0, is the rate of the port. */
void ibcc_dcqcn_cnp(const struct ibcc_dcqcn_rp *p, struct ibcc_dcqcn_limiter *l, double line_mbps,
		    uint64_t now_ps);
/* Counts bytes that the sender has sent at now_ps. They move the byte counter, which may raise the
 * rate.
 */
void ibcc_dcqcn_sent(const struct ibcc_dcqcn_rp *p, struct ibcc_dcqcn_limiter *l, uint32_t bytes,
		     uint64_t now_ps);

#endif
