/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Max-min fair allocation by progressive filling (D. Bertsekas, R. Gallager, Data Networks,
 * section 6.5.2). All flows grow at the same rate. When a resource is full, or a flow has its
 * demand, the flows concerned are settled; the others go on. Begin with fill().
 *
 * The next resource to be full is found by a heap. The entries' levels may be too low, never too
 * high, as settled flows leave room: next_full() brings the top up to date before it trusts it.
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include <ibcc/maxmin.h>

struct resource {
	double left;     /* capacity that settled flows have not taken */
	double active;   /* sum of the shares of flows that still grow */
	double summed;   /* value of `active` when it was last summed up exactly */
	size_t n_active; /* flows that still grow */
	size_t first, n; /* its uses in `user` */
};

/* An entry of the heap: a resource, and the rate at which it is full if all its flows keep growing.
 * The rate may be out of date, and is then too low.
 */
struct fill {
	double level;
	uint32_t resource;
};

struct solver {
	struct resource *r;
	struct ibcc_maxmin_flow *flow;
	uint32_t *user;    /* flows by resource */
	double *share;     /* by resource, as `user`: what each flow takes of it */
	bool *settled;     /* by flow */
	uint32_t *by_need; /* flows with a demand limit, the lowest first */
	struct fill *heap;
	size_t n_heap, n_growing;
	double level; /* the rate of all flows that still grow */
};

/* -EINVAL: a capacity, demand or share is no proper number, or a flow could grow without limit. */
static int check(const double *capacity, size_t n_resources, const struct ibcc_maxmin_flow *flow,
		 size_t n_flows)
{
	size_t i, k;

	for (i = 0; i < n_resources; i++)
		if (!(capacity[i] >= 0))
			return -EINVAL;
	for (i = 0; i < n_flows; i++) {
		if (!(flow[i].demand >= 0) || (isinf(flow[i].demand) && !flow[i].n_uses))
			return -EINVAL;
		for (k = 0; k < flow[i].n_uses; k++)
			if (flow[i].use[k].resource >= n_resources || !(flow[i].use[k].share > 0))
				return -EINVAL;
	}
	return 0;
}

static void heap_down(struct fill *h, size_t n, size_t i)
{
	struct fill moved = h[i];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= n)
			break;
		if (child + 1 < n && h[child + 1].level < h[child].level)
			child++;
		if (moved.level <= h[child].level)
			break;
		h[i] = h[child];
		i = child;
	}
	h[i] = moved;
}

/* The rate at which a resource is full. Subtracting the shares of settled flows one by one leaves
 * rounding errors of the larger ones, so the rest is summed up again before the errors count.
 * Otherwise a share of 1e-16 beside one of 1 would leave nothing, and its flow would grow for ever.
 */
static double fill_level(struct solver *s, struct resource *r)
{
	if (r->active < 1e-3 * r->summed) {
		r->active = 0;
		for (size_t k = r->first; k < r->first + r->n; k++)
			if (!s->settled[s->user[k]])
				r->active += s->share[k];
		r->summed = r->active;
	}
	return fmax(fmax(r->left, 0) / r->active, s->level);
}

/* Gives a flow its final rate, and takes it off its resources. */
static void settle(struct solver *s, uint32_t i, double rate)
{
	struct ibcc_maxmin_flow *f = &s->flow[i];

	f->rate = rate;
	s->settled[i] = true;
	s->n_growing--;
	for (size_t k = 0; k < f->n_uses; k++) {
		struct resource *u = &s->r[f->use[k].resource];

		u->left -= rate * f->use[k].share;
		u->active -= f->use[k].share;
		u->n_active--;
	}
}

/* The resource that is full first, and the rate at which it is; its entry is at the heap's top.
 * NULL: none. */
static struct resource *next_full(struct solver *s, double *level)
{
	while (s->n_heap) {
		struct resource *r = &s->r[s->heap[0].resource];

		if (!r->n_active) {
			s->heap[0] = s->heap[--s->n_heap];
		} else {
			*level = fill_level(s, r);
			if (*level <= s->heap[0].level)
				return r;
			s->heap[0].level = *level;
		}
		if (s->n_heap)
			heap_down(s->heap, s->n_heap, 0);
	}
	return NULL;
}

/* Lets all flows grow until each is settled by a full resource or by its demand, whichever comes
 * first.
 */
static void fill(struct solver *s, size_t n_needs)
{
	size_t need = 0;

	while (s->n_growing) {
		double level = INFINITY;
		struct resource *r = next_full(s, &level);

		while (need < n_needs && s->settled[s->by_need[need]])
			need++;
		if (need < n_needs && s->flow[s->by_need[need]].demand <= level) {
			s->level = fmax(s->level, s->flow[s->by_need[need]].demand);
			settle(s, s->by_need[need], s->flow[s->by_need[need]].demand);
			continue;
		}
		if (!r) /* every flow has a demand or a resource */
			return;
		s->level = level;
		for (size_t k = r->first; k < r->first + r->n; k++)
			if (!s->settled[s->user[k]])
				settle(s, s->user[k], level);
	}
}

static int by_demand(const void *a, const void *b, void *arg)
{
	const struct ibcc_maxmin_flow *flow = arg;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;

	if (flow[i].demand != flow[k].demand)
		return flow[i].demand < flow[k].demand ? -1 : 1;
	return i < k ? -1 : i > k;
}

/* Lists the flows by resource, and makes the heap of all resources in use. */
static void prepare(struct solver *s, const double *capacity, size_t n_resources, size_t n_flows)
{
	size_t at = 0;

	for (size_t i = 0; i < n_flows; i++)
		for (size_t k = 0; k < s->flow[i].n_uses; k++)
			s->r[s->flow[i].use[k].resource].n++;
	for (size_t i = 0; i < n_resources; i++) {
		s->r[i].left = capacity[i];
		s->r[i].first = at;
		at += s->r[i].n;
	}
	for (size_t i = 0; i < n_flows; i++)
		for (size_t k = 0; k < s->flow[i].n_uses; k++) {
			struct resource *r = &s->r[s->flow[i].use[k].resource];

			s->user[r->first + r->n_active] = (uint32_t)i;
			s->share[r->first + r->n_active++] = s->flow[i].use[k].share;
			r->active += s->flow[i].use[k].share;
		}
	for (size_t i = 0; i < n_resources; i++) {
		struct resource *r = &s->r[i];

		r->summed = r->active;
		if (r->n)
			s->heap[s->n_heap++] =
				(struct fill){ fmax(r->left, 0) / r->active, (uint32_t)i };
	}
	for (size_t i = s->n_heap; i-- > 0;)
		heap_down(s->heap, s->n_heap, i);
	s->n_growing = n_flows;
}

int ibcc_maxmin_solve(const double *capacity, size_t n_resources, struct ibcc_maxmin_flow *flow,
		      size_t n_flows)
{
	struct solver s = { .flow = flow };
	size_t n_uses = 0, n_needs = 0;
	int ret;

	ret = check(capacity, n_resources, flow, n_flows);
	if (ret)
		return ret;
	for (size_t i = 0; i < n_flows; i++)
		n_uses += flow[i].n_uses;
	s.r = calloc(n_resources + 1, sizeof(*s.r));
	s.user = calloc(n_uses + 1, sizeof(*s.user));
	s.share = calloc(n_uses + 1, sizeof(*s.share));
	s.settled = calloc(n_flows + 1, sizeof(*s.settled));
	s.by_need = calloc(n_flows + 1, sizeof(*s.by_need));
	s.heap = calloc(n_resources + 1, sizeof(*s.heap));
	if (!s.r || !s.user || !s.share || !s.settled || !s.by_need || !s.heap) {
		ret = -ENOMEM;
		goto out;
	}
	prepare(&s, capacity, n_resources, n_flows);
	for (size_t i = 0; i < n_flows; i++)
		if (isfinite(flow[i].demand))
			s.by_need[n_needs++] = (uint32_t)i;
	qsort_r(s.by_need, n_needs, sizeof(*s.by_need), by_demand, flow);
	fill(&s, n_needs);
out:
	free(s.heap);
	free(s.by_need);
	free(s.settled);
	free(s.share);
	free(s.user);
	free(s.r);
	return ret;
}
