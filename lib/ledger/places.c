/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A hash of endports (places.h): open addressing, at most half of it in use. */
#include <ibcc/places.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/hash.h>

void ibcc_places_fini(struct ibcc_places *p)
{
	free(p->slot);
	*p = (struct ibcc_places){ 0 };
}

/* The slot that has an endport, or the free one where it belongs. */
static struct ibcc_place *slot_of(const struct ibcc_places *p, uint64_t node_guid, uint8_t port)
{
	uint32_t i = ibcc_hash_endport(node_guid, port) & (p->cap - 1);

	while (p->slot[i].value != IBCC_NONE &&
	       (p->slot[i].node_guid != node_guid || p->slot[i].port != port))
		i = (i + 1) & (p->cap - 1);
	return &p->slot[i];
}

/* Makes room for one more endport. */
static int reserve(struct ibcc_places *p)
{
	struct ibcc_places grown = { .cap = p->cap ? 2 * p->cap : 32, .n = p->n };

	if (2 * (p->n + 1) <= p->cap)
		return 0;
	grown.slot = reallocarray(NULL, grown.cap, sizeof(*grown.slot));
	if (!grown.slot)
		return -ENOMEM;
	for (uint32_t i = 0; i < grown.cap; i++)
		grown.slot[i] = (struct ibcc_place){ .value = IBCC_NONE };
	for (uint32_t i = 0; i < p->cap; i++)
		if (p->slot[i].value != IBCC_NONE)
			*slot_of(&grown, p->slot[i].node_guid, p->slot[i].port) = p->slot[i];
	free(p->slot);
	*p = grown;
	return 0;
}

int ibcc_places_put(struct ibcc_places *p, uint64_t node_guid, uint8_t port, uint32_t value)
{
	struct ibcc_place *at;
	int rc = reserve(p);

	if (rc)
		return rc;
	at = slot_of(p, node_guid, port);
	p->n += at->value == IBCC_NONE;
	*at = (struct ibcc_place){ node_guid, value, port };
	return 0;
}

uint32_t ibcc_places_get(const struct ibcc_places *p, uint64_t node_guid, uint8_t port)
{
	return p->cap ? slot_of(p, node_guid, port)->value : IBCC_NONE;
}

int ibcc_plan_index_init(struct ibcc_plan_index *x, const struct ibcc_plan *plan)
{
	int rc = 0;

	*x = (struct ibcc_plan_index){ .next = calloc(plan->n + 1u, sizeof(*x->next)) };
	if (!x->next)
		return -ENOMEM;
	/* From the last change to the first one, so that each list is in the plan's order. */
	for (uint32_t i = plan->n; !rc && i-- > 0;) {
		const struct ibcc_change *c = &plan->change[i];

		x->next[i] = ibcc_places_get(&x->first, c->node_guid, c->port);
		rc = ibcc_places_put(&x->first, c->node_guid, c->port, i);
	}
	if (rc)
		ibcc_plan_index_fini(x);
	return rc;
}

void ibcc_plan_index_fini(struct ibcc_plan_index *x)
{
	ibcc_places_fini(&x->first);
	free(x->next);
	x->next = NULL;
}
