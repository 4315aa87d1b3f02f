/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Published guideline formulas for congestion control parameters.
 *
 * Source: M. Gusat, W. Denzel et al., "Case study: InfiniBand CM Parameter Tuning", IEEE 802
 * plenary, Nov. 2006 ("Tuning Guidelines for IG Congestion" and "Parameters for OG"). Its model has
 * 12X SDR links (24 Gb/s), 2 KB packets and an IPD unit of 21 ns; there "2/3 HSD us" is HSD packet
 * times, which is how the delay is generalised to other link rates here.
 */
#ifndef IBCC_FORMULA_H
#define IBCC_FORMULA_H

#include <stdint.h>

#include <ibcc/cct.h>

/* CCTI_Timer and all time stamps count units of 1.024 us (IBA vol. 1, Annex A10). */
#define IBCC_FORMULA_TIMER_UNIT_NS 1024u
#define IBCC_FORMULA_ENTRIES       128u /* of a full table */

enum ibcc_congestion {
	IBCC_CONGESTION_INPUT,  /* more traffic arrives for a link than it carries */
	IBCC_CONGESTION_OUTPUT, /* the destination drains slower than its link */
};

struct ibcc_formula_in {
	enum ibcc_congestion kind;
	uint32_t n_ports;      /* N: channel adapter ports of the network */
	uint32_t hsd;          /* hotspot degree: sources of the congested tree, >= 1 */
	uint32_t rate_mbps;    /* data rate of the contributors' links, > 0 */
	uint32_t packet_bytes; /* packet on the wire with headers, > 0 */
};

struct ibcc_formula_out {
	enum ibcc_cct_shape shape;
	uint16_t cct_entries;
	uint32_t max_delay_milli; /* of the last entry, 1/1000 packet times */
	uint64_t max_ipd_ns;      /* the same as time for in.packet_bytes */
	uint8_t ccti_increase;    /* 1..255 */
	uint16_t ccti_timer;      /* units of 1.024 us, >= 1 */
	uint64_t timer_ns;        /* the published time before rounding to the register */
	uint8_t threshold;        /* 0..15: register value for 90 % of the queue */
	uint16_t queue_permille;  /* the published threshold, 900 */
};

/* Computes all parameters. Input-generated: 128 linear entries, threshold 90 %, increase
 * min(N/6, HSD/2), last delay HSD packet times, timer 10 us. Output-generated: multiplicative
 * entries to 210 us, timer 210 us, increase 127. Returns 0, or -EINVAL if a field of *in is 0
 * where it must not be.
 */
int ibcc_formula_compute(const struct ibcc_formula_in *in, struct ibcc_formula_out *out);

/* CCTI_Timer register for a time, rounded to nearest, clamped to 1..65535. */
uint16_t ibcc_formula_timer_register(uint64_t ns);

/* SwitchCongestionSetting:Threshold (1 loosest .. 15 most aggressive, 0 off) for a share of the
 * queue in permille, by the mapping share = (16 - T) / 16, nearest value in 1..15. The annex
 * leaves the absolute depth to the implementation.
 */
uint8_t ibcc_formula_threshold_register(unsigned int queue_permille);

/* The inverse: share of the queue in permille at which threshold T (1..15) marks; 0 for T = 0. */
unsigned int ibcc_formula_threshold_permille(uint8_t threshold);

/* Share of packets that must be marked in equilibrium, in permille (above 1000: no control is
 * possible): p = N_int / (increase * timer), N_int = n * T_pkt * C / R the time between packets of
 * one of n flows at its fair share R/n of a root of rate R. From the balance of the annex's
 * increments and decrements: BECN rate * CCTI_Increase = 1 / CCTI_Timer.
 * All arguments > 0; n_int_ns is N_int.
 */
uint32_t ibcc_formula_mark_share_permille(uint64_t n_int_ns, uint8_t ccti_increase,
					  uint16_t ccti_timer);

#endif
