/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Judges whether a switch's CongestionLog is believed. For that, it compares the log with the
 * counters of the adapters that the log names.
 *
 * A port marks one packet as likely as another. So of n logged packets, the share l_i of an
 * adapter is its share of what the root carries. Two counters that the switch cannot influence
 * say the same:
 *
 * 	BECNs	the adapter got the share b_i of the root's marks, as a BECN follows each of them;
 * 	bytes	it sent x_i Mb/s in all, so of the root's R Mb/s not more than x_i / R.
 *
 * The log claims too much for an adapter by l_i - b_i, or by l_i - (1 + TOLERANCE) x_i / R. The
 * sum over all adapters is the untrue part of the log; with b_i, that is also what the log leaves
 * out. By sampling alone, n packets of k adapters are off by 0.4 sqrt(k / n) on the mean.
 *
 * An adapter that contributes to another root may have its BECNs from there, so only its bytes
 * count. The same holds for all adapters if other ports of the root's switch mark.
 */
#include <math.h>
#include <string.h>

#include "estimate.h"

/* The check needs this many packets, half of what a log needs to name limited pairs. */
#define MIN_SAMPLES 30.0
/* The check contradicts a log if more than this share of it is untrue beyond what chance explains.
 * Of honest logs, one in a thousand had 0.03 beyond chance.
 */
#define UNTRUE 0.3
/* The factor of sampling in the head comment. */
#define CHANCE 0.4
/* The log may claim more of the root than an adapter's bytes allow, by this share. */
#define TOLERANCE 0.25

struct claims {
	double marks;              /* BECNs in a pass of the adapters whose BECNs are the root's */
	double open;               /* share in the log of all other adapters */
	uint32_t n;                /* adapters that are logged or marked */
	double by_becns, by_bytes; /* the part of the log that claims too much, 0 to 1 */
};

/* Returns whether an adapter contributes to another root, by that root's parameters or log. */
static bool is_elsewhere(const struct estimation *j, const struct root_history *m, uint32_t endport)
{
	const struct ibcc_root_parameters *o;

	ibcc_parameters_each (o, j->last)
		if (o->port != m->port && o->member[endport])
			return true;
	return ibcc_estimate_logged_elsewhere(j->m, m, j->t->endport[endport]);
}

/* Returns how many BECNs an adapter gets in a pass from this root alone. The result is negative if
 * that is not known.
 */
static double becns_of(const struct estimation *j, const struct root_history *m, uint32_t endport)
{
	const struct endport_count *c = &m->marked[endport];

	if (!ibcc_estimate_marks_alone(j, m->port) || c->passes < 1 || is_elsewhere(j, m, endport))
		return -1;
	return c->n / c->passes;
}

static void sum_up(const struct estimation *j, const struct root_history *m, struct claims *c)
{
	for (uint32_t i = 0; i < m->n_endports; i++) {
		double logged = ibcc_estimate_logged(m, j->t->endport[i]) / m->samples;
		double becns;

		/* Most adapters of a large fabric have nothing to do with a root. */
		if (!(logged > 0) && !(m->becn[i] > 0))
			continue;
		becns = becns_of(j, m, i);
		if (becns < 0)
			c->open += logged;
		else
			c->marks += becns;
		c->n++;
	}
}

static void compare(const struct estimation *j, const struct root_history *m, struct claims *c)
{
	double root_mbps = m->sent_ns > 0 ? m->sent_mbps / m->sent_ns : 0;

	for (uint32_t i = 0; i < m->n_endports; i++) {
		double logged = ibcc_estimate_logged(m, j->t->endport[i]) / m->samples;
		const struct endport_count *e = &m->marked[i];
		double becns;

		if (!(logged > 0))
			continue;
		becns = becns_of(j, m, i);
		if (becns >= 0 && c->marks > 0)
			c->by_becns += fmax(0, logged - (1 - c->open) * becns / c->marks);
		if (e->reads >= 1 && root_mbps > 0)
			c->by_bytes +=
				fmax(0, logged - (1 + TOLERANCE) * e->mbps / e->reads / root_mbps);
	}
}

enum ibcc_log_verdict ibcc_estimate_check_log(const struct estimation *j, struct root_history *m)
{
	struct claims c = { 0 };

	if (m->samples < MIN_SAMPLES || m->passes < IBCC_JUDGE_PASSES)
		return IBCC_LOG_OPEN;
	sum_up(j, m, &c);
	compare(j, m, &c);
	m->untrue = fmax(c.by_becns, c.by_bytes) > UNTRUE + CHANCE * sqrt(c.n / m->samples);
	if (!m->untrue)
		return IBCC_LOG_AGREES;
	m->n = 0;
	m->samples = m->marks = 0;
	memset(m->marked, 0, m->n_endports * sizeof(*m->marked));
	return IBCC_LOG_CONTRADICTED;
}

/* Returns whether the log of a switch is contradicted. One of its roots is enough for that. */
static bool is_contradicted(const struct ibcc_estimate *p, const struct ibcc_topo *t, uint32_t node)
{
	for (uint32_t k = 0; k < p->n_known; k++)
		if (t->port[p->root[k].port].node == node &&
		    p->root[k].log == IBCC_LOG_CONTRADICTED)
			return true;
	return false;
}

void ibcc_estimate_tell_logs(const struct ibcc_estimate *p, const struct ibcc_topo *t,
			     struct ibcc_snapshot *s)
{
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		bool any = false;

		for (uint32_t k = 0; k < p->n_known; k++)
			any |= t->port[p->root[k].port].node == i &&
			       p->root[k].log != IBCC_LOG_OPEN;
		if (any)
			ibcc_trust_log(&s->port[t->node[i].first_port].trust,
				       is_contradicted(p, t, i));
	}
}
