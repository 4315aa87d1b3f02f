/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Pending events in order of time, and of insertion where times are equal.
 *
 * A calendar of one turn: bucket b holds events of [b, b + 1) << shift, sorted, in a ring that
 * begins at bucket `cur`; two levels of bit maps find the next bucket that is not empty. With a
 * few events each, putting in and taking out touch one list each. Events beyond the
 * ring wait in a heap and move when the ring's end reaches them, before anything can be put
 * directly behind them, so that the order holds.
 */
#ifndef IBCC_FABRIC_EVQ_H
#define IBCC_FABRIC_EVQ_H

#include "pool.h"

/* Sizes the calendar for about n_events within span_ps. 0 or -ENOMEM. */
int ibcc_fab_evq_init(struct evq *q, uint32_t n_events, uint64_t span_ps);
void ibcc_fab_evq_fini(struct evq *q);
void ibcc_fab_evq_push_far(struct ibcc_engine *e, uint32_t cell);
/* Moves the ring to begin at bucket `cur` and fills it from the heap. */
void ibcc_fab_evq_advance(struct ibcc_engine *e, uint64_t cur);
void ibcc_fab_evq_insert(struct ibcc_engine *e, struct bucket *b, uint32_t cell);

static inline void evq_push_near(struct ibcc_engine *e, uint64_t bucket, uint32_t c)
{
	struct evq *q = &e->evq;
	uint32_t i = (uint32_t)bucket & (q->n_buckets - 1);
	struct bucket *b = &q->bucket[i];

	if (b->head == NONE) {
		e->cell[c].next = NONE;
		b->head = b->tail = c;
		q->bits[i >> 6] |= 1ull << (i & 63);
		q->sum[i >> 12] |= 1ull << (i >> 6 & 63);
	} else if (e->cell[b->tail].t <= e->cell[c].t) {
		e->cell[c].next = NONE;
		e->cell[b->tail].next = c;
		b->tail = c;
	} else {
		ibcc_fab_evq_insert(e, b, c);
	}
}

static inline void evq_push(struct ibcc_engine *e, uint64_t t, enum ibcc_fab_event kind,
			    uint32_t index)
{
	struct evq *q = &e->evq;
	uint32_t c = cell_take(e);
	uint64_t b = t >> q->shift;

	e->cell[c].t = t;
	e->cell[c].arg = (uint32_t)kind << CELL_KIND_SHIFT | index;
	if (b < q->cur) /* the ring stands at the next event, which is later */
		b = q->cur;
	if (b - q->cur < q->n_buckets)
		evq_push_near(e, b, c);
	else
		ibcc_fab_evq_push_far(e, c);
}

/* Number of buckets from `cur` to the first that is not empty, or NONE. */
static inline uint32_t evq_distance(const struct evq *q)
{
	uint32_t i = (uint32_t)q->cur & (q->n_buckets - 1), w = i >> 6, s = w >> 6, hit;
	uint64_t m = q->bits[w] & ~0ull << (i & 63);

	if (!m) {
		uint32_t k = 0;
		uint64_t f = (w & 63) == 63 ? 0 : q->sum[s] & ~0ull << ((w & 63) + 1);

		while (!f && k++ < q->n_sum) {
			s = s + 1 == q->n_sum ? 0 : s + 1;
			f = q->sum[s];
		}
		if (!f)
			return NONE;
		w = s << 6 | (uint32_t)__builtin_ctzll(f);
		m = q->bits[w];
	}
	hit = w << 6 | (uint32_t)__builtin_ctzll(m);
	return (hit - i) & (q->n_buckets - 1);
}

/* Fetches what the next event will touch first while this one is handled. */
static inline void evq_prefetch(const struct ibcc_engine *e, uint32_t c)
{
	uint32_t kind = e->cell[c].arg >> CELL_KIND_SHIFT, i = e->cell[c].arg & CELL_INDEX_MASK;

	if (kind == EV_ARRIVE)
		__builtin_prefetch(&e->pkt[i]);
	else if (kind == EV_WAKE)
		__builtin_prefetch(port_outq(e, i, 0));
}

/* Takes the earliest event if it is not after until_ps; NONE if there is none. */
static inline uint32_t evq_pop(struct ibcc_engine *e, uint64_t until_ps)
{
	struct evq *q = &e->evq;
	uint32_t i = (uint32_t)q->cur & (q->n_buckets - 1), c;
	struct bucket *b = &q->bucket[i];

	if (b->head == NONE) {
		uint32_t d = evq_distance(q);

		if (d == NONE && !q->n_far)
			return NONE;
		ibcc_fab_evq_advance(e, d == NONE ? q->far[0].t >> q->shift : q->cur + d);
		i = (uint32_t)q->cur & (q->n_buckets - 1);
		b = &q->bucket[i];
	}
	c = b->head;
	if (e->cell[c].t > until_ps)
		return NONE;
	b->head = e->cell[c].next;
	if (b->head != NONE) {
		evq_prefetch(e, b->head);
	} else {
		q->bits[i >> 6] &= ~(1ull << (i & 63));
		if (!q->bits[i >> 6])
			q->sum[i >> 12] &= ~(1ull << (i >> 6 & 63));
	}
	return c;
}

#endif
