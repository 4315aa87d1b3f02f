/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The request "info": by which name a client can attach at a host. ibsim finds a node by its id in
 * the file, or else by its description; the first node that fits counts. Either name must be
 * shorter than its place in the request of control (IBCC_WIRE_NODE_BYTES).
 */
#include "sim/requests_info.h"

#include <errno.h>
#include <string.h>

#include "sim/wire.h"

/* The name by which ibsim takes a client at a node; NULL: there is none. */
static const char *attach_name(const struct ibcc_topo *t, uint32_t node)
{
	const struct ibcc_topo_node *n = &t->node[node];
	const char *id = *n->id ? n->id : n->desc;

	if (strlen(id) < IBCC_WIRE_NODE_BYTES)
		return id;
	if (strlen(n->desc) < IBCC_WIRE_NODE_BYTES && ibcc_topo_find_desc(t, n->desc) == node)
		return n->desc;
	return NULL;
}

/* The first channel adapter, in the order of GUIDs, where ibsim takes a client. */
static const char *first_host(const struct ibcc_requests *q)
{
	const struct ibcc_topo *t = ibcc_sim_fabric_topo(q->fabric);

	for (uint32_t i = 0; t && i < t->n_nodes; i++) {
		uint32_t node = ibcc_topo_find_guid(q->names, t->node[i].guid);
		const char *name = NULL;

		if (t->node[i].type == IBCC_NODE_CA && node != IBCC_NONE)
			name = attach_name(q->names, node);
		if (name)
			return name;
	}
	return NULL;
}

json_t *ibcc_requests_info(const struct ibcc_requests *q, const json_t *rq)
{
	const char *host = json_string_value(json_object_get(rq, "host")), *name;
	json_t *o;
	uint32_t node;

	if (host) {
		int err = ibcc_topo_find_node(q->names, host, &node);

		if (err)
			return ibcc_jsonl_error(err, "%s: %s", host,
						err == -ENOTUNIQ
							? "several nodes have this name; write the "
							  "node's GUID as 0x..."
							: "no such node");
		name = attach_name(q->names, node);
		if (!name)
			return ibcc_jsonl_error(
				-ENAMETOOLONG,
				"%s: this name is too long: ibsim accepts clients only at nodes "
				"whose description or id has at most %u bytes",
				host, IBCC_WIRE_NODE_BYTES - 1);
	} else {
		name = first_host(q);
	}
	o = json_pack("{s:b}", "ok", 1);
	if (name)
		json_object_set_new(o, "host", json_stringn_nocheck(name, strlen(name)));
	return o;
}
