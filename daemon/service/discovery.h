/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What to do about a discovery with gaps. Some requests get lost or are refused for a moment, and
 * some nodes never answer. The daemon repeats only the requests that got no answer, until they are
 * answered or the node counts as silent. After that it repeats them less and less often.
 */
#ifndef IBCC_DAEMON_DISCOVERY_H
#define IBCC_DAEMON_DISCOVERY_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/topo.h>
#include <ibcc/walk.h>
#include <ibcc/why.h>

/* A node counts as silent after this many failed requests. Each request is several attempts, so one
 * gets through even where four of five answers get lost. All of them happen within half a minute,
 * see ibcc_discovery_wait_ns().
 */
#define IBCC_DISCOVERY_BELIEVE 8u
/* A contradiction counts as lasting after this many walks in a row that find it. */
#define IBCC_DISCOVERY_BELIEVE_ODD 4u

/* All zero: there was no discovery yet. Freed by ibcc_discovery_reset(). */
struct ibcc_discovery {
	struct ibcc_walk *walk; /* the last walk, if something is missing in it; owned */
	uint32_t n_missing;     /* requests without an answer */
	unsigned int tries;     /* the smallest number of attempts among those requests */
	uint64_t odd_sum;       /* checksum of the last walk's contradictions; 0: none */
	unsigned int odd_same;  /* number of walks in a row with these contradictions */
	uint64_t asked_ns;      /* when the missing nodes were last asked */
	uint64_t walked_ns;     /* when the walk began */
	bool partial;           /* the topology in use has gaps that may be temporary */
	struct ibcc_why text;   /* what is missing; empty: nothing is */
	struct ibcc_walk_shared shared;
	/* Text from the last walk, as in struct ibcc_walk_gaps. */
	char shared_text[sizeof(((struct ibcc_walk_gaps *)NULL)->shared_text)];
	char lid_text[sizeof(((struct ibcc_walk_gaps *)NULL)->lid_text)];
};

void ibcc_discovery_reset(struct ibcc_discovery *d);

/* Is something missing that may answer next time? */
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

/* Names the places of nodes that share a GUID or of ports that share a LID, and says what the
 * operator can do. Leaves *why alone if there are none.
 */
bool ibcc_discovery_shared_trouble(const struct ibcc_discovery *d, struct ibcc_why *why);

/* The pause between two requests to the missing nodes: a second at first, doubled at every second
 * try, a quarter of an hour at most.
 */
uint64_t ibcc_discovery_wait_ns(const struct ibcc_discovery *d);

/* Records in words what a discovery is missing, and returns whether its topology should replace
 * `have` (NULL: nothing is known yet). `again`: the last walk was continued, no new one made. A
 * topology replaces `have` if it has no gaps, or only gaps that count as permanent. Otherwise it
 * replaces only a topology that has gaps itself and is no fuller.
 */
bool ibcc_discovery_judge(struct ibcc_discovery *d, const struct ibcc_topo *have,
			  const struct ibcc_topo *found, const struct ibcc_walk_gaps *gaps,
			  bool again, const char *text);

#endif
