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

#include "lib/io/collector_ask.h"

#define MS 1000000.0
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
#define LONG_INTERVAL_NS (100 * MS)
#define DIFFER_SHORT     0.30
#define DIFFER_LONG      0.02
#define AGREE            0.01
#define AGREE_PASSES     8u
/* While the host's clock is in use so many nodes are watched, half of them switches if there are.
 */
#define SAMPLE_NODES 8u
/* Without agreement, or standing still, for so many passes, fabric time is left for the host's. */
#define PATIENCE 16u
/* A node that has come so far off the line is put on it again. */
#define AWAY_INTERVALS 5
#define AWAY_NS        (1000 * MS)

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

void ibcc_clock_forget(struct ibcc_fabric_clock *c, uint32_t node, bool is_switch)
{
	c->node[node] = (struct ibcc_node_clock){ .is_switch = is_switch };
}

void ibcc_clock_follow(struct ibcc_fabric_clock *c, const struct ibcc_topo *t,
		       const struct ibcc_fabric_clock *old, const struct ibcc_topo *from)
{
	struct ibcc_fabric_clock next = *old;

	if (c->mode != old->mode)
		return;
	next.node = c->node;
	next.scratch = c->scratch;
	next.n = c->n;
	/* What was wrong with whom is seen again in the next passes, or is over. */
	next.n_liars = next.n_told = next.n_agree = 0;
	next.calm = next.alone = next.still = 0;
	*c = next;
	for (uint32_t i = 0; i < t->n_nodes && i < c->n; i++) {
		uint32_t was = ibcc_topo_find_guid(from, t->node[i].guid);

		if (was >= old->n)
			continue;
		c->node[i] = old->node[was];
		c->node[i].refusal.due = 0;
	}
}

static bool may_tell(const struct ibcc_fabric_clock *c, uint32_t node)
{
	const struct ibcc_refusal *r = &c->node[node].refusal;

	return !r->wait || ibcc_refusal_is_due(r, c->pass);
}

/* Some of a kind, evenly spread. */
static void watch(struct ibcc_fabric_clock *c, bool switches, uint32_t n, uint32_t want)
{
	uint32_t seen = 0, taken = 0;

	for (uint32_t i = 0; i < c->n && taken < want; i++) {
		if (c->node[i].is_switch != switches || !may_tell(c, i))
			continue;
		if ((uint64_t)seen++ * want < (uint64_t)taken * n)
			continue;
		c->node[i].watched = true;
		taken++;
	}
}

void ibcc_clock_begin(struct ibcc_fabric_clock *c)
{
	uint32_t n[2] = { 0, 0 }, half = SAMPLE_NODES / 2, switches;

	for (uint32_t i = 0; i < c->n; i++) {
		c->node[i].watched = false;
		n[c->node[i].is_switch] += may_tell(c, i);
	}
	switches = n[true] < half ? n[true] : half;
	watch(c, true, n[true], switches);
	watch(c, false, n[false], SAMPLE_NODES - switches);
}

bool ibcc_clock_wants(const struct ibcc_fabric_clock *c, uint32_t node)
{
	return c->mode != IBCC_CLOCK_HOST && may_tell(c, node) &&
	       (c->in_use || c->node[node].watched);
}

void ibcc_clock_read(struct ibcc_fabric_clock *c, uint32_t node, uint32_t ts, uint64_t host_ns,
		     uint64_t late_ns)
{
	struct ibcc_node_clock *n = &c->node[node];

	n->refusal.wait = 0;
	n->fresh = true;
	n->new_ts = ts;
	n->new_host_ns = host_ns;
	n->new_late_ns = late_ns;
	n->moving |= n->anchored && ts != n->ts;
}

void ibcc_clock_missed(struct ibcc_fabric_clock *c, uint32_t node)
{
	ibcc_refusal_note(&c->node[node].refusal, c->pass);
}

static double elapsed(uint64_t from, uint64_t to)
{
	return (double)(int64_t)(to - from);
}

static uint64_t plus(uint64_t t, double ns)
{
	return t + (uint64_t)(int64_t)llround(ns);
}

/* From a moment whose times are known to one nearby. */
static uint64_t shift(const struct ibcc_fabric_clock *c, uint64_t fabric_ns, uint64_t host_ns,
		      uint64_t to_host_ns)
{
	return plus(fabric_ns, elapsed(host_ns, to_host_ns) * c->rate);
}

/* Puts all nodes on the line of time: those that were when nothing but the host's clock was known,
 * and those that ran away from it.
 */
static void anchor_again(struct ibcc_fabric_clock *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		struct ibcc_node_clock *n = &c->node[i];

		if (n->anchored)
			n->fabric_ns = shift(c, c->fabric_ns, c->host_ns, n->host_ns);
	}
}

static bool ran_away(const struct ibcc_fabric_clock *c, double interval_ns)
{
	double far = (AWAY_INTERVALS * interval_ns + AWAY_NS) * c->rate;

	for (uint32_t i = 0; i < c->n; i++) {
		const struct ibcc_node_clock *n = &c->node[i];

		if (n->anchored && fabs(elapsed(n->fabric_ns, shift(c, c->fabric_ns, c->host_ns,
								    n->host_ns))) > far)
			return true;
	}
	return false;
}

/* By which clock rates are to be computed, after a vote. */
static void choose_clock(struct ibcc_fabric_clock *c, const struct ibcc_clock_vote *v)
{
	double off = fabs(v->rate - 1);

	if (c->mode != IBCC_CLOCK_AUTO)
		return;
	if (!v->agreed) {
		c->in_use = c->in_use && c->alone < PATIENCE;
		return;
	}
	c->calm = off < AGREE ? c->calm + 1 : 0;
	if (c->still >= PATIENCE)
		c->in_use = false;
	else if (off > (v->interval_ns < LONG_INTERVAL_NS ? DIFFER_SHORT : DIFFER_LONG))
		c->in_use = true;
	else if (c->calm >= AGREE_PASSES)
		c->in_use = false;
}

static bool somebody_refuses(const struct ibcc_fabric_clock *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		if (c->node[i].refusal.wait)
			return true;
	}
	return false;
}

bool ibcc_clock_measure(struct ibcc_fabric_clock *c)
{
	bool was = c->in_use && c->known, anew = false;
	struct ibcc_clock_vote v;

	c->pass++;
	if (c->mode == IBCC_CLOCK_HOST)
		return false;
	v = ibcc_clock_vote(c);
	if (v.agreed)
		c->alone = 0;
	else if (c->n_told || somebody_refuses(c)) /* a silent fabric does not disagree */
		c->alone++;
	if (v.agreed) {
		c->still = v.rate > 0 ? 0 : c->still + 1;
		anew = c->known && ran_away(c, v.interval_ns);
		c->rate = v.rate;
		if (!c->known || anew)
			anchor_again(c);
		c->known = true;
	}
	choose_clock(c, &v);
	return (c->in_use && c->known) != was || (anew && c->in_use);
}

enum ibcc_clock_trouble ibcc_clock_trouble(const struct ibcc_fabric_clock *c)
{
	if (c->still >= IBCC_CLOCK_PAUSE)
		return IBCC_CLOCK_STILL;
	if (c->alone > IBCC_CLOCK_LIES && (c->n_told || (c->known && fabs(c->rate - 1) > AGREE)))
		return IBCC_CLOCK_DISAGREE;
	return c->n_liars ? IBCC_CLOCK_LIAR : IBCC_CLOCK_FINE;
}

uint64_t ibcc_clock_time(const struct ibcc_fabric_clock *c, uint32_t node, uint64_t host_ns)
{
	const struct ibcc_node_clock *n = &c->node[node];

	if (!c->in_use)
		return host_ns;
	return n->anchored ? shift(c, n->fabric_ns, n->host_ns, host_ns)
			   : shift(c, c->fabric_ns, c->host_ns, host_ns);
}

static double expected_ns(const struct ibcc_fabric_clock *c, const struct ibcc_node_clock *n)
{
	return elapsed(n->host_ns, n->new_host_ns) * c->rate;
}

bool ibcc_clock_jumps(const struct ibcc_fabric_clock *c, const struct ibcc_node_clock *n)
{
	return ibcc_clock_ticks_ns(n) > JUMP_FACTOR * expected_ns(c, n) + JUMP_NS;
}

static void advance_node(struct ibcc_fabric_clock *c, struct ibcc_node_clock *n)
{
	double expected = expected_ns(c, n);
	double counted = ibcc_clock_ticks_ns(n);

	if (!n->moving || n->off || ibcc_clock_jumps(c, n) ||
	    expected > UINT32_MAX / 2 * IBCC_CLOCK_TICK_NS)
		counted = expected;
	n->fabric_ns = plus(n->fabric_ns, counted);
	n->ts = n->new_ts;
	n->host_ns = n->new_host_ns;
	n->late_ns = n->new_late_ns;
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

		if (k->fresh && k->anchored && !k->off)
			off[n++] = elapsed(by_rate, shift(c, k->fabric_ns, k->host_ns, now_ns));
	}
	if (n)
		by_rate = plus(by_rate, ibcc_clock_median(off, n));
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
			n->late_ns = n->new_late_ns;
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
