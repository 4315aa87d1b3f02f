/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Routes that can block each other for ever.
 *
 * A packet that waits for an output holds the buffer behind the output before. So each route makes
 * its outputs depend on one another, and a lossless fabric cannot deadlock if no output depends on
 * itself that way (W. Dally, C. Seitz: Deadlock-free message routing in multiprocessor
 * interconnection networks, 1987). Only outputs between switches can be in such a circle.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/route.h>

/* Outputs of the next switch that an output's packets take. */
struct next_outputs {
	uint8_t bit[32];
};

struct graph {
	const struct ibcc_topo *t;
	struct next_outputs *next; /* by output port */
	uint32_t *leaf, n_leaves;  /* switches where routes begin */
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

/* Follows a LID from a switch on until it comes to where it was before. */
static void follow(struct graph *g, uint32_t sw, uint32_t lid)
{
	const struct ibcc_topo *t = g->t;
	uint32_t out = output(t, sw, lid);

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

/* True if a channel adapter is linked to the switch: routes begin there. */
static bool is_leaf(const struct ibcc_topo *t, uint32_t sw)
{
	const struct ibcc_topo_node *n = &t->node[sw];

	for (unsigned int num = 1; n->type == IBCC_NODE_SWITCH && num <= n->n_ports; num++) {
		uint32_t peer = t->port[n->first_port + num].peer;

		if (peer != IBCC_NONE && !ibcc_topo_is_switch(t, t->port[peer].node))
			return true;
	}
	return false;
}

/* Routes of what channel adapters send to each other. What switches send and get is not data. */
static void add_routes(struct graph *g)
{
	const struct ibcc_topo *t = g->t;

	for (uint32_t sw = 0; sw < t->n_nodes; sw++)
		if (is_leaf(t, sw))
			g->leaf[g->n_leaves++] = sw;
	for (uint32_t lid = 1; lid <= IBCC_LID_MAX; lid++) {
		uint32_t port = t->lid_port[lid];

		if (port == IBCC_NONE || ibcc_topo_is_switch(t, t->port[port].node))
			continue;
		for (uint32_t i = 0; i < g->n_leaves; i++)
			follow(g, g->leaf[i], lid);
	}
}

/* The next output of the last on the path that is not done with, or IBCC_NONE. */
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

/* Depth first from an output. Returns the length of a circle, which then ends the path of *n. */
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

int ibcc_route_find_cycle(const struct ibcc_topo *t, uint32_t *out, uint32_t max, uint32_t *n)
{
	size_t ports = t->n_ports ? t->n_ports : 1;
	struct graph g = {
		.t = t,
		.next = calloc(ports, sizeof(*g.next)),
		.leaf = calloc(t->n_nodes ? t->n_nodes : 1, sizeof(*g.leaf)),
		.seen = calloc(t->n_nodes ? t->n_nodes : 1, sizeof(*g.seen)),
		.state = calloc(ports, sizeof(*g.state)),
		.path = calloc(ports, sizeof(*g.path)),
	};
	uint32_t len = 0, end = 0;
	int rc = g.next && g.leaf && g.seen && g.state && g.path ? 0 : -ENOMEM;

	if (rc)
		goto out;
	add_routes(&g);
	for (uint32_t i = 0; i < t->n_ports && !len; i++)
		if (g.state[i] == NEW)
			len = search(&g, i, &end);
	for (uint32_t i = 0; i < len && i < max; i++)
		out[i] = g.path[end - len + i];
	*n = len;
out:
	free(g.next);
	free(g.leaf);
	free(g.seen);
	free(g.state);
	free(g.path);
	return rc;
}
