/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whether flows have routes, and whether these could block each other for ever (a circle of
 * outputs that wait for each other).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <ibcc/device.h>
#include <ibcc/route.h>

#include "traffic.h"

#define SHOWN 4u

/* What to do about a circle. Routes from `tables` are as OpenSM made them, so the advice is for
 * OpenSM: updn and ftree need no further VLs to be free of deadlock. Other engines need the SLs of
 * paths, which a dump of forwarding tables does not have, and a VL for each SL.
 */
static const char *advice(const struct ibcc_scenario *s, bool tables)
{
	if (s->sls.by_ends)
		return "model.vls as on the fabric, other flows, or topology.tables and "
		       "topology.paths from the same run of OpenSM";
	if (tables)
		return "other flows, in topology.tables a dump from OpenSM with routing_engine "
		       "updn or ftree, or for lash, dfsssp and nue the SLs of paths in "
		       "topology.paths";
	return "routes: up-down, datelines (torus) or minimal (dragonfly), other flows, or links "
	       "whose shortest paths make no circle, such as a tree";
}

/* An error at the topology if the routes that are used make a circle. */
static int check_cycle(const struct ibcc_yaml *y, const struct ibcc_scenario *s,
		       struct ibcc_route_use *use, uint32_t n_uses, bool tables,
		       struct ibcc_yaml_errors *e)
{
	char name[IBCC_DESC_BYTES + 32], list[SHOWN * (sizeof(name) + 8) + 8] = "";
	struct ibcc_route_lane out[SHOWN];
	uint32_t n, i;
	size_t len = 0;
	int rc = ibcc_route_find_cycle(s->topo, ibcc_route_has_sls(&s->sls) ? &s->sls : NULL, use,
				       n_uses, out, SHOWN, &n);

	if (rc || !n)
		return rc;
	for (i = 0; i < n && i < SHOWN; i++) {
		ibcc_topo_port_name(s->topo, out[i].port, name, sizeof(name));
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "",
					name);
		if (s->model.vls > 1)
			len += (size_t)snprintf(list + len, sizeof(list) - len, " VL %u",
						out[i].vl);
	}
	if (n > SHOWN)
		snprintf(list + len, sizeof(list) - len, " ...");
	ibcc_yaml_error(y, e, ibcc_yaml_get(y, ibcc_yaml_root(y), "topology"), "topology",
			"got flows whose routes make a circle of %u outputs that can block each "
			"other for ever (%s), want %s",
			n, list, advice(s, tables));
	return -EINVAL;
}

/* Whether the tables lead from one port to another one: 0, -ELOOP (not within IBCC_ROUTE_MAX_HOPS
 * links), or another error where they end on the way.
 */
static int find_route(const struct ibcc_topo *t, uint32_t from, uint32_t to)
{
	struct ibcc_route r;

	return ibcc_route_follow(t, from, t->port[to].lid, &r);
}

/* The hosts of its island that a node's peers have routes to, the same for all ports at a switch
 * that have a LID. A flow to all leaves two of them out, so the first three without a route are
 * enough.
 */
struct reach {
	bool known;
	uint32_t n_hosts, n_missing, missing[3];
	int why[3]; /* what find_route() said of each */
};

static void find_reach(const struct traffic *tr, uint32_t from, struct reach *r)
{
	const struct ibcc_topo *t = tr->s->topo;
	uint32_t home = tr->island[t->port[from].node];

	r->known = true;
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		int rc;

		if (tr->island[i] != home || !ibcc_device_is_host(t, i))
			continue;
		r->n_hosts++;
		if (r->n_missing == 3)
			continue;
		rc = find_route(t, from, ibcc_topo_ca_port(t, i));
		if (!rc)
			continue;
		r->why[r->n_missing] = rc;
		r->missing[r->n_missing++] = i;
	}
}

/* 0 if there is a route to every destination of a flow. Otherwise what find_route() said of the
 * node *to, or with IBCC_NONE -ENOENT for a flow to all that has no destination and -EADDRNOTAVAIL
 * for a source without a LID. `reach` is by the node that the source is linked to.
 */
static int check_all(const struct traffic *tr, const struct ibcc_route_use *use,
		     struct reach *reach, uint32_t *to)
{
	const struct ibcc_topo *t = tr->s->topo;
	uint32_t home = t->port[use->from].node, out;
	struct reach *r = &reach[t->port[t->port[use->from].peer].node];

	*to = IBCC_NONE;
	/* An answer would not find back, so the sender itself is at fault, not its switch. */
	if (!t->port[use->from].lid)
		return -EADDRNOTAVAIL;
	if (use->to != IBCC_NONE) {
		*to = t->port[use->to].node;
		return find_route(t, use->from, use->to);
	}
	if (!r->known)
		find_reach(tr, use->from, r);
	for (uint32_t k = 0; k < r->n_missing; k++) {
		if (r->missing[k] == home || r->missing[k] == use->but)
			continue;
		*to = r->missing[k];
		return r->why[k];
	}
	out = ibcc_device_is_host(t, home) + (use->but != IBCC_NONE && use->but != home);
	return r->n_hosts > out ? 0 : -ENOENT;
}

/* An error at the item of a flow without a route. `why` is from check_all(). */
static void refuse(const struct ibcc_yaml *y, const struct traffic *tr, const struct origin *o,
		   uint32_t to, int why, bool tables, struct ibcc_yaml_errors *e)
{
	uint32_t from = tr->s->topo->port[o->use.from].node;
	const char *sender = ibcc_traffic_node_text(tr, from);
	const char *receiver = to == IBCC_NONE ? "all" : ibcc_traffic_node_text(tr, to);

	if (why == -ELOOP)
		ibcc_yaml_error(y, e, o->item, "traffic",
				"got a flow from %s to %s whose route %s more than %u links, "
				"want %s",
				sender, receiver, tables ? "goes in a circle or has" : "has",
				IBCC_ROUTE_MAX_HOPS,
				tables ? "another file in topology.tables"
				       : "nearer nodes, or links that shorten the route");
	else if (why == -EADDRNOTAVAIL)
		ibcc_yaml_error(y, e, o->item, "traffic",
				"got a flow from %s, which has no LID, want an entry that leads to "
				"it in the file of topology.tables",
				sender);
	else
		ibcc_yaml_error(y, e, o->item, "traffic", "got a flow from %s to %s, want %s",
				sender, receiver,
				to == IBCC_NONE ? "another host that links lead to"
				: tr->island[from] != tr->island[to]
					? "links that lead from one to the other"
				: tables ? "a route between them in the file of topology.tables"
					 : "an up/down route between them: other topology.roots");
}

/* Whether the file of topology.paths lacks an SL that a flow between two ports needs: that of its
 * data, or that of acknowledgements and notifications on the way back. Then it is that of the path
 * between the ports in *from and *to.
 */
static bool lacks_sl(const struct traffic *tr, uint32_t *from, uint32_t *to)
{
	uint32_t back = *from;

	if (ibcc_route_sl(tr->s->topo, &tr->s->sls, *from, *to) == IBCC_ROUTE_NO_SL)
		return true;
	if (ibcc_route_sl(tr->s->topo, &tr->s->sls, *to, *from) != IBCC_ROUTE_NO_SL)
		return false;
	*from = *to;
	*to = back;
	return true;
}

/* The same for all that a flow goes to. */
static bool use_lacks_sl(const struct traffic *tr, const struct ibcc_route_use *use, uint32_t *from,
			 uint32_t *to)
{
	const struct ibcc_topo *t = tr->s->topo;
	uint32_t home = t->port[use->from].node;

	*from = use->from;
	*to = use->to;
	if (use->to != IBCC_NONE)
		return lacks_sl(tr, from, to);
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		if (i == home || i == use->but || tr->island[i] != tr->island[home] ||
		    !ibcc_device_is_host(t, i))
			continue;
		*from = use->from;
		*to = ibcc_topo_ca_port(t, i);
		if (lacks_sl(tr, from, to))
			return true;
	}
	return false;
}

/* Each path of a flow must have an SL, if topology.paths has any. -EINVAL: one has none. */
static int check_sls(const struct ibcc_yaml *y, const struct traffic *tr,
		     struct ibcc_yaml_errors *e)
{
	const struct ibcc_topo *t = tr->s->topo;
	const struct ibcc_yaml_node *told = NULL;

	for (uint32_t i = 0; tr->s->sls.by_ends && i < tr->s->n_flows; i++) {
		const struct origin *o = &tr->origin[i];
		uint32_t from, to;

		if (o->item == told || !use_lacks_sl(tr, &o->use, &from, &to))
			continue;
		told = o->item;
		ibcc_yaml_error(y, e, o->item, "traffic",
				"got a flow that needs the SLs of its paths both ways, want a "
				"record of the path from %s (LID %u) to %s (LID %u) in the file of "
				"topology.paths",
				ibcc_traffic_node_text(tr, t->port[from].node), t->port[from].lid,
				ibcc_traffic_node_text(tr, t->port[to].node), t->port[to].lid);
	}
	return told ? -EINVAL : 0;
}

int ibcc_traffic_check_routes(const struct ibcc_yaml *y, const struct traffic *tr,
			      struct ibcc_yaml_errors *e)
{
	const struct ibcc_topo *t = tr->s->topo;
	const struct ibcc_yaml_node *told = NULL;
	struct reach *reach = calloc(t->n_nodes + 1u, sizeof(*reach));
	bool tables = ibcc_yaml_get(y, ibcc_yaml_get(y, ibcc_yaml_root(y), "topology"), "tables");
	struct ibcc_route_use *use;
	int rc = 0;

	if (!reach)
		return -ENOMEM;
	for (uint32_t i = 0; i < tr->s->n_flows; i++) {
		const struct origin *o = &tr->origin[i];
		uint32_t to;
		int why = check_all(tr, &o->use, reach, &to);

		if (!why || o->item == told)
			continue;
		told = o->item;
		refuse(y, tr, o, to, why, tables, e);
		rc = -EINVAL;
	}
	free(reach);
	if (!rc)
		rc = check_sls(y, tr, e);
	if (rc || !tr->s->n_flows)
		return rc;
	use = calloc(tr->s->n_flows, sizeof(*use));
	if (!use)
		return -ENOMEM;
	for (uint32_t i = 0; i < tr->s->n_flows; i++)
		use[i] = tr->origin[i].use;
	rc = check_cycle(y, tr->s, use, tr->s->n_flows, tables, e);
	free(use);
	return rc;
}
