/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The heap of entries that a channel adapter may send on an SL. Entry 0 is a sentinel, so that
 * pushing needs no test for the top. Equal keys are served by their ids.
 */
#ifndef IBCC_ENGINE_READY_H
#define IBCC_ENGINE_READY_H

#include "internal.h"

static inline bool ready_before(const struct ready *a, const struct ready *b)
{
	return a->key != b->key ? a->key < b->key : a->id < b->id;
}

static inline void ready_push(struct group *g, struct ready v)
{
	uint32_t i = ++g->n_ready;

	while (ready_before(&v, &g->ready[i / 2])) {
		g->ready[i] = g->ready[i / 2];
		i /= 2;
	}
	g->ready[i] = v;
}

/* Puts another entry in the place of the first. */
static inline void ready_replace(struct group *g, struct ready v)
{
	uint32_t i = 1, child;

	while ((child = 2 * i) <= g->n_ready) {
		if (child < g->n_ready && ready_before(&g->ready[child + 1], &g->ready[child]))
			child++;
		if (!ready_before(&g->ready[child], &v))
			break;
		g->ready[i] = g->ready[child];
		i = child;
	}
	g->ready[i] = v;
}

static inline void ready_pop(struct group *g)
{
	ready_replace(g, g->ready[g->n_ready--]);
}

#endif
