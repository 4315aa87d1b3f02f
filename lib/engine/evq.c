/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The event queue's set-up and its rare paths; evq.h explains the queue and has the frequent
 * paths.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "evq.h"

#define MIN_BUCKETS 4096u /* 64 words, one word of `sum` */
#define MAX_BUCKETS 65536u
#define MIN_RING    1024u /* so that credits are seldom taken in only for room */

/* Makes a lane with an empty ring. Lanes whose events carry credits are listed for credits.c. */
static int lane_init(struct evq *q, uint32_t lane, enum ibcc_fab_event event)
{
	struct lane *l = &q->lane[lane];

	l->ring = calloc(MIN_RING, sizeof(*l->ring));
	if (!l->ring)
		return -ENOMEM;
	if (event == EV_FREE) {
		l->live = calloc(MIN_RING / 64, sizeof(*l->live));
		if (!l->live)
			return -ENOMEM;
	}
	l->mask = MIN_RING - 1;
	l->full = MIN_RING;
	l->event = (uint8_t)event;
	l->watch = (uint8_t)(event == EV_QUIET || lane == LANE_RETURN ? UNWATCHED : lane);
	if (lane_has_credits(l))
		q->credit_lane[q->n_credit_lanes++] = (uint8_t)lane;
	return 0;
}

int ibcc_fab_evq_init(struct evq *q, uint32_t n_events, uint64_t span_ps, uint32_t n_outqs)
{
	for (uint32_t i = 0; i < MAX_LANES; i++)
		q->due[i] = NEVER;
	q->n_lanes = LANE_ARRIVE;
	q->n_buckets = MIN_BUCKETS;
	while (q->n_buckets < MAX_BUCKETS && q->n_buckets < n_events)
		q->n_buckets *= 2;
	while (((uint64_t)q->n_buckets << q->shift) < span_ps)
		q->shift++;
	q->shift += TAG_BITS;
	q->n_sum = q->n_buckets / MIN_BUCKETS;
	q->bucket = malloc(q->n_buckets * sizeof(*q->bucket));
	q->bits = calloc(q->n_buckets / 64, sizeof(*q->bits));
	q->sum = calloc(q->n_sum, sizeof(*q->sum));
	q->short_of = calloc(n_outqs / 64 + 1, sizeof(*q->short_of));
	if (!q->bucket || !q->bits || !q->sum || !q->short_of ||
	    lane_init(q, LANE_RETURN, EV_CREDIT))
		return -ENOMEM;
	for (uint32_t i = 0; i < q->n_buckets; i++)
		q->bucket[i] = (struct bucket){ NONE, NONE };
	return 0;
}

void ibcc_fab_evq_fini(struct evq *q)
{
	free(q->bucket);
	free(q->bits);
	free(q->sum);
	free(q->short_of);
	free(q->far);
	for (uint32_t i = 0; i <= MAX_LANES; i++) {
		free(q->lane[i].ring);
		free(q->lane[i].live);
	}
}

int ibcc_fab_lane_new(struct evq *q, enum ibcc_fab_event event)
{
	if (q->n_lanes == MAX_LANES)
		return LANE_CALENDAR;
	if (lane_init(q, q->n_lanes, event))
		return -ENOMEM;
	if (event != EV_QUIET)
		q->n_watched = q->n_lanes + 1;
	return (int)q->n_lanes++;
}

/* Doubles a lane's ring. All entries from `begin` on are kept. */
static int grow(struct lane *l, uint32_t begin)
{
	uint32_t n = 2 * (l->mask + 1);
	struct coming *ring = n > 1u << (31 - LANE_BITS) ? NULL : calloc(n, sizeof(*ring));
	uint64_t *live = l->live ? calloc(n / 64, sizeof(*live)) : NULL;

	if (!ring || (l->live && !live)) {
		free(ring);
		free(live);
		return -ENOMEM;
	}
	for (uint32_t i = begin; i != l->tail; i++) {
		uint32_t from = i & l->mask, to = i & (n - 1);

		ring[to] = l->ring[from];
		if (live)
			live[to >> 6] |= (l->live[from >> 6] >> (from & 63) & 1) << (to & 63);
	}
	free(l->ring);
	free(l->live);
	l->ring = ring;
	l->live = live;
	l->mask = n - 1;
	return 0;
}

/* The ring of a lane is full, as far as was looked. First makes room by taking in credits and
 * counting quiet deliveries; only if more than half is still in use does the ring grow.
 */
bool ibcc_fab_lane_room(struct ibcc_engine *e, struct lane *l)
{
	uint32_t n = l->mask + 1, begin;

	if (!l->ring)
		return false;
	ibcc_fab_credits_drain(e);
	if (l->event == EV_QUIET)
		ibcc_fab_quiet_count(e, e->now_ps);
	begin = l->head;
	if (l->event == EV_CREDIT ||
	    (lane_has_credits(l) && l->tail - l->credit_at > l->tail - begin))
		begin = l->credit_at;
	l->full = begin + n;
	if (l->tail - begin <= n / 2)
		return true;
	if (grow(l, begin)) {
		e->err = -ENOMEM;
		return l->tail != l->full;
	}
	l->full = begin + 2 * n;
	return true;
}

uint32_t ibcc_fab_free_after(const struct lane *l, uint32_t at)
{
	while (l->tail - at - 1 <= l->mask) { /* at most one round */
		uint32_t i = at & l->mask;
		uint64_t live = l->live[i >> 6] >> (i & 63);

		if (live)
			return at + (uint32_t)__builtin_ctzll(live);
		at += 64 - (i & 63);
	}
	return l->tail;
}

void ibcc_fab_lane_none(struct ibcc_engine *e, enum ibcc_fab_event event, struct coming v)
{
	if (e->err)
		return;
	if (event != EV_CREDIT)
		evq_push(e, coming_ps(&v), event, v.index);
	if (event == EV_FREE && v.with != NO_CREDIT)
		evq_push(e, coming_ps(&v) + e->credit_ps, EV_CREDIT, v.with);
}

/* Puts a cell into a bucket whose last event is later, behind the events of the same time. */
void ibcc_fab_evq_insert(struct ibcc_engine *e, struct bucket *b, uint32_t c)
{
	uint64_t t = e->cell[c].t;
	uint32_t *at = &b->head;

	while (e->cell[*at].t <= t)
		at = &e->cell[*at].next;
	e->cell[c].next = *at;
	*at = c;
}

static bool far_before(const struct far_event *a, const struct far_event *b)
{
	return a->t != b->t ? a->t < b->t : a->seq < b->seq;
}

void ibcc_fab_evq_push_far(struct ibcc_engine *e, uint32_t cell)
{
	struct evq *q = &e->evq;
	struct far_event v = { e->cell[cell].t, q->seq++, cell };
	uint32_t i = q->n_far++;

	while (i && far_before(&v, &q->far[(i - 1) / 2])) {
		q->far[i] = q->far[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	q->far[i] = v;
}

/* Takes the earliest event out of the heap; its cell. */
static uint32_t pop_far(struct evq *q)
{
	uint32_t cell = q->far[0].cell, i = 0, child;
	struct far_event v = q->far[--q->n_far];

	while ((child = 2 * i + 1) < q->n_far) {
		if (child + 1 < q->n_far && far_before(&q->far[child + 1], &q->far[child]))
			child++;
		if (!far_before(&q->far[child], &v))
			break;
		q->far[i] = q->far[child];
		i = child;
	}
	q->far[i] = v;
	return cell;
}

/* Number of buckets from `cur` to the first that is not empty, or NONE. */
static uint32_t distance(const struct evq *q)
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

void ibcc_fab_evq_advance(struct ibcc_engine *e)
{
	struct evq *q = &e->evq;
	uint32_t i = (uint32_t)q->cur & (q->n_buckets - 1), d;

	if (q->bucket[i].head == NONE) {
		q->bits[i >> 6] &= ~(1ull << (i & 63));
		if (!q->bits[i >> 6])
			q->sum[i >> 12] &= ~(1ull << (i >> 6 & 63));
	}
	d = distance(q);
	if (d == NONE && !q->n_far) {
		q->due[LANE_CALENDAR] = NEVER;
		return;
	}
	q->cur = d == NONE ? q->far[0].t >> q->shift : q->cur + d;
	while (q->n_far && (q->far[0].t >> q->shift) - q->cur < q->n_buckets) {
		uint64_t b = q->far[0].t >> q->shift;

		evq_push_near(e, b, pop_far(q));
	}
	q->due[LANE_CALENDAR] = e->cell[q->bucket[q->cur & (q->n_buckets - 1)].head].t;
}

typedef int see_event(void *arg, uint64_t t, enum ibcc_fab_event kind, uint32_t *index);

static int see_cell(const struct ibcc_engine *e, uint32_t c, see_event *see, void *arg)
{
	enum ibcc_fab_event kind = (enum ibcc_fab_event)(e->cell[c].arg >> CELL_KIND_SHIFT);
	uint32_t index = e->cell[c].arg & CELL_INDEX_MASK;
	int rc = see(arg, e->cell[c].t >> TAG_BITS, kind, &index);

	e->cell[c].arg = event_arg(kind, index);
	return rc;
}

/* Shows a lane's events, and its credits that have not been taken in, as EV_CREDIT. */
static int see_lane(const struct ibcc_engine *e, const struct lane *l, see_event *see, void *arg)
{
	int rc = 0;

	for (uint32_t i = l->head; l->event != EV_CREDIT && i != l->tail && !rc; i++) {
		struct coming *v = &l->ring[i & l->mask];

		rc = see(arg, coming_ps(v), (enum ibcc_fab_event)l->event, &v->index);
	}
	for (uint32_t i = l->credit_at; lane_has_credits(l) && i != l->tail && !rc; i++) {
		struct coming *v = &l->ring[i & l->mask];

		rc = see(arg, coming_ps(v) + e->credit_ps, EV_CREDIT, &v->with);
	}
	return rc;
}

int ibcc_fab_evq_each(const struct ibcc_engine *e, see_event *see, void *arg)
{
	const struct evq *q = &e->evq;
	int rc = 0;

	for (uint32_t i = 0; i <= MAX_LANES && !rc; i++)
		if (q->lane[i].ring)
			rc = see_lane(e, &q->lane[i], see, arg);
	for (uint32_t i = 0; i < q->n_buckets && !rc; i++)
		for (uint32_t c = q->bucket[i].head; c != NONE && !rc; c = e->cell[c].next)
			rc = see_cell(e, c, see, arg);
	for (uint32_t i = 0; i < q->n_far && !rc; i++)
		rc = see_cell(e, q->far[i].cell, see, arg);
	return rc;
}
