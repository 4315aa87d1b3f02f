/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a channel adapter's port receives: the receive buffer, a slow sink, answers.
 *
 * Packets leave the receive buffer in the order of their arrival, over all VLs: at once, or at
 * the sink's rate, which counts payload, as a slow memory or disk does. deliver() sees a packet
 * when it has left: it is counted, acknowledged, and a FECN is answered. The answer is an ACK
 * (always sent if the model has acknowledgements) or a CNP, on the packet's SL, and reuses the
 * packet's memory.
 *
 * If a delivery has no such consequence, it is no event (EV_QUIET): ibcc_fab_quiet_count() counts
 * such packets in batches, before counters are read. A BECN out of band is a packet only while it
 * waits for its time.
 */
#include <errno.h>

#include "dcqcn.h"
#include "endpoint.h"
#include "latency.h"
#include "messages.h"
#include "paths.h"
#include "qps.h"
#include "tx.h"

/* How long the sink takes for a packet, in ps. */
static uint64_t drain_ps(const struct ibcc_engine *e, const struct hca *h, const struct pkt *p)
{
	if (!h->sink_mbps || p->flags & PKT_CTRL)
		return 0;
	return ibcc_link_packet_ps(e->bytes[pkt_kind(p)] - e->model.header_bytes, h->sink_mbps);
}

static inline void count_delivery(struct ibcc_engine *e, struct flow *f, uint64_t latency_ps)
{
	f->received++;
	f->latency_ps += latency_ps;
	latency_count(f->latency, latency_ps);
	e->delivered++;
}

/* A notification has reached its source. With BCN, annex A10 may count on, without effect. */
static void notified(struct ibcc_engine *e, uint32_t pkt)
{
	switch (e->control) {
	case CONTROL_A10:
	case CONTROL_BCN: ibcc_fab_becn(e, pkt); break;
	case CONTROL_DCQCN: ibcc_dcqcn_notified(e, pkt); break;
	}
}

/* The source learns of a mark without a packet. Its port counts a BECN as if there had been one. */
static void learn_of_mark(struct ibcc_engine *e, uint32_t pkt)
{
	const struct pkt *k = &e->pkt[pkt];
	struct flow *f = &e->flow[k->flow];
	uint8_t sl = e->path_sl ? path_sl(e, f->src_port, qp_dst(e, k->qp)) : f->sl;

	f->becn++;
	e->marks[sl][f->src_port].becn++;
	notified(e, pkt);
}

/* Notifies the source of a marked packet out of band, after the model's delay. */
static void notify(struct ibcc_engine *e, uint32_t marked)
{
	uint32_t pkt;

	if (!e->model.becn_delay_ps) {
		learn_of_mark(e, marked);
		return;
	}
	pkt = pkt_take(e);
	e->pkt[pkt] = (struct pkt){ .flow = e->pkt[marked].flow,
				    .qp = e->pkt[marked].qp,
				    .flags = PKT_CTRL | PKT_BECN };
	evq_push(e, e->now_ps + e->model.becn_delay_ps, EV_CTRL, pkt);
}

void ibcc_fab_ctrl_due(struct ibcc_engine *e, uint32_t pkt)
{
	const struct pkt *k = &e->pkt[pkt];

	if (e->model.becn_path == IBCC_BECN_OUT_OF_BAND && k->flags & PKT_BECN) {
		learn_of_mark(e, pkt);
		pkt_give(e, pkt);
	} else {
		ibcc_fab_ctrl_send(e, pkt);
	}
}

/* A packet has left the receive buffer. */
static ALWAYS_INLINE void deliver(struct ibcc_engine *e, struct hca *h, uint32_t pkt, bool plain)
{
	struct pkt *k = &e->pkt[pkt];
	struct flow *f = &e->flow[k->flow];
	bool becn, answers = e->model.acks;

	credit_return(e, k, plain);
	if (k->flags & PKT_CTRL) {
		becn = k->flags & PKT_BECN;
		f->becn += becn;
		if (has_ends(e))
			ibcc_ends_answered(e, pkt);
		else if (f->window && e->model.acks)
			ibcc_fab_flow_done(e, k->flow);
		if (becn)
			notified(e, pkt);
		pkt_give(e, pkt);
		return;
	}
	if (!plain && e->paths)
		ibcc_paths_received(e, pkt);
	if (f->window && !e->model.acks)
		ibcc_fab_flow_done(e, k->flow);
	if (has_ends(e))
		answers = ibcc_ends_received(e, pkt);
	else
		count_delivery(e, f, e->now_ps - k->born_ps);
	if (f->window && !has_ends(e))
		messages_took(e, f->messages, k->clock, false);
	f->fecn += !!(k->flags & PKT_FECN);
	becn = k->flags & PKT_FECN && !h->no_cc &&
	       (plain || !e->dcqcn || ibcc_dcqcn_answers(e, h, k));
	if (becn && e->model.becn_path == IBCC_BECN_OUT_OF_BAND) {
		notify(e, pkt);
		becn = false;
	}
	if (!becn && !answers) {
		pkt_give(e, pkt);
		return;
	}
	if (!plain && !answers && e->dcqcn && e->model.dcqcn.cnp_sl != IBCC_DCQCN_PACKET_SL)
		k->sl = e->model.dcqcn.cnp_sl;
	if (!plain && e->path_sl)
		k->sl = path_sl(e, input_of(e, k), f->src_port);
	k->flags = (uint8_t)(PKT_CTRL | (becn ? PKT_BECN : 0));
	k->dlid = e->lid[f->src_port].first;
	/* Only the notification takes time to make. */
	if (becn && e->model.becn_delay_ps)
		evq_push(e, e->now_ps + e->model.becn_delay_ps, EV_CTRL, pkt);
	else
		ibcc_fab_ctrl_send(e, pkt);
}

/* Whether a packet's LID is one of the port's. */
static bool is_for(const struct ibcc_engine *e, const struct pkt *k)
{
	const struct lids *l = &e->lid[input_of(e, k)];

	return (uint16_t)(k->dlid - l->first) < l->n;
}

static void count_quiet(struct ibcc_engine *e, const struct coming *v)
{
	const struct pkt *k = &e->pkt[v->index];

	if (k->flags & PKT_LOST) { /* the link went down under it */
		ibcc_fab_drop(e, v->index, k->from);
		return;
	}
	e->arrived[k->from].rx[DATA]++; /* with a mark it would not be quiet */
	if (!is_for(e, k)) {
		ibcc_fab_drop(e, v->index, ibcc_fab_origin(e, k));
		return;
	}
	count_delivery(e, &e->flow[k->flow], coming_ps(v) - k->born_ps);
	pkt_give(e, v->index);
}

void ibcc_fab_quiet_count(struct ibcc_engine *e, uint64_t before)
{
	for (uint32_t i = 0; i < e->n_speeds; i++) {
		const struct way *w = &e->way[i * N_WAYS];
		struct lane *l = w->lane;

		if (w->event != EV_QUIET)
			continue;
		for (; l->head != l->tail && coming_ps(lane_ahead(l, 0)) < before; l->head++) {
			__builtin_prefetch(&e->pkt[lane_ahead(l, 8)->index]);
			__builtin_prefetch(&e->flow[e->pkt[lane_ahead(l, 4)->index].flow].sent);
			__builtin_prefetch(&e->arrived[e->pkt[lane_ahead(l, 4)->index].from]);
			count_quiet(e, lane_ahead(l, 0));
		}
	}
}

/* Takes back the credit of a quiet delivery that is yet to come. Of a sender that is short of
 * credits, it is an event already. No other credit for a channel adapter's buffer is that late.
 */
static int take_credit_back(void *arg, uint64_t t, enum ibcc_fab_event kind, uint32_t *index)
{
	const struct ibcc_engine *e = arg;

	if (kind == EV_CREDIT && *index != NO_CREDIT && t > e->now_ps + e->credit_ps &&
	    !(port_of(e, (*index >> KIND_BITS) / e->n_vls)->flags & PORT_TO_SWITCH))
		*index = NO_CREDIT;
	return 0;
}

/* Deliveries have consequences from now on (a slow sink, a closed loop): those under way become
 * events, which give the credits.
 */
int ibcc_fab_quiet_end(struct ibcc_engine *e)
{
	if (e->loud)
		return 0;
	ibcc_fab_quiet_count(e, e->now_ps + 1);
	ibcc_fab_evq_each(e, take_credit_back, e);
	for (uint32_t i = FIRST_LANE; i < e->evq.n_lanes; i++) {
		struct lane *l = &e->evq.lane[i];

		for (; l->event == EV_QUIET && l->head != l->tail; l->head++) {
			if (ibcc_fab_reserve(e, 16, 0))
				return -ENOMEM;
			evq_push(e, coming_ps(lane_ahead(l, 0)), EV_DELIVER,
				 lane_ahead(l, 0)->index);
			lane_ahead(l, 0)->with = NO_CREDIT;
		}
	}
	e->loud = WAY_LOUD;
	return 0;
}

void ibcc_fab_hca_drained(struct ibcc_engine *e, uint32_t hca)
{
	struct hca *h = &e->hca[hca];
	uint32_t pkt = h->rx;

	h->rx = e->pkt[pkt].next;
	h->draining = h->rx != NONE;
	if (h->draining)
		evq_push(e, e->now_ps + drain_ps(e, h, &e->pkt[h->rx]), EV_DRAIN, hca);
	deliver(e, h, pkt, false);
}

static ALWAYS_INLINE void hca_arrive(struct ibcc_engine *e, uint32_t pkt, bool plain)
{
	struct pkt *k = &e->pkt[pkt];
	uint32_t port = input_of(e, k);
	struct hca *h = &e->hca[e->owner[port]];

	if (k->flags & PKT_LOST) { /* the link went down under it */
		ibcc_fab_drop(e, pkt, k->from);
		return;
	}
	count_arrival(e, k, plain);
	if (!plain && e->eth && !ibcc_eth_admit(e, pkt)) {
		ibcc_fab_drop(e, pkt, port);
		return;
	}
	if (!is_for(e, k)) {
		credit_return(e, k, plain);
		ibcc_fab_drop(e, pkt, ibcc_fab_origin(e, k));
		return;
	}
	if (!h->sink_mbps && !h->draining) {
		deliver(e, h, pkt, plain);
		return;
	}
	k->next = NONE;
	if (h->draining) {
		e->pkt[h->rx_end].next = pkt;
	} else {
		h->rx = pkt;
		h->draining = true;
		evq_push(e, e->now_ps + drain_ps(e, h, k), EV_DRAIN, e->owner[port]);
	}
	h->rx_end = pkt;
}

/* By itself, so that the plain way does not save registers for it. */
static __attribute__((noinline)) void arrive_any(struct ibcc_engine *e, uint32_t pkt)
{
	hca_arrive(e, pkt, false);
}

void ibcc_fab_hca_arrive(struct ibcc_engine *e, uint32_t pkt)
{
	if (e->plain)
		hca_arrive(e, pkt, true);
	else
		arrive_any(e, pkt);
}
