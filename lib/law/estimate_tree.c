/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Walks the congestion tree of a port: the switches and adapters whose packets may queue for it.
 * Forwarding by destination makes all routes to one LID a tree with the LID at its root. So
 * walking upstream against the tables meets each switch once for each LID. The adapters at a
 * switch are looked at together, since a large fabric has many roots, and nearly all adapters are
 * upstream of each. Begin with ibcc_tree_walk().
 */
#include <errno.h>
#include <stdlib.h>

#include "estimate.h"

/* Sums up the adapters at a switch, without one behind the port `but`. */
static struct adapters sum_up(const struct estimation *j, uint32_t node, uint32_t but)
{
	const struct ibcc_topo_node *sw = &j->t->node[node];
	struct adapters a = { 0 };

	for (uint32_t in = sw->first_port + 1; in <= sw->first_port + sw->n_ports; in++) {
		uint32_t q = j->t->port[in].peer;
		const struct load *l;
		bool waits;

		if (q == IBCC_NONE || in == but || !is_ca_port(j->t, q))
			continue;
		l = &j->load[q];
		a.n++;
		if (!l->usable)
			continue;
		waits = l->waited >= j->p->ca_wait_permille;
		a.n_usable++;
		a.n_waiting += waits;
		a.n_held_up += load_held_up(j->p, l);
		a.free_mbps += waits ? 0 : l->mbps;
		if (l->waited > a.wait)
			a.wait = l->waited;
		if (l->becn > a.becn)
			a.becn = l->becn;
	}
	return a;
}

/* Lists the adapters that are held up. */
static void list_held_up(const struct estimation *j)
{
	const struct ibcc_topo *t = j->t;
	struct tree *tr = j->tree;

	for (uint32_t e = 0; e < t->n_endports; e++) {
		uint32_t port = t->endport[e], peer = t->port[port].peer;
		const struct load *l = &j->load[port];

		if (l->usable && load_held_up(j->p, l) && is_ca_port(t, port) && peer != IBCC_NONE)
			tr->held_up[tr->n_held_up++] = (struct held_up){ port, t->port[peer].node };
	}
}

/* Finds ports by which packets of silent nodes may come in. */
static void find_odd(const struct ibcc_topo *t, uint32_t node, struct feeders *f)
{
	const struct ibcc_topo_node *sw = &t->node[node];

	for (unsigned int num = 1; num <= sw->n_ports; num++) {
		const struct ibcc_topo_port *p = &t->port[sw->first_port + num];

		if (p->peer == IBCC_NONE ? p->beyond != IBCC_BEYOND_KNOWN
					 : t->node[t->port[p->peer].node].partial)
			port_set_add(&f->odd, num);
	}
}

int ibcc_tree_init(const struct estimation *j)
{
	const struct ibcc_topo *t = j->t;
	size_t ports = t->n_ports ? t->n_ports : 1, nodes = t->n_nodes ? t->n_nodes : 1;
	struct tree *tr = j->tree;

	*tr = (struct tree){
		.sw = calloc(nodes, sizeof(*tr->sw)),
		.adapters = calloc(nodes, sizeof(*tr->adapters)),
		.feeders = calloc(nodes, sizeof(*tr->feeders)),
		.held_up = calloc(t->n_endports ? t->n_endports : 1, sizeof(*tr->held_up)),
		.flag = calloc(ports, sizeof(*tr->flag)),
		.flagged = calloc(ports, sizeof(*tr->flagged)),
		.below = calloc(nodes, sizeof(*tr->below)),
		.reached = calloc(nodes, sizeof(*tr->reached)),
		.stack = calloc(nodes, sizeof(*tr->stack)),
		.path = calloc(nodes, sizeof(*tr->path)),
		.seen = calloc(nodes, sizeof(*tr->seen)),
		.fed = t->n_gaps ? calloc(t->n_gaps, sizeof(*tr->fed)) : NULL,
	};
	if (!tr->sw || !tr->adapters || !tr->held_up || !tr->feeders || !tr->flag || !tr->flagged ||
	    !tr->below || !tr->reached || !tr->stack || !tr->path || !tr->seen ||
	    (!tr->fed && t->n_gaps)) {
		ibcc_tree_fini(tr);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		if (!ibcc_topo_is_switch(t, i))
			continue;
		tr->sw[tr->n_switches++] = i;
		tr->adapters[i] = sum_up(j, i, IBCC_NONE);
		find_odd(t, i, &tr->feeders[i]);
	}
	list_held_up(j);
	return 0;
}

void ibcc_tree_fini(struct tree *tr)
{
	free(tr->sw);
	free(tr->adapters);
	free(tr->feeders);
	free(tr->held_up);
	free(tr->flag);
	free(tr->flagged);
	free(tr->below);
	free(tr->reached);
	free(tr->stack);
	free(tr->path);
	free(tr->seen);
	free(tr->fed);
	*tr = (struct tree){ 0 };
}

/* Gives a switch's port a flag. Returns whether the port had it before. */
static bool put_flag(struct tree *tr, uint32_t port, uint8_t flag)
{
	bool had = tr->flag[port] & flag;

	if (!tr->flag[port])
		tr->flagged[tr->n_flagged++] = port;
	tr->flag[port] |= flag;
	return had;
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

	if (put_flag(tr, in, TREE_UNKNOWN))
		return;
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

/* Finds for each switch by which ports other switches forward packets for a LID to it: what
 * list_feeders() finds for one.
 */
static void find_feeders(const struct estimation *j, uint32_t lid)
{
	const struct ibcc_topo *t = j->t;
	struct tree *tr = j->tree;

	for (uint32_t i = 0; i < tr->n_switches; i++) {
		const struct ibcc_topo_node *sw = &t->node[tr->sw[i]];
		uint32_t out = lid < sw->lft_len ? sw->lft[lid] : IBCC_LFT_NONE, in;
		struct feeders *f;

		in = out && out <= sw->n_ports ? t->port[sw->first_port + out].peer : IBCC_NONE;
		if (in == IBCC_NONE)
			continue;
		f = &tr->feeders[t->port[in].node];
		if (f->walk != tr->walk)
			f->in = (struct port_set){ 0 };
		f->walk = tr->walk;
		port_set_add(&f->in, t->port[in].num);
	}
}

/* Adds the ports by which other switches forward packets for a LID to a switch. */
static void list_feeders(const struct estimation *j, uint32_t lid, uint32_t node,
			 struct port_set *in)
{
	const struct ibcc_topo *t = j->t;
	const struct ibcc_topo_node *sw = &t->node[node];

	for (unsigned int num = 1; num <= sw->n_ports; num++) {
		uint32_t q = t->port[sw->first_port + num].peer;

		if (q != IBCC_NONE && ibcc_topo_is_switch(t, t->port[q].node) &&
		    forwards(&t->node[t->port[q].node], lid, t->port[q].num))
			port_set_add(in, num);
	}
}

/* Looks at a port that feeds a switch in the tree of a LID: puts a further switch on the stack. n
 * is the number of switches on the stack; returns the new one.
 */
static uint32_t visit_port(const struct estimation *j, uint32_t lid, uint32_t node, uint32_t in,
			   uint32_t n)
{
	uint32_t q = j->t->port[in].peer, next;
	struct tree *tr = j->tree;
	uint8_t path = tr->path[node];

	if (q == IBCC_NONE) {
		visit_gap(j, lid, in);
		return n;
	}
	next = j->t->port[q].node;
	if (j->t->node[next].partial && lacks_entry(&j->t->node[next], lid))
		count_unknown(j, in);
	if (!forwards(&j->t->node[next], lid, j->t->port[q].num))
		return n;
	tr->n_read++;
	tr->n_usable += j->load[q].usable;
	if (node == tr->start && j->load[q].usable && j->load[q].waited > tr->feed_wait)
		tr->feed_wait = j->load[q].waited;
	if (j->load[q].usable && j->load[q].waited >= j->p->ca_wait_permille)
		tr->n_waiting += !put_flag(tr, q, TREE_COUNTED);
	if (tr->seen[next] == tr->walk)
		return n; /* a loop in the tables */
	tr->seen[next] = tr->walk;
	if (!load_blocked(j->p, &j->load[q]))
		path &= (uint8_t)~TREE_BLOCKED;
	if (path & TREE_BLOCKED)
		put_flag(tr, q, TREE_FEEDS);
	tr->path[next] = path | TREE_SHARED;
	tr->stack[n++] = next;
	return n;
}

/* Counts the adapters at a switch in the tree of a LID, and looks at the other ports that feed it.
 * Arguments and result as with visit_port(). `found`: find_feeders() was called for the LID.
 */
static uint32_t visit(const struct estimation *j, uint32_t lid, uint32_t node, uint32_t root,
		      bool found, uint32_t n)
{
	const struct ibcc_topo_node *sw = &j->t->node[node];
	struct tree *tr = j->tree;
	const struct adapters *a = ibcc_tree_adapters(tr, node);
	const struct feeders *f = &tr->feeders[node];
	struct port_set in = f->odd;
	unsigned int num;

	if (!found)
		list_feeders(j, lid, node, &in);
	else if (f->walk == tr->walk)
		port_set_join(&in, &f->in);
	tr->n_ports += sw->n_ports;
	tr->n_read += a->n;
	tr->n_usable += a->n_usable;
	if (node == tr->start && a->wait > tr->feed_wait)
		tr->feed_wait = a->wait;
	if (!tr->below[node]) {
		tr->reached[tr->n_reached++] = node;
		tr->n_waiting += a->n_waiting;
	}
	tr->below[node] |= tr->path[node] | TREE_REACHES;
	while ((num = port_set_take(&in)))
		if (sw->first_port + num != root)
			n = visit_port(j, lid, node, sw->first_port + num, n);
	return n;
}

/* Whether a LID is an adapter's. Switches get only a few MADs, no traffic. */
static bool is_adapters(const struct ibcc_topo *t, uint32_t lid)
{
	if (t->lid_port[lid] != IBCC_NONE)
		return is_ca_port(t, t->lid_port[lid]);
	return t->n_gaps && t->lost_lid[lid] != IBCC_NONE && t->gap[t->lost_lid[lid]].has_senders;
}

/* Forgets the tree walked before. */
static void begin(const struct estimation *j, uint32_t root)
{
	struct tree *tr = j->tree;

	while (tr->n_flagged)
		tr->flag[tr->flagged[--tr->n_flagged]] = 0;
	while (tr->n_reached)
		tr->below[tr->reached[--tr->n_reached]] = 0;
	tr->start = j->t->port[root].node;
	tr->at_start = sum_up(j, tr->start, root);
	tr->feed_wait = 0;
	tr->n_read = tr->n_usable = tr->n_waiting = 0;
	tr->unknown_mbps = tr->unknown_most = 0;
	tr->unknown_port = IBCC_NONE;
}

void ibcc_tree_walk(const struct estimation *j, uint32_t root)
{
	struct tree *tr = j->tree;
	bool wide = true;

	begin(j, root);
	for (uint32_t lid = ibcc_topo_next_lid(j->t, root, 0); lid;
	     lid = ibcc_topo_next_lid(j->t, root, lid)) {
		uint32_t n;

		if (!is_adapters(j->t, lid))
			continue;
		feed_regions(j, lid);
		tr->seen[tr->start] = ++tr->walk;
		tr->path[tr->start] = TREE_BLOCKED;
		tr->n_ports = 0;
		if (wide)
			find_feeders(j, lid);
		n = visit(j, lid, tr->start, root, wide, 0);
		while (n)
			n = visit(j, lid, tr->stack[n - 1], root, wide, n - 1);
		/* For a tree of a few switches, it takes less to look at each of their ports. The
		 * next one is of about the same size.
		 */
		wide = tr->n_ports > tr->n_switches;
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
