/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reading the engine's counters by port, by flow and in total.
 *
 * Bytes are those that PortXmitData and PortRcvData count (IBA vol. 1, 16.1.3.5): all octets from
 * the start of a packet up to, not including, the VCRC. Flow control packets do not count. A
 * packet counts as sent when its transmission begins, as received when the receiver handles it.
 */
#include <errno.h>

#include "dcqcn.h"
#include "eth.h"
#include "messages.h"
#include "qps.h"
#include "tx.h"

/* `more`: what struct other_bytes has of the same packets. */
static uint64_t octets(const struct ibcc_engine *e, const uint64_t n[OTHER], int64_t more)
{
	uint64_t sum = (uint64_t)more;

	for (int k = 0; k < OTHER; k++)
		sum += n[k] * (e->bytes[k] > IBCC_LINK_VCRC_BYTES
				       ? e->bytes[k] - IBCC_LINK_VCRC_BYTES
				       : 0);
	return sum;
}

/* How many packets of a kind have come to a port, from what its peer has sent. */
static uint64_t received(const struct ibcc_engine *e, uint32_t port, unsigned int kind)
{
	uint32_t from = e->peer[port];
	uint64_t sent;

	if (from == NONE)
		return 0;
	sent = port_of(e, from)->tx[kind];
	return sent - (uint32_t)((uint32_t)sent - e->arrived[from].rx[kind]);
}

/* Bytes that a port sent, by SL. The first SL in use has what the others leave (struct sl_marks).
 */
static void sent_by_sl(const struct ibcc_engine *e, uint32_t port, struct ibcc_engine_port *out)
{
	uint64_t others = 0;

	if (e->first_sl >= IBCC_CC_SLS)
		return;
	for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++) {
		if (!e->marks[sl] || sl == e->first_sl)
			continue;
		out->sl_xmit_bytes[sl] =
			octets(e, e->marks[sl][port].tx, e->other ? e->other[port].sl_tx[sl] : 0);
		others += out->sl_xmit_bytes[sl];
	}
	out->sl_xmit_bytes[e->first_sl] = out->xmit_bytes - others;
}

/* The part of a counter of time that still runs. */
static uint64_t since(const struct ibcc_engine *e, bool running, uint64_t from)
{
	return running && e->now_ps > from ? e->now_ps - from : 0;
}

int ibcc_engine_port_read(struct ibcc_engine *e, uint32_t port, struct ibcc_engine_port *out)
{
	uint64_t rx[OTHER];
	struct other_bytes more = { 0 };
	const struct port_stat *s;
	const struct port *p;
	bool up;

	if (port >= e->n_ports)
		return -EINVAL;
	if (e->other)
		more = e->other[port];
	for (unsigned int kind = 0; kind < OTHER; kind++)
		rx[kind] = received(e, port, kind);
	p = port_of(e, port);
	s = &e->stat[port];
	up = p->flags & PORT_UP;
	*out = (struct ibcc_engine_port){
		.xmit_bytes = octets(e, p->tx, more.tx),
		.rcv_bytes = octets(e, rx, more.rx),
		.xmit_pkts = p->tx[DATA] + p->tx[CTRL],
		.rcv_pkts = rx[DATA] + rx[CTRL],
		.xmit_data_pkts = p->tx[DATA],
		.rcv_data_pkts = rx[DATA],
		.rcv_payload_bytes = rx[DATA] * e->model.packet_bytes + (uint64_t)more.rx,
		.xmit_wait_ps = p->wait_ps + since(e, up && p->queued, p->busy_ps),
		.xmit_time_cong_ps = s->cong_ps + since(e, s->n_cong, s->cong_since_ps),
		.mark_fecn = s->mark,
		.dropped = s->dropped,
	};
	for (unsigned int vl = 0; vl < e->n_vls; vl++) {
		const struct port *q = port_outq(e, port, vl);
		const struct outq_wait *w = e->wait ? &e->wait[q - e->port] : NULL;
		const struct outq_cong *v = &e->cong[q - e->port];

		out->backlog_bytes += backlog_of(e, q);
		out->vl_xmit_wait_ps[vl] =
			w ? w->wait_ps + since(e, up && w->queued, w->busy_ps) : out->xmit_wait_ps;
		out->vl_xmit_time_cong_ps[vl] =
			v->cong_ps + since(e, q->flags & OUTQ_CONG, v->since_ps);
	}
	for (unsigned int sl = 0; sl < 16; sl++) {
		if (!e->marks[sl])
			continue;
		out->rcv_fecn += out->sl_rcv_fecn[sl] = e->marks[sl][port].fecn;
		out->rcv_becn += out->sl_rcv_becn[sl] = e->marks[sl][port].becn;
	}
	sent_by_sl(e, port, out);
	if (e->eth)
		ibcc_eth_port_read(e, port, out);
	if (e->dcqcn)
		ibcc_dcqcn_port_read(e, port, out);
	return 0;
}

/* Of the rate limiter of a queue pair; 0: it has none, or annex A10, which has delays instead. */
static uint32_t limit_mbps(const struct ibcc_engine *e, uint32_t qp)
{
	switch (e->control) {
	case CONTROL_A10: break;
	case CONTROL_BCN: return ibcc_bcn_limit_mbps(e, qp);
	case CONTROL_DCQCN: return ibcc_dcqcn_limit_mbps(e, qp);
	}
	return 0;
}

/* The highest index and the lowest limit among the queue pairs of a flow to many in a group. */
static void read_group(const struct ibcc_engine *e, const struct group *g,
		       struct ibcc_engine_flow *out)
{
	uint16_t ccti = ibcc_fab_ccti(e, g, NONE);

	out->ccti = ccti > out->ccti ? ccti : out->ccti;
	for (uint32_t i = 0; i < qp_places(g); i++) {
		uint32_t limit = limit_mbps(e, qp_at(g, i));

		ccti = ibcc_fab_ccti(e, g, qp_at(g, i));
		out->ccti = ccti > out->ccti ? ccti : out->ccti;
		if (limit && (!out->limit_mbps || limit < out->limit_mbps))
			out->limit_mbps = limit;
	}
}

/* Where paths have SLs, a flow to many has queue pairs in all groups of its adapter. */
static void read_control(const struct ibcc_engine *e, const struct flow *f,
			 struct ibcc_engine_flow *out)
{
	const struct hca *h = &e->hca[e->owner[f->src_port]];

	if (!f->uniform) {
		out->ccti = ibcc_fab_ccti(e, &e->group[f->group], f->qp);
		out->limit_mbps = limit_mbps(e, f->qp);
	} else if (!e->path_sl) {
		read_group(e, &e->group[f->group], out);
	} else {
		for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++)
			if (h->group[sl] != NONE)
				read_group(e, &e->group[h->group[sl]], out);
	}
}

int ibcc_engine_flow_read(struct ibcc_engine *e, uint32_t flow, struct ibcc_engine_flow *out)
{
	struct flow *f;

	if (flow >= e->n_flow)
		return -EINVAL;
	f = &e->flow[flow];
	*out = (struct ibcc_engine_flow){
		.offered_pkts = ibcc_fab_offered(e, f),
		.messages = f->window ? f->done / f->message_pkts : 0,
		.refused_pkts = f->refused,
		.sent_pkts = f->sent,
		.received_pkts = f->received,
		.received_bytes = f->received * (e->bytes[f->size] - e->model.header_bytes),
		.dropped_pkts = f->dropped,
		.reordered_pkts = f->reordered,
		.fecn = f->fecn,
		.becn = f->becn,
		.latency_sum_ps = f->latency_ps,
		.received_messages = f->messages ? f->messages->n : 0,
		.message_latency_sum_ps = f->messages ? f->messages->latency_ps : 0,
	};
	read_control(e, f, out);
	return 0;
}

void ibcc_engine_totals(const struct ibcc_engine *e, struct ibcc_engine_totals *out)
{
	*out = (struct ibcc_engine_totals){
		.injected = e->injected,
		.delivered = e->delivered,
		.dropped = e->dropped,
		.discarded = e->discarded,
		.in_flight = e->injected - e->delivered - e->dropped - e->discarded,
		.events = e->events,
	};
	for (uint32_t i = 0; i < e->n_ports; i++) {
		out->packet_hops += received(e, i, DATA);
		out->ack_hops += received(e, i, CTRL);
	}
}
