/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The fabric's clock: what Congestion Control TimeStamps say against the host's clock. Private to
 * lib/io and its tests.
 *
 * Fabric time is one line of time for all nodes, begun at the host's time of the first pass. Each
 * node's own counter only says how long an interval was.
 *
 * One pass: _begin(), _wants() for each node, _read() or _missed() for those asked, then
 * _measure(), _time() of old readings where they must be converted, _advance(), and _time() of the
 * new readings.
 */
#ifndef IBCC_IO_COLLECTOR_CLOCK_H
#define IBCC_IO_COLLECTOR_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/collect.h>
#include <ibcc/formula.h>

#include "lib/io/collector_ask.h"

struct ibcc_node_clock {
	bool anchored; /* ts, host_ns and fabric_ns are of the same moment */
	bool moving;   /* the counter was seen to move: it is a clock */
	bool fresh;    /* read in this pass: the new_ members count */
	bool is_switch;
	bool watched;   /* asked in this pass though the host's clock is in use */
	uint8_t jumped; /* passes in a row in which it went far further than the rate lets expect */
	uint8_t off;    /* passes in a row in which it told another time than the others agree on */
	double rate;    /* what it told last, against the host's clock */
	struct ibcc_refusal refusal; /* or silence, to this attribute alone */
	uint32_t ts, new_ts;
	uint64_t host_ns, new_host_ns; /* when the answer came, */
	uint64_t late_ns, new_late_ns; /* and how late at most */
	uint64_t fabric_ns;
};

enum ibcc_clock_trouble {
	IBCC_CLOCK_FINE,
	IBCC_CLOCK_LIAR,     /* one node, or some, go another way than the many */
	IBCC_CLOCK_DISAGREE, /* there is no time that most of them tell */
	IBCC_CLOCK_STILL,    /* time has come to a stop */
};

struct ibcc_fabric_clock {
	enum ibcc_clock mode;
	bool in_use; /* rates are computed with fabric time */
	bool known;  /* rate was measured */
	double rate; /* fabric nanoseconds in a host nanosecond; 1 until measured */
	uint64_t pass;
	unsigned int calm;         /* passes in a row that the two clocks agreed */
	unsigned int alone, still; /* ... in which nodes did not agree, or time stood still */
	uint32_t n_told, n_agree;  /* nodes that told the time in the last pass, and that agreed */
	uint32_t liar;             /* the first of n_liars nodes */
	uint32_t n_liars;
	/* Fabric time at a moment, the end of the last pass. */
	uint64_t host_ns, fabric_ns;
	struct ibcc_node_clock *node; /* owned */
	double *scratch;              /* owned; one for each node */
	uint32_t n;
};

void ibcc_clock_init(struct ibcc_fabric_clock *c, enum ibcc_clock mode);
void ibcc_clock_fini(struct ibcc_fabric_clock *c);
/* Makes room for n nodes, new ones without anchor. -ENOMEM. */
int ibcc_clock_resize(struct ibcc_fabric_clock *c, uint32_t n);
/* Another node has this index now. */
void ibcc_clock_forget(struct ibcc_fabric_clock *c, uint32_t node, bool is_switch);

/* The same fabric with another topology: time goes on, and who has told it goes on with it. Who has
 * not is asked again. `c` has room for the nodes of t, `old` was of `from`.
 */
void ibcc_clock_follow(struct ibcc_fabric_clock *c, const struct ibcc_topo *t,
		       const struct ibcc_fabric_clock *old, const struct ibcc_topo *from);

/* Chooses the nodes that are asked. */
void ibcc_clock_begin(struct ibcc_fabric_clock *c);

/* Is the node's TimeStamp to be read in this pass? All while fabric time is in use; a few else. */
bool ibcc_clock_wants(const struct ibcc_fabric_clock *c, uint32_t node);
void ibcc_clock_read(struct ibcc_fabric_clock *c, uint32_t node, uint32_t ts, uint64_t host_ns,
		     uint64_t late_ns);
void ibcc_clock_missed(struct ibcc_fabric_clock *c, uint32_t node);

/* Measures the rate over the interval since the pass before: as several nodes tell it, switches
 * among them. True if the clock in use has changed, or the line of time was laid anew: times of
 * older readings must be converted.
 */
bool ibcc_clock_measure(struct ibcc_fabric_clock *c);
/* Time, in the clock in use, of a reading at host_ns and of the end of a pass: of the pass before
 * until _advance() is called, of this one then.
 */
uint64_t ibcc_clock_time(const struct ibcc_fabric_clock *c, uint32_t node, uint64_t host_ns);
uint64_t ibcc_clock_end(const struct ibcc_fabric_clock *c);
/* What is wrong with the nodes' clocks, also in words. */
enum ibcc_clock_trouble ibcc_clock_trouble(const struct ibcc_fabric_clock *c);
void ibcc_clock_say(const struct ibcc_fabric_clock *c, const struct ibcc_topo *t,
		    struct ibcc_why *why);

/* Of collector_vote.c: what nodes said in this pass; rate and interval only with an agreement. */
struct ibcc_clock_vote {
	bool agreed;
	double rate, interval_ns;
};
struct ibcc_clock_vote ibcc_clock_vote(struct ibcc_fabric_clock *c);
/* n > 0; mixes v up. */
double ibcc_clock_median(double *v, uint32_t n);

#define IBCC_CLOCK_TICK_NS (double)IBCC_FORMULA_TIMER_UNIT_NS /* unit of TimeStamp */
/* What a node's counter says to have passed between its last two readings. */
static inline double ibcc_clock_ticks_ns(const struct ibcc_node_clock *n)
{
	return (uint32_t)(n->new_ts - n->ts) * IBCC_CLOCK_TICK_NS;
}

/* Did its counter go further since the last reading than a simulation of uneven speed may have? */
bool ibcc_clock_jumps(const struct ibcc_fabric_clock *c, const struct ibcc_node_clock *n);

/* So often in a row time stands still before it is told, */
#define IBCC_CLOCK_PAUSE 2u
/* and so often a node, whose time is done without from the first, is off before it is a liar. */
#define IBCC_CLOCK_LIES 8u

/* Ends the pass at now_ns of the host's clock. */
void ibcc_clock_advance(struct ibcc_fabric_clock *c, uint64_t now_ns);

#endif
