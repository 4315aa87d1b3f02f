/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The walk that discovers a fabric by directed-route SMPs, without I/O: the caller takes the next
 * Get (ibcc_walk_next()), sends it, and hands its answer back (ibcc_walk_answer()), or gives it
 * up.
 *
 * Each answer may add Gets to the queue: a new node is asked for itself, a port with a link for
 * the node behind it, a switch for its table. walk_rates.c asks for rates at the end.
 * ibcc_walk_topo() assembles the topology from all answers, so a walk that fails half way changes
 * nothing.
 */
#include <ibcc/grow.h>
#include <ibcc/walk.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/link.h>
#include <ibcc/smp.h>

#include "lib/topo/walk_state.h"

#define STATE_DOWN    1u
#define PHYS_LINK_UP  5u
#define PHYS_RECOVERY 6u /* of a link from errors */
#define MAX_PORTS     254u
#define MAX_NODES     65536u /* more than there are LIDs */

int ibcc_walk_ask(struct ibcc_walk *w, struct ibcc_walk_node *n, uint16_t attr_id,
		  uint32_t attr_mod, uint8_t out_port)
{
	struct ibcc_walk_get *todo = ibcc_grow(w->todo, w->n_todo, &w->cap_todo, sizeof(*todo));

	if (!todo)
		return -ENOMEM;
	w->todo = todo;
	w->todo[w->n_todo++] = (struct ibcc_walk_get){
		.node = n, .attr_mod = attr_mod, .attr_id = attr_id, .out_port = out_port
	};
	return 0;
}

struct ibcc_walk *ibcc_walk_new(const struct ibcc_walk_options *o)
{
	struct ibcc_walk *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->o = *o;
	if (!ibcc_walk_ask(w, NULL, IBCC_SMP_ATTR_NODE_INFO, 0, 0))
		return w;
	free(w);
	return NULL;
}

static void node_free(struct ibcc_walk_node *n)
{
	free(n->port);
	free(n->lft);
	free(n->map);
	free(n);
}

void ibcc_walk_free(struct ibcc_walk *w)
{
	if (!w)
		return;
	for (uint32_t i = 0; i < w->n; i++)
		node_free(w->node[i]);
	free(w->node);
	free(w->todo);
	free(w->gap);
	free(w->type);
	free(w->tried);
	free(w);
}

static bool is_switch(const struct ibcc_walk_node *n)
{
	return n->info.node_type == IBCC_NODE_SWITCH;
}

static bool is_up(const struct walk_port *p)
{
	return p->info.state > STATE_DOWN &&
	       (p->info.phys_state == PHYS_LINK_UP || p->info.phys_state == PHYS_RECOVERY);
}

/* Whether a port's link is up at both ends, as far as is known. A port that was not read may be up.
 */
static bool is_linked(const struct walk_port *p)
{
	const struct walk_port *q = p->peer ? &p->peer->port[p->peer_port] : NULL;

	return q && (!p->info.state || is_up(p)) && (!q->info.state || is_up(q));
}

/* The place of the first node whose GUID is not below this one. */
static uint32_t place(const struct ibcc_walk *w, uint64_t guid)
{
	uint32_t lo = 0, hi = w->n;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (w->node[mid]->info.node_guid < guid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Adds a node in the order of GUIDs; NULL: out of memory. */
static struct ibcc_walk_node *add_node(struct ibcc_walk *w, const struct ibcc_smp_node_info *ni,
				       const struct ibcc_smp_path *path)
{
	struct ibcc_walk_node *n = calloc(1, sizeof(*n)), **node;
	uint32_t at = place(w, ni->node_guid);

	node = ibcc_grow(w->node, w->n, &w->cap, sizeof(struct ibcc_walk_node *));
	if (node)
		w->node = node;
	if (!n || !node || !(n->port = calloc(ni->num_ports + 1u, sizeof(*n->port)))) {
		free(n);
		return NULL;
	}
	n->info = *ni;
	n->path = *path;
	memmove(&node[at + 1], &node[at], (w->n++ - at) * sizeof(struct ibcc_walk_node *));
	node[at] = n;
	return n;
}

/* Asks a new node for all that is known at one node: description, switch data, ports. */
static int ask_self(struct ibcc_walk *w, struct ibcc_walk_node *n)
{
	int rc = ibcc_walk_ask(w, n, IBCC_SMP_ATTR_NODE_DESC, 0, 0);

	if (!rc && is_switch(n))
		rc = ibcc_walk_ask(w, n, IBCC_SMP_ATTR_SWITCH_INFO, 0, 0);
	for (unsigned int p = is_switch(n) ? 0 : 1; p <= n->info.num_ports && !rc; p++)
		rc = ibcc_walk_ask(w, n, IBCC_SMP_ATTR_PORT_INFO, p, 0);
	return rc;
}

/* Whether a node describes itself in a possible way. */
static bool is_sane(const struct ibcc_smp_node_info *ni)
{
	return ni->node_guid && ni->node_type >= IBCC_NODE_CA &&
	       ni->node_type <= IBCC_NODE_ROUTER && ni->num_ports >= 1 &&
	       ni->num_ports <= MAX_PORTS && ni->local_port <= ni->num_ports &&
	       (ni->local_port > 0 || ni->node_type == IBCC_NODE_SWITCH);
}

/* Notes a link between two ports, or that it contradicts what is known of them. */
static void join(struct ibcc_walk *w, struct ibcc_walk_node *a, uint8_t port_a,
		 struct ibcc_walk_node *b, uint8_t port_b)
{
	struct walk_port *pa = &a->port[port_a], *pb = &b->port[port_b];
	struct walk_odd odd = { .at = { a, port_a }, .one = { b, port_b } };

	if (pa->peer == b && pa->peer_port == port_b)
		return;
	if (!port_b || pa == pb) {
		odd.kind = WALK_ODD_NODE;
	} else if (pa->peer) {
		odd.kind = WALK_ODD_LINK;
		odd.other = (struct walk_place){ pa->peer, pa->peer_port };
	} else if (pb->peer) {
		odd = (struct walk_odd){ .kind = WALK_ODD_GUID,
					 .at = { b, port_b },
					 .one = { pb->peer, pb->peer_port },
					 .other = { a, port_a } };
	}
	if (!port_b || pa == pb || pa->peer || pb->peer) {
		ibcc_walk_odd(&w->odd, &odd);
		return;
	}
	pa->peer = b;
	pa->peer_port = port_b;
	pb->peer = a;
	pb->peer_port = port_a;
}

/* The directed route to the node that a Get is for. */
static void path_of(const struct ibcc_walk_get *g, struct ibcc_smp_path *path)
{
	*path = g->node ? g->node->path : (struct ibcc_smp_path){ 0 };
	if (g->out_port)
		path->port[++path->hops] = g->out_port;
}

static int take_node(struct ibcc_walk *w, const struct ibcc_walk_get *g, const uint8_t *mad)
{
	struct ibcc_smp_node_info ni;
	struct ibcc_smp_path path;
	struct ibcc_walk_node *n;
	uint32_t at;
	int rc = 0;

	ibcc_smp_node_info_unpack(mad, &ni);
	at = place(w, ni.node_guid);
	n = at < w->n && w->node[at]->info.node_guid == ni.node_guid ? w->node[at] : NULL;
	if (!is_sane(&ni) || w->n >= MAX_NODES || (n && ni.local_port > n->info.num_ports)) {
		const struct walk_odd odd = { .kind = WALK_ODD_NODE,
					      .at = { g->node, g->out_port } };

		ibcc_walk_odd(&w->odd, &odd);
		return 0;
	}
	if (!n) {
		path_of(g, &path);
		n = add_node(w, &ni, &path);
		rc = n ? ask_self(w, n) : -ENOMEM;
		if (rc)
			return rc;
	}
	/* A switch answers as port 0, whichever port the question came in by. */
	n->port[is_switch(n) ? 0 : ni.local_port].guid = ni.port_guid;
	if (g->node) {
		join(w, g->node, g->out_port, n, ni.local_port);
	} else {
		w->first = n;
		w->local_port = ni.local_port;
	}
	return 0;
}

static int take_port(struct ibcc_walk *w, const struct ibcc_walk_get *g, const uint8_t *mad)
{
	struct ibcc_walk_node *n = g->node;
	struct walk_port *p = &n->port[g->attr_mod];

	ibcc_smp_port_info_unpack(mad, &p->info);
	/* Only switches forward SMPs, and the first node sends by its own ports. */
	if (!is_switch(n) &&
	    (n != w->first || (!w->o.leave_by_all && g->attr_mod != w->local_port)))
		return 0;
	if (!g->attr_mod || !is_up(p) || n->path.hops >= IBCC_SMP_MAX_HOPS)
		return 0;
	return ibcc_walk_ask(w, n, IBCC_SMP_ATTR_NODE_INFO, 0, (uint8_t)g->attr_mod);
}

static int take_switch(struct ibcc_walk *w, struct ibcc_walk_node *n, const uint8_t *mad)
{
	struct ibcc_smp_switch_info si;
	uint32_t blocks;
	int rc = 0;

	ibcc_smp_switch_info_unpack(mad, &si);
	n->enhanced_port0 = si.enhanced_port0;
	if (!si.lft_top || n->lft)
		return 0;
	n->lft_len = (si.lft_top <= IBCC_LID_MAX ? si.lft_top : IBCC_LID_MAX) + 1u;
	blocks = (n->lft_len - 1) / IBCC_SMP_LFT_BLOCK + 1;
	n->lft = malloc((size_t)blocks * IBCC_SMP_LFT_BLOCK);
	if (!n->lft)
		return -ENOMEM;
	memset(n->lft, IBCC_LFT_NONE, (size_t)blocks * IBCC_SMP_LFT_BLOCK);
	for (uint32_t b = 0; b < blocks && !rc; b++)
		rc = ibcc_walk_ask(w, n, IBCC_SMP_ATTR_LFT, b, 0);
	return rc;
}

static int take_map(const struct ibcc_walk_get *g, const uint8_t *mad)
{
	struct ibcc_walk_node *n = g->node;
	struct walk_map *map = ibcc_grow(n->map, n->n_maps, &n->cap_maps, sizeof(*map));

	if (!map)
		return -ENOMEM;
	n->map = map;
	map += n->n_maps++;
	map->in = (uint8_t)(g->attr_mod >> 8);
	map->out = (uint8_t)g->attr_mod;
	ibcc_smp_sl2vl_unpack(mad, map->vl);
	return 0;
}

int ibcc_walk_answer(struct ibcc_walk *w, const struct ibcc_walk_get *g, const uint8_t *mad)
{
	w->n_busy--;
	if (ibcc_walk_is_rate(g)) {
		ibcc_walk_take_rate(w, g, mad);
		return 0;
	}
	if (!mad)
		return 0;
	switch ((enum ibcc_smp_attr)g->attr_id) {
	case IBCC_SMP_ATTR_NODE_INFO: return take_node(w, g, mad);
	case IBCC_SMP_ATTR_PORT_INFO: return take_port(w, g, mad);
	case IBCC_SMP_ATTR_SWITCH_INFO: return take_switch(w, g->node, mad);
	case IBCC_SMP_ATTR_SL2VL: return take_map(g, mad);
	case IBCC_SMP_ATTR_NODE_DESC: ibcc_smp_node_desc_unpack(mad, g->node->desc); return 0;
	case IBCC_SMP_ATTR_LFT:
		ibcc_smp_lft_unpack(mad, g->node->lft + (size_t)g->attr_mod * IBCC_SMP_LFT_BLOCK);
		return 0;
	case IBCC_SMP_ATTR_PKEY_TABLE:
	case IBCC_SMP_ATTR_VLARB:
	case IBCC_SMP_ATTR_SM_INFO:
	case IBCC_SMP_ATTR_EXT_PORT_INFO: return 0;
	}
	return 0;
}

void ibcc_walk_give_up(struct ibcc_walk *w, const struct ibcc_walk_get *g)
{
	struct ibcc_walk_get *gap = ibcc_grow(w->gap, w->n_gaps, &w->cap_gaps, sizeof(*gap));

	w->n_busy--;
	if (ibcc_walk_is_rate(g))
		ibcc_walk_no_rate(w, g);
	if (gap)
		w->gap = gap;
	w->lost_count |= !gap;
	if (gap)
		gap[w->n_gaps++] = ibcc_walk_tried(w, g);
}

static uint8_t vls_of(uint8_t code)
{
	static const uint8_t vls[] = { 1, 1, 2, 4, 8, 15 };

	return code < sizeof(vls) ? vls[code] : 1;
}

/* Asks for a switch's SL to VL maps. They matter only for ports with several VLs. */
static int ask_maps(struct ibcc_walk *w, struct ibcc_walk_node *n)
{
	int rc = 0;

	for (uint32_t out = 1; is_switch(n) && out <= n->info.num_ports; out++) {
		if (vls_of(n->port[out].info.op_vls) < 2 || !is_linked(&n->port[out]))
			continue;
		for (uint32_t in = 0; in <= n->info.num_ports && !rc; in++)
			if (!in || is_linked(&n->port[in]))
				rc = ibcc_walk_ask(w, n, IBCC_SMP_ATTR_SL2VL, in << 8 | out, 0);
	}
	return rc;
}

void ibcc_walk_request(const struct ibcc_walk_get *g, uint8_t *mad)
{
	struct ibcc_smp_path path;

	path_of(g, &path);
	ibcc_smp_direct_get(mad, &path, g->attr_id, g->attr_mod);
}

int ibcc_walk_next(struct ibcc_walk *w, struct ibcc_walk_get *g)
{
	int rc = 0;

	do {
		if (w->head == w->n_todo) {
			w->head = w->n_todo = 0;
			if (!w->n_busy)
				rc = ibcc_walk_ask_rates(w);
			/* Maps are asked for once, when the links are known. */
			for (uint32_t i = 0; w->o.sl2vl && !w->n_busy && i < w->n && !rc; i++)
				rc = ask_maps(w, w->node[i]);
			w->o.sl2vl = w->o.sl2vl && w->n_busy;
			if (rc || !w->n_todo)
				return rc;
		}
		*g = w->todo[w->head++];
		/* A link that was found from its other end meanwhile need not be followed. */
	} while (g->out_port && g->node->port[g->out_port].peer);
	w->n_busy++;
	return 1;
}

/* Whether a port's own data are known. An adapter's port without known LIDs cannot end a route. */
static bool has_told(const struct ibcc_walk_node *n, unsigned int port)
{
	return is_switch(n) || n->port[port].info.state;
}

static int link_ports(struct ibcc_topo *t, const struct ibcc_walk_node *n)
{
	int rc = 0;

	for (unsigned int p = 1; p <= n->info.num_ports && !rc; p++) {
		const struct walk_port *wp = &n->port[p];

		if (is_linked(wp) && has_told(n, p) && has_told(wp->peer, wp->peer_port) &&
		    t->port[t->node[n->index].first_port + p].peer == IBCC_NONE)
			rc = ibcc_topo_link(t, n->index, p, wp->peer->index, wp->peer_port,
					    wp->info.rate_mbps,
					    ibcc_link_mtu_bytes(wp->info.mtu_code));
	}
	return rc;
}

/* Notes that a LID cannot be set. Two ports of one adapter with the same LID are planes of one
 * port, which is no contradiction. With two adapters it is one, which the subnet manager will
 * resolve.
 */
static void note_lid(struct ibcc_walk *w, const struct ibcc_topo *t, const struct ibcc_walk_node *n,
		     uint8_t port, uint16_t lid)
{
	uint32_t owner = ibcc_topo_port_of_lid(t, lid);
	struct walk_odd odd = { .kind = WALK_ODD_LID, .one = { n, port }, .lid = lid };

	if (owner != IBCC_NONE && t->port[owner].node == n->index &&
	    t->node[n->index].type == IBCC_NODE_CA)
		return;
	if (owner != IBCC_NONE)
		odd.other = (struct walk_place){ w->node[t->port[owner].node], t->port[owner].num };
	ibcc_walk_odd(&w->odd_topo, &odd);
}

/* Enters a node's ports and tables into the topology. */
static int fill(struct ibcc_walk *w, struct ibcc_topo *t, const struct ibcc_walk_node *n)
{
	struct ibcc_topo_node *tn = &t->node[n->index];
	int rc = n->lft ? ibcc_topo_set_lft(t, n->index, n->lft, n->lft_len) : 0;

	tn->enhanced_port0 = n->enhanced_port0;
	tn->vendor_id = n->info.vendor_id;
	tn->device_id = n->info.device_id;
	for (unsigned int p = 0; p <= n->info.num_ports; p++) {
		const struct ibcc_smp_port_info *pi = &n->port[p].info;
		struct ibcc_topo_port *tp = &t->port[tn->first_port + p];

		if (n->port[p].guid)
			tp->guid = n->port[p].guid;
		if (!pi->state && p)
			tp->state = 0;
		if (!pi->state)
			continue;
		tp->state = pi->state;
		tp->op_vls = vls_of(pi->op_vls);
		tp->mtu_bytes = ibcc_link_mtu_bytes(pi->mtu_code);
		tp->rate_mbps = p && pi->state > STATE_DOWN ? pi->rate_mbps : 0;
		tp->lanes = pi->lanes;
		tp->caps = pi->caps;
		if (tp->endport != IBCC_NONE && pi->lid &&
		    ibcc_topo_set_lid(t, tn->first_port + p, pi->lid, pi->lmc) < 0)
			note_lid(w, t, n, (uint8_t)p, pi->lid);
	}
	for (uint32_t i = 0; i < n->n_maps && !rc; i++)
		if (ibcc_topo_set_sl2vl(t, n->index, n->map[i].in, n->map[i].out, n->map[i].vl) ==
		    -ENOMEM)
			rc = -ENOMEM;
	return rc;
}

struct ibcc_topo *ibcc_walk_topo(struct ibcc_walk *w)
{
	struct ibcc_topo *t = ibcc_topo_new();
	int rc = t ? 0 : -ENOMEM;

	ibcc_walk_settle_rates(w);
	w->odd_topo = (struct walk_oddities){ 0 };
	for (uint32_t i = 0; i < w->n && !rc; i++) {
		struct ibcc_walk_node *n = w->node[i];
		int64_t at = ibcc_topo_add_node(t, n->info.node_guid,
						(enum ibcc_node_type)n->info.node_type,
						n->info.num_ports, n->desc);

		if (at < 0)
			rc = (int)at;
		else
			n->index = (uint32_t)at;
	}
	for (uint32_t i = 0; i < w->n && !rc; i++)
		rc = link_ports(t, w->node[i]);
	for (uint32_t i = 0; i < w->n && !rc; i++)
		rc = fill(w, t, w->node[i]);
	for (size_t i = 0; i < w->n_gaps && !rc; i++)
		if (w->gap[i].attr_id == IBCC_SMP_ATTR_LFT ||
		    w->gap[i].attr_id == IBCC_SMP_ATTR_SWITCH_INFO)
			t->node[w->gap[i].node->index].partial = true;
	if (!rc)
		return t;
	ibcc_topo_free(t);
	return NULL;
}
