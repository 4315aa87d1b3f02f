/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Traffic of a scenario file. Lists of senders and receivers expand to a flow for each
 * pair, so that a hot spot is one item however many nodes take part.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/device.h>
#include <ibcc/grow.h>
#include <ibcc/link.h>
#include <ibcc/scenario_file.h>

#include "traffic.h"

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

/* Checks that the item can be merged, and that the merged flow still fits the other keys. */
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

/* Notes a size of packets that flows have; false: there are too many. */
static bool note_size(struct traffic *tr, uint32_t bytes)
{
	uint32_t i = 0;

	while (i < tr->n_sizes && tr->size[i] != bytes)
		i++;
	if (i == IBCC_OTHER_SIZES)
		return false;
	tr->size[i] = bytes;
	tr->n_sizes += i == tr->n_sizes;
	return true;
}

/* Checks that links and buffers can hold the packets of an item. */
static int check_size(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, struct traffic *tr,
		      uint32_t bytes, struct ibcc_yaml_errors *e)
{
	static const char path[] = "traffic.packet_bytes";
	const struct ibcc_yaml_node *at = ibcc_yaml_get(y, n, "packet_bytes");
	const struct ibcc_model *m = &tr->s->model;
	const struct ibcc_topo *t = tr->s->topo;
	uint32_t buffer =
		m->buffer_bytes < m->hca_buffer_bytes ? m->buffer_bytes : m->hca_buffer_bytes;

	if (!bytes || bytes == m->packet_bytes)
		return 0;
	for (uint32_t i = 0; t && i < t->n_ports; i++)
		if (t->port[i].peer != IBCC_NONE && t->port[i].mtu_bytes < bytes)
			return ibcc_yaml_want(y, e, at, path, "at most the MTU, %u",
					      t->port[i].mtu_bytes);
	/* Credits are in whole blocks. */
	buffer -= buffer % IBCC_LINK_CREDIT_BYTES;
	if (bytes + m->header_bytes > buffer)
		return ibcc_yaml_want(y, e, at, path,
				      "at most %u, so that a packet with its header fits into the "
				      "smaller of the model's buffers",
				      buffer - m->header_bytes);
	if (!note_size(tr, bytes))
		return ibcc_yaml_want(y, e, at, path, "at most %u sizes beside model.packet_bytes",
				      IBCC_OTHER_SIZES);
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
		{ IBCC_YAML_MEMBER("packet_bytes", UINT, struct traffic_yaml, packet_bytes),
		  .min = IBCC_SCENARIO_PACKET_MIN, .max = IBCC_SCENARIO_PACKET_MAX },
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
		to.all = false; /* one flow to each node that is left */
	}
	bad = check_rate(y, n, &ty, e);
	rc = rc ? rc : bad;
	if (!rc && to.all && tr->s->model.endpoint != IBCC_ENDPOINT_DATAGRAM)
		rc = ibcc_yaml_want(y, e, ty.to, "traffic.to",
				    "hosts by name, or to_except: with model.endpoint each flow is "
				    "a connection to one");
	if (!rc && ibcc_scenario_sls_key(tr->s) && ibcc_yaml_get(y, n, "sl"))
		rc = ibcc_yaml_want(y, e, ibcc_yaml_get(y, n, "sl"), "traffic.sl",
				    "no sl with %s, by which each path has an SL",
				    ibcc_scenario_sls_key(tr->s));
	bad = check_size(y, n, tr, ty.packet_bytes, e);
	rc = rc ? rc : bad;
	if (ty.merged && !rc)
		rc = check_merged(y, n, &ty, &to, &to_except, e);
	if (rc || !tr->s->topo)
		goto out;
	f.kind = (enum ibcc_flow_kind)ty.kind;
	f.arrivals = (enum ibcc_arrivals)ty.arrivals;
	f.load_permille = ibcc_traffic_permille(ty.load_percent);
	f.rate_mbps = ty.rate_mbps;
	f.packet_bytes = ty.packet_bytes;
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
	rc = ibcc_traffic_expand(tr, &ty, &f, &from, &to, &to_except, n, e);
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

/* Checks that no two flows have the same name, since reports identify them by it. */
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
		rc = ibcc_traffic_check_routes(y, &tr, e);
	free(tr.origin);
	free(tr.text);
	free(tr.island);
	return rc;
}
