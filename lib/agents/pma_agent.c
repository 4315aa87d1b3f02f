/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The agent of PerfMgt (performance counters) of a node (IBA vol. 1, 16.1). ibcc_agents_pma() is
 * the entry.
 *
 * The engine counts for ever. A register is the difference to what had been counted when it was
 * last reset (`base`), and stops at its end; the codecs take care of that. All attributes'
 * counters of a port form one row (state.h), which count() fills.
 */
#include <string.h>

#include <ibcc/device.h>
#include <ibcc/link.h>
#include <ibcc/pma.h>

#include "lib/agents/state.h"

#define ALL_PORTS     0xffu
#define WIDTH_32_BITS 2u  /* PortSamplesControl:CounterWidth of a 32 bit sampling counter */
#define EXT_WAIT_BIT  12u /* PortXmitWait in CounterSelect2 of PortCountersExtended */
#define DATA_UNIT     4u  /* PortXmitData and PortRcvData count words of four bytes */

#define OPTIONS                                                                                    \
	(IBCC_PMA_OPT_SW_PORT_VL_CONGESTION | IBCC_PMA_OPT_RCV_FECN | IBCC_PMA_OPT_RCV_BECN |      \
	 IBCC_PMA_OPT_SL_RCV_FECN | IBCC_PMA_OPT_SL_RCV_BECN | IBCC_PMA_OPT_XMIT_TIME_CONG |       \
	 IBCC_PMA_OPT_VL_XMIT_TIME_CONG)

/* Positions within PortCounters and PortCountersExtended, which are the bits of CounterSelect. */
enum {
	C_SYMBOL_ERRORS = 0,
	C_DISCARDS = 6,
	C_XMIT_DATA = 12,
	C_RCV_DATA,
	C_XMIT_PKTS,
	C_RCV_PKTS,
	C_WAIT
};
enum { E_XMIT_DATA, E_RCV_DATA, E_XMIT_PKTS, E_RCV_PKTS, E_UCAST_XMIT, E_UCAST_RCV, E_WAIT = 8 };

/* Where the counters of an attribute begin in a row (*first), and how many there are; 0: none. */
static unsigned int row_of(uint16_t attr_id, unsigned int *first)
{
	switch ((enum ibcc_pma_attr)attr_id) {
	case IBCC_PMA_ATTR_COUNTERS: *first = PMA_COUNTERS; return PMA_EXT - PMA_COUNTERS;
	case IBCC_PMA_ATTR_COUNTERS_EXT: *first = PMA_EXT; return PMA_VL_WAIT - PMA_EXT;
	case IBCC_PMA_ATTR_VL_XMIT_WAIT: *first = PMA_VL_WAIT; break;
	case IBCC_PMA_ATTR_SW_PORT_VL_CONGESTION: *first = PMA_VL_CONG; break;
	case IBCC_PMA_ATTR_RCV_CON_CTRL: *first = PMA_CON_CTRL; break;
	case IBCC_PMA_ATTR_SL_RCV_FECN: *first = PMA_SL_FECN; break;
	case IBCC_PMA_ATTR_SL_RCV_BECN: *first = PMA_SL_BECN; break;
	case IBCC_PMA_ATTR_XMIT_CON_CTRL: *first = PMA_XMIT_CON; break;
	case IBCC_PMA_ATTR_VL_XMIT_TIME_CONG: *first = PMA_VL_TIME_CONG; break;
	case IBCC_PMA_ATTR_XMIT_DATA_SL: *first = PMA_SL_XMIT; break;
	case IBCC_PMA_ATTR_CLASS_PORT_INFO:
	case IBCC_PMA_ATTR_SAMPLES_CONTROL:
	case IBCC_PMA_ATTR_SAMPLES_RESULT: return 0;
	}
	return ibcc_pma_array_len(attr_id);
}

static const struct ibcc_profile *profile_of(const struct ibcc_agents *a, uint32_t port)
{
	return &a->profile[a->topo->port[port].node];
}

/* The unit of PortXmitWait at a port, in ps: what its profile or the kind of device says. */
static uint64_t tick_ps(const struct ibcc_agents *a, uint32_t port)
{
	const struct ibcc_profile *p = profile_of(a, port);
	uint32_t mbps = a->port[port].rate_mbps;

	if (!mbps)
		return 1;
	if (p->wait_bytes)
		return ibcc_link_bytes_ps(mbps, p->wait_bytes);
	return ibcc_device_tick_ps(ibcc_device_find(p->vendor_id, p->device_id), mbps,
				   a->topo->port[port].lanes, p->tick);
}

/* Falsifies counter i of a port whose quirk says so. What was counted since the last reading is
 * replaced by `permille` of `of`; with 0, the counter goes on truthfully at its present distance.
 */
static void lie(struct ibcc_agent_lie *l, unsigned int i, uint64_t *count, uint64_t of,
		uint16_t permille)
{
	uint64_t since = *count - l->seen[i];

	l->seen[i] = *count;
	if (permille)
		l->more[i] += (int64_t)(of * permille / 1000) - (int64_t)since;
	*count += (uint64_t)l->more[i];
}

/* Falsifies a port's counters by its node's quirks. */
static void tell(const struct ibcc_agent_quirks *q, struct ibcc_agent_lie *l,
		 struct ibcc_engine_port *c)
{
	uint64_t came = c->rcv_pkts - l->seen_rcv_pkts;

	l->seen_rcv_pkts = c->rcv_pkts;
	if (q->no_wait) {
		c->xmit_wait_ps = 0;
		memset(c->vl_xmit_wait_ps, 0, sizeof(c->vl_xmit_wait_ps));
	}
	lie(l, LIE_BYTES, &c->xmit_bytes, c->xmit_bytes - l->seen[LIE_BYTES], q->sent_permille);
	lie(l, LIE_PACKETS, &c->xmit_pkts, c->xmit_pkts - l->seen[LIE_PACKETS], q->sent_permille);
	lie(l, LIE_WAIT, &c->xmit_wait_ps, c->xmit_wait_ps - l->seen[LIE_WAIT], q->wait_permille);
	lie(l, LIE_FECN, &c->rcv_fecn, came, q->marks_permille);
	lie(l, LIE_BECN, &c->rcv_becn, came, q->marks_permille);
}

/* Fills a row with all that a port has counted since the start, in the units of the registers. A
 * lossless fabric discards nothing because of congestion, so SwPortVLCongestion stays 0.
 */
static void count(struct ibcc_agents *a, uint32_t port, uint64_t *row)
{
	struct ibcc_agent_port *ap = &a->port[port];
	uint64_t tick;
	struct ibcc_engine_port c;
	unsigned int i;

	memset(row, 0, PMA_ROW * sizeof(*row));
	if (ibcc_agents_counters(a, port, &c))
		return;
	tell(&a->quirks[a->topo->port[port].node], &ap->lie, &c);
	if (a->topo->port[port].rate_mbps)
		ap->rate_mbps = ibcc_topo_link_mbps(a->topo, port);
	tick = tick_ps(a, port);
	row[PMA_COUNTERS + C_SYMBOL_ERRORS] =
		c.rcv_pkts * a->quirks[a->topo->port[port].node].errors_permille / 1000;
	row[PMA_COUNTERS + C_DISCARDS] = c.dropped;
	row[PMA_COUNTERS + C_XMIT_DATA] = row[PMA_EXT + E_XMIT_DATA] = c.xmit_bytes / DATA_UNIT;
	row[PMA_COUNTERS + C_RCV_DATA] = row[PMA_EXT + E_RCV_DATA] = c.rcv_bytes / DATA_UNIT;
	row[PMA_COUNTERS + C_XMIT_PKTS] = row[PMA_EXT + E_XMIT_PKTS] = c.xmit_pkts;
	row[PMA_COUNTERS + C_RCV_PKTS] = row[PMA_EXT + E_RCV_PKTS] = c.rcv_pkts;
	row[PMA_EXT + E_UCAST_XMIT] = c.xmit_pkts;
	row[PMA_EXT + E_UCAST_RCV] = c.rcv_pkts;
	row[PMA_COUNTERS + C_WAIT] = row[PMA_EXT + E_WAIT] = c.xmit_wait_ps / tick;
	row[PMA_CON_CTRL] = c.rcv_fecn;
	row[PMA_CON_CTRL + 1] = c.rcv_becn;
	row[PMA_XMIT_CON] = c.xmit_time_cong_ps / tick;
	for (i = 0; i < 16; i++) {
		row[PMA_VL_WAIT + i] = c.vl_xmit_wait_ps[i] / tick;
		row[PMA_SL_FECN + i] = c.sl_rcv_fecn[i];
		row[PMA_SL_BECN + i] = c.sl_rcv_becn[i];
		row[PMA_SL_XMIT + i] = c.sl_xmit_bytes[i] / DATA_UNIT;
		if (i < 15)
			row[PMA_VL_TIME_CONG + i] = c.vl_xmit_time_cong_ps[i] / tick;
	}
}

/* The mask of counters that a Set clears, by position from the attribute's first on. */
static uint32_t selected(const uint8_t *mad, uint16_t attr_id, const struct ibcc_pma_select *s)
{
	const uint8_t *d = mad + IBCC_MAD_DATA_OFFS;
	uint32_t select2;

	if (attr_id == IBCC_PMA_ATTR_COUNTERS)
		return s->counters | (uint32_t)(s->counters2 & 1) << C_WAIT;
	if (attr_id != IBCC_PMA_ATTR_COUNTERS_EXT)
		return s->counters;
	select2 = (uint32_t)d[4] << 24 | (uint32_t)d[5] << 16 | (uint32_t)d[6] << 8 | d[7];
	return (s->counters & 0xffu) | (select2 >> EXT_WAIT_BIT & 1) << E_WAIT;
}

static uint16_t at_most_16_bits(uint64_t v)
{
	return v < UINT16_MAX ? (uint16_t)v : UINT16_MAX;
}

/* Writes an attribute's counters into a MAD. */
static void pack(uint8_t *mad, uint16_t attr_id, const uint64_t *v)
{
	struct ibcc_pma_counters c = { 0 };
	struct ibcc_pma_counters_ext x = { 0 };

	if (attr_id == IBCC_PMA_ATTR_COUNTERS) {
		c.SymbolErrorCounter = at_most_16_bits(v[C_SYMBOL_ERRORS]);
		c.PortXmitDiscards = at_most_16_bits(v[C_DISCARDS]);
		c.PortXmitData = v[C_XMIT_DATA];
		c.PortRcvData = v[C_RCV_DATA];
		c.PortXmitPkts = v[C_XMIT_PKTS];
		c.PortRcvPkts = v[C_RCV_PKTS];
		c.PortXmitWait = v[C_WAIT];
		ibcc_pma_counters_pack(mad, &c);
	} else if (attr_id == IBCC_PMA_ATTR_COUNTERS_EXT) {
		x.PortXmitData = v[E_XMIT_DATA];
		x.PortRcvData = v[E_RCV_DATA];
		x.PortXmitPkts = v[E_XMIT_PKTS];
		x.PortRcvPkts = v[E_RCV_PKTS];
		x.PortUnicastXmitPkts = v[E_UCAST_XMIT];
		x.PortUnicastRcvPkts = v[E_UCAST_RCV];
		x.PortXmitWait = v[E_WAIT];
		ibcc_pma_counters_ext_pack(mad, &x);
	} else {
		ibcc_pma_array_pack(mad, attr_id, v);
	}
}

/* Answers the attributes that are counters, of one port or the sum of all. A Set clears what it
 * selects, and then answers what is left.
 */
static int counters(struct ibcc_agents *a, const struct ibcc_topo_node *n,
		    const struct ibcc_mad_header *h, uint8_t *mad)
{
	uint64_t row[PMA_ROW], sum[PMA_ROW] = { 0 };
	unsigned int first, len = row_of(h->attr_id, &first), p, last, i;
	struct ibcc_pma_select s;
	uint32_t clear;

	ibcc_pma_select_unpack(mad, h->attr_id, &s);
	clear = h->method == IBCC_MAD_SET ? selected(mad, h->attr_id, &s) : 0;
	p = last = s.port;
	if (s.port == ALL_PORTS) {
		p = 1;
		last = n->n_ports;
	}
	for (; p <= last; p++) {
		uint64_t *base = a->port[n->first_port + p].base;

		count(a, n->first_port + p, row);
		for (i = first; i < first + len; i++) {
			if (clear >> (i - first) & 1)
				base[i] = row[i];
			sum[i] += row[i] - base[i];
		}
	}
	pack(mad, h->attr_id, sum + first);
	ibcc_pma_select_pack(mad, h->attr_id, &s);
	return IBCC_MAD_STATUS_OK;
}

static void class_port_info(const struct ibcc_agents *a, const struct ibcc_topo_node *n,
			    uint32_t port, uint8_t *mad)
{
	const struct ibcc_profile *p = profile_of(a, n->first_port);
	struct ibcc_pma_class_port_info v = {
		.base_version = 1,
		.class_version = 1,
		.cap_mask = p->cap_mask,
		.cap_mask2 = p->cap_mask2,
		.resp_time = RESP_TIME_VALUE,
	};

	if (a->quirks[n - a->topo->node].pma_qp) {
		v.redirect.lid = a->topo->port[port].lid;
		v.redirect.qp = a->quirks[n - a->topo->node].pma_qp;
		v.redirect.q_key = IBCC_GSI_Q_KEY;
	}
	if (!a->o.ext_xmit_wait)
		v.cap_mask2 &= ~IBCC_PMA_CAP2_EXT_XMIT_WAIT;
	if (n->type == IBCC_NODE_SWITCH)
		v.cap_mask |= IBCC_PMA_CAP_ALL_PORT;
	ibcc_pma_class_port_info_pack(mad, &v);
}

/* Answers a Get as the mlx5 driver does in the kernel (drivers/infiniband/hw/mlx5/mad.c,
 * process_pma_cmd()). It knows two attributes, takes all others for PortCounters, and fills in only
 * the counters of the port that the request came to.
 */
static int kernel_pma(struct ibcc_agents *a, uint32_t port, uint16_t attr_id, uint8_t *mad)
{
	uint64_t row[PMA_ROW];

	memset(mad + IBCC_MAD_DATA_OFFS, 0, IBCC_MAD_BYTES - IBCC_MAD_DATA_OFFS);
	if (attr_id == IBCC_PMA_ATTR_CLASS_PORT_INFO) {
		ibcc_pma_class_port_info_pack(mad,
					      &(struct ibcc_pma_class_port_info){
						      .cap_mask = profile_of(a, port)->cap_mask,
					      });
		return IBCC_MAD_STATUS_OK;
	}
	count(a, port, row);
	for (unsigned int i = 0; i < PMA_ROW; i++)
		row[i] -= a->port[port].base[i];
	row[PMA_EXT + E_WAIT] = 0;
	if (attr_id == IBCC_PMA_ATTR_COUNTERS_EXT)
		pack(mad, attr_id, row + PMA_EXT);
	else
		pack(mad, IBCC_PMA_ATTR_COUNTERS, row + PMA_COUNTERS);
	return IBCC_MAD_STATUS_OK;
}

/* PortSelect of a node's own ports; a switch also has port 0, and all of them at once. */
static bool port_valid(const struct ibcc_topo_node *n, unsigned int port)
{
	if (n->type == IBCC_NODE_SWITCH)
		return port <= n->n_ports || port == ALL_PORTS;
	return port >= 1 && port <= n->n_ports;
}

int ibcc_agents_pma(struct ibcc_agents *a, uint32_t endport, const struct ibcc_mad_header *h,
		    uint8_t *mad)
{
	const struct ibcc_topo_node *n =
		&a->topo->node[a->topo->port[a->topo->endport[endport]].node];
	struct ibcc_pma_samples_control sc;
	struct ibcc_pma_select s;
	unsigned int first;

	if (h->base_version != 1 || h->class_version != 1)
		return IBCC_MAD_STATUS_BAD_VERSION;
	if (h->method != IBCC_MAD_GET && h->method != IBCC_MAD_SET)
		return IBCC_MAD_STATUS_BAD_METHOD;
	if (h->method == IBCC_MAD_GET && profile_of(a, a->topo->endport[endport])->kernel_pma)
		return kernel_pma(a, a->topo->endport[endport], h->attr_id, mad);
	if (h->attr_id == IBCC_PMA_ATTR_CLASS_PORT_INFO && h->method == IBCC_MAD_GET) {
		class_port_info(a, n, a->topo->endport[endport], mad);
		return IBCC_MAD_STATUS_OK;
	}
	if (h->attr_id == IBCC_PMA_ATTR_SAMPLES_CONTROL && h->method == IBCC_MAD_GET) {
		ibcc_pma_samples_control_unpack(mad, &sc);
		if (!port_valid(n, sc.port) || sc.port == ALL_PORTS)
			return IBCC_MAD_STATUS_BAD_FIELD;
		sc.tick = profile_of(a, n->first_port)->tick;
		sc.counter_width = WIDTH_32_BITS;
		sc.option_mask = OPTIONS;
		ibcc_pma_samples_control_pack(mad, &sc);
		return IBCC_MAD_STATUS_OK;
	}
	if (!row_of(h->attr_id, &first) ||
	    (h->attr_id == IBCC_PMA_ATTR_XMIT_DATA_SL && a->quirks[n - a->topo->node].no_sls))
		return IBCC_MAD_STATUS_BAD_ATTR;
	ibcc_pma_select_unpack(mad, h->attr_id, &s);
	if (h->attr_mod || !port_valid(n, s.port))
		return IBCC_MAD_STATUS_BAD_FIELD;
	return counters(a, n, h, mad);
}
