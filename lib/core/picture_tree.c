/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The congestion tree of a port. Forwarding by destination makes all routes to one LID a tree with
 * the LID at its root, so walking against the tables meets each switch once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "picture.h"

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

/* Looks at the ports that feed a switch of the tree of a LID; `path` is what is known of the way
 * from it to the root. Returns how many switches are still to be visited.
 */
static uint32_t visit(const struct job *j, uint32_t lid, uint32_t node, uint32_t root, uint32_t n)
{
	const struct ibcc_topo_node *sw = &j->t->node[node];
	bool feeds_root = node == j->t->port[root].node;
	struct tree *tr = j->tree;

	for (uint32_t in = sw->first_port + 1; in <= sw->first_port + sw->n_ports; in++) {
		uint32_t q = j->t->port[in].peer;
		uint8_t path = tr->path[node];
		uint32_t next;

		if (q == IBCC_NONE || in == root)
			continue;
		next = j->t->port[q].node;
		if (ibcc_topo_is_switch(j->t, next) &&
		    !forwards(&j->t->node[next], lid, j->t->port[q].num))
			continue;
		tr->n_read++;
		tr->n_usable += j->load[q].usable;
		if (feeds_root && j->load[q].usable && j->load[q].waited > tr->feed_wait)
			tr->feed_wait = j->load[q].waited;
		if (j->load[q].usable && j->load[q].waited >= j->p->ca_wait_permille &&
		    !(tr->flag[q] & TREE_COUNTED)) {
			tr->flag[q] |= TREE_COUNTED;
			tr->n_waiting++;
		}
		if (!ibcc_topo_is_switch(j->t, next)) {
			tr->flag[q] |= path | (j->load[q].usable ? TREE_REACHES : 0);
			continue;
		}
		if (tr->seen[next] == tr->walk)
			continue; /* a loop in the tables */
		tr->seen[next] = tr->walk;
		if (!load_blocked(j->p, &j->load[q]))
			path &= (uint8_t)~TREE_BLOCKED;
		tr->path[next] = path | TREE_SHARED;
		tr->stack[n++] = next;
	}
	return n;
}

void ibcc_tree_walk(const struct job *j, uint32_t root)
{
	uint32_t start = j->t->port[root].node, n;
	const struct ibcc_topo_node *sw = &j->t->node[start];
	struct tree *tr = j->tree;

	memset(tr->flag, 0, j->t->n_ports);
	tr->feed_wait = 0;
	tr->n_read = tr->n_usable = tr->n_waiting = 0;
	for (uint32_t lid = 1; lid < sw->lft_len && lid <= IBCC_LID_MAX; lid++) {
		uint32_t dest = j->t->lid_port[lid];

		/* Traffic goes to channel adapters; switches get only a few MADs. */
		if (dest == IBCC_NONE || !forwards(sw, lid, j->t->port[root].num) ||
		    !is_ca_port(j->t, dest))
			continue;
		tr->seen[start] = ++tr->walk;
		tr->path[start] = TREE_BLOCKED;
		n = visit(j, lid, start, root, 0);
		while (n)
			n = visit(j, lid, tr->stack[n - 1], root, n - 1);
	}
}
