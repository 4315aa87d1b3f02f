/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* An OpenSM made by hand: its own structures with nodes in them, but none of its threads. */
#ifndef TEST_FAKE_OSM_H
#define TEST_FAKE_OSM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <opensm/osm_config.h>

#include <complib/cl_qmap.h>
#include <opensm/osm_opensm.h>

static inline osm_opensm_t *fake_osm_new(void)
{
	osm_opensm_t *osm = calloc(1, sizeof(*osm));

	assert_non_null(osm);
	cl_qmap_init(&osm->subn.node_guid_tbl);
	assert_int_equal(cl_plock_init(&osm->lock), CL_SUCCESS);
	return osm;
}

static inline void fake_osm_free(osm_opensm_t *osm)
{
	cl_map_item_t *item;

	while ((item = cl_qmap_head(&osm->subn.node_guid_tbl)) !=
	       cl_qmap_end(&osm->subn.node_guid_tbl)) {
		osm_node_t *node = (osm_node_t *)item;

		cl_qmap_remove_item(&osm->subn.node_guid_tbl, item);
		if (node->sw)
			free(node->sw->lft);
		free(node->sw);
		free(node);
	}
	/* If a lock was not released, taking it for writing would fail. */
	cl_plock_excl_acquire(&osm->lock);
	cl_plock_release(&osm->lock);
	cl_plock_destroy(&osm->lock);
	free(osm);
}

/* Adds a port: 4X QDR, active, MTU 2048, VLs 0-3. */
static inline void fake_osm_port(osm_node_t *node, unsigned int num, uint64_t guid)
{
	osm_physp_t *p = &node->physp_table[num];
	ib_port_info_t *info = &p->port_info;

	p->port_guid = cl_hton64(guid);
	p->port_num = (uint8_t)num;
	p->p_node = node;
	info->link_width_active = IB_LINK_WIDTH_ACTIVE_4X;
	info->link_speed = IB_LINK_SPEED_ACTIVE_10 << 4;
	info->mtu_smsl = IB_MTU_LEN_2048 << 4;
	info->vl_enforce = 3 << 4;
	ib_port_info_set_port_state(info, IB_LINK_ACTIVE);
}

static inline osm_node_t *fake_osm_node(osm_opensm_t *osm, uint64_t guid, uint8_t type,
					unsigned int ports, const char *desc)
{
	osm_node_t *node = calloc(1, sizeof(*node) + ports * sizeof(osm_physp_t));

	assert_non_null(node);
	node->node_info.node_guid = cl_hton64(guid);
	node->node_info.node_type = type;
	node->node_info.num_ports = (uint8_t)ports;
	node->physp_tbl_size = ports + 1;
	node->print_desc = (char *)(uintptr_t)desc;
	if (type == IB_NODE_TYPE_SWITCH) {
		node->sw = calloc(1, sizeof(*node->sw));
		node->sw->lft_size = 128;
		node->sw->lft = malloc(128);
		memset(node->sw->lft, OSM_NO_PATH, 128);
		for (unsigned int p = 0; p <= ports; p++)
			fake_osm_port(node, p, guid);
	}
	cl_qmap_insert(&osm->subn.node_guid_tbl, node->node_info.node_guid, &node->map_item);
	return node;
}

static inline void fake_osm_lid(osm_node_t *node, unsigned int port, uint16_t lid)
{
	node->physp_table[port].port_info.base_lid = cl_hton16(lid);
}

static inline void fake_osm_link(osm_node_t *a, unsigned int pa, osm_node_t *b, unsigned int pb)
{
	a->physp_table[pa].p_remote_physp = &b->physp_table[pb];
	b->physp_table[pb].p_remote_physp = &a->physp_table[pa];
}

#endif
