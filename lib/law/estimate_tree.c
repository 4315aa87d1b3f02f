/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Walks the congestion tree of a port: the switches and adapters whose packets may queue for it.
 * Forwarding by destination makes all routes to one LID a tree with the LID at its root. So
 * walking upstream against the tables meets each switch once for each LID. Begin with
 * ibcc_tree_walk().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "estimate.h"

int ibcc_tree_init(struct tree *tr, const struct ibcc_topo *t)
{
	size_t ports = t->n_ports ? t->n_ports : 1, nodes = t->n_nodes ? t->n_nodes : 1;

	*tr = (struct tree){
		.flag = calloc(ports, sizeof(*tr->flag)),
		.stack = calloc(nodes, sizeof(*tr->stack)),
		.path = calloc(nodes, sizeof(*tr->path)),
		.seen = calloc(nodes, sizeof(*tr->seen)),
		.fed = t->n_gaps ? calloc(t->n_gaps, sizeof(*tr->fed)) : NULL,
	};
	if (tr->flag && tr->stack && tr->path && tr->seen && (tr->fed || !t->n_gaps))
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
	free(tr->fed);
	*tr = (struct tree){ 0 };
}

#define PORT_ACTIVE 4u

/* Whether a switch forwards packets to a LID by a port. */
static bool forwards(const struct ibcc_topo_node *sw, uint32_t lid, unsigned int num)
{
	return lid < sw->lft_len && sw->lft[lid] == num;
}

/* Whether the entry of a LID is missing from the part of a switch's table that was read. */
static bool lacks_entry(const struct ibcc_topo_node *sw, uint32_t lid)
{
	return lid >= sw->lft_len || sw->lft[lid] == IBCC_LFT_NONE;
}

/* Notes which regions of silent nodes get packets for a LID from known switches. */
static void feed_regions(const struct estimation *j, uint32_t lid)
{
	for (uint32_t i = 0; i < j->t->n_gaps; i++) {
		const struct ibcc_topo_port *p = &j->t->port[j->t->gap[i].port];

		if (forwards(&j->t->node[p->node], lid, p->num))
			j->tree->fed[j->t->gap[i].region] = lid;
	}
}

/* Counts what comes in by a switch's port from silent nodes and may be for the root. If its counter
 * is not known, the link's rate is assumed.
 */
static void count_unknown(const struct estimation *j, uint32_t in)
{
	const struct ibcc_port_sample *s = &j->s->port[in];
	struct tree *tr = j->tree;
	uint64_t mbps = j->t->port[in].rate_mbps;

	if (tr->flag[in] & TREE_UNKNOWN)
		return;
	tr->flag[in] |= TREE_UNKNOWN;
	if (ibcc_sample_is_known(s) && ibcc_delta_exact(&s->delta, IBCC_CTR_RCV_DATA))
		mbps = ibcc_delta_rcv_mbps(&s->delta);
	else if (!mbps)
		mbps = UINT32_MAX;
	tr->unknown_mbps += mbps;
	if (mbps <= tr->unknown_most)
		return;
	tr->unknown_most = mbps;
	tr->unknown_port = in;
}

/* Counts packets that come out of a gap. They may be for the root if an adapter may be behind the
 * gap, or if known switches send packets for the root into its region.
 */
static void visit_gap(const struct estimation *j, uint32_t lid, uint32_t in)
{
	const struct ibcc_topo *t = j->t;
	uint32_t low = 0, high = t->n_gaps;

	if (t->port[in].beyond == IBCC_BEYOND_KNOWN ||
	    (t->port[in].state && t->port[in].state != PORT_ACTIVE))
		return;
	while (high - low > 1) {
		uint32_t mid = (low + high) / 2;

		if (t->gap[mid].port <= in)
			low = mid;
		else
			high = mid;
	}
	if (t->gap[low].has_senders || j->tree->fed[t->gap[low].region] == lid)
		count_unknown(j, in);
}

/* Looks at the ports that feed a switch in the tree of a LID: sets the flags of adapters, and puts
 * further switches on the stack. n is the number of switches on the stack; returns the new one.
 */
static uint32_t visit(const struct estimation *j, uint32_t lid, uint32_t node, uint32_t root,
		      uint32_t n)
{
	const struct ibcc_topo_node *sw = &j->t->node[node];
	bool feeds_root = node == j->t->port[root].node;
	struct tree *tr = j->tree;

	for (uint32_t in = sw->first_port + 1; in <= sw->first_port + sw->n_ports; in++) {
		uint32_t q = j->t->port[in].peer;
		uint8_t path = tr->path[node];
		uint32_t next;

		if (q == IBCC_NONE && in != root)
			visit_gap(j, lid, in);
		if (q == IBCC_NONE || in == root)
			continue;
		next = j->t->port[q].node;
		if (j->t->node[next].partial && lacks_entry(&j->t->node[next], lid))
			count_unknown(j, in);
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
		tr->flag[q] |= path & TREE_BLOCKED ? TREE_FEEDS : 0;
		tr->path[next] = path | TREE_SHARED;
		tr->stack[n++] = next;
	}
	return n;
}

/* Whether a LID is an adapter's. Switches get only a few MADs, no traffic. */
static bool is_adapters(const struct ibcc_topo *t, uint32_t lid)
{
	if (t->lid_port[lid] != IBCC_NONE)
		return is_ca_port(t, t->lid_port[lid]);
	return t->n_gaps && t->lost_lid[lid] != IBCC_NONE && t->gap[t->lost_lid[lid]].has_senders;
}

void ibcc_tree_walk(const struct estimation *j, uint32_t root)
{
	uint32_t start = j->t->port[root].node, n;
	const struct ibcc_topo_node *sw = &j->t->node[start];
	struct tree *tr = j->tree;

	memset(tr->flag, 0, j->t->n_ports);
	tr->feed_wait = 0;
	tr->n_read = tr->n_usable = tr->n_waiting = 0;
	tr->unknown_mbps = tr->unknown_most = 0;
	tr->unknown_port = IBCC_NONE;
	for (uint32_t lid = 1; lid < sw->lft_len && lid <= IBCC_LID_MAX; lid++) {
		if (!forwards(sw, lid, j->t->port[root].num) || !is_adapters(j->t, lid))
			continue;
		feed_regions(j, lid);
		tr->seen[start] = ++tr->walk;
		tr->path[start] = TREE_BLOCKED;
		n = visit(j, lid, start, root, 0);
		while (n)
			n = visit(j, lid, tr->stack[n - 1], root, n - 1);
	}
	tr->walk++;
}

/* Whether packets for a LID that come into a switch queue in the tree. A loop in the tables ends
 * after as many switches as there are.
 */
static bool holds_up(const struct estimation *j, uint32_t node, uint32_t lid)
{
	const struct ibcc_topo *t = j->t;

	for (uint32_t hops = 0; hops < t->n_nodes && ibcc_topo_is_switch(t, node); hops++) {
		const struct ibcc_topo_node *sw = &t->node[node];
		uint32_t out = lid < sw->lft_len ? sw->lft[lid] : IBCC_LFT_NONE;

		if (out < 1 || out > sw->n_ports)
			return false;
		out += sw->first_port;
		if (!load_blocked(j->p, &j->load[out]) || t->port[out].peer == IBCC_NONE)
			return false;
		if (j->tree->flag[out] & TREE_FEEDS)
			return true;
		node = t->port[t->port[out].peer].node;
	}
	return false;
}

bool ibcc_tree_holds_up(const struct estimation *j, uint32_t sw)
{
	struct tree *tr = j->tree;

	/* All adapters at a switch have the same routes from there on. */
	if (tr->seen[sw] == tr->walk)
		return tr->path[sw] & TREE_FEEDS;
	tr->seen[sw] = tr->walk;
	tr->path[sw] = 0;
	for (uint32_t lid = 1; lid < j->t->node[sw].lft_len && lid <= IBCC_LID_MAX; lid++) {
		if (!is_adapters(j->t, lid) || !holds_up(j, sw, lid))
			continue;
		tr->path[sw] = TREE_FEEDS;
		return true;
	}
	return false;
}
