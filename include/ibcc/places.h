/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A hash of endports, which are named by a node's GUID and a port's number. It finds one of many
 * thousands without a search through all of them, also of endports that the topology does not have.
 */
#ifndef IBCC_PLACES_H
#define IBCC_PLACES_H

#include <stdint.h>

#include <ibcc/plan.h>

struct ibcc_places {
	struct ibcc_place {
		uint64_t node_guid;
		uint32_t value; /* IBCC_NONE: the slot is free */
		uint8_t port;
	} * slot;        /* owned */
	uint32_t cap, n; /* the first is a power of two, or 0 */
};
void ibcc_places_fini(struct ibcc_places *p);

/* Enters an endport with a value other than IBCC_NONE, which replaces an older one. -ENOMEM. */
int ibcc_places_put(struct ibcc_places *p, uint64_t node_guid, uint8_t port, uint32_t value);

/* The value of an endport, or IBCC_NONE. */
uint32_t ibcc_places_get(const struct ibcc_places *p, uint64_t node_guid, uint8_t port);

/* The changes of a plan by their endport. It is valid as long as the plan does not change. */
struct ibcc_plan_index {
	struct ibcc_places first; /* the first change of an endport */
	uint32_t *next;           /* by change: the next one of the same endport, or IBCC_NONE */
};

/* *x is initialised by the call. -ENOMEM. */
int ibcc_plan_index_init(struct ibcc_plan_index *x, const struct ibcc_plan *plan);
void ibcc_plan_index_fini(struct ibcc_plan_index *x);

#endif
