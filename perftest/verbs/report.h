/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The results of a run, for people and programs. */
#ifndef PERFTEST_VERBS_REPORT_H
#define PERFTEST_VERBS_REPORT_H

#include <stdio.h>

#include "perftest/verbs/run.h"

/* The live table: a line for each sample, with the sums of each kind of flow. On a terminal it also
 * shows each flow, in place of the flows of the sample before. An ibcc_perf_live_fn.
 */
struct ibcc_perf_live {
	const struct ibcc_scenario *s;
	FILE *out;
	bool tty;
	uint32_t lines; /* lines of the last table */
};
void ibcc_perf_live(void *arg, const struct ibcc_perf_result *r, uint32_t sample);

/* Prints a table of the flows, with sums, messages that were given up, verified messages, and the
 * hosts' counters.
 */
int ibcc_perf_report_table(const struct ibcc_perf_hosts *hosts, const struct ibcc_perf_result *r,
			   FILE *out);

/* The results as JSON; a new reference, NULL without memory. */
json_t *ibcc_perf_report_json(const struct ibcc_perf_hosts *hosts,
			      const struct ibcc_perf_result *r);

/* Throughput over time of flows, or of kinds if there are more flows than curves in a plot. Several
 * runs follow each other, with a mark and its text at each one's begin.
 */
int ibcc_perf_report_plot(const struct ibcc_scenario *s, const struct ibcc_perf_result *r,
			  const char *const *text, size_t n, FILE *out);

/* "hot", "victim", "background". */
const char *ibcc_perf_kind_name(enum ibcc_flow_kind kind);

#endif
