/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Minimal routes of a dragonfly: within a group by the one link there, else to a switch of the
 * group that has a link to the destination's group, over that link, and on by the one link there
 * (J. Kim and others: Technology-driven, highly-scalable dragonfly topology, 2008).
 */
#include <string.h>

#include "route_tables.h"

static uint32_t group_of(const struct ibcc_route_groups *g, uint32_t node)
{
	return (node - g->first) / g->size;
}

bool ibcc_route_in_groups(const struct ibcc_route_groups *g, uint32_t from, uint32_t to,
			  uint32_t target)
{
	uint32_t group = group_of(g, to);

	return group == group_of(g, from) || group == group_of(g, target);
}

/* The switch behind a port, IBCC_NONE: there is none. */
static uint32_t switch_behind(const struct ibcc_topo *t, uint32_t port)
{
	uint32_t peer = t->port[port].peer;

	if (peer == IBCC_NONE || !ibcc_topo_is_switch(t, t->port[peer].node))
		return IBCC_NONE;
	return t->port[peer].node;
}

/* One hop more than from the nearest switch of a group that a switch is linked to, or IBCC_NONE. */
static uint32_t by_group(const struct ibcc_topo *t, const struct route_work *w, uint32_t node,
			 uint32_t group)
{
	const struct ibcc_topo_node *sw = &t->node[node];
	uint32_t best = IBCC_NONE;

	for (unsigned int num = 1; num <= sw->n_ports; num++) {
		uint32_t next = switch_behind(t, sw->first_port + num);

		if (next != IBCC_NONE && group_of(w->groups, next) == group &&
		    w->dist[next] != IBCC_NONE && (best == IBCC_NONE || w->dist[next] + 1 < best))
			best = w->dist[next] + 1;
	}
	return best;
}

void ibcc_route_by_groups(const struct ibcc_topo *t, struct route_work *w, uint32_t target)
{
	const struct ibcc_route_groups *g = w->groups;
	uint32_t home = group_of(g, target), i, at;

	for (i = 0; i < t->n_nodes; i++)
		w->dist[i] = IBCC_NONE;
	for (i = 0; i < g->size; i++)
		w->dist[g->first + home * g->size + i] = 1;
	w->dist[target] = 0;
	for (uint32_t group = 0; group < g->n; group++) {
		if (group == home)
			continue;
		/* First those that have a link to that group, then those that are linked to them. A
		 * switch that is one of the first is never nearer by another one.
		 */
		for (i = 0; i < g->size; i++) {
			at = g->first + group * g->size + i;
			w->dist[at] = by_group(t, w, at, home);
		}
		for (i = 0; i < g->size; i++) {
			at = g->first + group * g->size + i;
			w->queue[i] =
				w->dist[at] != IBCC_NONE ? w->dist[at] : by_group(t, w, at, group);
		}
		memcpy(&w->dist[g->first + group * g->size], w->queue, g->size * sizeof(*w->queue));
	}
}

int ibcc_route_set_group_lanes(struct ibcc_topo *t, const struct ibcc_route_groups *g)
{
	static const uint8_t lane[2][16] = { { 0 },
					     { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 } };
	int rc = 0;

	for (uint32_t i = g->first; i < g->first + g->n * g->size; i++) {
		const struct ibcc_topo_node *sw = &t->node[i];

		for (unsigned int in = 0; in <= sw->n_ports; in++) {
			uint32_t from = in ? switch_behind(t, sw->first_port + in) : IBCC_NONE;
			bool global = from != IBCC_NONE && group_of(g, from) != group_of(g, i);

			for (unsigned int out = 1; out <= sw->n_ports && !rc; out++) {
				uint32_t to = switch_behind(t, sw->first_port + out);
				bool local = to != IBCC_NONE && group_of(g, to) == group_of(g, i);

				rc = ibcc_topo_set_sl2vl(t, i, in, out, lane[global && local]);
			}
		}
	}
	return rc;
}
