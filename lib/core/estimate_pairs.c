/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A port marks one as well as another of the packets that pass it. So the newest that its switch
 * logged as marked are a sample of all that it carries. Which port of the switch it was the log
 * does not say, but routes do.
 */
#include "estimate_pairs.h"

#include <errno.h>
#include <stdlib.h>

#include <ibcc/route.h>

static bool find_pair(const struct ibcc_topo *t, const struct ibcc_mark *m, struct ibcc_pair *p)
{
	uint32_t src = ibcc_topo_port_of_lid(t, m->slid);
	struct ibcc_route way;

	if (src == IBCC_NONE || ibcc_topo_is_switch(t, t->port[src].node) ||
	    ibcc_route_follow(t, src, m->dlid, &way))
		return false;
	for (unsigned int i = 0; i < way.n; i++) {
		if (t->port[way.out[i]].node != m->node)
			continue;
		*p = (struct ibcc_pair){
			.port = way.out[i], .src = src, .dlid = m->dlid, .packets = 1
		};
		return true;
	}
	return false;
}

static int order(uint32_t x, uint32_t y)
{
	return (x > y) - (x < y);
}

static int by_pair(const void *a, const void *b)
{
	const struct ibcc_pair *x = a, *y = b;
	int ret = order(x->port, y->port);

	if (!ret)
		ret = order(x->src, y->src);
	return ret ? ret : order(x->dlid, y->dlid);
}

static int by_packets(const void *a, const void *b)
{
	const struct ibcc_pair *x = a, *y = b;
	int ret = order(x->port, y->port);

	if (!ret)
		ret = order(y->packets, x->packets);
	return ret ? ret : by_pair(a, b);
}

/* Packets of the same pair, which follow each other, become one. */
static void merge(struct ibcc_estimate *e)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < e->n_pairs; i++) {
		if (n && !by_pair(&e->pair[n - 1], &e->pair[i]))
			e->pair[n - 1].packets += e->pair[i].packets;
		else
			e->pair[n++] = e->pair[i];
	}
	e->n_pairs = n;
}

int ibcc_estimate_pairs(const struct ibcc_topo *t, const struct ibcc_snapshot *s,
			struct ibcc_estimate *e)
{
	if (!s->n_marks)
		return 0;
	e->pair = calloc(s->n_marks, sizeof(*e->pair));
	if (!e->pair)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->n_marks; i++)
		e->n_pairs += find_pair(t, &s->mark[i], &e->pair[e->n_pairs]);
	qsort(e->pair, e->n_pairs, sizeof(*e->pair), by_pair);
	merge(e);
	qsort(e->pair, e->n_pairs, sizeof(*e->pair), by_packets);
	for (uint32_t k = 0; k < e->n_roots; k++)
		e->root[k].pair = ibcc_estimate_pairs_of(e, e->root[k].port, &e->root[k].n_pairs);
	return 0;
}

const struct ibcc_pair *ibcc_estimate_pairs_of(const struct ibcc_estimate *e, uint32_t port,
					       uint32_t *n)
{
	uint32_t from = 0;

	while (from < e->n_pairs && e->pair[from].port < port)
		from++;
	*n = 0;
	while (from + *n < e->n_pairs && e->pair[from + *n].port == port)
		++*n;
	return *n ? &e->pair[from] : NULL;
}
