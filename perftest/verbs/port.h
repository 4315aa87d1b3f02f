/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A port of an RDMA device with all that its queue pairs share. */
#ifndef PERFTEST_VERBS_PORT_H
#define PERFTEST_VERBS_PORT_H

#include <infiniband/verbs.h>

#include "perftest/verbs/job.h"

struct ibcc_perf_port {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_device_attr device;
	struct ibv_port_attr attr;
	char name[IBCC_NAME_BYTES]; /* of the device */
	uint8_t num;
	int gid_index;
	union ibv_gid gid;
	bool global; /* addressed by GID: RoCE, or a port without a LID */
	enum ibv_mtu mtu;
	uint32_t rate_mbps;   /* data */
	unsigned int unacked; /* completion events that are not acknowledged */
};

/* Opens the device and port that the job asks for. *p needs ibcc_perf_port_close() even after a
 * failure, whose reason is in *e.
 */
int ibcc_perf_port_open(struct ibcc_perf_port *p, const struct ibcc_perf_job *j,
			struct ibcc_why *e);

/* Makes the completion queue, with room for n completions. */
int ibcc_perf_port_completions(struct ibcc_perf_port *p, uint32_t n, struct ibcc_why *e);

/* Call when no queue pair and no memory region is left. *e says what cannot be closed. */
int ibcc_perf_port_close(struct ibcc_perf_port *p, struct ibcc_why *e);

#endif
