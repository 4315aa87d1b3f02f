/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Random fabrics with loads for the estimator, and a plain walk upstream: it follows each LID
 * behind a port from each switch on, and keeps nothing of one LID for the next one.
 */
#ifndef TEST_PLAIN_WALK_H
#define TEST_PLAIN_WALK_H

#include <stdlib.h>
#include <string.h>

#include "fabric_random.h"

#include "lib/law/estimate.h"

#define MANY         40u  /* switches of a fabric now and then */
#define MANY_PORTS   140u /* of a switch */
#define STATE_DOWN   1u
#define STATE_ACTIVE 4u

struct fabric {
	uint64_t rng;
	struct ibcc_topo *t; /* switches, then their adapters */
	uint32_t switches;
	struct ibcc_estimator_params p;
	struct ibcc_snapshot s;
	struct load *load;
	struct tree tree;
	struct estimation j;
};

/* What a walk finds. */
struct found {
	uint8_t *flag, *below; /* by port, by node */
	uint32_t n_read, n_usable, n_waiting;
	uint16_t feed_wait;
	uint64_t unknown_mbps;
};

static inline uint32_t below(struct fabric *f, uint32_t n)
{
	return ibcc_rng_below(&f->rng, n);
}

static inline bool one_in(struct fabric *f, uint32_t n)
{
	return fabric_one_in(&f->rng, n);
}

/* Takes a node away as if it did not answer: its links are up, and lead nowhere. */
static inline void silence(struct fabric *f, uint32_t node)
{
	const struct ibcc_topo_node *n = &f->t->node[node];

	for (uint32_t i = n->first_port; i <= n->first_port + n->n_ports; i++) {
		uint32_t peer = f->t->port[i].peer;

		ibcc_topo_clear_lid(f->t, i);
		if (peer == IBCC_NONE)
			continue;
		ibcc_topo_unlink(f->t, i);
		f->t->port[i].state = STATE_DOWN;
		f->t->port[peer].state = one_in(f, 3) ? 0 : STATE_ACTIVE;
		f->t->port[peer].rate_mbps = one_in(f, 4) ? 0 : 1000 + below(f, 1000);
	}
}

static inline void add_loads(struct fabric *f)
{
	for (uint32_t i = 0; i < f->t->n_ports; i++) {
		struct load *l = &f->load[i];

		l->usable = !one_in(f, 8);
		l->waited = (uint16_t)(one_in(f, 2) ? below(f, 1000) : 600);
		l->sent = (uint16_t)(1000 - l->waited);
	}
}

static inline struct fabric *fabric_new(uint64_t seed)
{
	struct fabric *f = calloc(1, sizeof(*f));
	uint32_t ports;

	assert_non_null(f);
	f->rng = seed;
	f->switches = seed % 50 == 1 ? MANY : 2 + below(f, 7);
	ports = seed % 10 == 2 ? MANY_PORTS : 6 + below(f, 10);
	f->t = fabric_random(&f->rng, f->switches, ports);
	for (uint32_t i = 0; i < f->t->n_ports; i++)
		if (f->t->port[i].peer == IBCC_NONE)
			f->t->port[i].state = STATE_DOWN;
	for (uint32_t i = below(f, 4); i; i--)
		silence(f, below(f, f->t->n_nodes));
	fabric_break_tables(f->t, &f->rng, f->switches);
	assert_int_equal(ibcc_topo_find_gaps(f->t), 0);
	f->load = calloc(f->t->n_ports, sizeof(*f->load));
	assert_non_null(f->load);
	add_loads(f);
	assert_int_equal(ibcc_snapshot_init(&f->s, f->t), 0);
	f->p = (struct ibcc_estimator_params){ .full_permille = 900,
					       .fed_wait_permille = 100,
					       .ca_wait_permille = 500 };
	f->j = (struct estimation){
		.p = &f->p, .t = f->t, .s = &f->s, .load = f->load, .tree = &f->tree
	};
	assert_int_equal(ibcc_tree_init(&f->j), 0);
	return f;
}

static inline void fabric_free(struct fabric *f)
{
	ibcc_tree_fini(&f->tree);
	ibcc_snapshot_fini(&f->s);
	ibcc_topo_free(f->t);
	free(f->load);
	free(f);
}

/* The port by which a switch forwards a LID, or IBCC_NONE. */
static inline uint32_t out_of(const struct ibcc_topo *t, uint32_t node, uint32_t lid)
{
	const struct ibcc_topo_node *sw = &t->node[node];
	uint32_t num = lid < sw->lft_len ? sw->lft[lid] : IBCC_LFT_NONE;

	return num && num <= sw->n_ports ? sw->first_port + num : IBCC_NONE;
}

/* The flags of a switch's way to the root for a LID; 0: its packets do not come there. Those that
 * come in by the root itself do not count.
 */
static inline uint8_t way(const struct fabric *f, uint32_t node, uint32_t lid, uint32_t root)
{
	const struct ibcc_topo *t = f->t;
	uint8_t flags = TREE_REACHES | TREE_BLOCKED;

	for (uint32_t hops = 0; hops <= f->switches; hops++) {
		uint32_t out = out_of(t, node, lid);
		const struct load *l = &f->load[out == IBCC_NONE ? 0 : out];

		if (node == t->port[root].node)
			return flags;
		if (out == IBCC_NONE || t->port[out].peer == IBCC_NONE || t->port[out].peer == root)
			return 0;
		node = t->port[t->port[out].peer].node;
		if (!ibcc_topo_is_switch(t, node))
			return 0;
		flags |= TREE_SHARED;
		if (!l->usable || l->sent + l->waited < f->p.full_permille ||
		    l->waited < f->p.fed_wait_permille)
			flags &= (uint8_t)~TREE_BLOCKED;
	}
	return 0;
}

static inline bool is_waiting(const struct fabric *f, uint32_t port)
{
	return f->load[port].usable && f->load[port].waited >= f->p.ca_wait_permille;
}

/* Counts a port from which packets come to a switch in the tree. */
static inline void meet(const struct fabric *f, struct found *w, uint32_t port, bool at_root)
{
	const struct load *l = &f->load[port];

	w->n_read++;
	w->n_usable += l->usable;
	if (at_root && l->usable && l->waited > w->feed_wait)
		w->feed_wait = l->waited;
	if (is_waiting(f, port))
		w->flag[port] |= TREE_COUNTED;
}

/* Whether packets of silent nodes for a LID may come in by a port. */
static inline bool is_odd(const struct fabric *f, uint32_t in, uint32_t lid)
{
	const struct ibcc_topo *t = f->t;
	uint32_t peer = t->port[in].peer, region = IBCC_NONE;

	if (peer != IBCC_NONE) {
		const struct ibcc_topo_node *n = &t->node[t->port[peer].node];

		return n->partial && (lid >= n->lft_len || n->lft[lid] == IBCC_LFT_NONE);
	}
	for (uint32_t i = 0; i < t->n_gaps; i++)
		if (t->gap[i].port == in) {
			if (t->gap[i].has_senders)
				return true;
			region = t->gap[i].region;
		}
	for (uint32_t i = 0; region != IBCC_NONE && i < t->n_gaps; i++)
		if (t->gap[i].region == region &&
		    out_of(t, t->port[t->gap[i].port].node, lid) == t->gap[i].port)
			return true;
	return false;
}

/* Looks at all that is linked to a switch in the tree of a LID. */
static inline void look_around(const struct fabric *f, struct found *w, uint32_t node, uint32_t lid,
			       uint32_t root)
{
	const struct ibcc_topo *t = f->t;
	const struct ibcc_topo_node *sw = &t->node[node];
	bool at_root = node == t->port[root].node;

	for (uint32_t in = sw->first_port + 1; in <= sw->first_port + sw->n_ports; in++) {
		uint32_t q = t->port[in].peer, from = q == IBCC_NONE ? IBCC_NONE : t->port[q].node;

		if (in == root)
			continue;
		if (is_odd(f, in, lid))
			w->flag[in] |= TREE_UNKNOWN;
		if (q == IBCC_NONE)
			continue;
		if (!ibcc_topo_is_switch(t, from)) {
			meet(f, w, q, at_root);
		} else if (out_of(t, from, lid) == q) {
			meet(f, w, q, at_root);
			if (from != t->port[root].node && way(f, from, lid, root) & TREE_BLOCKED)
				w->flag[q] |= TREE_FEEDS;
		}
	}
}

/* Switches get no traffic. */
static inline bool is_used(const struct ibcc_topo *t, uint32_t lid)
{
	uint32_t port = t->lid_port[lid];

	if (port != IBCC_NONE)
		return !ibcc_topo_is_switch(t, t->port[port].node);
	return t->n_gaps && t->lost_lid[lid] != IBCC_NONE && t->gap[t->lost_lid[lid]].has_senders;
}

static inline void found_fini(struct found *w)
{
	free(w->flag);
	free(w->below);
}

/* *w needs found_fini(). */
static inline void walk_plainly(const struct fabric *f, struct found *w, uint32_t root)
{
	const struct ibcc_topo *t = f->t;

	*w = (struct found){ .flag = calloc(t->n_ports, 1), .below = calloc(t->n_nodes, 1) };
	assert_non_null(w->flag);
	assert_non_null(w->below);
	for (uint32_t lid = 1; lid < t->node[t->port[root].node].lft_len; lid++) {
		if (out_of(t, t->port[root].node, lid) != root || !is_used(t, lid))
			continue;
		for (uint32_t i = 0; i < f->switches; i++) {
			uint8_t flags = way(f, i, lid, root);

			w->below[i] |= flags;
			if (flags)
				look_around(f, w, i, lid, root);
		}
	}
	for (uint32_t i = 0; i < t->n_ports; i++) {
		w->n_waiting += w->flag[i] & TREE_COUNTED ? 1 : 0;
		if (w->flag[i] & TREE_UNKNOWN)
			w->unknown_mbps += t->port[i].rate_mbps ? t->port[i].rate_mbps : UINT32_MAX;
	}
}

#endif
