/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The simulated system of the demo: ibcc-sim, opensm with the plugin, ibcc-tuned. */
#ifndef PERFTEST_LAB_DEMO_SYSTEM_H
#define PERFTEST_LAB_DEMO_SYSTEM_H

#include "perftest/lab/demo_report.h"
#include "perftest/lab/proc.h"

/* Delivered payload since the start, by kind of flow. */
struct totals {
	double t_ms, hot_bytes, victim_bytes;
	double fecn; /* that reached the destinations */
};

struct demo_system {
	const char *build, *out, *scenario;
	double speed;  /* of the engine against real time */
	char name[64]; /* of the simulated fabric */
	char dir[64];  /* sockets, OpenSM's caches; private */
	struct ibcc_proc sim, opensm, tuned;
	double sink_MBps; /* payload that the slow receiver can take */
	struct totals last;
};

/* Starts the fabric and OpenSM and waits for SUBNET UP; prints failures to stderr. -errno. */
int ibcc_demo_start(struct demo_system *s);

/* Starts the daemon in mode apply. */
int ibcc_demo_tune(struct demo_system *s, double *engine_ms);

/* Reads the fabric: *sample has rates since the call before, *t the sums. */
int ibcc_demo_sample(struct demo_system *s, struct sample *sample, struct totals *t);

/* Mean throughputs between two looks. */
void ibcc_demo_rate(const struct demo_system *s, const struct totals *from, const struct totals *to,
		    struct phase *p);

/* Collects the daemon's messages and its report. */
int ibcc_demo_words(struct demo_system *s, struct demo *d);

/* Ends all processes. 0 if each ended by itself, -ETIMEDOUT if one had to be killed. */
int ibcc_demo_stop(struct demo_system *s);
void ibcc_demo_free(struct demo_system *s);

#endif
