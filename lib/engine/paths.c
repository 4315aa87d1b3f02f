/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Several paths: each switch chooses among the outputs on shortest ways, at random, in turn, or
 * adaptively (the output with the fewest packets waiting). It chooses for each packet, or for
 * bursts and flowlets, whose packets stay together.
 *
 * Shortest ways between switches are found by a breadth-first search from each switch that has
 * HCAs. In a fat tree they go up and then down, so that no circle of waiting buffers can close;
 * in other networks one can. If no link of a set of outputs is up, the forwarding table's output
 * is taken.
 *
 * A packet is out of order if one of the same queue pair that was sent later came before it (RFC
 * 4737).
 */
#include "paths.h"

#include <errno.h>
#include <stdlib.h>

#include <ibcc/rng.h>

#include "tx.h"

static uint32_t peer_switch(const struct ibcc_engine *e, uint32_t port)
{
	uint32_t peer = e->peer[port];

	return peer != NONE && port_of(e, peer)->flags & PORT_SWITCH ? e->owner[peer] : NONE;
}

/* Hops from each switch to switch `from`; `queue` has room for n_sw entries. */
static void distances(const struct ibcc_engine *e, uint32_t from, uint32_t *hops, uint32_t *queue)
{
	uint32_t at = 0, n = 0;

	for (uint32_t i = 0; i < e->n_sw; i++)
		hops[i] = NONE;
	hops[from] = 0;
	queue[n++] = from;
	while (at < n) {
		const struct fab_switch *s = &e->sw[queue[at++]];

		for (unsigned int p = 1; p <= s->n_ports; p++) {
			uint32_t to = peer_switch(e, s->first_port + p);

			if (to == NONE || hops[to] != NONE)
				continue;
			hops[to] = hops[s - e->sw] + 1;
			queue[n++] = to;
		}
	}
}

/* The outputs of each switch that lead one hop nearer to a leaf switch. */
static int add_sets(struct ibcc_engine *e, uint32_t leaf, const uint32_t *hops)
{
	struct fab_paths *x = e->paths;

	for (uint32_t i = 0; i < e->n_sw; i++) {
		struct path_set *set = &x->set[(size_t)i * x->n_leaves + leaf];
		const struct fab_switch *s = &e->sw[i];

		set->first = x->n_ports;
		for (unsigned int p = 1; p <= s->n_ports && hops[i] != NONE; p++) {
			uint32_t to = peer_switch(e, s->first_port + p);

			if (to == NONE || hops[to] + 1 != hops[i])
				continue;
			if (ibcc_fab_grow(&x->port, &x->cap_ports, x->n_ports + 1,
					  sizeof(*x->port)))
				return -ENOMEM;
			x->port[x->n_ports++] = (uint8_t)p;
			set->n++;
		}
	}
	return 0;
}

/* Whether switches remember anything of a queue pair's packets. */
static bool keeps(const struct ibcc_model *m)
{
	return m->routing == IBCC_ROUTING_ROUND_ROBIN || m->path_burst_packets > 1 ||
	       m->path_gap_ps;
}

static int find_leaves(struct ibcc_engine *e)
{
	struct fab_paths *x = e->paths;

	for (uint32_t i = 0; i < e->n_sw; i++) {
		bool leaf = false;

		for (unsigned int p = 1; p <= e->sw[i].n_ports; p++) {
			uint32_t peer = e->peer[e->sw[i].first_port + p];

			leaf = leaf || (peer != NONE && !(port_of(e, peer)->flags & PORT_SWITCH));
		}
		if (leaf)
			x->leaf_sw[x->n_leaves++] = i;
	}
	x->set = calloc((size_t)e->n_sw * x->n_leaves + 1, sizeof(*x->set));
	if (keeps(&e->model)) {
		x->keep = calloc((size_t)e->n_sw * PATH_KEEPS + 1, sizeof(*x->keep));
		if (!x->keep)
			return -ENOMEM;
	}
	return x->set ? 0 : -ENOMEM;
}

int ibcc_paths_build(struct ibcc_engine *e)
{
	uint32_t *hops = NULL, *queue = NULL;
	struct fab_paths *x;
	int rc = -ENOMEM;

	if (e->model.routing == IBCC_ROUTING_STATIC)
		return 0;
	x = e->paths = calloc(1, sizeof(*x));
	if (!x)
		return -ENOMEM;
	x->rng = e->seed ^ 0x70617468; /* differs from the flows' */
	x->leaf_of = calloc(IBCC_LID_MAX + 1u, sizeof(*x->leaf_of));
	x->leaf_sw = calloc(e->n_sw + 1u, sizeof(*x->leaf_sw));
	hops = calloc(e->n_sw + 1u, sizeof(*hops));
	queue = calloc(e->n_sw + 1u, sizeof(*queue));
	if (x->leaf_of && x->leaf_sw && hops && queue)
		rc = find_leaves(e);
	for (uint32_t leaf = 0; !rc && leaf < x->n_leaves; leaf++) {
		distances(e, x->leaf_sw[leaf], hops, queue);
		rc = add_sets(e, leaf, hops);
	}
	free(hops);
	free(queue);
	if (!rc)
		ibcc_paths_map(e);
	return rc;
}

void ibcc_paths_free(struct ibcc_engine *e)
{
	if (!e->paths)
		return;
	free(e->paths->leaf_of);
	free(e->paths->leaf_sw);
	free(e->paths->set);
	free(e->paths->port);
	free(e->paths->keep);
	free(e->paths->order);
	free(e->paths->number);
	free(e->paths);
}

void ibcc_paths_map(struct ibcc_engine *e)
{
	struct fab_paths *x = e->paths;

	for (uint32_t lid = 0; lid <= IBCC_LID_MAX; lid++)
		x->leaf_of[lid] = NONE;
	for (uint32_t leaf = 0; leaf < x->n_leaves; leaf++) {
		const struct fab_switch *s = &e->sw[x->leaf_sw[leaf]];

		for (unsigned int p = 1; p <= s->n_ports; p++) {
			uint32_t hca = e->peer[s->first_port + p];

			if (hca == NONE || port_of(e, hca)->flags & PORT_SWITCH)
				continue;
			for (uint32_t i = 0; i < e->lid[hca].n; i++)
				x->leaf_of[e->lid[hca].first + i] = leaf;
		}
	}
}

/* One of a set's outputs whose links are up, each with the same probability; NONE: there is none.
 */
static uint32_t pick_up(struct ibcc_engine *e, const struct path_set *set, uint32_t first_port)
{
	const uint8_t *num = &e->paths->port[set->first];
	uint32_t n = 0, at;

	for (uint32_t i = 0; i < set->n; i++)
		n += !!(port_of(e, first_port + num[i])->flags & PORT_UP);
	if (!n)
		return NONE;
	at = ibcc_rng_below(&e->paths->rng, n);
	for (uint32_t i = 0;; i++)
		if (port_of(e, first_port + num[i])->flags & PORT_UP && !at--)
			return first_port + num[i];
}

/* An output's load: the packets that wait, and the one that is being sent. */
static uint32_t load(const struct ibcc_engine *e, uint32_t port)
{
	const struct port *p = port_of(e, port);

	return p->queued + (p->busy_ps > e->now_ps);
}

/* The output of a set with the fewest packets, from number `at` on; NONE: no link is up. */
static uint32_t pick_least(const struct ibcc_engine *e, const struct path_set *set,
			   uint32_t first_port, uint32_t at)
{
	uint32_t best = NONE;

	for (uint32_t i = 0; i < set->n; i++) {
		uint32_t port = first_port + e->paths->port[set->first + at];

		at = at + 1 < set->n ? at + 1 : 0;
		if (!(port_of(e, port)->flags & PORT_UP))
			continue;
		if (best == NONE || load(e, port) < load(e, best))
			best = port;
	}
	return best;
}

/* The next output of a set in turn whose link is up; NONE: there is none. Moves the turn. */
static uint32_t pick_next(const struct ibcc_engine *e, const struct path_set *set,
			  uint32_t first_port, uint32_t *turn)
{
	for (uint32_t i = 0; i < set->n; i++) {
		uint32_t port = first_port + e->paths->port[set->first + (*turn)++ % set->n];

		if (port_of(e, port)->flags & PORT_UP)
			return port;
	}
	return NONE;
}

static uint32_t pick_new(struct ibcc_engine *e, const struct path_set *set, uint32_t first_port,
			 uint32_t *turn)
{
	struct fab_paths *x = e->paths;
	uint32_t at, port;

	if (e->model.routing == IBCC_ROUTING_ROUND_ROBIN)
		return pick_next(e, set, first_port, turn);
	at = ibcc_rng_below(&x->rng, set->n); /* chooses, or where to begin among equals */
	if (e->model.routing == IBCC_ROUTING_ADAPTIVE)
		return pick_least(e, set, first_port, at);
	port = first_port + x->port[set->first + at];
	return port_of(e, port)->flags & PORT_UP ? port : pick_up(e, set, first_port);
}

/* What a switch remembers of a packet's queue pair. Data and answers go opposite ways and are kept
 * apart. Queue pairs with the same hash share an entry.
 */
static struct path_keep *keep_of(const struct fab_paths *x, uint32_t sw, const struct pkt *k)
{
	uint32_t key = k->qp << 1 | !!(k->flags & PKT_CTRL);

	return &x->keep[sw * PATH_KEEPS + (key * 0x9e3779b1u >> 16 & (PATH_KEEPS - 1))];
}

/* Whether the next packet may take another output: the burst or flowlet is over, or its output is
 * of no use any more.
 */
static bool may_change(const struct ibcc_engine *e, const struct path_keep *p, uint32_t set)
{
	if (!p->out || p->set != set || !(port_of(e, p->out)->flags & PORT_UP))
		return true;
	return !p->left && e->now_ps - p->last_ps >= e->model.path_gap_ps;
}

uint32_t ibcc_paths_pick(struct ibcc_engine *e, uint32_t sw, const struct pkt *k, uint32_t out)
{
	struct fab_paths *x = e->paths;
	uint32_t leaf = k->dlid <= IBCC_LID_MAX ? x->leaf_of[k->dlid] : NONE, at, best;
	const struct path_set *set;
	struct path_keep *p;

	if (leaf == NONE)
		return out;
	at = sw * x->n_leaves + leaf;
	set = &x->set[at];
	if (!set->n)
		return out;
	if (!x->keep) {
		best = pick_new(e, set, e->sw[sw].first_port, NULL);
		return best != NONE ? best : out;
	}
	p = keep_of(x, sw, k);
	if (may_change(e, p, at)) {
		best = pick_new(e, set, e->sw[sw].first_port, &p->turn);
		p->out = best != NONE ? best : 0;
		p->set = at;
		p->left = e->model.path_burst_packets;
	}
	p->left -= p->left > 0;
	p->last_ps = e->now_ps;
	return p->out ? p->out : out;
}

static int order_grow(struct ibcc_engine *e)
{
	struct fab_paths *x = e->paths;
	int rc = ibcc_fab_grow(&x->order, &x->cap_order, e->n_qp, sizeof(*x->order));

	while (!rc && x->n_order < e->n_qp)
		x->order[x->n_order++] = (struct path_order){ 0, 0 };
	return rc;
}

void ibcc_paths_sent(struct ibcc_engine *e, uint32_t qp, uint32_t pkt)
{
	struct fab_paths *x = e->paths;

	if (qp >= x->n_order)
		e->err = order_grow(e);
	if (!e->err && pkt >= x->cap_number)
		e->err = ibcc_fab_grow(&x->number, &x->cap_number, e->cap_pkts, sizeof(*x->number));
	if (!e->err)
		x->number[pkt] = x->order[qp].next++;
}

void ibcc_paths_received(struct ibcc_engine *e, uint32_t pkt)
{
	const struct pkt *k = &e->pkt[pkt];
	struct path_order *o = &e->paths->order[k->qp];
	uint32_t number = e->paths->number[pkt];

	if ((int32_t)(number - o->expected) < 0)
		e->flow[k->flow].reordered++;
	else
		o->expected = number + 1;
}
