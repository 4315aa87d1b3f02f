/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A pass is a queue of Gets, of which a window is under way; each answer may add more. What comes
 * out is assembled at the end, so a pass that fails half way changes nothing.
 */
#include "sim/observer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include <ibcc/smp.h>

#include "sim/found.h"

#define WINDOW       64
#define SETTLE_US    30000u    /* without further changes before reading again, at least */
#define SETTLE_MAX   10u       /* so many times that, and changes may go on for all we care */
#define PERIOD_US    30000000u /* changes that nobody told us of */
#define PORTS_MAX    254u
#define MAX_LFT_ATTR 768u

struct get {
	TAILQ_ENTRY(get) link; /* in todo or busy */
	struct ibcc_observer *o;
	struct ibcc_found_node *node; /* asked, or where the way to the one asked begins */
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
	uint64_t began_us, settle_us;
	bool dirty, running, failed;
	uint32_t tid;
	unsigned int in_flight;
	TAILQ_HEAD(gets, get) todo, busy;
	struct ibcc_found found_nodes;
};

static void add_get(struct ibcc_observer *o, struct ibcc_found_node *n, uint16_t attr_id,
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

static void pass_clear(struct ibcc_observer *o)
{
	struct get *g;

	ibcc_found_clear(&o->found_nodes);
	while ((g = TAILQ_FIRST(&o->todo))) {
		TAILQ_REMOVE(&o->todo, g, link);
		free(g);
	}
}

/* Answers */

static struct ibcc_found_node *node_add(struct ibcc_observer *o,
					const struct ibcc_smp_node_info *ni,
					const struct ibcc_smp_path *path)
{
	struct ibcc_found_node *n = ibcc_found_add(&o->found_nodes, ni, path);
	unsigned int p;

	if (!n) {
		o->failed = true;
		return NULL;
	}
	add_get(o, n, IBCC_SMP_ATTR_NODE_DESC, 0, 0);
	if (ni->node_type == IBCC_NODE_SWITCH)
		add_get(o, n, IBCC_SMP_ATTR_SWITCH_INFO, 0, 0);
	for (p = ni->node_type == IBCC_NODE_SWITCH ? 0 : 1; p <= n->n_ports; p++)
		add_get(o, n, IBCC_SMP_ATTR_PORT_INFO, p, 0);
	return n;
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
	struct ibcc_found_node *n;

	ibcc_smp_node_info_unpack(mad, &ni);
	if (!ni.num_ports || ni.num_ports > PORTS_MAX || ni.node_type < IBCC_NODE_CA ||
	    ni.node_type > IBCC_NODE_ROUTER)
		return;
	path_of(g, &path);
	n = ibcc_found_find(&o->found_nodes, ni.node_guid);
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
	struct ibcc_found_port *p = &g->node->port[g->attr_mod];
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
	struct ibcc_found_node *n = g->node;
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
	struct ibcc_found_node *n = g->node;
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

/* Passes */

/* Asks for the maps of all pairs of linked ports, once the links are known. */
static bool ask_sl2vl(struct ibcc_observer *o)
{
	unsigned int in, out;
	uint32_t i;

	for (i = 0; i < o->found_nodes.n; i++) {
		struct ibcc_found_node *n = o->found_nodes.node[i];

		if (n->info.node_type != IBCC_NODE_SWITCH || n->sl2vl)
			continue;
		for (in = 0; in <= n->n_ports; in++)
			for (out = 1; out <= n->n_ports; out++)
				if ((!in || ibcc_found_linked(&n->port[in])) &&
				    ibcc_found_linked(&n->port[out]))
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
	/* Not even the node where we are has answered when ibsim is not there. */
	bool blind = o->failed || !o->found_nodes.n;
	struct ibcc_topo *t = blind ? NULL : ibcc_found_topo(&o->found_nodes);
	uint64_t now = 0;

	/* A pass takes ibsim's time from a subnet manager that is at work, so the more a fabric has
	 * to tell, the longer it must have been quiet.
	 */
	sd_event_now(o->ev, CLOCK_MONOTONIC, &now);
	o->settle_us = (now - o->began_us) / 2;
	if (o->settle_us < SETTLE_US)
		o->settle_us = SETTLE_US;
	pass_clear(o);
	o->running = false;
	if (o->dirty)
		schedule(o, o->settle_us);
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
	sd_event_now(o->ev, CLOCK_MONOTONIC, &o->began_us);
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
	if (!o->running && o->slot && now - o->dirty_since_us < SETTLE_MAX * o->settle_us)
		schedule(o, o->settle_us);
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
	o->settle_us = SETTLE_US;
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
	pass_clear(o);
	free(o);
}
