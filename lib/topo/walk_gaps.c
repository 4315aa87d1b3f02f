/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a walk could not find out (Gets that were given up), and answers that contradict each
 * other.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include <ibcc/hash.h>

#include "lib/topo/walk_state.h"

bool ibcc_walk_needs(const struct ibcc_walk_get *g)
{
	return g->attr_id != IBCC_SMP_ATTR_SL2VL && !ibcc_walk_is_rate(g);
}

/* Whether a Get that was given up leaves something missing. The link that it was for may have been
 * found from its other end.
 */
static bool is_missing(const struct ibcc_walk_get *g)
{
	return g->attr_id != IBCC_SMP_ATTR_NODE_DESC && !ibcc_walk_is_rate(g) &&
	       !(g->out_port && g->node->port[g->out_port].peer);
}

/* A hash of what a Get asks, by which a later walk recognises it. */
static uint64_t key_of(const struct ibcc_walk_get *g)
{
	uint64_t what[] = { g->node ? g->node->info.node_guid : 0, g->attr_id, g->attr_mod,
			    g->out_port };

	return ibcc_hash(IBCC_HASH_START, what, sizeof(what));
}

struct ibcc_walk_get ibcc_walk_tried(const struct ibcc_walk *w, const struct ibcc_walk_get *g)
{
	struct ibcc_walk_get got = *g;
	uint64_t before = g->tries, key = key_of(g);

	for (size_t i = 0; i < w->n_tried && !before; i++)
		before = w->tried[2 * i] == key ? w->tried[2 * i + 1] : 0;
	got.tries = (uint8_t)(before < UCHAR_MAX ? before + 1 : UCHAR_MAX);
	return got;
}

int ibcc_walk_follow(struct ibcc_walk *w, const struct ibcc_walk *earlier)
{
	w->tried = calloc(2 * earlier->n_gaps + 1, sizeof(*w->tried));
	if (!w->tried)
		return -ENOMEM;
	for (size_t i = 0; i < earlier->n_gaps; i++) {
		w->tried[2 * i] = key_of(&earlier->gap[i]);
		w->tried[2 * i + 1] = earlier->gap[i].tries;
	}
	w->n_tried = earlier->n_gaps;
	return 0;
}

uint32_t ibcc_walk_retry(struct ibcc_walk *w)
{
	uint32_t n = 0;

	for (; w->n_gaps; w->n_gaps--) {
		const struct ibcc_walk_get *g = &w->gap[w->n_gaps - 1];

		if (ibcc_walk_is_rate(g))
			continue;
		if (ibcc_walk_ask(w, g->node, g->attr_id, g->attr_mod, g->out_port))
			break; /* out of memory: it stays a gap */
		w->todo[w->n_todo - 1].tries = g->tries;
		n++;
	}
	return n;
}

/* A node's name in quotes, or its GUID if its name is not known. */
static const char *name_of(const struct ibcc_walk_node *n, char *buf, size_t len)
{
	if (!n)
		snprintf(buf, len, "the local port");
	else if (n->desc[0])
		snprintf(buf, len, "\"%.64s\"", n->desc);
	else
		snprintf(buf, len, "0x%016" PRIx64, n->info.node_guid);
	return buf;
}

/* Where the nodes are that seem to have one GUID. */
static void say_shared(const struct walk_odd *o, char *buf, size_t len)
{
	char at[72], one[72], other[72];

	snprintf(buf, len, "GUID 0x%016" PRIx64 " (%s) is behind %s port %u and behind %s port %u",
		 o->at.node->info.node_guid, name_of(o->at.node, at, sizeof(at)),
		 name_of(o->one.node, one, sizeof(one)), o->one.port,
		 name_of(o->other.node, other, sizeof(other)), o->other.port);
}

static void say_odd(const struct walk_odd *o, char *buf, size_t len)
{
	char shared[sizeof(((struct ibcc_walk_gaps *)NULL)->shared_text)];
	char at[72], one[72], other[72];

	name_of(o->at.node, at, sizeof(at));
	name_of(o->one.node, one, sizeof(one));
	name_of(o->other.node, other, sizeof(other));
	switch (o->kind) {
	case WALK_ODD_NODE:
		snprintf(buf, len,
			 "the node behind %s port %u reports impossible values about itself", at,
			 o->at.port);
		break;
	case WALK_ODD_LINK:
		snprintf(buf, len, "%s port %u leads to %s port %u and to %s port %u", at,
			 o->at.port, one, o->one.port, other, o->other.port);
		break;
	case WALK_ODD_GUID:
		say_shared(o, shared, sizeof(shared));
		snprintf(buf, len, "%s: two nodes have this GUID, or a cable was moved", shared);
		break;
	case WALK_ODD_LID:
		if (o->other.node)
			snprintf(buf, len, "LID %u belongs to %s port %u and to %s port %u", o->lid,
				 other, o->other.port, one, o->one.port);
		else
			snprintf(buf, len, "%s port %u reports LID %u, which is not a valid LID",
				 one, o->one.port, o->lid);
		break;
	}
}

void ibcc_walk_odd(struct walk_oddities *odd, const struct walk_odd *what)
{
	const struct walk_place *place[] = { &what->at, &what->one, &what->other };
	uint64_t key[7] = { what->kind };

	for (unsigned int i = 0; i < 3; i++) {
		key[2 * i + 1] = place[i]->node ? place[i]->node->info.node_guid : 0;
		key[2 * i + 2] = place[i]->port;
	}
	odd->sum += ibcc_hash(IBCC_HASH_START, key, sizeof(key));
	if (!odd->n++)
		odd->first = *what;
	if (what->kind != WALK_ODD_GUID)
		return;
	if (!odd->shared.n)
		odd->first_shared = *what;
	if (odd->shared.n < sizeof(odd->shared.guid) / sizeof(odd->shared.guid[0]))
		odd->shared.guid[odd->shared.n] = what->at.node->info.node_guid;
	odd->shared.n++;
}

bool ibcc_walk_is_shared(const struct ibcc_walk_shared *s, uint64_t guid)
{
	uint32_t most = sizeof(s->guid) / sizeof(s->guid[0]);

	for (uint32_t i = 0; i < s->n && i < most; i++)
		if (s->guid[i] == guid)
			return true;
	return s->n > most;
}

void ibcc_walk_gaps(const struct ibcc_walk *w, struct ibcc_walk_gaps *gaps)
{
	const struct walk_oddities *odd = w->odd.n ? &w->odd : &w->odd_topo;

	*gaps = (struct ibcc_walk_gaps){ .n = w->lost_count, /* nothing asks for it again */
					 .n_odd = w->odd.n + w->odd_topo.n,
					 .tries = w->lost_count ? 0 : UINT_MAX,
					 .odd_sum = w->odd.sum + w->odd_topo.sum,
					 .shared = w->odd.shared };
	for (size_t i = 0; i < w->n_gaps; i++) {
		const struct ibcc_walk_get *g = &w->gap[i];

		if (!is_missing(g))
			continue;
		gaps->n++;
		if (g->tries < gaps->tries)
			gaps->tries = g->tries;
		gaps->local |= g->out_port && g->node == w->first;
		if (!g->out_port && g->node && !gaps->n_partial++)
			name_of(g->node, gaps->partial, sizeof(gaps->partial));
	}
	gaps->odd_sum |= gaps->n_odd > 0;
	if (odd->n)
		say_odd(&odd->first, gaps->odd, sizeof(gaps->odd));
	if (gaps->shared.n)
		say_shared(&w->odd.first_shared, gaps->shared_text, sizeof(gaps->shared_text));
	if (w->odd_topo.n)
		say_odd(&w->odd_topo.first, gaps->lid_text, sizeof(gaps->lid_text));
}
