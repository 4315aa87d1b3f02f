/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Copies the topology out of OpenSM's tables (fabric.h). The next sweep frees the tables' objects,
 * which are linked by pointers, so everything needed is copied while OpenSM's lock is held. The
 * copy is flat, needs no search and uses memory that is allocated before, so that OpenSM's writers
 * hardly wait. The topology is built from the copy afterwards. Begin with
 * ibcc_plugin_fabric_read(), near the end.
 */
#include "opensm-plugin/fabric.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Before all other OpenSM headers: the layout of their structures depends on it. */
#include <opensm/osm_config.h>

#include <complib/cl_passivelock.h>
#include <complib/cl_qmap.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_version.h>

#include "opensm_members.h" /* generated when the plugin is built, see members.sh */

#include <ibcc/link.h>
#include <ibcc/now.h>
#include <ibcc/version.h>

#define SPEED_EXT2_BYTE 56 /* of PortInfo */
#define COPY_TRIES      8u /* if the fabric grows between measuring and copying */

/* The symbol is in the opensm program itself, so a program that tests the plugin lacks it. */
#pragma weak osm_exit_flag

/* OpenSM uses SMInfo's numbers for its states. */
_Static_assert((int)IBCC_SM_NOT_ACTIVE == IB_SMINFO_STATE_NOTACTIVE, "SM states");
_Static_assert((int)IBCC_SM_DISCOVERING == IB_SMINFO_STATE_DISCOVERING, "SM states");
_Static_assert((int)IBCC_SM_STANDBY == IB_SMINFO_STATE_STANDBY, "SM states");
_Static_assert((int)IBCC_SM_MASTER == IB_SMINFO_STATE_MASTER, "SM states");

struct raw_port {
	uint64_t guid, peer_guid; /* 0: no such port, no peer; peer in network order */
	uint32_t rate_mbps;
	uint16_t lid, mtu_bytes;
	uint8_t lmc, state, op_vls, peer_num, lanes;
	struct ibcc_link_caps caps;
};

struct raw_node {
	ib_net64_t guid; /* in network order: OpenSM's map and so our array are sorted by it */
	enum ibcc_node_type type;
	uint32_t vendor_id;
	uint16_t device_id;
	unsigned int n_ports;
	bool enhanced_port0;
	char desc[IBCC_DESC_BYTES];
	size_t port, lft; /* start of ports 0..n_ports and of the table in the vectors */
	uint32_t lft_len;
};

struct raw_fabric {
	size_t n_nodes;
	struct raw_node *node;
	struct raw_port *port;
	uint8_t *lft;
};

/* Port `num` of a node, or NULL: the table has holes, and its accessor only asserts the range. */
static osm_physp_t *physp_at(osm_node_t *node, unsigned int num)
{
	return num < node->physp_tbl_size ? osm_node_get_physp_ptr(node, num) : NULL;
}

/* Capabilities belong to the node's own port: a switch reports them at port 0 only. */
static bool has_extended_speeds(osm_node_t *node, unsigned int num)
{
	bool is_switch = osm_node_get_type(node) == IB_NODE_TYPE_SWITCH;
	const osm_physp_t *p = physp_at(node, is_switch ? 0 : num);

	return p && p->port_info.capability_mask & IB_PORT_CAP_HAS_EXT_SPEEDS;
}

static uint32_t rate_mbps(const osm_physp_t *p)
{
	const ib_port_info_t *info = &p->port_info;
	uint8_t ext = has_extended_speeds(p->p_node, p->port_num)
			      ? ib_port_info_get_link_speed_ext_active(info)
			      : 0;
	bool fdr10 = p->ext_port_info.link_speed_active & FDR10;

	/* LinkSpeedExtActive2 came with XDR; this OpenSM may have no name for it. */
	if ((((const uint8_t *)info)[SPEED_EXT2_BYTE] >> 5 & 3) == 1)
		ext = IBCC_LINK_SPEED_EXT_XDR;

	return ibcc_link_rate_mbps(
		ibcc_link_width_lanes(info->link_width_active),
		ibcc_link_speed_decode(ib_port_info_get_link_speed_active(info), ext, fdr10));
}

/* What a port could run at. Extended speeds count only where the node has them. */
static struct ibcc_link_caps caps_of(const osm_physp_t *p)
{
	const ib_port_info_t *info = &p->port_info;
	bool ext = has_extended_speeds(p->p_node, p->port_num);
	uint8_t ext2 = ((const uint8_t *)info)[SPEED_EXT2_BYTE];
	const struct ibcc_link_masks supported = {
		.width = info->link_width_supported,
		.speed = ib_port_info_get_link_speed_sup(info),
		.ext = ext ? ib_port_info_get_link_speed_ext_sup(info) : 0,
		.ext2 = ext2 >> 3 & 3,
	};
	const struct ibcc_link_masks enabled = {
		.width = info->link_width_enabled,
		.speed = ib_port_info_get_link_speed_enabled(info),
		.ext = ib_port_info_get_link_speed_ext_enabled(info),
		.ext2 = ext2 & 7,
	};

	return ibcc_link_caps_decode(&supported, &enabled);
}

static uint8_t data_vls(const ib_port_info_t *info)
{
	static const uint8_t vls[] = { 1, 1, 2, 4, 8, 15 };
	uint8_t code = ib_port_info_get_op_vls(info);

	return code < sizeof(vls) ? vls[code] : 1;
}

static void copy_port(struct raw_port *to, osm_physp_t *p)
{
	const ib_port_info_t *info = &p->port_info;
	osm_physp_t *far = osm_physp_get_remote(p);

	to->guid = cl_ntoh64(p->port_guid);
	to->state = ib_port_info_get_port_state(info);
	to->op_vls = data_vls(info);
	to->lid = cl_ntoh16(info->base_lid);
	to->lmc = ib_port_info_get_lmc(info);
	if (!far || !far->p_node)
		return;
	to->peer_guid = osm_node_get_node_guid(far->p_node);
	to->peer_num = far->port_num;
	to->rate_mbps = rate_mbps(p);
	to->lanes = (uint8_t)ibcc_link_width_lanes(info->link_width_active);
	to->caps = caps_of(p);
	to->mtu_bytes = ibcc_link_mtu_bytes(ib_port_info_get_neighbor_mtu(info));
}

static uint32_t lft_length(const osm_node_t *node)
{
	const osm_switch_t *sw = node->sw;

	return sw && sw->lft ? sw->lft_size : 0;
}

static void copy_node(struct raw_fabric *f, struct raw_node *to, osm_node_t *node)
{
	to->guid = osm_node_get_node_guid(node);
	to->type = (enum ibcc_node_type)osm_node_get_type(node);
	to->n_ports = node->physp_tbl_size - 1;
	snprintf(to->desc, sizeof(to->desc), "%s", node->print_desc ? node->print_desc : "");
	for (unsigned int p = 0; p <= to->n_ports; p++) {
		osm_physp_t *physp = physp_at(node, p);

		if (physp)
			copy_port(&f->port[to->port + p], physp);
	}
	to->lft_len = lft_length(node);
	if (to->lft_len)
		memcpy(f->lft + to->lft, node->sw->lft, to->lft_len);
	to->vendor_id = cl_ntoh32(ib_node_info_get_vendor_id(&node->node_info));
	to->device_id = cl_ntoh16(node->node_info.device_id);
	to->enhanced_port0 = node->sw && ib_switch_info_is_enhanced_port0(&node->sw->switch_info);
}

/* The room that a copy needs. */
struct room {
	size_t nodes, ports, lft_bytes;
};

/* Measures the room that a copy needs. Call under OpenSM's lock. */
static struct room measure(const cl_qmap_t *nodes)
{
	struct room r = { 0 };
	cl_map_item_t *item;

	for (item = cl_qmap_head(nodes); item != cl_qmap_end(nodes); item = cl_qmap_next(item)) {
		osm_node_t *node = (osm_node_t *)item;

		r.nodes++;
		r.ports += node->physp_tbl_size;
		r.lft_bytes += lft_length(node);
	}
	return r;
}

/* Zeroed memory with all pages touched, so that there is no page fault under the lock. */
static void *zeroed(size_t n, size_t size)
{
	void *p = reallocarray(NULL, n + 1, size);

	if (p)
		memset(p, 0, (n + 1) * size);
	return p;
}

static void free_raw(struct raw_fabric *f)
{
	free(f->node);
	free(f->port);
	free(f->lft);
	*f = (struct raw_fabric){ 0 };
}

static bool make_room(struct raw_fabric *f, struct room r)
{
	free_raw(f);
	f->node = zeroed(r.nodes, sizeof(*f->node));
	f->port = zeroed(r.ports, sizeof(*f->port));
	f->lft = zeroed(r.lft_bytes, 1);
	return f->node && f->port && f->lft;
}

/* Copies all nodes. Call under OpenSM's lock, with enough room. */
static void copy_all(struct raw_fabric *f, const cl_qmap_t *nodes)
{
	size_t n_ports = 0, lft_bytes = 0;
	cl_map_item_t *item;

	for (item = cl_qmap_head(nodes); item != cl_qmap_end(nodes); item = cl_qmap_next(item)) {
		osm_node_t *node = (osm_node_t *)item;
		struct raw_node *to = &f->node[f->n_nodes++];

		to->port = n_ports;
		to->lft = lft_bytes;
		n_ports += node->physp_tbl_size;
		lft_bytes += lft_length(node);
		copy_node(f, to, node);
	}
}

/* Copies if there is room. Reports in *need how much room a copy needs. */
static bool try_copy(struct raw_fabric *f, struct osm_opensm *osm, struct room have,
		     struct room *need, uint64_t *locked_ns)
{
	uint64_t from, took;
	bool fits;

	cl_plock_acquire(&osm->lock);
	from = ibcc_now_ns();
	*need = measure(&osm->subn.node_guid_tbl);
	fits = f->node && need->nodes <= have.nodes && need->ports <= have.ports &&
	       need->lft_bytes <= have.lft_bytes;
	if (fits)
		copy_all(f, &osm->subn.node_guid_tbl);
	took = ibcc_now_ns() - from;
	cl_plock_release(&osm->lock);
	if (took > *locked_ns)
		*locked_ns = took;
	return fits;
}

/* Copies the fabric. If it has grown since it was measured, it is measured again. */
static bool copy_fabric(struct raw_fabric *f, struct osm_opensm *osm, uint64_t *locked_ns)
{
	struct room have = { 0 }, need;

	for (unsigned int i = 0; i < COPY_TRIES; i++) {
		if (try_copy(f, osm, have, &need, locked_ns))
			return true;
		have = need;
		if (!make_room(f, have))
			break;
	}
	return false;
}

/* Adds a node to the topology. Leaves out a LID or GUID that another node has, too, and a node
 * without ports. Only lack of memory is an error.
 */
static int build_node(struct ibcc_topo *t, const struct raw_fabric *f, const struct raw_node *from)
{
	bool is_switch = from->type == IBCC_NODE_SWITCH;
	int64_t node =
		ibcc_topo_add_node(t, cl_ntoh64(from->guid), from->type, from->n_ports, from->desc);
	uint32_t len = from->lft_len;

	if (node < 0)
		return node == -ENOMEM ? -ENOMEM : 0;
	t->node[node].enhanced_port0 = from->enhanced_port0;
	t->node[node].vendor_id = from->vendor_id;
	t->node[node].device_id = from->device_id;
	for (unsigned int p = is_switch ? 0 : 1; p <= from->n_ports; p++) {
		const struct raw_port *raw = &f->port[from->port + p];
		uint32_t index = t->node[node].first_port + p;

		if (!raw->guid)
			continue;
		t->port[index].guid = raw->guid;
		t->port[index].state = raw->state;
		t->port[index].op_vls = raw->op_vls;
		t->port[index].lanes = raw->lanes;
		t->port[index].caps = raw->caps;
		if ((!is_switch || p == 0) && raw->lid &&
		    ibcc_topo_set_lid(t, index, raw->lid, raw->lmc) == -ENOMEM)
			return -ENOMEM;
	}
	/* OpenSM's tables have room for all LIDs that a switch could forward. */
	while (len > 0 && f->lft[from->lft + len - 1] == OSM_NO_PATH)
		len--;
	return len ? ibcc_topo_set_lft(t, (uint32_t)node, f->lft + from->lft, len) : 0;
}

static int compare_nodes(const void *a, const void *b)
{
	ib_net64_t x = ((const struct raw_node *)a)->guid, y = ((const struct raw_node *)b)->guid;

	return x < y ? -1 : x > y;
}

/* Each link appears at both ends; the topology takes it at the first. `index` translates places in
 * f->node to those in the topology.
 */
static void build_links(struct ibcc_topo *t, const struct raw_fabric *f, const uint32_t *index)
{
	for (size_t i = 0; i < f->n_nodes; i++) {
		const struct raw_node *node = &f->node[i];

		for (unsigned int p = 1; index[i] != IBCC_NONE && p <= node->n_ports; p++) {
			const struct raw_port *port = &f->port[node->port + p];
			struct raw_node key = { .guid = port->peer_guid };
			const struct raw_node *far;

			if (!port->peer_guid ||
			    t->port[t->node[index[i]].first_port + p].peer != IBCC_NONE)
				continue;
			far = bsearch(&key, f->node, f->n_nodes, sizeof(key), compare_nodes);
			if (far && index[far - f->node] != IBCC_NONE)
				(void)ibcc_topo_link(t, index[i], p, index[far - f->node],
						     port->peer_num, port->rate_mbps,
						     port->mtu_bytes);
		}
	}
}

static struct ibcc_topo *build(const struct raw_fabric *f)
{
	struct ibcc_topo *t = ibcc_topo_new();
	uint32_t *index = calloc(f->n_nodes + 1, sizeof(*index));
	int ret = t && index ? 0 : -ENOMEM;

	for (size_t i = 0; !ret && i < f->n_nodes; i++) {
		uint32_t before = t->n_nodes;

		ret = build_node(t, f, &f->node[i]);
		index[i] = t->n_nodes > before ? before : IBCC_NONE;
	}
	if (!ret)
		build_links(t, f, index);
	free(index);
	if (!ret)
		return t;
	ibcc_topo_free(t);
	return NULL;
}

struct ibcc_topo *ibcc_plugin_fabric_read(struct osm_opensm *osm, uint64_t *locked_ns)
{
	struct raw_fabric f = { 0 };
	struct ibcc_topo *t;

	*locked_ns = 0;
	t = copy_fabric(&f, osm, locked_ns) ? build(&f) : NULL;
	free_raw(&f);
	return t;
}

void ibcc_plugin_sm_read(const struct osm_opensm *osm, struct ibcc_proto_state *s)
{
	s->sm_state = IBCC_OSM_SM_STATE(osm);
	s->own_cc = IBCC_OSM_OWN_CC(osm);
	s->port_guid = cl_ntoh64(*(const volatile ib_net64_t *)&osm->subn.sm_port_guid);
	s->subnet_prefix = cl_ntoh64(*(const volatile ib_net64_t *)&osm->subn.opt.subnet_prefix);
	snprintf(s->opensm_version, sizeof(s->opensm_version), "%s", OSM_VERSION);
	snprintf(s->plugin_version, sizeof(s->plugin_version), "%s", IBCC_VERSION);
}

bool ibcc_plugin_sm_exiting(void)
{
	return &osm_exit_flag && osm_exit_flag;
}
