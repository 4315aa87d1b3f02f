/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* OpenSM's tables hang together by pointers that the next sweep frees, so everything that we keep
 * is copied while the lock is held. The copy goes straight into the topology: OpenSM's writers wait
 * for milliseconds at most, and only after a sweep or a reroute.
 */
#include "opensm-plugin/fabric.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Before all other OpenSM headers: the layout of their structures depends on it. */
#include <opensm/osm_config.h>

#include <complib/cl_passivelock.h>
#include <complib/cl_qmap.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_version.h>

#include <ibcc/link.h>
#include <ibcc/version.h>

/* OpenSM keeps SMInfo's numbers for its states. */
_Static_assert((int)IBCC_SM_NOT_ACTIVE == IB_SMINFO_STATE_NOTACTIVE, "SM states");
_Static_assert((int)IBCC_SM_DISCOVERING == IB_SMINFO_STATE_DISCOVERING, "SM states");
_Static_assert((int)IBCC_SM_STANDBY == IB_SMINFO_STATE_STANDBY, "SM states");
_Static_assert((int)IBCC_SM_MASTER == IB_SMINFO_STATE_MASTER, "SM states");

/* Port `num` of a node, or NULL: the table has holes, and its accessor only asserts the range. */
static osm_physp_t *physp_at(osm_node_t *node, unsigned int num)
{
	return num < node->physp_tbl_size ? osm_node_get_physp_ptr(node, num) : NULL;
}

/* Capabilities are those of the node's own port: a switch gives them at port 0 only. */
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

	return ibcc_link_rate_mbps(
		ibcc_link_width_lanes(info->link_width_active),
		ibcc_link_speed_decode(ib_port_info_get_link_speed_active(info), ext, fdr10));
}

static uint8_t data_vls(const ib_port_info_t *info)
{
	static const uint8_t vls[] = { 1, 1, 2, 4, 8, 15 };
	uint8_t code = ib_port_info_get_op_vls(info);

	return code < sizeof(vls) ? vls[code] : 1;
}

/* Fills a port; false only without memory. A LID that another port has too is left out. */
static bool copy_port(struct ibcc_topo *t, uint32_t node, const osm_physp_t *p)
{
	const ib_port_info_t *info = &p->port_info;
	uint32_t index = t->node[node].first_port + p->port_num;
	struct ibcc_topo_port *port = &t->port[index];

	port->state = ib_port_info_get_port_state(info);
	port->op_vls = data_vls(info);
	port->guid = cl_ntoh64(p->port_guid);
	if (ibcc_topo_is_switch(t, node) && p->port_num != 0)
		return true;
	return ibcc_topo_set_lid(t, index, cl_ntoh16(info->base_lid), ib_port_info_get_lmc(info)) !=
	       -ENOMEM;
}

/* OpenSM allocates tables for all LIDs a switch could have; those above the highest LID in use are
 * empty.
 */
static int copy_lft(struct ibcc_topo *t, uint32_t node, const osm_node_t *osm_node)
{
	const osm_switch_t *sw = osm_node->sw;
	uint32_t len;

	if (!sw || !sw->lft)
		return 0;
	t->node[node].enhanced_port0 = ib_switch_info_is_enhanced_port0(&sw->switch_info);
	len = sw->lft_size;
	while (len > 0 && sw->lft[len - 1] == OSM_NO_PATH)
		len--;
	return len ? ibcc_topo_set_lft(t, node, sw->lft, len) : 0;
}

static int copy_node(struct ibcc_topo *t, osm_node_t *osm_node)
{
	unsigned int n_ports = osm_node->node_info.num_ports, p;
	bool is_switch = osm_node_get_type(osm_node) == IB_NODE_TYPE_SWITCH;
	int64_t node;

	node = ibcc_topo_add_node(t, cl_ntoh64(osm_node_get_node_guid(osm_node)),
				  (enum ibcc_node_type)osm_node_get_type(osm_node), n_ports,
				  osm_node->print_desc ? osm_node->print_desc : "");
	if (node < 0)
		return node == -ENOMEM ? -ENOMEM : 0;
	for (p = is_switch ? 0 : 1; p <= n_ports; p++) {
		const osm_physp_t *physp = physp_at(osm_node, p);

		if (physp && !copy_port(t, (uint32_t)node, physp))
			return -ENOMEM;
	}
	return is_switch ? copy_lft(t, (uint32_t)node, osm_node) : 0;
}

/* Each link is seen from both ends; the topology takes it at the first. */
static void copy_links(struct ibcc_topo *t, osm_node_t *osm_node)
{
	uint32_t node = ibcc_topo_find_guid(t, cl_ntoh64(osm_node_get_node_guid(osm_node)));
	unsigned int p;

	if (node == IBCC_NONE)
		return;
	for (p = 1; p <= t->node[node].n_ports; p++) {
		osm_physp_t *near = physp_at(osm_node, p), *far;
		uint32_t peer;

		if (!near || t->port[t->node[node].first_port + p].peer != IBCC_NONE)
			continue;
		far = osm_physp_get_remote(near);
		if (!far || !far->p_node)
			continue;
		peer = ibcc_topo_find_guid(t, cl_ntoh64(osm_node_get_node_guid(far->p_node)));
		if (peer == IBCC_NONE)
			continue;
		(void)ibcc_topo_link(
			t, node, p, peer, far->port_num, rate_mbps(near),
			ibcc_link_mtu_bytes(ib_port_info_get_neighbor_mtu(&near->port_info)));
	}
}

struct ibcc_topo *ibcc_plugin_fabric_read(struct osm_opensm *osm)
{
	struct ibcc_topo *t = ibcc_topo_new();
	cl_qmap_t *nodes = &osm->subn.node_guid_tbl;
	cl_map_item_t *item;
	int ret = 0;

	if (!t)
		return NULL;
	cl_plock_acquire(&osm->lock);
	for (item = cl_qmap_head(nodes); !ret && item != cl_qmap_end(nodes);
	     item = cl_qmap_next(item))
		ret = copy_node(t, (osm_node_t *)item);
	for (item = cl_qmap_head(nodes); !ret && item != cl_qmap_end(nodes);
	     item = cl_qmap_next(item))
		copy_links(t, (osm_node_t *)item);
	cl_plock_release(&osm->lock);
	if (ret) {
		ibcc_topo_free(t);
		return NULL;
	}
	return t;
}

void ibcc_plugin_sm_read(const struct osm_opensm *osm, struct ibcc_proto_state *s)
{
	/* Single words that OpenSM's own threads read without its lock, too. */
	s->sm_state = *(const volatile uint8_t *)&osm->subn.sm_state;
	s->own_cc = *(const volatile boolean_t *)&osm->subn.opt.congestion_control != FALSE;
	s->port_guid = cl_ntoh64(*(const volatile ib_net64_t *)&osm->subn.sm_port_guid);
	snprintf(s->opensm_version, sizeof(s->opensm_version), "%s", OSM_VERSION);
	snprintf(s->plugin_version, sizeof(s->plugin_version), "%s", IBCC_VERSION);
}

bool ibcc_plugin_sm_exiting(void)
{
	return osm_exit_flag;
}
