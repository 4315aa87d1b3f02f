/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How a drawn scenario is run and judged. */
#ifndef PERFTEST_BENCH_DRAWN_H
#define PERFTEST_BENCH_DRAWN_H

#include <stdbool.h>

#include <ibcc/scenario.h>

#include "perftest/bench/live.h"

#define IBCC_DRAWN_WANT     0.97 /* share of the ideal, see ibcc_draw_share() */
#define IBCC_DRAWN_MAY_LOSE 0.01 /* against off */

static inline bool ibcc_drawn_reached(double share)
{
	return share >= IBCC_DRAWN_WANT;
}

static inline bool ibcc_drawn_harmed(double share, double off)
{
	return share < off * (1 - IBCC_DRAWN_MAY_LOSE);
}

/* Share with the scenario's own settings: none in a drawn one. As ibcc_measure_run(). */
int ibcc_drawn_static(const struct ibcc_scenario *s, double *share);

/* Share with the daemon's loop at its defaults. As ibcc_live_run(). */
int ibcc_drawn_live(const struct ibcc_scenario *s, double *share, struct ibcc_live_result *r);

#endif
