/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What lies upstream of a switch port by routes and links. Internal to the estimator. */
#ifndef IBCC_PICTURE_TREE_H
#define IBCC_PICTURE_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/picture.h>

#include "picture.h"

/* What the walk says about a channel adapter's port. */
enum tree_flag {
	TREE_REACHES = 1 << 0, /* routes from it to a destination behind the root pass the root */
	TREE_BLOCKED = 1 << 1, /* all switch ports on such a route wait */
	TREE_SHARED = 1 << 2,  /* ... and there is one: its packets queue with those of others */
	TREE_COUNTED = 1 << 3, /* a port (of a switch, too) that waits */
};

struct tree {
	uint8_t *flag;   /* by port index */
	uint32_t *stack; /* by node index: switches still to be visited */
	uint8_t *path;   /* by node index: TREE_BLOCKED and TREE_SHARED of the way from there */
	uint32_t *seen;  /* by node index: number of the walk that visited it last */
	uint32_t walk;
	uint16_t feed_wait;        /* highest wait of the ports that feed the root's switch */
	uint32_t n_read, n_usable; /* ports met, and those with usable counters */
	uint32_t n_waiting;        /* of those, each counted once */
};

int ibcc_tree_init(struct tree *tr, const struct ibcc_topo *t);
void ibcc_tree_fini(struct tree *tr);

/* Walks upstream from a switch's output port along the forwarding tables of all destinations
 * behind it, and leaves flags, feed_wait and the counts in *tr.
 */
void ibcc_tree_walk(struct tree *tr, const struct ibcc_estimator_params *p,
		    const struct ibcc_topo *t, const struct load *load, uint32_t root);

/* A switch port that passes on the congestion of a port further on. */
static inline bool load_blocked(const struct ibcc_estimator_params *p, const struct load *l)
{
	return l->usable && l->sent + l->waited >= p->full_permille &&
	       l->waited >= p->fed_wait_permille;
}

#endif
