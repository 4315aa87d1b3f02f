/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Routes that can block each other for ever.
 *
 * A packet that waits for an output holds the buffer behind the output before. So each route
 * makes its outputs depend on one another. A lossless fabric cannot deadlock if no output depends
 * on itself in this way (W. Dally, C. Seitz, Deadlock-free message routing in multiprocessor
 * interconnection networks, IEEE Transactions on Computers, 1987). Only outputs between switches
 * can be in such a circle. Begin with ibcc_route_find_cycle().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/device.h>
#include <ibcc/route.h>

/* The outputs of the next switch that an output's packets take, as a mask by port number. */
struct next_outputs {
	uint8_t bit[32];
};

struct graph {
	const struct ibcc_topo *t;
	struct next_outputs *next; /* by output port */
	uint32_t *seen;            /* by node: the last LID whose routes passed it */
	uint8_t *state;            /* by output port, of the search */
	uint32_t *path;            /* outputs from where the search began to where it is */
};

enum { NEW, ON_PATH, DONE };

/* The output by which a switch forwards a LID to another switch, or IBCC_NONE. */
static uint32_t output(const struct ibcc_topo *t, uint32_t sw, uint32_t lid)
{
	const struct ibcc_topo_node *n = &t->node[sw];
	uint8_t num = lid < n->lft_len ? n->lft[lid] : IBCC_LFT_NONE;
	uint32_t peer;

	if (!num || num > n->n_ports)
		return IBCC_NONE;
	peer = t->port[n->first_port + num].peer;
	if (peer == IBCC_NONE || !ibcc_topo_is_switch(t, t->port[peer].node))
		return IBCC_NONE;
	return n->first_port + num;
}

/* Follows a LID from a switch on, and notes which output depends on which, until it comes to a
 * switch where it has been.
 */
static void follow(struct graph *g, uint32_t sw, uint32_t lid)
{
	const struct ibcc_topo *t = g->t;
	uint32_t out = g->seen[sw] == lid ? IBCC_NONE : output(t, sw, lid);

	while (out != IBCC_NONE && g->seen[sw] != lid) {
		uint32_t then;

		g->seen[sw] = lid;
		sw = t->port[t->port[out].peer].node;
		then = output(t, sw, lid);
		if (then != IBCC_NONE)
			g->next[out].bit[t->port[then].num / 8] |=
				(uint8_t)(1u << t->port[then].num % 8);
		out = then;
	}
}

/* Follows the route from an adapter's port to a LID. */
static void follow_from(struct graph *g, uint32_t port, uint32_t lid)
{
	uint32_t peer = g->t->port[port].peer;

	if (peer != IBCC_NONE && ibcc_topo_is_switch(g->t, g->t->port[peer].node))
		follow(g, g->t->port[peer].node, lid);
}

static int by_destination(const void *a, const void *b)
{
	const struct ibcc_route_use *x = a, *y = b;

	return x->to < y->to ? -1 : x->to > y->to;
}

/* The adapters' ports at one switch that send to all: the routes of all of them are those from the
 * switch on. No port goes to its own node, nor to the one that its use leaves out, so the switch is
 * not used towards a node that all of them leave out. There are two of these at most.
 */
struct leaf {
	uint32_t sw, but[2]; /* nodes, IBCC_NONE: there is none */
	bool used;
};

static bool leaves_out(const struct ibcc_topo *t, const struct ibcc_route_use *use, uint32_t node)
{
	return use->but == node || t->port[use->from].node == node;
}

static void add_leaf(const struct ibcc_topo *t, struct leaf *leaf, const struct ibcc_route_use *use)
{
	uint32_t peer = t->port[use->from].peer;
	struct leaf *l;

	if (peer == IBCC_NONE || !ibcc_topo_is_switch(t, t->port[peer].node))
		return;
	l = &leaf[t->port[peer].node];
	if (!l->used) {
		*l = (struct leaf){ t->port[peer].node,
				    { t->port[use->from].node, use->but },
				    true };
		return;
	}
	for (int i = 0; i < 2; i++)
		if (!leaves_out(t, use, l->but[i]))
			l->but[i] = IBCC_NONE;
}

/* The switches of ports that send to all; *n is their number. NULL: no memory. */
static struct leaf *leaves(const struct ibcc_topo *t, const struct ibcc_route_use *use,
			   uint32_t n_uses, uint32_t *n)
{
	struct leaf *leaf = calloc(t->n_nodes ? t->n_nodes : 1, sizeof(*leaf));

	*n = 0;
	for (uint32_t i = 0; leaf && i < n_uses; i++)
		add_leaf(t, leaf, &use[i]);
	for (uint32_t i = 0; leaf && i < t->n_nodes; i++)
		if (leaf[i].used)
			leaf[(*n)++] = leaf[i];
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
	leaf = leaves(t, n_uses ? use + to_all : use, n_uses - to_all, &n_leaves);
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
				follow(g, leaf[i].sw, lid);
		one = to_all ? bsearch(&key, use, to_all, sizeof(*use), by_destination) : NULL;
		while (one && one > use && one[-1].to == key.to)
			one--;
		for (; one && one < use + to_all && one->to == key.to; one++)
			follow_from(g, one->from, lid);
	}
	free(leaf);
	return 0;
}

/* An output on which `out` depends and that the search has not finished, or IBCC_NONE. */
static uint32_t step(const struct graph *g, uint32_t out)
{
	const struct ibcc_topo *t = g->t;
	const struct ibcc_topo_node *sw;

	if (t->port[out].peer == IBCC_NONE)
		return IBCC_NONE;
	sw = &t->node[t->port[t->port[out].peer].node];
	for (unsigned int num = 1; num <= sw->n_ports; num++)
		if (g->next[out].bit[num / 8] & 1u << num % 8 &&
		    g->state[sw->first_port + num] != DONE)
			return sw->first_port + num;
	return IBCC_NONE;
}

/* Searches depth first from an output. Returns the length of a circle, which is the end of the path
 * of *n outputs; 0: there is none.
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

int ibcc_route_find_cycle(const struct ibcc_topo *t, struct ibcc_route_use *use, uint32_t n_uses,
			  uint32_t *out, uint32_t max, uint32_t *n)
{
	size_t ports = t->n_ports ? t->n_ports : 1;
	struct graph g = {
		.t = t,
		.next = calloc(ports, sizeof(*g.next)),
		.seen = calloc(t->n_nodes ? t->n_nodes : 1, sizeof(*g.seen)),
		.state = calloc(ports, sizeof(*g.state)),
		.path = calloc(ports, sizeof(*g.path)),
	};
	uint32_t len = 0, end = 0;
	int rc = g.next && g.seen && g.state && g.path ? 0 : -ENOMEM;

	if (rc)
		goto out;
	rc = add_routes(&g, use, n_uses);
	if (rc)
		goto out;
	for (uint32_t i = 0; i < t->n_ports && !len; i++)
		if (g.state[i] == NEW)
			len = search(&g, i, &end);
	for (uint32_t i = 0; i < len && i < max; i++)
		out[i] = g.path[end - len + i];
	*n = len;
out:
	free(g.next);
	free(g.seen);
	free(g.state);
	free(g.path);
	return rc;
}
