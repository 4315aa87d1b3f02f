/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Measures traffic before and after a command, and says in words what the command changed. */
#ifndef PERFTEST_VERBS_AROUND_H
#define PERFTEST_VERBS_AROUND_H

#include "perftest/verbs/run.h"
#include "perftest/verbs/stats.h"

#define IBCC_PERF_REPEATS_MAX 99u

struct ibcc_perf_around {
	const char *command; /* a command of the shell */
	const char *undo;    /* NULL: none; with one, before and after take turns */
	uint32_t repeats;    /* runs before, and as many after */
	uint32_t settle_ms;  /* pause behind a command */
	/* [2 * repeats], before and after in the order in which they ran; results need
	 * ibcc_perf_result_fini(), the lists free().
	 */
	struct ibcc_perf_result *result;
	bool *is_after;
	uint32_t n;
};

/* Runs it. -EIO if a command failed, with the reason; a->n runs are there even then. */
int ibcc_perf_around(struct ibcc_perf_around *a, struct ibcc_perf_hosts *hosts, int signal_fd,
		     ibcc_perf_live_fn *live, void *arg, FILE *log, struct ibcc_why *e);
void ibcc_perf_around_fini(struct ibcc_perf_around *a);

/* The change of the throughput of a kind of flows. */
struct ibcc_perf_change ibcc_perf_around_kind(const struct ibcc_perf_around *a,
					      const struct ibcc_scenario *s,
					      enum ibcc_flow_kind kind);

/* "victims +212 % (+-6), hot receiver -0.4 % (+-0.9)": the kinds that the plan has. If the change
 * is within the interval, the text says that nothing is certain.
 */
void ibcc_perf_around_words(const struct ibcc_perf_around *a, const struct ibcc_scenario *s,
			    char *buf, size_t len);

#endif
