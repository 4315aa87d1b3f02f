/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* DCQCN in the engine: what it has in addition when the model says so (dcqcn.c). */
#ifndef IBCC_ENGINE_DCQCN_H
#define IBCC_ENGINE_DCQCN_H

#include "internal.h"

/* The queue of an output and VL, as marks go by it. */
struct dcqcn_queue {
	double average; /* bytes */
	uint64_t steps; /* of averaging, from time 0 on */
	uint64_t rng;
	/* Of its port: what stays of the average in a step, and how long a step is. */
	double stays;
	uint64_t step_ps;
};

/* CNPs of an adapter's port. */
struct dcqcn_cnps {
	uint64_t sent, handled, ignored;
};

struct fab_dcqcn {
	/* What ports have of their own, and which port has it; NULL: the model's at all. */
	struct ibcc_dcqcn *own;
	bool *has_own;
	struct dcqcn_cnps *cnps;            /* by port */
	struct dcqcn_queue *queue;          /* by outq */
	struct ibcc_dcqcn_limiter *limiter; /* by queue pair; its holder's counts (dcqcn.c) */
	uint32_t cap_limiter, n_limiter;
	/* When the next CNP may be sent: by channel adapter, or by queue pair. */
	uint64_t *next_cnp_ps;
	uint32_t cap_cnp, n_cnp;
};

bool ibcc_dcqcn_model_valid(const struct ibcc_model *m);
int ibcc_dcqcn_build(struct ibcc_engine *e);
void ibcc_dcqcn_free(struct ibcc_engine *e);

/* The backlog of an output and VL is about to change. */
void ibcc_dcqcn_backlog(struct ibcc_engine *e, uint32_t outq);
/* A packet is about to leave an output: marks it or not. */
void ibcc_dcqcn_mark(struct ibcc_engine *e, uint32_t port, uint32_t outq, struct pkt *k);
/* Whether an adapter answers a marked packet. If so, no other answer follows for a time. */
bool ibcc_dcqcn_answers(struct ibcc_engine *e, const struct hca *h, const struct pkt *k);
/* A CNP has reached its source. */
void ibcc_dcqcn_notified(struct ibcc_engine *e, uint32_t pkt);
/* A queue pair sends a packet now, and rests after it as its limiter demands. */
void ibcc_dcqcn_sent_by(struct ibcc_engine *e, uint32_t qp, unsigned int kind);
/* Whether queue pairs to one port share a limiter, whatever their SLs. */
static inline bool ibcc_dcqcn_shares(const struct ibcc_engine *e)
{
	return e->dcqcn && e->model.dcqcn.shaper_per_lid;
}

/* With shaper_per_lid, the queue pair on an SL that shares the limiter of one and rests with it, or
 * NONE. One of them is the queue pair itself.
 */
uint32_t ibcc_dcqcn_sharer(const struct ibcc_engine *e, uint32_t qp, unsigned int sl);
/* A group has a queue pair to this port, or is about to get it. Until when the pair rests, since it
 * shares a limiter with others; 0: with none, or none of them rests.
 */
uint64_t ibcc_dcqcn_rest_ps(const struct ibcc_engine *e, uint32_t group, uint32_t dst_port);
/* Adds what a port has counted. */
void ibcc_dcqcn_port_read(const struct ibcc_engine *e, uint32_t port, struct ibcc_engine_port *out);
/* The rate of a queue pair's limiter, at least 1; 0: it has none, or is not limited. */
uint32_t ibcc_dcqcn_limit_mbps(const struct ibcc_engine *e, uint32_t qp);

#endif
