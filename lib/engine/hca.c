/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a channel adapter's port sends, and in which order.
 *
 * Entries that may be sent now stand in one heap for each SL: flows with a packet due, and queue
 * pairs with packets that were passed over while they were throttled. An entry's key is its
 * packet's time of arrival, or, if flows are served in turn, when the entry was served last.
 * Throttled entries are in no heap; EV_QP or EV_GATE brings them back when their delay is over.
 * ACKs and CNPs go first, in the order in which they were ready, and are never throttled.
 *
 * Begin with ibcc_fab_hca_send(). A flow goes around flow_arm() -> heap -> send_flow() ->
 * flow_ready().
 */
#include <errno.h>
#include <stdlib.h>

#include "dcqcn.h"
#include "endpoint.h"
#include "eth.h"
#include "messages.h"
#include "paths.h"
#include "qps.h"
#include "reaction.h"
#include "ready.h"
#include "traffic.h"
#include "tx.h"
#include "vlarb.h"

static struct hca *group_hca(struct ibcc_engine *e, const struct group *g)
{
	return &e->hca[e->owner[g->port]];
}

/* n more entries of a group may be sent: counts them, and wakes a busy port's EV_FREE. */
static ALWAYS_INLINE void group_count(struct ibcc_engine *e, const struct group *g, uint32_t n)
{
	struct port *p = port_of(e, g->port);

	if (g->vl >= e->n_vls || !n)
		return;
	if (!(p->flags & PORT_UP)) {
		outq_hold(e, g->port, g->vl, n);
		return;
	}
	outq_add(e, g->port, g->vl, n, false);
	if (port_busy(e, p))
		free_wake(e, p);
}

static void group_uncount(struct ibcc_engine *e, const struct group *g, uint32_t n)
{
	if (g->vl < e->n_vls)
		outq_sub(e, g->port, g->vl, n);
}

/* How many entries of a group may be sent, as XmitWait counts them. */
static uint32_t group_queued(const struct group *g)
{
	return g->n_ctrl + (g->gated ? 0 : g->n_ready);
}

/* The key of an entry. In round robin the entry that was served longest ago has the turn. So one
 * that rests after each packet keeps its turn among the others, if it is ready when that comes.
 */
static uint64_t ready_key(const struct ibcc_engine *e, uint64_t arrival_ps, uint64_t turn)
{
	return e->model.hca_service == IBCC_HCA_ROUND_ROBIN ? turn : arrival_ps;
}

static void make_ready(struct ibcc_engine *e, struct group *g, uint64_t arrival_ps, uint32_t id,
		       uint64_t turn)
{
	/* One place more: 0 is the sentinel's. */
	if (g->n_ready + 2 > g->cap_ready) {
		e->err = ibcc_fab_grow(&g->ready, &g->cap_ready, g->n_ready + 2, sizeof(*g->ready));
		if (e->err)
			return;
	}
	ready_push(g, (struct ready){ ready_key(e, arrival_ps, turn), id });
	if (!g->gated) {
		group_hca(e, g)->data_sls |= (uint16_t)(1u << g->sl);
		group_count(e, g, 1);
	}
}

/* Sets the one event that wakes all flows waiting for a queue pair. One event may set any number
 * of alarms, so each reserves its own memory.
 */
static void qp_alarm(struct ibcc_engine *e, uint32_t qp)
{
	struct qp *q = &e->qp[qp];

	if (q->pending)
		return;
	if (ibcc_fab_reserve(e, 16, 0)) {
		e->err = -ENOMEM;
		return;
	}
	q->pending = true;
	evq_push(e, q->ready_ps, EV_QP, qp);
}

static bool is_full(const struct ibcc_engine *e, uint32_t n)
{
	return e->model.adapter_packets && n >= e->model.adapter_packets;
}

/* Whether a flow does not wait for the queue pair of the packet at its head, but goes on to the
 * next one.
 */
static bool passes_over(const struct flow *f)
{
	return f->uniform && ibcc_arrivals_paced(f->kind);
}

/* The packet of a throttled queue pair waits with it. False: out of memory. */
static bool defer(struct ibcc_engine *e, uint32_t flow, uint32_t qp, uint64_t arrival_ps)
{
	struct qp *q = &e->qp[qp];
	uint32_t c;

	e->err = ibcc_fab_reserve(e, 16, 0);
	if (e->err)
		return false;
	c = cell_take(e);
	e->cell[c].t = arrival_ps;
	e->cell[c].arg = flow;
	e->cell[c].next = NONE;
	if (q->defer == NONE) {
		q->defer = c;
		qp_alarm(e, qp);
	} else {
		e->cell[q->defer_end].next = c;
	}
	q->defer_end = c;
	q->n_deferred++;
	e->flow[flow].n_deferred++;
	return true;
}

/* The packet at a flow's head is deferred, or lost if its queue pair has too many. False: out of
 * memory.
 */
static bool pass_over(struct ibcc_engine *e, uint32_t flow, uint32_t qp, uint64_t arrival_ps)
{
	struct flow *f = &e->flow[flow];

	if (is_full(e, e->qp[qp].n_deferred))
		f->refused++;
	else if (!defer(e, flow, qp, arrival_ps))
		return false;
	ibcc_fab_head_take(e, f);
	return true;
}

/* A flow sleeps until its next packet is due, or until an answer wakes it. */
static void flow_sleep(struct ibcc_engine *e, uint32_t flow, uint64_t due)
{
	if (has_ends(e))
		ibcc_ends_sleep(e, flow, due);
	if (due != NEVER)
		evq_push(e, due, EV_FLOW, flow);
}

static void wait_for_qp(struct ibcc_engine *e, uint32_t flow, uint32_t qp)
{
	struct qp *q = &e->qp[qp];

	e->flow[flow].next = NONE;
	if (q->wait == NONE)
		q->wait = flow;
	else
		e->flow[q->wait_end].next = flow;
	q->wait_end = flow;
	qp_alarm(e, qp);
}

/* The queue pair of the packet at a flow's head, or NONE. Where its limiter may be that of another
 * pair, it gets its state now, and rests with that one.
 */
static ALWAYS_INLINE uint32_t ready_pair(struct ibcc_engine *e, const struct flow *f, bool plain)
{
	uint32_t qp = head_qp(e, f);
	uint64_t rest_ps;

	if (plain || qp != NONE || !ibcc_dcqcn_shares(e))
		return qp;
	rest_ps = ibcc_dcqcn_rest_ps(e, f->group, f->dst);
	qp = ibcc_fab_qp_get(e, f->group, f->dst);
	if (qp == NONE)
		e->err = -ENOMEM;
	else
		e->qp[qp].ready_ps = rest_ps;
	return qp;
}

/* True and *arrival_ps: the flow's next packet may be sent now, and when it arrived. Otherwise puts
 * the flow to sleep until a packet is due, or its queue pair may send. A uniform flow whose packet
 * is throttled passes it over and looks at its next one. The flow must neither sleep nor stand in
 * the heap.
 */
static ALWAYS_INLINE bool flow_ready(struct ibcc_engine *e, uint32_t flow, uint64_t *arrival_ps,
				     bool plain)
{
	struct flow *f = &e->flow[flow];
	uint64_t due;
	uint32_t qp;

	do {
		due = head_ps(e, f);
		if (due > e->now_ps) {
			flow_sleep(e, flow, due);
			return false;
		}
		if (f->uniform && f->kind == IBCC_ARRIVALS_BACKLOGGED)
			head_to(e, f, ibcc_fab_pick_dst(e, f));
		qp = ready_pair(e, f, plain);
		*arrival_ps = due;
		if (qp == NONE ||
		    (qp_rested(e, qp) && (e->qp[qp].defer == NONE || !passes_over(f))))
			return true;
		if (!passes_over(f)) {
			wait_for_qp(e, flow, qp);
			return false;
		}
	} while (pass_over(e, flow, qp, due));
	return false;
}

/* Puts a flow into its group's heap, or to sleep. */
static void flow_arm(struct ibcc_engine *e, uint32_t flow)
{
	struct flow *f = &e->flow[flow];
	uint64_t due;

	if (flow_ready(e, flow, &due, false))
		make_ready(e, &e->group[f->group], due, flow, f->turn);
}

/* Puts a queue pair with deferred packets into its group's heap, or sets its alarm. */
static void deferred_arm(struct ibcc_engine *e, uint32_t qp)
{
	struct qp *q = &e->qp[qp];

	if (q->defer == NONE || q->ready)
		return;
	q->ready = q->ready_ps <= e->now_ps;
	if (q->ready)
		make_ready(e, &e->group[q->group], e->cell[q->defer].t, qp | READY_QP, q->turn);
	else
		qp_alarm(e, qp);
}

void ibcc_fab_flow_due(struct ibcc_engine *e, uint32_t flow)
{
	if (has_ends(e) && !ibcc_ends_woken(e, flow))
		return;
	flow_arm(e, flow);
	ibcc_fab_hca_send(e, e->flow[flow].src_port);
}

/* Wakes what waits for a queue pair whose delay is over. */
static void qp_wake(struct ibcc_engine *e, uint32_t qp)
{
	uint32_t flow = e->qp[qp].wait;

	deferred_arm(e, qp);
	e->qp[qp].wait = NONE;
	while (flow != NONE) {
		uint32_t next = e->flow[flow].next;

		flow_arm(e, flow);
		flow = next;
	}
}

/* EV_QP: the delay of a queue pair is over, unless it was extended. Queue pairs that rest together
 * wake together, so that the adapter's order of service decides among them.
 */
void ibcc_fab_qp_due(struct ibcc_engine *e, uint32_t qp)
{
	struct qp *q = &e->qp[qp];
	uint32_t port = e->group[q->group].port, other;

	q->pending = false;
	if (q->ready_ps > e->now_ps) {
		qp_alarm(e, qp);
		return;
	}
	qp_wake(e, qp);
	for (unsigned int sl = 0; sl < IBCC_CC_SLS && ibcc_dcqcn_shares(e); sl++) {
		other = ibcc_dcqcn_sharer(e, qp, sl);
		if (other != NONE && other != qp)
			qp_wake(e, other);
	}
	ibcc_fab_hca_send(e, port);
}

static inline void front_pop(struct hca *h, struct group *g)
{
	ready_pop(g);
	if (!g->n_ready)
		h->data_sls &= (uint16_t) ~(1u << g->sl);
}

static ALWAYS_INLINE uint32_t ready_qp(const struct ibcc_engine *e, uint32_t id)
{
	return id & READY_QP ? id & ~READY_QP : head_qp(e, &e->flow[id]);
}

/* Takes the first entry out of a heap, which may not be sent any more. */
static __attribute__((noinline)) void front_unready(struct ibcc_engine *e, struct group *g)
{
	uint32_t id = g->ready[1].id;

	front_pop(group_hca(e, g), g);
	group_uncount(e, g, 1);
	if (id & READY_QP) {
		e->qp[id & ~READY_QP].ready = false;
		deferred_arm(e, id & ~READY_QP);
	} else {
		flow_arm(e, id);
	}
}

/* Removes entries from the front of a heap that may not be sent any more: another flow has used
 * their queue pair, or an acknowledgement came. True and *qp: the front may be sent, by that queue
 * pair or NONE.
 */
static ALWAYS_INLINE bool front_ready(struct ibcc_engine *e, struct group *g, uint32_t *qp)
{
	while (g->n_ready) {
		uint32_t id = g->ready[1].id;

		*qp = ready_qp(e, id);
		if (qp_rested(e, *qp) && (!has_ends(e) || ibcc_ends_still_due(e, id)))
			return true;
		front_unready(e, g);
	}
	return false;
}

/* Whether the SL rests as a whole, as in SL mode of annex A10. */
static bool gates(const struct ibcc_engine *e, const struct group *g)
{
	return g->sl_mode && e->control == CONTROL_A10;
}

/* Makes the queue pair of a packet that is sent now rest after it, as annex A10 has it. In SL mode
 * gate() does that for the whole SL.
 */
static ALWAYS_INLINE void throttle(struct ibcc_engine *e, const struct hca *h,
				   const struct group *g, const struct pkt *k, uint32_t qp,
				   unsigned int kind)
{
	uint64_t delay = g->sl_mode ? 0 : delay_ps(e, h, g, qp, kind);

	if (delay)
		qp = pkt_qp(e, k);
	if (delay && qp != NONE)
		e->qp[qp].ready_ps =
			e->now_ps + e->speed[port_of(e, g->port)->speed].pkt_ps[kind] + delay;
}

/* In SL mode: no data packet of the group may be sent until the delay after the one that is sent
 * now is over (EV_GATE).
 */
static void gate(struct ibcc_engine *e, struct hca *h, struct group *g, unsigned int kind)
{
	uint64_t delay = gates(e, g) ? delay_ps(e, h, g, NONE, kind) : 0;

	if (!delay)
		return;
	group_uncount(e, g, g->n_ready);
	g->gated = true;
	h->data_sls &= (uint16_t) ~(1u << g->sl);
	evq_push(e, port_of(e, g->port)->busy_ps + delay, EV_GATE, (uint32_t)(g - e->group));
}

void ibcc_fab_gate_open(struct ibcc_engine *e, uint32_t group)
{
	struct group *g = &e->group[group];

	g->gated = false;
	if (!g->n_ready)
		return;
	group_hca(e, g)->data_sls |= (uint16_t)(1u << g->sl);
	group_count(e, g, g->n_ready);
	ibcc_fab_hca_send(e, g->port);
}

/* Takes an entry's place among those that wait, and puts its packet on the link. `stays`: another
 * entry comes in its place.
 */
static ALWAYS_INLINE void tx_from_hca(struct ibcc_engine *e, const struct group *g, uint32_t pkt,
				      bool stays, bool plain)
{
	if (stays)
		outq_wait(e, g->port, g->vl, plain);
	else
		outq_take(e, g->port, g->vl, plain);
	tx_start(e, g->port, g->vl, pkt, false, plain);
}

/* Makes a flow's packet to port `dst` by a queue pair, or NONE, and throttles the latter. The plain
 * model has annex A10 alone.
 */
static ALWAYS_INLINE uint32_t packet_new(struct ibcc_engine *e, const struct hca *h,
					 const struct group *g, uint32_t flow, uint32_t dst,
					 uint32_t qp, bool plain)
{
	unsigned int kind = plain ? DATA : e->flow[flow].size;
	uint32_t pkt = pkt_take(e);

	if (qp == NONE && e->all_qps) {
		qp = ibcc_fab_qp_get(e, e->flow[flow].group, dst);
		if (qp == NONE)
			e->err = -ENOMEM;
	}
	e->pkt[pkt] = (struct pkt){ .born_ps = e->now_ps,
				    .flow = flow,
				    .qp = qp != NONE ? qp : dst | BARE_QP,
				    .dlid = e->lid[dst].first,
				    .sl = g->sl };
	if (kind != DATA)
		e->pkt[pkt].flags = (uint8_t)(kind - CTRL) << PKT_OTHER_SHIFT;
	e->injected++;
	if (!plain && e->paths && qp != NONE)
		ibcc_paths_sent(e, qp, pkt);
	switch (plain ? CONTROL_A10 : e->control) {
	case CONTROL_A10: throttle(e, h, g, &e->pkt[pkt], qp, kind); break;
	case CONTROL_BCN: ibcc_bcn_sent(e, qp, pkt); break;
	case CONTROL_DCQCN: ibcc_dcqcn_sent_by(e, qp, kind); break;
	}
	return pkt;
}

/* Sends the first of a queue pair's deferred packets. */
static void send_deferred(struct ibcc_engine *e, struct hca *h, struct group *g, uint32_t qp)
{
	struct qp *q = &e->qp[qp];
	uint32_t c = q->defer, flow = e->cell[c].arg;
	uint32_t pkt = packet_new(e, h, g, flow, q->dst_port, qp, false);

	e->flow[flow].sent++;
	front_pop(h, g);
	tx_from_hca(e, g, pkt, false, false);
	gate(e, h, g, e->flow[flow].size);
	q->defer = e->cell[c].next;
	cell_give(e, c);
	e->flow[flow].n_deferred--;
	q->n_deferred--;
	q->turn = ++h->turn;
	q->ready = false;
	deferred_arm(e, qp);
}

/* Sends a flow's packet. If the next one may follow, which is most often so, the flow stays in the
 * heap and in the port's count. `plain`: the SL is not in SL mode either.
 */
static ALWAYS_INLINE void send_flow(struct ibcc_engine *e, struct hca *h, struct group *g,
				    uint32_t flow, uint32_t qp, bool plain)
{
	struct flow *f = &e->flow[flow];
	uint32_t pkt = packet_new(e, h, g, flow, f->dst, qp, plain), sent_by = f->group;
	bool gated = !plain && gates(e, g), again = false, ready, stays;
	uint64_t due;

	if (has_ends(e))
		again = ibcc_ends_sent(e, flow, pkt);
	else if (f->kind == IBCC_ARRIVALS_CLOSED)
		e->pkt[pkt].clock = messages_send(e, f);
	if (!again) {
		f->sent++;
		head_take(e, f);
	}
	f->turn = ++h->turn;
	ready = !gated && flow_ready(e, flow, &due, plain);
	stays = ready && (plain || f->group == sent_by);
	if (stays)
		ready_replace(g, (struct ready){ ready_key(e, due, f->turn), flow });
	else
		front_pop(h, g);
	tx_from_hca(e, g, pkt, stays, plain);
	if (ready && !stays) /* the path of the next packet has another SL */
		make_ready(e, &e->group[f->group], due, flow, f->turn);
	if (gated) {
		gate(e, h, g, f->size);
		flow_arm(e, flow);
	}
}

/* Whether a group's VL is in a mask of VLs; a group whose SL maps to no VL is in none. */
static ALWAYS_INLINE bool is_of(const struct group *g, uint32_t vls, bool plain)
{
	return plain ? !g->vl : g->vl < 32 && vls >> g->vl & 1;
}

static __attribute__((noinline)) void send_ctrl(struct ibcc_engine *e, struct hca *h,
						struct group *g)
{
	uint32_t pkt = g->ctrl;

	g->ctrl = e->pkt[pkt].next;
	g->n_ctrl--;
	if (g->ctrl == NONE)
		h->ctrl_sls &= (uint16_t) ~(1u << g->sl);
	tx_from_hca(e, g, pkt, false, false);
}

/* The kind of the packet at the front of a group's heap. */
static unsigned int front_kind(const struct ibcc_engine *e, const struct group *g)
{
	uint32_t id = g->ready[1].id;

	return e->flow[id & READY_QP ? e->cell[e->qp[id & ~READY_QP].defer].arg : id].size;
}

static __attribute__((noinline)) void send_front(struct ibcc_engine *e, struct hca *h,
						 struct group *g)
{
	uint32_t id = g->ready[1].id;

	if (id & READY_QP)
		send_deferred(e, h, g, id & ~READY_QP);
	else
		send_flow(e, h, g, id, ready_qp(e, id), false);
}

/* Where paths have SLs, a flow that may not send yet may have its next packet in another heap,
 * which was empty. So all fronts are looked at before one is chosen; what comes into a heap may be
 * sent.
 */
static __attribute__((noinline)) void settle_fronts(struct ibcc_engine *e, struct hca *h)
{
	uint32_t qp;

	for (unsigned int m = h->data_sls; m; m &= m - 1)
		front_ready(e, &e->group[h->group[__builtin_ctz(m)]], &qp);
}

/* Where flows have packets of several sizes: sends the entry with the lowest key whose VL has
 * credits for it, and returns its bytes, or 0. A shorter packet does not take the credits that an
 * earlier one of its VL waits for.
 */
static __attribute__((noinline)) uint32_t send_sized(struct ibcc_engine *e, struct hca *h,
						     uint32_t vls)
{
	unsigned int sls = 0, m, kind;
	uint32_t qp;

	for (m = h->data_sls; m; m &= m - 1) {
		struct group *g = &e->group[h->group[__builtin_ctz(m)]];

		if (is_of(g, vls, false) && front_ready(e, g, &qp))
			sls |= m & -m;
	}
	while (sls) {
		struct group *best = NULL;

		for (m = sls; m; m &= m - 1) {
			struct group *g = &e->group[h->group[__builtin_ctz(m)]];

			if (!best || ready_before(&g->ready[1], &best->ready[1]))
				best = g;
		}
		kind = front_kind(e, best);
		if (credits_ok(e, port_outq(e, best->port, best->vl), kind)) {
			send_front(e, h, best);
			return e->bytes[kind];
		}
		for (m = sls; m; m &= m - 1)
			if (e->group[h->group[__builtin_ctz(m)]].vl == best->vl)
				sls &= ~(m & -m);
	}
	return 0;
}

/* Sends the next packet among the VLs of a mask: the ACK or CNP that waits longest, or if there is
 * none, the entry with the lowest key. Returns its bytes, or 0.
 */
static ALWAYS_INLINE uint32_t send_of(struct ibcc_engine *e, uint32_t port, uint32_t vls,
				      bool plain)
{
	struct hca *h = &e->hca[e->owner[port]];
	struct group *best = NULL;
	uint32_t qp, best_qp = NONE;

	for (unsigned int m = h->ctrl_sls; m; m &= m - 1) {
		struct group *g = &e->group[h->group[__builtin_ctz(m)]];

		if (is_of(g, vls, plain) && credits_ok(e, port_outq(e, port, g->vl), CTRL) &&
		    (!best || e->pkt[g->ctrl].born_ps < e->pkt[best->ctrl].born_ps))
			best = g;
	}
	if (best) {
		send_ctrl(e, h, best);
		return e->bytes[CTRL];
	}
	if (!plain && e->path_sl)
		settle_fronts(e, h);
	if (!plain && e->n_kinds > OTHER)
		return send_sized(e, h, vls);
	for (unsigned int m = h->data_sls; m; m &= m - 1) {
		struct group *g = &e->group[h->group[__builtin_ctz(m)]];

		if (is_of(g, vls, plain) && front_ready(e, g, &qp) &&
		    credits_ok(e, &e->port[outq_index(e, port, g->vl, plain)], DATA) &&
		    (!best || ready_before(&g->ready[1], &best->ready[1]))) {
			best = g;
			best_qp = qp;
		}
	}
	if (!best)
		return 0;
	/* In the plain model, what is taken out of one heap comes into no other: `best_qp` holds.
	 */
	if (plain && !(best->ready[1].id & READY_QP) && !best->sl_mode)
		send_flow(e, h, best, best->ready[1].id, best_qp, true);
	else
		send_front(e, h, best);
	return e->bytes[DATA];
}

/* By itself, so that the plain way does not save registers for it. */
static __attribute__((noinline)) uint32_t send_any(struct ibcc_engine *e, uint32_t port,
						   uint32_t vls)
{
	return send_of(e, port, vls, false);
}

uint32_t ibcc_fab_hca_send_vl(struct ibcc_engine *e, uint32_t port, unsigned int vl)
{
	return send_any(e, port, 1u << vl);
}

void ibcc_fab_hca_send(struct ibcc_engine *e, uint32_t port)
{
	const struct port *p = port_of(e, port);

	if (!p->queued || !(p->flags & PORT_UP))
		return;
	if (port_busy(e, p))
		return;
	if (e->plain)
		send_of(e, port, 1, true);
	else if (e->vlarb)
		ibcc_vlarb_send(e, port);
	else
		send_any(e, port, (1u << e->n_vls) - 1);
}

/* Queues an ACK or CNP at the port that answers. If the adapter's queue of them is full, it is
 * dropped, unless a closed loop waits for it.
 */
void ibcc_fab_ctrl_send(struct ibcc_engine *e, uint32_t pkt)
{
	struct pkt *k = &e->pkt[pkt];
	uint32_t port = qp_dst(e, k->qp);
	struct hca *h = &e->hca[e->owner[port]];
	struct group *g = &e->group[h->group[k->sl]];

	if (is_full(e, g->n_ctrl) && !e->flow[k->flow].window) {
		pkt_give(e, pkt);
		return;
	}
	k->next = NONE;
	k->born_ps = e->now_ps;
	if (g->ctrl == NONE)
		g->ctrl = pkt;
	else
		e->pkt[g->ctrl_end].next = pkt;
	g->ctrl_end = pkt;
	g->n_ctrl++;
	h->ctrl_sls |= (uint16_t)(1u << g->sl);
	group_count(e, g, 1);
	ibcc_fab_hca_send(e, port);
}

/* The group's SL maps to another VL from now on. */
void ibcc_fab_group_move(struct ibcc_engine *e, struct group *g, uint8_t vl)
{
	if (g->vl == vl)
		return;
	group_uncount(e, g, group_queued(g));
	g->vl = vl;
	group_count(e, g, group_queued(g));
	ibcc_fab_hca_send(e, g->port);
}
