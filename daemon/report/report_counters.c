/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the counters cannot show, in sentences: units of PortXmitWait that were measured or are
 * unknown, and devices that do not count waits.
 */
#include <stdio.h>

#include <ibcc/device.h>
#include <ibcc/text.h>

#include "daemon/report/report.h"

#define MAX_TYPES   16u /* types of adapters; a fabric has two or three */
#define NODES_NAMED 8u  /* of the nodes with the same trouble */

struct type {
	const struct ibcc_topo_node *first;
	uint32_t n;
};

struct types {
	struct type type[MAX_TYPES];
	unsigned int n;
};

static void add(json_t *list, const char *text)
{
	json_array_append_new(list, ibcc_json_text(text));
}

static void count_type(struct types *ts, const struct ibcc_topo_node *node)
{
	unsigned int i = 0;

	while (i < ts->n && (ts->type[i].first->vendor_id != node->vendor_id ||
			     ts->type[i].first->device_id != node->device_id))
		i++;
	if (i == MAX_TYPES)
		return;
	if (i == ts->n)
		ts->type[ts->n++] = (struct type){ .first = node };
	ts->type[i].n++;
}

/* Counts adapters with inferred waits. `mute` are those that cannot report waits. `idle` are those
 * that claim to count, never have, and seem to have had a reason to.
 */
static void count_adapters(const struct ibcc_cycle *c, struct types *mute, struct types *idle)
{
	const struct ibcc_topo *t = c->topo;

	for (uint32_t i = 0; i < t->n_endports && i < c->estimate.n_loads; i++) {
		const struct ibcc_load *l = &c->estimate.load[i];
		uint32_t port = t->endport[i], node = t->port[port].node;
		const struct ibcc_port_sample *s = &c->snapshot.port[port];

		if (!l->known || !l->blind || ibcc_topo_is_switch(t, node) ||
		    !ibcc_device_takes_part(t, node))
			continue;
		if (!s->now.width[IBCC_CTR_XMIT_WAIT] || !s->tick_ps)
			count_type(mute, &t->node[node]);
		else if (l->wait_permille)
			count_type(idle, &t->node[node]);
	}
}

static void say_adapters(json_t *list, const struct types *ts, const char *what)
{
	char text[384];

	for (unsigned int i = 0; i < ts->n; i++) {
		const struct type *of = &ts->type[i];
		const struct ibcc_topo_node *f = of->first;
		const struct ibcc_device *d = ibcc_device_find(f->vendor_id, f->device_id);

		snprintf(text, sizeof(text),
			 "%u adapter%s%s%s (%s%s) %s: whether they are blocked is inferred from "
			 "the ports of their switches. Until packets are marked, an adapter that "
			 "sends little looks like a blocked one",
			 of->n, ibcc_text_plural(of->n, "", "s"), d ? " of type " : "",
			 d ? d->name : "", f->desc, of->n > 1 ? ", ..." : "", what);
		add(list, text);
	}
}

/* The ports of a switch that do not count waits. */
static uint32_t count_mute(const struct ibcc_topo_node *n, const struct ibcc_snapshot *s)
{
	uint32_t mute = 0;

	for (uint32_t p = n->first_port + 1; p <= n->first_port + n->n_ports; p++) {
		const struct ibcc_port_sample *ps = &s->port[p];

		mute += ibcc_sample_is_known(ps) &&
			(!ps->now.width[IBCC_CTR_XMIT_WAIT] || !ps->tick_ps);
	}
	return mute;
}

/* About the ports of switches: congestion that starts there is not seen. The first switches have a
 * sentence each.
 */
static void say_switches(json_t *list, const struct ibcc_topo *t, const struct ibcc_snapshot *s)
{
	uint32_t switches = 0, ports = 0;
	char text[192];

	for (uint32_t i = 0; i < t->n_nodes; i++) {
		uint32_t mute = ibcc_topo_is_switch(t, i) ? count_mute(&t->node[i], s) : 0;

		if (!mute)
			continue;
		if (switches++ >= NODES_NAMED) {
			ports += mute;
			continue;
		}
		snprintf(text, sizeof(text),
			 "%u port%s of %s %s not count PortXmitWait, so congestion that starts "
			 "there is not seen",
			 mute, ibcc_text_plural(mute, "", "s"), t->node[i].desc,
			 ibcc_text_plural(mute, "does", "do"));
		add(list, text);
	}
	if (!ports)
		return;
	snprintf(text, sizeof(text), "%u port%s of %u more switch%s %s not count it either", ports,
		 ibcc_text_plural(ports, "", "s"), switches - NODES_NAMED,
		 ibcc_text_plural(switches - NODES_NAMED, "", "es"),
		 ibcc_text_plural(ports, "does", "do"));
	add(list, text);
}

/* About nodes that redirect requests for their counters. The first have a sentence each. */
static void say_redirected(json_t *list, const struct ibcc_cycle *c)
{
	uint32_t n = 0;
	char text[256];

	for (uint32_t i = 0; i < c->topo->n_nodes; i++) {
		ibcc_collector_redirect_say(c->collector, c->topo, i, text, sizeof(text));
		if (text[0] && n++ < NODES_NAMED)
			add(list, text);
	}
	if (n <= NODES_NAMED)
		return;
	snprintf(text, sizeof(text), "%u more node%s redirect%s requests for %s counters",
		 n - NODES_NAMED, ibcc_text_plural(n - NODES_NAMED, "", "s"),
		 ibcc_text_plural(n - NODES_NAMED, "s", ""),
		 ibcc_text_plural(n - NODES_NAMED, "its", "their"));
	add(list, text);
}

/* Kinds of nodes that are ignored. */
enum apart { AGGREGATION, VIRTUAL, ROUTER, PLANES, N_APART };

static bool is_apart(const struct ibcc_topo *t, uint32_t node, enum apart *kind)
{
	const struct ibcc_topo_node *n = &t->node[node];
	const struct ibcc_device *d = ibcc_device_find(n->vendor_id, n->device_id);

	if (n->type == IBCC_NODE_ROUTER) {
		*kind = ROUTER;
		return true;
	}
	if (ibcc_topo_has_planes(t, node)) {
		*kind = PLANES;
		return true;
	}
	switch (d ? d->kind : IBCC_DEVICE_HCA) {
	case IBCC_DEVICE_HCA:
	case IBCC_DEVICE_SWITCH: break;
	case IBCC_DEVICE_AGGREGATION: *kind = AGGREGATION; return true;
	case IBCC_DEVICE_VIRTUAL: *kind = VIRTUAL; return true;
	}
	return false;
}

json_t *ibcc_report_apart(const struct ibcc_topo *t)
{
	static const char *const what[N_APART][2] = {
		{ "SHARP aggregation node", "SHARP aggregation nodes" },
		{ "virtual function", "virtual functions" },
		{ "router", "routers" },
		{ "adapter with a port of several planes",
		  "adapters with ports of several planes" },
	};
	const struct ibcc_topo_node *first[N_APART] = { NULL };
	uint32_t n[N_APART] = { 0 };
	json_t *list = json_array();
	char text[256];
	enum apart kind;

	for (uint32_t i = 0; i < t->n_nodes; i++) {
		if (!is_apart(t, i, &kind))
			continue;
		if (!n[kind]++)
			first[kind] = &t->node[i];
	}
	for (unsigned int k = 0; list && k < N_APART; k++) {
		if (!n[k])
			continue;
		snprintf(text, sizeof(text), "%u ignored %s (%s%s): ibcc-tune does not tune %s",
			 n[k], what[k][n[k] > 1], first[k]->desc, n[k] > 1 ? ", ..." : "",
			 n[k] > 1 ? "them" : "it");
		add(list, text);
	}
	if (list && t->n_virtual) {
		snprintf(text, sizeof(text),
			 "LIDs of virtual ports: %u; packets of a virtual port count for the "
			 "adapter's port that they go through",
			 t->n_virtual);
		add(list, text);
	}
	return list;
}

json_t *ibcc_report_counters(const struct ibcc_cycle *c)
{
	const struct ibcc_units *u = ibcc_collector_units(c->collector);
	json_t *list = json_array();
	char text[256];

	for (uint32_t i = 0; list && ibcc_units_say(u, i, text, sizeof(text)); i++)
		if (text[0])
			add(list, text);
	if (list)
		say_redirected(list, c);
	if (list && c->snapshot.n_ports == c->topo->n_ports)
		say_switches(list, c->topo, &c->snapshot);
	if (list && c->decided && c->snapshot.n_ports == c->topo->n_ports) {
		struct types mute = { .n = 0 }, idle = { .n = 0 };

		count_adapters(c, &mute, &idle);
		say_adapters(list, &mute, "with no usable count of waits");
		say_adapters(list, &idle, "with a count of waits that never moved");
	}
	return list;
}
