/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What traffic.c does for each packet: the next arrival in a flow's queue, and where it goes. */
#ifndef IBCC_ENGINE_TRAFFIC_H
#define IBCC_ENGINE_TRAFFIC_H

#include <ibcc/rng.h>

#include "qps.h"

/* t plus a gap, of a flow whose packets come only at times. */
uint64_t ibcc_fab_add_on_time(const struct flow *f, uint64_t t, uint64_t gap);
/* What head_take() does, for all cases. */
void ibcc_fab_head_take(struct ibcc_engine *e, struct flow *f);

/* The time of the next arrival: after a fixed or an exponentially distributed gap, or NEVER after
 * the flow's end.
 */
static inline void arrivals_next(const struct ibcc_engine *e, const struct flow *f,
				 struct arrivals *a)
{
	uint64_t gap = f->gap_ps;

	if (f->kind == IBCC_ARRIVALS_EXPONENTIAL)
		gap = ibcc_rng_exponential(e->exp_table, &a->rng, gap);
	a->next_ps = f->on_off ? ibcc_fab_add_on_time(f, a->next_ps, gap) : a->next_ps + gap;
	if (a->next_ps >= f->stop_ps)
		a->next_ps = NEVER;
}

/* The destinations of a uniform flow: the hosts of its island. Few fabrics have more than one
 * island; with one, the first two cache lines of struct flow suffice.
 */
static inline const uint32_t *dests(const struct ibcc_engine *e, const struct flow *f)
{
	return f->part ? e->dest + f->dests : e->dest;
}

/* A random destination. left_out[] is in rising order, so skipping is two additions. */
static inline uint32_t random_dst(const struct ibcc_engine *e, struct flow *f)
{
	uint32_t at = ibcc_rng_below(&f->rng, f->n_choices);

	at += at >= f->left_out[0];
	at += at >= f->left_out[1];
	return dests(e, f)[at];
}

/* Draws a destination two packets ahead, so that its data can be fetched into the cache. */
static inline void draw_dst(const struct ibcc_engine *e, struct flow *f)
{
	head_to(e, f, f->ahead[0]);
	f->ahead[0] = f->ahead[1];
	f->ahead[1] = random_dst(e, f);
}

/* The packet at the head of a flow's queue is sent or passed over: the next one becomes the head.
 */
static inline __attribute__((always_inline)) void head_take(struct ibcc_engine *e, struct flow *f)
{
	if (f->kind == IBCC_ARRIVALS_BACKLOGGED) {
		f->head.next_ps = e->now_ps;
	} else if (f->direct) {
		arrivals_next(e, f, &f->head);
		if (f->uniform)
			draw_dst(e, f);
	} else {
		ibcc_fab_head_take(e, f);
	}
}

#endif
