/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A pass is a queue of Gets, of which a window is under way; each answer may add more. What comes
 * out is assembled at the end, so a pass that fails half way changes nothing.
 */
#include "sim/observer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include <ibcc/link.h>
#include <ibcc/smp.h>

#define WINDOW       64
#define SETTLE_US    30000u    /* without further changes before reading again */
#define SETTLE_MAX   300000u   /* read again even if changes go on */
#define PERIOD_US    30000000u /* changes that nobody told us of */
#define PORTS_MAX    254u
#define MAX_LFT_ATTR 768u

struct found_port {
	struct ibcc_smp_port_info info;
	bool asked; /* for the node behind it */
	struct found_node *peer;
	uint8_t peer_port;
};

struct found_node {
	TAILQ_ENTRY(found_node) link;
	struct ibcc_smp_node_info info;
	struct ibcc_smp_switch_info sw;
	struct ibcc_smp_path path;
	char desc[IBCC_DESC_BYTES];
	uint8_t n_ports;
	struct found_port *port; /* 0 .. n_ports */
	uint8_t *lft;
	uint32_t lft_len;
	uint8_t (*sl2vl)[16]; /* as in ibcc_topo_node */
	uint32_t index;
};

struct get {
	TAILQ_ENTRY(get) link; /* in todo or busy */
	struct ibcc_observer *o;
	struct found_node *node; /* asked, or where the way to the one asked begins */
	uint16_t attr_id;
	uint32_t attr_mod;
	uint8_t out_port; /* NodeInfo: of the node behind this port; 0: the first node of all */
};

struct ibcc_observer {
	sd_event *ev;
	struct ibcc_upstream *u;
	struct ibcc_upstream_slot *slot;
	bool with_sl2vl;
	ibcc_observer_found *found;
	void *arg;
	sd_event_source *timer;
	uint64_t dirty_since_us;
	bool dirty, running, failed;
	uint32_t tid;
	unsigned int in_flight;
	TAILQ_HEAD(gets, get) todo, busy;
	TAILQ_HEAD(, found_node) nodes;
};

static void add_get(struct ibcc_observer *o, struct found_node *n, uint16_t attr_id,
		    uint32_t attr_mod, uint8_t out_port)
{
	struct get *g = malloc(sizeof(*g));

	if (!g) {
		o->failed = true;
		return;
	}
	*g = (struct get){
		.o = o, .node = n, .attr_id = attr_id, .attr_mod = attr_mod, .out_port = out_port
	};
	TAILQ_INSERT_TAIL(&o->todo, g, link);
}

static void nodes_clear(struct ibcc_observer *o)
{
	struct found_node *n;
	struct get *g;

	while ((n = TAILQ_FIRST(&o->nodes))) {
		TAILQ_REMOVE(&o->nodes, n, link);
		free(n->port);
		free(n->lft);
		free(n->sl2vl);
		free(n);
	}
	while ((g = TAILQ_FIRST(&o->todo))) {
		TAILQ_REMOVE(&o->todo, g, link);
		free(g);
	}
}

/* Answers */

static struct found_node *node_add(struct ibcc_observer *o, const struct ibcc_smp_node_info *ni,
				   const struct ibcc_smp_path *path)
{
	struct found_node *n = calloc(1, sizeof(*n)), *at;
	unsigned int p;

	if (n)
		n->port = calloc(ni->num_ports + 1u, sizeof(*n->port));
	if (!n || !n->port) {
		free(n);
		o->failed = true;
		return NULL;
	}
	n->info = *ni;
	n->path = *path;
	n->n_ports = ni->num_ports;
	for (at = TAILQ_FIRST(&o->nodes); at; at = TAILQ_NEXT(at, link))
		if (at->info.node_guid > ni->node_guid)
			break;
	if (at)
		TAILQ_INSERT_BEFORE(at, n, link);
	else
		TAILQ_INSERT_TAIL(&o->nodes, n, link);
	add_get(o, n, IBCC_SMP_ATTR_NODE_DESC, 0, 0);
	if (ni->node_type == IBCC_NODE_SWITCH)
		add_get(o, n, IBCC_SMP_ATTR_SWITCH_INFO, 0, 0);
	for (p = ni->node_type == IBCC_NODE_SWITCH ? 0 : 1; p <= n->n_ports; p++)
		add_get(o, n, IBCC_SMP_ATTR_PORT_INFO, p, 0);
	return n;
}

static struct found_node *node_find(struct ibcc_observer *o, uint64_t guid)
{
	struct found_node *n;

	for (n = TAILQ_FIRST(&o->nodes); n; n = TAILQ_NEXT(n, link))
		if (n->info.node_guid == guid)
			return n;
	return NULL;
}

static void path_of(const struct get *g, struct ibcc_smp_path *path)
{
	memset(path, 0, sizeof(*path));
	if (!g->node)
		return;
	*path = g->node->path;
	if (g->out_port && path->hops < IBCC_SMP_MAX_HOPS)
		path->port[++path->hops] = g->out_port;
}

static void got_node_info(struct ibcc_observer *o, const struct get *g, const uint8_t *mad)
{
	struct ibcc_smp_node_info ni;
	struct ibcc_smp_path path;
	struct found_node *n;

	ibcc_smp_node_info_unpack(mad, &ni);
	if (!ni.num_ports || ni.num_ports > PORTS_MAX || ni.node_type < IBCC_NODE_CA ||
	    ni.node_type > IBCC_NODE_ROUTER)
		return;
	path_of(g, &path);
	n = node_find(o, ni.node_guid);
	if (!n)
		n = node_add(o, &ni, &path);
	if (!n || !g->out_port || !ni.local_port || ni.local_port > n->n_ports)
		return;
	g->node->port[g->out_port].peer = n;
	g->node->port[g->out_port].peer_port = ni.local_port;
	n->port[ni.local_port].peer = g->node;
	n->port[ni.local_port].peer_port = g->out_port;
	n->port[ni.local_port].asked = true;
}

static void got_port_info(struct ibcc_observer *o, const struct get *g, const uint8_t *mad)
{
	struct found_port *p = &g->node->port[g->attr_mod];
	bool through = g->node->info.node_type == IBCC_NODE_SWITCH || !g->node->path.hops;

	ibcc_smp_port_info_unpack(mad, &p->info);
	/* Only switches pass direct routed packets on; and the node where we are sends them. */
	if (!g->attr_mod || p->info.phys_state != 5 || p->asked || !through ||
	    g->node->path.hops >= IBCC_SMP_MAX_HOPS)
		return;
	p->asked = true;
	add_get(o, g->node, IBCC_SMP_ATTR_NODE_INFO, 0, (uint8_t)g->attr_mod);
}

static void got_switch_info(struct ibcc_observer *o, const struct get *g, const uint8_t *mad)
{
	struct found_node *n = g->node;
	unsigned int b, blocks;

	ibcc_smp_switch_info_unpack(mad, &n->sw);
	if (!n->sw.lft_top || n->sw.lft_top > IBCC_LID_MAX)
		return;
	blocks = n->sw.lft_top / IBCC_SMP_LFT_BLOCK + 1;
	n->lft = malloc((size_t)blocks * IBCC_SMP_LFT_BLOCK);
	if (!n->lft) {
		o->failed = true;
		return;
	}
	memset(n->lft, IBCC_LFT_NONE, (size_t)blocks * IBCC_SMP_LFT_BLOCK);
	n->lft_len = n->sw.lft_top + 1u;
	for (b = 0; b < blocks; b++)
		add_get(o, n, IBCC_SMP_ATTR_LFT, b, 0);
}

static void got_sl2vl(struct ibcc_observer *o, const struct get *g, const uint8_t *mad)
{
	struct found_node *n = g->node;
	size_t w = n->n_ports + 1u;

	if (!n->sl2vl)
		n->sl2vl = calloc(w * w, sizeof(*n->sl2vl));
	if (!n->sl2vl)
		o->failed = true;
	else
		ibcc_smp_sl2vl_unpack(mad, n->sl2vl[(g->attr_mod >> 8) * w + (g->attr_mod & 0xff)]);
}

static void pump(struct ibcc_observer *o);

static void on_answer(void *arg, struct ibcc_wire_mad *m)
{
	struct get *g = arg;
	struct ibcc_observer *o = g->o;
	struct ibcc_mad_header h;

	TAILQ_REMOVE(&o->busy, g, link);
	o->in_flight--;
	ibcc_mad_header_unpack(m->mad, &h);
	if (m->status || h.status & 0x7fff) {
		/* A port that went down meanwhile: the next pass sees it as such. */
		o->dirty = true;
	} else {
		switch ((enum ibcc_smp_attr)g->attr_id) {
		case IBCC_SMP_ATTR_NODE_INFO: got_node_info(o, g, m->mad); break;
		case IBCC_SMP_ATTR_NODE_DESC:
			ibcc_smp_node_desc_unpack(m->mad, g->node->desc);
			break;
		case IBCC_SMP_ATTR_PORT_INFO: got_port_info(o, g, m->mad); break;
		case IBCC_SMP_ATTR_SWITCH_INFO: got_switch_info(o, g, m->mad); break;
		case IBCC_SMP_ATTR_LFT:
			ibcc_smp_lft_unpack(m->mad, g->node->lft + (size_t)g->attr_mod *
									   IBCC_SMP_LFT_BLOCK);
			break;
		case IBCC_SMP_ATTR_SL2VL: got_sl2vl(o, g, m->mad); break;
		case IBCC_SMP_ATTR_PKEY_TABLE:
		case IBCC_SMP_ATTR_VLARB:
		case IBCC_SMP_ATTR_SM_INFO: break;
		}
	}
	free(g);
	pump(o);
}

/* Assembly */

/* A port whose link is up at both ends and known from both. */
static bool is_linked(const struct found_port *p)
{
	return p->peer && p->info.phys_state == 5 &&
	       p->peer->port[p->peer_port].info.phys_state == 5;
}

static int node_link(struct ibcc_topo *t, const struct found_node *n)
{
	unsigned int p;
	int err = 0;

	for (p = 1; p <= n->n_ports && !err; p++) {
		const struct found_port *fp = &n->port[p];

		if (is_linked(fp) && t->port[t->node[n->index].first_port + p].peer == IBCC_NONE)
			err = ibcc_topo_link(t, n->index, p, fp->peer->index, fp->peer_port,
					     fp->info.rate_mbps,
					     ibcc_link_mtu_bytes(fp->info.mtu_code));
	}
	return err;
}

static int node_fill(struct ibcc_topo *t, const struct found_node *n)
{
	struct ibcc_topo_node *tn = &t->node[n->index];
	unsigned int p, in, w = n->n_ports + 1u;
	int err = 0;

	tn->enhanced_port0 = n->sw.enhanced_port0;
	for (p = 0; p <= n->n_ports; p++) {
		const struct ibcc_smp_port_info *pi = &n->port[p].info;
		struct ibcc_topo_port *tp = &t->port[tn->first_port + p];

		if (!p || tp->peer != IBCC_NONE)
			tp->state = pi->state;
		tp->op_vls = (uint8_t)(pi->op_vls && pi->op_vls < 5 ? 1u << (pi->op_vls - 1) : 15);
		if (p && n->info.node_type != IBCC_NODE_SWITCH)
			tp->guid = n->info.node_guid + p;
		if (tp->endport != IBCC_NONE && pi->lid)
			/* Two ports with one LID: the subnet manager will set that right. */
			(void)ibcc_topo_set_lid(t, tn->first_port + p, pi->lid, pi->lmc);
	}
	if (n->lft)
		err = ibcc_topo_set_lft(t, n->index, n->lft, n->lft_len);
	for (in = 0; !err && n->sl2vl && in < w; in++)
		for (p = 1; !err && p < w; p++)
			err = ibcc_topo_set_sl2vl(t, n->index, in, p, n->sl2vl[in * w + p]);
	return err;
}

static struct ibcc_topo *assemble(struct ibcc_observer *o)
{
	struct ibcc_topo *t = ibcc_topo_new();
	struct found_node *n;
	int err = t ? 0 : -ENOMEM;

	for (n = TAILQ_FIRST(&o->nodes); n && !err; n = TAILQ_NEXT(n, link)) {
		int64_t i = ibcc_topo_add_node(t, n->info.node_guid,
					       (enum ibcc_node_type)n->info.node_type, n->n_ports,
					       n->desc);

		if (i < 0)
			err = (int)i;
		else
			n->index = (uint32_t)i;
	}
	for (n = TAILQ_FIRST(&o->nodes); n && !err; n = TAILQ_NEXT(n, link))
		err = node_link(t, n);
	for (n = TAILQ_FIRST(&o->nodes); n && !err; n = TAILQ_NEXT(n, link))
		err = node_fill(t, n);
	if (!err)
		return t;
	ibcc_topo_free(t);
	return NULL;
}

/* Passes */

/* Asks for the maps of all pairs of linked ports, once the links are known. */
static bool ask_sl2vl(struct ibcc_observer *o)
{
	struct found_node *n;
	unsigned int in, out;

	for (n = TAILQ_FIRST(&o->nodes); n; n = TAILQ_NEXT(n, link)) {
		if (n->info.node_type != IBCC_NODE_SWITCH || n->sl2vl)
			continue;
		for (in = 0; in <= n->n_ports; in++)
			for (out = 1; out <= n->n_ports; out++)
				if ((!in || is_linked(&n->port[in])) && is_linked(&n->port[out]))
					add_get(o, n, IBCC_SMP_ATTR_SL2VL, in << 8 | out, 0);
	}
	return !TAILQ_EMPTY(&o->todo);
}

static void schedule(struct ibcc_observer *o, uint64_t delay_us)
{
	uint64_t now = 0;

	sd_event_now(o->ev, CLOCK_MONOTONIC, &now);
	sd_event_source_set_time(o->timer, now + delay_us);
	sd_event_source_set_enabled(o->timer, SD_EVENT_ONESHOT);
}

static void pass_end(struct ibcc_observer *o)
{
	struct ibcc_topo *t = o->failed ? NULL : assemble(o);

	nodes_clear(o);
	o->running = false;
	if (o->dirty)
		schedule(o, SETTLE_US);
	else
		schedule(o, PERIOD_US);
	if (t)
		o->found(o->arg, t);
}

static void pump(struct ibcc_observer *o)
{
	struct get *g;

	while (o->in_flight < WINDOW && (g = TAILQ_FIRST(&o->todo))) {
		struct ibcc_wire_mad m = { .dlid = 0xffff, .slid = 0xffff };
		struct ibcc_smp_path path;

		TAILQ_REMOVE(&o->todo, g, link);
		TAILQ_INSERT_TAIL(&o->busy, g, link);
		path_of(g, &path);
		ibcc_smp_direct_get(m.mad, &path, g->attr_id, g->attr_mod);
		o->in_flight++;
		if (ibcc_upstream_send(o->slot, &m, on_answer, g)) {
			TAILQ_REMOVE(&o->busy, g, link);
			o->in_flight--;
			o->failed = true;
			free(g);
		}
	}
	if (o->in_flight)
		return;
	if (o->with_sl2vl && !o->failed && ask_sl2vl(o))
		pump(o);
	else
		pass_end(o);
}

static int on_timer(sd_event_source *src, uint64_t usec, void *arg)
{
	struct ibcc_observer *o = arg;

	(void)src;
	(void)usec;
	if (o->running)
		return 0;
	o->running = true;
	o->dirty = o->failed = false;
	o->dirty_since_us = 0;
	add_get(o, NULL, IBCC_SMP_ATTR_NODE_INFO, 0, 0);
	pump(o);
	return 0;
}

void ibcc_observer_dirty(struct ibcc_observer *o)
{
	uint64_t now = 0;

	sd_event_now(o->ev, CLOCK_MONOTONIC, &now);
	if (!o->dirty_since_us)
		o->dirty_since_us = now;
	o->dirty = true;
	if (!o->running && o->slot && now - o->dirty_since_us < SETTLE_MAX)
		schedule(o, SETTLE_US);
}

static void on_attached(void *arg, struct ibcc_upstream_slot *s)
{
	struct ibcc_observer *o = arg;

	o->slot = s;
	if (s)
		schedule(o, 0);
	else
		o->found(o->arg, NULL);
}

struct ibcc_observer *ibcc_observer_new(sd_event *ev, struct ibcc_upstream *u, bool sl2vl,
					ibcc_observer_found *found, void *arg, int *err)
{
	struct ibcc_observer *o = calloc(1, sizeof(*o));
	int r = -ENOMEM;

	if (!o)
		goto out;
	TAILQ_INIT(&o->todo);
	TAILQ_INIT(&o->busy);
	TAILQ_INIT(&o->nodes);
	o->ev = ev;
	o->u = u;
	o->with_sl2vl = sl2vl;
	o->found = found;
	o->arg = arg;
	r = sd_event_add_time(ev, &o->timer, CLOCK_MONOTONIC, UINT64_MAX, 1000, on_timer, o);
	if (r >= 0)
		r = sd_event_source_set_enabled(o->timer, SD_EVENT_OFF);
	if (r >= 0)
		r = ibcc_upstream_attach(u, "", on_attached, o);
out:
	if (r < 0) {
		*err = r;
		ibcc_observer_free(o);
		return NULL;
	}
	return o;
}

void ibcc_observer_free(struct ibcc_observer *o)
{
	struct get *g;

	if (!o)
		return;
	ibcc_upstream_cancel(o->u, o);
	while ((g = TAILQ_FIRST(&o->busy))) {
		ibcc_upstream_cancel(o->u, g);
		TAILQ_REMOVE(&o->busy, g, link);
		free(g);
	}
	sd_event_source_disable_unref(o->timer);
	if (o->slot)
		ibcc_upstream_release(o->slot);
	nodes_clear(o);
	free(o);
}
