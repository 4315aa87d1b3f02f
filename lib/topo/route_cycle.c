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

struct graph {
	const struct ibcc_topo *t;
	const struct ibcc_route_sls *sls; /* NULL: a path has the SL of its use */
	unsigned int vls;                 /* that are told apart */
	bool maps;                        /* a switch has an SL to VL table */
	/* By lane, port * vls + VL: the lanes of the next switch that its packets take, as a mask
	 * of row_bytes by port number * vls + VL, enough for the largest switch.
	 */
	uint8_t *next;
	size_t row_bytes;
	uint32_t *seen; /* by node: the last LID and SL whose routes passed it */
	uint8_t *state; /* by lane, of the search */
	uint32_t *path; /* lanes from where the search began to where it is */
};

enum { NEW, ON_PATH, DONE };

/* The lane by which a switch forwards what came in by a port to another switch, or IBCC_NONE. */
static uint32_t output(const struct graph *g, uint32_t in, uint32_t lid, unsigned int sl)
{
	const struct ibcc_topo *t = g->t;
	const struct ibcc_topo_node *n = &t->node[t->port[in].node];
	uint8_t num = lid < n->lft_len ? n->lft[lid] : IBCC_LFT_NONE;
	uint32_t out = n->first_port + num, peer;
	unsigned int vl = 0, vls;

	if (!num || num > n->n_ports)
		return IBCC_NONE;
	peer = t->port[out].peer;
	if (peer == IBCC_NONE || !ibcc_topo_is_switch(t, t->port[peer].node))
		return IBCC_NONE;
	vls = t->port[out].op_vls ? t->port[out].op_vls : 1;
	if (g->vls > 1)
		vl = ibcc_topo_vl(t, t->port[in].node, t->port[in].num, num, (uint8_t)sl);
	/* On a VL that is not there, the packet is dropped. */
	return vl < vls ? out * g->vls + vl : IBCC_NONE;
}

/* Follows a LID from an input of a switch on, and notes which lane depends on which, until it comes
 * to a switch where it has been. With SL to VL tables the input matters, too, so that it follows
 * the whole route, of at most IBCC_ROUTE_MAX_HOPS links.
 */
static void follow(struct graph *g, uint32_t in, uint32_t lid, unsigned int sl)
{
	const struct ibcc_topo *t = g->t;
	uint32_t key = lid << 4 | sl, node = t->port[in].node;
	uint32_t out = g->seen[node] == key ? IBCC_NONE : output(g, in, lid, sl);

	for (unsigned int i = 0; out != IBCC_NONE && (!g->maps || i < IBCC_ROUTE_MAX_HOPS); i++) {
		uint32_t then, at;

		node = t->port[in].node;
		if (g->seen[node] == key)
			return;
		if (!g->maps)
			g->seen[node] = key;
		in = t->port[out / g->vls].peer;
		then = output(g, in, lid, sl);
		if (then != IBCC_NONE) {
			at = then - t->node[t->port[in].node].first_port * g->vls;
			g->next[out * g->row_bytes + at / 8] |= (uint8_t)(1u << at % 8);
		}
		out = then;
	}
}

/* Follows the routes to a LID from the switch's port that an adapter is linked to. */
static void follow_from(struct graph *g, uint32_t in, uint32_t lid, unsigned int sl)
{
	const struct ibcc_topo *t = g->t;

	if (in == IBCC_NONE || !ibcc_topo_is_switch(t, t->port[in].node))
		return;
	if (g->sls)
		sl = ibcc_route_sl(t, g->sls, t->port[in].peer, t->lid_port[lid]);
	if (sl != IBCC_ROUTE_NO_SL)
		follow(g, in, lid, sl);
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
		leaf[*n] = (struct leaf){ peer, { t->port[use->from].node, use->but }, use->sl };
		*place = ++*n;
		return;
	}
	for (int i = 0; i < 2; i++)
		if (!leaves_out(t, use, leaf[*place - 1].but[i]))
			leaf[*place - 1].but[i] = IBCC_NONE;
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
	if (!known) {
		free(leaf);
		leaf = NULL;
	}
	free(known);
	return leaf;
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
	for (uint32_t lid = 1; lid <= IBCC_LID_MAX; lid++) {
		const struct ibcc_route_use key = { .to = t->lid_port[lid] };
		const struct ibcc_route_use *one;
		uint32_t node, ways;

		/* Data goes to a port's first LID. */
		if (key.to == IBCC_NONE || t->port[key.to].lid != lid ||
		    ibcc_topo_is_switch(t, t->port[key.to].node))
			continue;
		node = t->port[key.to].node;
		ways = n_leaves && ibcc_device_is_host(t, node) ? n_leaves : 0;
		for (uint32_t i = 0; i < ways; i++)
			if (leaf[i].but[0] != node && leaf[i].but[1] != node)
				follow_from(g, leaf[i].in, lid, leaf[i].sl);
		one = to_all ? bsearch(&key, use, to_all, sizeof(*use), by_destination) : NULL;
		while (one && one > use && one[-1].to == key.to)
			one--;
		for (; one && one < use + to_all && one->to == key.to; one++)
			follow_from(g, t->port[one->from].peer, lid, one->sl);
	}
	free(leaf);
	return 0;
}

/* A lane on which `lane` depends and that the search has not finished, or IBCC_NONE. */
static uint32_t step(const struct graph *g, uint32_t lane)
{
	const struct ibcc_topo *t = g->t;
	uint32_t peer = t->port[lane / g->vls].peer, first;
	const uint8_t *row = &g->next[lane * g->row_bytes];
	const struct ibcc_topo_node *sw;

	if (peer == IBCC_NONE)
		return IBCC_NONE;
	sw = &t->node[t->port[peer].node];
	first = sw->first_port * g->vls;
	for (unsigned int i = g->vls; i < (sw->n_ports + 1u) * g->vls; i++)
		if (row[i / 8] & 1u << i % 8 && g->state[first + i] != DONE)
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
	g->row_bytes = ((ports + 1u) * g->vls + 7u) / 8u;
}

int ibcc_route_find_cycle(const struct ibcc_topo *t, const struct ibcc_route_sls *sls,
			  struct ibcc_route_use *use, uint32_t n_uses, struct ibcc_route_lane *out,
			  uint32_t max, uint32_t *n)
{
	struct graph g = { .t = t, .sls = sls };
	uint32_t lanes, len = 0, end = 0;
	int rc;

	count_vls(&g, use, n_uses);
	lanes = (t->n_ports ? t->n_ports : 1) * g.vls;
	g.next = calloc(lanes, g.row_bytes);
	g.seen = calloc(t->n_nodes ? t->n_nodes : 1, sizeof(*g.seen));
	g.state = calloc(lanes, sizeof(*g.state));
	g.path = calloc(lanes, sizeof(*g.path));
	rc = g.next && g.seen && g.state && g.path ? 0 : -ENOMEM;
	if (rc)
		goto out;
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
	free(g.next);
	free(g.seen);
	free(g.state);
	free(g.path);
	return rc;
}
