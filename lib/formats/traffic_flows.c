/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Flows of an item of `traffic`: for which pairs of nodes, and their names. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/grow.h>

#include "traffic.h"

static int grow(struct traffic *tr)
{
	uint32_t n = tr->s->n_flows, cap = tr->cap; /* capacity of each of the two arrays */
	struct ibcc_flow_spec *flow = ibcc_grow(tr->s->flow, n, &cap, sizeof(*flow));
	struct origin *origin;

	if (!flow)
		return -ENOMEM;
	tr->s->flow = flow;
	origin = ibcc_grow(tr->origin, n, &tr->cap, sizeof(*origin));
	if (!origin)
		return -ENOMEM;
	tr->origin = origin;
	return 0;
}

/* Names a flow: after its item, with the node of each side that has several. */
static bool name_flow(struct ibcc_flow_spec *f, const char *item, const struct side *from,
		      const struct side *to, const char *src, const char *dest)
{
	int n;

	if (!*item)
		n = snprintf(f->name, sizeof(f->name), "%s-to-%s", src, dest);
	else if (from->many && to->many && !to->all)
		n = snprintf(f->name, sizeof(f->name), "%s-%s-to-%s", item, src, dest);
	else if (from->many)
		n = snprintf(f->name, sizeof(f->name), "%s-%s", item, src);
	else if (to->many && !to->all)
		n = snprintf(f->name, sizeof(f->name), "%s-%s", item, dest);
	else
		n = snprintf(f->name, sizeof(f->name), "%s", item);
	return n > 0 && (size_t)n < sizeof(f->name);
}

/* Names a flow, with GUIDs where the names of nodes make it too long. */
static bool name_short(struct ibcc_flow_spec *f, const char *item, const struct side *from,
		       const struct side *to, const struct ibcc_topo *t, uint32_t src, uint32_t dst)
{
	char a[IBCC_NODE_TEXT_BYTES], b[IBCC_NODE_TEXT_BYTES] = "all";

	if (name_flow(f, item, from, to, f->from, dst == IBCC_NONE ? b : f->to))
		return true;
	snprintf(a, sizeof(a), "0x%016" PRIx64, t->node[src].guid);
	if (dst != IBCC_NONE)
		snprintf(b, sizeof(b), "0x%016" PRIx64, t->node[dst].guid);
	return name_flow(f, item, from, to, a, b);
}

const char *ibcc_traffic_node_text(const struct traffic *tr, uint32_t node)
{
	if (!*tr->text[node])
		ibcc_topo_node_text(tr->s->topo, node, tr->text[node]);
	return tr->text[node];
}

static int add_flow(struct traffic *tr, const struct ibcc_yaml *y, const struct origin *o,
		    const struct ibcc_flow_spec *f, struct ibcc_yaml_errors *e)
{
	const struct ibcc_yaml_node *n = o->item;
	int rc;

	if (tr->s->n_flows >= IBCC_SCENARIO_FLOWS_MAX) {
		ibcc_yaml_error(y, e, n, "traffic", "got more than %u flows, want fewer",
				IBCC_SCENARIO_FLOWS_MAX);
		return -E2BIG;
	}
	rc = grow(tr);
	if (rc) {
		ibcc_yaml_error(y, e, n, "traffic", "%s", strerror(ENOMEM));
		return rc;
	}
	tr->origin[tr->s->n_flows] = *o;
	tr->s->flow[tr->s->n_flows++] = *f;
	return 0;
}

/* Makes one flow to all instead of one to each. Several flows with exponential arrivals equal one
 * flow with the sum of their rates whose packets choose a destination at random.
 */
static void merge(const struct traffic *tr, struct ibcc_flow_spec *f, const struct traffic_yaml *ty,
		  struct ibcc_route_use *use, uint32_t from, const struct side *to,
		  const struct side *left_out)
{
	uint32_t n = 0, out = left_out->n ? left_out->node[0] : IBCC_NONE;

	f->not_to[0] = '\0';
	for (uint32_t i = 0; i < to->n; i++) {
		if (to->node[i] == from || tr->island[to->node[i]] != tr->island[from])
			continue;
		if (to->node[i] != out) {
			n++;
			continue;
		}
		use->but = out;
		memcpy(f->not_to, ibcc_traffic_node_text(tr, out), sizeof(f->not_to));
	}
	f->load_permille = ibcc_traffic_permille(ty->load_percent) * n;
	f->rate_mbps = ty->rate_mbps * n;
}

/* Whether a flow to all has any destination. */
static bool has_others(const struct traffic *tr, uint32_t from, const struct side *to)
{
	for (uint32_t i = 0; i < to->n; i++)
		if (to->node[i] != from && tr->island[to->node[i]] == tr->island[from])
			return true;
	return false;
}

static int expand_pair(struct traffic *tr, const struct traffic_yaml *ty, struct ibcc_flow_spec *f,
		       const struct side *from, const struct side *to, const struct side *left_out,
		       uint32_t src, uint32_t dst, const struct ibcc_yaml_node *n,
		       struct ibcc_yaml_errors *e)
{
	const struct ibcc_topo *t = tr->s->topo;
	struct origin o = { .item = n, .use = { .but = IBCC_NONE, .sl = ty->sl } };

	o.use.from = ibcc_topo_ca_port(t, src);
	o.use.to = dst == IBCC_NONE ? IBCC_NONE : ibcc_topo_ca_port(t, dst);
	memcpy(f->from, ibcc_traffic_node_text(tr, src), sizeof(f->from));
	snprintf(f->to, sizeof(f->to), "%s",
		 dst == IBCC_NONE ? "*" : ibcc_traffic_node_text(tr, dst));
	if (ty->merged)
		merge(tr, f, ty, &o.use, src, to, left_out);
	if (!name_short(f, ty->name, from, to, t, src, dst)) {
		ibcc_yaml_error(from->y, e, n, "traffic.name",
				"got \"%s...\" for a flow, want at most %u bytes", f->name,
				IBCC_NAME_BYTES - 1);
		return -EINVAL;
	}
	return add_flow(tr, from->y, &o, f, e);
}

/* Whether a pair becomes a flow. A node never sends to itself, and "all" means those nodes that
 * links lead to; a pair that the item names becomes a flow even without a way, for an error later.
 */
static bool is_pair(const struct traffic *tr, const struct side *from, const struct side *to,
		    uint32_t src, uint32_t dst)
{
	if (to->all)
		return !from->all || has_others(tr, src, to);
	if (src == dst)
		return false;
	return tr->island[src] == tr->island[dst] || !(from->all || to->of_all);
}

int ibcc_traffic_expand(struct traffic *tr, const struct traffic_yaml *ty, struct ibcc_flow_spec *f,
			const struct side *from, const struct side *to, const struct side *left_out,
			const struct ibcc_yaml_node *n, struct ibcc_yaml_errors *e)
{
	uint32_t before = tr->s->n_flows;
	int rc = 0;

	for (uint32_t i = 0; i < from->n && !rc; i++)
		for (uint32_t j = 0; j < (to->all ? 1 : to->n) && !rc; j++) {
			uint32_t dst = to->all ? IBCC_NONE : to->node[j];

			if (is_pair(tr, from, to, from->node[i], dst))
				rc = expand_pair(tr, ty, f, from, to, left_out, from->node[i], dst,
						 n, e);
		}
	if (!rc && tr->s->n_flows == before) {
		ibcc_yaml_error(from->y, e, n, "traffic",
				"got no flow, want nodes in from and to that differ");
		rc = -EINVAL;
	}
	return rc;
}
