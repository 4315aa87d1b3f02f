/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Switches at which nothing happens: one request for the sums of all ports (PortSelect 0xFF, IBA
 * vol. 1, 16.1) in place of one or two for each port.
 *
 * Only switches whose ports were idle when they were read in detail are asked in this way. Since
 * then, all ports together may never have sent, or waited, more than a hundredth of what one of
 * their links can in an interval. Then no port can be congested. And taking the ports' counters
 * as unchanged is off by no more than that. A pass over some ports alone (ibcc_collector_confine())
 * asks for no sums.
 */
#include <errno.h>

#include <ibcc/pma.h>

#include "lib/mad/collector_state.h"

#define ALL_PORTS    0xffu
#define IDLE_PERCENT 1u
/* Ports are read at least once in this many passes, whatever the sums say. */
#define DETAIL_PASSES 64u

/* How many words a port may send, and how many ticks it may wait, in an interval and still be idle:
 * the least of all ports. False: it is not known.
 */
static bool limits(const struct ibcc_topo *t, const struct ibcc_snapshot *s, uint32_t node,
		   uint64_t *words, uint64_t *ticks)
{
	const struct ibcc_topo_node *n = &t->node[node];
	uint64_t ns = s->interval_ns;

	*words = *ticks = UINT64_MAX;
	for (uint32_t p = n->first_port + 1; p <= n->first_port + n->n_ports; p++) {
		uint64_t tick_ps = s->port[p].tick_ps, w, k;

		if (!ibcc_collector_is_active(t, p))
			continue;
		w = t->port[p].rate_mbps * ns / 1000 / 32 * IDLE_PERCENT / 100;
		k = tick_ps ? ns * 1000 / tick_ps * IDLE_PERCENT / 100 : UINT64_MAX;
		*words = w < *words ? w : *words;
		*ticks = k < *ticks ? k : *ticks;
	}
	return ns && *words && *words != UINT64_MAX;
}

void ibcc_sums_take(struct ibcc_collector *c, const struct ibcc_mad_op *op, enum ibcc_ask_kind kind,
		    uint32_t node)
{
	struct ibcc_switch_sum *sum = &c->node[node].sum;
	struct ibcc_pma_counters plain;
	struct ibcc_pma_counters_ext ext;

	sum->answered |= op->err == 0 || op->err == -EREMOTEIO;
	if (op->err) {
		sum->lies |= ibcc_batch_is_refused(op);
		sum->missing = true;
	} else if (kind == IBCC_ASK_SUM) {
		ibcc_pma_counters_ext_unpack(op->mad, &ext);
		sum->words = ext.PortXmitData;
		sum->t_ns = op->t_ns;
		if (c->node[node].ext_wait)
			sum->ticks = ext.PortXmitWait;
	} else {
		ibcc_pma_counters_unpack(op->mad, &plain);
		sum->ticks = plain.PortXmitWait;
		/* the counter is at its end: the true value may be larger */
		sum->missing |= sum->ticks >= UINT32_MAX;
	}
}

/* Whether hardly anything has moved since the ports were read. */
static bool is_quiet(const struct ibcc_switch_sum *sum, uint64_t words, uint64_t ticks)
{
	return sum->has_base && sum->age < DETAIL_PASSES && sum->words >= sum->base_words &&
	       sum->ticks >= sum->base_ticks && sum->words - sum->base_words <= words &&
	       sum->ticks - sum->base_ticks <= ticks;
}

static int ask(struct ibcc_collector *c, const struct ibcc_topo *t, uint32_t node)
{
	const struct ibcc_node_state *n = &c->node[node];
	uint16_t lid = ibcc_collector_lid(t, ibcc_collector_first_active(t, node));
	struct ibcc_batch_tag tag = { .index = node, .kind = IBCC_ASK_SUM };
	int rc;

	rc = ibcc_collector_pma_get(c, t, node, lid, IBCC_PMA_ATTR_COUNTERS_EXT, ALL_PORTS, tag);
	tag.kind = IBCC_ASK_SUM_WAIT;
	if (!rc && !n->ext_wait && n->plain_wait)
		rc = ibcc_collector_pma_get(c, t, node, lid, IBCC_PMA_ATTR_COUNTERS, ALL_PORTS,
					    tag);
	return rc;
}

int ibcc_sums_ask(struct ibcc_collector *c, struct ibcc_transport *tr, const struct ibcc_topo *t,
		  const struct ibcc_snapshot *s)
{
	uint64_t words, ticks;
	int rc = 0;

	for (uint32_t i = 0; i < t->n_nodes && !rc; i++) {
		struct ibcc_switch_sum *sum = &c->node[i].sum;

		sum->asked = !c->only && ibcc_topo_is_switch(t, i) && sum->can && !sum->lies &&
			     sum->idle && c->node[i].known && limits(t, s, i, &words, &ticks);
		sum->quiet = sum->answered = sum->missing = false;
		if (sum->asked)
			rc = ask(c, t, i);
		if (!rc)
			rc = ibcc_collector_flush_if_full(c, tr, t);
	}
	if (!rc)
		rc = ibcc_collector_flush(c, tr, t);
	for (uint32_t i = 0; !c->only && i < t->n_nodes && !rc; i++) {
		struct ibcc_switch_sum *sum = &c->node[i].sum;

		if (sum->asked && !sum->missing && limits(t, s, i, &words, &ticks))
			sum->quiet = is_quiet(sum, words, ticks);
		sum->age = sum->quiet ? sum->age + 1 : 0;
	}
	return rc;
}

void ibcc_sums_fill(struct ibcc_collector *c, const struct ibcc_topo *t)
{
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		const struct ibcc_topo_node *n = &t->node[i];
		const struct ibcc_switch_sum *sum = &c->node[i].sum;

		c->node[i].answered |= sum->answered;
		for (uint32_t p = n->first_port + 1; p <= n->first_port + n->n_ports; p++) {
			if (!sum->quiet || !c->port[p].asked)
				continue;
			c->port[p].got = true;
			c->port[p].t_ns = sum->t_ns;
		}
	}
}

/* Judges a switch after its ports were read: whether they are idle, and what the sums were. If a
 * sum is less than its parts, it is not a sum, and the collector does not ask this switch for it
 * again.
 */
static void judge(struct ibcc_collector *c, const struct ibcc_topo *t,
		  const struct ibcc_snapshot *s, uint32_t node)
{
	const struct ibcc_topo_node *n = &t->node[node];
	struct ibcc_switch_sum *sum = &c->node[node].sum;
	uint64_t words, ticks, moved = 0, waited = 0, all = 0;

	sum->idle = limits(t, s, node, &words, &ticks);
	for (uint32_t p = n->first_port + 1; p <= n->first_port + n->n_ports; p++) {
		const struct ibcc_port_sample *ps = &s->port[p];

		if (!c->port[p].asked)
			continue;
		sum->idle &= ps->state == IBCC_SAMPLE_FRESH &&
			     ibcc_delta_exact(&ps->delta, IBCC_CTR_XMIT_DATA);
		moved += ps->delta.v[IBCC_CTR_XMIT_DATA];
		waited += ps->delta.v[IBCC_CTR_XMIT_WAIT];
		all += ps->now.v[IBCC_CTR_XMIT_DATA];
	}
	sum->idle &= moved <= words && waited <= ticks;
	sum->has_base = sum->asked && !sum->missing;
	sum->base_words = sum->words;
	sum->base_ticks = sum->ticks;
	/* The switch's ports were read a moment after the sum. */
	if (sum->has_base && sum->idle && sum->words + words < all)
		sum->lies = true;
}

void ibcc_sums_judge(struct ibcc_collector *c, const struct ibcc_topo *t,
		     const struct ibcc_snapshot *s)
{
	for (uint32_t i = 0; !c->only && i < t->n_nodes; i++)
		if (ibcc_topo_is_switch(t, i) && c->node[i].sum.can && !c->node[i].sum.quiet)
			judge(c, t, s, i);
}
