/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How a drawn scenario is run by the loop, and judged. */
#ifndef PERFTEST_LAB_DRAWN_H
#define PERFTEST_LAB_DRAWN_H

#include <stdbool.h>

#include <ibcc/measure.h>
#include <ibcc/scenario.h>

#include "perftest/bench/live.h"

#define IBCC_DRAWN_WANT     0.97 /* share of the ideal, see ibcc_draw_share() */
#define IBCC_DRAWN_MAY_LOSE 0.01 /* most loss compared with control off */
/* A drawn scenario is measured from some 20 intervals after its congestion began, while the loop
 * still learns. After this much more time the loop has settled.
 */
#define IBCC_DRAWN_LATER_PS (80 * IBCC_PS_PER_MS)

static inline bool ibcc_drawn_reached(double share)
{
	return share >= IBCC_DRAWN_WANT;
}

static inline bool ibcc_drawn_harmed(double share, double off)
{
	return share < off * (1 - IBCC_DRAWN_MAY_LOSE);
}

/* Runs a scenario longer, to measure it when the loop has settled. */
static inline void ibcc_drawn_later(struct ibcc_scenario *s)
{
	s->measure_from_ps += IBCC_DRAWN_LATER_PS;
	s->duration_ps += IBCC_DRAWN_LATER_PS;
}

/* Works as ibcc_live_run(), without samples. o: NULL is the daemon's loop at its defaults; r: NULL
 * if the caller needs no result.
 */
static inline int ibcc_drawn_live(const struct ibcc_scenario *s, const struct ibcc_live_options *o,
				  struct ibcc_measure *m, struct ibcc_live_result *r)
{
	struct ibcc_live_options defaults;
	struct ibcc_live_result unasked;
	int rc;

	ibcc_live_defaults(&defaults);
	rc = ibcc_live_run(s, o ? o : &defaults, 0, m, r ? r : &unasked);
	if (!r)
		ibcc_live_result_fini(&unasked);
	return rc;
}

#endif
