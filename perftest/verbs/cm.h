/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Connections by librdmacm: the queue pairs are ours, their paths the subnet manager's. Needs IP
 * over the fabric; without it, ibcc_perf_end_connect() does.
 *
 * Each host listens, and connects its active ends; a request says in its private data which end it
 * is for.
 */
#ifndef PERFTEST_VERBS_CM_H
#define PERFTEST_VERBS_CM_H

#include <sys/socket.h>

#include <rdma/rdma_cma.h>

#include "perftest/verbs/end.h"

struct ibcc_perf_cm {
	struct rdma_event_channel *channel; /* NULL: connections are made otherwise */
	struct rdma_cm_id *listen;
	struct rdma_cm_id **id; /* [n_ends], of each end's connection */
	bool *connected;
	uint32_t n_ends;
	struct sockaddr_storage own; /* address */
	uint16_t port;               /* that we listen at */
};

/* Listens at an IP address of the port, in numbers. *c needs ibcc_perf_cm_close() even after a
 * failure.
 */
int ibcc_perf_cm_listen(struct ibcc_perf_cm *c, const char *address, uint32_t n_ends,
			const struct ibcc_perf_port *p, struct ibcc_why *e);

/* Where the peer of an active end listens. */
struct ibcc_perf_cm_peer {
	char address[IBCC_ADDRESS_BYTES];
	uint16_t port;
};

/* Connects all ends, the active ones with their peers, within a quarter of a minute, unless the
 * coordinator, who has nothing to say meanwhile, hangs up at `fd`.
 */
int ibcc_perf_cm_connect(struct ibcc_perf_cm *c, struct ibcc_perf_end *end,
			 const struct ibcc_perf_cm_peer *peer, const struct ibcc_perf_port *p,
			 const struct ibcc_perf_job *j, int fd, struct ibcc_why *e);

/* Before the ends are closed. */
int ibcc_perf_cm_close(struct ibcc_perf_cm *c, struct ibcc_why *e);

#endif
