/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What reaction.c does for each packet: how long a queue pair, or an SL, rests after it. */
#ifndef IBCC_ENGINE_REACTION_H
#define IBCC_ENGINE_REACTION_H

#include "internal.h"

/* What is kept of the index that a queue pair, or NONE, is throttled by. */
static inline uint64_t fall_by(const struct ibcc_engine *e, const struct group *g, uint32_t qp)
{
	if (g->sl_mode)
		return g->fall;
	return qp == NONE ? 0 : e->qp[qp].fall;
}

/* The delay of an index, from what is kept of it. */
uint64_t ibcc_fab_delay_ps(const struct ibcc_engine *e, const struct hca *h, const struct group *g,
			   uint64_t fall, unsigned int kind);

/* How long a queue pair (or, in SL mode, the SL) rests after a packet of a kind that is sent now,
 * in ps.
 */
static inline uint64_t delay_ps(const struct ibcc_engine *e, const struct hca *h,
				const struct group *g, uint32_t qp, unsigned int kind)
{
	uint64_t fall = fall_by(e, g, qp);

	/* Most have no index above 0, and entry 0 has no delay on any device. */
	if (!g->min_ccti && (g->timer ? fall <= e->now_ps : !fall))
		return 0;
	return ibcc_fab_delay_ps(e, h, g, fall, kind);
}

#endif
