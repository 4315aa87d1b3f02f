/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The queues of packets for an output and VL (virtual output queues), and the turn among them.
 *
 * The turn goes around by number, as in a rotating arbiter: an output takes the next queue that
 * holds packets after the one that it served last. A mask says which queues hold packets. With
 * more than 64 queues, its bits say which words of a second mask (far_holds) are not 0.
 */
#ifndef IBCC_ENGINE_VOQ_H
#define IBCC_ENGINE_VOQ_H

#include "internal.h"

/* The next bit of a mask, which is not 0, after the last one. */
static inline uint32_t bit_after(uint64_t mask, uint32_t last)
{
	uint64_t behind = mask & ~1ull << last;

	return (uint32_t)__builtin_ctzll(either(behind, behind, mask));
}

/* The queue whose turn it is; one must hold packets. */
static inline uint32_t voq_turn(const struct ibcc_engine *e, uint32_t outq)
{
	const struct port *q = &e->port[outq];
	uint32_t word = q->served / VOQ_WORD;
	const uint64_t *far;
	uint64_t behind;

	if (!e->far_holds)
		return bit_after(q->holds, q->served);
	far = e->far_holds + (size_t)outq * FAR_WORDS;
	behind = far[word] & ~1ull << q->served % VOQ_WORD;
	if (!behind) {
		word = bit_after(q->holds, word);
		behind = far[word];
	}
	return word * VOQ_WORD + (uint32_t)__builtin_ctzll(behind);
}

/* Its first packet. */
static inline uint32_t voq_first(const struct ibcc_engine *e, uint32_t outq, uint32_t slot)
{
	return e->voq[outq * e->n_slots + slot].head;
}

/* Whether a queue is known to hold packets. */
static inline bool voq_holds(const struct ibcc_engine *e, uint32_t outq, uint32_t slot)
{
	uint64_t holds = e->port[outq].holds, far;

	if (!e->far_holds)
		return holds >> slot & 1;
	far = e->far_holds[(size_t)outq * FAR_WORDS + slot / VOQ_WORD];
	return far >> slot % VOQ_WORD & holds >> slot / VOQ_WORD & 1;
}

/* Puts a packet at the end of a queue. */
static inline void voq_put(struct ibcc_engine *e, uint32_t outq, uint32_t slot, uint32_t pkt)
{
	struct port *q = &e->port[outq];
	struct voq *v = &e->voq[outq * e->n_slots + slot];
	bool begins = v->head == NONE;

	/* Under load, whether the queue is empty cannot be predicted: no branch asks it. */
	e->pkt[either(begins, pkt, v->tail)].next = pkt;
	e->pkt[pkt].next = NONE;
	v->head = (uint32_t)either(begins, pkt, v->head);
	v->tail = pkt;
	if (e->far_holds) {
		e->far_holds[(size_t)outq * FAR_WORDS + slot / VOQ_WORD] |= 1ull << slot % VOQ_WORD;
		slot /= VOQ_WORD;
	}
	q->holds |= 1ull << slot;
}

/* Takes the first packet of a queue, which was served last from now on. */
static inline void voq_take(struct ibcc_engine *e, uint32_t outq, uint32_t slot)
{
	struct port *q = &e->port[outq];
	struct voq *v = &e->voq[outq * e->n_slots + slot];
	uint64_t ends;

	v->head = e->pkt[v->head].next;
	ends = v->head == NONE;
	q->served = (uint8_t)slot;
	if (e->far_holds) {
		uint64_t *far = &e->far_holds[(size_t)outq * FAR_WORDS + slot / VOQ_WORD];

		*far &= ~(ends << slot % VOQ_WORD);
		ends = !*far;
		slot /= VOQ_WORD;
	}
	q->holds &= ~(ends << slot);
}

#endif
