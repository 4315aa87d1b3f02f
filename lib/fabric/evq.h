/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Pending events in order of time; where times are equal, those of the calendar first, then those
 * of the cursors in their order, each in the order in which they were made.
 *
 * Most events follow from a packet being sent, by delays that do not vary: its header arrives, the
 * port is free, the place that it had in a buffer has become credits at the sender before. What is
 * sent with the same delays is put into the ring of a lane, once; each of the three consequences
 * has a cursor that moves along the ring. Credits' cursors stand still while nobody waits.
 *
 * The other events lie in a calendar of one turn: bucket b holds events of [b, b + 1) << shift,
 * sorted, in a ring that begins at bucket `cur`; two levels of bit maps find the next bucket that
 * is not empty. With a few events each, putting in and taking out touch one list each. Events
 * beyond the ring wait in a heap and move when the ring's end reaches them, before anything can be
 * put directly behind them, so that the order holds.
 */
#ifndef IBCC_FABRIC_EVQ_H
#define IBCC_FABRIC_EVQ_H

#include "pool.h"

/* Sizes the calendar for about n_events within span_ps. 0 or -ENOMEM. */
int ibcc_fab_evq_init(struct evq *q, uint32_t n_events, uint64_t span_ps);
void ibcc_fab_evq_fini(struct evq *q);
/* A lane with these delays (NEVER: that does not follow), where `arrives` is what the packet does.
 * `often`: worth a ring, while cursors are left. Index or -ENOMEM.
 */
int64_t ibcc_fab_lane_new(struct evq *q, const uint64_t delay_ps[N_SENT],
			  enum ibcc_fab_event arrives, bool often);
/* Makes room for one more in a ring that seems full. False: what was sent is seen to, in the
 * calendar, or there is no memory.
 */
bool ibcc_fab_lane_room(struct ibcc_engine *e, struct lane *l, const struct sent *v);
/* Tells the cursors that stand at a lane's end what is there now. */
void ibcc_fab_lane_meet(struct evq *q, struct lane *l);
void ibcc_fab_evq_push_far(struct ibcc_engine *e, uint32_t cell);
void ibcc_fab_evq_insert(struct ibcc_engine *e, struct bucket *b, uint32_t cell);
/* Moves the ring to begin at the calendar's earliest event. */
void ibcc_fab_evq_advance(struct ibcc_engine *e);
/* Calls `see` with all pending events until it returns other than 0; it may change the index. */
int ibcc_fab_evq_each(const struct ibcc_engine *e,
		      int (*see)(void *arg, uint64_t t, enum ibcc_fab_event kind, uint32_t *index),
		      void *arg);

static inline uint32_t event_arg(enum ibcc_fab_event kind, uint32_t index)
{
	return (uint32_t)kind << CELL_KIND_SHIFT | index;
}

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
	e->cell[c].arg = event_arg(kind, index);
	if (t < q->due[0])
		q->due[0] = t;
	if (b < q->cur) /* the ring stands at the next event, which is later */
		b = q->cur;
	if (b - q->cur < q->n_buckets)
		evq_push_near(e, b, c);
	else
		ibcc_fab_evq_push_far(e, c);
}

/* Puts a packet that is sent now into a lane: its events will follow. */
static inline void lane_push(struct ibcc_engine *e, uint32_t lane, struct sent v)
{
	struct lane *l = &e->evq.lane[lane];

	if (l->end - l->begin > l->mask && !ibcc_fab_lane_room(e, l, &v))
		return;
	l->ring[l->end & l->mask] = v;
	if (l->waited)
		ibcc_fab_lane_meet(&e->evq, l);
	l->end++;
}

/* The cursor of the earliest event, 0: the calendar; it is at due[]. */
static inline uint32_t evq_first(const struct evq *q)
{
	uint64_t t = q->due[0];
	uint32_t first = 0;

	for (uint32_t i = 1; i < q->n_watched; i++) {
		first = q->due[i] < t ? i : first;
		t = q->due[i] < t ? q->due[i] : t;
	}
	for (uint32_t i = q->n_want ? q->first_credit : MAX_CURSORS; i < MAX_CURSORS; i++) {
		first = q->due[i] < t ? i : first;
		t = q->due[i] < t ? q->due[i] : t;
	}
	return first;
}

/* What a cursor will come to, or something that it has passed. */
static inline const struct sent *cursor_ahead(const struct evq *q, uint32_t cursor, uint32_t n)
{
	const struct cursor *c = &q->cursor[cursor];
	const struct lane *l = &q->lane[c->lane];

	return &l->ring[(c->at + n) & l->mask];
}

/* Moves a cursor over its next event; its index. */
static inline uint32_t cursor_pass(struct evq *q, uint32_t cursor)
{
	struct cursor *c = &q->cursor[cursor];
	struct lane *l = &q->lane[c->lane];
	uint32_t index = l->ring[c->at & l->mask].index[c->what];

	if (++c->at != l->end) {
		q->due[cursor] = l->ring[c->at & l->mask].t + c->delay_ps;
	} else {
		q->due[cursor] = NEVER;
		l->waited = true;
	}
	return index;
}

/* Takes the calendar's first event. */
static inline uint32_t calendar_pop(struct ibcc_engine *e)
{
	struct evq *q = &e->evq;
	struct bucket *b = &q->bucket[q->cur & (q->n_buckets - 1)];
	uint32_t c = b->head, arg;

	if (c == NONE) {
		ibcc_fab_evq_advance(e);
		b = &q->bucket[q->cur & (q->n_buckets - 1)];
		c = b->head;
	}
	b->head = e->cell[c].next;
	if (b->head != NONE)
		q->due[0] = e->cell[b->head].t;
	else
		ibcc_fab_evq_advance(e);
	arg = e->cell[c].arg;
	cell_give(e, c);
	return arg;
}

#endif
