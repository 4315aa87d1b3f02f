/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The nodes of a fake fabric, and what they answer to subnet management. See fake_fabric.h. */
#ifndef TEST_FAKE_SMP_H
#define TEST_FAKE_SMP_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>

#include <ibcc/ccmad.h>
#include <ibcc/pma.h>
#include <ibcc/smp.h>
#include <ibcc/transport.h>

#include "tests/unit/fabrics.h"

#define FAKE_DATA        64
#define FAKE_BAD_ATTR    0x000c
#define FAKE_BAD_FIELD   0x001c
#define FAKE_BAD_VERSION 0x0004

struct fake_counters {
	uint64_t xmit_data, rcv_data, xmit_pkts, rcv_pkts, xmit_wait;
	uint32_t fecn, becn;
	uint16_t symbol_errors, discards;
	uint8_t downed, integrity;
	/* Constant traffic, by the node's own clock: words and ticks in a microsecond. */
	double words_per_us, ticks_per_us;
};

/* An endport and the answers of its node. The attributes are kept as the bytes on the wire. */
struct fake_node {
	bool dead;      /* answers nothing */
	bool cc_silent; /* no answer in class 0x21 */
	bool no_cc;     /* refuses class 0x21 */
	bool mute_rate; /* no answer to a second question for a rate, or refuses it */
	bool refuses_rate;
	bool no_ext; /* CapabilityMask knows no extended speeds */
	bool no_0x15;
	bool no_samples;         /* no answer to PortSamplesControl */
	bool refuses_caps;       /* refuses PortSamplesControl and ClassPortInfo */
	bool refuses_con;        /* refuses PortRcvConCtrl */
	unsigned int refuse_cc;  /* refuses this many of the next Gets of class 0x21 */
	bool no_log, log_silent; /* refuses CongestionLog, or gives no answer */
	bool relative_limit;
	bool deaf_sets;      /* answers Sets without keeping the values */
	uint16_t set_status; /* status of a refused Set; 0: accepts it */
	unsigned int after;  /* refuses Sets after this many */
	uint64_t cc_key;
	bool protect;
	unsigned int block; /* elements in a block of 0x15 */
	uint8_t cct_cap;
	uint8_t sw_setting[192], ca_setting[192];
	uint8_t element[256][4];
	uint16_t cct_limit, cct[256];
	uint32_t clock_base; /* TimeStamp's value at fabric time 0 */
	uint64_t late_ns;    /* delay in addition to the fabric's */
	double clock_skew;   /* relative speed of the clock; -1: stands still; 0: keeps time */
	uint8_t log[224];    /* CongestionLog, bytes 32 on; its CurrentTimeStamp is the clock's */
	uint32_t log_ts;     /* the last answered value */
	/* Where ClassPortInfo of PerfMgt redirects; all other requests are answered at that QP
	 * only.
	 */
	uint16_t redirect_lid;
	uint32_t redirect_qp, redirect_key;
	bool redirect_gid; /* the redirection has a GID, too */
	uint16_t pma_cap;
	uint32_t pma_cap2;
	uint64_t option_mask;
	uint8_t tick;
	/* requests that came in */
	unsigned int n_gets, n_sets, n_logs;
	uint64_t last_key;
	uint16_t set_attr[16];
	uint32_t set_mod[16];
};

struct fake_fabric {
	struct ibcc_transport base;
	const struct ibcc_topo *t;
	struct fake_node *node;         /* by endport */
	struct fake_counters *counters; /* by fabric-wide port */
	uint64_t now_ns, step_ns;       /* time, and the time that a request takes */
	uint64_t late_ns;               /* how long an answer waits before it is taken */
	/* speed of the fabric's clock against the transport's; the fabric's time */
	double clock_rate, fabric_ns;
	int run_err;            /* not 0: the error of run() */
	unsigned int sum_shift; /* bits that the sums of all ports have lost */
	size_t largest_run;
	unsigned int n_class[256];
	unsigned int n_plain; /* requests for PortCounters */
	/* Speed of all links; PortInfo's base speed is QDR. */
	unsigned int ext_active; /* LinkSpeedExtActive, or FAKE_XDR; 0: nodes have none */
	bool withholds;          /* only a sender that knows extended speeds gets it */
	/* in the vendor's attribute; nodes do not answer that attribute at all */
	bool fdr10, mute_fdr10;
	/* Or the speed of each link, an enum ibcc_link_speed by fabric-wide port. With `withholds`,
	 * only a sender that knows extended speeds gets those. With `tells`, ports also report what
	 * they support.
	 */
	const uint8_t *speed;
	bool tells;
	/* requests for PortInfo with bit 31, and for the vendor's attribute */
	unsigned int n_again, n_vendor;
};
#define FAKE_XDR 16u

static inline struct fake_fabric *fake_of(struct ibcc_transport *t)
{
	return (struct fake_fabric *)t;
}

static inline bool fake_port_info(const struct fake_fabric *f, uint32_t node, uint32_t mod,
				  bool no_ext, uint8_t *data)
{
	bool ext = mod & 0x80000000u; /* the sender knows extended speeds */
	uint32_t num = mod & 0x7fffffffu;
	static const int vls_code[] = { 0, 1, 2, 0, 3, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 5 };
	const struct ibcc_topo_port *p;
	int mtu = 1;

	if (num > f->t->node[node].n_ports)
		return false;
	p = &f->t->port[f->t->node[node].first_port + num];
	while (mtu < 5 && 128u << mtu != p->mtu_bytes)
		mtu++;
	mad_set_field(data, 0, IB_PORT_LID_F, p->lid);
	mad_set_field(data, 0, IB_PORT_STATE_F, p->state);
	mad_set_field(data, 0, IB_PORT_PHYS_STATE_F, p->state > 1 ? 5 : 2);
	mad_set_field(data, 0, IB_PORT_NEIGHBOR_MTU_F, (uint32_t)mtu);
	mad_set_field(data, 0, IB_PORT_OPER_VLS_F, (uint32_t)vls_code[p->op_vls & 15]);
	/* The bits of the extended speeds come behind that of FDR10. */
	mad_set_field(data, 0, IB_PORT_LINK_WIDTH_SUPPORTED_F, p->caps.widths);
	mad_set_field(data, 0, IB_PORT_LINK_WIDTH_ENABLED_F, p->caps.widths);
	mad_set_field(data, 0, IB_PORT_LINK_SPEED_SUPPORTED_F, p->caps.speeds >> 1 & 7);
	mad_set_field(data, 0, IB_PORT_LINK_SPEED_ENABLED_F, p->caps.speeds >> 1 & 7);
	mad_set_field(data, 0, IB_PORT_LINK_SPEED_EXT_SUPPORTED_F, p->caps.speeds >> 5 & 15);
	mad_set_field(data, 0, IB_PORT_LINK_WIDTH_ACTIVE_F, 2); /* 4X QDR */
	mad_set_field(data, 0, IB_PORT_LINK_SPEED_ACTIVE_F, 4);
	if (f->speed && p->peer != IBCC_NONE) {
		static const uint8_t ext_of[] = { [IBCC_LINK_SPEED_FDR] = 1,
						  [IBCC_LINK_SPEED_EDR] = 2,
						  [IBCC_LINK_SPEED_HDR] = 4,
						  [IBCC_LINK_SPEED_NDR] = 8,
						  [IBCC_LINK_SPEED_XDR] = 0 };
		uint8_t speed = f->speed[f->t->node[node].first_port + num];

		mad_set_field(data, 0, IB_PORT_LINK_SPEED_ACTIVE_F,
			      speed < IBCC_LINK_SPEED_QDR ? speed : 4);
		if (ext || !f->withholds) {
			if (f->tells)
				mad_set_field(data, 0, IB_PORT_LINK_SPEED_EXT_SUPPORTED_F, 15);
			if (speed == IBCC_LINK_SPEED_XDR)
				data[56] = 1 << 5;
			else if (speed > IBCC_LINK_SPEED_FDR10)
				mad_set_field(data, 0, IB_PORT_LINK_SPEED_EXT_ACTIVE_F,
					      ext_of[speed]);
		}
	}
	if (f->speed && !no_ext)
		mad_set_field(data, 0, IB_PORT_CAPMASK_F, 0x4000);
	if (f->ext_active) {
		bool told = ext || !f->withholds;

		mad_set_field(data, 0, IB_PORT_CAPMASK_F, 0x4000);
		if (told && f->ext_active == FAKE_XDR)
			data[56] = 1 << 5;
		else if (told)
			mad_set_field(data, 0, IB_PORT_LINK_SPEED_EXT_ACTIVE_F, f->ext_active);
	}
	return true;
}

/* Walks a directed route from node 0; IBCC_NONE if it leads nowhere. */
static inline uint32_t fake_route(const struct fake_fabric *f, const uint8_t *mad, uint32_t *entry)
{
	uint32_t hops = mad_get_field((void *)(uintptr_t)mad, 0, IB_DRSMP_HOPCNT_F);
	uint32_t node = 0;

	*entry = f->t->node[0].type == IBCC_NODE_SWITCH ? 0 : 1;
	for (uint32_t h = 1; h <= hops; h++) {
		uint32_t port = ibcc_topo_port_index(f->t, node, mad[128 + h]);

		/* Only switches pass SMPs on. */
		if (port == IBCC_NONE || f->t->port[port].peer == IBCC_NONE ||
		    (h > 1 && f->t->node[node].type != IBCC_NODE_SWITCH))
			return IBCC_NONE;
		port = f->t->port[port].peer;
		node = f->t->port[port].node;
		*entry = f->t->port[port].num;
	}
	return node;
}

/* Returns the status of the answer, or -1 for none. */
static inline int fake_smp(struct fake_fabric *f, uint16_t attr, uint32_t mod, uint8_t *mad)
{
	uint32_t entry, node = fake_route(f, mad, &entry);
	uint8_t data[64] = { 0 };
	const struct fake_node *agent;
	const struct ibcc_topo_node *n;
	bool rate = attr == 0xff90 || (attr == 0x15 && mod & 0x80000000u);
	uint32_t self;

	if (node == IBCC_NONE)
		return -1;
	n = &f->t->node[node];
	self = n->first_port + (n->type == IBCC_NODE_SWITCH ? 0 : entry);
	agent = &f->node[f->t->port[self].endport];
	f->n_vendor += attr == 0xff90;
	f->n_again += rate && attr == 0x15;
	if (agent->dead || (rate && agent->mute_rate))
		return -1;
	if (rate && agent->refuses_rate)
		return FAKE_BAD_ATTR;
	if (attr == 0x11) {
		mad_set_field(data, 0, IB_NODE_TYPE_F, n->type);
		mad_set_field(data, 0, IB_NODE_NPORTS_F, n->n_ports);
		mad_set_field64(data, 0, IB_NODE_GUID_F, n->guid);
		mad_set_field(data, 0, IB_NODE_VENDORID_F, n->vendor_id);
		mad_set_field(data, 0, IB_NODE_DEVID_F, n->device_id);
		mad_set_field64(data, 0, IB_NODE_PORT_GUID_F, f->t->port[self].guid);
		mad_set_field(data, 0, IB_NODE_LOCAL_PORT_F, entry);
	} else if (attr == 0x10) {
		memcpy(data, n->desc, strnlen(n->desc, sizeof(data)));
	} else if (attr == 0x12 && n->type == IBCC_NODE_SWITCH) {
		mad_set_field(data, 0, IB_SW_LINEAR_FDB_CAP_F, 0xbfff);
		mad_set_field(data, 0, IB_SW_LINEAR_FDB_TOP_F, n->lft_len ? n->lft_len - 1 : 0);
		mad_set_field(data, 0, IB_SW_ENHANCED_PORT0_F, n->enhanced_port0);
	} else if (attr == 0x15) {
		if (!fake_port_info(f, node, mod, agent->no_ext, data))
			return FAKE_BAD_FIELD;
	} else if (attr == 0xff90 && f->mute_fdr10) {
		return -1;
	} else if (attr == 0xff90 && f->speed) {
		data[15] = f->speed[n->first_port + mod] == IBCC_LINK_SPEED_FDR10;
	} else if (attr == 0xff90 && f->fdr10) {
		data[15] = 1;
	} else if (attr == 0x17 && n->sl2vl) {
		uint64_t map = 0;

		for (unsigned int sl = 0; sl < 16; sl++)
			map = map << 4 |
			      n->sl2vl[(mod >> 8 & 255) * (n->n_ports + 1u) + (mod & 255)][sl];
		mad_set_field64(data, 0, IB_SLTOVL_MAPPING_TABLE_F, map);
	} else if (attr == 0x19 && n->type == IBCC_NODE_SWITCH) {
		for (uint32_t i = 0; i < 64; i++) {
			uint32_t lid = mod * 64 + i;

			/* libibmad's arrays lie on the wire as they are in memory. */
			data[i] = lid < n->lft_len ? n->lft[lid] : 255;
		}
	} else {
		return FAKE_BAD_ATTR;
	}
	memcpy(mad + FAKE_DATA, data, sizeof(data));
	return 0;
}

#endif
