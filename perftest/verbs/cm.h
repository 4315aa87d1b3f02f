/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Connections by librdmacm: the queue pairs are ours, and the subnet manager provides the paths.
 * Needs IP over the fabric; ibcc_perf_qp_connect() works without it.
 *
 * Each host listens, and connects its active queue pairs. The private data of a request says for
 * which end it is.
 */
#ifndef PERFTEST_VERBS_CM_H
#define PERFTEST_VERBS_CM_H

#include <sys/socket.h>

#include <rdma/rdma_cma.h>

#include "perftest/verbs/qp.h"

struct ibcc_perf_cm {
	struct rdma_event_channel *channel; /* NULL: connections are made without librdmacm */
	struct rdma_cm_id *listen;
	struct rdma_cm_id **id; /* [n_qps], of each queue pair's connection */
	bool *connected;
	uint32_t n_qps;
	struct sockaddr_storage own; /* the host's own address */
	uint16_t port;               /* the port at which we listen */
};

/* Listens at an IP address of the port, in numbers. *c needs ibcc_perf_cm_close() even after a
 * failure.
 */
int ibcc_perf_cm_listen(struct ibcc_perf_cm *c, const char *address, uint32_t n_qps,
			const struct ibcc_perf_port *p, struct ibcc_why *e);

/* Where the peer of an active queue pair listens. */
struct ibcc_perf_cm_peer {
	char address[IBCC_ADDRESS_BYTES];
	uint16_t port;
};

/* Connects all queue pairs, the active ones with their peers, within 15 s. Stops if the
 * coordinator, which sends nothing meanwhile, hangs up at `fd`.
 */
int ibcc_perf_cm_connect(struct ibcc_perf_cm *c, struct ibcc_perf_qp *qp,
			 const struct ibcc_perf_cm_peer *peer, const struct ibcc_perf_port *p,
			 const struct ibcc_perf_job *j, int fd, struct ibcc_why *e);

/* Call before the queue pairs are closed. */
int ibcc_perf_cm_close(struct ibcc_perf_cm *c, struct ibcc_why *e);

#endif
