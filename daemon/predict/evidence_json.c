/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The evidence of a prediction (evidence.h) as JSON in a support bundle, and back. A port is [node,
 * port], with a node's place in the bundle's list. The input is not trusted: every number has a
 * range.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/json.h>
#include <ibcc/parameters.h>
#include <ibcc/plan_file.h>

#include "daemon/predict/evidence.h"

/* No link carries more. And no port is blocked for longer than all the time, except that clocks
 * differ.
 */
#define MOST_MBPS 1e8
#define MOST_WAIT 2.0
#define MOST_BECN 1e15
/* Smallest size of a packet in bytes, including headers. */
#define LEAST_PACKET 64
#define MOST_PACKET  8192

static const struct {
	enum ibcc_prediction_why why;
	const char *name;
} refusals[] = {
	{ IBCC_PREDICTION_STALE, "stale" },
	{ IBCC_PREDICTION_ADAPTIVE, "adaptive" },
	{ IBCC_PREDICTION_VLS, "vls" },
	{ IBCC_PREDICTION_NO_CC, "no-cc" },
};
#define N_REFUSALS (sizeof(refusals) / sizeof(*refusals))

static const char *const roles[] = {
	[IBCC_ROLE_NONE] = "none",           [IBCC_ROLE_CONTRIBUTOR] = "contributor",
	[IBCC_ROLE_CANDIDATE] = "candidate", [IBCC_ROLE_VICTIM] = "victim",
	[IBCC_ROLE_NEAR] = "near",
};
#define N_ROLES (sizeof(roles) / sizeof(*roles))

static json_t *at(const struct ibcc_topo *t, uint32_t port)
{
	return json_pack("[ii]", (int)t->port[port].node, t->port[port].num);
}

static json_t *write_refusal(enum ibcc_prediction_why why)
{
	for (size_t i = 0; i < N_REFUSALS; i++)
		if (refusals[i].why == why)
			return json_string(refusals[i].name);
	return json_null();
}

static json_t *write_loads(const struct ibcc_evidence *e)
{
	json_t *list = json_array();

	for (uint32_t i = 0; list && i < e->topo->n_ports; i++)
		if (e->topo->port[i].peer != IBCC_NONE)
			json_array_append_new(list,
					      json_pack("[iifff]", (int)e->topo->port[i].node,
							e->topo->port[i].num, e->before.mbps[i],
							e->now.mbps[i], e->now.wait[i]));
	return list;
}

static json_t *write_sources(const struct ibcc_topo *t, const struct ibcc_root *r)
{
	json_t *list = json_array();

	for (uint32_t i = 0; list && i < r->n_sources; i++)
		json_array_append_new(list, json_pack("{so ss sI}", "at", at(t, r->source[i].port),
						      "role", roles[r->source[i].role], "xmit_mbps",
						      (json_int_t)r->source[i].xmit_mbps));
	return list;
}

static json_t *write_becns(const struct ibcc_topo *t, const struct ibcc_root *r)
{
	json_t *list = json_array();

	for (uint32_t i = 0; list && r->becns && i < t->n_endports; i++) {
		uint32_t port = t->endport[i];

		if (r->becns[i] > 0)
			json_array_append_new(list, json_pack("[iif]", (int)t->port[port].node,
							      t->port[port].num, r->becns[i]));
	}
	return list;
}

static json_t *write_roots(const struct ibcc_evidence *e)
{
	json_t *list = json_array();

	for (uint32_t i = 0; list && i < e->in.n_roots; i++) {
		const struct ibcc_root *r = &e->root[i];

		json_array_append_new(
			list,
			json_pack("{so ss sI sI sI so so}", "at", at(e->topo, r->port), "kind",
				  r->kind == IBCC_CONGESTION_INPUT ? "input" : "output",
				  "rate_mbps", (json_int_t)r->rate_mbps, "packet_bytes",
				  (json_int_t)r->packet_bytes, "marked", (json_int_t)r->n_marked,
				  "sources", write_sources(e->topo, r), "becns",
				  write_becns(e->topo, r)));
	}
	return list;
}

/* All writes between present and wanted settings, of which a plan may be a part. */
static json_t *write_writes(const struct ibcc_evidence *e)
{
	const struct ibcc_target target = { .wanted = e->wanted };
	struct ibcc_plan plan;
	json_t *list = NULL;

	if (!ibcc_planner_run(e->topo, &e->actual, &target, &plan))
		list = ibcc_plan_file_writes(&plan);
	ibcc_plan_fini(&plan);
	return list;
}

json_t *ibcc_evidence_write(const struct ibcc_evidence *e)
{
	return json_pack("{sI sf sI sI sI so so so so}", "age_s",
			 (json_int_t)(e->in.age_ns / 1000000000ull), "moved", e->in.moved,
			 "intervals", (json_int_t)e->now.n, "intervals_before",
			 (json_int_t)e->before.n, "packet_bytes", (json_int_t)e->in.packet_bytes,
			 "cannot", write_refusal(e->in.refuse), "loads", write_loads(e), "roots",
			 write_roots(e), "writes", write_writes(e));
}

/* What is wrong, and where. */
struct reader {
	struct ibcc_evidence *e;
	struct ibcc_why *why;
};

static int bad(const struct reader *r, const char *where, size_t i, const char *want)
{
	return ibcc_why_set(r->why, -EINVAL, "evidence: %s: entry %zu: want %s", where, i, want);
}

static bool real(const json_t *v, double most, double *out)
{
	*out = json_number_value(v);
	return json_is_number(v) && isfinite(*out) && *out >= 0 && *out <= most;
}

/* [node, port, ...]: a port with a number. */
static bool port_at(const struct ibcc_topo *t, const json_t *v, uint32_t *port)
{
	json_int_t node, num;

	if (!ibcc_json_read_whole(json_array_get(v, 0), (json_int_t)t->n_nodes - 1, &node) ||
	    !ibcc_json_read_whole(json_array_get(v, 1), UINT8_MAX, &num))
		return false;
	*port = ibcc_topo_port_index(t, (uint32_t)node, (unsigned int)num);
	return *port != IBCC_NONE;
}

static int read_numbers(struct reader *r, const json_t *o)
{
	struct ibcc_evidence *e = r->e;
	json_int_t age_s, now, before, bytes;
	double moved;

	if (!ibcc_json_read_whole(json_object_get(o, "age_s"), UINT32_MAX, &age_s) ||
	    !real(json_object_get(o, "moved"), 1, &moved) ||
	    !ibcc_json_read_whole(json_object_get(o, "intervals"), UINT32_MAX, &now) ||
	    !ibcc_json_read_whole(json_object_get(o, "intervals_before"), UINT32_MAX, &before) ||
	    !ibcc_json_read_whole(json_object_get(o, "packet_bytes"), MOST_PACKET, &bytes) ||
	    (bytes && bytes < LEAST_PACKET))
		return ibcc_why_set(r->why, -EINVAL,
				    "evidence: want age_s, moved, intervals, intervals_before and "
				    "packet_bytes");
	e->in.age_ns = (uint64_t)age_s * 1000000000ull;
	e->in.moved = moved;
	e->now.n = (uint32_t)now;
	e->before.n = (uint32_t)before;
	e->in.packet_bytes = (uint32_t)bytes;
	return 0;
}

static int read_refusal(struct reader *r, const json_t *o)
{
	const char *name = json_string_value(o);

	if (json_is_null(o))
		return 0;
	for (size_t i = 0; name && i < N_REFUSALS; i++)
		if (!strcmp(name, refusals[i].name)) {
			r->e->in.refuse = refusals[i].why;
			return 0;
		}
	return ibcc_why_set(r->why, -EINVAL,
			    "evidence: cannot: want null, stale, adaptive, vls or no-cc");
}

static int read_loads(struct reader *r, const json_t *list)
{
	struct ibcc_evidence *e = r->e;
	const json_t *v;
	uint32_t port;
	size_t i;

	if (!json_is_array(list))
		return ibcc_why_set(r->why, -EINVAL, "evidence: want loads");
	json_array_foreach (list, i, v)
		if (!port_at(e->topo, v, &port) ||
		    !real(json_array_get(v, 2), MOST_MBPS, &e->before.mbps[port]) ||
		    !real(json_array_get(v, 3), MOST_MBPS, &e->now.mbps[port]) ||
		    !real(json_array_get(v, 4), MOST_WAIT, &e->now.wait[port]))
			return bad(r, "loads", i, "[node, port, Mb/s, Mb/s, share]");
	return 0;
}

static bool is_adapter(const struct ibcc_topo *t, uint32_t port)
{
	return !ibcc_topo_is_switch(t, t->port[port].node) && t->port[port].endport != IBCC_NONE;
}

static int read_sources(struct reader *r, struct ibcc_root *root, const json_t *list)
{
	const json_t *v;
	size_t i;

	root->source = calloc(json_array_size(list) + 1, sizeof(*root->source));
	if (!root->source)
		return -ENOMEM;
	json_array_foreach (list, i, v) {
		const char *role = json_string_value(json_object_get(v, "role"));
		struct ibcc_source *s = &root->source[root->n_sources];
		json_int_t mbps;
		size_t k = 0;

		while (k < N_ROLES && (!role || strcmp(role, roles[k])))
			k++;
		if (!port_at(r->e->topo, json_object_get(v, "at"), &s->port) ||
		    !is_adapter(r->e->topo, s->port) || k == N_ROLES ||
		    !ibcc_json_read_whole(json_object_get(v, "xmit_mbps"), (json_int_t)MOST_MBPS,
					  &mbps))
			return bad(r, "sources", i, "an adapter's port, role and xmit_mbps");
		s->role = (enum ibcc_role)k;
		s->xmit_mbps = (uint32_t)mbps;
		root->n_sources++;
	}
	return 0;
}

static int read_becns(struct reader *r, struct ibcc_root *root, const json_t *list)
{
	const struct ibcc_topo *t = r->e->topo;
	double *becns = calloc(t->n_endports + 1u, sizeof(*becns));
	const json_t *v;
	uint32_t port;
	size_t i;

	if (!becns)
		return -ENOMEM;
	root->becns = becns;
	json_array_foreach (list, i, v)
		if (!port_at(t, v, &port) || !is_adapter(t, port) ||
		    !real(json_array_get(v, 2), MOST_BECN, &becns[t->port[port].endport]))
			return bad(r, "becns", i, "[node, port, count] of an adapter");
	return 0;
}

static int read_root(struct reader *r, size_t i, const json_t *o)
{
	const struct ibcc_topo *t = r->e->topo;
	struct ibcc_root *root = &r->e->root[r->e->in.n_roots++];
	const char *kind = json_string_value(json_object_get(o, "kind"));
	json_int_t mbps, bytes, marked;
	int rc;

	if (!port_at(t, json_object_get(o, "at"), &root->port) ||
	    !ibcc_topo_is_switch(t, t->port[root->port].node) || !kind ||
	    (strcmp(kind, "input") != 0 && strcmp(kind, "output") != 0) ||
	    !ibcc_json_read_whole(json_object_get(o, "rate_mbps"), (json_int_t)MOST_MBPS, &mbps) ||
	    !ibcc_json_read_whole(json_object_get(o, "packet_bytes"), MOST_PACKET, &bytes) ||
	    !ibcc_json_read_whole(json_object_get(o, "marked"), UINT32_MAX, &marked))
		return bad(r, "roots", i,
			   "a switch's port, kind, rate_mbps, packet_bytes and marked");
	root->kind = strcmp(kind, "input") ? IBCC_CONGESTION_OUTPUT : IBCC_CONGESTION_INPUT;
	root->rate_mbps = (uint32_t)mbps;
	root->packet_bytes = (uint32_t)bytes;
	root->n_marked = (uint32_t)marked;
	rc = read_sources(r, root, json_object_get(o, "sources"));
	return rc ? rc : read_becns(r, root, json_object_get(o, "becns"));
}

static int read_roots(struct reader *r, const json_t *list)
{
	const json_t *o;
	size_t i;
	int rc = 0;

	if (!json_is_array(list) || json_array_size(list) > r->e->topo->n_ports)
		return ibcc_why_set(r->why, -EINVAL, "evidence: want roots");
	r->e->root = calloc(json_array_size(list) + 1, sizeof(*r->e->root));
	if (!r->e->root)
		return -ENOMEM;
	json_array_foreach (list, i, o)
		if (!rc)
			rc = read_root(r, i, o);
	return rc;
}

static struct ibcc_endport_cc *endport_of(const struct ibcc_topo *t, const struct ibcc_change *c,
					  struct ibcc_settings *s)
{
	uint32_t node = ibcc_topo_find_guid(t, c->node_guid);
	uint32_t port = node == IBCC_NONE ? IBCC_NONE : ibcc_topo_port_index(t, node, c->port);

	return port == IBCC_NONE || t->port[port].endport >= s->n ? NULL
								  : &s->ep[t->port[port].endport];
}

/* Puts the old values over what was read later. */
static int read_writes(struct reader *r, const json_t *list)
{
	struct ibcc_evidence *e = r->e;
	struct ibcc_plan plan = { 0 };
	int rc = ibcc_plan_file_read(list, &plan, r->why);

	for (uint32_t i = 0; i < plan.n && !rc; i++) {
		const struct ibcc_change *c = &plan.change[i];
		struct ibcc_endport_cc *is = endport_of(e->topo, c, &e->actual);
		struct ibcc_endport_cc *then = endport_of(e->topo, c, &e->wanted);

		if (!is || !then ||
		    !ibcc_settings_unpack(is, c->attr_id, c->attr_mod, c->old_data) ||
		    !ibcc_settings_unpack(then, c->attr_id, c->attr_mod, c->new_data))
			rc = bad(r, "writes", i, "settings that the node has");
	}
	ibcc_plan_fini(&plan);
	return rc;
}

int ibcc_evidence_read(struct ibcc_evidence *e, const json_t *o, const struct ibcc_topo *t,
		       const struct ibcc_settings *actual, struct ibcc_why *why)
{
	struct reader r = { .e = e, .why = why };
	int rc;

	*e = (struct ibcc_evidence){ .topo = ibcc_topo_clone(t) };
	rc = e->topo ? ibcc_loads_init(&e->before, t->n_ports) : -ENOMEM;
	if (!rc)
		rc = ibcc_loads_init(&e->now, t->n_ports);
	if (!rc)
		rc = ibcc_settings_copy(&e->actual, actual);
	if (!rc)
		rc = ibcc_settings_copy(&e->wanted, actual);
	if (!rc)
		rc = read_numbers(&r, o);
	if (!rc)
		rc = read_refusal(&r, json_object_get(o, "cannot"));
	if (!rc)
		rc = read_loads(&r, json_object_get(o, "loads"));
	if (!rc)
		rc = read_roots(&r, json_object_get(o, "roots"));
	if (!rc)
		rc = read_writes(&r, json_object_get(o, "writes"));
	if (rc == -ENOMEM)
		ibcc_why_set(why, rc, "no memory");
	ibcc_evidence_point(e);
	return rc;
}
