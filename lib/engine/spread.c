/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Several paths on average: where a pair's packets go if each switch spreads them over all
 * shortest ways. Shares are passed on switch by switch, in the order of falling distance to the
 * destination's switch. Distances to a switch are computed when first asked for. They count all
 * links, whether up or down, because packets do not take a longer way around a link that is down.
 */
#include "spread.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

struct ibcc_spread {
	const struct ibcc_topo *t;
	uint32_t **hops; /* by switch: hops from each node to it, IBCC_NONE: there is no way */
	double *share;   /* by node: share of the pair's packets; 0 between two calls */
	uint32_t *queue; /* nodes to visit */
};

struct ibcc_spread *ibcc_spread_new(const struct ibcc_topo *t)
{
	struct ibcc_spread *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	x->t = t;
	x->hops = calloc(t->n_nodes + 1u, sizeof(*x->hops));
	x->share = calloc(t->n_nodes + 1u, sizeof(*x->share));
	x->queue = calloc(t->n_nodes + 1u, sizeof(*x->queue));
	if (x->hops && x->share && x->queue)
		return x;
	ibcc_spread_free(x);
	return NULL;
}

void ibcc_spread_free(struct ibcc_spread *x)
{
	if (!x)
		return;
	for (uint32_t i = 0; x->hops && i < x->t->n_nodes; i++)
		free(x->hops[i]);
	free(x->hops);
	free(x->share);
	free(x->queue);
	free(x);
}

/* The switch at the other end of a port, or IBCC_NONE. */
static uint32_t peer_switch(const struct ibcc_topo *t, uint32_t port)
{
	uint32_t peer = t->port[port].peer;

	return peer != IBCC_NONE && ibcc_topo_is_switch(t, t->port[peer].node) ? t->port[peer].node
									       : IBCC_NONE;
}

/* Hops from each switch to one of them, computed once; NULL: out of memory. */
static const uint32_t *hops_to(struct ibcc_spread *x, uint32_t sw)
{
	uint32_t *hops = x->hops[sw], at = 0, n = 0;

	if (hops)
		return hops;
	hops = x->hops[sw] = malloc(x->t->n_nodes * sizeof(*hops));
	if (!hops)
		return NULL;
	for (uint32_t i = 0; i < x->t->n_nodes; i++)
		hops[i] = IBCC_NONE;
	hops[sw] = 0;
	x->queue[n++] = sw;
	while (at < n) {
		const struct ibcc_topo_node *from = &x->t->node[x->queue[at]];

		for (unsigned int p = 1; p <= from->n_ports; p++) {
			uint32_t to = peer_switch(x->t, from->first_port + p);

			if (to == IBCC_NONE || hops[to] != IBCC_NONE)
				continue;
			hops[to] = hops[x->queue[at]] + 1;
			x->queue[n++] = to;
		}
		at++;
	}
	return hops;
}

struct walk {
	struct ibcc_spread *x;
	const uint32_t *hops;
	const double *capacity;
	uint32_t n_queue;
	int (*use)(void *arg, uint32_t port, double share);
	void *arg;
};

/* Whether a port leads one hop nearer to the destination, and, if asked, has capacity. */
static bool leads_on(const struct walk *w, uint32_t node, uint32_t port, bool only_up)
{
	uint32_t to = peer_switch(w->x->t, port);

	return to != IBCC_NONE && w->hops[to] + 1 == w->hops[node] &&
	       (!only_up || w->capacity[port] > 0);
}

/* Divides a switch's share evenly among the outputs that lead nearer. */
static int pass_on(struct walk *w, uint32_t node)
{
	const struct ibcc_topo_node *sw = &w->x->t->node[node];
	unsigned int up = 0, all = 0;
	double share;
	int rc = 0;

	for (unsigned int p = 1; p <= sw->n_ports; p++) {
		up += leads_on(w, node, sw->first_port + p, true);
		all += leads_on(w, node, sw->first_port + p, false);
	}
	share = w->x->share[node] / (up ? up : all);
	for (unsigned int p = 1; p <= sw->n_ports && !rc; p++) {
		uint32_t port = sw->first_port + p, to;

		if (!leads_on(w, node, port, up))
			continue;
		to = peer_switch(w->x->t, port);
		if (w->x->share[to] <= 0)
			w->x->queue[w->n_queue++] = to;
		w->x->share[to] += share;
		rc = w->use(w->arg, port, share);
	}
	return rc;
}

int ibcc_spread_pair(struct ibcc_spread *x, uint32_t src, uint32_t dst, const double *capacity,
		     int (*use)(void *arg, uint32_t port, double share), void *arg)
{
	struct walk w = { .x = x, .capacity = capacity, .use = use, .arg = arg };
	uint32_t from = peer_switch(x->t, src), to = peer_switch(x->t, dst);
	int rc = use(arg, src, 1);

	if (rc || x->t->port[src].peer == dst)
		return rc;
	if (from == IBCC_NONE || to == IBCC_NONE)
		return -EINVAL;
	w.hops = hops_to(x, to);
	if (!w.hops)
		return -ENOMEM;
	if (w.hops[from] == IBCC_NONE)
		return -EINVAL;
	x->queue[w.n_queue++] = from;
	x->share[from] = 1;
	for (uint32_t at = 0; at < w.n_queue && !rc; at++)
		if (x->queue[at] != to)
			rc = pass_on(&w, x->queue[at]);
	for (uint32_t at = 0; at < w.n_queue; at++)
		x->share[x->queue[at]] = 0;
	return rc ? rc : use(arg, x->t->port[dst].peer, 1);
}
