/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Hashes of the nodes' descriptions and ids, so that a scenario with a flow for each of 10,000
 * nodes does not compare each flow's names with all nodes.
 *
 * A text has one slot, however many nodes have it: on real fabrics all adapters of a type may have
 * the same description. The slot has the first of these nodes and their number. At most half of the
 * slots are in use, so a search ends at a free one.
 */
#include "topo_texts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/hash.h>

#define FIRST_SLOTS 32u /* a power of two */

typedef const char *(*text_fn)(const struct ibcc_topo_node *n);

static const char *desc_of(const struct ibcc_topo_node *n)
{
	return n->desc;
}

static const char *id_of(const struct ibcc_topo_node *n)
{
	return n->id;
}

void ibcc_topo_texts_fini(struct ibcc_topo_texts *x)
{
	free(x->slot);
	*x = (struct ibcc_topo_texts){ .slot = NULL };
}

int ibcc_topo_texts_copy(const struct ibcc_topo_texts *x, struct ibcc_topo_texts *out)
{
	*out = (struct ibcc_topo_texts){ .slot = NULL };
	if (!x->cap)
		return 0;
	out->slot = calloc(x->cap, sizeof(*out->slot));
	if (!out->slot)
		return -ENOMEM;
	memcpy(out->slot, x->slot, x->cap * sizeof(*out->slot));
	out->cap = x->cap;
	out->used = x->used;
	return 0;
}

/* The slot of a text, or the free one where it would be. */
static struct ibcc_topo_text *slot_of(const struct ibcc_topo *t, const struct ibcc_topo_texts *x,
				      text_fn of, const char *text)
{
	uint64_t hash = ibcc_hash(IBCC_HASH_START, text, strlen(text));
	uint32_t mask = x->cap - 1, i = (uint32_t)(hash ^ hash >> 32) & mask;

	while (x->slot[i].n && strcmp(of(&t->node[x->slot[i].node]), text) != 0)
		i = (i + 1) & mask;
	return &x->slot[i];
}

static void add(const struct ibcc_topo *t, struct ibcc_topo_texts *x, text_fn of, uint32_t node)
{
	struct ibcc_topo_text *s = slot_of(t, x, of, of(&t->node[node]));

	if (!s->n++) {
		s->node = node;
		x->used++;
	}
}

/* Enters the texts of all nodes into a hash with room for as many texts and one more; -ENOMEM. */
static int fill(const struct ibcc_topo *t, struct ibcc_topo_texts *x, text_fn of, uint32_t texts)
{
	struct ibcc_topo_texts to = { .cap = FIRST_SLOTS };

	while (to.cap < 2 * (texts + 1))
		to.cap *= 2;
	to.slot = calloc(to.cap, sizeof(*to.slot));
	if (!to.slot)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->n_nodes; i++)
		if (of == desc_of || t->node[i].id[0])
			add(t, &to, of, i);
	free(x->slot);
	*x = to;
	return 0;
}

int ibcc_topo_texts_reserve(struct ibcc_topo *t)
{
	if (2 * (t->by_desc.used + 1) <= t->by_desc.cap)
		return 0;
	return fill(t, &t->by_desc, desc_of, 2 * t->by_desc.used);
}

void ibcc_topo_texts_add(struct ibcc_topo *t, uint32_t node)
{
	add(t, &t->by_desc, desc_of, node);
}

int ibcc_topo_index_texts(struct ibcc_topo *t)
{
	int rc = fill(t, &t->by_desc, desc_of, t->n_nodes);

	return rc ? rc : fill(t, &t->by_id, id_of, t->n_nodes);
}

static uint32_t find(const struct ibcc_topo *t, const struct ibcc_topo_texts *x, text_fn of,
		     const char *text, uint32_t *n)
{
	const struct ibcc_topo_text *s = x->cap ? slot_of(t, x, of, text) : NULL;

	*n = s ? s->n : 0;
	return *n ? s->node : IBCC_NONE;
}

uint32_t ibcc_topo_by_desc(const struct ibcc_topo *t, const char *desc, uint32_t *n)
{
	return find(t, &t->by_desc, desc_of, desc, n);
}

uint32_t ibcc_topo_by_id(const struct ibcc_topo *t, const char *id, uint32_t *n)
{
	return find(t, &t->by_id, id_of, id, n);
}
