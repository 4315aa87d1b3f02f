/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The queues of packets for an output and VL, and the turn among them.
 *
 * Who came first to an empty queue has the first turn; a queue that holds more packets after its
 * turn goes to the end of the line. The line is a ring with more places than there are queues, so
 * that its end may be written to in any case: nothing here branches on whether a queue is empty,
 * which is as good as chance where there is much traffic. Where switches have less than 32 ports it
 * lies in the outq itself, in a cache line that is needed anyway.
 */
#ifndef IBCC_FABRIC_VOQ_H
#define IBCC_FABRIC_VOQ_H

#include "internal.h"

/* The place in the line that is n behind the first. */
static inline uint8_t *turn_at(const struct ibcc_engine *e, uint32_t outq, const struct outq *q,
			       uint32_t n)
{
	return e->line + ((size_t)outq << e->line_shift) + ((q->turn + n) & e->line_mask);
}

static inline void voq_put(struct ibcc_engine *e, uint32_t outq, uint32_t slot, uint32_t pkt)
{
	struct outq *q = &e->outq[outq];
	struct voq *v = &e->voq[outq * e->n_slots + slot];
	bool begins = v->head == NONE;

	e->pkt[either(begins, pkt, v->tail)].next = pkt;
	e->pkt[pkt].next = NONE;
	v->head = (uint32_t)either(begins, pkt, v->head);
	v->tail = pkt;
	*turn_at(e, outq, q, q->n_turn) = (uint8_t)slot;
	q->n_turn = (uint16_t)(q->n_turn + begins);
	q->first = (uint32_t)either(q->first == NONE, pkt, q->first);
}

/* Takes the first packet of the queue whose turn it is; there must be one. */
static inline uint32_t voq_take(struct ibcc_engine *e, uint32_t outq)
{
	struct outq *q = &e->outq[outq];
	struct voq *voq = &e->voq[outq * e->n_slots];
	uint32_t pkt = q->first, next = e->pkt[pkt].next;
	uint8_t slot = *turn_at(e, outq, q, 0);

	voq[slot].head = next;
	*turn_at(e, outq, q, q->n_turn) = slot;
	q->n_turn = (uint16_t)(q->n_turn - (next == NONE));
	q->turn++;
	/* Where none is left, that is some queue, and empty. */
	q->first = voq[*turn_at(e, outq, q, 0)].head;
	return pkt;
}

#endif
