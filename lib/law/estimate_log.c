/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds which pairs of source and destination send through a root, by the packets that switches
 * logged as marked (CongestionLog).
 *
 * A port marks one packet as likely as another, so a pair's share of the log is its share of the
 * root's rate. The log does not say which port of the switch marked a packet, but the packet's
 * route does. A log has only few packets of each pair. If a source is logged for one root alone,
 * all its BECNs are that root's, and count its packets exactly (weigh()).
 *
 * First ibcc_estimate_sort_log() sorts a pass's log by port; then ibcc_estimate_count_pairs() adds
 * it to the counts of a held root.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/grow.h>
#include <ibcc/route.h>

#include "estimate.h"

/* In a pass, this share of the counts fades, or (new packets) / KEPT if that is less. */
#define FADE 0.05
#define KEPT 80.0
/* The estimator forgets a pair that has fewer packets in the counts. */
#define GONE 0.05
/* In a pass, the rate of a slow receiver follows what is measured by this share of the difference.
 */
#define FOLLOW 0.1

/* Finds the pair of a logged packet, and the port that marked it. Returns false if the packet's
 * source or route is not known.
 */
static bool find_pair(const struct ibcc_topo *t, const struct ibcc_mark *m, struct ibcc_pair *p)
{
	uint32_t src = ibcc_topo_port_of_lid(t, m->slid);
	struct ibcc_route way;

	if (src == IBCC_NONE || !is_ca_port(t, src) || ibcc_route_follow(t, src, m->dlid, &way))
		return false;
	for (unsigned int i = 0; i < way.n; i++) {
		if (t->port[way.out[i]].node != m->node)
			continue;
		*p = (struct ibcc_pair){
			.port = way.out[i], .src = src, .dlid = m->dlid, .packets = 1
		};
		return true;
	}
	return false;
}

static int by_pair(const void *a, const void *b)
{
	const struct ibcc_pair *x = a, *y = b;
	int ret = order(x->port, y->port);

	if (!ret)
		ret = order(x->src, y->src);
	return ret ? ret : order(x->dlid, y->dlid);
}

static int by_packets(const void *a, const void *b)
{
	const struct ibcc_pair *x = a, *y = b;
	int ret = order(x->port, y->port);

	if (!ret)
		ret = order(y->packets, x->packets);
	return ret ? ret : by_pair(a, b);
}

/* Merges neighbours that are the same pair, and adds their packets. */
static void merge(struct ibcc_estimate *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_pairs; i++) {
		if (n && !by_pair(&p->pair[n - 1], &p->pair[i]))
			p->pair[n - 1].packets += p->pair[i].packets;
		else
			p->pair[n++] = p->pair[i];
	}
	p->n_pairs = n;
}

int ibcc_estimate_sort_log(struct estimation *j)
{
	struct ibcc_estimate *p = j->out;

	if (!j->s->n_marks)
		return 0;
	p->pair = calloc(j->s->n_marks, sizeof(*p->pair));
	if (!p->pair)
		return -ENOMEM;
	for (uint32_t i = 0; i < j->s->n_marks; i++) {
		struct ibcc_pair *q = &p->pair[p->n_pairs];

		p->n_pairs += find_pair(j->t, &j->s->mark[i], q) &&
			      j->s->port[q->port].trust.doubt == IBCC_DOUBT_NONE;
	}
	qsort(p->pair, p->n_pairs, sizeof(*p->pair), by_pair);
	merge(p);
	qsort(p->pair, p->n_pairs, sizeof(*p->pair), by_packets);
	return 0;
}

/* Lets a root's counts fade as far as new packets take their place, since a root with few sources
 * and a long timer marks hardly any packets. If no marks come for several passes, counts fade
 * nevertheless. Returns the share that faded.
 */
static double fade(struct root_history *m, const struct ibcc_root *now)
{
	double packets = 0, share = FADE;
	uint32_t n = 0;

	for (uint32_t i = 0; i < now->n_pairs; i++)
		packets += now->pair[i].packets;
	if (m->unlogged < IBCC_UNLOGGED_MAX)
		share = fmin(FADE, packets / KEPT);
	m->unlogged += m->unlogged < UINT16_MAX;
	m->samples = 0;
	for (uint32_t i = 0; i < m->n; i++) {
		struct pair_count *q = &m->pair[i];

		q->logged *= 1 - share;
		if (q->logged < GONE)
			continue;
		m->samples += q->logged;
		m->pair[n++] = *q;
	}
	m->n = n;
	m->sent_mbps *= 1 - FADE;
	m->sent_ns *= 1 - FADE;
	m->passes *= 1 - FADE;
	return share;
}

/* Notes what a root sent, and with it what a slow receiver can take. The latter shows only when it
 * takes all that it can: when its port waits for it, or sends more than was known. A receiver that
 * pauses says nothing about that: the result is false then. The time of a reading is known less
 * exactly than what was read. An interval that is taken for too short has one beside it that is
 * taken for too long, so the mean is over time, not over rates.
 */
static bool note_rate(struct root_history *m, const struct load *l)
{
	if (!l->usable || l->mbps * IBCC_TRACE_SHARE < m->capacity_mbps)
		return false;
	m->sent_mbps += (double)l->mbps * (double)l->ns;
	m->sent_ns += (double)l->ns;
	m->passes += 1;
	if (l->waited > IBCC_JAM_PERMILLE)
		m->capacity_mbps += FOLLOW * (l->mbps - m->capacity_mbps);
	else if (m->passes >= IBCC_JUDGE_PASSES)
		m->capacity_mbps = fmax(m->capacity_mbps, m->sent_mbps / m->sent_ns);
	return true;
}

/* Notes what each adapter sent, in passes in which the root's own rate counts. */
static void note_sent(struct root_history *m, const struct estimation *j, bool counted)
{
	for (uint32_t i = 0; i < j->t->n_endports; i++) {
		const struct load *l = &j->load[j->t->endport[i]];
		struct endport_count *c = &m->marked[i];

		if (l->kept)
			continue;
		c->mbps *= 1 - FADE;
		c->reads *= 1 - FADE;
		if (!counted || !l->usable)
			continue;
		c->mbps += l->mbps;
		c->reads += 1;
	}
}

static int add(struct root_history *m, const struct ibcc_pair *now)
{
	uint32_t i = 0;

	while (i < m->n && (m->pair[i].src != now->src || m->pair[i].dlid != now->dlid))
		i++;
	if (i == m->n) {
		struct pair_count *grown = ibcc_grow(m->pair, i, &m->cap, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		m->pair = grown;
		m->pair[m->n++] = (struct pair_count){ .src = now->src, .dlid = now->dlid };
	}
	m->pair[i].logged += now->packets;
	m->samples += now->packets;
	m->unlogged = 0;
	return 0;
}

/* Returns whether a root is under control with settled parameters. */
static bool is_held(const struct ibcc_root_parameters *r)
{
	return r->phase == IBCC_PHASE_HOLD && r->in_force;
}

/* Returns whether an endport belongs to another root that is not held. Its BECNs may be from that
 * root.
 */
static bool is_marked_elsewhere(const struct ibcc_parameters *last, uint32_t port, uint32_t i)
{
	const struct ibcc_root_parameters *o;

	ibcc_parameters_each (o, last)
		if (o->port != port && !is_held(o) && o->member[i])
			return true;
	return false;
}

/* Notes each adapter's BECNs that may be the root's. */
static void note_becns(struct root_history *m, const struct estimation *j, double share)
{
	for (uint32_t i = 0; i < j->t->n_endports; i++) {
		const struct ibcc_port_sample *s = &j->s->port[j->t->endport[i]];

		/* An adapter that was not read, or is not believed, keeps its count. */
		if (s->state != IBCC_SAMPLE_FRESH || !tells_becns(s) ||
		    !ibcc_delta_exact(&s->delta, IBCC_CTR_RCV_BECN))
			continue;
		m->marked[i].n *= 1 - share;
		m->marked[i].passes *= 1 - share;
		if (is_marked_elsewhere(j->last, m->port, i))
			continue;
		m->marked[i].n += (double)marks_in_interval(j->s, s, IBCC_CTR_RCV_BECN);
		m->marked[i].passes += 1;
	}
}

/* Counts restart while nothing can be learned: as long as a tree is being emptied, all adapters
 * hardly send.
 */
int ibcc_estimate_count_pairs(struct root_history *m, const struct estimation *j,
			      const struct ibcc_root *now)
{
	const struct ibcc_root_parameters *r = m->held;
	int ret = 0;

	if (!r || !is_held(r)) {
		m->n = 0;
		m->samples = m->marks = m->sent_mbps = m->sent_ns = m->passes = 0;
		free(m->marked);
		m->marked = NULL;
		return 0;
	}
	if (!m->marked)
		m->marked = calloc(j->t->n_endports, sizeof(*m->marked));
	if (!m->marked)
		return -ENOMEM;
	note_becns(m, j, fade(m, now));
	if (!(m->capacity_mbps > 0) || m->kind != r->kind)
		m->capacity_mbps = r->rate_mbps;
	m->kind = r->kind;
	note_sent(m, j, note_rate(m, &j->load[m->port]));
	for (uint32_t i = 0; i < now->n_pairs && !ret; i++)
		ret = add(m, &now->pair[i]);
	return ret;
}

double ibcc_estimate_logged(const struct root_history *m, uint32_t src)
{
	double sum = 0;

	for (uint32_t i = 0; i < m->n; i++)
		sum += m->pair[i].src == src ? m->pair[i].logged : 0;
	return sum;
}

bool ibcc_estimate_logged_elsewhere(const struct ibcc_estimator *m, const struct root_history *r,
				    uint32_t src)
{
	for (uint32_t k = 0; k < m->n; k++)
		if (&m->root[k] != r && ibcc_estimate_logged(&m->root[k], src) >= 1)
			return true;
	return false;
}

bool ibcc_estimate_marks_alone(const struct estimation *j, uint32_t port)
{
	const struct ibcc_endport_cc *sw = switch_cc(j, port);

	return !sw || !sw->sw.Threshold;
}

/* Gives each pair its marks: its source's BECNs if they are known to be the root's, otherwise as
 * many as its packets in the log stand for.
 */
static void weigh(struct root_history *m, const struct estimation *j)
{
	double marks = 0, logged = 0;

	m->marks = 0;
	for (uint32_t i = 0; i < m->n; i++) {
		struct pair_count *q = &m->pair[i];
		const struct endport_count *becns = &m->marked[j->t->port[q->src].endport];
		double part;

		q->marks = 0;
		q->chance = 1 / q->logged;
		if (becns->n < 1 || !ibcc_estimate_marks_alone(j, m->port) ||
		    ibcc_estimate_logged_elsewhere(j->m, m, q->src))
			continue;
		part = q->logged / ibcc_estimate_logged(m, q->src);
		q->marks = part * becns->n / becns->passes;
		q->chance = 1 / becns->n + (1 - part) / q->logged;
		marks += q->marks;
		logged += q->logged;
	}
	for (uint32_t i = 0; i < m->n; i++) {
		struct pair_count *q = &m->pair[i];

		if (!(q->marks > 0))
			q->marks = logged > 0 ? q->logged * marks / logged : q->logged;
		m->marks += q->marks;
	}
}

void ibcc_estimate_weigh_pairs(const struct estimation *j)
{
	for (uint32_t k = 0; k < j->m->n; k++)
		weigh(&j->m->root[k], j);
}
