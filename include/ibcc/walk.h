/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Walking a fabric by directed routes: which Gets to send, what their answers mean for the
 * topology. Who walks carries the datagrams, in any order and as many at once as he likes.
 */
#ifndef IBCC_WALK_H
#define IBCC_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/topo.h>

struct ibcc_walk;
struct ibcc_walk_node;

struct ibcc_walk_options {
	/* Read SL to VL maps: one Get for each pair of ports that has VLs to choose from. */
	bool sl2vl;
	/* SMPs leave the node where the walk begins by all its ports, as at ibsim's, not only by
	 * that which we are at.
	 */
	bool leave_by_all;
};

/* A Get under way; private to the walk. */
struct ibcc_walk_get {
	struct ibcc_walk_node *node; /* asked, or where the way to the one asked begins */
	uint32_t attr_mod;
	uint16_t attr_id;
	uint8_t out_port; /* NodeInfo: of the node behind this port; 0: the first node of all */
};

/* NULL without memory. */
struct ibcc_walk *ibcc_walk_new(const struct ibcc_walk_options *o);
/* NULL is fine. */
void ibcc_walk_free(struct ibcc_walk *w);

/* The next Get, to the permissive LID: 1 and its datagram, or 0: none as long as those under way
 * have no answer, and when there are none the walk is over. -ENOMEM.
 */
int ibcc_walk_next(struct ibcc_walk *w, struct ibcc_walk_get *g, uint8_t *mad);

/* To be called once for each Get: with its answer, or NULL if it was refused or lost. -ENOMEM. */
int ibcc_walk_answer(struct ibcc_walk *w, const struct ibcc_walk_get *g, const uint8_t *mad);

/* What was found, nodes in ascending order of their GUIDs; a link needs both its ports up. *odd
 * (may be NULL) gets the number of answers that made no sense together. NULL without memory.
 */
struct ibcc_topo *ibcc_walk_topo(struct ibcc_walk *w, unsigned int *odd);

#endif
