/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Rates must be computed with the time that the counters counted in. A simulated fabric may run
 * slower than the host's clock, and the time to read all nodes is no constant either; nodes tell
 * their own time by TimeStamp.
 */
#include "lib/io/collector_clock.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/formula.h>

#include "lib/io/collector_ask.h"

#define TICK_NS (double)IBCC_FORMULA_TIMER_UNIT_NS /* unit of TimeStamp */
#define MS      1000000.0
/* A node's interval may exceed what the rate lets expect by so much, since a simulation's speed is
 * uneven, before its counter is taken to have been reset.
 */
#define JUMP_NS     (1000 * MS)
#define JUMP_FACTOR 4.0
/* Clocks differ if their rates do by so much, over an interval short enough for answers' delays to
 * matter and over a long one; they agree again below the third for so many passes. A port whose
 * interval is taken for longer than it was looks less busy: what is let pass here must stay below
 * what a full link may lack (ibcc_estimator_params:full_permille).
 */
#define MIN_INTERVAL_NS  (5 * MS)
#define LONG_INTERVAL_NS (100 * MS)
#define DIFFER_SHORT     0.30
#define DIFFER_LONG      0.02
#define AGREE            0.01
#define AGREE_PASSES     8u
/* While the host's clock is in use so many nodes are watched. */
#define SAMPLE_NODES 8u

void ibcc_clock_init(struct ibcc_fabric_clock *c, enum ibcc_clock mode)
{
	*c = (struct ibcc_fabric_clock){
		.mode = mode,
		.in_use = mode == IBCC_CLOCK_FABRIC,
		.rate = 1,
	};
}

void ibcc_clock_fini(struct ibcc_fabric_clock *c)
{
	free(c->node);
	free(c->scratch);
	c->node = NULL;
	c->scratch = NULL;
	c->n = 0;
}

int ibcc_clock_resize(struct ibcc_fabric_clock *c, uint32_t n)
{
	struct ibcc_node_clock *node = reallocarray(c->node, n ? n : 1, sizeof(*node));
	double *scratch;

	if (!node)
		return -ENOMEM;
	c->node = node;
	scratch = reallocarray(c->scratch, n ? n : 1, sizeof(*scratch));
	if (!scratch)
		return -ENOMEM;
	c->scratch = scratch;
	if (n > c->n)
		memset(node + c->n, 0, (n - c->n) * sizeof(*node));
	c->n = n;
	return 0;
}

void ibcc_clock_forget(struct ibcc_fabric_clock *c, uint32_t node)
{
	c->node[node] = (struct ibcc_node_clock){ 0 };
}

bool ibcc_clock_wants(const struct ibcc_fabric_clock *c, uint32_t node)
{
	uint32_t step = c->n > SAMPLE_NODES ? c->n / SAMPLE_NODES : 1;

	if (c->mode == IBCC_CLOCK_HOST)
		return false;
	if (c->node[node].absent && c->pass % IBCC_ASK_AGAIN != 0)
		return false;
	return c->in_use || node % step == 0;
}

void ibcc_clock_read(struct ibcc_fabric_clock *c, uint32_t node, uint32_t ts, uint64_t host_ns)
{
	struct ibcc_node_clock *n = &c->node[node];

	n->absent = false;
	n->fresh = true;
	n->new_ts = ts;
	n->new_host_ns = host_ns;
	n->moving |= n->anchored && ts != n->ts;
}

void ibcc_clock_missed(struct ibcc_fabric_clock *c, uint32_t node)
{
	c->node[node].absent = true;
}

static double elapsed(uint64_t from, uint64_t to)
{
	return (double)(int64_t)(to - from);
}

static uint64_t plus(uint64_t t, double ns)
{
	return t + (uint64_t)(int64_t)llround(ns);
}

static double ticks_ns(const struct ibcc_node_clock *n)
{
	return (uint32_t)(n->new_ts - n->ts) * TICK_NS;
}

/* Median, so that one node that was restarted does not matter; by Hoare's selection, since qsort()
 * may allocate. n > 0; mixes v up.
 */
static double median(double *v, uint32_t n)
{
	int64_t lo = 0, hi = (int64_t)n - 1, k = n / 2;

	while (lo < hi) {
		double pivot = v[k];
		int64_t i = lo, j = hi;

		while (i <= j) {
			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i <= j) {
				double t = v[i];

				v[i++] = v[j];
				v[j--] = t;
			}
		}
		if (j < k)
			lo = i;
		if (k < i)
			hi = j;
	}
	return v[k];
}

/* False if no node tells. */
static bool measure_rate(const struct ibcc_fabric_clock *c, double *rate, double *interval)
{
	double *r = c->scratch;
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		const struct ibcc_node_clock *k = &c->node[i];
		double host = elapsed(k->host_ns, k->new_host_ns);

		if (!k->fresh || !k->anchored || !k->moving || host < MIN_INTERVAL_NS)
			continue;
		*interval = host;
		r[n++] = ticks_ns(k) / host;
	}
	if (n)
		*rate = median(r, n);
	return n > 0;
}

/* From a moment whose times are known to one nearby. */
static uint64_t shift(const struct ibcc_fabric_clock *c, uint64_t fabric_ns, uint64_t host_ns,
		      uint64_t to_host_ns)
{
	return plus(fabric_ns, elapsed(host_ns, to_host_ns) * c->rate);
}

/* Nodes were put on the line of time when nothing but the host's clock was known. */
static void anchor_again(struct ibcc_fabric_clock *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		struct ibcc_node_clock *n = &c->node[i];

		if (n->anchored)
			n->fabric_ns = shift(c, c->fabric_ns, c->host_ns, n->host_ns);
	}
}

bool ibcc_clock_measure(struct ibcc_fabric_clock *c)
{
	bool was = c->in_use && c->known;
	double rate, interval, off;

	c->pass++;
	if (!measure_rate(c, &rate, &interval))
		return false;
	c->rate = rate;
	if (!c->known)
		anchor_again(c);
	c->known = true;
	if (c->mode != IBCC_CLOCK_AUTO)
		return c->in_use != was;
	off = fabs(rate - 1);
	c->calm = off < AGREE ? c->calm + 1 : 0;
	if (off > (interval < LONG_INTERVAL_NS ? DIFFER_SHORT : DIFFER_LONG))
		c->in_use = true;
	else if (c->calm >= AGREE_PASSES)
		c->in_use = false;
	return c->in_use != was;
}

uint64_t ibcc_clock_time(const struct ibcc_fabric_clock *c, uint32_t node, uint64_t host_ns)
{
	const struct ibcc_node_clock *n = &c->node[node];

	if (!c->in_use)
		return host_ns;
	return n->anchored ? shift(c, n->fabric_ns, n->host_ns, host_ns)
			   : shift(c, c->fabric_ns, c->host_ns, host_ns);
}

static void advance_node(struct ibcc_fabric_clock *c, struct ibcc_node_clock *n)
{
	double expected = elapsed(n->host_ns, n->new_host_ns) * c->rate;
	double counted = ticks_ns(n);

	if (!n->moving || counted > JUMP_FACTOR * expected + JUMP_NS ||
	    expected > UINT32_MAX / 2 * TICK_NS)
		counted = expected;
	n->fabric_ns = plus(n->fabric_ns, counted);
	n->ts = n->new_ts;
	n->host_ns = n->new_host_ns;
}

/* The line of time that all nodes' readings lie on, at now_ns: by the nodes that went on with it,
 * else by the rate. Never goes back.
 */
static uint64_t line_at(const struct ibcc_fabric_clock *c, uint64_t now_ns)
{
	uint64_t by_rate = shift(c, c->fabric_ns, c->host_ns, now_ns);
	double *off = c->scratch;
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		const struct ibcc_node_clock *k = &c->node[i];

		if (k->fresh && k->anchored)
			off[n++] = elapsed(by_rate, shift(c, k->fabric_ns, k->host_ns, now_ns));
	}
	if (n)
		by_rate = plus(by_rate, median(off, n));
	return by_rate > c->fabric_ns ? by_rate : c->fabric_ns;
}

void ibcc_clock_advance(struct ibcc_fabric_clock *c, uint64_t now_ns)
{
	for (uint32_t i = 0; i < c->n; i++) {
		if (c->node[i].fresh && c->node[i].anchored)
			advance_node(c, &c->node[i]);
	}
	c->fabric_ns = c->host_ns ? line_at(c, now_ns) : now_ns;
	c->host_ns = now_ns;
	for (uint32_t i = 0; i < c->n; i++) {
		struct ibcc_node_clock *n = &c->node[i];

		/* A counter that was not read this time does not tell how the rate was since. */
		if (n->fresh && !n->anchored) {
			n->ts = n->new_ts;
			n->host_ns = n->new_host_ns;
			n->fabric_ns = shift(c, c->fabric_ns, now_ns, n->host_ns);
		}
		n->anchored = n->fresh;
		n->fresh = false;
	}
}

uint64_t ibcc_clock_end(const struct ibcc_fabric_clock *c)
{
	return c->in_use ? c->fabric_ns : c->host_ns;
}
