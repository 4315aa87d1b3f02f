/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The event queue: pending events in the order of their times.
 *
 * Events of the same time come in this order: those of the calendar, headers at switches
 * (EV_ARRIVE), those of the other lanes in the order of their lanes, and EV_FREE last. Within
 * each, the event that was made first comes first. EV_FREE is last so that a port chooses its
 * next packet among all that has come. This order is part of the engine's results: a change of it
 * changes them.
 *
 * Most events follow a packet's transmission after a delay that does not vary: its header
 * arrives, its tail arrives, the port is free. Events of one delay stand in the ring of one lane,
 * where they are in order without sorting. The credit for the place that the packet had in a
 * buffer stands beside its EV_FREE, and is taken when a port runs short of credits (credits.c).
 * Deliveries that are only counted stand in lanes that give no events.
 *
 * All other events lie in a calendar (R. Brown, Calendar queues, Communications of the ACM 31,
 * 1988) of one turn. Bucket b holds the events of [b, b + 1) << shift, sorted, in a ring that
 * begins at bucket `cur`. Two levels of bit maps find the next bucket that is not empty. With a
 * few events each, putting in and taking out touch one list each. Events beyond the ring wait in
 * a heap. They move into the ring when its end reaches them, before an event can be put directly
 * behind them, so that the order holds.
 */
#ifndef IBCC_ENGINE_EVQ_H
#define IBCC_ENGINE_EVQ_H

#include "pool.h"

/* Sizes the calendar for about n_events within span_ps. 0 or -ENOMEM. */
int ibcc_fab_evq_init(struct evq *q, uint32_t n_events, uint64_t span_ps, uint32_t n_outqs);
void ibcc_fab_evq_fini(struct evq *q);
/* A new lane, or LANE_CALENDAR if there are too many; -ENOMEM. */
int ibcc_fab_lane_new(struct evq *q, enum ibcc_fab_event event);
/* Makes room for one more in a ring that seems full. False: there is none. */
bool ibcc_fab_lane_room(struct ibcc_engine *e, struct lane *l);
/* What lane_push() does where there is no ring. */
void ibcc_fab_lane_none(struct ibcc_engine *e, enum ibcc_fab_event event, struct coming v);
/* The slow part of free_after(). */
uint32_t ibcc_fab_free_after(const struct lane *l, uint32_t at);
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

/* Puts a cell into its bucket of the ring. Behind the last event of the bucket is the common
 * case.
 */
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

/* A time with the tag of a lane's event that is no EV_FREE. */
static inline uint64_t due_at(uint64_t t, uint32_t lane)
{
	return t << TAG_BITS | lane << 1;
}

static inline uint32_t lane_of(uint32_t tag)
{
	return tag >> 1 & (MAX_LANES - 1);
}

static inline uint64_t coming_ps(const struct coming *v)
{
	return v->due >> TAG_BITS;
}

static inline uint64_t calendar_due(uint64_t t, enum ibcc_fab_event kind)
{
	return t < MAX_DUE_PS ? t << TAG_BITS | (kind == EV_FREE ? TAG_OF_FREE : 0) : NEVER;
}

/* Puts an event into the calendar, or into the heap beyond it. A cell must be free: the caller
 * has reserved it.
 */
static inline void evq_push(struct ibcc_engine *e, uint64_t t, enum ibcc_fab_event kind,
			    uint32_t index)
{
	struct evq *q = &e->evq;
	uint32_t c = cell_take(e);
	uint64_t due = calendar_due(t, kind), b = due >> q->shift;

	e->cell[c].t = due;
	e->cell[c].arg = event_arg(kind, index);
	if (due < q->due[LANE_CALENDAR])
		q->due[LANE_CALENDAR] = due;
	if (b < q->cur) /* the ring stands at the next event, which is later */
		b = q->cur;
	if (b - q->cur < q->n_buckets)
		evq_push_near(e, b, c);
	else
		ibcc_fab_evq_push_far(e, c);
}

/* Whether credits stand beside the events of a lane. */
static inline bool lane_has_credits(const struct lane *l)
{
	return l->ring && (l->event == EV_FREE || l->event == EV_QUIET || l->event == EV_CREDIT);
}

/* Puts an event into a lane, where none before it is later. */
static inline void lane_push(struct ibcc_engine *e, struct lane *l, enum ibcc_fab_event event,
			     struct coming v)
{
	if (l->tail == l->full && !ibcc_fab_lane_room(e, l)) {
		ibcc_fab_lane_none(e, event, v);
		return;
	}
	l->ring[l->tail & l->mask] = v;
	if (l->head == l->tail)
		e->evq.due[l->watch] = v.due;
	l->tail++;
}

static inline uint64_t sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The earliest event's time, with its tag in the lowest bits. Two by two, for a processor to
 * compare side by side; the first six are all that there are where all links have one rate.
 */
static inline uint64_t evq_first(const struct evq *q)
{
	const uint64_t *d = q->due;
	uint64_t a = sooner(d[0], d[1]), b = sooner(d[2], d[3]), c = sooner(d[4], d[5]);

	a = sooner(a, sooner(b, c));
	for (uint32_t i = 6; i < q->n_watched; i += 2)
		a = sooner(a, sooner(d[i], d[i + 1]));
	return a;
}

/* The n-th event of a lane from now; beyond its end, an old one, which is harmless to prefetch. */
static inline struct coming *lane_ahead(const struct lane *l, uint32_t n)
{
	return &l->ring[(l->head + n) & l->mask];
}

/* Takes a lane's next event; its index. */
static inline uint32_t lane_pop(struct evq *q, uint32_t lane)
{
	struct lane *l = &q->lane[lane];
	uint32_t index = l->ring[l->head & l->mask].index;

	if (++l->head != l->tail)
		q->due[lane] = l->ring[l->head & l->mask].due;
	else
		q->due[lane] = NEVER;
	return index;
}

/* An EV_FREE of a port with nothing to send needs no handling: it stands in the ring only for the
 * credit beside it, and is skipped unless something to send comes meanwhile (free_wake()). Returns
 * the first place from `at` on that is not skipped, or the ring's end.
 */
static inline uint32_t free_after(const struct lane *l, uint32_t at)
{
	uint32_t i = at & l->mask;
	uint64_t live = l->live[i >> 6] >> (i & 63);

	return live ? at + (uint32_t)__builtin_ctzll(live) : ibcc_fab_free_after(l, at);
}

/* Puts a port's EV_FREE into its lane. */
static inline void free_push(struct ibcc_engine *e, struct port *p, struct lane *l, struct coming v)
{
	uint64_t live = p->queued != 0;
	uint32_t i;

	if (l->tail == l->full && !ibcc_fab_lane_room(e, l)) {
		p->free_at = LANE_CALENDAR;
		ibcc_fab_lane_none(e, EV_FREE, v);
		return;
	}
	i = l->tail & l->mask;
	l->ring[i] = v;
	l->live[i >> 6] |= live << (i & 63);
	if (l->head == l->tail) {
		e->evq.due[l->watch] = live ? v.due : NEVER;
		l->head += !live;
	}
	p->free_at = l->tail << LANE_BITS | l->watch;
	l->tail++;
}

/* A busy port got something to send: its EV_FREE is not skipped any more. */
static inline void free_wake(struct ibcc_engine *e, const struct port *p)
{
	uint32_t lane = p->free_at & (MAX_LANES - 1), at = p->free_at >> LANE_BITS, i;
	struct lane *l = &e->evq.lane[lane];
	int32_t skipped; /* by how many places, with LANE_BITS more for the sign of what is left */

	if (lane == LANE_CALENDAR)
		return;
	i = at & l->mask;
	l->live[i >> 6] |= 1ull << (i & 63);
	skipped = (int32_t)((l->head - at) << LANE_BITS);
	if (skipped > 0) {
		l->head -= (uint32_t)skipped >> LANE_BITS;
		e->evq.due[lane] = l->ring[i].due;
	}
}

/* The first EV_FREE of a lane is over: finds the one that follows. */
static inline void free_next(struct evq *q, uint32_t lane)
{
	struct lane *l = &q->lane[lane];
	uint32_t i = l->head & l->mask;

	l->live[i >> 6] &= ~(1ull << (i & 63));
	l->head = free_after(l, l->head + 1);
	if (l->head != l->tail)
		q->due[lane] = l->ring[l->head & l->mask].due;
	else
		q->due[lane] = NEVER;
}

/* Takes a lane's next EV_FREE; its port. */
static inline uint32_t free_pop(struct evq *q, uint32_t lane)
{
	const struct lane *l = &q->lane[lane];
	uint32_t port = l->ring[l->head & l->mask].index;

	free_next(q, lane);
	return port;
}

/* Whether a port may not choose a packet now. It may not while it sends, nor at the time at which
 * it ends until its EV_FREE has come, which is after all else that happens at that time.
 */
static inline bool port_busy(const struct ibcc_engine *e, const struct port *p)
{
	return p->busy_ps + (p->flags >> PORT_SENT_SHIFT & 1) > e->now_ps;
}

/* A port's EV_FREE has come: whether the port is free. If the link went down and up meanwhile, it
 * may be a former one.
 */
static inline bool port_free(const struct ibcc_engine *e, struct port *p)
{
	if (p->busy_ps > e->now_ps)
		return false;
	p->flags &= (uint8_t)~PORT_SENT;
	return true;
}

/* The calendar's first event; 0: it is empty. */
static inline uint32_t calendar_ahead(const struct ibcc_engine *e)
{
	uint32_t c = e->evq.bucket[e->evq.cur & (e->evq.n_buckets - 1)].head;

	return c == NONE ? 0 : e->cell[c].arg;
}

/* The bucket of the present time has become empty. The next one is most often near. */
static inline void calendar_next(struct ibcc_engine *e)
{
	struct evq *q = &e->evq;
	uint32_t i = (uint32_t)q->cur & (q->n_buckets - 1), d;
	uint64_t near = q->bits[i >> 6] & ~1ull << (i & 63);

	if (!near) {
		ibcc_fab_evq_advance(e);
		return;
	}
	d = (uint32_t)__builtin_ctzll(near) - (i & 63);
	if (q->n_far && (q->far[0].t >> q->shift) - q->cur - d < q->n_buckets) {
		ibcc_fab_evq_advance(e);
		return;
	}
	q->bits[i >> 6] &= ~(1ull << (i & 63));
	q->cur += d;
	q->due[LANE_CALENDAR] = e->cell[q->bucket[i + d].head].t;
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
		q->due[LANE_CALENDAR] = e->cell[b->head].t;
	else
		calendar_next(e);
	arg = e->cell[c].arg;
	cell_give(e, c);
	return arg;
}

#endif
