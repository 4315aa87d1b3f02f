/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The inference of traffic: which hosts send to which, and how much, from the loads of links
 * alone. Begin with ibcc_traffic_infer().
 *
 * This file chooses the pairs of hosts that may have traffic. Old pairs are all pairs of hosts,
 * or on large fabrics a sample of them. Fresh pairs lead to hosts that get more than before, or
 * are behind a root, from hosts that may send something new. traffic_fit.c finds how much each
 * pair carries.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <ibcc/grow.h>
#include <ibcc/rng.h>
#include <ibcc/route.h>

#include "traffic.h"

/* If there are no more pairs than this, all are taken. Otherwise a sample, at least MIN_CHOSEN a
 * source. */
#define ALL_PAIRS  16384u
#define MIN_CHOSEN 8u
/* A rate has grown if it did by this share of itself plus this share of its link. */
#define MORE_SHARE 0.1
#define MORE_LINK  0.02
/* Destinations of fresh pairs at most, not counting those behind roots. */
#define MAX_GAINERS 16u

void ibcc_traffic_fini(struct ibcc_traffic *t)
{
	free(t->pair);
	free(t->hop);
	*t = (struct ibcc_traffic){ 0 };
}

struct ibcc_traffic_pair *ibcc_traffic_add(struct ibcc_traffic *t, const struct ibcc_topo *topo,
					   uint32_t src, uint32_t dst, int *err)
{
	struct ibcc_traffic_pair *p;
	struct ibcc_route route;
	uint32_t *hop;

	*err = -ENOENT;
	if (ibcc_route_follow(topo, src, topo->port[dst].lid, &route) || !route.n)
		return NULL;
	*err = -ENOMEM;
	p = ibcc_grow(t->pair, t->n_pairs, &t->cap_pairs, sizeof(*p));
	if (!p)
		return NULL;
	t->pair = p;
	hop = ibcc_grow_to(t->hop, t->n_hops + route.n, &t->cap_hops, sizeof(*hop));
	if (!hop)
		return NULL;
	t->hop = hop;
	p += t->n_pairs++;
	*p = (struct ibcc_traffic_pair){
		.src = src, .dst = dst, .first_hop = t->n_hops, .hops = route.n, .root = IBCC_NONE
	};
	for (unsigned int i = 0; i < route.n; i++)
		t->hop[t->n_hops++] = route.out[i];
	*err = 0;
	return p;
}

bool ibcc_traffic_passes(const struct ibcc_traffic *t, const struct ibcc_traffic_pair *p,
			 uint32_t port)
{
	for (uint32_t i = 0; i < p->hops; i++)
		if (t->hop[p->first_hop + i] == port)
			return true;
	return false;
}

struct host {
	uint64_t guid;
	uint32_t port;
	double gets; /* rate received before plus now: how likely a host sends to it */
	double upto; /* sum of `gets` up to this host, in order */
};

static int by_guid(const void *a, const void *b)
{
	const struct host *x = a, *y = b;

	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	return x->port < y->port ? -1 : x->port > y->port;
}

struct chooser {
	const struct ibcc_traffic_in *in;
	struct ibcc_traffic *out;
	struct host *host;
	uint32_t n;
	uint32_t *mark; /* by host: the source that it was last chosen for, plus 1 */
};

static double load_of(const struct ibcc_loads *l, uint32_t port)
{
	return l && l->n ? l->mbps[port] : 0;
}

/* What a host's port gets: what its switch sends to it. */
static double gets(const struct ibcc_traffic_in *in, const struct ibcc_loads *l, uint32_t port)
{
	return load_of(l, in->t->port[port].peer);
}

/* Lists the hosts in the order of their GUIDs, so that the result does not depend on the order of
 * the topology.
 */
static int list_hosts(struct chooser *c)
{
	const struct ibcc_topo *t = c->in->t;
	double sum = 0;

	c->host = calloc(t->n_endports + 1u, sizeof(*c->host));
	c->mark = calloc(t->n_endports + 1u, sizeof(*c->mark));
	if (!c->host || !c->mark)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->n_endports; i++) {
		uint32_t port = t->endport[i];
		const struct ibcc_topo_port *p = &t->port[port];

		if (ibcc_topo_is_switch(t, p->node) || p->peer == IBCC_NONE || !p->lid)
			continue;
		c->host[c->n++] = (struct host){
			.guid = t->node[p->node].guid,
			.port = port,
			.gets = gets(c->in, c->in->before, port) + gets(c->in, c->in->now, port),
		};
	}
	qsort(c->host, c->n, sizeof(*c->host), by_guid);
	for (uint32_t i = 0; i < c->n; i++) {
		sum += c->host[i].gets;
		c->host[i].upto = sum;
	}
	return 0;
}

/* Adds a pair unless its destination gets nothing. A pair without a route is left out. */
static int add_pair(struct chooser *c, uint32_t src, uint32_t dst, bool fresh)
{
	struct ibcc_traffic_pair *p;
	int rc;

	if (src == dst || !(gets(c->in, c->in->before, dst) + gets(c->in, c->in->now, dst) > 0))
		return 0;
	p = ibcc_traffic_add(c->out, c->in->t, src, dst, &rc);
	if (rc == -ENOMEM)
		return rc;
	if (p)
		p->fresh = fresh;
	return 0;
}

/* The first host whose sum of rates reaches a place. */
static uint32_t host_at(const struct chooser *c, double place)
{
	uint32_t low = 0, high = c->n - 1;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (c->host[mid].upto >= place)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

/* Chooses n destinations of a source: places evenly spaced over the sum of what all get, beginning
 * at one derived from the source's GUID. So hosts that get more are chosen by more sources.
 */
static int choose_some(struct chooser *c, uint32_t s, uint32_t n)
{
	uint64_t rng = c->host[s].guid + c->in->t->port[c->host[s].port].num;
	double sum = c->host[c->n - 1].upto;
	double at = (ibcc_rng_below(&rng, 1u << 20) + 0.5) / (double)(1u << 20);
	int rc = 0;

	for (uint32_t i = 0; i < n && !rc; i++) {
		uint32_t d = host_at(c, (i + at) / n * sum);

		if (c->mark[d] == s + 1)
			continue;
		c->mark[d] = s + 1;
		rc = add_pair(c, c->host[s].port, c->host[d].port, false);
	}
	return rc;
}

static int add_old(struct chooser *c)
{
	uint32_t n = ALL_PAIRS / (c->n ? c->n : 1);
	int rc = 0;

	n = n < MIN_CHOSEN ? MIN_CHOSEN : n;
	for (uint32_t s = 0; s < c->n && !rc; s++) {
		uint32_t port = c->host[s].port;

		if (!(load_of(c->in->before, port) + load_of(c->in->now, port) > 0))
			continue;
		if (n < c->n) {
			rc = choose_some(c, s, n);
			continue;
		}
		for (uint32_t d = 0; d < c->n && !rc; d++)
			rc = add_pair(c, port, c->host[d].port, false);
	}
	return rc;
}

/* Marks the hosts that get more than before (those with the largest growth), and all behind a root.
 */
static int gainers(struct chooser *c, bool *is)
{
	const struct ibcc_traffic_in *in = c->in;
	double least = 0;
	double *more = calloc(c->n + 1u, sizeof(*more));

	if (!more)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t port = c->host[i].port, peer = in->t->port[port].peer;
		double old = gets(in, in->before, port), now = gets(in, in->now, port);

		if (now > (1 + MORE_SHARE) * old + MORE_LINK * in->t->port[peer].rate_mbps)
			more[i] = now - old;
	}
	for (uint32_t k = 0; k < c->n; k++) {
		uint32_t above = 0;

		for (uint32_t i = 0; i < c->n && above < MAX_GAINERS && more[k] > 0; i++)
			above += more[i] > more[k];
		is[k] = more[k] > least && above < MAX_GAINERS;
		for (uint32_t r = 0; r < in->n_roots; r++)
			is[k] |= in->t->port[in->root[r].port].peer == c->host[k].port;
	}
	free(more);
	return 0;
}

bool ibcc_traffic_waits(const struct ibcc_traffic_in *in, uint32_t port)
{
	return in->now->wait[port] > IBCC_LOADS_WAIT;
}

/* Whether a source may send something new: it waits, or sends more than before. */
static bool may_be_new(const struct ibcc_traffic_in *in, uint32_t port)
{
	double old = load_of(in->before, port), now = load_of(in->now, port);

	return ibcc_traffic_waits(in, port) ||
	       now > (1 + MORE_SHARE) * old + MORE_LINK * in->t->port[port].rate_mbps;
}

static int add_fresh(struct chooser *c)
{
	bool *is = calloc(c->n + 1u, sizeof(*is));
	int rc = is ? gainers(c, is) : -ENOMEM;

	for (uint32_t d = 0; d < c->n && !rc; d++)
		for (uint32_t s = 0; s < c->n && is[d] && !rc; s++)
			if (may_be_new(c->in, c->host[s].port))
				rc = add_pair(c, c->host[s].port, c->host[d].port, true);
	free(is);
	return rc;
}

/* Notes the first root that each pair passes. */
static void find_roots(const struct ibcc_traffic_in *in, struct ibcc_traffic *t)
{
	for (uint32_t i = 0; i < t->n_pairs; i++)
		for (uint32_t r = 0; r < in->n_roots && t->pair[i].root == IBCC_NONE; r++)
			if (ibcc_traffic_passes(t, &t->pair[i], in->root[r].port))
				t->pair[i].root = r;
}

int ibcc_traffic_infer(const struct ibcc_traffic_in *in, struct ibcc_traffic *out)
{
	struct chooser c = { .in = in, .out = out };
	int rc;

	*out = (struct ibcc_traffic){ 0 };
	rc = list_hosts(&c);
	if (!rc)
		rc = add_old(&c);
	if (!rc && in->before)
		rc = add_fresh(&c);
	if (!rc) {
		find_roots(in, out);
		rc = ibcc_traffic_fit(in, out);
	}
	free(c.host);
	free(c.mark);
	if (rc)
		ibcc_traffic_fini(out);
	return rc;
}
