/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The rate limiters of DCQCN in the reference simulator. reference.c says in plain words what the
 * model is.
 */
#include "reference_parts.h"

/* Clocks of a limiter, as long as it is the one of that epoch, and of that cut. */
static void clock_after(struct ref *r, uint64_t delay, enum what what, unsigned int pair)
{
	const struct limiter *l = &r->pair[pair].limiter;

	ref_after(r, delay, what, pair, what == GROW ? l->cuts : l->epoch, NULL);
}

/* A rate grows, by the count of time or of bytes. */
static void grow(struct ref *r, unsigned int pair, unsigned int *count)
{
	const struct ref_dcqcn *d = &r->c->dcqcn;
	struct limiter *l = &r->pair[pair].limiter;
	unsigned int other = count == &l->by_time ? l->by_bytes : l->by_time;

	if (!d->grow_bytes)
		other = *count;
	if (*count > d->fast && other > d->fast)
		l->target += d->leap;
	else if (*count >= d->fast || other >= d->fast)
		l->target += d->rise;
	if (l->target > l->most)
		l->target = l->most;
	l->rate = (l->rate + l->target) / 2;
	(*count)++;
	if (l->most - l->rate >= 0.5 || l->cnp_for_cut)
		return;
	l->on = false;
	l->epoch++;
	l->cuts++;
}

static void look_for_cut(struct ref *r, unsigned int pair)
{
	const struct ref_dcqcn *d = &r->c->dcqcn;
	struct limiter *l = &r->pair[pair].limiter;
	double left = 1 - l->alpha * d->depth;

	if (!l->cnp_for_cut)
		return;
	l->cnp_for_cut = false;
	l->cut = true;
	if (d->clamp || (d->clamp_after_time && l->by_time))
		l->target = l->rate;
	l->rate *= left > d->floor ? left : d->floor;
	if (l->rate < d->least)
		l->rate = d->least;
	l->by_time = l->by_bytes = l->bytes = 0;
	l->cuts++;
	clock_after(r, d->grow, GROW, pair);
}

void ref_limiter_cnp(struct ref *r, unsigned int pair, double link)
{
	const struct ref_dcqcn *d = &r->c->dcqcn;
	struct limiter *l = &r->pair[pair].limiter;

	l->cnp_for_cut = true;
	l->cnp_for_alpha = l->on;
	if (l->on)
		return;
	l->on = true;
	l->cut = false;
	l->most = d->most > 0 && d->most < link ? d->most : link;
	l->rate = l->target = d->first > 0 && d->first < l->most ? d->first : l->most;
	l->alpha = d->first_alpha;
	l->by_time = l->by_bytes = l->bytes = 0;
	clock_after(r, d->alpha, ALPHA, pair);
	clock_after(r, d->look + 1000, LOOK, pair);
}

uint64_t ref_limiter_rest(struct ref *r, unsigned int pair, uint32_t n)
{
	const struct ref_dcqcn *d = &r->c->dcqcn;
	struct limiter *l = &r->pair[pair].limiter;

	if (!l->on)
		return 0;
	l->bytes += l->cut ? n : 0;
	while (l->on && d->grow_bytes && l->bytes >= d->grow_bytes) {
		l->bytes -= d->grow_bytes;
		grow(r, pair, &l->by_bytes);
	}
	return l->on ? (uint64_t)(n * 8e6 / l->rate) : 0;
}

void ref_limiter_happen(struct ref *r, const struct event *e)
{
	struct limiter *l = &r->pair[e->who].limiter;

	if (e->blocks != (e->what == GROW ? l->cuts : l->epoch))
		return;
	if (e->what == ALPHA) {
		l->alpha *= 1 - r->c->dcqcn.gain;
		l->alpha += l->cnp_for_alpha ? r->c->dcqcn.gain : 0;
		l->cnp_for_alpha = false;
		clock_after(r, r->c->dcqcn.alpha, ALPHA, e->who);
	} else if (e->what == LOOK) {
		look_for_cut(r, e->who);
		clock_after(r, r->c->dcqcn.look, LOOK, e->who);
	} else {
		grow(r, e->who, &l->by_time);
		if (l->on)
			clock_after(r, r->c->dcqcn.grow, GROW, e->who);
	}
}
