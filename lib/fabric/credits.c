/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Link level flow control (IBA vol. 1, 7.9) in blocks of 64 bytes for each VL.
 *
 * The sender's credits, those under way to it, packets on the link and packets in the receiver's
 * buffer add up to the buffer's size. Flow control packets are not modelled as such: a freed place
 * is known to the sender after the link's delay and a fixed one.
 */
#include "eth.h"
#include "tx.h"

bool ibcc_fab_credits_wait(struct ibcc_engine *e, uint32_t port, struct outq *q, int32_t need)
{
	int32_t sum;

	credits_collect(e, q);
	if (q->credits >= need)
		return true;
	q->flags |= OUTQ_STARVED;
	sum = q->credits;
	for (uint32_t c = q->ret; c != NONE; c = e->cell[c].next) {
		sum += (int32_t)e->cell[c].arg;
		if (sum >= need) {
			port_wake(e, port, e->cell[c].t);
			return false;
		}
	}
	q->flags |= OUTQ_WANT;
	return false;
}

void ibcc_fab_credits_return(struct ibcc_engine *e, uint32_t in_port, unsigned int vl,
			     unsigned int kind, uint64_t t)
{
	uint32_t sender = e->credit_to[in_port], c, *at;
	struct outq *q;

	if (sender == NONE) {
		if (e->eth)
			ibcc_eth_release(e, in_port, e->bytes[kind], t);
		return; /* credits are counted anew when the link comes up */
	}
	q = port_outq(e, sender, vl);
	t += e->credit_ps;
	c = cell_take(e);
	e->cell[c].t = t;
	e->cell[c].arg = e->blocks[kind];
	if (q->ret == NONE || e->cell[q->ret_end].t <= t) {
		e->cell[c].next = NONE;
		if (q->ret == NONE)
			q->ret = c;
		else
			e->cell[q->ret_end].next = c;
		q->ret_end = c;
	} else { /* a faster output frees its packet before a slower one that began earlier */
		for (at = &q->ret; e->cell[*at].t <= t;)
			at = &e->cell[*at].next;
		e->cell[c].next = *at;
		*at = c;
	}
	if (q->flags & OUTQ_WANT) {
		q->flags &= (uint8_t)~OUTQ_WANT;
		port_wake(e, sender, later(t, e->port[sender].busy_ps));
	}
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

		while (q->ret != NONE) {
			uint32_t c = q->ret;

			q->ret = e->cell[c].next;
			cell_give(e, c);
		}
		q->credits = (int32_t)(size / IBCC_LINK_CREDIT_BYTES);
		q->flags &= (uint8_t) ~(OUTQ_WANT | OUTQ_STARVED);
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
