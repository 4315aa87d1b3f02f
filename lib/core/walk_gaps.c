/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a walk could not find out. */
#include <inttypes.h>
#include <stdio.h>

#include <ibcc/hash.h>

#include "lib/core/walk_state.h"

bool ibcc_walk_needs(const struct ibcc_walk_get *g)
{
	return g->attr_id != IBCC_SMP_ATTR_SL2VL && !ibcc_walk_is_rate(g);
}

/* Links may have been come by from their other end. */
static bool is_missing(const struct ibcc_walk_get *g)
{
	return g->attr_id != IBCC_SMP_ATTR_NODE_DESC && !ibcc_walk_is_rate(g) &&
	       !(g->out_port && g->node->port[g->out_port].peer);
}

static void tell(const struct ibcc_walk_get *g, struct ibcc_walk_gaps *gaps)
{
	char name[IBCC_DESC_BYTES + 2] = "where we are", behind[32] = "";

	/* Its name may be missing as well. */
	if (g->node && g->node->desc[0])
		snprintf(name, sizeof(name), "\"%s\"", g->node->desc);
	else if (g->node)
		snprintf(name, sizeof(name), "0x%016" PRIx64, g->node->info.node_guid);
	if (g->out_port)
		snprintf(behind, sizeof(behind), " port %u", g->out_port);
	snprintf(gaps->first, sizeof(gaps->first), "%s %s%s",
		 g->out_port ? "the node behind" : "node", name, behind);
}

void ibcc_walk_gaps(const struct ibcc_walk *w, struct ibcc_walk_gaps *gaps)
{
	*gaps = (struct ibcc_walk_gaps){ .n_odd = w->n_odd };
	for (size_t i = 0; i < w->n_gaps; i++) {
		const struct ibcc_walk_get *g = &w->gap[i];
		const struct ibcc_walk_node *n = g->node;
		uint64_t what[] = { n ? n->info.node_guid : 0, g->attr_id, g->attr_mod,
				    g->out_port };

		if (!is_missing(g))
			continue;
		/* In whatever order they were given up. */
		gaps->sum += ibcc_hash(IBCC_HASH_START, what, sizeof(what));
		if (!gaps->n++)
			tell(g, gaps);
	}
	if (w->n_odd)
		gaps->sum += ibcc_hash(IBCC_HASH_START, &w->n_odd, sizeof(w->n_odd));
	gaps->sum |= gaps->n || w->n_odd;
}
