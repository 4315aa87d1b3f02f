/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Where DCQCN comes to rest: the share of packets that a congested link has to mark so that its
 * senders keep their fair rates. The queue follows from it by the switch's marking profile.
 */
#ifndef IBCC_EQUILIBRIUM_H
#define IBCC_EQUILIBRIUM_H

#include <stdint.h>

#include <ibcc/dcqcn.h>

/* The marked share p* of the packets at a link of link_mbps that n senders fill alike with packets
 * of packet_bytes on the wire, 0 < p* < 1; NAN: an argument is 0, or there is none.
 *
 * The fluid model of Y. Zhu and others, "ECN or Delay: Lessons Learnt from Analysis of DCQCN and
 * TIMELY", CoNEXT 2016, of the mechanism in their "Congestion Control for Large-Scale RDMA
 * Deployments", SIGCOMM 2015. With R = C/N, and times and rates in packets:
 *
 * 	alpha a^2 = tau^2 R_AI R (b + d) (c + e)
 * 	a = 1 - (1 - p)^(tau R)               a packet was marked between two cuts
 * 	alpha = 1 - (1 - p)^(tau' R)          ... between two updates of alpha
 * 	b = p / ((1 - p)^-B - 1)              increases by bytes, for each packet
 * 	d = p / ((1 - p)^-(T R) - 1)          increases by time
 * 	c = b (1 - p)^(F B)                   the part of b that raises the target
 * 	e = d (1 - p)^(F T R)                 the part of d that does
 *
 * with tau the period of cuts, tau' that of alpha, T rpg_time_reset, B rpg_byte_reset, F
 * rpg_threshold and R_AI rpg_ai_rate. It holds for cuts that lower the target (clamp_tgt_rate), and
 * knows neither hyper increase, nor limits of rates, nor a least time between CNPs above tau. It is
 * solved by bisection: the left side rises with p, the right one falls.
 */
double ibcc_equilibrium_mark_share(const struct ibcc_dcqcn_rp *p, double link_mbps,
				   uint32_t packet_bytes, unsigned int n);

/* The queue, in bytes, at which a profile that marks from min_bytes on, and at max_bytes the share
 * max_share, marks the given share; NAN: it marks less at max_bytes. In equilibrium no profile with
 * a max_share below p* has a queue within its range.
 */
double ibcc_equilibrium_queue_bytes(double share, double min_bytes, double max_bytes,
				    double max_share);

#endif
