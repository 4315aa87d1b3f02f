/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Queue pairs that have state.
 *
 * A flow with one destination has its queue pair from the start. Of the n^2 pairs of uniform
 * traffic, most are never throttled, so there is nothing to remember. Such a pair gets its state
 * when it is first throttled; with models that count each pair's packets, with its first packet;
 * where pairs share a limiter, when its packet is the next one of a flow. Until then a packet names
 * its destination port in place of its queue pair (BARE_QP). Each group has a hash of its own,
 * which most often is empty or one cache line.
 */
#ifndef IBCC_ENGINE_QPS_H
#define IBCC_ENGINE_QPS_H

#include <errno.h>

#include "internal.h"

/* The queue pair to a port; 0, which none leads to: none. */
struct qp_of {
	uint32_t dst_port, qp;
};

/* At most half of the places, which are a power of two, are taken. */
struct qp_hash {
	uint32_t n, mask;
	struct qp_of at[];
};

/* Where to begin to look for a port. */
static inline uint32_t qp_place(const struct qp_hash *h, uint32_t dst_port)
{
	return dst_port * 0x9e3779b1u >> 12 & h->mask;
}

/* A group's queue pair to a port, or NONE. */
static inline uint32_t qp_find(const struct group *g, uint32_t dst_port)
{
	const struct qp_hash *h = g->qp;
	uint32_t i;

	if (!h)
		return NONE;
	for (i = qp_place(h, dst_port); h->at[i].dst_port; i = (i + 1) & h->mask)
		if (h->at[i].dst_port == dst_port)
			return h->at[i].qp;
	return NONE;
}

/* A group's queue pair to a port, created if it has none; e->qp may move. NONE: out of memory. */
uint32_t ibcc_fab_qp_get(struct ibcc_engine *e, uint32_t group, uint32_t dst_port);

/* To visit all queue pairs of a group: the number of places of its hash, and the queue pair at a
 * place, or NONE.
 */
static inline uint32_t qp_places(const struct group *g)
{
	return g->qp ? g->qp->mask + 1 : 0;
}

static inline uint32_t qp_at(const struct group *g, uint32_t place)
{
	return g->qp->at[place].dst_port ? g->qp->at[place].qp : NONE;
}

/* Where a channel adapter's port stands among the ends of paths, or NONE. */
static inline uint32_t path_end(const struct ibcc_engine *e, uint32_t port)
{
	uint32_t peer = e->peer[port];

	if (e->ends_are_hcas)
		return e->owner[port];
	return peer != NONE && port_of(e, peer)->flags & PORT_SWITCH ? e->owner[peer] : NONE;
}

/* The SL of packets from a channel adapter's port to another's, where paths have SLs. */
static inline uint8_t path_sl(const struct ibcc_engine *e, uint32_t from, uint32_t to)
{
	uint32_t a = path_end(e, from), b = path_end(e, to);

	return a == NONE || b == NONE ? 0 : e->path_sl[(size_t)a * e->n_ends + b];
}

/* The group of a flow's packets to a port. */
static inline uint32_t group_to(const struct ibcc_engine *e, const struct flow *f, uint32_t to)
{
	if (!e->path_sl)
		return f->group;
	return e->hca[e->owner[f->src_port]].group[path_sl(e, f->src_port, to)];
}

/* The packet at a flow's head goes to a port. */
static inline void head_to(const struct ibcc_engine *e, struct flow *f, uint32_t to)
{
	f->dst = to;
	if (e->path_sl)
		f->group = group_to(e, f, to);
}

/* The queue pair of the packet at a flow's head, or NONE. */
static inline uint32_t head_qp(const struct ibcc_engine *e, const struct flow *f)
{
	return f->uniform ? qp_find(&e->group[f->group], f->dst) : f->qp;
}

/* Whether a queue pair may send: its delay is over, or it has none. */
static inline bool qp_rested(const struct ibcc_engine *e, uint32_t qp)
{
	return qp == NONE || e->qp[qp].ready_ps <= e->now_ps;
}

/* The port that a packet's queue pair leads to, from the packet's qp. */
static inline uint32_t qp_dst(const struct ibcc_engine *e, uint32_t qp)
{
	return qp & BARE_QP ? qp & ~BARE_QP : e->qp[qp].dst_port;
}

/* The group of a packet. */
static inline uint32_t pkt_group(const struct ibcc_engine *e, const struct pkt *k)
{
	const struct flow *f = &e->flow[k->flow];

	return e->path_sl ? group_to(e, f, qp_dst(e, k->qp)) : f->group;
}

/* A packet's queue pair, made if need be; NONE and e->err: out of memory. */
static inline uint32_t pkt_qp(struct ibcc_engine *e, const struct pkt *k)
{
	uint32_t qp = k->qp;

	if (qp & BARE_QP) {
		qp = ibcc_fab_qp_get(e, group_to(e, &e->flow[k->flow], qp & ~BARE_QP),
				     qp & ~BARE_QP);
		if (qp == NONE)
			e->err = -ENOMEM;
	}
	return qp;
}

#endif
