/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Static routes: following forwarding tables, and computing them for generated fabrics. */
#ifndef IBCC_ROUTE_H
#define IBCC_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/topo.h>

#define IBCC_ROUTE_MAX_HOPS 64u

/* Output ports (fabric-wide indices) that a packet from a channel adapter's port to a LID leaves
 * by: the source's port first, then one of each switch.
 */
struct ibcc_route {
	unsigned int n;
	uint32_t out[IBCC_ROUTE_MAX_HOPS];
};

/* Follows the tables. Returns 0, -ENOENT (a switch has no entry for the LID), -ENOLINK (an output
 * port without link), -ELOOP (more than IBCC_ROUTE_MAX_HOPS), -EINVAL (src no channel adapter's
 * port or without LID, dlid no unicast LID). *r holds the hops so far in each case but -EINVAL.
 */
int ibcc_route_follow(const struct ibcc_topo *t, uint32_t src_port, uint16_t dlid,
		      struct ibcc_route *r);

/* True if a packet on the way leaves by out_port. */
static inline bool ibcc_route_leaves_by(const struct ibcc_route *r, uint32_t out_port)
{
	for (unsigned int i = 0; i < r->n; i++)
		if (r->out[i] == out_port)
			return true;
	return false;
}

/* Gives LIDs 1, 2, ... to all linked endports that have none, channel adapters first in order, and
 * fills the switches' tables with shortest paths. Among k equal paths a switch that is l switch
 * hops away from the nearest adapter takes number floor((LID - 1) / k^l) mod k: d-mod-k on trees. A
 * switch has no entry for what it cannot reach. -ENOMEM leaves the tables as they were.
 */
int ibcc_route_compute(struct ibcc_topo *t);

/* As ibcc_route_compute(), but no route goes up again once it went down, so that no outputs wait
 * for each other in a circle. The roots stand highest; they are given as node indices. An island
 * without any of them has those that OpenSM's updn finds: more than 90 % of the hosts are at one
 * distance, no other distance has more than 5 % of them, and here none may be at the root itself.
 * Where there is no such switch, the root is the one whose farthest host is nearest; then the one
 * with the fewest hops to all hosts; then the one with the smallest GUID. There may be no such
 * route, as from one of two roots to the other.
 */
int ibcc_route_compute_up_down(struct ibcc_topo *t, const uint32_t *root, uint32_t n_roots);

/* Switches in a regular grid, whose nodes follow each other with the first dimension running
 * fastest.
 */
#define IBCC_ROUTE_DIMS 6u
struct ibcc_route_grid {
	enum ibcc_grid_shape {
		IBCC_GRID_MESH,   /* a switch is linked to its neighbours in each dimension */
		IBCC_GRID_TORUS,  /* and the last one to the first, unless there are only two */
		IBCC_GRID_HYPERX, /* to all switches that differ in one dimension only */
	} shape;
	uint32_t first;      /* node index of the first switch */
	unsigned int n_dims; /* 0: the fabric is no grid */
	uint16_t size[IBCC_ROUTE_DIMS];
};

/* The place of a switch of the grid in a dimension, from 0 on. */
uint32_t ibcc_route_grid_at(const struct ibcc_route_grid *g, uint32_t node, unsigned int dim);

/* As ibcc_route_compute(), with the shortest paths that correct the first dimension first. All
 * switches are in the grid, and all links of the grid are there.
 */
int ibcc_route_compute_in_order(struct ibcc_topo *t, const struct ibcc_route_grid *g);

/* The SL of a dimension-order path in a torus of at most IBCC_ROUTE_DATELINES dimensions, from one
 * switch to another: bit d is set if the path uses, in dimension d, the link between the last
 * switch of a ring and the first one, the dateline. 0 in other grids. OpenSM's torus-2QoS has the
 * same bits.
 */
#define IBCC_ROUTE_DATELINES 4u
uint8_t ibcc_route_dateline_sl(const struct ibcc_route_grid *g, uint32_t from, uint32_t to);

/* Sets the SL to VL tables of a torus for these SLs: an output of dimension d is taken on VL 1 if
 * bit d of the SL is set, and on VL 0 if not. Then outputs of a ring do not wait for each other in
 * a circle. On VL 0 no packet passes the dateline. On VL 1 each packet passes it, so none goes on
 * through the switches at the other side of the ring. -ENOMEM.
 */
int ibcc_route_set_datelines(struct ibcc_topo *t, const struct ibcc_route_grid *g);

/* The SLs of paths from a channel adapter's port to another's, where each path has one. */
#define IBCC_ROUTE_NO_SL UINT8_MAX
struct ibcc_route_sls {
	/* A torus whose paths have SLs by ibcc_route_dateline_sl(). Without dimensions: by_ends. */
	struct ibcc_route_grid datelines;
	/* By the endports from and to, as ibcc_topo_port:endport has them; IBCC_ROUTE_NO_SL, or no
	 * row: not known. Owned. NULL: paths have no SLs.
	 */
	uint8_t **by_ends;
	uint32_t n_ends;
};
/* The most endports with such SLs: a byte for each pair, 256 MiB. */
#define IBCC_ROUTE_SLS_ENDS 16384u
void ibcc_route_sls_fini(struct ibcc_route_sls *p);

static inline bool ibcc_route_has_sls(const struct ibcc_route_sls *p)
{
	return p->datelines.n_dims || p->by_ends;
}

/* The SL of the path from one port (a fabric-wide index) to another, or IBCC_ROUTE_NO_SL. With
 * datelines 0 if a port is not linked to a switch.
 */
uint8_t ibcc_route_sl(const struct ibcc_topo *t, const struct ibcc_route_sls *p, uint32_t from,
		      uint32_t to);

/* Sets the SL (0 to 15) of the path from one endport to another in by_ends, which is made for this
 * topology if it is NULL. -EINVAL (a port is no endport), -E2BIG (the topology has more than
 * IBCC_ROUTE_SLS_ENDS), -ENOMEM.
 */
int ibcc_route_set_sl(const struct ibcc_topo *t, struct ibcc_route_sls *p, uint32_t from,
		      uint32_t to, uint8_t sl);

/* Groups of switches that follow each other; in a group all are linked to each other. */
struct ibcc_route_groups {
	uint32_t first; /* node index of the first switch */
	uint32_t size;  /* switches of a group; 0: the fabric is no dragonfly */
	uint32_t n;     /* groups */
};

/* As ibcc_route_compute(), with the shortest paths that use one link between groups at most, the
 * one from the source's group to the destination's (J. Kim and others: Technology-driven,
 * highly-scalable dragonfly topology, 2008). Sets the SL to VL tables, too: VL 1 within a group for
 * what came from another one, VL 0 for all else. So no outputs wait for each other in a circle.
 */
int ibcc_route_compute_minimal(struct ibcc_topo *t, const struct ibcc_route_groups *g);

/* Data that goes from a channel adapter's port to another one's, or to those of all hosts. */
struct ibcc_route_use {
	uint32_t from, to; /* port indices; to IBCC_NONE: all hosts */
	uint32_t but;      /* with all hosts: a node that is left out, or IBCC_NONE */
	uint8_t sl;        /* 0 to 15; not in use where paths have SLs */
};

/* An output port of a switch and one of its VLs. */
struct ibcc_route_lane {
	uint32_t port;
	uint8_t vl;
};

/* Finds output ports of switches, with VLs, that these routes make wait for each other in a circle:
 * full buffers along it would block it for ever. Switches without an SL to VL table have VL = SL
 * modulo the output's VLs. A packet that a table maps to a VL that the output lacks is dropped.
 * With `sls` (or NULL) paths have these SLs; one whose SL is not known is left out.
 * Writes the first max of them to out in the order of the circle, and its length to n, 0 if
 * there is none. Sorts `use`. -ENOMEM.
 */
int ibcc_route_find_cycle(const struct ibcc_topo *t, const struct ibcc_route_sls *sls,
			  struct ibcc_route_use *use, uint32_t n_uses, struct ibcc_route_lane *out,
			  uint32_t max, uint32_t *n);

#endif
