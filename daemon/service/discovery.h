/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What is a discovery with gaps worth? Some requests get lost, or are refused for a moment; some
 * nodes never answer. What did not answer is asked again, and only that, until it answers or is
 * believed to be silent; then ever more seldom.
 */
#ifndef IBCC_DAEMON_DISCOVERY_H
#define IBCC_DAEMON_DISCOVERY_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/topo.h>
#include <ibcc/walk.h>
#include <ibcc/why.h>

/* What has been given up so often is silent. Each time is several attempts, so that even of four
 * answers in five that get lost one comes. It is asked within half a minute, see
 * ibcc_discovery_wait_ns().
 */
#define IBCC_DISCOVERY_BELIEVE 8u
/* Walks in a row that find the same contradiction. */
#define IBCC_DISCOVERY_BELIEVE_ODD 4u

/* All zero: there has been none. Freed by ibcc_discovery_reset(). */
struct ibcc_discovery {
	struct ibcc_walk *walk; /* the last one, where something is missing in it; owned */
	uint32_t n_missing;     /* requests without an answer */
	unsigned int tries;     /* of those, of the one that was asked least often */
	uint64_t odd_sum;       /* contradictions of the last walk; 0: none */
	unsigned int odd_same;  /* so many walks in a row had these */
	uint64_t asked_ns;      /* when the gaps were asked last */
	uint64_t walked_ns;     /* when the walk began */
	bool partial;           /* the topology in use has gaps that are not believed */
	struct ibcc_why text;   /* what is missing; empty: nothing */
	struct ibcc_walk_shared shared;
	/* Of the last walk, as in struct ibcc_walk_gaps. */
	char shared_text[sizeof(((struct ibcc_walk_gaps *)NULL)->shared_text)];
	char lid_text[sizeof(((struct ibcc_walk_gaps *)NULL)->lid_text)];
};

void ibcc_discovery_reset(struct ibcc_discovery *d);

/* Is something missing that may answer the next time? */
static inline bool ibcc_discovery_has_doubtful_gaps(const struct ibcc_discovery *d)
{
	return d->n_missing && d->tries < IBCC_DISCOVERY_BELIEVE;
}

/* Is there a contradiction that another walk may not find? */
static inline bool ibcc_discovery_is_odd(const struct ibcc_discovery *d)
{
	return d->odd_sum && d->odd_same < IBCC_DISCOVERY_BELIEVE_ODD;
}

static inline bool ibcc_discovery_is_doubtful(const struct ibcc_discovery *d)
{
	return ibcc_discovery_has_doubtful_gaps(d) || ibcc_discovery_is_odd(d);
}

/* Names the places of nodes that share a GUID, or of ports that share a LID, and says what the
 * operator can do; *why is left alone if there are none.
 */
bool ibcc_discovery_shared_trouble(const struct ibcc_discovery *d, struct ibcc_why *why);

/* From one question for the gaps to the next: a second at first, doubled with every second try, a
 * quarter of an hour at most.
 */
uint64_t ibcc_discovery_wait_ns(const struct ibcc_discovery *d);

/* Takes note of what is missing in what a discovery found, with words for it, and says whether it
 * shall replace `have` (NULL: nothing is known yet). `again`: no new walk, but the last one went
 * on. What has no gaps shall, and what has gaps that are believed; others only what is not fuller
 * and has gaps itself.
 */
bool ibcc_discovery_judge(struct ibcc_discovery *d, const struct ibcc_topo *have,
			  const struct ibcc_topo *found, const struct ibcc_walk_gaps *gaps,
			  bool again, const char *text);

#endif
