/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* When a flow's messages are due, by its plan: a token bucket for flows with a rate, and the times
 * at which a flow is on. Times are nanoseconds from the start of the run. No clock is read.
 */
#ifndef PERFTEST_VERBS_PACE_H
#define PERFTEST_VERBS_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define IBCC_PERF_NEVER UINT64_MAX

struct ibcc_perf_pace {
	uint64_t start_ns, stop_ns; /* stop 0: never */
	uint64_t on_ns, off_ns;     /* off 0: always on */
	double interval_ns;         /* mean time between two messages; 0: as fast as possible */
	bool exponential;           /* intervals are random, else all are equal */
	uint32_t depth;       /* of the bucket: messages that may be late before they are lost */
	uint64_t rng;         /* state of the random numbers */
	double next_ns;       /* when the next message is due, in time that the flow is on */
	uint64_t due, missed; /* messages taken; messages that the flow could not keep up with */
};

/* Reads the times and the rate; the first message is due at the start. */
void ibcc_perf_pace_start(struct ibcc_perf_pace *p);

/* Is the flow on? *change gets the time of the next change, IBCC_PERF_NEVER if there is none. */
bool ibcc_perf_pace_on(const struct ibcc_perf_pace *p, uint64_t now_ns, uint64_t *change_ns);

/* Takes a message that is due at now_ns, and sets the time since when it is due. False if none is
 * due. Messages beyond the bucket's depth are given up, and counted.
 */
bool ibcc_perf_pace_take(struct ibcc_perf_pace *p, uint64_t now_ns, uint64_t *due_ns);

/* Ends the flow at now_ns: gives up messages that were due until then and have not been taken.
 * Later no message is due.
 */
void ibcc_perf_pace_end(struct ibcc_perf_pace *p, uint64_t now_ns);

/* When to ask again, after a take that returned false, or without a take. */
uint64_t ibcc_perf_pace_next(const struct ibcc_perf_pace *p, uint64_t now_ns);

#endif
