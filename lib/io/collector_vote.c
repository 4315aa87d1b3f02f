/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What time is it? Nodes may lie, stand still, or start anew: what counts is what most of those say
 * that say anything, switches among them, for those are fewer and better kept than hosts.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "lib/io/collector_clock.h"

#define MS 1000000.0
/* Shorter intervals are mostly delays of answers. */
#define MIN_INTERVAL_NS (5 * MS)
/* Nodes agree that are not further apart; two readings of one may have waited for so long. */
#define NEAR      0.3
#define JITTER_NS (5 * MS)
#define LEAST     3u /* nodes that must agree */

/* By Hoare's selection, since qsort() may allocate. */
double ibcc_clock_median(double *v, uint32_t n)
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

static double host_ns(const struct ibcc_node_clock *n)
{
	return (double)(int64_t)(n->new_host_ns - n->host_ns);
}

/* A counter that was never seen to move is none. One that jumps says nothing, though all others
 * jump with it; the second time in a row it is time that runs faster.
 */
static bool tells(const struct ibcc_node_clock *n)
{
	return n->fresh && n->anchored && n->moving && n->jumped != 1 &&
	       host_ns(n) >= MIN_INTERVAL_NS;
}

static void look_for_jumps(struct ibcc_fabric_clock *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		struct ibcc_node_clock *n = &c->node[i];

		if (!n->fresh || !n->anchored)
			continue;
		if (!c->known || !ibcc_clock_jumps(c, n))
			n->jumped = 0;
		else
			n->jumped += n->jumped < UINT8_MAX;
	}
}

static bool is_near(const struct ibcc_node_clock *n, double rate, double late_ns)
{
	return fabs(n->rate - rate) <= (NEAR + (JITTER_NS + late_ns) / host_ns(n)) * rate;
}

/* Who goes another way than those who agree, and for how long. Who may only have been heard late
 * does not: his own counter is right then, and the host's interval is not.
 */
static void look_for_liars(struct ibcc_fabric_clock *c, double rate)
{
	c->n_liars = 0;
	for (uint32_t i = 0; i < c->n; i++) {
		struct ibcc_node_clock *n = &c->node[i];

		if (tells(n) && is_near(n, rate, (double)(n->late_ns + n->new_late_ns)))
			n->off = 0;
		else if (tells(n))
			n->off += n->off < UINT8_MAX;
		if (n->off >= IBCC_CLOCK_LIES && !c->n_liars++)
			c->liar = i;
	}
}

struct ibcc_clock_vote ibcc_clock_vote(struct ibcc_fabric_clock *c)
{
	struct ibcc_clock_vote v = { 0 };
	uint32_t n = 0, near = 0, switches = 0, near_switches = 0;

	look_for_jumps(c);
	for (uint32_t i = 0; i < c->n; i++) {
		struct ibcc_node_clock *k = &c->node[i];

		if (!tells(k))
			continue;
		k->rate = ibcc_clock_ticks_ns(k) / host_ns(k);
		v.interval_ns = host_ns(k);
		switches += k->is_switch;
		c->scratch[n++] = k->rate;
	}
	c->n_told = n;
	c->n_agree = 0;
	if (!n)
		return v;
	v.rate = ibcc_clock_median(c->scratch, n);
	for (uint32_t i = 0; i < c->n; i++) {
		if (!tells(&c->node[i]) || !is_near(&c->node[i], v.rate, 0))
			continue;
		near++;
		near_switches += c->node[i].is_switch;
	}
	c->n_agree = near;
	/* With two switches of which one lies it is one of them. */
	v.agreed = near >= LEAST && 3 * near >= 2 * n && near_switches &&
		   2 * near_switches >= switches;
	/* Who has asked for it gets what there is. */
	v.agreed |= c->mode == IBCC_CLOCK_FABRIC;
	if (v.agreed)
		look_for_liars(c, v.rate);
	return v;
}

static void say_liar(const struct ibcc_fabric_clock *c, const struct ibcc_topo *t,
		     struct ibcc_why *why)
{
	const struct ibcc_node_clock *n = &c->node[c->liar];
	char others[32] = "";

	if (c->n_liars > 1)
		snprintf(others, sizeof(others), " (and %u more)", c->n_liars - 1);
	ibcc_why_set(why, 0,
		     "clock: \"%s\" 0x%016" PRIx64
		     "%s counts %.2f of the time that %u nodes agree on (TimeStamp); it is done "
		     "without",
		     t->node[c->liar].desc, t->node[c->liar].guid, others,
		     c->rate > 0 ? n->rate / c->rate : n->rate, c->n_agree);
}

void ibcc_clock_say(const struct ibcc_fabric_clock *c, const struct ibcc_topo *t,
		    struct ibcc_why *why)
{
	const char *used = c->in_use ? "nothing can be told until they go on"
				     : "rates are computed with the host's clock";

	switch (ibcc_clock_trouble(c)) {
	case IBCC_CLOCK_FINE: return;
	case IBCC_CLOCK_LIAR: say_liar(c, t, why); return;
	case IBCC_CLOCK_DISAGREE:
		ibcc_why_set(why, 0,
			     "clock: of %u nodes that tell the time (TimeStamp) %u agree, which is "
			     "not enough; %s",
			     c->n_told, c->n_agree, c->in_use ? "the last rate is used" : used);
		return;
	case IBCC_CLOCK_STILL:
		ibcc_why_set(why, 0, "clock: the TimeStamps of %u nodes stand still; %s",
			     c->n_agree, used);
		return;
	}
}
