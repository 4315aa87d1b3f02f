/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which flows miss the part of the ideal that a run did not deliver. */
#ifndef PERFTEST_LAB_LOST_H
#define PERFTEST_LAB_LOST_H

#include <ibcc/measure.h>
#include <ibcc/scenario.h>

#include "perftest/bench/truth.h"

/* Classes of flows by what the true roots do to them; a flow belongs to the first class that fits.
 */
enum ibcc_lost {
	IBCC_LOST_TO_ALL,    /* goes everywhere: where it misses throughput is unknown */
	IBCC_LOST_TWO_ROOTS, /* passes several roots, so that several mark it */
	IBCC_LOST_NO_ROOT,   /* passes no root: it waits behind others, or for its own adapter */
	IBCC_LOST_ONE_TABLE, /* its adapter's table serves another root, too */
	IBCC_LOST_FEW,       /* one of at most three senders to its root */
	IBCC_LOST_HELD,      /* held at one root alone */
	IBCC_N_LOST,
};
extern const char *const ibcc_lost_name[IBCC_N_LOST];

/* Sums of what flows miss, as shares of the possible throughput, see ibcc_draw_share(). As
 * ibcc_ideal_pairs().
 */
int ibcc_lost_find(const struct ibcc_scenario *s, const struct ibcc_truth *t,
		   const struct ibcc_measure *m, double *lost);

#endif
