/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Several paths: what an engine has in addition when its routing is not static (paths.c). */
#ifndef IBCC_ENGINE_PATHS_H
#define IBCC_ENGINE_PATHS_H

#include "internal.h"

/* Outputs of a switch on shortest ways to another one: `n` port numbers from `first` on. */
struct path_set {
	uint32_t first;
	uint32_t n;
};

struct path_order {
	uint32_t next;     /* number of the next packet sent */
	uint32_t expected; /* one more than the highest that came */
};

/* What a switch remembers of a queue pair's packets, or of some queue pairs' that share it. */
struct path_keep {
	uint64_t last_ps;  /* when it last chose or kept the output */
	uint32_t set, out; /* the output was chosen of this set; 0: none was */
	uint32_t left;     /* packets of the burst that are still to take this output */
	uint32_t turn;     /* position in the set, for routing in turn */
};

struct fab_paths {
	uint32_t n_leaves;
	uint32_t
		*leaf_of; /* by LID: number of the switch it is at among those with HCAs, or NONE */
	uint32_t *leaf_sw;    /* by leaf: switch */
	struct path_set *set; /* [switch * n_leaves + leaf] */
	uint8_t *port;
	uint32_t n_ports, cap_ports;
	uint64_t rng;
	struct path_keep *keep;   /* PATH_KEEPS by switch; NULL: each packet is free */
	struct path_order *order; /* by queue pair */
	uint32_t *number;         /* by packet: its place in its queue pair's order */
	uint32_t n_order, cap_order, cap_number;
};

#define PATH_KEEPS 256u /* a power of two */

int ibcc_paths_build(struct ibcc_engine *e);
void ibcc_paths_free(struct ibcc_engine *e);
/* LIDs have changed: finds again which switch each leads to. */
void ibcc_paths_map(struct ibcc_engine *e);
/* The output for a packet at a switch, where the forwarding table says `out` (or NONE). */
uint32_t ibcc_paths_pick(struct ibcc_engine *e, uint32_t sw, const struct pkt *k, uint32_t out);
/* A source sends a packet, which gets its number; it is delivered, which may count it as reordered.
 */
void ibcc_paths_sent(struct ibcc_engine *e, uint32_t qp, uint32_t pkt);
void ibcc_paths_received(struct ibcc_engine *e, uint32_t pkt);

#endif
