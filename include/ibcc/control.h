/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a tuner has decided about its roots, in a form that outlives the tuner: ports are named by
 * GUID, so that the decisions fit the fabric after a restart, a link flap, or in a plan's file.
 */
#ifndef IBCC_CONTROL_H
#define IBCC_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ibcc/estimate.h>
#include <ibcc/parameters.h>

/* A channel adapter's port. */
struct ibcc_control_node {
	uint64_t guid;
	uint8_t port;
	bool member;             /* gets the root's values */
	struct ibcc_load before; /* what it sent when control of the root began */
};

struct ibcc_control_root {
	uint64_t guid; /* of the switch */
	uint8_t port;
	struct ibcc_root_state s; /* its index of a port and its arrays are not there */
	uint32_t n_nodes;
	struct ibcc_control_node *node; /* owned */
};

struct ibcc_control {
	uint32_t n_roots;
	struct ibcc_control_root root[IBCC_ROOTS_MAX];
};

/* Appends a copy of a root. -ENOMEM, also where there are IBCC_ROOTS_MAX. */
int ibcc_control_add(struct ibcc_control *c, const struct ibcc_control_root *root);
/* Removes the root with an index; the last one gets it. */
void ibcc_control_remove(struct ibcc_control *c, uint32_t k);
void ibcc_control_fini(struct ibcc_control *c);

/* Where the roots are and what holds them, in one sentence. */
void ibcc_control_explain(const struct ibcc_topo *t, const struct ibcc_control *c, char *buf,
			  size_t len);

#endif
