/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Working memory of the computation of forwarding tables; private to route.c, route_up_down.c,
 * route_grid.c and route_groups.c.
 */
#ifndef IBCC_TOPO_ROUTE_TABLES_H
#define IBCC_TOPO_ROUTE_TABLES_H

#include <ibcc/route.h>

/* Vectors by node index. */
struct route_work {
	uint32_t *dist;  /* switch hops of the route to the destination's switch */
	uint32_t *level; /* switch hops to the nearest channel adapter: 0 at the leaves */
	uint32_t *queue;
	/* For up/down routes only; with shortest paths these are NULL. */
	uint32_t *rank; /* switch hops to the nearest root */
	uint32_t *high; /* all switches, the highest first */
	uint32_t n_high;
	bool *down; /* the route from here to the destination's switch only goes down */
	const struct ibcc_route_grid *grid;     /* for dimension-order routes, else NULL */
	const struct ibcc_route_groups *groups; /* for minimal routes of a dragonfly, else NULL */
	uint8_t **lft;
	uint32_t lft_len;
};

/* Breadth first from the switches in queue[0..n), whose distances are set already. Returns how many
 * switches the queue then has.
 */
uint32_t ibcc_route_spread(const struct ibcc_topo *t, uint32_t *dist, uint32_t *queue, uint32_t n);

/* Ranks the switches below the roots that are given, or that are found. -ENOMEM. */
int ibcc_route_rank(const struct ibcc_topo *t, const uint32_t *root, uint32_t n_roots,
		    struct route_work *w);

/* Does a hop from one switch to another go up? */
bool ibcc_route_is_up(const struct ibcc_topo *t, const struct route_work *w, uint32_t from,
		      uint32_t to);

/* Sets dist and down of all switches for routes to a switch. IBCC_NONE where there is no route. */
void ibcc_route_up_down(const struct ibcc_topo *t, struct route_work *w, uint32_t target);

/* Is a hop towards a switch one in the first dimension in which there is a way to go? */
bool ibcc_route_in_order(const struct ibcc_route_grid *g, uint32_t from, uint32_t to,
			 uint32_t target);

/* Sets dist of all switches of a dragonfly for its minimal routes to a switch. */
void ibcc_route_by_groups(const struct ibcc_topo *t, struct route_work *w, uint32_t target);

/* Is a hop towards a switch within the group, or to the group of that switch? */
bool ibcc_route_in_groups(const struct ibcc_route_groups *g, uint32_t from, uint32_t to,
			  uint32_t target);

/* Sets the SL to VL tables of these routes. -ENOMEM. */
int ibcc_route_set_group_lanes(struct ibcc_topo *t, const struct ibcc_route_groups *g);

#endif
