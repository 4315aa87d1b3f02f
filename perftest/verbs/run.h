/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A run: all hosts of a plan send its traffic once. Also the run's results. */
#ifndef PERFTEST_VERBS_RUN_H
#define PERFTEST_VERBS_RUN_H

#include "perftest/verbs/hist.h"
#include "perftest/verbs/hosts.h"

struct ibcc_perf_flow_result {
	uint64_t messages; /* complete messages */
	uint64_t measured_messages, measured_bytes;
	uint64_t due, missed;             /* messages that were posted, and given up */
	uint64_t received, verified, bad; /* counts of the receiver; all queue pairs */
	/* from the time when a message was due until it was complete */
	struct ibcc_perf_hist latency;
};

struct ibcc_perf_result {
	uint32_t n_flows;
	struct ibcc_perf_flow_result *flow;
	double window_s; /* measured time; shorter after an interrupt */
	bool interrupted;
	/* [sample * n_flows + flow]: when each flow's host reported, and octets complete by then */
	uint32_t n_samples, cap_samples;
	uint64_t *sample_ns, *sample_bytes;
	json_t *counters; /* of each host: {"NAME": {...}} */
};
void ibcc_perf_result_fini(struct ibcc_perf_result *r);

/* Payload in Mb/s: of a flow in the window; of a kind; of a flow in a sample's interval (NAN
 * without the sample).
 */
double ibcc_perf_flow_mbps(const struct ibcc_perf_result *r, uint32_t flow);
double ibcc_perf_kind_mbps(const struct ibcc_scenario *s, const struct ibcc_perf_result *r,
			   enum ibcc_flow_kind kind);
double ibcc_perf_sample_mbps(const struct ibcc_perf_result *r, uint32_t sample, uint32_t flow);

/* Called when all hosts have reported one more sample. */
typedef void ibcc_perf_live_fn(void *arg, const struct ibcc_perf_result *r, uint32_t sample);

/* Runs the plan once. SIGINT and SIGTERM end it early; they must be blocked and come by signal_fd
 * (-1: they do not come). *r needs ibcc_perf_result_fini() even after a failure.
 */
int ibcc_perf_run_once(struct ibcc_perf_hosts *hosts, int signal_fd, ibcc_perf_live_fn *live,
		       void *arg, struct ibcc_perf_result *r, struct ibcc_why *e);

#endif
