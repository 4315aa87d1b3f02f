/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How fast settings let an adapter send at best, whatever the traffic is. The daemon never writes
 * such a bound: its CCTI_Min is 0, and its CCTI_Timer is not.
 */
#ifndef IBCC_THROTTLE_H
#define IBCC_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/settings.h>
#include <ibcc/topo.h>
#include <ibcc/why.h>

enum ibcc_throttle_cause {
	IBCC_THROTTLE_NONE,
	IBCC_THROTTLE_MIN,   /* CCTI_Min: the index is never below it */
	IBCC_THROTTLE_TIMER, /* CCTI_Timer 0: once marked, the index never falls again */
};

/* The tightest bound over all service levels. */
struct ibcc_throttle {
	enum ibcc_throttle_cause cause;
	uint8_t sl;
	uint16_t index; /* of the table */
	double mbps;    /* of each flow, or of the service level where that is what is throttled */
	uint32_t of_mbps; /* the link's */
};

/* The bound of an endport's settings, if it is below 90 % of the link: at table index i a flow
 * sends at C / (1 + M / 2^S) (IBA vol. 1, annex A10). A timer of 0 counts where `marks`: a switch
 * port marks. Cause NONE for switches and for endports whose settings are not known.
 */
struct ibcc_throttle ibcc_throttle_find(const struct ibcc_topo *t, const struct ibcc_settings *s,
					uint32_t endport, bool marks);

/* Does any switch port mark? */
bool ibcc_throttle_marks(const struct ibcc_topo *t, const struct ibcc_settings *s);

/* Adapters that settings hold back at all times, and the one with the tightest bound. */
struct ibcc_throttled {
	uint32_t n, endport;
	struct ibcc_throttle least;
};
struct ibcc_throttled ibcc_throttle_all(const struct ibcc_topo *t, const struct ibcc_settings *s);

/* A sentence that names the adapter with the tightest bound and says how many there are, what it
 * means, and what to do; empty if there are none. Returns their number.
 */
uint32_t ibcc_throttle_text(const struct ibcc_topo *t, const struct ibcc_settings *s,
			    struct ibcc_why *text);

/* Adapters that marks can hold further back than settings mean it. */
struct ibcc_throttle_excess {
	uint32_t n, endport;     /* how many, and the one that is held back most */
	double mbps, meant_mbps; /* a rate of its flows, and as it is meant */
	bool by_step;            /* the rate at equal marks, else the least rate */
	uint32_t of_mbps;        /* the link's */
};

/* Two comparisons for each adapter, where any switch port marks:
 *
 * The least rate: what the table leaves a flow that is marked again and again, at the longest delay
 * up to CCTI_Limit. Below 90 % of the intended rate, the adapter is held back more than intended.
 *
 * The rate at equal marks. Each BECN raises the index by CCTI_Increase, and each CCTI_Timer lowers
 * it by 1 (IBA vol. 1, annex A10). So an index is in balance at 1 / (CCTI_Increase * CCTI_Timer)
 * BECNs in a unit of time. A flow gets BECNs in proportion to what it sends. Take the marks at
 * which the intended settings just let a flow recover at the full rate C. At these marks, a flow
 * with the actual settings sends at C * product_meant / product, and no less than the least rate.
 * At half of C or less, the adapter is held back more than intended. A timer of 0 is left to
 * ibcc_throttle_find().
 *
 * No rate follows from the rest: how many flows share one index (Port_Control), and how often
 * switches mark. An audit reports changes of those (<ibcc/audit.h>).
 */
struct ibcc_throttle_excess ibcc_throttle_compare(const struct ibcc_topo *t,
						  const struct ibcc_settings *actual,
						  const struct ibcc_settings *meant);

/* The excess as a sentence with the next step; empty if there is none. */
void ibcc_throttle_excess_text(const struct ibcc_topo *t, const struct ibcc_throttle_excess *x,
			       struct ibcc_why *text);

#endif
