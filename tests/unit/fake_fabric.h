/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A fabric that answers MADs from arrays: a transport for tests, on its own clock. Bytes are made
 * with libibmad's field tables, not with our codecs.
 */
#ifndef TEST_FAKE_FABRIC_H
#define TEST_FAKE_FABRIC_H

#include "tests/unit/fake_smp.h"

#define FAKE_BEGIN_NS 1000000000u

/* Fills in the counters of a port, or for 0xff the sums of all ports. */
static inline bool fake_count(const struct fake_fabric *f, const struct ibcc_topo_node *n,
			      unsigned int num, bool all, struct fake_counters *sum)
{
	*sum = (struct fake_counters){ 0 };
	for (unsigned int p = 1; p <= n->n_ports; p++) {
		const struct fake_counters *c = &f->counters[n->first_port + p];

		*sum = p == num ? *c : *sum;
		sum->xmit_data += num == 0xff ? c->xmit_data >> f->sum_shift : 0;
		sum->xmit_wait += num == 0xff ? c->xmit_wait : 0;
	}
	sum->xmit_data += (uint64_t)(sum->words_per_us * f->fabric_ns / 1000);
	sum->xmit_wait += (uint64_t)(sum->ticks_per_us * f->fabric_ns / 1000);
	return num <= n->n_ports ? num > 0 : num == 0xff && all;
}

static inline int fake_pma(struct fake_fabric *f, const struct fake_node *n, uint32_t endport,
			   uint16_t attr, uint8_t *mad)
{
	uint8_t num = mad[FAKE_DATA + 1];
	const struct ibcc_topo_port *self = &f->t->port[f->t->endport[endport]];
	uint8_t data[192] = { 0 };
	struct fake_counters now, *c = &now;

	if (((attr == 0x01 || attr == 0x10) && n->refuses_caps) || (attr == 0x31 && n->refuses_con))
		return FAKE_BAD_ATTR;
	if (attr == 0x01) {
		mad_set_field(data, 0, IB_CPI_BASEVER_F, 1);
		mad_set_field(data, 0, IB_CPI_CLASSVER_F, 1);
		mad_set_field(data, 0, IB_CPI_CAPMASK_F, n->pma_cap);
		mad_set_field(data, 0, IB_CPI_CAPMASK2_F, n->pma_cap2);
		mad_set_field(data, 0, IB_CPI_REDIRECT_LID_F, n->redirect_lid);
		mad_set_field(data, 0, IB_CPI_REDIRECT_QP_F, n->redirect_qp);
		mad_set_field(data, 0, IB_CPI_REDIRECT_QKEY_F, n->redirect_key);
		data[8] = n->redirect_gid ? 0xfe : 0;
		memcpy(mad + FAKE_DATA, data, sizeof(data));
		return 0;
	}
	if (!fake_count(f, &f->t->node[self->node], num, n->pma_cap & 0x100, &now))
		return FAKE_BAD_FIELD;
	data[1] = num;
	if (attr == 0x10) {
		if (n->no_samples)
			return -1;
		mad_set_field(data, 0, IB_PSC_TICK_F, n->tick);
		mad_set_field64(data, 0, IB_PSC_OPTION_MASK_F, n->option_mask);
	} else if (attr == 0x12) {
		f->n_plain++;
		mad_set_field(data, 0, IB_PC_ERR_SYM_F, c->symbol_errors);
		mad_set_field(data, 0, IB_PC_LINK_DOWNED_F, c->downed);
		mad_set_field(data, 0, IB_PC_XMT_DISCARDS_F, c->discards);
		mad_set_field(data, 0, IB_PC_ERR_LOCALINTEG_F, c->integrity);
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
	if (set && n->set_status && n->n_sets > n->after)
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

/* How much the fabric's time goes on while the host waits. */
static inline uint64_t fake_late_ns(const struct fake_fabric *f, uint64_t ns)
{
	return f->base.simulated ? (uint64_t)((double)ns * f->clock_rate) : ns;
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
	f->base.stats.smps += ibcc_mad_is_smp(op->mad);
	f->base.stats.sets += set;
	op->sent_ns = ibcc_transport_fabric_ns(&f->base);
	op->t_ns = op->sent_ns + fake_late_ns(f, f->late_ns);
	if (mgmt_class == 0x81) {
		assert_int_equal(op->lid, 0xffff);
		status = fake_smp(f, attr, mod, op->mad);
	} else {
		uint32_t port = ibcc_topo_port_of_lid(f->t, op->lid);
		uint32_t endport = port == IBCC_NONE ? IBCC_NONE : f->t->port[port].endport;
		struct fake_node *n = endport == IBCC_NONE ? NULL : &f->node[endport];

		op->t_ns += n ? fake_late_ns(f, n->late_ns) : 0;
		if (n && !n->dead) {
			n->n_gets += !set;
			if (set) {
				n->set_attr[n->n_sets % 16] = attr;
				n->set_mod[n->n_sets++ % 16] = mod;
			}
			if (mgmt_class == 0x04 && n->redirect_qp && attr != 0x01 &&
			    (op->qp != n->redirect_qp || op->q_key != n->redirect_key))
				status = 0x0002;
			else if (mgmt_class == 0x04)
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

/* The fabric's time. It begins at the host's time, so that no moment is 0. */
static inline uint64_t fake_fabric_ns(struct ibcc_transport *t)
{
	return FAKE_BEGIN_NS + (uint64_t)fake_of(t)->fabric_ns;
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
	.fabric_ns = fake_fabric_ns,
	.free = fake_free,
};

/* Makes a fabric with all nodes alive and with every capability. The topology stays the caller's.
 */
static inline struct fake_fabric *fake_fabric(const struct ibcc_topo *t)
{
	struct fake_fabric *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->base.ops = &fake_ops;
	f->t = t;
	f->now_ns = FAKE_BEGIN_NS;
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
			.log = { 1 }, /* log of a switch, empty */
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
