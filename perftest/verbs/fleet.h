/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The coordinator's side of a plan: each host's job, and the hosts that do the jobs. */
#ifndef PERFTEST_VERBS_FLEET_H
#define PERFTEST_VERBS_FLEET_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "perftest/verbs/job.h"
#include "perftest/verbs/wire.h"

struct ibcc_perf_member {
	char name[IBCC_NAME_BYTES];
	char address[IBCC_ADDRESS_BYTES];
	struct ibcc_perf_wire wire;
	struct ibcc_perf_job job;
	uint32_t flow_cap, end_cap;
	bool sends; /* has an active end, so it reports */
	bool finished, done;
	uint32_t reports;
	char device[IBCC_NAME_BYTES], link_layer[16];
	uint8_t port;
	uint32_t rate_mbps;
	uint16_t cm_port; /* port at which librdmacm listens */
	json_t *ends;     /* the addresses of its ends */
};

/* A connection: its two ends, each as a host and an index, the active end first. */
struct ibcc_perf_conn {
	uint32_t member[2], end[2];
};

struct ibcc_perf_fleet {
	const struct ibcc_scenario *s; /* borrowed */
	uint32_t n_members, n_conns, conn_cap;
	struct ibcc_perf_member *member;
	struct ibcc_perf_conn *conn;
};

/* Makes the jobs of a plan, without contacting any host. -EINVAL with the reason if the plan cannot
 * be run over verbs; *f needs ibcc_perf_fleet_fini() even then.
 */
int ibcc_perf_fleet_plan(struct ibcc_perf_fleet *f, const struct ibcc_scenario *s,
			 struct ibcc_why *e);

/* Connects to all hosts, and connects the hosts with each other. */
int ibcc_perf_fleet_connect(struct ibcc_perf_fleet *f, const char *token, struct ibcc_why *e);

/* Hangs up; the hosts then free what they have. */
void ibcc_perf_fleet_fini(struct ibcc_perf_fleet *f);

#endif
