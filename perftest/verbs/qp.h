/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A queue pair of a connection with its memory, in slots of a message each.
 *
 * One of a connection's two queue pairs is active: it posts the work. The slot of a message says
 * where it is in the memory of both. Slots of data have a pattern that differs by connection, with
 * the message's number at both ends, so that a receiver can check whether all of it came.
 */
#ifndef PERFTEST_VERBS_QP_H
#define PERFTEST_VERBS_QP_H

#include <stddef.h>

#include "perftest/verbs/port.h"

/* What the other queue pair of the connection has to know. */
struct ibcc_perf_address {
	union ibv_gid gid;
	uint64_t addr;
	uint32_t rkey, qpn, psn;
	uint16_t lid;
	uint8_t mtu;       /* enum ibv_mtu */
	uint8_t rd_atomic; /* RDMA reads that it serves at the same time */
};

struct ibcc_perf_qp {
	const struct ibcc_perf_qp_spec *spec;
	const struct ibcc_perf_flow *flow;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *memory;
	uint32_t slots;
	uint32_t *free_slot, first_free, n_free; /* active: a ring of slots that may be posted */
	uint64_t *due_ns;                        /* active: when the message in each slot was due */
	struct ibcc_perf_address local, remote;
	uint64_t posted; /* messages posted; the number of the next one */
	/* messages that came; that were compared; that differed */
	uint64_t received, verified, bad;
};

/* Makes memory and queue pair; a receiver posts its buffers. `number`, of the queue pair on this
 * host, is in the upper half of its work requests' wr_id, the slot in the lower. Needs
 * ibcc_perf_qp_close() even after a failure.
 */
int ibcc_perf_qp_open(struct ibcc_perf_qp *x, struct ibcc_perf_port *p,
		      const struct ibcc_perf_flow *f, const struct ibcc_perf_qp_spec *spec,
		      uint32_t number, struct ibcc_why *e);
/* Call when x->remote is known: makes the queue pair ready to receive and to send. */
int ibcc_perf_qp_connect(struct ibcc_perf_qp *x, const struct ibcc_perf_port *p,
			 const struct ibcc_perf_job *j, struct ibcc_why *e);
int ibcc_perf_qp_close(struct ibcc_perf_qp *x, struct ibcc_why *e);

/* Most completions that a queue pair of this kind may have at the same time. */
uint32_t ibcc_perf_qp_completions(const struct ibcc_perf_flow *f, bool active);

/* Posts a message that was due at due_ns; one slot must be free. */
int ibcc_perf_qp_post(struct ibcc_perf_qp *x, uint32_t number, uint64_t due_ns, bool verify,
		      struct ibcc_why *e);
/* Frees the slot of a complete message; for a read, compares the data first. */
void ibcc_perf_qp_done(struct ibcc_perf_qp *x, uint32_t slot, bool verify);
/* Handles a message in a receiver's slot, and posts the slot again. */
int ibcc_perf_qp_received(struct ibcc_perf_qp *x, uint32_t number, uint32_t slot, bool verify,
			  uint32_t bytes, struct ibcc_why *e);
/* Compares all slots that were written to. Call when nothing is under way any more. */
void ibcc_perf_qp_verify_written(struct ibcc_perf_qp *x);

/* A name for errors: "hot-h1 to h2 (queue pair 17)". */
const char *ibcc_perf_qp_name(const struct ibcc_perf_qp *x, char *buf, size_t len);

json_t *ibcc_perf_address_json(const struct ibcc_perf_address *a);
/* Reads an address. -EPROTO. */
int ibcc_perf_address_read(struct ibcc_perf_address *a, const json_t *o);

#endif
