/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Turns the answers of a pass into samples with their times, and finds out units. */
#include <errno.h>

#include "lib/mad/collector_state.h"

/* An interval, and the units that are found out from it, are wrong by at most one part in
 * LATE_SHARE. That is less than what makes a unit impossible (units.c).
 */
#define LATE_SHARE 20u

/* Whether an answer came soon enough to learn units from it. A host without a processor to spare
 * takes an answer late, and how late is unknown. If that may be a large part of the interval, what
 * seems to be sent and waited for in it says nothing about units.
 */
static bool is_in_time(const struct ibcc_port_state *p)
{
	return (p->last_late_ns + p->late_ns) * LATE_SHARE <= p->t_ns - p->last_t_ns;
}

uint64_t ibcc_collector_late(const struct ibcc_mad_op *op)
{
	return op->sent_ns && op->t_ns > op->sent_ns ? op->t_ns - op->sent_ns : 0;
}

static int tick_of(const struct ibcc_port_state *p)
{
	return p->has_tick ? p->tick : -1;
}

/* Learns where counters stop. The counters of all devices of one type stop in the same way. */
static void learn_ends(struct ibcc_collector *c, const struct ibcc_topo *t,
		       const struct ibcc_snapshot *s)
{
	for (uint32_t i = 0; i < t->n_ports; i++) {
		uint32_t at = t->port[i].node;
		uint32_t ends = c->port[i].got ? ibcc_counters_at_end(&s->port[i].now) : 0;

		if (!(ends & ~c->node[at].stops))
			continue;
		for (uint32_t k = 0; k < t->n_nodes; k++)
			if (t->node[k].vendor_id == t->node[at].vendor_id &&
			    t->node[k].device_id == t->node[at].device_id)
				c->node[k].stops |= ends;
	}
}

/* Records the ticks as they are known after this pass. A port whose counters contradict its tick is
 * not believed in this pass.
 */
static void record_units(struct ibcc_collector *c, const struct ibcc_topo *t,
			 struct ibcc_snapshot *s)
{
	ibcc_units_conclude(c->units);
	learn_ends(c, t, s);
	for (uint32_t i = 0; i < t->n_ports; i++) {
		struct ibcc_port_sample *p = &s->port[i];

		if (!c->port[i].got)
			continue;
		p->tick_ps = ibcc_units_tick_ps(c->units, t, i, tick_of(&c->port[i]));
		ibcc_counters_distrust(&p->now, t->port[i].rate_mbps, p->tick_ps,
				       c->node[t->port[i].node].stops, &p->delta);
	}
}

void ibcc_collector_record(struct ibcc_collector *c, const struct ibcc_topo *t,
			   struct ibcc_snapshot *s)
{
	for (uint32_t i = 0; i < t->n_ports; i++) {
		struct ibcc_port_state *p = &c->port[i];
		uint32_t node = t->port[i].node;
		bool in_time = is_in_time(p);

		if (!p->asked)
			continue;
		if (!p->got) {
			int err = c->node[node].known ? p->err : c->node[node].err;

			ibcc_snapshot_miss(s, i, err ? err : -ETIMEDOUT);
			continue;
		}
		p->now.t_ns = p->last_t_ns = p->t_ns;
		p->last_late_ns = p->late_ns;
		if (c->node[node].sum.quiet) {
			ibcc_snapshot_hold(s, i, p->now.t_ns);
			continue;
		}
		ibcc_snapshot_record(s, i, &p->now, 0);
		if (p->errors_got)
			ibcc_link_errors_take(&s->port[i].errors, p->t_ns, p->errors);
		if (s->port[i].state == IBCC_SAMPLE_FRESH && in_time)
			ibcc_units_look(c->units, t, i, tick_of(p), &s->port[i].delta);
	}
	record_units(c, t, s);
	for (uint32_t i = 0; i < t->n_nodes; i++)
		if (!c->node[i].left_out)
			c->node[i].silent = !c->node[i].answered;
}
