/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Adapters that do not count their waits: how long they may have waited is inferred from the
 * ports of their switch. Also marks of adapters that do not count them.
 *
 * An adapter waits when the buffer before it is full of packets for an output that is held up, or
 * that other senders fill. Whether it sends to that output cannot be seen. So the inferred wait
 * is an upper bound, and takes adapters for waiting that only send little. That is corrected as
 * soon as marks come, which name the contributors. A full output alone says little. That other
 * senders want it, too, shows if a port of another switch waits for this switch, or if the
 * adapter's own wait counter moves, though its unit is not known. Under control, an output stays
 * full while no sender waits.
 */
#include <ibcc/link.h>

#include "estimate.h"

#define MAX_TYPES 32u
/* One part in IDLE_SHARE (0.2 %): an adapter that sends less is idle, and one that waits less is
 * not blocked.
 */
#define IDLE_SHARE 500u

struct type {
	uint32_t vendor_id;
	uint16_t device_id;
	bool counts; /* some adapter of the type has counted a wait */
};

struct types {
	struct type type[MAX_TYPES];
	unsigned int n;
};

/* The type of a port's node; NULL: there are too many. */
static struct type *type_of(struct types *ts, const struct ibcc_topo *t, uint32_t port)
{
	const struct ibcc_topo_node *n = &t->node[t->port[port].node];

	for (unsigned int i = 0; i < ts->n; i++)
		if (ts->type[i].vendor_id == n->vendor_id && ts->type[i].device_id == n->device_id)
			return &ts->type[i];
	if (ts->n == MAX_TYPES)
		return NULL;
	ts->type[ts->n] = (struct type){ .vendor_id = n->vendor_id, .device_id = n->device_id };
	return &ts->type[ts->n++];
}

/* Marks the ports that count no waits as blind. If no adapter of a type ever counted a wait, the
 * type does not count them, whatever it claims.
 */
static void find_blind(const struct estimation *j)
{
	struct types types = { .n = 0 };

	for (uint32_t i = 0; i < j->t->n_ports && i < j->s->n_ports; i++) {
		const struct ibcc_counters *c = &j->s->port[i].now;
		struct type *of =
			j->load[i].read && is_ca_port(j->t, i) ? type_of(&types, j->t, i) : NULL;

		if (of)
			of->counts |= !j->load[i].blind && c->v[IBCC_CTR_XMIT_WAIT];
	}
	for (uint32_t i = 0; i < j->t->n_ports && i < j->s->n_ports; i++) {
		struct type *of =
			j->load[i].usable && is_ca_port(j->t, i) ? type_of(&types, j->t, i) : NULL;

		j->load[i].blind |= of && !of->counts;
		j->out->n_blind += j->load[i].blind;
	}
}

/* Whether any switch port of the fabric marks. */
static bool any_marks(const struct estimation *j)
{
	for (uint32_t i = 0; i < j->t->n_ports; i++) {
		const struct ibcc_endport_cc *sw = is_ca_port(j->t, i) ? NULL : switch_cc(j, i);

		if (sw && ibcc_settings_port_marks(sw, j->t->port[i].num))
			return true;
	}
	return false;
}

/* Whether an adapter sends more than next to nothing. */
static bool sends(const struct estimation *j, uint32_t port)
{
	return j->load[port].usable &&
	       (uint64_t)j->load[port].mbps * IDLE_SHARE >= j->t->port[port].rate_mbps;
}

/* Whether an adapter waits, by a counter whose unit is not known. It does if the counter makes 0.2
 * % of the time even with the shortest possible unit, the time of a byte on its link.
 */
static bool waits_somehow(const struct estimation *j, uint32_t port)
{
	const struct ibcc_port_sample *s = &j->s->port[port];
	uint64_t byte_ps = ibcc_link_bytes_ps(j->t->port[port].rate_mbps, 1);

	return !s->tick_ps && ibcc_delta_exact(&s->delta, IBCC_CTR_XMIT_WAIT) &&
	       s->delta.v[IBCC_CTR_XMIT_WAIT] * byte_ps >= s->delta.dt_ns * 1000 / IDLE_SHARE;
}

/* For what share of the time, in permille, an output may block adapters. `full`: an output that is
 * full without waiting counts, too.
 */
static uint16_t holds_up(const struct estimation *j, uint32_t port, bool full)
{
	const struct load *l = &j->load[port];

	if (!l->usable || l->sent + l->waited < j->p->full_permille)
		return 0;
	if (l->waited >= j->p->slow_wait_permille)
		return l->waited;
	return full ? 1000 : 0;
}

/* Infers the waits of the blind adapters at one switch: while an adapter does not send, it may
 * wait for the output that holds up longest.
 */
static void infer_at(const struct estimation *j, const struct ibcc_topo_node *sw, bool marks)
{
	bool fed = false;
	uint32_t n = 0;

	for (uint32_t p = sw->first_port + 1; p <= sw->first_port + sw->n_ports; p++) {
		uint32_t q = j->t->port[p].peer;

		n += q != IBCC_NONE && sends(j, q);
		fed |= q != IBCC_NONE && !is_ca_port(j->t, q) && load_blocked(j->p, &j->load[q]);
	}
	for (uint32_t p = sw->first_port + 1; p <= sw->first_port + sw->n_ports; p++) {
		uint32_t ca = j->t->port[p].peer;
		uint32_t most = 0;
		bool wanted;

		if (ca == IBCC_NONE || n < 2 || !j->load[ca].blind || !sends(j, ca))
			continue;
		wanted = fed || waits_somehow(j, ca);
		for (uint32_t o = sw->first_port + 1; o <= sw->first_port + sw->n_ports; o++) {
			uint16_t by = o == p ? 0 : holds_up(j, o, wanted && !marks);

			most = by > most ? by : most;
		}
		j->load[ca].waited = (uint16_t)((1000u - j->load[ca].sent) * most / 1000);
	}
}

void ibcc_estimate_infer_waits(const struct estimation *j)
{
	bool marks = any_marks(j);

	find_blind(j);
	for (uint32_t i = 0; j->out->n_blind && i < j->t->n_nodes; i++)
		if (ibcc_topo_is_switch(j->t, i))
			infer_at(j, &j->t->node[i], marks);
}

/* Whether some adapter that was read lacks a counter. */
static bool any_without(const struct estimation *j, enum ibcc_ctr ctr)
{
	for (uint32_t i = 0; i < j->t->n_ports && i < j->s->n_ports; i++)
		if (is_ca_port(j->t, i) && j->load[i].usable && !j->s->port[i].now.width[ctr])
			return true;
	return false;
}

static bool is_log_doubted(const struct estimation *j, uint32_t node)
{
	return node < j->t->n_nodes &&
	       j->s->port[j->t->node[node].first_port].trust.doubt == IBCC_DOUBT_LOG;
}

/* If some adapter does not count its BECNs, the log's packets are used for all: counts of some
 * adapters and log samples of others cannot be compared. FECNs of an adapter that does not count
 * them are the log's, too.
 */
void ibcc_estimate_infer_marks(const struct estimation *j)
{
	bool becn = any_without(j, IBCC_CTR_RCV_BECN);

	for (uint32_t i = 0; becn && i < j->t->n_ports; i++)
		j->load[i].becn = 0;
	for (uint32_t i = 0; i < j->s->n_marks; i++) {
		uint32_t src = ibcc_topo_port_of_lid(j->t, j->s->mark[i].slid);
		uint32_t dst = ibcc_topo_port_of_lid(j->t, j->s->mark[i].dlid);

		if (is_log_doubted(j, j->s->mark[i].node) || src == IBCC_NONE || dst == IBCC_NONE ||
		    src >= j->s->n_ports || dst >= j->s->n_ports || !is_ca_port(j->t, src) ||
		    !is_ca_port(j->t, dst) || !j->load[src].read || !j->load[dst].read)
			continue;
		j->load[src].becn += becn;
		j->load[dst].fecn += !j->s->port[dst].now.width[IBCC_CTR_RCV_FECN];
	}
}
