/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The event queue's set-up and its rarer paths. */
#include <errno.h>
#include <stdlib.h>

#include "evq.h"

#define MIN_BUCKETS 4096u /* 64 words, one word of `sum` */
#define MAX_BUCKETS 65536u

int ibcc_fab_evq_init(struct evq *q, uint32_t n_events, uint64_t span_ps)
{
	q->n_buckets = MIN_BUCKETS;
	while (q->n_buckets < MAX_BUCKETS && q->n_buckets < n_events)
		q->n_buckets *= 2;
	while (((uint64_t)q->n_buckets << q->shift) < span_ps)
		q->shift++;
	q->n_sum = q->n_buckets / MIN_BUCKETS;
	q->bucket = malloc(q->n_buckets * sizeof(*q->bucket));
	q->bits = calloc(q->n_buckets / 64, sizeof(*q->bits));
	q->sum = calloc(q->n_sum, sizeof(*q->sum));
	if (!q->bucket || !q->bits || !q->sum)
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
	free(q->far);
}

/* Into a bucket whose last event is later; behind those of the same time. */
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

void ibcc_fab_evq_advance(struct ibcc_engine *e, uint64_t cur)
{
	struct evq *q = &e->evq;

	q->cur = cur;
	while (q->n_far && (q->far[0].t >> q->shift) - cur < q->n_buckets) {
		uint64_t b = q->far[0].t >> q->shift;

		evq_push_near(e, b, pop_far(q));
	}
}
