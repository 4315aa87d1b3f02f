/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Port counters and their differences, which survive wrap, saturation and reset. */
#ifndef IBCC_COUNTERS_H
#define IBCC_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

enum ibcc_ctr {
	IBCC_CTR_XMIT_DATA, /* PortXmitData, units of 4 bytes */
	IBCC_CTR_RCV_DATA,  /* PortRcvData, units of 4 bytes */
	IBCC_CTR_XMIT_PKTS,
	IBCC_CTR_RCV_PKTS,
	IBCC_CTR_XMIT_WAIT,      /* ticks with data to send and none sent */
	IBCC_CTR_RCV_FECN,       /* PortRcvConCtrl:PktRcvFECN */
	IBCC_CTR_RCV_BECN,       /* PortRcvConCtrl:PktRcvBECN */
	IBCC_CTR_XMIT_TIME_CONG, /* PortXmitConCtrl:PortXmitTimeCong, ticks */
	IBCC_CTR_COUNT,
};

/* Its name in the IBA's attributes. */
const char *ibcc_ctr_name(enum ibcc_ctr c);

/* What a port's counters said at one time. `width[i]` is the counter's width in bits as read (32
 * or 64), 0 where the port does not have it.
 */
struct ibcc_counters {
	uint64_t t_ns; /* of the clock by which rates are computed */
	uint8_t width[IBCC_CTR_COUNT];
	uint64_t v[IBCC_CTR_COUNT];
};

enum ibcc_delta_flag {
	IBCC_DELTA_VALID = 1 << 0,     /* v is usable */
	IBCC_DELTA_SATURATED = 1 << 1, /* at its end, or may have gone round: v is a lower bound */
	IBCC_DELTA_RESET = 1 << 2, /* it was cleared: v counts from the reset on, a lower bound */
};

struct ibcc_delta {
	uint64_t dt_ns; /* 0: no interval, nothing valid */
	uint8_t flags[IBCC_CTR_COUNT];
	uint64_t v[IBCC_CTR_COUNT];
};

/* Difference of two readings of one port. Counters missing in either have no flag set. A fall of a
 * counter is a reset (the counters of IBA stop at their end, they do not wrap) except for 32-bit
 * data counters of hardware that wraps, which is assumed when the old value was in the top quarter
 * and the new one in the bottom quarter of the range. Returns 0, or -EINVAL if cur is not later
 * than prev (*d is then all zero).
 */
int ibcc_counters_diff(const struct ibcc_counters *prev, const struct ibcc_counters *cur,
		       struct ibcc_delta *d);

/* Marks counters of 32 bits as saturated that the port could have filled within the interval: where
 * counters wrap, nothing else shows it. Data at the rate of the link (0.34 s at 400
 * Gb/s), PortXmitWait by a tick of tick_ps (0: not known, nothing is marked). Not marked is a
 * counter that stands still below its end, since hardly any goes round to exactly where it was, and
 * one of those in `stops`, a bit for each enum ibcc_ctr: counters of this hardware that are known
 * to stop at their end, as the IBA has them.
 */
void ibcc_counters_distrust(const struct ibcc_counters *cur, uint32_t link_mbps, uint64_t tick_ps,
			    uint32_t stops, struct ibcc_delta *d);

/* Counters of 32 bits that stand at their end, a bit for each enum ibcc_ctr: hardware that has one
 * does not let it go round.
 */
uint32_t ibcc_counters_at_end(const struct ibcc_counters *c);

static inline bool ibcc_delta_valid(const struct ibcc_delta *d, enum ibcc_ctr c)
{
	return d->dt_ns && d->flags[c] & IBCC_DELTA_VALID;
}

/* A counter that was cleared or stands at its end says too little about the interval. */
static inline bool ibcc_delta_exact(const struct ibcc_delta *d, enum ibcc_ctr c)
{
	return ibcc_delta_valid(d, c) && !(d->flags[c] & (IBCC_DELTA_RESET | IBCC_DELTA_SATURATED));
}

/* Transmit rate of the interval in Mb/s, 0 if not valid. */
uint32_t ibcc_delta_xmit_mbps(const struct ibcc_delta *d);
uint32_t ibcc_delta_rcv_mbps(const struct ibcc_delta *d);

/* PortXmitWait as a share of the interval in permille, 0..1000. One tick lasts (tick + 1) symbol
 * times of PortSamplesControl:Tick; tick_ps is its length in picoseconds. 0 if not valid.
 */
uint32_t ibcc_delta_wait_permille(const struct ibcc_delta *d, uint64_t tick_ps);

/* Share of the interval, in permille, for which a port of rate_mbps (Mb/s) sent or waited, by both
 * counters as far as they are exact. The result is not limited to 1000, but true counters hardly
 * exceed that.
 */
uint32_t ibcc_delta_busy_permille(const struct ibcc_delta *d, uint64_t tick_ps, uint32_t rate_mbps);

#endif
