/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One end of a connection: a queue pair with its memory, in slots of a message each.
 *
 * An active end posts work. The slot of a message says where it is in its own memory and in that of
 * the other end. Slots of data have a pattern that differs by connection, with the message's number
 * at both ends, so that a receiver can check whether all of it came.
 */
#ifndef PERFTEST_VERBS_END_H
#define PERFTEST_VERBS_END_H

#include <stddef.h>

#include "perftest/verbs/port.h"

/* What the other end has to know. */
struct ibcc_perf_address {
	union ibv_gid gid;
	uint64_t addr;
	uint32_t rkey, qpn, psn;
	uint16_t lid;
	uint8_t mtu;       /* enum ibv_mtu */
	uint8_t rd_atomic; /* RDMA reads that it serves at the same time */
};

struct ibcc_perf_end {
	const struct ibcc_perf_end_spec *spec;
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

/* Makes memory and queue pair; a receiver posts its buffers. `number`, of the end on this host, is
 * in the upper half of its work requests' wr_id, the slot in the lower. Needs ibcc_perf_end_close()
 * even after a failure.
 */
int ibcc_perf_end_open(struct ibcc_perf_end *x, struct ibcc_perf_port *p,
		       const struct ibcc_perf_flow *f, const struct ibcc_perf_end_spec *spec,
		       uint32_t number, struct ibcc_why *e);
/* Call when x->remote is known: makes the end ready to receive and to send. */
int ibcc_perf_end_connect(struct ibcc_perf_end *x, const struct ibcc_perf_port *p,
			  const struct ibcc_perf_job *j, struct ibcc_why *e);
int ibcc_perf_end_close(struct ibcc_perf_end *x, struct ibcc_why *e);

/* Most completions that an end of this kind may have at the same time. */
uint32_t ibcc_perf_end_completions(const struct ibcc_perf_flow *f, bool active);

/* Posts a message that was due at due_ns; one slot must be free. */
int ibcc_perf_end_post(struct ibcc_perf_end *x, uint32_t number, uint64_t due_ns, bool verify,
		       struct ibcc_why *e);
/* Frees the slot of a complete message; for a read, compares the data first. */
void ibcc_perf_end_done(struct ibcc_perf_end *x, uint32_t slot, bool verify);
/* Handles a message in a receiver's slot, and posts the slot again. */
int ibcc_perf_end_received(struct ibcc_perf_end *x, uint32_t number, uint32_t slot, bool verify,
			   uint32_t bytes, struct ibcc_why *e);
/* Compares all slots that were written to. Call when nothing is under way any more. */
void ibcc_perf_end_verify_written(struct ibcc_perf_end *x);

/* A name for errors: "hot-h1 to h2 (queue pair 17)". */
const char *ibcc_perf_end_name(const struct ibcc_perf_end *x, char *buf, size_t len);

json_t *ibcc_perf_address_json(const struct ibcc_perf_address *a);
/* Reads an address. -EPROTO. */
int ibcc_perf_address_read(struct ibcc_perf_address *a, const json_t *o);

#endif
