/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Traffic of a scenario file. Lists of senders and receivers expand to a flow for each
 * pair, so that a hot spot is one item however many nodes take part.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/device.h>
#include <ibcc/grow.h>
#include <ibcc/scenario_file.h>

#include "scenario_parts.h"

/* Nodes at one side of an item of `traffic`. */
struct side {
	const struct ibcc_yaml *y;
	const struct ibcc_topo *topo;
	const char *path;
	uint32_t *node;
	uint32_t n, cap;
	bool all, many; /* the word `all`; more than one node may be meant */
	bool of_all;    /* `all`, perhaps without some */
};

/* An item of `traffic`. */
struct traffic_yaml {
	char name[IBCC_NAME_BYTES];
	const struct ibcc_yaml_node *from, *to;
	const struct ibcc_yaml_node *except, *to_except; /* senders and receivers left out */
	const struct ibcc_yaml_node *rate;
	int kind, arrivals, operation; /* arrivals -1: not given */
	double load_percent, start_ms, stop_ms, on_ms, off_ms;
	uint8_t sl;
	uint16_t queue_pairs;
	uint32_t queue_packets, rate_mbps, message_bytes, window;
	bool merged;
};

/* Where a flow comes from, and which routes it takes. */
struct origin {
	const struct ibcc_yaml_node *item;
	struct ibcc_route_use use;
};

/* All flows so far. */
struct traffic {
	struct ibcc_scenario *s;
	uint32_t cap;
	struct origin *origin; /* of each flow */
	/* By node of the topology. */
	char (*text)[IBCC_NODE_TEXT_BYTES]; /* "": not needed yet */
	uint32_t *island;
};

static const char *const kinds[] = { "background", "hot", "victim", NULL };
static const char *const arrivals[] = { "backlogged", "periodic", "exponential", "closed", NULL };

static bool is_all(const struct ibcc_yaml_node *n)
{
	const char *s = ibcc_yaml_scalar(n);

	return s && ((ibcc_yaml_is_plain(n) && !strcmp(s, "all")) || !strcmp(s, "*"));
}

static int side_push(struct side *side, uint32_t node)
{
	uint32_t *grown = ibcc_grow(side->node, side->n, &side->cap, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	side->node = grown;
	side->node[side->n++] = node;
	return 0;
}

static int side_add(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, unsigned int index,
		    void *arg, struct ibcc_yaml_errors *e)
{
	struct side *side = arg;
	uint32_t node;
	int rc = ibcc_scenario_read_node(y, n, side->path, side->topo, &node, e);

	(void)index;
	if (rc || node == IBCC_NONE)
		return rc;
	if (ibcc_topo_is_switch(side->topo, node))
		return ibcc_yaml_want(y, e, n, side->path, "a host, not a switch");
	if (ibcc_topo_ca_port(side->topo, node) == IBCC_NONE)
		return ibcc_yaml_want(y, e, n, side->path, "a host that has a link");
	if (side->n >= IBCC_SCENARIO_FLOWS_MAX)
		return ibcc_yaml_want(y, e, n, side->path, "at most %u nodes",
				      IBCC_SCENARIO_FLOWS_MAX);
	return side_push(side, node);
}

static int side_read(struct side *side, const struct ibcc_yaml_node *n, struct ibcc_yaml_errors *e)
{
	uint32_t i;

	side->all = side->of_all = is_all(n);
	side->many = side->all || ibcc_yaml_length(n) > 1;
	if (!side->all)
		return ibcc_scenario_each(side->y, n, side->path, side_add, side, e);
	for (i = 0; side->topo && i < side->topo->n_nodes; i++)
		if (ibcc_device_is_host(side->topo, i) && side_push(side, i))
			return -ENOMEM;
	return 0;
}

/* Takes the nodes of `out` away from a side. */
static void side_remove(struct side *side, const struct side *out)
{
	size_t i, j, kept = 0;

	for (i = 0; i < side->n; i++) {
		for (j = 0; j < out->n && out->node[j] != side->node[i];)
			j++;
		if (j == out->n)
			side->node[kept++] = side->node[i];
	}
	side->n = kept;
}

static int grow(struct traffic *tr)
{
	struct ibcc_flow_spec *flow;
	struct origin *origin;
	uint32_t cap = tr->cap ? 2 * tr->cap : 16;

	if (tr->s->n_flows < tr->cap)
		return 0;
	flow = reallocarray(tr->s->flow, cap, sizeof(*flow));
	if (!flow)
		return -ENOMEM;
	tr->s->flow = flow;
	origin = reallocarray(tr->origin, cap, sizeof(*origin));
	if (!origin)
		return -ENOMEM;
	tr->origin = origin;
	tr->cap = cap;
	return 0;
}

/* Name of a flow: the item's, made distinct by the side that has several nodes. */
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

/* Where names of nodes make it too long, their GUIDs stand for them. */
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

static const char *node_text(const struct traffic *tr, uint32_t node)
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

static uint32_t permille(double percent)
{
	return (uint32_t)(percent * 10 + 0.5);
}

/* A flow to all in place of one to each: exponential arrivals of several flows are together those
 * of one of their rates' sum, whose packets choose among their destinations by chance.
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
		memcpy(f->not_to, node_text(tr, out), sizeof(f->not_to));
	}
	f->load_permille = permille(ty->load_percent) * n;
	f->rate_mbps = ty->rate_mbps * n;
}

/* Has a flow to all anywhere to go? */
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
	struct origin o = { .item = n, .use = { .but = IBCC_NONE } };

	o.use.from = ibcc_topo_ca_port(t, src);
	o.use.to = dst == IBCC_NONE ? IBCC_NONE : ibcc_topo_ca_port(t, dst);
	memcpy(f->from, node_text(tr, src), sizeof(f->from));
	snprintf(f->to, sizeof(f->to), "%s", dst == IBCC_NONE ? "*" : node_text(tr, dst));
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

/* Whether nodes that an item names in so many words are left out: a node never sends to itself, and
 * "all" are those that links lead to.
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

/* Adds the flows of all pairs. */
static int expand(struct traffic *tr, const struct traffic_yaml *ty, struct ibcc_flow_spec *f,
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

static int check_rate(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
		      struct traffic_yaml *ty, struct ibcc_yaml_errors *e)
{
	const struct ibcc_yaml_node *load = ibcc_yaml_get(y, n, "load_percent");
	bool paced;

	if (load && ty->rate)
		return ibcc_yaml_want(y, e, load, "traffic.load_percent", "no load with a rate");
	if (ty->rate && ibcc_scenario_read_rate(y, ty->rate, "traffic.rate", &ty->rate_mbps, e))
		return -EINVAL;
	load = ty->rate ? ty->rate : load;
	if (ty->arrivals < 0)
		ty->arrivals = load                ? IBCC_ARRIVALS_EXPONENTIAL
			       : ty->message_bytes ? IBCC_ARRIVALS_CLOSED
						   : IBCC_ARRIVALS_BACKLOGGED;
	paced = ibcc_arrivals_paced((enum ibcc_arrivals)ty->arrivals);
	if (!paced && load)
		return ibcc_yaml_want(y, e, load,
				      ty->rate ? "traffic.rate" : "traffic.load_percent",
				      "no load with %s arrivals", arrivals[ty->arrivals]);
	if ((ty->arrivals == IBCC_ARRIVALS_CLOSED) != !!ty->message_bytes) {
		ibcc_yaml_error(y, e, n, "traffic.message_bytes",
				"want it with closed arrivals, and only there");
		return -EINVAL;
	}
	if (ty->off_ms > 0 && !(ty->on_ms > 0))
		return ibcc_yaml_want(y, e, ibcc_yaml_get(y, n, "off_ms"), "traffic.off_ms",
				      "a time on_ms with it");
	if (paced && !load) {
		ibcc_yaml_error(y, e, n, "traffic.load_percent",
				"missing, want it with %s arrivals", arrivals[ty->arrivals]);
		return -EINVAL;
	}
	if (ty->stop_ms > 0 && ty->stop_ms <= ty->start_ms)
		return ibcc_yaml_want(y, e, ibcc_yaml_get(y, n, "stop_ms"), "traffic.stop_ms",
				      "a time after start_ms");
	return 0;
}

/* What can be merged, and still fits. */
static int check_merged(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			const struct traffic_yaml *ty, const struct side *to,
			const struct side *left_out, struct ibcc_yaml_errors *e)
{
	const struct ibcc_yaml_node *at = ibcc_yaml_get(y, n, "merged");

	if (!to->all || left_out->n > 1 || ty->arrivals != IBCC_ARRIVALS_EXPONENTIAL ||
	    ty->queue_packets)
		return ibcc_yaml_want(y, e, at, "traffic.merged",
				      "it with exponential arrivals to all, but for one host at "
				      "most, and without a limit of queues");
	if (to->topo && (uint64_t)ty->rate_mbps * to->n > UINT32_MAX)
		return ibcc_yaml_want(y, e, ty->rate, "traffic.rate", "less for so many hosts");
	return 0;
}

static int read_item(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, unsigned int index,
		     void *arg, struct ibcc_yaml_errors *e)
{
	static const struct ibcc_yaml_key keys[] = {
		{ IBCC_YAML_MEMBER("name", STRING, struct traffic_yaml, name) },
		{ IBCC_YAML_MEMBER("from", NODE, struct traffic_yaml, from), .required = true,
		  .want = "a host, a list of hosts, or all" },
		{ IBCC_YAML_MEMBER("to", NODE, struct traffic_yaml, to), .required = true,
		  .want = "a host, a list of hosts, or all" },
		{ IBCC_YAML_MEMBER("except", NODE, struct traffic_yaml, except) },
		{ IBCC_YAML_MEMBER("to_except", NODE, struct traffic_yaml, to_except) },
		{ IBCC_YAML_MEMBER("kind", ENUM, struct traffic_yaml, kind), .names = kinds },
		{ IBCC_YAML_MEMBER("arrivals", ENUM, struct traffic_yaml, arrivals),
		  .names = arrivals },
		{ IBCC_YAML_MEMBER("load_percent", DOUBLE, struct traffic_yaml, load_percent),
		  .min = 0.1, .max = 100 },
		{ IBCC_YAML_MEMBER("rate", NODE, struct traffic_yaml, rate) },
		{ IBCC_YAML_MEMBER("sl", UINT, struct traffic_yaml, sl), .max = 15 },
		{ IBCC_YAML_MEMBER("start_ms", DOUBLE, struct traffic_yaml, start_ms),
		  .max = IBCC_SCENARIO_MAX_MS },
		{ IBCC_YAML_MEMBER("stop_ms", DOUBLE, struct traffic_yaml, stop_ms),
		  .max = IBCC_SCENARIO_MAX_MS },
		{ IBCC_YAML_MEMBER("on_ms", DOUBLE, struct traffic_yaml, on_ms),
		  .max = IBCC_SCENARIO_MAX_MS },
		{ IBCC_YAML_MEMBER("off_ms", DOUBLE, struct traffic_yaml, off_ms),
		  .max = IBCC_SCENARIO_MAX_MS },
		{ IBCC_YAML_MEMBER("message_bytes", UINT, struct traffic_yaml, message_bytes),
		  .min = 1, .max = UINT32_MAX },
		{ IBCC_YAML_MEMBER("window_messages", UINT, struct traffic_yaml, window), .min = 1,
		  .max = 65535 },
		{ IBCC_YAML_MEMBER("merged", BOOL, struct traffic_yaml, merged) },
		{ IBCC_YAML_MEMBER("operation", ENUM, struct traffic_yaml, operation),
		  .names = ibcc_scenario_operations },
		{ IBCC_YAML_MEMBER("queue_pairs", UINT, struct traffic_yaml, queue_pairs), .min = 1,
		  .max = IBCC_SCENARIO_QUEUE_PAIRS_MAX },
		{ IBCC_YAML_MEMBER("queue_packets", UINT, struct traffic_yaml, queue_packets) },
		{ .name = NULL },
	};
	struct traffic *tr = arg;
	struct traffic_yaml ty = { .arrivals = -1,
				   .window = 1,
				   .operation = (int)tr->s->verbs.operation,
				   .queue_pairs = tr->s->verbs.queue_pairs };
	struct side from = { .y = y, .topo = tr->s->topo, .path = "traffic.from" };
	struct side to = { .y = y, .topo = tr->s->topo, .path = "traffic.to" };
	struct side except = { .y = y, .topo = tr->s->topo, .path = "traffic.except" };
	struct side to_except = { .y = y, .topo = tr->s->topo, .path = "traffic.to_except" };
	struct ibcc_flow_spec f = { 0 };
	int rc, bad;

	(void)index;
	if (ibcc_yaml_read(y, n, "traffic", keys, &ty, e))
		return -EINVAL;
	rc = side_read(&from, ty.from, e);
	bad = side_read(&to, ty.to, e);
	rc = rc ? rc : bad;
	if (ty.except) {
		bad = side_read(&except, ty.except, e);
		rc = rc ? rc : bad;
		side_remove(&from, &except);
	}
	if (ty.to_except) {
		bad = side_read(&to_except, ty.to_except, e);
		rc = rc ? rc : bad;
	}
	if (ty.to_except && !ty.merged) {
		side_remove(&to, &to_except);
		to.all = false; /* a flow to each that is left */
	}
	bad = check_rate(y, n, &ty, e);
	rc = rc ? rc : bad;
	if (!rc && to.all && tr->s->model.endpoint != IBCC_ENDPOINT_DATAGRAM)
		rc = ibcc_yaml_want(y, e, ty.to, "traffic.to",
				    "hosts by name, or to_except: with model.endpoint each flow is "
				    "a connection to one");
	if (ty.merged && !rc)
		rc = check_merged(y, n, &ty, &to, &to_except, e);
	if (rc || !tr->s->topo)
		goto out;
	f.kind = (enum ibcc_flow_kind)ty.kind;
	f.arrivals = (enum ibcc_arrivals)ty.arrivals;
	f.load_permille = permille(ty.load_percent);
	f.rate_mbps = ty.rate_mbps;
	f.sl = ty.sl;
	f.start_ps = ibcc_scenario_ps(ty.start_ms);
	f.stop_ps = ibcc_scenario_ps(ty.stop_ms);
	f.on_ps = ibcc_scenario_ps(ty.on_ms);
	f.off_ps = ibcc_scenario_ps(ty.off_ms);
	f.message_bytes = ty.message_bytes;
	f.window = ty.message_bytes ? ty.window : 0;
	f.queue_packets = ty.queue_packets;
	f.operation = (enum ibcc_verbs_operation)ty.operation;
	f.queue_pairs = ty.queue_pairs;
	rc = expand(tr, &ty, &f, &from, &to, &to_except, n, e);
out:
	free(from.node);
	free(to.node);
	free(except.node);
	free(to_except.node);
	return rc;
}

static int by_name(const void *a, const void *b, void *arg)
{
	const struct ibcc_flow_spec *flow = arg;

	return strcmp(flow[*(const uint32_t *)a].name, flow[*(const uint32_t *)b].name);
}

/* Reports name flows by their names: they must tell them apart. */
static int check_names(const struct ibcc_yaml *y, const struct traffic *tr,
		       struct ibcc_yaml_errors *e)
{
	const struct ibcc_scenario *s = tr->s;
	uint32_t *order = calloc(s->n_flows ? s->n_flows : 1, sizeof(*order)), i;
	int rc = 0;

	if (!order)
		return -ENOMEM;
	for (i = 0; i < s->n_flows; i++)
		order[i] = i;
	qsort_r(order, s->n_flows, sizeof(*order), by_name, s->flow);
	for (i = 1; i < s->n_flows; i++) {
		uint32_t a = order[i - 1], b = order[i];

		if (strcmp(s->flow[a].name, s->flow[b].name))
			continue;
		ibcc_yaml_error(y, e, tr->origin[a > b ? a : b].item, "traffic.name",
				"got a second flow named \"%s\", want different names",
				s->flow[b].name);
		rc = -EINVAL;
	}
	free(order);
	return rc;
}

/* Has the switch at a port an entry for another port's LID, or are the two linked? */
static bool has_route(const struct ibcc_topo *t, uint32_t from, uint32_t to)
{
	uint32_t peer = t->port[from].peer;
	const struct ibcc_topo_node *sw = &t->node[t->port[peer].node];
	uint16_t lid = t->port[to].lid;

	return peer == to || (lid < sw->lft_len && sw->lft[lid] != IBCC_LFT_NONE);
}

/* Is there a route to where a flow goes? If not, *to is a node without one, or IBCC_NONE: it goes
 * to all, and there is nobody.
 */
static bool all_routes(const struct traffic *tr, const struct ibcc_route_use *use, uint32_t *to)
{
	const struct ibcc_topo *t = tr->s->topo;
	uint32_t home = t->port[use->from].node, n = 0;

	*to = IBCC_NONE;
	if (use->to != IBCC_NONE) {
		*to = t->port[use->to].node;
		return has_route(t, use->from, use->to);
	}
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		if (i == home || i == use->but || tr->island[i] != tr->island[home] ||
		    !ibcc_device_is_host(t, i))
			continue;
		if (!has_route(t, use->from, ibcc_topo_ca_port(t, i))) {
			*to = i;
			return false;
		}
		n++;
	}
	return n;
}

static int check_routes(const struct ibcc_yaml *y, const struct traffic *tr,
			struct ibcc_yaml_errors *e)
{
	const struct ibcc_topo *t = tr->s->topo;
	const struct ibcc_yaml_node *told = NULL;
	struct ibcc_route_use *use;
	int rc = 0;

	for (uint32_t i = 0; i < tr->s->n_flows; i++) {
		const struct origin *o = &tr->origin[i];
		uint32_t from = t->port[o->use.from].node, to;

		if (all_routes(tr, &o->use, &to) || o->item == told)
			continue;
		told = o->item;
		ibcc_yaml_error(y, e, o->item, "traffic", "got a flow from %s to %s, want %s",
				node_text(tr, from), to == IBCC_NONE ? "all" : node_text(tr, to),
				to == IBCC_NONE ? "another host that links lead to"
				: tr->island[from] == tr->island[to]
					? "an up/down route between them: other topology.roots"
					: "links that lead from one to the other");
		rc = -EINVAL;
	}
	if (rc || !tr->s->n_flows)
		return rc;
	use = calloc(tr->s->n_flows, sizeof(*use));
	if (!use)
		return -ENOMEM;
	for (uint32_t i = 0; i < tr->s->n_flows; i++)
		use[i] = tr->origin[i].use;
	rc = ibcc_scenario_check_cycle(y, t, use, tr->s->n_flows, e);
	free(use);
	return rc;
}

int ibcc_scenario_read_traffic(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			       struct ibcc_scenario *s, bool routed, struct ibcc_yaml_errors *e)
{
	size_t n_nodes = s->topo ? s->topo->n_nodes : 0;
	struct traffic tr = { .s = s,
			      .text = calloc(n_nodes + 1, sizeof(*tr.text)),
			      .island = calloc(n_nodes + 1, sizeof(*tr.island)) };
	int rc = tr.text && tr.island ? 0 : -ENOMEM;

	if (!rc && s->topo)
		rc = ibcc_topo_islands(s->topo, tr.island);
	if (!rc)
		rc = ibcc_yaml_each(y, n, "traffic", read_item, &tr, e);
	if (!rc)
		rc = check_names(y, &tr, e);
	if (!rc && routed)
		rc = check_routes(y, &tr, e);
	free(tr.origin);
	free(tr.text);
	free(tr.island);
	return rc;
}
