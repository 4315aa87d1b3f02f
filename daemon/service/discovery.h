/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What is a discovery with gaps worth? Some requests get lost, or are refused for a moment; some
 * nodes never answer.
 */
#ifndef IBCC_DAEMON_DISCOVERY_H
#define IBCC_DAEMON_DISCOVERY_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/topo.h>
#include <ibcc/why.h>

/* Gaps that are the same in so many discoveries in a row are what the fabric is like: each asks
 * twice at least, in all its attempts, so that even of four answers in five that get lost one
 * comes.
 */
#define IBCC_DISCOVERY_BELIEVE 8u

struct ibcc_discovery {
	uint64_t gaps;        /* of the last one; see ibcc_discover_walk() */
	unsigned int same;    /* so many in a row had these */
	bool partial;         /* the topology in use has gaps that are not believed */
	struct ibcc_why text; /* what is missing; empty: nothing */
};

/* Has the last one gaps that may be gone the next time? */
static inline bool ibcc_discovery_is_doubtful(const struct ibcc_discovery *d)
{
	return d->gaps && d->same < IBCC_DISCOVERY_BELIEVE;
}

/* Takes note of what a discovery found, with its gaps and words for them, and says whether it shall
 * replace `have` (NULL: nothing is known yet). One without gaps does, and one whose gaps are
 * believed; others only what is not fuller and has gaps itself.
 */
bool ibcc_discovery_judge(struct ibcc_discovery *d, const struct ibcc_topo *have,
			  const struct ibcc_topo *found, uint64_t gaps, const char *text);

#endif
