/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A support bundle: nodes with their links, tables, maps and counters, without derived data. */
#include <string.h>
#include <time.h>

#include <ibcc/json.h>
#include <ibcc/version.h>

#include "daemon/bundle/bundle.h"
#include "daemon/report/report.h"

#define SLS 16u

/* What a port counted in the last polling cycle; null if there is no known interval. */
static json_t *counters(const struct ibcc_port_sample *p)
{
	const struct ibcc_delta *d = &p->delta;
	json_t *o, *bounds;

	if (!ibcc_sample_is_known(p) || !d->dt_ns)
		return json_null();
	bounds = json_array();
	o = json_pack("{sI sI sb}", "interval_ns", (json_int_t)d->dt_ns, "tick_ps",
		      (json_int_t)p->tick_ps, "doubted", p->trust.doubt != IBCC_DOUBT_NONE);
	for (unsigned int i = 0; i < IBCC_CTR_COUNT; i++) {
		enum ibcc_ctr c = (enum ibcc_ctr)i;
		const char *name = ibcc_ctr_name(c);

		json_object_set_new(o, name,
				    ibcc_delta_valid(d, c) ? json_integer((json_int_t)d->v[c])
							   : json_null());
		if (ibcc_delta_valid(d, c) && !ibcc_delta_exact(d, c))
			json_array_append_new(bounds, json_string(name));
	}
	json_object_set_new(o, "bounds", bounds);
	return o;
}

static json_t *peer(const struct ibcc_topo *t, uint32_t port)
{
	uint32_t other = t->port[port].peer;

	return other == IBCC_NONE ? json_null()
				  : json_pack("[ii]", (int)t->port[other].node, t->port[other].num);
}

static json_t *ports(const struct ibcc_topo *t, const struct ibcc_snapshot *s,
		     const struct ibcc_topo_node *n)
{
	json_t *list = json_array();

	for (uint32_t i = n->first_port; list && i <= n->first_port + n->n_ports; i++) {
		const struct ibcc_topo_port *p = &t->port[i];

		if (!p->num && n->type != IBCC_NODE_SWITCH)
			continue;
		json_array_append_new(
			list, json_pack("{si so si si si si si si si si si so so}", "port", p->num,
					"port_guid", ibcc_json_guid(p->guid), "lid", p->lid, "lmc",
					ibcc_topo_lmc(t, i), "state", p->state, "op_vls", p->op_vls,
					"link_mbps", (int)p->rate_mbps, "lanes", p->lanes, "widths",
					p->caps.widths, "speeds", p->caps.speeds, "mtu_bytes",
					p->mtu_bytes, "peer", peer(t, i), "counters",
					i < s->n_ports ? counters(&s->port[i]) : json_null()));
	}
	return list;
}

/* Two hexadecimal digits for each LID from 0 on. */
static json_t *table(const struct ibcc_topo_node *n)
{
	if (!n->lft)
		return json_null();
	return ibcc_json_hex(n->lft, n->lft_len <= IBCC_LID_MAX ? n->lft_len : IBCC_LID_MAX + 1u);
}

static json_t *row(const uint8_t vl[SLS])
{
	json_t *list = json_array();

	for (unsigned int sl = 0; sl < SLS; sl++)
		json_array_append_new(list, json_integer(vl[sl]));
	return list;
}

/* Rows by input, then by output port; equal consecutive rows are written once. */
static json_t *map(const struct ibcc_topo_node *n)
{
	unsigned int side = n->n_ports + 1u, rows = side * side, k = 0, len;
	json_t *list;

	if (!n->sl2vl)
		return json_null();
	for (list = json_array(); list && k < rows; k += len) {
		for (len = 1; k + len < rows && !memcmp(n->sl2vl[k], n->sl2vl[k + len], SLS);)
			len++;
		json_array_append_new(
			list, json_pack("{si so}", "rows", (int)len, "vl", row(n->sl2vl[k])));
	}
	return list;
}

static const char *type_name(enum ibcc_node_type type)
{
	switch (type) {
	case IBCC_NODE_CA: return "ca";
	case IBCC_NODE_SWITCH: return "switch";
	case IBCC_NODE_ROUTER: return "router";
	}
	return "";
}

static json_t *nodes(const struct ibcc_topo *t, const struct ibcc_snapshot *s)
{
	json_t *list = json_array();

	for (uint32_t i = 0; list && i < t->n_nodes; i++) {
		const struct ibcc_topo_node *n = &t->node[i];

		ibcc_json_fold(list,
			       json_pack("{so so ss sI si sb so so so}", "node_guid",
					 ibcc_json_guid(n->guid), "node", ibcc_json_text(n->desc),
					 "type", type_name(n->type), "vendor_id",
					 (json_int_t)n->vendor_id, "device_id", n->device_id,
					 "enhanced_port0", n->enhanced_port0, "ports",
					 ports(t, s, n), "lft", table(n), "sl2vl", map(n)));
	}
	return list;
}

json_t *ibcc_report_bundle(const struct ibcc_topo *t, const struct ibcc_snapshot *s,
			   const struct ibcc_settings *settings)
{
	json_t *o = settings ? ibcc_report_settings(t, settings, NULL) : NULL;
	json_t *list = o ? json_incref(json_object_get(o, "nodes")) : json_null();

	json_decref(o);
	return json_pack("{si ss ss sI sI sI so so}", "schema", IBCC_REPORT_SCHEMA, "format",
			 IBCC_BUNDLE_FORMAT, "version", IBCC_VERSION, "made",
			 (json_int_t)time(NULL), "pass", (json_int_t)s->pass, "interval_us",
			 (json_int_t)(s->interval_ns / 1000), "nodes", nodes(t, s), "settings",
			 list);
}
