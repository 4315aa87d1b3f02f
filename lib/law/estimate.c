/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The estimator: makes an estimate of one pass (estimate.h). This file has its run, the loads of
 * ports, and what is remembered of roots between passes: how long they have been there, and how
 * many BECNs each adapter got while they were. Begin with ibcc_estimator_run().
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <ibcc/grow.h>

#include "estimate.h"

#define FADE_MAX 0.25 /* of BECN counts, in a pass */
/* What a link shows that fell from 4x to 2x or to 1x: permille of the rate that it is then believed
 * to have, with 2 % for errors of readings. What other ports send in this range, they do not send
 * in so many passes in a row: in a pass, 2 % is little for the sum of several flows. Of healthy
 * links, more send a half than a quarter.
 */
#define NARROW_LEAST   976u
#define NARROW_MOST    1016u
#define QUARTER_PASSES 8u
#define HALF_PASSES    12u

void ibcc_estimator_defaults(struct ibcc_estimator_params *p)
{
	*p = (struct ibcc_estimator_params){
		.full_permille = 970,
		.fed_wait_permille = 50,
		.ca_wait_permille = 100,
		.slow_wait_permille = 100,
		.stale_permille = 100,
	};
}

struct ibcc_estimator *ibcc_estimator_new(const struct ibcc_estimator_params *p)
{
	struct ibcc_estimator *m = calloc(1, sizeof(*m));

	if (m)
		m->p = *p;
	return m;
}

/* Frees what is remembered of a root, and moves the last one into its place. */
static void forget_root(struct ibcc_estimator *m, struct root_history *r)
{
	free(r->becn);
	free(r->sends);
	free(r->pair);
	free(r->marked);
	*r = m->root[--m->n];
}

void ibcc_estimator_reset(struct ibcc_estimator *m)
{
	while (m->n)
		forget_root(m, &m->root[m->n - 1]);
	free(m->root);
	free(m->load);
	free(m->narrow);
	*m = (struct ibcc_estimator){ .p = m->p };
}

void ibcc_estimator_retune(struct ibcc_estimator *m, const struct ibcc_estimator_params *p)
{
	m->p = *p;
	m->n_endports = IBCC_NONE; /* of no topology */
}

void ibcc_estimator_free(struct ibcc_estimator *m)
{
	if (!m)
		return;
	ibcc_estimator_reset(m);
	free(m);
}

void ibcc_estimate_fini(struct ibcc_estimate *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; p->root && i < p->n_known; i++)
		free(p->root[i].source);
	free(p->root);
	free(p->pair);
	*p = (struct ibcc_estimate){ 0 };
}

const struct ibcc_root *ibcc_estimate_find(const struct ibcc_estimate *p, uint32_t port)
{
	for (uint32_t i = 0; i < p->n_known; i++)
		if (p->root[i].port == port)
			return &p->root[i];
	return NULL;
}

bool ibcc_estimate_sees(const struct ibcc_estimate *p, const struct ibcc_root *r)
{
	return r && r < p->root + p->n_roots;
}

/* A port's marks in one interval, or 0. */
static uint64_t count(const struct estimation *j, const struct ibcc_port_sample *s, enum ibcc_ctr c)
{
	return ibcc_delta_valid(&s->delta, c) ? marks_in_interval(j->s, s, c) : 0;
}

/* A port's load of the interval. The counters of a port that is not believed, or not read, are
 * not used.
 */
static struct load make_load(const struct estimation *j, uint32_t i, bool is_ca)
{
	const struct ibcc_topo_port *port = &j->t->port[i];
	const struct ibcc_port_sample *s = &j->s->port[i];
	struct load l = { .read = port->num && ibcc_topo_has_link(j->t, i) && port->rate_mbps &&
				  s->trust.doubt == IBCC_DOUBT_NONE };
	uint64_t sent;

	if (!l.read || !ibcc_sample_is_known(s))
		return l;
	l.kept = s->state == IBCC_SAMPLE_KEPT;
	l.fecn = count(j, s, IBCC_CTR_RCV_FECN);
	l.becn = tells_becns(s) ? count(j, s, IBCC_CTR_RCV_BECN) : 0;
	/* A switch's port that counts no waits is left out; an adapter's waits are inferred. */
	l.blind = !s->now.width[IBCC_CTR_XMIT_WAIT] || !s->tick_ps;
	l.read = !l.blind || is_ca;
	if (!ibcc_delta_exact(&s->delta, IBCC_CTR_XMIT_DATA) ||
	    !(l.blind ? is_ca : ibcc_delta_exact(&s->delta, IBCC_CTR_XMIT_WAIT)))
		return l;
	l.usable = true;
	l.mbps = ibcc_delta_xmit_mbps(&s->delta);
	l.ns = s->delta.dt_ns;
	sent = (uint64_t)l.mbps * 1000 / port->rate_mbps;
	l.sent = (uint16_t)(sent < 1000 ? sent : 1000);
	l.waited = (uint16_t)ibcc_delta_wait_permille(&s->delta, s->tick_ps);
	return l;
}

static bool is_same_rate(uint32_t a, uint32_t b)
{
	return a >= b - b / 50 && a <= b + b / 50;
}

/* Whether a port that sends to a port's switch waits, and no others send just what the port does
 * without waiting: one, or all those together that are full. They explain the port's rate: one or
 * two adapters of 100 Gb/s, for example, whose packets a link of 400 Gb/s passes on.
 */
static bool has_feeder(const struct estimation *j, uint32_t port)
{
	const struct ibcc_topo_node *sw = &j->t->node[j->t->port[port].node];
	uint32_t mbps = j->load[port].mbps, full_mbps = 0;
	bool waits = false;

	for (uint32_t i = sw->first_port + 1; i <= sw->first_port + sw->n_ports; i++) {
		uint32_t peer = j->t->port[i].peer;
		const struct load *l = peer == IBCC_NONE ? NULL : &j->load[peer];

		if (!l || i == port)
			continue;
		if (l->waited >= j->p->ca_wait_permille)
			waits = true;
		else if (l->usable && is_same_rate(l->mbps, mbps))
			return false;
		else if (l->usable && l->sent >= j->p->full_permille)
			full_mbps += l->mbps;
	}
	return waits && !is_same_rate(full_mbps, mbps);
}

static bool is_narrow(const struct narrow *n)
{
	return n->passes >= (n->part == 2 ? HALF_PASSES : QUARTER_PASSES);
}

/* A link that fell from 4x to 2x or 1x without a trap carries a half or a quarter of the rate that
 * it is believed to have, and so looks idle. It shows by a switch port that has credits, sends that
 * part pass after pass, not more and not less, and has feeders that wait. From then on its load
 * counts by the rate that it shows, until it sends more.
 */
static void note_narrow(const struct estimation *j, uint32_t port)
{
	struct load *l = &j->load[port];
	struct narrow *n = &j->m->narrow[port];
	uint8_t part = l->sent * 4 <= NARROW_MOST ? 4 : 2;
	bool shows;

	if (!l->usable || is_ca_port(j->t, port))
		return;
	if (l->sent * n->part > NARROW_MOST)
		n->passes = 0;
	if (!l->kept && !is_narrow(n)) {
		shows = l->sent * part >= NARROW_LEAST && l->sent * part <= NARROW_MOST &&
			l->waited < j->p->fed_wait_permille && has_feeder(j, port);
		n->passes = !shows ? 0 : part == n->part ? n->passes + 1 : 1;
		n->part = part;
	}
	if (!is_narrow(n))
		return;
	l->narrow = n->part;
	l->sent = l->sent * n->part < 1000 ? l->sent * n->part : 1000;
}

/* The loads of all ports, and whether enough of them are known to act on the estimate. */
static void make_loads(const struct estimation *j)
{
	struct load *load = j->load;
	uint32_t expected = 0, usable = 0, doubted = 0, unsure = 0;

	for (uint32_t i = 0; i < j->t->n_ports && i < j->s->n_ports; i++) {
		load[i] = make_load(j, i, is_ca_port(j->t, i));
		doubted += j->s->port[i].trust.doubt != IBCC_DOUBT_NONE;
		expected += load[i].read;
		j->out->partial |= load[i].kept;
		usable += load[i].usable;
		unsure += load[i].read && !load[i].usable && ibcc_sample_is_known(&j->s->port[i]);
	}
	/* If only our own adapter answers, its counters say nothing about a fabric. */
	if (j->t->n_nodes == 1)
		expected = usable = doubted = 0;
	j->out->n_expected = expected;
	j->out->n_usable = usable;
	j->out->n_unsure = unsure;
	ibcc_estimate_infer_marks(j);
	ibcc_estimate_infer_waits(j);
	for (uint32_t i = 0; i < j->t->n_ports; i++) {
		note_narrow(j, i);
		if (!load[i].read || !is_ca_port(j->t, i))
			continue;
		j->out->fecn += load[i].fecn;
		j->out->becn += load[i].becn;
	}
	j->out->trustworthy =
		(usable || doubted) && j->s->interval_ns &&
		(uint64_t)(expected - usable) * 1000 <= (uint64_t)expected * j->p->stale_permille;
}

/* Updates the mean load of an adapter over about two passes. One that was not read keeps its load.
 */
static void note_load(struct ibcc_load *l, const struct load *now)
{
	if (!now->usable || now->kept)
		return;
	l->mbps = l->known ? (l->mbps + now->mbps) / 2 : now->mbps;
	l->wait_permille = l->known ? (l->wait_permille + now->waited) / 2 : now->waited;
	l->known = true;
	l->blind = now->blind;
}

/* Moves what is remembered of a root's port to place k, that of the estimate's root; makes it if
 * new. */
static int remember(struct ibcc_estimator *m, uint32_t port, uint32_t k)
{
	struct root_history r = { .port = port, .n_endports = m->n_endports }, *grown;
	uint32_t i = k;

	while (i < m->n && m->root[i].port != port)
		i++;
	if (i == m->n) {
		grown = ibcc_grow(m->root, m->n, &m->cap, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		m->root = grown;
		r.becn = calloc(m->n_endports, sizeof(*r.becn));
		r.sends = calloc(m->n_endports, sizeof(*r.sends));
		m->root[m->n++] = r;
		if (!r.becn || !r.sends) {
			forget_root(m, &m->root[i]);
			return -ENOMEM;
		}
	}
	r = m->root[k];
	m->root[k] = m->root[i];
	m->root[i] = r;
	return 0;
}

/* Adds a pass's BECNs to the counts of a root. Counts fade by a quarter in a pass, but no faster
 * than some marks come for each source, so that what is known of a root that hardly marks is kept.
 * The counts of adapters that were not read, or are not believed, do not fade.
 */
static void count_becns(struct root_history *m, const struct estimation *j,
			const struct ibcc_root *now)
{
	double fade;

	if (!now->n_sources)
		return;
	fade = fmin(FADE_MAX, (double)now->becn / (IBCC_TELLING_BECNS * now->n_sources));
	for (uint32_t i = 0; i < j->t->n_endports; i++) {
		const struct load *l;

		/* Most adapters of a large fabric have nothing to do with a root. */
		if (!(m->becn[i] > 0))
			continue;
		l = &j->load[j->t->endport[i]];
		if (l->usable && !l->kept && tells_becns(&j->s->port[j->t->endport[i]]))
			m->becn[i] *= 1 - fade;
	}
	for (uint32_t k = 0; k < now->n_sources; k++)
		if (!j->load[now->source[k].port].kept)
			m->becn[j->t->port[now->source[k].port].endport] +=
				(double)now->source[k].becn;
}

/* Counts the contributors of a root (n_marked). Also counts how many they would be if all sent as
 * much as the heaviest (n_heavy). A contributor has more than 2 % of the BECNs of the adapter that
 * is marked second most. The most marked adapter may have lost its settings: it then gets nearly
 * all marks and would make all others look like bystanders. The heaviest's count is the largest of
 * many random counts, so twice its standard deviation is subtracted, down to the mean at most.
 */
static void name_contributors(const double *becn, uint32_t n_endports, struct ibcc_root *r)
{
	double most = 0, second = 0, sum = 0, mean;

	for (uint32_t i = 0; i < n_endports; i++) {
		if (!(becn[i] > 0))
			continue;
		second = fmax(second, fmin(becn[i], most));
		most = fmax(most, becn[i]);
		sum += becn[i];
	}
	r->n_marked = r->n_heavy = 0;
	if (most < IBCC_TELLING_BECNS)
		return;
	for (uint32_t i = 0; i < n_endports; i++)
		r->n_marked += becn[i] > 0 && becn[i] * IBCC_TRACE_SHARE > second;
	mean = sum / r->n_marked;
	most -= 2 * sqrt(most);
	r->n_heavy = (uint32_t)lround(sum / fmax(most, mean));
}

/* Adds to the estimate the ports that have parameters and are no roots now, and brings what is
 * remembered into the order of the estimate.
 */
static int recall(struct estimation *j)
{
	struct ibcc_estimator *m = j->m;
	uint32_t n_held = j->last ? j->last->n_roots : 0;

	for (uint32_t k = 0; k < n_held; k++) {
		const struct ibcc_root_parameters *r = &j->last->root[k].r;

		if (!ibcc_estimate_find(j->out, r->port) &&
		    !ibcc_estimate_append(j, r->port, r->kind))
			return -ENOMEM;
	}
	for (uint32_t k = 0; k < j->out->n_known; k++) {
		uint32_t port = j->out->root[k].port;
		int ret = remember(m, port, k);

		if (ret)
			return ret;
		m->root[k].held = NULL;
		for (uint32_t i = 0; i < n_held; i++)
			if (j->last->root[i].r.port == port)
				m->root[k].held = &j->last->root[i].r;
	}
	while (m->n > j->out->n_known)
		forget_root(m, &m->root[m->n - 1]);
	return 0;
}

/* Updates what is remembered of each root, and fills in what the estimate takes from it. */
static int update_memory(struct estimation *j)
{
	int ret = recall(j);

	for (uint32_t k = 0; k < j->m->n && !ret; k++) {
		struct ibcc_root *r = &j->out->root[k];
		struct root_history *of = &j->m->root[k];

		if (!r->kept)
			of->present = ibcc_estimate_sees(j->out, r)
					      ? of->present + (of->present < UINT16_MAX)
					      : 0;
		r->present = of->present;
		r->becns = of->becn;
		if (!r->kept)
			count_becns(of, j, r);
		name_contributors(of->becn, j->m->n_endports, r);
		if (!r->kept)
			ret = ibcc_estimate_count_pairs(of, j, r);
	}
	ibcc_estimate_weigh_pairs(j);
	return ret ? ret : ibcc_estimate_shares(j);
}

/* A topology with another number of ports makes the estimator forget everything. */
static int prepare(struct ibcc_estimator *m, const struct ibcc_topo *t)
{
	if (m->load && m->narrow && m->n_endports == t->n_endports && m->n_ports == t->n_ports)
		return 0;
	ibcc_estimator_reset(m);
	m->load = calloc(t->n_endports ? t->n_endports : 1, sizeof(*m->load));
	m->narrow = calloc(t->n_ports ? t->n_ports : 1, sizeof(*m->narrow));
	m->n_endports = t->n_endports;
	m->n_ports = t->n_ports;
	return m->load && m->narrow ? 0 : -ENOMEM;
}

int ibcc_estimator_run(struct ibcc_estimator *m, const struct ibcc_topo *t,
		       const struct ibcc_snapshot *s, const struct ibcc_settings *actual,
		       const struct ibcc_parameters *last, struct ibcc_estimate *out)
{
	struct estimation j = { m, &m->p, t, s, actual, .last = last, .out = out };
	int ret = prepare(m, t);

	*out = (struct ibcc_estimate){ .pass = s->pass, .interval_ns = s->interval_ns };
	j.load = calloc(t->n_ports ? t->n_ports : 1, sizeof(*j.load));
	if (!j.load)
		ret = -ENOMEM;
	if (ret)
		goto out;
	make_loads(&j);
	ret = ibcc_estimate_sort_log(&j);
	if (!ret)
		ret = ibcc_estimate_roots(&j);
	if (!ret && out->trustworthy) {
		for (uint32_t i = 0; i < t->n_endports; i++)
			if (is_ca_port(t, t->endport[i])) {
				note_load(&m->load[i], &j.load[t->endport[i]]);
			}
		ret = update_memory(&j);
	}
	out->n_loads = m->n_endports;
	out->load = m->load;
out:
	free(j.load);
	if (ret)
		ibcc_estimate_fini(out);
	return ret;
}
