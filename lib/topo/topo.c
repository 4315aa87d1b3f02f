/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The graph of a fabric: its life, copies, look-ups, comparison. A topology is plain data
 * (topo.h): arrays of nodes and ports, a port's peer by index, each LID's port, and a hash of
 * GUIDs. topo_edit.c changes links, LIDs and tables.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topo_texts.h"
#include <ibcc/grow.h>
#include <ibcc/hash.h>

#define MAX_PORTS 254u

struct ibcc_topo *ibcc_topo_new(void)
{
	struct ibcc_topo *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	for (uint32_t lid = 0; lid <= IBCC_LID_MAX; lid++)
		t->lid_port[lid] = IBCC_NONE;
	return t;
}

void ibcc_topo_free(struct ibcc_topo *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		free(t->node[i].lft);
		free(t->node[i].sl2vl);
	}
	free(t->node);
	free(t->port);
	free(t->endport);
	free(t->by_guid);
	ibcc_topo_texts_fini(&t->by_desc);
	ibcc_topo_texts_fini(&t->by_id);
	free(t->virtual_port);
	free(t->gap);
	free(t->lost_lid);
	free(t);
}

static size_t sl2vl_entries(const struct ibcc_topo_node *node)
{
	size_t side = node->n_ports + 1u;

	return side * side;
}

/* A copy of a vector. An empty one is allocated, too, since calloc(0) may return NULL. */
static void *dup_vec(const void *src, size_t n, size_t size)
{
	void *copy = calloc(n ? n : 1, size);

	if (copy && n)
		memcpy(copy, src, n * size);
	return copy;
}

struct ibcc_topo *ibcc_topo_clone(const struct ibcc_topo *t)
{
	struct ibcc_topo *c = ibcc_topo_new();

	if (!c)
		return NULL;
	c->generation = t->generation;
	memcpy(c->lid_port, t->lid_port, sizeof(c->lid_port));
	c->port = dup_vec(t->port, t->n_ports, sizeof(*t->port));
	c->endport = dup_vec(t->endport, t->n_endports, sizeof(*t->endport));
	c->node = calloc(t->n_nodes ? t->n_nodes : 1, sizeof(*t->node));
	c->by_guid = dup_vec(t->by_guid, t->cap_by_guid, sizeof(*t->by_guid));
	c->virtual_port = t->virtual_port ? dup_vec(t->virtual_port, IBCC_LID_MAX + 1,
						    sizeof(*t->virtual_port))
					  : NULL;
	if (t->n_gaps) {
		c->gap = dup_vec(t->gap, t->n_gaps, sizeof(*t->gap));
		c->lost_lid = dup_vec(t->lost_lid, IBCC_LID_MAX + 1, sizeof(*t->lost_lid));
	}
	if (!c->port || !c->endport || !c->node || !c->by_guid ||
	    (t->virtual_port && !c->virtual_port) || (t->n_gaps && (!c->gap || !c->lost_lid)) ||
	    ibcc_topo_texts_copy(&t->by_desc, &c->by_desc) ||
	    ibcc_topo_texts_copy(&t->by_id, &c->by_id))
		goto fail;
	c->n_gaps = t->n_gaps;
	c->n_virtual = t->n_virtual;
	c->cap_by_guid = t->cap_by_guid;
	c->n_ports = c->cap_ports = t->n_ports;
	c->n_endports = c->cap_endports = t->n_endports;
	c->cap_nodes = t->n_nodes;
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		const struct ibcc_topo_node *from = &t->node[i];
		struct ibcc_topo_node *to = &c->node[c->n_nodes++];

		*to = *from;
		to->lft = NULL;
		to->sl2vl = NULL;
		if (from->lft) {
			to->lft = dup_vec(from->lft, from->lft_len, 1);
			if (!to->lft)
				goto fail;
		}
		if (from->sl2vl) {
			to->sl2vl = dup_vec(from->sl2vl, sl2vl_entries(from), sizeof(*from->sl2vl));
			if (!to->sl2vl)
				goto fail;
		}
	}
	return c;

fail:
	ibcc_topo_free(c);
	return NULL;
}

/* The place in the hash where a GUID's node index is, or would be. The hash is never full. */
static uint32_t *guid_slot(const struct ibcc_topo *t, uint64_t guid)
{
	uint32_t mask = t->cap_by_guid - 1;
	uint32_t i = ibcc_hash_endport(guid, 0) & mask;

	while (t->by_guid[i] != IBCC_NONE && t->node[t->by_guid[i]].guid != guid)
		i = (i + 1) & mask;
	return &t->by_guid[i];
}

/* Makes room for one more node: at most half of the hash is in use. */
static int hash_reserve(struct ibcc_topo *t)
{
	uint32_t cap = t->cap_by_guid ? 2 * t->cap_by_guid : 32;
	uint32_t *hash;

	if (2 * (t->n_nodes + 1) <= t->cap_by_guid)
		return 0;
	hash = reallocarray(NULL, cap, sizeof(*hash));
	if (!hash)
		return -ENOMEM;
	memset(hash, 0xff, cap * sizeof(*hash)); /* IBCC_NONE */
	free(t->by_guid);
	t->by_guid = hash;
	t->cap_by_guid = cap;
	for (uint32_t i = 0; i < t->n_nodes; i++)
		*guid_slot(t, t->node[i].guid) = i;
	return 0;
}

/* Which ports of a node are endports: a switch answers at port 0, all others at each port. */
static bool is_endport(enum ibcc_node_type type, unsigned int num)
{
	return type == IBCC_NODE_SWITCH ? num == 0 : num > 0;
}

int64_t ibcc_topo_add_node(struct ibcc_topo *t, uint64_t guid, enum ibcc_node_type type,
			   unsigned int n_ports, const char *desc)
{
	uint32_t ends = type == IBCC_NODE_SWITCH ? 1 : n_ports;
	struct ibcc_topo_node *node;
	struct ibcc_topo_port *port;
	uint32_t *endport;

	if (n_ports < 1 || n_ports > MAX_PORTS || ibcc_topo_find_guid(t, guid) != IBCC_NONE)
		return -EINVAL;
	node = ibcc_grow_to(t->node, t->n_nodes + 1, &t->cap_nodes, sizeof(*t->node));
	if (!node)
		return -ENOMEM;
	t->node = node;
	port = ibcc_grow_to(t->port, t->n_ports + n_ports + 1, &t->cap_ports, sizeof(*t->port));
	if (!port)
		return -ENOMEM;
	t->port = port;
	endport = ibcc_grow_to(t->endport, t->n_endports + ends, &t->cap_endports,
			       sizeof(*t->endport));
	if (!endport)
		return -ENOMEM;
	t->endport = endport;
	if (hash_reserve(t) || ibcc_topo_texts_reserve(t))
		return -ENOMEM;

	*guid_slot(t, guid) = t->n_nodes;
	node = &t->node[t->n_nodes];
	*node = (struct ibcc_topo_node){
		.guid = guid,
		.type = type,
		.n_ports = (uint8_t)n_ports,
		.first_port = t->n_ports,
	};
	snprintf(node->desc, sizeof(node->desc), "%s", desc ? desc : "");
	ibcc_topo_texts_add(t, t->n_nodes);
	for (unsigned int num = 0; num <= n_ports; num++) {
		bool end = is_endport(type, num);

		if (end)
			t->endport[t->n_endports] = t->n_ports;
		t->port[t->n_ports++] = (struct ibcc_topo_port){
			.node = t->n_nodes,
			.num = (uint8_t)num,
			.state = end && num == 0 ? 4 : 1,
			.op_vls = 1,
			.peer = IBCC_NONE,
			.guid = end ? guid + num : 0,
			.endport = end ? t->n_endports++ : IBCC_NONE,
		};
	}
	return t->n_nodes++;
}

uint32_t ibcc_topo_find_guid(const struct ibcc_topo *t, uint64_t guid)
{
	return t->cap_by_guid ? *guid_slot(t, guid) : IBCC_NONE;
}

uint32_t ibcc_topo_find_desc(const struct ibcc_topo *t, const char *desc)
{
	uint32_t n;

	return ibcc_topo_by_desc(t, desc, &n);
}

uint32_t ibcc_topo_port_index(const struct ibcc_topo *t, uint32_t node, unsigned int num)
{
	if (node >= t->n_nodes || num > t->node[node].n_ports)
		return IBCC_NONE;
	return t->node[node].first_port + num;
}

uint32_t ibcc_topo_find_endport(const struct ibcc_topo *t, uint64_t guid, unsigned int num)
{
	uint32_t node = ibcc_topo_find_guid(t, guid);
	uint32_t port = node == IBCC_NONE ? IBCC_NONE : ibcc_topo_port_index(t, node, num);

	return port == IBCC_NONE ? IBCC_NONE : t->port[port].endport;
}

int ibcc_topo_port_name(const struct ibcc_topo *t, uint32_t port, char *buf, size_t len)
{
	const struct ibcc_topo_node *node;

	if (port >= t->n_ports)
		return snprintf(buf, len, "unknown port");
	node = &t->node[t->port[port].node];
	if (!node->desc[0])
		return snprintf(buf, len, "0x%016llx port %u", (unsigned long long)node->guid,
				t->port[port].num);
	return snprintf(buf, len, "%s port %u", node->desc, t->port[port].num);
}

/* Tables are equal if they forward the same: a shorter one has no entry beyond its end. */
static bool lft_equal(const struct ibcc_topo_node *a, const struct ibcc_topo_node *b)
{
	uint32_t common = a->lft_len < b->lft_len ? a->lft_len : b->lft_len;
	const struct ibcc_topo_node *longer = a->lft_len > b->lft_len ? a : b;

	if (common && memcmp(a->lft, b->lft, common))
		return false;
	for (uint32_t lid = common; lid < longer->lft_len; lid++)
		if (longer->lft[lid] != IBCC_LFT_NONE)
			return false;
	return true;
}

static bool node_equal(const struct ibcc_topo_node *a, const struct ibcc_topo_node *b)
{
	if (a->guid != b->guid || a->type != b->type || a->n_ports != b->n_ports ||
	    a->first_port != b->first_port || a->enhanced_port0 != b->enhanced_port0 ||
	    a->vendor_id != b->vendor_id || a->device_id != b->device_id ||
	    strcmp(a->desc, b->desc) || !a->sl2vl != !b->sl2vl)
		return false;
	if (a->sl2vl && memcmp(a->sl2vl, b->sl2vl, sl2vl_entries(a) * sizeof(*a->sl2vl)))
		return false;
	return lft_equal(a, b);
}

static bool port_equal(const struct ibcc_topo_port *a, const struct ibcc_topo_port *b)
{
	return a->state == b->state && a->op_vls == b->op_vls && a->peer == b->peer &&
	       a->lid == b->lid && a->mtu_bytes == b->mtu_bytes && a->rate_mbps == b->rate_mbps &&
	       a->lanes == b->lanes;
}

bool ibcc_topo_equal(const struct ibcc_topo *a, const struct ibcc_topo *b)
{
	if (a->n_nodes != b->n_nodes || a->n_ports != b->n_ports ||
	    memcmp(a->lid_port, b->lid_port, sizeof(a->lid_port)))
		return false;
	for (uint32_t i = 0; i < a->n_nodes; i++)
		if (!node_equal(&a->node[i], &b->node[i]))
			return false;
	for (uint32_t i = 0; i < a->n_ports; i++)
		if (!port_equal(&a->port[i], &b->port[i]))
			return false;
	return true;
}
