/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Up/down routes: they go up, then down, and never up again (M. Schroeder et al., Autonet: a
 * high-speed, self-configuring local area network using point-to-point links, 1991; OpenSM's
 * updn, osm_ucast_updn.c).
 *
 * All switches have one order: by hops to the nearest root, and among equals by GUID, the smaller
 * one being higher. A hop to a higher switch goes up. A circle of outputs that wait for each
 * other needs a hop up after a hop down, which no route has.
 *
 * A forwarding table knows where a packet goes, not where it came from. So a switch that has a
 * route down takes the shortest one down, even if a route that first goes up is shorter: the
 * packet may have come down to this switch.
 */
#include <errno.h>
#include <stdlib.h>

#include <ibcc/device.h>

#include "route_tables.h"

/* OpenSM's thresholds of its rule for a root, in percent of the hosts. */
#define ROOT_MOST  90u
#define ROOT_OTHER 5u

/* How many hosts are at a switch. */
static uint32_t hosts_at(const struct ibcc_topo *t, uint32_t sw)
{
	const struct ibcc_topo_node *n = &t->node[sw];
	uint32_t hosts = 0;

	for (unsigned int num = 1; num <= n->n_ports; num++) {
		uint32_t peer = t->port[n->first_port + num].peer;

		hosts += peer != IBCC_NONE && ibcc_device_is_host(t, t->port[peer].node);
	}
	return hosts;
}

/* How the hosts lie around a switch. */
struct view {
	uint32_t sw;
	bool is_root;  /* by OpenSM's rule, and no host would be cut off by it */
	uint32_t far;  /* hops to the switch of the farthest host */
	uint64_t hops; /* to all hosts, summed up */
};

/* OpenSM's rule for a root: more than nine tenths of the hosts are at one distance, and at no other
 * distance are more than a twentieth. Hosts at one root have no route to those at another, so a
 * root that is found has none of its own. w->queue holds the island's n switches, the nearest
 * first.
 */
static struct view look(const struct route_work *w, const uint32_t *hosts, uint32_t n)
{
	struct view v = { .sw = w->queue[0] };
	uint64_t all = 0, here = 0;
	uint32_t most = 0, some = 0;

	for (uint32_t i = 0; i < n; i++)
		all += hosts[w->queue[i]];
	for (uint32_t i = 0; i < n; i++) {
		uint32_t sw = w->queue[i], hops = w->dist[sw];

		here += hosts[sw];
		v.hops += (uint64_t)hosts[sw] * hops;
		if (hosts[sw])
			v.far = hops;
		if (i + 1 < n && w->dist[w->queue[i + 1]] == hops)
			continue;
		most += here * 100 > all * ROOT_MOST;
		some += here * 100 > all * ROOT_OTHER;
		here = 0;
	}
	v.is_root = most == 1 && some == 1 && !hosts[v.sw];
	return v;
}

/* Whether a switch is nearer to all hosts than another one: by the farthest host, by the sum of
 * hops, by GUID.
 */
static bool is_nearer(const struct ibcc_topo *t, const struct view *a, const struct view *b)
{
	if (a->far != b->far)
		return a->far < b->far;
	if (a->hops != b->hops)
		return a->hops < b->hops;
	return t->node[a->sw].guid < t->node[b->sw].guid;
}

/* Reaches all switches from one; returns their number. */
static uint32_t reach(const struct ibcc_topo *t, struct route_work *w, uint32_t from)
{
	for (uint32_t i = 0; i < t->n_nodes; i++)
		w->dist[i] = IBCC_NONE;
	w->dist[from] = 0;
	w->queue[0] = from;
	return ibcc_route_spread(t, w->dist, w->queue, 1);
}

/* Gives the roots of an island rank 0. If none was given and OpenSM's rule finds none, as in a
 * torus, it is the switch that is nearest to all hosts.
 */
static void find_roots(const struct ibcc_topo *t, struct route_work *w, const uint32_t *hosts,
		       const uint32_t *island, uint32_t n)
{
	struct view best = { .sw = IBCC_NONE };
	bool found = false;

	for (uint32_t i = 0; i < n; i++)
		if (!w->rank[island[i]])
			return;
	for (uint32_t i = 0; i < n; i++) {
		struct view v;

		reach(t, w, island[i]);
		v = look(w, hosts, n);
		found |= v.is_root;
		if (v.is_root)
			w->rank[v.sw] = 0;
		if (best.sw == IBCC_NONE || is_nearer(t, &v, &best))
			best = v;
	}
	if (!found)
		w->rank[best.sw] = 0;
}

static int all_roots(const struct ibcc_topo *t, struct route_work *w)
{
	size_t size = t->n_nodes ? t->n_nodes : 1;
	uint32_t *hosts = calloc(size, sizeof(*hosts)), *island = calloc(size, sizeof(*island));
	bool *done = calloc(size, sizeof(*done));
	int rc = hosts && island && done ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < t->n_nodes && !rc; i++)
		if (ibcc_topo_is_switch(t, i))
			hosts[i] = hosts_at(t, i);
	for (uint32_t i = 0; i < t->n_nodes && !rc; i++) {
		uint32_t n;

		if (!ibcc_topo_is_switch(t, i) || done[i])
			continue;
		n = reach(t, w, i);
		for (uint32_t k = 0; k < n; k++) {
			island[k] = w->queue[k];
			done[island[k]] = true;
		}
		find_roots(t, w, hosts, island, n);
	}
	free(hosts);
	free(island);
	free(done);
	return rc;
}

bool ibcc_route_is_up(const struct ibcc_topo *t, const struct route_work *w, uint32_t from,
		      uint32_t to)
{
	if (w->rank[from] != w->rank[to])
		return w->rank[to] < w->rank[from];
	return t->node[to].guid < t->node[from].guid;
}

struct by_height {
	const struct ibcc_topo *t;
	const struct route_work *w;
};

static int highest_first(const void *a, const void *b, void *arg)
{
	const struct by_height *h = arg;

	return ibcc_route_is_up(h->t, h->w, *(const uint32_t *)a, *(const uint32_t *)b) ? 1 : -1;
}

int ibcc_route_rank(const struct ibcc_topo *t, const uint32_t *root, uint32_t n_roots,
		    struct route_work *w)
{
	struct by_height by = { t, w };
	uint32_t n = 0;
	int rc;

	for (uint32_t i = 0; i < t->n_nodes; i++)
		w->rank[i] = IBCC_NONE;
	for (uint32_t i = 0; i < n_roots; i++)
		w->rank[root[i]] = 0;
	rc = all_roots(t, w);
	if (rc)
		return rc;
	w->n_high = 0;
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		if (!ibcc_topo_is_switch(t, i))
			continue;
		w->high[w->n_high++] = i;
		if (!w->rank[i])
			w->queue[n++] = i;
	}
	ibcc_route_spread(t, w->rank, w->queue, n);
	qsort_r(w->high, w->n_high, sizeof(*w->high), highest_first, &by);
	return 0;
}

/* The switch at the other end of a port's link, or IBCC_NONE. */
static uint32_t next_switch(const struct ibcc_topo *t, uint32_t port)
{
	uint32_t peer = t->port[port].peer;

	return peer == IBCC_NONE || !ibcc_topo_is_switch(t, t->port[peer].node)
		       ? IBCC_NONE
		       : t->port[peer].node;
}

/* Goes from the target upwards: the switches that it reaches have routes that only go down. */
static void climb(const struct ibcc_topo *t, struct route_work *w, uint32_t target)
{
	uint32_t n = 1;

	w->dist[target] = 0;
	w->down[target] = true;
	w->queue[0] = target;
	for (uint32_t head = 0; head < n; head++) {
		uint32_t at = w->queue[head];

		for (unsigned int num = 1; num <= t->node[at].n_ports; num++) {
			uint32_t to = next_switch(t, t->node[at].first_port + num);

			if (to == IBCC_NONE || w->down[to] || !ibcc_route_is_up(t, w, at, to))
				continue;
			w->dist[to] = w->dist[at] + 1;
			w->down[to] = true;
			w->queue[n++] = to;
		}
	}
}

void ibcc_route_up_down(const struct ibcc_topo *t, struct route_work *w, uint32_t target)
{
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		w->dist[i] = IBCC_NONE;
		w->down[i] = false;
	}
	climb(t, w, target);
	/* The others go up first, to switches that stand before them in w->high. */
	for (uint32_t i = 0; i < w->n_high; i++) {
		uint32_t at = w->high[i];

		for (unsigned int num = 1; !w->down[at] && num <= t->node[at].n_ports; num++) {
			uint32_t to = next_switch(t, t->node[at].first_port + num);

			if (to != IBCC_NONE && ibcc_route_is_up(t, w, at, to) &&
			    w->dist[to] != IBCC_NONE && w->dist[to] + 1 < w->dist[at])
				w->dist[at] = w->dist[to] + 1;
		}
	}
}
