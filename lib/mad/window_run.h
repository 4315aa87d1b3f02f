/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The requests of one run of a window, in the order in which they are sent: by the index of each.
 * If a node has its share of the window already, its requests wait. Private to window.c.
 */
#ifndef IBCC_MAD_WINDOW_RUN_H
#define IBCC_MAD_WINDOW_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ibcc/transport.h>

#define IBCC_RUN_LIDS 0xc000u /* unicast LIDs */

struct ibcc_run_node {
	uint16_t open; /* requests that have begun and not finished */
	bool answered; /* the node has answered anything in this run */
	/* a request timed out in all its attempts, and the node answered nothing */
	bool dead;
	size_t first, last; /* requests that wait for their turn, as index + 1; 0: none */
	uint64_t next_ns;   /* the next request leaves no sooner; stays from run to run */
};

/* What a run knows of a request in addition to its op. */
struct ibcc_run_progress {
	uint8_t attempts;
	/* the request holds no place of its node any more: see ibcc_run_is_late() */
	bool late;
	uint64_t due_ns; /* when the next attempt is due */
	size_t after;    /* the next request that waits for the same node, as index + 1 */
};

/* Indices of requests, at most as many as the run has. */
struct ibcc_run_ring {
	size_t *i, head, len;
};

/* The arrays stay allocated from one run to the next, so that passes over a fabric allocate
 * nothing.
 */
struct ibcc_run {
	size_t cap; /* capacity of progress, retry and ready */
	struct ibcc_mad_op *op;
	struct ibcc_transport_stats *stats;
	struct ibcc_run_progress *progress;
	size_t n, next, left;
	size_t *later, n_later;     /* a heap: its first request is due first */
	struct ibcc_run_ring ready; /* requests whose node has room for them again */
	unsigned int node_window;
	struct ibcc_run_node *node;  /* IBCC_RUN_LIDS of them, not owned; NULL for none */
	struct ibcc_run_node direct; /* all directed routes */
};

/* Begins a run. The object is zero or has run before. At most `node_window` requests to one node
 * are in flight. -ENOMEM.
 */
int ibcc_run_begin(struct ibcc_run *r, struct ibcc_mad_op *op, size_t n,
		   struct ibcc_transport_stats *stats, struct ibcc_run_node *node,
		   unsigned int node_window);
void ibcc_run_fini(struct ibcc_run *r);

/* State of a request's node. NULL for directed routes, where the LID says nothing. */
static inline struct ibcc_run_node *ibcc_run_node_of(const struct ibcc_run *r, size_t i)
{
	return r->op[i].lid < IBCC_RUN_LIDS ? &r->node[r->op[i].lid] : NULL;
}

/* The first function puts a request aside until it is due. The second says when the first of these
 * is due, and the third takes that one.
 */
void ibcc_run_later(struct ibcc_run *r, size_t i, uint64_t due_ns);
static inline uint64_t ibcc_run_due_ns(const struct ibcc_run *r)
{
	return r->n_later ? r->progress[r->later[0]].due_ns : UINT64_MAX;
}
size_t ibcc_run_later_pop(struct ibcc_run *r);

/* The next request to begin with; false if there is none now. */
bool ibcc_run_next(struct ibcc_run *r, size_t *i);

/* Events of a request that are counted, in total and for its node. */
enum ibcc_run_event {
	IBCC_RUN_SENT,
	IBCC_RUN_RETRIED, /* the request was sent once more: counts beside a SENT */
	IBCC_RUN_ANSWERED,
	IBCC_RUN_REFUSED, /* the answer has a status: counts beside an ANSWERED */
	IBCC_RUN_TIMED_OUT,
};
void ibcc_run_count(struct ibcc_run *r, size_t i, enum ibcc_run_event e);

/* Call when a request by a directed route has been on its way for so long that no switch is working
 * on it: others may be sent. Without this, a silent switch with many links would take as many
 * timeouts, one after the other.
 */
void ibcc_run_is_late(struct ibcc_run *r, size_t i);

/* Ends a request that was begun. */
void ibcc_run_finish(struct ibcc_run *r, size_t i, int err);

#endif
