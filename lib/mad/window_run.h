/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The requests of one run of a window, in the order in which they have their turn: by the index of
 * each, but for those whose node has its share of the window already. Private to window.c.
 */
#ifndef IBCC_MAD_WINDOW_RUN_H
#define IBCC_MAD_WINDOW_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ibcc/transport.h>

#define IBCC_RUN_LIDS 0xc000u /* unicast LIDs */

struct ibcc_run_node {
	uint16_t open;      /* begun and not finished */
	bool answered;      /* anything in this run */
	bool dead;          /* a request timed out in all its attempts, and nothing was answered */
	size_t first, last; /* requests that wait for their turn, as index + 1; 0: none */
	uint64_t next_ns;   /* nothing is sent before; stays from run to run */
};

/* What a run knows of a request beside its op. */
struct ibcc_run_progress {
	uint8_t attempts;
	bool late;       /* it holds no place of its node any more: see ibcc_run_is_late() */
	uint64_t due_ns; /* of the next attempt */
	size_t after;    /* the next that waits for the same node, as index + 1 */
};

/* Indices of requests, at most as many as the run has. */
struct ibcc_run_ring {
	size_t *i, head, len;
};

/* Its arrays are kept from one run to the next, so that passes over a fabric allocate nothing. */
struct ibcc_run {
	size_t cap; /* of progress, retry, ready */
	struct ibcc_mad_op *op;
	struct ibcc_transport_stats *stats;
	struct ibcc_run_progress *progress;
	size_t n, next, left;
	size_t *later, n_later;     /* a heap: the first is due first */
	struct ibcc_run_ring ready; /* whose node has room for them again */
	unsigned int node_window;
	struct ibcc_run_node *node;  /* IBCC_RUN_LIDS of them, not owned; NULL for none */
	struct ibcc_run_node direct; /* all directed routes */
};

/* Begins a run with an object that is zero or has run before, at most `node_window` at a time to
 * one node. -ENOMEM.
 */
int ibcc_run_begin(struct ibcc_run *r, struct ibcc_mad_op *op, size_t n,
		   struct ibcc_transport_stats *stats, struct ibcc_run_node *node,
		   unsigned int node_window);
void ibcc_run_fini(struct ibcc_run *r);

/* NULL for directed routes, where the LID tells nothing. */
static inline struct ibcc_run_node *ibcc_run_node_of(const struct ibcc_run *r, size_t i)
{
	return r->op[i].lid < IBCC_RUN_LIDS ? &r->node[r->op[i].lid] : NULL;
}

/* Puts a request aside until it is due; when the first of these is; takes the first. */
void ibcc_run_later(struct ibcc_run *r, size_t i, uint64_t due_ns);
static inline uint64_t ibcc_run_due_ns(const struct ibcc_run *r)
{
	return r->n_later ? r->progress[r->later[0]].due_ns : UINT64_MAX;
}
size_t ibcc_run_later_pop(struct ibcc_run *r);

/* The next request to begin with; false if there is none now. */
bool ibcc_run_next(struct ibcc_run *r, size_t *i);

/* What is counted of a request, in total and for its node. */
enum ibcc_run_event {
	IBCC_RUN_SENT,
	IBCC_RUN_RETRIED, /* was sent once more: a SENT beside it */
	IBCC_RUN_ANSWERED,
	IBCC_RUN_REFUSED, /* the answer has a status: an ANSWERED beside it */
	IBCC_RUN_TIMED_OUT,
};
void ibcc_run_count(struct ibcc_run *r, size_t i, enum ibcc_run_event e);

/* A request by a directed route has been on its way for so long that no switch is at work on it:
 * others may have their turn. Without that, a silent switch with its many links would take as many
 * timeouts one after the other.
 */
void ibcc_run_is_late(struct ibcc_run *r, size_t i);

/* A request that was begun has its end. */
void ibcc_run_finish(struct ibcc_run *r, size_t i, int err);

#endif
