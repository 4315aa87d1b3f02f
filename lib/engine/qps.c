/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Creates queue pairs and the groups (port and SL) that they belong to. They are never removed: a
 * queue pair that was throttled once may be throttled again.
 */
#include "qps.h"

#include <stdlib.h>

#define MIN_PLACES 4u /* a power of two */

/* Enters a queue pair into a hash that has room for it. */
static void put(struct qp_hash *h, struct qp_of v)
{
	uint32_t i = qp_place(h, v.dst_port);

	while (h->at[i].dst_port)
		i = (i + 1) & h->mask;
	h->at[i] = v;
	h->n++;
}

/* Makes room in a group's hash for one more queue pair. */
static int reserve(struct group *g)
{
	uint32_t old = qp_places(g), n = old ? 2 * old : MIN_PLACES;
	struct qp_hash *to;

	if (g->qp && 2 * (g->qp->n + 1) <= old)
		return 0;
	/* struct qp_hash takes a place, too: ibcc_fab_alloc() has one more. */
	to = ibcc_fab_alloc(n, sizeof(*to->at));
	if (!to)
		return -ENOMEM;
	to->mask = n - 1;
	for (uint32_t i = 0; i < old; i++)
		if (qp_at(g, i) != NONE)
			put(to, g->qp->at[i]);
	free(g->qp);
	g->qp = to;
	return 0;
}

uint32_t ibcc_fab_qp_get(struct ibcc_engine *e, uint32_t group, uint32_t dst_port)
{
	struct group *g = &e->group[group];
	uint32_t qp = qp_find(g, dst_port);

	if (qp != NONE)
		return qp;
	if (e->n_qp > CELL_INDEX_MASK || reserve(g) ||
	    ibcc_fab_grow(&e->qp, &e->cap_qp, e->n_qp + 1, sizeof(*e->qp)))
		return NONE;
	qp = e->n_qp++;
	e->qp[qp] =
		(struct qp){ .group = group, .dst_port = dst_port, .defer = NONE, .wait = NONE };
	put(g->qp, (struct qp_of){ dst_port, qp });
	return qp;
}

int64_t ibcc_fab_group_get(struct ibcc_engine *e, uint32_t port, unsigned int sl)
{
	struct hca *h = &e->hca[e->owner[port]];

	if (h->group[sl] == NONE) {
		if (!e->marks[sl])
			e->marks[sl] = calloc(e->n_ports + 1, sizeof(*e->marks[sl]));
		if (e->first_sl >= IBCC_CC_SLS)
			e->first_sl = (uint8_t)sl;
		if (!e->marks[sl] ||
		    ibcc_fab_grow(&e->group, &e->cap_group, e->n_group + 1, sizeof(*e->group)))
			return -ENOMEM;
		e->group[e->n_group] = (struct group){ .port = port,
						       .sl = (uint8_t)sl,
						       .vl = ibcc_fab_hca_vl(e, h, sl),
						       .ctrl = NONE };
		ibcc_fab_group_cc(e, &e->group[e->n_group]);
		h->group[sl] = e->n_group++;
	}
	return h->group[sl];
}
