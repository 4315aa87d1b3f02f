/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The coordinator's side of a plan: each host's job, and the hosts that do the jobs. */
#ifndef PERFTEST_VERBS_HOSTS_H
#define PERFTEST_VERBS_HOSTS_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "perftest/verbs/job.h"
#include "perftest/verbs/wire.h"

struct ibcc_perf_host {
	char name[IBCC_NAME_BYTES];
	char address[IBCC_ADDRESS_BYTES];
	struct ibcc_perf_wire wire;
	struct ibcc_perf_job job;
	uint32_t flow_cap, qp_cap;
	bool sends; /* has an active queue pair, so it reports */
	bool finished, done;
	uint32_t reports;
	char device[IBCC_NAME_BYTES], link_layer[16];
	uint8_t port;
	uint32_t rate_mbps;
	uint16_t cm_port; /* port at which librdmacm listens */
	json_t *qps;      /* the addresses of its queue pairs */
};

/* A connection: its two queue pairs, each as a host and an index, the active one first. */
struct ibcc_perf_conn {
	uint32_t host[2], qp[2];
};

struct ibcc_perf_hosts {
	const struct ibcc_scenario *s; /* borrowed */
	uint32_t n_hosts, n_conns, conn_cap;
	struct ibcc_perf_host *host;
	struct ibcc_perf_conn *conn;
};

/* Makes the jobs of a plan, without contacting any host. -EINVAL with the reason if the plan cannot
 * be run over verbs; *hosts needs ibcc_perf_hosts_fini() even then.
 */
int ibcc_perf_hosts_plan(struct ibcc_perf_hosts *hosts, const struct ibcc_scenario *s,
			 struct ibcc_why *e);

/* Connects to all hosts, and connects the hosts with each other. */
int ibcc_perf_hosts_connect(struct ibcc_perf_hosts *hosts, const char *token, struct ibcc_why *e);

/* Hangs up; the hosts then free what they have. */
void ibcc_perf_hosts_fini(struct ibcc_perf_hosts *hosts);

#endif
