/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Link level flow control (IBA vol. 1, 7.9) in blocks of 64 bytes for each VL.
 *
 * The sender's credits, those under way to it, packets on the link and packets in the receiver's
 * buffer add up to the buffer's size. Flow control packets are not modelled as such: a freed place
 * is known to the sender after the link's delay and a fixed one.
 */
#include "eth.h"
#include "tx.h"

static void watch(struct evq *q)
{
	for (uint32_t i = q->first_credit; i < MAX_CURSORS; i++) {
		const struct cursor *c = &q->cursor[i];
		const struct lane *l = &q->lane[c->lane];

		q->due[i] = c->at == l->end ? NEVER : l->ring[c->at & l->mask].t + c->delay_ps;
	}
}

void ibcc_fab_credits_drain(struct ibcc_engine *e)
{
	for (uint32_t i = e->evq.first_credit; i < MAX_CURSORS; i++) {
		struct cursor *c = &e->evq.cursor[i];
		struct lane *l = &e->evq.lane[c->lane];

		for (; c->at != l->end; c->at++) {
			const struct sent *v = &l->ring[c->at & l->mask];
			uint32_t index = v->index[SENT_CREDIT];

			if (v->t + c->delay_ps > e->now_ps)
				break;
			if (index != NO_CREDIT)
				e->outq[index >> 1].credits += (int32_t)e->blocks[index & 1];
		}
		l->waited |= c->at == l->end;
	}
}

/* Credits that have come, but whose event is yet to be taken, are not waited for. */
static bool credit_due(const struct ibcc_engine *e, const struct outq *q)
{
	for (uint32_t i = e->evq.first_credit; i < MAX_CURSORS; i++) {
		const struct cursor *c = &e->evq.cursor[i];
		const struct lane *l = &e->evq.lane[c->lane];

		for (uint32_t at = c->at; at != l->end; at++) {
			const struct sent *v = &l->ring[at & l->mask];
			uint32_t index = v->index[SENT_CREDIT];

			if (v->t + c->delay_ps > e->now_ps)
				break;
			if (index != NO_CREDIT && &e->outq[index >> 1] == q)
				return true;
		}
	}
	return false;
}

bool ibcc_fab_credits_wait(struct ibcc_engine *e, struct outq *q, unsigned int kind)
{
	if (!e->evq.n_want)
		ibcc_fab_credits_drain(e);
	if (q->credits >= (int32_t)e->blocks[kind])
		return true;
	if (!credit_due(e, q))
		q->flags |= OUTQ_STARVED;
	if (!(q->flags & OUTQ_WANT)) {
		q->flags |= OUTQ_WANT;
		if (!e->evq.n_want++)
			watch(&e->evq);
	}
	return false;
}

void ibcc_fab_credits_met(struct ibcc_engine *e, struct outq *q)
{
	if (q->flags & OUTQ_WANT) {
		q->flags &= (uint8_t)~OUTQ_WANT;
		e->evq.n_want--;
	}
}

void ibcc_fab_credits_come(struct ibcc_engine *e, uint32_t index)
{
	struct outq *q;

	if (index == NO_CREDIT)
		return;
	q = &e->outq[index >> 1];
	q->credits += (int32_t)e->blocks[index & 1];
	if (q->flags & OUTQ_WANT) {
		ibcc_fab_credits_met(e, q);
		port_look(e, (index >> 1) / e->n_vls);
	}
}

struct taking {
	uint32_t first, n; /* outqs */
};

static int take_credit(void *arg, uint64_t t, enum ibcc_fab_event kind, uint32_t *index)
{
	const struct taking *k = arg;

	(void)t;
	if (kind == EV_CREDIT && *index != NO_CREDIT && (*index >> 1) - k->first < k->n)
		*index = NO_CREDIT;
	return 0;
}

void ibcc_fab_credits_forget(struct ibcc_engine *e, uint32_t port)
{
	struct taking k = { port * e->n_vls, e->n_vls };

	ibcc_fab_evq_each(e, take_credit, &k);
}

static void take_back(struct ibcc_engine *e, uint32_t pkt, uint32_t in_port)
{
	for (; pkt != NONE; pkt = e->pkt[pkt].next) {
		const struct pkt *k = &e->pkt[pkt];
		struct outq *q = port_outq(e, e->port[in_port].peer, k->vl);

		if (k->port == in_port)
			q->credits -= (int32_t)e->blocks[pkt_kind(k)];
	}
}

/* A link comes up: its sender's credits are what the receiver's buffer has free. */
void ibcc_fab_credits_init(struct ibcc_engine *e, uint32_t in_port)
{
	const struct port *in = &e->port[in_port];
	bool is_switch = in->flags & PORT_SWITCH;
	uint32_t size = is_switch ? e->model.buffer_bytes : e->model.hca_buffer_bytes;

	if (in->peer == NONE || e->eth)
		return; /* PAUSE is kept by both ends */
	for (unsigned int vl = 0; vl < e->n_vls; vl++) {
		struct outq *q = port_outq(e, in->peer, vl);

		q->credits = (int32_t)(size / IBCC_LINK_CREDIT_BYTES);
		q->flags &= (uint8_t)~OUTQ_STARVED;
		ibcc_fab_credits_met(e, q);
	}
	if (!is_switch) {
		take_back(e, e->hca[in->owner].rx, in_port);
		return;
	}
	for (unsigned int o = 1; o < in->n_in; o++) {
		const struct port *out = &e->port[e->sw[in->owner].first_port + o];

		for (unsigned int i = 0; i < e->n_slots * e->n_vls; i++)
			take_back(e, e->voq[out->voq + i].head, in_port);
	}
}
