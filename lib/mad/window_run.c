/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The requests of one run of a window, and which is sent next (window_run.h). */
#include "lib/mad/window_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mad/window.h"

static int reserve(struct ibcc_run *r, size_t n)
{
	if (n <= r->cap)
		return 0;
	ibcc_run_fini(r);
	r->progress = calloc(n, sizeof(*r->progress));
	r->later = calloc(n, sizeof(*r->later));
	r->ready.i = calloc(n, sizeof(*r->ready.i));
	if (!r->progress || !r->later || !r->ready.i) {
		ibcc_run_fini(r);
		return -ENOMEM;
	}
	r->cap = n;
	return 0;
}

int ibcc_run_begin(struct ibcc_run *r, struct ibcc_mad_op *op, size_t n,
		   struct ibcc_transport_stats *stats, struct ibcc_run_node *node,
		   unsigned int node_window)
{
	if (reserve(r, n))
		return -ENOMEM;
	r->op = op;
	r->n = r->left = n;
	r->next = 0;
	r->stats = stats;
	r->node = node;
	r->node_window = node_window;
	r->n_later = r->ready.head = r->ready.len = 0;
	r->direct = (struct ibcc_run_node){ 0 };
	memset(r->progress, 0, n * sizeof(*r->progress));
	for (size_t i = 0; i < n; i++) {
		struct ibcc_run_node *d = ibcc_run_node_of(r, i);

		if (d)
			*d = (struct ibcc_run_node){ .next_ns = d->next_ns };
	}
	return 0;
}

void ibcc_run_fini(struct ibcc_run *r)
{
	free(r->progress);
	free(r->later);
	free(r->ready.i);
	*r = (struct ibcc_run){ 0 };
}

static void ring_push(const struct ibcc_run *r, struct ibcc_run_ring *g, size_t i)
{
	g->i[(g->head + g->len++) % r->n] = i;
}

static size_t ring_pop(const struct ibcc_run *r, struct ibcc_run_ring *g)
{
	size_t i = g->i[g->head];

	g->head = (g->head + 1) % r->n;
	g->len--;
	return i;
}

/* Takes a place at a request's node, or else a place in the node's queue. */
static bool node_enter(struct ibcc_run *r, size_t i)
{
	struct ibcc_run_node *d = ibcc_run_node_of(r, i);
	unsigned int most = d ? r->node_window : IBCC_WINDOW_DIRECT_MAX;

	d = d ? d : &r->direct;
	if (d->open < most) {
		d->open++;
		return true;
	}
	if (d->last)
		r->progress[d->last - 1].after = i + 1;
	else
		d->first = i + 1;
	d->last = i + 1;
	return false;
}

/* Ends a request's place at its node, which the next request in the node's queue takes. */
static void node_leave(struct ibcc_run *r, size_t i)
{
	struct ibcc_run_node *d = ibcc_run_node_of(r, i);
	size_t next;

	d = d ? d : &r->direct;
	next = d->first;
	if (!next) {
		d->open--;
		return;
	}
	d->first = r->progress[next - 1].after;
	if (!d->first)
		d->last = 0;
	ring_push(r, &r->ready, next - 1);
}

/* Requests that are due at the same time keep the order in which they were asked for. */
static bool is_before(const struct ibcc_run *r, size_t a, size_t b)
{
	uint64_t x = r->progress[a].due_ns, y = r->progress[b].due_ns;

	return x < y || (x == y && a < b);
}

void ibcc_run_later(struct ibcc_run *r, size_t i, uint64_t due_ns)
{
	size_t at = r->n_later++;

	r->progress[i].due_ns = due_ns;
	for (; at && is_before(r, i, r->later[(at - 1) / 2]); at = (at - 1) / 2)
		r->later[at] = r->later[(at - 1) / 2];
	r->later[at] = i;
}

size_t ibcc_run_later_pop(struct ibcc_run *r)
{
	size_t first = r->later[0], last = r->later[--r->n_later], at = 0, child;

	while ((child = 2 * at + 1) < r->n_later) {
		if (child + 1 < r->n_later && is_before(r, r->later[child + 1], r->later[child]))
			child++;
		if (!is_before(r, r->later[child], last))
			break;
		r->later[at] = r->later[child];
		at = child;
	}
	r->later[at] = last;
	return first;
}

bool ibcc_run_next(struct ibcc_run *r, size_t *i)
{
	while (r->next < r->n) {
		if (r->ready.len)
			break;
		*i = r->next++;
		if (node_enter(r, *i))
			return true;
	}
	if (!r->ready.len)
		return false;
	*i = ring_pop(r, &r->ready);
	return true;
}

void ibcc_run_count(struct ibcc_run *r, size_t i, enum ibcc_run_event e)
{
	struct ibcc_node_stats none = { 0 }, *n = &none;

	if (r->stats->node && r->op[i].lid < IBCC_RUN_LIDS)
		n = &r->stats->node[r->op[i].lid];
	switch (e) {
	case IBCC_RUN_SENT:
		r->stats->smps += ibcc_mad_is_smp(r->op[i].mad);
		r->stats->sent++;
		n->sent++;
		break;
	case IBCC_RUN_RETRIED:
		r->stats->retried++;
		n->retried++;
		break;
	case IBCC_RUN_ANSWERED:
		r->stats->answered++;
		n->answered++;
		break;
	case IBCC_RUN_REFUSED:
		r->stats->refused++;
		n->refused++;
		break;
	case IBCC_RUN_TIMED_OUT:
		r->stats->timed_out++;
		n->timed_out++;
		break;
	}
}

void ibcc_run_finish(struct ibcc_run *r, size_t i, int err)
{
	r->op[i].err = err;
	r->left--;
	if (!r->progress[i].late)
		node_leave(r, i);
}

void ibcc_run_is_late(struct ibcc_run *r, size_t i)
{
	if (ibcc_run_node_of(r, i) || r->progress[i].late)
		return;
	r->progress[i].late = true;
	node_leave(r, i);
}
