/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Differences of port counters, and the figures made from them.
 *
 * Other tools clear counters, 32-bit counters stop at their end or wrap, ports come and go. A
 * difference that is not certain has flags that say so, rather than looking like traffic.
 */
#include <ibcc/counters.h>

#include <errno.h>
#include <string.h>

/* The highest value of a counter of a width in bits. */
static uint64_t counter_max(unsigned int width)
{
	return width < 64 ? (1ull << width) - 1 : UINT64_MAX;
}

/* Only data counters fill 32 bits fast enough to be built wrapping, and a wrap between two
 * readings shows as a fall from near the end to near the start; anything else is a reset.
 */
static bool has_wrapped(enum ibcc_ctr c, unsigned int width, uint64_t prev, uint64_t cur)
{
	uint64_t quarter = 1ull << 30;

	if (width != 32 || (c != IBCC_CTR_XMIT_DATA && c != IBCC_CTR_RCV_DATA))
		return false;
	return prev >= 3 * quarter && cur < quarter;
}

int ibcc_counters_diff(const struct ibcc_counters *prev, const struct ibcc_counters *cur,
		       struct ibcc_delta *d)
{
	unsigned int i;

	memset(d, 0, sizeof(*d));
	if (cur->t_ns <= prev->t_ns)
		return -EINVAL;
	d->dt_ns = cur->t_ns - prev->t_ns;

	for (i = 0; i < IBCC_CTR_COUNT; i++) {
		unsigned int width = cur->width[i];
		uint64_t max, a, b;

		/* Readings of different width come from different attributes. */
		if (!width || width != prev->width[i])
			continue;
		max = counter_max(width);
		a = prev->v[i] & max;
		b = cur->v[i] & max;
		d->flags[i] = IBCC_DELTA_VALID;
		if (b == max)
			d->flags[i] |= IBCC_DELTA_SATURATED;
		if (b >= a) {
			d->v[i] = b - a;
		} else if (has_wrapped((enum ibcc_ctr)i, width, a, b)) {
			d->v[i] = max - a + 1 + b;
		} else {
			d->flags[i] |= IBCC_DELTA_RESET;
			d->v[i] = b;
		}
	}
	return 0;
}

uint32_t ibcc_counters_at_end(const struct ibcc_counters *c)
{
	uint32_t mask = 0;

	for (unsigned int i = 0; i < IBCC_CTR_COUNT; i++)
		if (c->width[i] == 32 && c->v[i] >= UINT32_MAX)
			mask |= 1u << i;
	return mask;
}

/* Flags differences of 32-bit counters that may have wrapped in an interval of this length, except
 * those that stop at their end.
 */
void ibcc_counters_distrust(const struct ibcc_counters *cur, uint32_t link_mbps, uint64_t tick_ps,
			    uint32_t stops, struct ibcc_delta *d)
{
	const double range = 4294967296.0;
	double words = (double)link_mbps * (double)d->dt_ns / (1000.0 * 32);
	double ticks = tick_ps ? (double)d->dt_ns * 1000 / (double)tick_ps : 0;

	for (unsigned int c = 0; c < IBCC_CTR_COUNT; c++) {
		bool data = c == IBCC_CTR_XMIT_DATA || c == IBCC_CTR_RCV_DATA;

		if (cur->width[c] != 32 || !(d->flags[c] & IBCC_DELTA_VALID) || !d->v[c] ||
		    stops >> c & 1)
			continue;
		if ((data && words >= range) || (c == IBCC_CTR_XMIT_WAIT && ticks >= range))
			d->flags[c] |= IBCC_DELTA_SATURATED;
	}
}

/* A data counter's difference as a rate in Mb/s. A double is exact to one part in 2^53, which is
 * enough. */
static uint32_t data_mbps(const struct ibcc_delta *d, enum ibcc_ctr c)
{
	double mbps;

	if (!ibcc_delta_valid(d, c))
		return 0;
	mbps = (double)d->v[c] * 4 * 8 * 1000 / (double)d->dt_ns + 0.5;
	return mbps < UINT32_MAX ? (uint32_t)mbps : UINT32_MAX;
}

uint32_t ibcc_delta_xmit_mbps(const struct ibcc_delta *d)
{
	return data_mbps(d, IBCC_CTR_XMIT_DATA);
}

uint32_t ibcc_delta_rcv_mbps(const struct ibcc_delta *d)
{
	return data_mbps(d, IBCC_CTR_RCV_DATA);
}

/* The share of the interval that a port waited, in permille, not limited to 1000. */
static double wait_permille(const struct ibcc_delta *d, uint64_t tick_ps)
{
	/* ticks * tick_ps / (dt_ns * 1000) * 1000 */
	return (double)d->v[IBCC_CTR_XMIT_WAIT] * (double)tick_ps / (double)d->dt_ns;
}

uint32_t ibcc_delta_wait_permille(const struct ibcc_delta *d, uint64_t tick_ps)
{
	double permille;

	if (!ibcc_delta_valid(d, IBCC_CTR_XMIT_WAIT))
		return 0;
	permille = wait_permille(d, tick_ps) + 0.5;
	return permille < 1000 ? (uint32_t)permille : 1000;
}

uint32_t ibcc_delta_busy_permille(const struct ibcc_delta *d, uint64_t tick_ps, uint32_t rate_mbps)
{
	double permille = 0.5;

	if (rate_mbps && ibcc_delta_exact(d, IBCC_CTR_XMIT_DATA))
		permille += 1000.0 * ibcc_delta_xmit_mbps(d) / rate_mbps;
	if (ibcc_delta_exact(d, IBCC_CTR_XMIT_WAIT))
		permille += wait_permille(d, tick_ps);
	return permille < UINT32_MAX ? (uint32_t)permille : UINT32_MAX;
}

const char *ibcc_ctr_name(enum ibcc_ctr c)
{
	static const char *const names[IBCC_CTR_COUNT] = {
		[IBCC_CTR_XMIT_DATA] = "PortXmitData",
		[IBCC_CTR_RCV_DATA] = "PortRcvData",
		[IBCC_CTR_XMIT_PKTS] = "PortXmitPkts",
		[IBCC_CTR_RCV_PKTS] = "PortRcvPkts",
		[IBCC_CTR_XMIT_WAIT] = "PortXmitWait",
		[IBCC_CTR_RCV_FECN] = "PktRcvFECN",
		[IBCC_CTR_RCV_BECN] = "PktRcvBECN",
		[IBCC_CTR_XMIT_TIME_CONG] = "PortXmitTimeCong",
	};

	return names[c];
}
