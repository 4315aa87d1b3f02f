/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What one host has to do in a plan: its flows, and their connections. It is sent as JSON. */
#ifndef PERFTEST_VERBS_JOB_H
#define PERFTEST_VERBS_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include <ibcc/scenario.h>

#include "perftest/verbs/error.h"

#define IBCC_PERF_MAX_FLOWS 100000u
#define IBCC_PERF_MAX_QPS   100000u

/* A flow of which this host has a queue pair. */
struct ibcc_perf_flow {
	uint32_t id; /* number of the flow in the plan */
	char name[IBCC_NAME_BYTES];
	enum ibcc_verbs_operation operation;
	enum ibcc_arrivals arrivals;
	double rate_mbps; /* payload; 0: by load */
	double load;      /* payload, as a share of the port's rate */
	uint32_t message_bytes, window;
	uint8_t sl;
	uint64_t start_ns, stop_ns, on_ns, off_ns;
	uint64_t seed;
	bool spread; /* each message goes by a randomly chosen connection, else by all in turn */
};

/* One of the two queue pairs of a connection. */
struct ibcc_perf_qp_spec {
	uint32_t flow; /* index into the job's flows */
	uint32_t conn; /* number of the connection in the flow */
	bool active;   /* posts the messages; the other only lends memory, or receives */
	char peer[IBCC_NAME_BYTES];
};

struct ibcc_perf_job {
	char device[IBCC_NAME_BYTES]; /* "": the first with an active port */
	uint8_t port;                 /* 0: the first that is active */
	int gid_index;                /* -1: chosen automatically */
	uint16_t mtu_bytes;           /* 0: the port's */
	uint8_t ack_timeout, retries; /* as in struct ibcc_verbs_plan */
	bool polling, verify;
	bool cm;                               /* connections by librdmacm */
	char rdma_address[IBCC_ADDRESS_BYTES]; /* where librdmacm listens */
	uint32_t n_flows, n_qps;
	struct ibcc_perf_flow *flow;
	struct ibcc_perf_qp_spec *qp;
};

void ibcc_perf_job_fini(struct ibcc_perf_job *j);

/* The job as JSON: a new reference, NULL without memory. */
json_t *ibcc_perf_job_json(const struct ibcc_perf_job *j);

/* Reads what a coordinator sent, which may be anything. -EPROTO with the reason, -ENOMEM; *j needs
 * no ibcc_perf_job_fini() after an error.
 */
int ibcc_perf_job_read(struct ibcc_perf_job *j, const json_t *o, struct ibcc_why *e);

#endif
