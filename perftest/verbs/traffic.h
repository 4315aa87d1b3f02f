/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Traffic of one host: posts messages that are due, takes completions, counts. One thread, which
 * polls or sleeps. A completion, a message that is due, or a message of the coordinator wakes it.
 */
#ifndef PERFTEST_VERBS_TRAFFIC_H
#define PERFTEST_VERBS_TRAFFIC_H

#include "perftest/verbs/hist.h"
#include "perftest/verbs/pace.h"
#include "perftest/verbs/qp.h"

/* What this host knows of a flow. */
struct ibcc_perf_tally {
	uint64_t messages;                          /* complete messages in all */
	uint64_t bytes;                             /* complete octets since the start */
	uint64_t measured_messages, measured_bytes; /* in the measuring window */
	struct ibcc_perf_hist
		latency; /* from due to complete, in the window; of the active queue pair */
};

struct ibcc_perf_stream {
	const struct ibcc_perf_flow *flow;
	uint32_t *qp, n_qps; /* active queue pairs; none if this host only lends memory */
	uint32_t cursor, on_way;
	uint64_t rng;
	struct ibcc_perf_pace pace;
	struct ibcc_perf_tally tally;
};

struct ibcc_perf_traffic {
	const struct ibcc_perf_job *job;
	struct ibcc_perf_port *port;
	struct ibcc_perf_qp *qp;         /* [job->n_qps] */
	struct ibcc_perf_stream *stream; /* [job->n_flows] */
	uint64_t from_ns, to_ns;         /* the measuring window, in time since the start */
	uint64_t on_way, epoch_ns;
};

enum ibcc_perf_order { /* what the coordinator wants while traffic runs */
		       IBCC_PERF_GO_ON,
		       IBCC_PERF_FINISH, /* post no more */
		       IBCC_PERF_STOP,   /* no host posts any more: return */
};

/* Callbacks of a run. Each returns an order or a negative errno, which ends the run. */
struct ibcc_perf_listener {
	int fd;                    /* the coordinator's socket */
	int (*control)(void *arg); /* the coordinator has sent something */
	int (*report)(void *arg, uint64_t now_ns);
	int (*finished)(void *arg, uint64_t now_ns); /* all posted messages are complete */
	void *arg;
	uint64_t report_ns;
};

/* Makes streams over connected queue pairs. 0 or -ENOMEM; *t needs ibcc_perf_traffic_fini() then,
 * too. */
int ibcc_perf_traffic_init(struct ibcc_perf_traffic *t, const struct ibcc_perf_job *j,
			   struct ibcc_perf_port *p, struct ibcc_perf_qp *qps, struct ibcc_why *e);
void ibcc_perf_traffic_fini(struct ibcc_perf_traffic *t);

/* Runs from now to to_ns, and measures from from_ns on. Then it waits for messages under way,
 * reports that it has finished, and serves peers until it gets the order to stop. Returns 0, or an
 * error with the reason in *e.
 */
int ibcc_perf_traffic_run(struct ibcc_perf_traffic *t, uint64_t from_ns, uint64_t to_ns,
			  const struct ibcc_perf_listener *l, struct ibcc_why *e);

#endif
