/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Subnet management attributes that describe a fabric (IBA vol. 1, chapter 14): reading only. */
#ifndef IBCC_SMP_H
#define IBCC_SMP_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/link.h>
#include <ibcc/mad.h>

#define IBCC_SMP_MAX_HOPS  63u
#define IBCC_SMP_LFT_BLOCK 64u
/* PortInfo's AttrMod: the sender knows extended speeds (IBA vol. 1, 14.2.5.6). */
#define IBCC_SMP_EXT_SPEEDS 0x80000000u
/* Where SMPs by directed routes go. */
#define IBCC_SMP_PERMISSIVE_LID 0xffffu

enum ibcc_smp_attr {
	IBCC_SMP_ATTR_NODE_DESC = 0x10,
	IBCC_SMP_ATTR_NODE_INFO = 0x11,
	IBCC_SMP_ATTR_SWITCH_INFO = 0x12,
	IBCC_SMP_ATTR_PORT_INFO = 0x15,
	IBCC_SMP_ATTR_PKEY_TABLE = 0x16,
	IBCC_SMP_ATTR_SL2VL = 0x17,
	IBCC_SMP_ATTR_VLARB = 0x18,
	IBCC_SMP_ATTR_LFT = 0x19,
	IBCC_SMP_ATTR_SM_INFO = 0x20,
	IBCC_SMP_ATTR_EXT_PORT_INFO = 0xff90, /* Mellanox; by port; whether a link is FDR10 */
};

struct ibcc_smp_path {
	uint8_t hops;
	uint8_t port[IBCC_SMP_MAX_HOPS + 1]; /* port[1..hops], port[0] unused as on the wire */
};

/* Starts a direct routed Get from the local port along `path`, permissive LIDs at both ends. */
void ibcc_smp_direct_get(uint8_t *mad, const struct ibcc_smp_path *path, uint16_t attr_id,
			 uint32_t attr_mod);

struct ibcc_smp_node_info {
	uint8_t node_type; /* 1 channel adapter, 2 switch, 3 router */
	uint8_t num_ports;
	uint64_t sys_guid, node_guid, port_guid;
	uint8_t local_port;
	uint32_t vendor_id;
	uint16_t device_id;
};
void ibcc_smp_node_info_unpack(const uint8_t *mad, struct ibcc_smp_node_info *v);

struct ibcc_smp_switch_info {
	uint16_t lft_cap;
	uint16_t lft_top; /* highest LID with an entry */
	bool enhanced_port0;
};
void ibcc_smp_switch_info_unpack(const uint8_t *mad, struct ibcc_smp_switch_info *v);

struct ibcc_smp_port_info {
	uint64_t gid_prefix; /* of its subnet */
	uint16_t lid, sm_lid;
	uint8_t lmc;
	uint8_t state;       /* 1 down, 2 init, 3 armed, 4 active */
	uint8_t phys_state;  /* 5 link up */
	uint8_t mtu_code;    /* NeighborMTU */
	uint8_t op_vls;      /* OperationalVLs code: 1 VL0, 2 VL0-1, 3 VL0-3, 4 VL0-7, 5 VL0-14 */
	bool has_ext_speeds; /* CapabilityMask; of a switch at its port 0 */
	/* Names the extended speeds that it supports. A port that does names the active one, too.
	 */
	bool tells_ext_speeds;
	uint8_t lanes;
	enum ibcc_link_speed speed;
	uint32_t rate_mbps;
	struct ibcc_link_caps caps;
};
/* LinkSpeedActive of the vendor's ExtendedPortInfo: FDR10? */
bool ibcc_smp_has_fdr10(const uint8_t *mad);
void ibcc_smp_port_info_unpack(const uint8_t *mad, struct ibcc_smp_port_info *v);

/* SLtoVLMappingTable: VL of each of 16 SLs. */
void ibcc_smp_sl2vl_unpack(const uint8_t *mad, uint8_t vl[16]);

/* LinearForwardingTable block: 64 output ports. */
void ibcc_smp_lft_unpack(const uint8_t *mad, uint8_t port[IBCC_SMP_LFT_BLOCK]);

/* NodeDescription, always terminated; bytes outside printable ASCII become '?'. */
void ibcc_smp_node_desc_unpack(const uint8_t *mad, char desc[65]);

#endif
