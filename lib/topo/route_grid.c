/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Dimension-order routes: a packet first goes along the first dimension in which its switch and its
 * destination's differ, then along the next one (W. Dally, C. Seitz: Deadlock-free message routing
 * in multiprocessor interconnection networks, 1987). The outputs of one dimension then never wait
 * for those of an earlier one. So meshes and HyperX fabrics have no circle of outputs that wait for
 * each other, and a torus has one at most within a ring.
 */
#include "route_tables.h"

uint32_t ibcc_route_grid_at(const struct ibcc_route_grid *g, uint32_t node, unsigned int dim)
{
	uint32_t i = node - g->first;

	for (unsigned int d = 0; d < dim; d++)
		i /= g->size[d];
	return i % g->size[dim];
}

/* The destination at the other side of a ring of even size is as near in both directions. Half of
 * the switches are reached upwards and half downwards. So no ring of four switches has a circle:
 * routes of two hops upwards only start at every second switch.
 */
static bool is_right_side(uint32_t from, uint32_t to, uint32_t target, uint32_t size)
{
	bool up = (from + 1) % size == to;

	return size == 2 || (target + size - from) % size * 2 != size || up == !(target % 2);
}

/* Does the path along a ring use the link between its last switch and its first? */
static bool passes_dateline(uint32_t from, uint32_t end, uint32_t size)
{
	uint32_t up = (end + size - from) % size;

	if (size == 2 || from == end)
		return false;
	return up * 2 < size || (up * 2 == size && !(end % 2)) ? end < from : end > from;
}

uint8_t ibcc_route_dateline_sl(const struct ibcc_route_grid *g, uint32_t from, uint32_t to)
{
	unsigned int sl = 0;

	for (unsigned int d = 0; d < g->n_dims && g->shape == IBCC_GRID_TORUS; d++)
		if (passes_dateline(ibcc_route_grid_at(g, from, d), ibcc_route_grid_at(g, to, d),
				    g->size[d]))
			sl |= 1u << d;
	return (uint8_t)sl;
}

/* The dimension along which an output leads, or n_dims: it leads to no other switch. */
static unsigned int dimension(const struct ibcc_topo *t, const struct ibcc_route_grid *g,
			      uint32_t port)
{
	uint32_t peer = t->port[port].peer, node = t->port[port].node, next;
	unsigned int d = 0;

	if (peer == IBCC_NONE || !ibcc_topo_is_switch(t, t->port[peer].node))
		return g->n_dims;
	next = t->port[peer].node;
	while (d < g->n_dims && ibcc_route_grid_at(g, node, d) == ibcc_route_grid_at(g, next, d))
		d++;
	return d;
}

int ibcc_route_set_datelines(struct ibcc_topo *t, const struct ibcc_route_grid *g)
{
	int rc = 0;

	for (uint32_t i = 0; i < t->n_nodes; i++) {
		const struct ibcc_topo_node *sw = &t->node[i];

		for (unsigned int out = 1; ibcc_topo_is_switch(t, i) && out <= sw->n_ports; out++) {
			unsigned int d = dimension(t, g, sw->first_port + out);
			uint8_t vl[16];

			for (unsigned int sl = 0; sl < 16; sl++)
				vl[sl] = d < g->n_dims && sl >> d & 1;
			for (unsigned int in = 0; in <= sw->n_ports && !rc; in++)
				rc = ibcc_topo_set_sl2vl(t, i, in, out, vl);
		}
	}
	return rc;
}

bool ibcc_route_in_order(const struct ibcc_route_grid *g, uint32_t from, uint32_t to,
			 uint32_t target)
{
	for (unsigned int d = 0; d < g->n_dims; d++) {
		uint32_t a = ibcc_route_grid_at(g, from, d), b = ibcc_route_grid_at(g, to, d);
		uint32_t end = ibcc_route_grid_at(g, target, d);

		if (a == end)
			continue;
		return a != b &&
		       (g->shape != IBCC_GRID_TORUS || is_right_side(a, b, end, g->size[d]));
	}
	return false;
}
