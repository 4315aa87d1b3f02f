/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The congestion tree of a port. Forwarding by destination makes all routes to one LID a tree with
 * the LID at its root, so walking against the tables meets each switch once.
 */
#include "picture_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int ibcc_tree_init(struct tree *tr, const struct ibcc_topo *t)
{
	size_t ports = t->n_ports ? t->n_ports : 1, nodes = t->n_nodes ? t->n_nodes : 1;

	*tr = (struct tree){
		.flag = calloc(ports, sizeof(*tr->flag)),
		.stack = calloc(nodes, sizeof(*tr->stack)),
		.path = calloc(nodes, sizeof(*tr->path)),
		.seen = calloc(nodes, sizeof(*tr->seen)),
	};
	if (tr->flag && tr->stack && tr->path && tr->seen)
		return 0;
	ibcc_tree_fini(tr);
	return -ENOMEM;
}

void ibcc_tree_fini(struct tree *tr)
{
	free(tr->flag);
	free(tr->stack);
	free(tr->path);
	free(tr->seen);
	*tr = (struct tree){ 0 };
}

static bool forwards(const struct ibcc_topo_node *sw, uint32_t lid, unsigned int num)
{
	return lid < sw->lft_len && sw->lft[lid] == num;
}

struct walk {
	struct tree *tr;
	const struct ibcc_estimator_params *p;
	const struct ibcc_topo *t;
	const struct load *load;
	uint32_t lid;
	uint32_t n_stack;
};

/* Looks at the ports that feed a switch; `path` is what is known of the way from it to the root. */
static void visit(struct walk *w, uint32_t node, uint32_t skip, bool feeds_root)
{
	const struct ibcc_topo *t = w->t;
	const struct ibcc_topo_node *sw = &t->node[node];
	struct tree *tr = w->tr;

	for (unsigned int num = 1; num <= sw->n_ports; num++) {
		uint32_t q = t->port[sw->first_port + num].peer;
		uint8_t path = tr->path[node];
		uint32_t next;

		if (q == IBCC_NONE || sw->first_port + num == skip)
			continue;
		next = t->port[q].node;
		if (ibcc_topo_is_switch(t, next) &&
		    !forwards(&t->node[next], w->lid, t->port[q].num))
			continue;
		tr->n_read++;
		tr->n_usable += w->load[q].usable;
		if (feeds_root && w->load[q].usable && w->load[q].waited > tr->feed_wait)
			tr->feed_wait = w->load[q].waited;
		if (w->load[q].usable && w->load[q].waited >= w->p->ca_wait_permille &&
		    !(tr->flag[q] & TREE_COUNTED)) {
			tr->flag[q] |= TREE_COUNTED;
			tr->n_waiting++;
		}
		if (!ibcc_topo_is_switch(t, next)) {
			tr->flag[q] |= TREE_REACHES | path;
			continue;
		}
		if (tr->seen[next] == tr->walk)
			continue; /* a loop in the tables */
		tr->seen[next] = tr->walk;
		if (!load_blocked(w->p, &w->load[q]))
			path &= (uint8_t)~TREE_BLOCKED;
		tr->path[next] = path | TREE_SHARED;
		tr->stack[w->n_stack++] = next;
	}
}

static void walk_lid(struct walk *w, uint32_t root)
{
	uint32_t start = w->t->port[root].node;

	w->tr->walk++;
	w->tr->seen[start] = w->tr->walk;
	w->tr->path[start] = TREE_BLOCKED;
	w->n_stack = 0;
	visit(w, start, root, true);
	while (w->n_stack)
		visit(w, w->tr->stack[--w->n_stack], IBCC_NONE, false);
}

void ibcc_tree_walk(struct tree *tr, const struct ibcc_estimator_params *p,
		    const struct ibcc_topo *t, const struct load *load, uint32_t root)
{
	const struct ibcc_topo_node *sw = &t->node[t->port[root].node];
	struct walk w = { .tr = tr, .p = p, .t = t, .load = load };

	memset(tr->flag, 0, t->n_ports);
	tr->feed_wait = 0;
	tr->n_read = tr->n_usable = tr->n_waiting = 0;
	for (w.lid = 1; w.lid < sw->lft_len && w.lid <= IBCC_LID_MAX; w.lid++) {
		uint32_t dest = t->lid_port[w.lid];

		/* Traffic goes to channel adapters; switches get only a few MADs. */
		if (dest == IBCC_NONE || !forwards(sw, w.lid, t->port[root].num) ||
		    ibcc_topo_is_switch(t, t->port[dest].node))
			continue;
		walk_lid(&w, root);
	}
}
