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
