/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Nodes, links and tables of a bundle. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/json.h>

#include "daemon/bundle/bundle.h"

#define SLS       16u
#define MOST_NODE 49151u /* the number of unicast LIDs */
#define MOST_MBPS 10000000

struct reader {
	struct ibcc_topo *t;
	struct ibcc_why *why;
	size_t node; /* the node being read */
};

static int bad(const struct reader *r, const char *what)
{
	return ibcc_why_set(r->why, -EINVAL, "nodes[%zu]: %s", r->node, what);
}

static bool type_of(const json_t *o, enum ibcc_node_type *type)
{
	static const struct {
		const char *name;
		enum ibcc_node_type type;
	} types[] = { { "ca", IBCC_NODE_CA },
		      { "switch", IBCC_NODE_SWITCH },
		      { "router", IBCC_NODE_ROUTER } };
	const char *s = json_string_value(json_object_get(o, "type"));

	for (size_t i = 0; s && i < sizeof(types) / sizeof(*types); i++)
		if (!strcmp(s, types[i].name)) {
			*type = types[i].type;
			return true;
		}
	return false;
}

/* Switches list port 0, too; other ports are listed one by one in order. */
static int add_node(struct reader *r, const json_t *o)
{
	const json_t *ports = json_object_get(o, "ports");
	const char *desc = json_string_value(json_object_get(o, "node"));
	json_int_t vendor, device;
	enum ibcc_node_type type;
	uint64_t id;
	int64_t node;

	if (!ibcc_json_read_guid(json_object_get(o, "node_guid"), &id) || !type_of(o, &type) ||
	    !desc || !ibcc_json_read_whole(json_object_get(o, "vendor_id"), UINT32_MAX, &vendor) ||
	    !ibcc_json_read_whole(json_object_get(o, "device_id"), UINT16_MAX, &device) ||
	    json_array_size(ports) <= (type == IBCC_NODE_SWITCH) || json_array_size(ports) > 255)
		return bad(r, "want node_guid, node, type, vendor_id, device_id and ports");
	node = ibcc_topo_add_node(r->t, id, type,
				  (unsigned int)json_array_size(ports) - (type == IBCC_NODE_SWITCH),
				  desc);
	if (node < 0)
		return node == -ENOMEM ? -ENOMEM : bad(r, "its GUID is another one's, too");
	r->t->node[node].vendor_id = (uint32_t)vendor;
	r->t->node[node].device_id = (uint16_t)device;
	r->t->node[node].enhanced_port0 = json_is_true(json_object_get(o, "enhanced_port0"));
	return 0;
}

static int add_link(struct reader *r, uint32_t port, const json_t *peer)
{
	const struct ibcc_topo_port *p = &r->t->port[port];
	json_int_t node = json_integer_value(json_array_get(peer, 0));
	json_int_t num = json_integer_value(json_array_get(peer, 1));
	uint32_t to;

	if (json_is_null(peer))
		return 0;
	to = node >= 0 && node < r->t->n_nodes && num > 0 && num <= UINT8_MAX
		     ? ibcc_topo_port_index(r->t, (uint32_t)node, (unsigned int)num)
		     : IBCC_NONE;
	if (to == IBCC_NONE || !p->num)
		return bad(r, "peer: want null or [node, port]");
	if (p->peer == to)
		return 0;
	return ibcc_topo_link(r->t, p->node, p->num, (uint32_t)node, (unsigned int)num,
			      p->rate_mbps, p->mtu_bytes)
		       ? bad(r, "peer: the port has another one, or none")
		       : 0;
}

/* Reads a mask of what a port can run at. Bundles of earlier releases lack it: 0, not known. */
static bool read_mask(const json_t *o, const char *key, unsigned int all, json_int_t *mask)
{
	const json_t *v = json_object_get(o, key);

	*mask = 0;
	return !v ||
	       (ibcc_json_read_whole(v, (json_int_t)all, mask) && !((unsigned int)*mask & ~all));
}

/* A rate belongs to an end of a link, so links come first. */
static int set_port(struct reader *r, uint32_t port, const json_t *o)
{
	struct ibcc_topo_port *p = &r->t->port[port];
	json_int_t lid, lmc, state, vls, mbps, lanes, mtu, widths, speeds;
	uint64_t id;

	if (!ibcc_json_read_guid(json_object_get(o, "port_guid"), &id) ||
	    !ibcc_json_read_whole(json_object_get(o, "lid"), IBCC_LID_MAX, &lid) ||
	    !ibcc_json_read_whole(json_object_get(o, "lmc"), 7, &lmc) ||
	    !ibcc_json_read_whole(json_object_get(o, "state"), 5, &state) ||
	    !ibcc_json_read_whole(json_object_get(o, "op_vls"), 15, &vls) ||
	    !ibcc_json_read_whole(json_object_get(o, "link_mbps"), MOST_MBPS, &mbps) ||
	    !ibcc_json_read_whole(json_object_get(o, "lanes"), UINT8_MAX, &lanes) ||
	    !ibcc_json_read_whole(json_object_get(o, "mtu_bytes"), 4096, &mtu))
		return bad(r, "ports: want port_guid, lid, lmc, state, op_vls, link_mbps, lanes "
			      "and mtu_bytes");
	if (!read_mask(o, "widths", IBCC_LINK_WIDTHS, &widths) ||
	    !read_mask(o, "speeds", IBCC_LINK_SPEEDS, &speeds))
		return bad(r, "ports: want masks in widths and speeds, or neither key");
	p->guid = id;
	p->state = (uint8_t)state;
	p->op_vls = (uint8_t)vls;
	p->rate_mbps = (uint32_t)mbps;
	p->lanes = (uint8_t)lanes;
	p->caps = (struct ibcc_link_caps){ (uint8_t)widths, (uint16_t)speeds };
	p->mtu_bytes = (uint16_t)mtu;
	if (p->peer != IBCC_NONE && !mbps)
		return bad(r, "ports: a link without a rate");
	return lid && ibcc_topo_set_lid(r->t, port, (uint16_t)lid, (unsigned int)lmc)
		       ? bad(r, "ports: lid: it is another one's, too, or the port has none")
		       : 0;
}

/* The topology's port for an entry; -1: there is none, or the entry is out of order. */
static int64_t port_of(const struct reader *r, size_t k, const json_t *o)
{
	const struct ibcc_topo_node *n = &r->t->node[r->node];
	size_t first = n->type != IBCC_NODE_SWITCH;
	const json_t *num = json_object_get(o, "port");

	return json_is_integer(num) && json_integer_value(num) == (json_int_t)(first + k)
		       ? (int64_t)(n->first_port + first + k)
		       : -1;
}

static int each_port(struct reader *r, const json_t *nodes,
		     int (*fn)(struct reader *r, uint32_t port, const json_t *o))
{
	const json_t *n, *o;
	size_t k;
	int rc;

	json_array_foreach (nodes, r->node, n)
		json_array_foreach (json_object_get(n, "ports"), k, o) {
			int64_t port = port_of(r, k, o);

			rc = port < 0 ? bad(r, "ports: want one for each number, in their order")
				      : fn(r, (uint32_t)port, o);
			if (rc)
				return rc;
		}
	return 0;
}

static int link_port(struct reader *r, uint32_t port, const json_t *o)
{
	return add_link(r, port, json_object_get(o, "peer"));
}

static int set_lft(struct reader *r, const json_t *v)
{
	size_t len = json_string_length(v) / 2;
	uint8_t *lft;
	int rc;

	if (json_is_null(v))
		return 0;
	if (!json_is_string(v) || len > IBCC_LID_MAX + 1)
		return bad(r, "lft: want two hexadecimal digits for each LID");
	lft = calloc(len + 1, 1);
	if (!lft)
		return -ENOMEM;
	if (!ibcc_json_read_hex(v, lft, len))
		rc = bad(r, "lft: want two hexadecimal digits in lower case for each LID");
	else
		rc = ibcc_topo_set_lft(r->t, (uint32_t)r->node, lft, (uint32_t)len);
	free(lft);
	return rc == -EINVAL && !r->why->text[0] ? bad(r, "lft: this is not a switch") : rc;
}

static int set_row(struct reader *r, const json_t *o, size_t *row, size_t side)
{
	const json_t *list = json_object_get(o, "vl");
	json_int_t rows;
	uint8_t vl[SLS];
	int rc = 0;

	if (!ibcc_json_read_whole(json_object_get(o, "rows"), (json_int_t)(side * side - *row),
				  &rows) ||
	    json_array_size(list) != SLS)
		return bad(r, "sl2vl: want rows with 16 VLs each");
	for (size_t sl = 0; sl < SLS; sl++) {
		json_int_t v = json_integer_value(json_array_get(list, sl));

		if (!json_is_integer(json_array_get(list, sl)) || v < 0 || v > 15)
			return bad(r, "sl2vl: want VLs of 0 to 15");
		vl[sl] = (uint8_t)v;
	}
	for (; rows && !rc; rows--, ++*row)
		rc = ibcc_topo_set_sl2vl(r->t, (uint32_t)r->node, (unsigned int)(*row / side),
					 (unsigned int)(*row % side), vl);
	return rc == -EINVAL ? bad(r, "sl2vl: this is not a switch") : rc;
}

static int set_sl2vl(struct reader *r, const json_t *list)
{
	size_t side = r->t->node[r->node].n_ports + 1u, row = 0, i;
	const json_t *o;
	int rc = 0;

	if (json_is_null(list))
		return 0;
	json_array_foreach (list, i, o)
		if (!rc)
			rc = set_row(r, o, &row, side);
	if (!rc && row != side * side)
		rc = bad(r, "sl2vl: want a row for each input and output port");
	return rc;
}

static int set_tables(struct reader *r, const json_t *nodes)
{
	const json_t *n;
	int rc = 0;

	json_array_foreach (nodes, r->node, n) {
		rc = set_lft(r, json_object_get(n, "lft"));
		if (!rc)
			rc = set_sl2vl(r, json_object_get(n, "sl2vl"));
		if (rc)
			return rc;
	}
	return 0;
}

int ibcc_bundle_topology(const json_t *nodes, struct ibcc_topo *t, struct ibcc_why *why)
{
	struct reader r = { .t = t, .why = why };
	const json_t *n;
	int rc = 0;

	why->text[0] = '\0';
	if (!json_array_size(nodes) || json_array_size(nodes) > MOST_NODE)
		return ibcc_why_set(why, -EINVAL, "nodes: want a list of them");
	json_array_foreach (nodes, r.node, n) {
		rc = add_node(&r, n);
		if (rc)
			return rc;
	}
	rc = each_port(&r, nodes, link_port);
	if (!rc)
		rc = each_port(&r, nodes, set_port);
	if (!rc)
		rc = set_tables(&r, nodes);
	return rc ? rc : ibcc_topo_find_virtual(t);
}
