/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The SLs of paths. A subnet manager that avoids deadlocks by layers puts each path into a layer,
 * and its subnet administration answers a request for the path with the layer's SL.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/route.h>

uint8_t ibcc_route_sl(const struct ibcc_topo *t, const struct ibcc_route_sls *p, uint32_t from,
		      uint32_t to)
{
	uint32_t a = t->port[from].peer, b = t->port[to].peer;

	if (p->datelines.n_dims) {
		if (a == IBCC_NONE || b == IBCC_NONE || !ibcc_topo_is_switch(t, t->port[a].node) ||
		    !ibcc_topo_is_switch(t, t->port[b].node))
			return 0;
		return ibcc_route_dateline_sl(&p->datelines, t->port[a].node, t->port[b].node);
	}
	a = t->port[from].endport;
	b = t->port[to].endport;
	if (!p->by_ends || a >= p->n_ends || b >= p->n_ends || !p->by_ends[a])
		return IBCC_ROUTE_NO_SL;
	return p->by_ends[a][b];
}

int ibcc_route_set_sl(const struct ibcc_topo *t, struct ibcc_route_sls *p, uint32_t from,
		      uint32_t to, uint8_t sl)
{
	uint32_t a = t->port[from].endport, b = t->port[to].endport;

	if (t->n_endports > IBCC_ROUTE_SLS_ENDS)
		return -E2BIG;
	if (!p->by_ends) {
		p->by_ends = calloc(t->n_endports + 1u, sizeof(*p->by_ends));
		p->n_ends = t->n_endports;
	}
	if (!p->by_ends)
		return -ENOMEM;
	if (a >= p->n_ends || b >= p->n_ends || sl > 15)
		return -EINVAL;
	if (!p->by_ends[a]) {
		p->by_ends[a] = malloc(p->n_ends);
		if (!p->by_ends[a])
			return -ENOMEM;
		memset(p->by_ends[a], IBCC_ROUTE_NO_SL, p->n_ends);
	}
	p->by_ends[a][b] = sl;
	return 0;
}

void ibcc_route_sls_fini(struct ibcc_route_sls *p)
{
	for (uint32_t i = 0; p->by_ends && i < p->n_ends; i++)
		free(p->by_ends[i]);
	free(p->by_ends);
	memset(p, 0, sizeof(*p));
}
