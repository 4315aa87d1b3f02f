/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which flows or nodes of a run a word means, and sums over them. */
#ifndef PERFTEST_BENCH_SELECT_H
#define PERFTEST_BENCH_SELECT_H

#include <stdbool.h>
#include <stdint.h>

#include "perftest/bench/experiment.h"

struct ibcc_select {
	const struct ibcc_exp_run *run;
	bool nodes; /* items are nodes, else flows */
	uint32_t n; /* of items in the run */
	bool *in;
};

/* Selects the items. -EINVAL if the word names nothing of the run, -ENOMEM. Free with free(s->in).
 */
int ibcc_select(const struct ibcc_exp_run *run, const char *who, struct ibcc_select *s);

double ibcc_select_mbps(const struct ibcc_select *s);
double ibcc_select_offered_mbps(const struct ibcc_select *s);
double ibcc_select_ideal_mbps(const struct ibcc_select *s);
double ibcc_select_capacity_mbps(const struct ibcc_select *s); /* NAN for flows */
double ibcc_select_latency_us(const struct ibcc_select *s);    /* NAN for nodes */
double ibcc_select_ccti(const struct ibcc_select *s);          /* NAN for nodes */
double ibcc_select_marked(const struct ibcc_select *s);        /* NAN for nodes */
double ibcc_select_unfairness(const struct ibcc_select *s, double share_mbps);
/* What the ends of connections did, by one of these words: sent_per_useful (packets), out_of_order,
 * duplicates (shares of the packets that came), resent, naks, timeouts, depth (the longest way that
 * a packet was ahead), ahead (share of the packets ahead of one that had not come), reordered
 * (share of them that came after a later one), p50_us, p99_us (of the flow where they are longest).
 * NAN for nodes, and where nothing came.
 */
bool ibcc_select_conn_has(const char *figure);
double ibcc_select_conn(const struct ibcc_select *s, const char *figure);
/* Throughput in one sample. */
double ibcc_select_sample_mbps(const struct ibcc_select *s, uint32_t sample);

#endif
