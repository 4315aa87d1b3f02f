/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Codec of subnet management attributes, by libibmad's field tables. Only reading: the subnet
 * manager belongs to someone else, and we look at what it has made.
 */
#include <ibcc/smp.h>

#include <string.h>

#include "lib/codec/wire.h"

#define DATA       IBCC_MAD_DATA_OFFS
#define DESC_BYTES 64u
/* LinkSpeedExtActive2, two bits of PortInfo that came with XDR; libibmad of Debian 12 lacks them.
 */
#define SPEED_EXT2_BYTE  56u
#define SPEED_EXT2_SHIFT 5
#define SUP_EXT2_SHIFT   3 /* LinkSpeedExtSupported2 */
#define SPEED_EXT2_MASK  3u
#define ENA_EXT2_MASK    7u /* LinkSpeedExtEnabled2, in the lowest bits */
#define SPEED_EXT2_XDR   1u
#define CAP_EXT_SPEEDS   0x4000u

static uint32_t get(const uint8_t *mad, enum MAD_FIELDS field)
{
	return wire_get(mad, DATA, field);
}

void ibcc_smp_direct_get(uint8_t *mad, const struct ibcc_smp_path *path, uint16_t attr_id,
			 uint32_t attr_mod)
{
	uint8_t hops = path->hops < IBCC_SMP_MAX_HOPS ? path->hops : IBCC_SMP_MAX_HOPS;
	uint8_t initial[IBCC_SMP_MAX_HOPS + 1] = { 0 };

	memcpy(initial + 1, path->port + 1, hops);
	ibcc_mad_request(mad, IBCC_MAD_CLASS_SMP_DIRECT, IBCC_MAD_GET, attr_id, attr_mod);
	wire_set(mad, 0, IB_DRSMP_HOPCNT_F, 8, hops);
	wire_set(mad, 0, IB_DRSMP_DRDLID_F, 16, IBCC_SMP_PERMISSIVE_LID);
	wire_set(mad, 0, IB_DRSMP_DRSLID_F, 16, IBCC_SMP_PERMISSIVE_LID);
	mad_set_array(mad, 0, IB_DRSMP_PATH_F, initial);
}

void ibcc_smp_node_info_unpack(const uint8_t *mad, struct ibcc_smp_node_info *v)
{
	v->node_type = (uint8_t)get(mad, IB_NODE_TYPE_F);
	v->num_ports = (uint8_t)get(mad, IB_NODE_NPORTS_F);
	v->sys_guid = wire_get64(mad, DATA, IB_NODE_SYSTEM_GUID_F);
	v->node_guid = wire_get64(mad, DATA, IB_NODE_GUID_F);
	v->port_guid = wire_get64(mad, DATA, IB_NODE_PORT_GUID_F);
	v->local_port = (uint8_t)get(mad, IB_NODE_LOCAL_PORT_F);
	v->vendor_id = get(mad, IB_NODE_VENDORID_F);
	v->device_id = (uint16_t)get(mad, IB_NODE_DEVID_F);
}

void ibcc_smp_switch_info_unpack(const uint8_t *mad, struct ibcc_smp_switch_info *v)
{
	v->lft_cap = (uint16_t)get(mad, IB_SW_LINEAR_FDB_CAP_F);
	v->lft_top = (uint16_t)get(mad, IB_SW_LINEAR_FDB_TOP_F);
	v->enhanced_port0 = get(mad, IB_SW_ENHANCED_PORT0_F);
}

static struct ibcc_link_caps caps_of(const uint8_t *mad)
{
	uint8_t ext2 = mad[DATA + SPEED_EXT2_BYTE];
	const struct ibcc_link_masks supported = {
		.width = (uint8_t)get(mad, IB_PORT_LINK_WIDTH_SUPPORTED_F),
		.speed = (uint8_t)get(mad, IB_PORT_LINK_SPEED_SUPPORTED_F),
		.ext = (uint8_t)get(mad, IB_PORT_LINK_SPEED_EXT_SUPPORTED_F),
		.ext2 = ext2 >> SUP_EXT2_SHIFT & SPEED_EXT2_MASK,
	};
	const struct ibcc_link_masks enabled = {
		.width = (uint8_t)get(mad, IB_PORT_LINK_WIDTH_ENABLED_F),
		.speed = (uint8_t)get(mad, IB_PORT_LINK_SPEED_ENABLED_F),
		.ext = (uint8_t)get(mad, IB_PORT_LINK_SPEED_EXT_ENABLED_F),
		.ext2 = ext2 & ENA_EXT2_MASK,
	};

	return ibcc_link_caps_decode(&supported, &enabled);
}

void ibcc_smp_port_info_unpack(const uint8_t *mad, struct ibcc_smp_port_info *v)
{
	uint8_t ext = (uint8_t)get(mad, IB_PORT_LINK_SPEED_EXT_ACTIVE_F);
	unsigned int ext2 = mad[DATA + SPEED_EXT2_BYTE] >> SPEED_EXT2_SHIFT & SPEED_EXT2_MASK;
	unsigned int sup2 = mad[DATA + SPEED_EXT2_BYTE] >> SUP_EXT2_SHIFT & SPEED_EXT2_MASK;

	if (ext2 == SPEED_EXT2_XDR)
		ext = IBCC_LINK_SPEED_EXT_XDR;
	v->gid_prefix = wire_get64(mad, DATA, IB_PORT_GID_PREFIX_F);
	v->lid = (uint16_t)get(mad, IB_PORT_LID_F);
	v->sm_lid = (uint16_t)get(mad, IB_PORT_SMLID_F);
	v->lmc = (uint8_t)get(mad, IB_PORT_LMC_F);
	v->state = (uint8_t)get(mad, IB_PORT_STATE_F);
	v->phys_state = (uint8_t)get(mad, IB_PORT_PHYS_STATE_F);
	v->mtu_code = (uint8_t)get(mad, IB_PORT_NEIGHBOR_MTU_F);
	v->op_vls = (uint8_t)get(mad, IB_PORT_OPER_VLS_F);
	v->lanes = (uint8_t)ibcc_link_width_lanes((uint8_t)get(mad, IB_PORT_LINK_WIDTH_ACTIVE_F));
	v->has_ext_speeds = get(mad, IB_PORT_CAPMASK_F) & CAP_EXT_SPEEDS;
	v->tells_ext_speeds = get(mad, IB_PORT_LINK_SPEED_EXT_SUPPORTED_F) || sup2;
	v->speed = ibcc_link_speed_decode((uint8_t)get(mad, IB_PORT_LINK_SPEED_ACTIVE_F), ext, 0);
	v->rate_mbps = ibcc_link_rate_mbps(v->lanes, v->speed);
	v->caps = caps_of(mad);
}

bool ibcc_smp_has_fdr10(const uint8_t *mad)
{
	return get(mad, IB_MLNX_EXT_PORT_LINK_SPEED_ACTIVE_F) & 1;
}

void ibcc_smp_sl2vl_unpack(const uint8_t *mad, uint8_t vl[16])
{
	uint64_t map = wire_get64(mad, DATA, IB_SLTOVL_MAPPING_TABLE_F);
	unsigned int sl;

	/* SL 0 in the most significant nibble. */
	for (sl = 0; sl < 16; sl++)
		vl[sl] = map >> (60 - 4 * sl) & 0xf;
}

void ibcc_smp_lft_unpack(const uint8_t *mad, uint8_t port[IBCC_SMP_LFT_BLOCK])
{
	mad_get_array((void *)(uintptr_t)mad, DATA, IB_LINEAR_FORW_TBL_F, port);
}

void ibcc_smp_node_desc_unpack(const uint8_t *mad, char desc[65])
{
	unsigned int i;

	memcpy(desc, mad + DATA, DESC_BYTES);
	desc[DESC_BYTES] = '\0';
	/* It ends up in logs, tables and reports, and any node may have written anything. */
	for (i = 0; desc[i]; i++)
		if (desc[i] < 0x20 || desc[i] > 0x7e)
			desc[i] = '?';
}
