/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Static routes: following the forwarding tables of a topology, and computing tables for
 * generated fabrics (shortest paths, up/down: route_up_down.c, by dimensions: route_grid.c, by
 * groups: route_groups.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "route_tables.h"

int ibcc_route_follow(const struct ibcc_topo *t, uint32_t src_port, uint16_t dlid,
		      struct ibcc_route *r)
{
	uint32_t dest = ibcc_topo_port_of_lid(t, dlid);
	uint32_t out = src_port;

	if (src_port >= t->n_ports || t->port[src_port].endport == IBCC_NONE ||
	    ibcc_topo_is_switch(t, t->port[src_port].node) || !t->port[src_port].lid || !dlid ||
	    dlid > IBCC_LID_MAX)
		return -EINVAL;
	r->n = 0;
	if (dest == src_port)
		return 0;
	for (;;) {
		uint32_t in = t->port[out].peer;
		const struct ibcc_topo_node *sw;
		uint8_t num;

		if (in == IBCC_NONE)
			return -ENOLINK;
		if (r->n == IBCC_ROUTE_MAX_HOPS)
			return -ELOOP;
		r->out[r->n++] = out;
		if (in == dest)
			return 0;
		sw = &t->node[t->port[in].node];
		if (sw->type != IBCC_NODE_SWITCH)
			/* the packet arrived at a node that is not its destination */
			return -ENOENT;
		if (dest == sw->first_port)
			return 0;
		num = dlid < sw->lft_len ? sw->lft[dlid] : IBCC_LFT_NONE;
		if (num == IBCC_LFT_NONE || num == 0)
			return -ENOENT;
		if (num > sw->n_ports)
			return -ENOLINK;
		out = sw->first_port + num;
	}
}

/* Assigns LIDs 1, 2, ... to endports without one, skipping those in use. Channel adapter ports
 * without a link get none, as they cannot be reached.
 */
static int assign_lids(struct ibcc_topo *t, bool switches, uint32_t *next)
{
	for (uint32_t i = 0; i < t->n_endports; i++) {
		uint32_t port = t->endport[i];
		bool sw = ibcc_topo_is_switch(t, t->port[port].node);

		if (sw != switches || t->port[port].lid || (!sw && t->port[port].peer == IBCC_NONE))
			continue;
		while (*next <= IBCC_LID_MAX && t->lid_port[*next] != IBCC_NONE)
			++*next;
		if (*next > IBCC_LID_MAX)
			return -ENOMEM;
		ibcc_topo_set_lid(t, port, (uint16_t)*next, 0);
	}
	return 0;
}

uint32_t ibcc_route_spread(const struct ibcc_topo *t, uint32_t *dist, uint32_t *queue, uint32_t n)
{
	for (uint32_t head = 0; head < n; head++) {
		const struct ibcc_topo_node *sw = &t->node[queue[head]];

		for (unsigned int num = 1; num <= sw->n_ports; num++) {
			uint32_t peer = t->port[sw->first_port + num].peer;
			uint32_t next;

			if (peer == IBCC_NONE)
				continue;
			next = t->port[peer].node;
			if (!ibcc_topo_is_switch(t, next) || dist[next] != IBCC_NONE)
				continue;
			dist[next] = dist[queue[head]] + 1;
			queue[n++] = next;
		}
	}
	return n;
}

/* The level of each switch: hops to the nearest channel adapter. */
static void find_levels(const struct ibcc_topo *t, struct route_work *w)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n_nodes; i++) {
		const struct ibcc_topo_node *sw = &t->node[i];

		w->level[i] = IBCC_NONE;
		for (unsigned int num = 1;
		     ibcc_topo_is_switch(t, i) && w->level[i] == IBCC_NONE && num <= sw->n_ports;
		     num++) {
			uint32_t peer = t->port[sw->first_port + num].peer;

			if (peer == IBCC_NONE || ibcc_topo_is_switch(t, t->port[peer].node))
				continue;
			w->level[i] = 0;
			w->queue[n++] = i;
		}
	}
	ibcc_route_spread(t, w->level, w->queue, n);
}

/* The d-mod-k rule: a switch of level l spreads destinations d over its k ways up by the digit
 * floor(d / k^l) mod k, so that each root serves its own set of destinations.
 */
static unsigned int choose(uint32_t d, unsigned int k, uint32_t level)
{
	if (level == IBCC_NONE)
		level = 0;
	for (; level && d && k > 1; level--)
		d /= k;
	return d % k;
}

/* Whether a hop from a switch to its neighbour is a part of a route to the destination's switch. */
static bool leads_on(const struct ibcc_topo *t, const struct route_work *w, uint32_t from,
		     uint32_t to, uint32_t target)
{
	if (w->dist[to] == IBCC_NONE || w->dist[to] + 1 != w->dist[from])
		return false;
	if (w->grid)
		return ibcc_route_in_order(w->grid, from, to, target);
	if (w->groups)
		return ibcc_route_in_groups(w->groups, from, to, target);
	if (!w->rank)
		return true;
	return w->down[from] ? w->down[to] && !ibcc_route_is_up(t, w, from, to)
			     : ibcc_route_is_up(t, w, from, to);
}

/* Sets the entries of switch `node` for the LIDs of switch `target` and of the adapters at it. */
static void route_switch(const struct ibcc_topo *t, struct route_work *w, uint32_t node,
			 uint32_t target, const uint16_t *lid, uint32_t n_lids)
{
	const struct ibcc_topo_node *sw = &t->node[node];
	uint8_t way[256];
	unsigned int k = 0;

	for (unsigned int num = 1; node != target && num <= sw->n_ports; num++) {
		uint32_t peer = t->port[sw->first_port + num].peer;
		uint32_t next = peer == IBCC_NONE ? IBCC_NONE : t->port[peer].node;

		if (next != IBCC_NONE && ibcc_topo_is_switch(t, next) &&
		    leads_on(t, w, node, next, target))
			way[k++] = (uint8_t)num;
	}
	for (uint32_t i = 0; i < n_lids; i++) {
		uint32_t dest = ibcc_topo_port_of_lid(t, lid[i]);

		if (node != target)
			w->lft[node][lid[i]] = way[choose(lid[i] - 1u, k, w->level[node])];
		else if (dest == sw->first_port)
			w->lft[node][lid[i]] = 0;
		else
			w->lft[node][lid[i]] = t->port[t->port[dest].peer].num;
	}
}

/* The LIDs of a switch itself and of the adapters at it. */
static uint32_t lids_at(const struct ibcc_topo *t, uint32_t sw, uint16_t *lid)
{
	uint32_t n = 0;

	for (uint32_t l = 1; l <= IBCC_LID_MAX; l++) {
		uint32_t port = t->lid_port[l];
		uint32_t peer;

		if (port == IBCC_NONE)
			continue;
		peer = t->port[port].peer;
		if (t->port[port].node == sw || (peer != IBCC_NONE && t->port[peer].node == sw))
			lid[n++] = (uint16_t)l;
	}
	return n;
}

/* The distances of all switches to one of them. */
static void find_distances(const struct ibcc_topo *t, struct route_work *w, uint32_t target)
{
	if (w->rank) {
		ibcc_route_up_down(t, w, target);
		return;
	}
	if (w->groups) {
		ibcc_route_by_groups(t, w, target);
		return;
	}
	for (uint32_t i = 0; i < t->n_nodes; i++)
		w->dist[i] = IBCC_NONE;
	w->dist[target] = 0;
	w->queue[0] = target;
	ibcc_route_spread(t, w->dist, w->queue, 1);
}

static void fill_tables(const struct ibcc_topo *t, struct route_work *w, uint16_t *lid)
{
	for (uint32_t target = 0; target < t->n_nodes; target++) {
		uint32_t n_lids;

		if (!ibcc_topo_is_switch(t, target))
			continue;
		find_distances(t, w, target);
		n_lids = lids_at(t, target, lid);
		for (uint32_t i = 0; n_lids && i < t->n_nodes; i++)
			if (ibcc_topo_is_switch(t, i) && w->dist[i] != IBCC_NONE)
				route_switch(t, w, i, target, lid, n_lids);
	}
}

static int alloc_tables(const struct ibcc_topo *t, struct route_work *w)
{
	uint32_t top = 0;

	for (uint32_t l = 1; l <= IBCC_LID_MAX; l++)
		if (t->lid_port[l] != IBCC_NONE)
			top = l;
	w->lft_len = top + 1;
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		if (!ibcc_topo_is_switch(t, i))
			continue;
		w->lft[i] = malloc(w->lft_len);
		if (!w->lft[i])
			return -ENOMEM;
		memset(w->lft[i], IBCC_LFT_NONE, w->lft_len);
	}
	return 0;
}

static int alloc_work(const struct ibcc_topo *t, struct route_work *w, bool up_down)
{
	size_t n = t->n_nodes ? t->n_nodes : 1;

	w->dist = calloc(n, sizeof(*w->dist));
	w->level = calloc(n, sizeof(*w->level));
	w->queue = calloc(n, sizeof(*w->queue));
	w->lft = calloc(n, sizeof(*w->lft));
	if (!w->dist || !w->level || !w->queue || !w->lft)
		return -ENOMEM;
	if (!up_down)
		return 0;
	w->rank = calloc(n, sizeof(*w->rank));
	w->high = calloc(n, sizeof(*w->high));
	w->down = calloc(n, sizeof(*w->down));
	return w->rank && w->high && w->down ? 0 : -ENOMEM;
}

static void free_work(const struct ibcc_topo *t, struct route_work *w)
{
	for (uint32_t i = 0; w->lft && i < t->n_nodes; i++)
		free(w->lft[i]);
	free(w->lft);
	free(w->dist);
	free(w->level);
	free(w->queue);
	free(w->rank);
	free(w->high);
	free(w->down);
}

static int compute(struct ibcc_topo *t, bool up_down, const uint32_t *root, uint32_t n_roots,
		   const struct ibcc_route_grid *grid, const struct ibcc_route_groups *groups)
{
	struct route_work w = { .grid = grid, .groups = groups };
	uint16_t *lid = calloc(IBCC_LID_MAX + 1, sizeof(*lid));
	uint32_t next = 1;
	int ret = lid ? alloc_work(t, &w, up_down) : -ENOMEM;

	if (!ret)
		ret = assign_lids(t, false, &next);
	if (!ret)
		ret = assign_lids(t, true, &next);
	if (!ret)
		ret = alloc_tables(t, &w);
	if (!ret && up_down)
		ret = ibcc_route_rank(t, root, n_roots, &w);
	if (ret)
		goto out;
	find_levels(t, &w);
	fill_tables(t, &w, lid);
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		if (!w.lft[i])
			continue;
		free(t->node[i].lft);
		t->node[i].lft = w.lft[i];
		t->node[i].lft_len = w.lft_len;
		w.lft[i] = NULL;
	}
out:
	free_work(t, &w);
	free(lid);
	return ret;
}

int ibcc_route_compute(struct ibcc_topo *t)
{
	return compute(t, false, NULL, 0, NULL, NULL);
}

int ibcc_route_compute_up_down(struct ibcc_topo *t, const uint32_t *root, uint32_t n_roots)
{
	return compute(t, true, root, n_roots, NULL, NULL);
}

int ibcc_route_compute_in_order(struct ibcc_topo *t, const struct ibcc_route_grid *g)
{
	return compute(t, false, NULL, 0, g, NULL);
}

int ibcc_route_compute_minimal(struct ibcc_topo *t, const struct ibcc_route_groups *g)
{
	int rc = compute(t, false, NULL, 0, NULL, g);

	return rc ? rc : ibcc_route_set_group_lanes(t, g);
}
