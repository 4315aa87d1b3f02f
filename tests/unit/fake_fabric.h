/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A fabric that answers MADs from arrays: a transport for tests, in no time but its own. Bytes are
 * made with libibmad's field tables, not with our codecs.
 */
#ifndef TEST_FAKE_FABRIC_H
#define TEST_FAKE_FABRIC_H

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
	/* What flows all the time, by the node's own clock: words and ticks in a microsecond. */
	double words_per_us, ticks_per_us;
};

/* An endport and what its node says. The attributes are kept as the bytes on the wire. */
struct fake_node {
	bool dead;      /* answers nothing */
	bool cc_silent; /* nothing in class 0x21 */
	bool no_cc;     /* refuses class 0x21 */
	bool no_0x15, no_timestamp;
	bool no_samples;         /* silent to PortSamplesControl */
	bool refuses_caps;       /* ... refuses it, and ClassPortInfo */
	bool refuses_con;        /* PortRcvConCtrl */
	unsigned int refuse_cc;  /* the next so many Gets of class 0x21 */
	bool no_log, log_silent; /* refuses CongestionLog, or gives no answer */
	bool relative_limit;
	bool deaf_sets;      /* takes Sets without keeping them */
	uint16_t set_status; /* of a refused Set; 0: takes it */
	uint64_t cc_key;
	bool protect;
	unsigned int block; /* elements a block of 0x15 */
	uint8_t cct_cap;
	uint8_t sw_setting[192], ca_setting[192];
	uint8_t element[256][4];
	uint16_t cct_limit, cct[256];
	uint32_t clock_base; /* TimeStamp's value where fabric time is 0 */
	double clock_skew;   /* it runs so many times faster than time, and stands still at -1; 0:
				with it */
	uint8_t log[224];    /* CongestionLog, bytes 32 on; its CurrentTimeStamp is the clock's */
	uint32_t log_ts;     /* as last answered */
	uint16_t pma_cap;
	uint32_t pma_cap2;
	uint64_t option_mask;
	uint8_t tick;
	/* what came in */
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
	uint64_t now_ns, step_ns;       /* time, and how much of it a request takes */
	double clock_rate, fabric_ns;   /* the fabric's clock against the transport's; its time */
	int run_err;                    /* not 0: run() fails with it */
	size_t largest_run;
	unsigned int n_class[256];
	/* Of all links; PortInfo's base speed is QDR. */
	unsigned int ext_active; /* LinkSpeedExtActive, or FAKE_XDR; 0: nodes have none */
	bool withholds;          /* it is told only whom knows extended speeds */
	bool fdr10, mute_fdr10;  /* by the vendor's attribute; nodes do not answer that at all */
};
#define FAKE_XDR 16u

static inline struct fake_fabric *fake_of(struct ibcc_transport *t)
{
	return (struct fake_fabric *)t;
}

static inline bool fake_port_info(const struct fake_fabric *f, uint32_t node, uint32_t mod,
				  uint8_t *data)
{
	bool ext = mod & 0x80000000u; /* who asks knows extended speeds */
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
	mad_set_field(data, 0, IB_PORT_LINK_WIDTH_ACTIVE_F, 2); /* 4X QDR */
	mad_set_field(data, 0, IB_PORT_LINK_SPEED_ACTIVE_F, 4);
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

/* Status of the answer, or -1 for none. */
static inline int fake_smp(const struct fake_fabric *f, uint16_t attr, uint32_t mod, uint8_t *mad)
{
	uint32_t entry, node = fake_route(f, mad, &entry);
	uint8_t data[64] = { 0 };
	const struct ibcc_topo_node *n;
	uint32_t self;

	if (node == IBCC_NONE)
		return -1;
	n = &f->t->node[node];
	self = n->first_port + (n->type == IBCC_NODE_SWITCH ? 0 : entry);
	if (f->node[f->t->port[self].endport].dead)
		return -1;
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
		if (!fake_port_info(f, node, mod, data))
			return FAKE_BAD_FIELD;
	} else if (attr == 0xff90 && f->mute_fdr10) {
		return -1;
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

static inline int fake_pma(struct fake_fabric *f, const struct fake_node *n, uint32_t endport,
			   uint16_t attr, uint8_t *mad)
{
	uint8_t num = mad[FAKE_DATA + 1];
	const struct ibcc_topo_port *self = &f->t->port[f->t->endport[endport]];
	uint32_t port = ibcc_topo_port_index(f->t, self->node, num);
	uint8_t data[192] = { 0 };
	struct fake_counters now, *c = &now;

	if (((attr == 0x01 || attr == 0x10) && n->refuses_caps) || (attr == 0x31 && n->refuses_con))
		return FAKE_BAD_ATTR;
	if (attr == 0x01) {
		mad_set_field(data, 0, IB_CPI_BASEVER_F, 1);
		mad_set_field(data, 0, IB_CPI_CLASSVER_F, 1);
		mad_set_field(data, 0, IB_CPI_CAPMASK_F, n->pma_cap);
		mad_set_field(data, 0, IB_CPI_CAPMASK2_F, n->pma_cap2);
		memcpy(mad + FAKE_DATA, data, sizeof(data));
		return 0;
	}
	if (port == IBCC_NONE || num == 0)
		return FAKE_BAD_FIELD;
	now = f->counters[port];
	now.xmit_data += (uint64_t)(now.words_per_us * f->fabric_ns / 1000);
	now.xmit_wait += (uint64_t)(now.ticks_per_us * f->fabric_ns / 1000);
	data[1] = num;
	if (attr == 0x10) {
		if (n->no_samples)
			return -1;
		mad_set_field(data, 0, IB_PSC_TICK_F, n->tick);
		mad_set_field64(data, 0, IB_PSC_OPTION_MASK_F, n->option_mask);
	} else if (attr == 0x12) {
		mad_set_field(data, 0, IB_PC_XMT_BYTES_F, (uint32_t)c->xmit_data);
		mad_set_field(data, 0, IB_PC_RCV_BYTES_F, (uint32_t)c->rcv_data);
		mad_set_field(data, 0, IB_PC_XMT_PKTS_F, (uint32_t)c->xmit_pkts);
		mad_set_field(data, 0, IB_PC_RCV_PKTS_F, (uint32_t)c->rcv_pkts);
		mad_set_field(data, 0, IB_PC_XMT_WAIT_F, (uint32_t)c->xmit_wait);
	} else if (attr == 0x1d) {
		mad_set_field64(data, 0, IB_PC_EXT_XMT_BYTES_F, c->xmit_data);
		mad_set_field64(data, 0, IB_PC_EXT_RCV_BYTES_F, c->rcv_data);
		mad_set_field64(data, 0, IB_PC_EXT_XMT_PKTS_F, c->xmit_pkts);
		mad_set_field64(data, 0, IB_PC_EXT_RCV_PKTS_F, c->rcv_pkts);
		mad_set_field64(data, 0, IB_PC_EXT_XMT_WAIT_F, c->xmit_wait);
	} else if (attr == 0x31) {
		mad_set_field(data, 0, IB_PC_RCV_CON_CTRL_PKT_RCV_FECN_F, c->fecn);
		mad_set_field(data, 0, IB_PC_RCV_CON_CTRL_PKT_RCV_BECN_F, c->becn);
	} else {
		return FAKE_BAD_ATTR;
	}
	memcpy(mad + FAKE_DATA, data, sizeof(data));
	return 0;
}

static inline int fake_cc_elements(struct fake_node *n, unsigned int n_ports, bool set,
				   uint32_t block, uint8_t *data)
{
	unsigned int first = block * n->block;

	if (n->no_0x15)
		return FAKE_BAD_ATTR;
	if (first > n_ports)
		return FAKE_BAD_FIELD;
	for (unsigned int i = 0; i < n->block && first + i < 256; i++) {
		if (set)
			memcpy(n->element[first + i], data + 4 * i, 4);
		else
			memcpy(data + 4 * i, n->element[first + i], 4);
	}
	return 0;
}

static inline int fake_cc_table(struct fake_node *n, bool set, uint32_t block, uint8_t *data)
{
	uint16_t limit = n->cct_limit;

	if (block >= n->cct_cap || block >= 4)
		return FAKE_BAD_FIELD;
	if (n->relative_limit)
		limit = (uint16_t)(limit / 64 > block ? 63 : limit % 64);
	if (set)
		n->cct_limit = (uint16_t)(data[0] << 8 | data[1]);
	else
		data[0] = (uint8_t)(limit >> 8), data[1] = (uint8_t)limit;
	for (unsigned int i = 0; i < 64; i++) {
		uint16_t *e = &n->cct[64 * block + i];

		if (set)
			*e = (uint16_t)(data[4 + 2 * i] << 8 | data[5 + 2 * i]);
		else
			data[4 + 2 * i] = (uint8_t)(*e >> 8), data[5 + 2 * i] = (uint8_t)*e;
	}
	return 0;
}

static inline uint32_t fake_clock(const struct fake_fabric *f, const struct fake_node *n)
{
	double skew = n->clock_skew < 0 ? 0 : n->clock_skew > 0 ? n->clock_skew : 1;

	return n->clock_base + (uint32_t)(uint64_t)(f->fabric_ns * skew / 1024);
}

/* The switch marks a packet now. */
static inline void fake_mark(const struct fake_fabric *f, struct fake_node *n, uint16_t slid,
			     uint16_t dlid, uint8_t sl)
{
	memmove(n->log + 40 + 12, n->log + 40, 14 * 12);
	memset(n->log + 40, 0, 12);
	mad_set_field(n->log, 40, IB_CC_CONGESTION_LOG_ENTRY_SWITCH_SLID_F, slid);
	mad_set_field(n->log, 40, IB_CC_CONGESTION_LOG_ENTRY_SWITCH_DLID_F, dlid);
	mad_set_field(n->log, 40, IB_CC_CONGESTION_LOG_ENTRY_SWITCH_SL_F, sl);
	mad_set_field(n->log, 40, IB_CC_CONGESTION_LOG_ENTRY_SWITCH_TIMESTAMP_F, fake_clock(f, n));
}

static inline int fake_cc_log(const struct fake_fabric *f, struct fake_node *n, uint8_t *mad)
{
	n->n_logs++;
	if (n->log_silent)
		return -1;
	if (n->no_log)
		return FAKE_BAD_ATTR;
	n->log_ts = fake_clock(f, n);
	memcpy(mad + 32, n->log, sizeof(n->log));
	mad_set_field(mad, 32, IB_CC_CONGESTION_LOG_SWITCH_CURRENT_TIME_STAMP_F, n->log_ts);
	return 0;
}

static inline int fake_cc(struct fake_fabric *f, struct fake_node *n, uint32_t endport, bool set,
			  uint16_t attr, uint32_t mod, uint8_t *mad)
{
	const struct ibcc_topo_port *self = &f->t->port[f->t->endport[endport]];
	bool sw = f->t->node[self->node].type == IBCC_NODE_SWITCH;
	uint8_t *data = mad + FAKE_DATA, copy[192];
	uint64_t key;

	memcpy(&key, mad + 24, 8);
	n->last_key = be64toh(key);
	if (n->cc_silent || (n->cc_key && be64toh(key) != n->cc_key && (set || n->protect)))
		return -1;
	if (n->no_cc)
		return FAKE_BAD_VERSION;
	if (!set && n->refuse_cc) {
		n->refuse_cc--;
		return FAKE_BAD_ATTR;
	}
	if (set && n->set_status)
		return n->set_status;
	memcpy(copy, data, sizeof(copy));
	if (set && n->deaf_sets)
		return 0;
	switch (attr) {
	case 0x11:
		memset(data, 0, 192);
		data[2] = sw ? 0 : n->cct_cap;
		return 0;
	case 0x12:
		memset(data, 0, 192);
		key = htobe64(n->cc_key);
		memcpy(data, &key, 8);
		return 0;
	case 0x13: return fake_cc_log(f, n, mad);
	case 0x14:
		if (!sw)
			return FAKE_BAD_ATTR;
		memcpy(set ? n->sw_setting : data, set ? data : n->sw_setting, 192);
		return 0;
	case 0x15:
		return sw ? fake_cc_elements(n, f->t->node[self->node].n_ports, set, mod, data)
			  : FAKE_BAD_ATTR;
	case 0x16:
		if (sw)
			return FAKE_BAD_ATTR;
		memcpy(set ? n->ca_setting : data, set ? data : n->ca_setting, 192);
		return 0;
	case 0x17: return sw ? FAKE_BAD_ATTR : fake_cc_table(n, set, mod, data);
	case 0x18: {
		uint32_t ts = fake_clock(f, n);

		if (n->no_timestamp)
			return FAKE_BAD_ATTR;
		ts = htobe32(ts);
		memcpy(data, &ts, 4);
		return 0;
	}
	}
	return FAKE_BAD_ATTR;
}

static inline void fake_sleep(struct fake_fabric *f, uint64_t ns)
{
	f->now_ns += ns;
	f->fabric_ns += (double)ns * f->clock_rate;
}

static inline void fake_answer(struct fake_fabric *f, struct ibcc_mad_op *op)
{
	uint8_t mgmt_class = op->mad[1];
	bool set = op->mad[3] == 2;
	uint16_t attr = (uint16_t)(op->mad[16] << 8 | op->mad[17]);
	uint32_t mod;
	int status = -1;

	memcpy(&mod, op->mad + 20, 4);
	mod = be32toh(mod);
	fake_sleep(f, f->step_ns);
	f->n_class[mgmt_class]++;
	f->base.stats.sent++;
	f->base.stats.sets += set;
	op->t_ns = f->now_ns;
	if (mgmt_class == 0x81) {
		assert_int_equal(op->lid, 0xffff);
		status = fake_smp(f, attr, mod, op->mad);
	} else {
		uint32_t port = ibcc_topo_port_of_lid(f->t, op->lid);
		uint32_t endport = port == IBCC_NONE ? IBCC_NONE : f->t->port[port].endport;
		struct fake_node *n = endport == IBCC_NONE ? NULL : &f->node[endport];

		if (n && !n->dead) {
			n->n_gets += !set;
			if (set) {
				n->set_attr[n->n_sets % 16] = attr;
				n->set_mod[n->n_sets++ % 16] = mod;
			}
			if (mgmt_class == 0x04)
				status = fake_pma(f, n, endport, attr, op->mad);
			else if (mgmt_class == 0x21 && op->mad[2] == 2)
				status = fake_cc(f, n, endport, set, attr, mod, op->mad);
		}
	}
	op->status = status > 0 ? (uint16_t)status : 0;
	op->err = status < 0 ? -ETIMEDOUT : status > 0 ? -EREMOTEIO : 0;
	op->mad[3] = 0x81;
}

static inline int fake_run(struct ibcc_transport *t, struct ibcc_mad_op *op, size_t n)
{
	struct fake_fabric *f = fake_of(t);

	if (n > f->largest_run)
		f->largest_run = n;
	for (size_t i = 0; i < n; i++) {
		if (f->run_err)
			op[i].err = f->run_err;
		else if (t->deadline_ns && f->now_ns >= t->deadline_ns)
			op[i].err = -ETIMEDOUT;
		else
			fake_answer(f, &op[i]);
	}
	return f->run_err == -ECANCELED ? 0 : f->run_err;
}

static inline uint64_t fake_now_ns(struct ibcc_transport *t)
{
	return fake_of(t)->now_ns;
}

static inline void fake_free(struct ibcc_transport *t)
{
	free(fake_of(t)->node);
	free(fake_of(t)->counters);
	free(t);
}

static const struct ibcc_transport_ops fake_ops = {
	.run = fake_run,
	.now_ns = fake_now_ns,
	.free = fake_free,
};

/* All nodes alive, with every capability. The topology stays the caller's. */
static inline struct fake_fabric *fake_fabric(const struct ibcc_topo *t)
{
	struct fake_fabric *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->base.ops = &fake_ops;
	f->t = t;
	f->now_ns = 1000000000;
	f->step_ns = 10000;
	f->clock_rate = 1;
	f->node = calloc(t->n_endports, sizeof(*f->node));
	f->counters = calloc(t->n_ports, sizeof(*f->counters));
	assert_non_null(f->node);
	assert_non_null(f->counters);
	for (uint32_t i = 0; i < t->n_endports; i++)
		f->node[i] = (struct fake_node){
			.block = 32,
			.cct_cap = 2,
			.pma_cap = 0x1300, /* all ports, extended width, XmitWait */
			.pma_cap2 = 0x2,   /* XmitWait in the extended counters */
			.option_mask = 3ull << 49,
			.tick = 7,
			.log = { 1 }, /* of a switch, empty */
		};
	return f;
}

/* The endport of a node's management port, or of its first port. */
static inline struct fake_node *fake_node_of(struct fake_fabric *f, uint32_t node)
{
	uint32_t first = f->t->node[node].first_port;
	uint32_t e = f->t->port[first + !ibcc_topo_is_switch(f->t, node)].endport;

	assert_true(e != IBCC_NONE);
	return &f->node[e];
}

#endif
