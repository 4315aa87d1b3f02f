/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The simulated system of the demo: ibcc-sim, opensm with the plugin, ibcc-tuned. */
#ifndef IBCC_DEMO_SYSTEM_H
#define IBCC_DEMO_SYSTEM_H

#include "perftest/bench/proc.h"
#include "perftest/demo/report.h"

/* Delivered payload since the start, by kind of flow. */
struct totals {
	double t_ms, hot_bytes, victim_bytes;
	double fecn; /* that reached the destinations */
};

struct system {
	const char *build, *out, *scenario;
	double speed;  /* of the engine against real time */
	char name[64]; /* of the simulated fabric */
	char dir[64];  /* sockets, OpenSM's caches; private */
	struct ibcc_proc sim, opensm, tuned;
	double sink_MBps; /* payload that the slow sink can take */
	struct totals last;
};

/* Starts the fabric and OpenSM and waits for SUBNET UP; says on stderr what failed. -errno. */
int system_start(struct system *s);

/* Starts the daemon in mode apply. */
int system_tune(struct system *s, double *engine_ms);

/* Looks at the fabric: *sample has rates since the call before, *t the sums. */
int system_sample(struct system *s, struct sample *sample, struct totals *t);

/* Mean throughputs between two looks. */
void totals_rate(const struct system *s, const struct totals *from, const struct totals *to,
		 struct phase *p);

/* What the daemon said, and its own report. */
int system_words(struct system *s, struct demo *d);

/* Ends all processes. 0 if each ended by itself, -ETIMEDOUT if one had to be killed. */
int system_stop(struct system *s);
void system_free(struct system *s);

#endif
