/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Routes that can block each other for ever.
 *
 * A packet that waits for an output holds the buffer behind the output before. So each route
 * makes its outputs depend on one another. A lossless fabric cannot deadlock if no output depends
 * on itself in this way (W. Dally, C. Seitz, Deadlock-free message routing in multiprocessor
 * interconnection networks, IEEE Transactions on Computers, 1987). Each VL has buffers of its own,
 * so what depends on one another are outputs with VLs, lanes for short. Only outputs between
 * switches can be in such a circle. Begin with ibcc_route_find_cycle().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/device.h>
#include <ibcc/route.h>

/* LIDs are followed in blocks: the entries of a block are together in each table. */
#define BLOCK_LIDS 64u

/* LIDs of a block whose routes passed a node. */
struct seen {
	uint32_t block; /* 1 + its number; the LIDs of an earlier one do not count */
	uint64_t lids;
};

/* Of a switch's port, the port at the other end if that is a switch's, too. */
struct wire {
	uint32_t in, node; /* IBCC_NONE: it is none */
};

/* What is needed of a switch for each LID: much less than a topology has of it. */
struct table {
	const uint8_t *lft;
	uint32_t len, first_port, n_ports;
};

struct graph {
	const struct ibcc_topo *t;
	const struct ibcc_route_sls *sls; /* NULL: a path has the SL of its use */
	unsigned int vls;                 /* that are told apart */
	unsigned int n_sls;               /* SLs that are kept apart: 1 or 16 */
	bool maps;                        /* a switch has an SL to VL table */
	bool one_vl;                      /* all packets are on one VL */
	struct table *table;              /* by node */
	struct wire *wire;                /* by port */
	/* By lane, port * vls + VL: the lanes of the next switch that its packets take, as bits of
	 * row_words words by port number * vls + VL, enough for the largest switch.
	 */
	uint64_t *next;
	size_t row_words;
	struct seen *seen; /* by node * n_sls + SL */
	/* What a leaf's own ports depend on by the LIDs of one block, as `next`, by port number. */
	uint64_t *near;
	uint8_t *state; /* by lane, of the search */
	uint32_t *path; /* lanes from where the search began to where it is */
};

enum { NEW, ON_PATH, DONE };

/* The lane by which a switch forwards what came in by a port, or IBCC_NONE if that leads to no
 * other switch. *num is its port's number.
 */
static uint32_t output(const struct graph *g, uint32_t node, uint32_t in, uint32_t lid,
		       unsigned int sl, uint8_t *num)
{
	const struct table *sw = &g->table[node];
	const struct ibcc_topo *t = g->t;
	unsigned int vl, vls;
	uint32_t out;

	*num = lid < sw->len ? sw->lft[lid] : IBCC_LFT_NONE;
	out = sw->first_port + *num;
	if (!*num || *num > sw->n_ports || g->wire[out].in == IBCC_NONE)
		return IBCC_NONE;
	if (g->one_vl)
		return out;
	vls = t->port[out].op_vls ? t->port[out].op_vls : 1;
	vl = ibcc_topo_vl(t, node, t->port[in].num, *num, (uint8_t)sl);
	/* On a VL that is not there, the packet is dropped. */
	return vl < vls ? out * g->vls + vl : IBCC_NONE;
}

/* Whether routes of a LID and an SL passed a node before; from now on, they did. */
static bool passes_again(struct graph *g, uint32_t node, uint32_t lid, unsigned int sl)
{
	struct seen *s = &g->seen[node * g->n_sls + (g->n_sls > 1 ? sl : 0)];
	uint32_t block = lid / BLOCK_LIDS + 1;
	uint64_t bit = 1ull << lid % BLOCK_LIDS;
	bool again;

	if (s->block != block)
		*s = (struct seen){ .block = block };
	again = s->lids & bit;
	s->lids |= bit;
	return again;
}

/* Follows a LID from an input of a switch on, and notes which lane depends on which, until it comes
 * to a switch where it has been. With SL to VL tables the input matters, too, so that it follows
 * the whole route, of at most IBCC_ROUTE_MAX_HOPS links. What the first switch's ports depend on
 * goes to `near`, if that is there.
 */
static void follow(struct graph *g, uint32_t in, uint32_t lid, unsigned int sl, uint64_t *near)
{
	uint32_t node = g->t->port[in].node;
	uint8_t num;
	uint32_t out = output(g, node, in, lid, sl, &num);

	if (!g->maps)
		passes_again(g, node, lid, sl);
	for (unsigned int i = 0; out != IBCC_NONE && (!g->maps || i < IBCC_ROUTE_MAX_HOPS); i++) {
		const struct wire *w = &g->wire[g->table[node].first_port + num];
		uint64_t *row = near ? near + num * g->row_words : g->next + out * g->row_words;
		uint32_t at;

		in = w->in;
		node = w->node;
		near = NULL;
		out = output(g, node, in, lid, sl, &num);
		if (out != IBCC_NONE) {
			at = out - g->table[node].first_port * g->vls;
			row[at / 64] |= 1ull << at % 64;
		}
		if (!g->maps && passes_again(g, node, lid, sl))
			return;
	}
}

/* Follows the routes to a LID from the switch's port that an adapter is linked to. */
static void follow_from(struct graph *g, uint32_t in, uint32_t lid, unsigned int sl, uint64_t *near)
{
	const struct ibcc_topo *t = g->t;

	if (in == IBCC_NONE || !ibcc_topo_is_switch(t, t->port[in].node))
		return;
	if (g->sls)
		sl = ibcc_route_sl(t, g->sls, t->port[in].peer, t->lid_port[lid]);
	if (sl != IBCC_ROUTE_NO_SL)
		follow(g, in, lid, sl, near);
}

static int by_destination(const void *a, const void *b)
{
	const struct ibcc_route_use *x = a, *y = b;

	return x->to < y->to ? -1 : x->to > y->to;
}

/* The adapters' ports at one switch that send to all on an SL: the routes of all of them are those
 * from the switch on. With SL to VL tables, or an SL for each two ports, each port is a leaf of its
 * own. No port goes to its own node, nor to the one that its use leaves out, so the switch is not
 * used towards a node that all of them leave out. There are two of these at most.
 */
struct leaf {
	uint32_t in, but[2]; /* a port of the switch; nodes, IBCC_NONE: there is none */
	uint8_t sl;
	uint32_t first; /* number of the group of leaves that are linked alike */
};

static bool leaves_out(const struct ibcc_topo *t, const struct ibcc_route_use *use, uint32_t node)
{
	return use->but == node || t->port[use->from].node == node;
}

/* `known` has 1 + the place of the leaf of each node and SL. */
static void add_leaf(const struct graph *g, struct leaf *leaf, uint32_t *n, uint32_t *known,
		     const struct ibcc_route_use *use)
{
	const struct ibcc_topo *t = g->t;
	uint32_t peer = t->port[use->from].peer, *place;

	if (peer == IBCC_NONE || !ibcc_topo_is_switch(t, t->port[peer].node))
		return;
	place = &known[t->port[peer].node * 16 + use->sl];
	if (!*place || g->maps || (g->sls && g->sls->by_ends)) {
		leaf[*n] =
			(struct leaf){ peer, { t->port[use->from].node, use->but }, use->sl, *n };
		*place = ++*n;
		return;
	}
	for (int i = 0; i < 2; i++)
		if (!leaves_out(t, use, leaf[*place - 1].but[i]))
			leaf[*place - 1].but[i] = IBCC_NONE;
}

/* Whether two leaves' ports of the same number lead to the same switches. */
static bool linked_alike(const struct graph *g, const struct leaf *a, const struct leaf *b)
{
	const struct table *x = &g->table[g->t->port[a->in].node];
	const struct table *y = &g->table[g->t->port[b->in].node];

	if (a->sl != b->sl || x->len != y->len || x->n_ports != y->n_ports)
		return false;
	for (uint32_t i = 1; i <= x->n_ports; i++)
		if (g->wire[x->first_port + i].node != g->wire[y->first_port + i].node)
			return false;
	return true;
}

static int by_first(const void *a, const void *b)
{
	const struct leaf *x = a, *y = b;

	return x->first != y->first ? (x->first > y->first) - (x->first < y->first)
				    : (x->in > y->in) - (x->in < y->in);
}

/* Puts leaves that are linked alike next to each other: in a tree, those below the same switches.
 * Their tables mostly say the same, so most of the routes need to be followed from one of them.
 * `known` has 1 + the place of the last such group by the switch that its lowest link leads to.
 */
static void group_leaves(const struct graph *g, struct leaf *leaf, uint32_t n, uint32_t *known)
{
	if (!g->one_vl || g->sls || !n)
		return;
	for (uint32_t i = 0; i < n; i++) {
		const struct table *sw = &g->table[g->t->port[leaf[i].in].node];
		uint32_t next = IBCC_NONE;

		for (uint32_t p = 1; next == IBCC_NONE && p <= sw->n_ports; p++)
			next = g->wire[sw->first_port + p].node;
		if (next == IBCC_NONE)
			continue;
		if (known[next] && linked_alike(g, &leaf[known[next] - 1], &leaf[i]))
			leaf[i].first = known[next] - 1;
		else
			known[next] = i + 1;
	}
	qsort(leaf, n, sizeof(*leaf), by_first);
}

/* The leaves of uses that go to all; *n is their number. NULL: no memory. */
static struct leaf *leaves(const struct graph *g, const struct ibcc_route_use *use, uint32_t n_uses,
			   uint32_t *n)
{
	struct leaf *leaf = calloc(n_uses + 1u, sizeof(*leaf));
	uint32_t *known = calloc(16 * (g->t->n_nodes + 1u), sizeof(*known));

	*n = 0;
	for (uint32_t i = 0; leaf && known && i < n_uses; i++)
		add_leaf(g, leaf, n, known, &use[i]);
	if (leaf && known) {
		memset(known, 0, g->t->n_nodes * sizeof(*known));
		group_leaves(g, leaf, *n, known);
	}
	if (!known) {
		free(leaf);
		leaf = NULL;
	}
	free(known);
	return leaf;
}

/* A LID of a block that data goes to: the first one of an adapter's port. */
static bool is_destination(const struct ibcc_topo *t, uint32_t lid)
{
	uint32_t port = t->lid_port[lid];

	return port != IBCC_NONE && t->port[port].lid == lid &&
	       !ibcc_topo_is_switch(t, t->port[port].node);
}

/* The LIDs of a node, of the block that begins with `from`. */
static uint64_t lids_of(const struct ibcc_topo *t, uint32_t node, uint32_t from)
{
	uint64_t lids = 0;

	if (node == IBCC_NONE)
		return 0;
	for (uint32_t i = 0; i <= t->node[node].n_ports; i++) {
		uint32_t lid = t->port[t->node[node].first_port + i].lid;

		if (lid >= from && lid - from < BLOCK_LIDS)
			lids |= 1ull << (lid - from);
	}
	return lids;
}

/* Whether the tables of two leaves that are linked alike have the same entries in a block. */
static bool same_entries(const struct graph *g, const struct leaf *a, const struct leaf *b,
			 uint32_t from)
{
	const struct table *x = &g->table[g->t->port[a->in].node];
	const struct table *y = &g->table[g->t->port[b->in].node];
	uint32_t n = x->len <= from ? 0 : x->len - from;

	return !n || !memcmp(x->lft + from, y->lft + from, n < BLOCK_LIDS ? n : BLOCK_LIDS);
}

/* What the ports of a leaf like the one just followed depend on, too. */
static void add_near(struct graph *g, const struct leaf *l)
{
	const struct table *sw = &g->table[g->t->port[l->in].node];
	uint64_t *row = g->next + sw->first_port * g->row_words;

	for (size_t i = 0; i < (sw->n_ports + 1u) * g->row_words; i++)
		row[i] |= g->near[i];
}

/* Follows the routes from all leaves to LIDs of a block. Of leaves that are linked alike, and
 * may send to the same LIDs, only the first is followed, and those with other entries: the others'
 * packets go the same ways.
 */
static void follow_leaves(struct graph *g, const struct leaf *leaf, uint32_t n, uint32_t from,
			  uint64_t to)
{
	const struct ibcc_topo *t = g->t;
	const struct leaf *first = NULL;
	uint64_t firsts = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct leaf *l = &leaf[i];
		bool leads = i + 1 < n && leaf[i + 1].first == l->first &&
			     (!first || first->first != l->first);
		uint64_t lids = to & ~(lids_of(t, l->but[0], from) | lids_of(t, l->but[1], from));

		if (first && first->first == l->first && lids == firsts &&
		    same_entries(g, first, l, from)) {
			add_near(g, l);
			continue;
		}
		if (leads) {
			first = l;
			firsts = lids;
			memset(g->near, 0,
			       (g->table[t->port[l->in].node].n_ports + 1u) * g->row_words *
				       sizeof(*g->near));
		}
		for (; lids; lids &= lids - 1)
			follow_from(g, l->in, from + (uint32_t)__builtin_ctzll(lids), l->sl,
				    leads ? g->near : NULL);
		if (leads)
			add_near(g, l);
	}
}

/* Follows all routes in use. A use that goes to all destinations comes last, as IBCC_NONE is the
 * greatest index. With one of each host, only their switches are looked at for each destination.
 */
static int add_routes(struct graph *g, struct ibcc_route_use *use, uint32_t n_uses)
{
	const struct ibcc_topo *t = g->t;
	uint32_t to_all = n_uses, n_leaves;
	struct leaf *leaf;

	if (n_uses)
		qsort(use, n_uses, sizeof(*use), by_destination);
	while (to_all && use[to_all - 1].to == IBCC_NONE)
		to_all--;
	leaf = leaves(g, n_uses ? use + to_all : use, n_uses - to_all, &n_leaves);
	if (!leaf)
		return -ENOMEM;
	for (uint32_t from = 0; from <= IBCC_LID_MAX; from += BLOCK_LIDS) {
		uint64_t hosts = 0;

		for (uint32_t lid = from; lid < from + BLOCK_LIDS; lid++)
			if (is_destination(t, lid) &&
			    ibcc_device_is_host(t, t->port[t->lid_port[lid]].node))
				hosts |= 1ull << (lid - from);
		if (hosts)
			follow_leaves(g, leaf, n_leaves, from, hosts);
		for (uint32_t lid = from; to_all && lid < from + BLOCK_LIDS; lid++) {
			const struct ibcc_route_use key = { .to = t->lid_port[lid] };
			const struct ibcc_route_use *one = NULL;

			if (is_destination(t, lid))
				one = bsearch(&key, use, to_all, sizeof(*use), by_destination);
			while (one && one > use && one[-1].to == key.to)
				one--;
			for (; one && one < use + to_all && one->to == key.to; one++)
				follow_from(g, t->port[one->from].peer, lid, one->sl, NULL);
		}
	}
	free(leaf);
	return 0;
}

/* A lane on which `lane` depends and that the search has not finished, or IBCC_NONE. */
static uint32_t step(const struct graph *g, uint32_t lane)
{
	const struct ibcc_topo *t = g->t;
	uint32_t peer = t->port[lane / g->vls].peer, first;
	const uint64_t *row = &g->next[lane * g->row_words];
	const struct ibcc_topo_node *sw;

	if (peer == IBCC_NONE)
		return IBCC_NONE;
	sw = &t->node[t->port[peer].node];
	first = sw->first_port * g->vls;
	for (unsigned int i = g->vls; i < (sw->n_ports + 1u) * g->vls; i++)
		if (row[i / 64] >> i % 64 & 1 && g->state[first + i] != DONE)
			return first + i;
	return IBCC_NONE;
}

/* Searches depth first from a lane. Returns the length of a circle, which is the end of the path of
 * *n lanes; 0: there is none.
 */
static uint32_t search(struct graph *g, uint32_t from, uint32_t *n)
{
	*n = 0;
	g->path[(*n)++] = from;
	g->state[from] = ON_PATH;
	while (*n) {
		uint32_t at = step(g, g->path[*n - 1]);

		if (at == IBCC_NONE) {
			g->state[g->path[--*n]] = DONE;
		} else if (g->state[at] == ON_PATH) {
			uint32_t first = *n - 1;

			while (g->path[first] != at)
				first--;
			return *n - first;
		} else {
			g->path[(*n)++] = at;
			g->state[at] = ON_PATH;
		}
	}
	return 0;
}

/* Finds out how many VLs have to be told apart: with one SL and no tables, one. */
static void count_vls(struct graph *g, const struct ibcc_route_use *use, uint32_t n_uses)
{
	const struct ibcc_topo *t = g->t;
	unsigned int ports = 0;
	bool sls = false;

	g->vls = 1;
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		g->maps = g->maps || t->node[i].sl2vl;
		if (ibcc_topo_is_switch(t, i) && t->node[i].n_ports > ports)
			ports = t->node[i].n_ports;
	}
	for (uint32_t i = 0; i < n_uses; i++)
		sls = sls || use[i].sl;
	for (uint32_t i = 0; (sls || g->maps || g->sls) && i < t->n_ports; i++)
		if (t->port[i].op_vls > g->vls)
			g->vls = t->port[i].op_vls;
	/* A table may map an SL to a VL that no port has. */
	g->one_vl = g->vls == 1 && !g->maps;
	g->n_sls = sls || g->sls ? 16 : 1;
	g->row_words = ((ports + 1u) * g->vls + 63u) / 64u;
}

static int init(struct graph *g)
{
	const struct ibcc_topo *t = g->t;
	size_t ports = t->n_ports + 1u, nodes = t->n_nodes + 1u, lanes = ports * g->vls;

	g->table = calloc(nodes, sizeof(*g->table));
	g->wire = calloc(ports, sizeof(*g->wire));
	g->next = calloc(lanes, g->row_words * sizeof(*g->next));
	g->seen = calloc(nodes * g->n_sls, sizeof(*g->seen));
	g->near = calloc(UINT8_MAX + 1u, g->row_words * sizeof(*g->near));
	g->state = calloc(lanes, sizeof(*g->state));
	g->path = calloc(lanes, sizeof(*g->path));
	if (!g->table || !g->wire || !g->next || !g->seen || !g->near || !g->state || !g->path)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->n_nodes; i++)
		g->table[i] = (struct table){ t->node[i].lft, t->node[i].lft_len,
					      t->node[i].first_port, t->node[i].n_ports };
	for (uint32_t i = 0; i < t->n_ports; i++) {
		uint32_t in = t->port[i].peer;
		bool is_link = in != IBCC_NONE && ibcc_topo_is_switch(t, t->port[in].node);

		g->wire[i] = is_link ? (struct wire){ in, t->port[in].node }
				     : (struct wire){ IBCC_NONE, IBCC_NONE };
	}
	return 0;
}

static void fini(struct graph *g)
{
	free(g->table);
	free(g->wire);
	free(g->next);
	free(g->seen);
	free(g->near);
	free(g->state);
	free(g->path);
}

int ibcc_route_find_cycle(const struct ibcc_topo *t, const struct ibcc_route_sls *sls,
			  struct ibcc_route_use *use, uint32_t n_uses, struct ibcc_route_lane *out,
			  uint32_t max, uint32_t *n)
{
	struct graph g = { .t = t, .sls = sls };
	uint32_t len = 0, end = 0;
	int rc;

	count_vls(&g, use, n_uses);
	rc = init(&g);
	if (!rc)
		rc = add_routes(&g, use, n_uses);
	if (rc)
		goto out;
	for (uint32_t i = 0; i < t->n_ports * g.vls && !len; i++)
		if (g.state[i] == NEW)
			len = search(&g, i, &end);
	for (uint32_t i = 0; i < len && i < max; i++)
		out[i] = (struct ibcc_route_lane){ g.path[end - len + i] / g.vls,
						   (uint8_t)(g.path[end - len + i] % g.vls) };
	*n = len;
out:
	fini(&g);
	return rc;
}
