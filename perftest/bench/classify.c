/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The truth is the engine's: where the max-min allocation of the scenario's flows is cut, and
 * whether that port is really full now, since what is held up elsewhere may keep it empty. What is
 * neither clearly one nor the other is left open: a port that is full although a fair division
 * would not fill it, a sender whose packets go through a root but would all fit, an adapter that
 * gets between 90 and 97 % of what it could.
 */
#include "perftest/bench/classify.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/ideal.h>
#include <ibcc/measure.h>

#include "daemon/carry.h"
#include "daemon/cycle.h"
#include "perftest/bench/draw.h"
#include "perftest/bench/live.h"
#include "perftest/bench/truth.h"

/* Hotspots of drawn scenarios begin by 5 ms; buffers before slow roots take some more to fill. */
#define PROBE_PASS    12u
#define PROBE_PASSES  6u /* for each root; marks of the one before still come in the first */
#define SPARE_ROOTS   2u
#define WAITS         0.1 /* of the time */
#define FULL          0.96
#define QUEUE_PACKETS 4
#define SUFFERS       0.90
#define IS_FINE       0.97
#define FEW_WAITS     0.05
#define SLOW_PERMILLE 250u /* of the queue: threshold at a slow receiver's port */
#define FULL_PERMILLE 900u
#define FEW_WAIT      100u /* permille */

const char *const ibcc_mistake_name[IBCC_N_MISTAKES] = {
	[IBCC_ROOT_IN_TREE] = "taken for a root: a port that waits",
	[IBCC_ROOT_QUIET] = "taken for a root: a port that is not full",
	[IBCC_ROOT_MISSED_SLOW] = "missed root: a slow receiver's port",
	[IBCC_ROOT_MISSED_UP] = "missed root: a full port between switches",
	[IBCC_ROOT_MISSED_LAST] = "missed root: a full port to an adapter",
	[IBCC_SOURCE_OF_OTHER] = "taken for a contributor: it is another root's",
	[IBCC_SOURCE_OF_NONE] = "taken for a contributor: it is no root's",
	[IBCC_SOURCE_UNMARKED] = "missed contributor: without BECNs",
	[IBCC_SOURCE_WEAK] = "missed contributor: too few BECNs",
	[IBCC_VICTIM_NO_WAIT] = "missed victim: its port hardly waits",
	[IBCC_VICTIM_OF_NONE] = "missed victim: waits, but behind no root found",
	[IBCC_VICTIM_MARKED] = "missed victim: gets BECNs itself",
	[IBCC_VICTIM_MIXED] = "(left open: suffers, and sends through a root itself)",
	[IBCC_VICTIM_IS_FINE] = "taken for a victim: loses nothing",
};

struct seen {
	uint32_t n;
	struct ibcc_root *root; /* without sources */
};

struct job {
	struct ibcc_scenario s;
	struct ibcc_truth truth;
	struct ibcc_measure m;
	struct seen before, first; /* roots in the passes before the probe */
	uint8_t *named;            /* [root of `first` * n_ports + port]: a contributor */
	uint8_t *waits;            /* by port */
	uint64_t *becn;            /* likewise */
	uint16_t *wait;
	struct ibcc_classified *sum;
};

static int keep_roots(const struct ibcc_estimate *e, struct seen *out)
{
	free(out->root);
	*out = (struct seen){ .root = calloc(e->n_roots + 1u, sizeof(*out->root)) };
	if (!out->root)
		return -ENOMEM;
	for (uint32_t i = 0; i < e->n_roots; i++) {
		out->root[out->n] = e->root[i];
		out->root[out->n++].source = NULL;
	}
	return 0;
}

static void confirm(struct seen *now, const struct seen *before)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < now->n; i++)
		for (uint32_t k = 0; k < before->n; k++)
			if (now->root[i].port == before->root[k].port) {
				now->root[n++] = now->root[i];
				break;
			}
	now->n = n;
}

static void mark(const struct ibcc_topo *t, const struct ibcc_root *r, struct ibcc_settings *s,
		 bool on)
{
	uint32_t first = t->node[t->port[r->port].node].first_port;
	struct ibcc_endport_cc *ep = &s->ep[t->port[first].endport];
	unsigned int num = t->port[r->port].num;
	uint32_t peer = t->port[r->port].peer;
	bool output = r->kind == IBCC_CONGESTION_OUTPUT;

	if (num < ep->n_element)
		ep->element[num] = (struct ibcc_cc_sw_port_element){
			.Valid = on,
			.Threshold = ibcc_formula_threshold_register(output ? SLOW_PERMILLE
									    : FULL_PERMILLE),
		};
	if (!ibcc_topo_is_switch(t, t->port[peer].node))
		ibcc_cc_mask_assign(&ep->sw.Victim_Mask, num, on);
}

/* Marking on at one root; tables are without delay from the start. With several that mark nobody
 * could tell whose a BECN is.
 */
static int probe(struct job *j, struct ibcc_cycle *c, struct ibcc_applier *a, uint32_t root)
{
	const struct ibcc_carry carry = { .applier = a, .topo = c->topo };
	struct ibcc_target target = { 0 };
	struct ibcc_plan plan = { 0 };
	struct ibcc_result result = { 0 };
	struct ibcc_why why;
	int rc = ibcc_settings_copy(&target.wanted, &c->actual);

	if (!rc && root)
		mark(c->topo, &j->first.root[root - 1], &target.wanted, false);
	if (!rc) {
		mark(c->topo, &j->first.root[root], &target.wanted, true);
		rc = ibcc_planner_run(c->topo, &c->actual, &target, &plan);
	}
	if (!rc && plan.n)
		ibcc_carry_out(&carry, &plan, &result, &why);
	if (!rc)
		rc = ibcc_cycle_readback(c, &why);
	ibcc_result_fini(&result);
	ibcc_plan_fini(&plan);
	ibcc_target_fini(&target);
	return rc;
}

/* Who is named in one pass at least: slow roots mark few packets in each. */
static void keep_sources(struct job *j, const struct ibcc_cycle *c, uint32_t root)
{
	const struct ibcc_estimate *e = &c->estimate;
	uint32_t n_ports = j->s.topo->n_ports;

	for (uint32_t i = 0; i < n_ports; i++) {
		const struct ibcc_port_sample *p = &c->snapshot.port[i];

		if (ibcc_delta_valid(&p->delta, IBCC_CTR_RCV_BECN))
			j->becn[(size_t)root * n_ports + i] += p->delta.v[IBCC_CTR_RCV_BECN];
		j->wait[i] = (uint16_t)ibcc_delta_wait_permille(&p->delta, p->tick_ps);
	}
	for (uint32_t i = 0; i < e->n_roots; i++) {
		const struct ibcc_root *r = &e->root[i];

		for (uint32_t n = 0; n < r->n_sources; n++) {
			if (r->source[n].role == IBCC_ROLE_CONTRIBUTOR &&
			    r->port == j->first.root[root].port)
				j->named[(size_t)root * n_ports + r->source[n].port] = 1;
			if (r->source[n].role == IBCC_ROLE_VICTIM ||
			    r->source[n].role == IBCC_ROLE_CANDIDATE)
				j->waits[r->source[n].port] = 1;
		}
	}
}

static int begin(struct job *j, const struct ibcc_cycle *c)
{
	size_t n;
	int rc = keep_roots(&c->estimate, &j->first);

	if (rc)
		return rc;
	confirm(&j->first, &j->before);
	n = (size_t)(j->first.n + 1) * j->s.topo->n_ports;
	j->named = calloc(n, 1);
	j->becn = calloc(n, sizeof(*j->becn));
	return j->named && j->becn ? 0 : -ENOMEM;
}

static int each(void *arg, uint32_t pass, struct ibcc_cycle *c, struct ibcc_applier *a)
{
	struct job *j = arg;
	uint32_t since = pass - PROBE_PASS, root = (since - 1) / PROBE_PASSES;
	int rc = 0;

	if (pass + 1 == PROBE_PASS)
		return keep_roots(&c->estimate, &j->before);
	if (pass < PROBE_PASS)
		return 0;
	if (!since)
		rc = begin(j, c);
	else if (root < j->first.n && (since - 1) % PROBE_PASSES)
		keep_sources(j, c, root);
	if (!rc && since % PROBE_PASSES == 0 && since / PROBE_PASSES < j->first.n)
		rc = probe(j, c, a, since / PROBE_PASSES);
	return rc;
}

static bool is_ca(const struct ibcc_topo *t, uint32_t port)
{
	return port != IBCC_NONE && t->port[port].num && t->port[port].peer != IBCC_NONE &&
	       !ibcc_topo_is_switch(t, t->port[port].node);
}

/* Means of a port's samples between two passes. */
struct load {
	double xmit_mbps, queue_bytes, wait,
		into_mbps; /* into: payload into an adapter behind it */
};

static struct load load_of(const struct job *j, uint32_t port, uint32_t from_pass, uint32_t to_pass)
{
	const struct ibcc_measure *m = &j->m;
	uint32_t peer = j->s.topo->port[port].peer, n = 0;
	struct load l = { 0 };

	for (uint32_t k = 0; k < m->n_samples; k++) {
		const struct ibcc_measure_port_sample *p = &m->port_sample[(size_t)k * m->n_ports];

		if (m->sample_ps[k] <= from_pass * IBCC_PS_PER_MS ||
		    m->sample_ps[k] > to_pass * IBCC_PS_PER_MS)
			continue;
		l.xmit_mbps += (double)p[port].xmit_mbps;
		l.queue_bytes += p[port].backlog_bytes;
		l.wait += (double)p[port].wait;
		l.into_mbps += (double)p[peer].rcv_mbps;
		n++;
	}
	n = n ? n : 1;
	return (struct load){ l.xmit_mbps / n, l.queue_bytes / n, l.wait / n, l.into_mbps / n };
}

/* Does the port carry all that it can, with packets waiting for it? */
static bool is_full(const struct job *j, uint32_t port, const struct load *l)
{
	const struct ibcc_topo *t = j->s.topo;
	uint32_t peer = t->port[port].peer;
	double used = l->xmit_mbps / t->port[port].rate_mbps;

	if (is_ca(t, peer)) {
		double most = j->m.node[t->port[peer].node].capacity_mbps;

		used = fmax(used, most > 0 ? l->into_mbps / most : 0);
	}
	return used >= FULL && l->queue_bytes >= QUEUE_PACKETS * j->s.model.packet_bytes;
}

static const struct ibcc_truth_root *truth_at(const struct job *j, uint32_t port)
{
	for (uint32_t i = 0; i < j->truth.n_roots; i++)
		if (j->truth.root[i].port == port)
			return &j->truth.root[i];
	return NULL;
}

static const struct ibcc_root *seen_at(const struct job *j, uint32_t port)
{
	for (uint32_t i = 0; i < j->first.n; i++)
		if (j->first.root[i].port == port)
			return &j->first.root[i];
	return NULL;
}

static void count(struct job *j, enum ibcc_question q, bool truth, bool estimate)
{
	j->sum->ask[q].n[truth][estimate]++;
}

static void judge_roots(struct job *j)
{
	const struct ibcc_topo *t = j->s.topo;

	for (uint32_t i = 0; i < t->n_ports; i++) {
		const struct ibcc_truth_root *r = truth_at(j, i);
		const struct ibcc_root *seen = seen_at(j, i);
		struct load l;
		bool full;

		if (t->port[i].peer == IBCC_NONE || !ibcc_topo_is_switch(t, t->port[i].node))
			continue;
		l = load_of(j, i, PROBE_PASS - 2, PROBE_PASS);
		full = is_full(j, i, &l);
		if (!r == full) { /* not fair, or not now */
			j->sum->ask[IBCC_ASK_ROOTS].open[!!seen]++;
			continue;
		}
		count(j, IBCC_ASK_ROOTS, r, seen);
		if (r && seen)
			count(j, IBCC_ASK_KIND, r->kind == IBCC_CONGESTION_OUTPUT,
			      seen->kind == IBCC_CONGESTION_OUTPUT);
		if (!r && seen)
			j->sum->mistake[l.wait > WAITS ? IBCC_ROOT_IN_TREE : IBCC_ROOT_QUIET]++;
		if (r && !seen)
			j->sum->mistake[r->kind == IBCC_CONGESTION_OUTPUT ? IBCC_ROOT_MISSED_SLOW
					: is_ca(t, t->port[i].peer)       ? IBCC_ROOT_MISSED_LAST
									  : IBCC_ROOT_MISSED_UP]++;
	}
}

static enum ibcc_truth_part most_part(const struct job *j, uint32_t port)
{
	uint8_t most = IBCC_TRUTH_NOT;

	for (uint32_t i = 0; i < j->truth.n_roots; i++)
		if (j->truth.root[i].part[port] > most)
			most = j->truth.root[i].part[port];
	return (enum ibcc_truth_part)most;
}

static void judge_contributors(struct job *j)
{
	uint32_t n_ports = j->s.topo->n_ports;

	for (uint32_t k = 0; k < j->first.n; k++) {
		const struct ibcc_truth_root *r = truth_at(j, j->first.root[k].port);

		uint32_t from = PROBE_PASS + k * PROBE_PASSES;
		struct load l = load_of(j, j->first.root[k].port, from, from + PROBE_PASSES);

		for (uint32_t i = 0; i < n_ports && r && is_full(j, r->port, &l); i++) {
			bool seen = j->named[(size_t)k * n_ports + i];
			bool truth = r->part[i] == IBCC_TRUTH_HEAVY;

			if (!is_ca(j->s.topo, i))
				continue;
			if (r->part[i] == IBCC_TRUTH_LIGHT) {
				j->sum->ask[IBCC_ASK_CONTRIBUTORS].open[seen]++;
				continue;
			}
			count(j, IBCC_ASK_CONTRIBUTORS, truth, seen);
			if (seen && !truth)
				j->sum->mistake[most_part(j, i) == IBCC_TRUTH_NOT
							? IBCC_SOURCE_OF_NONE
							: IBCC_SOURCE_OF_OTHER]++;
			if (truth && !seen)
				j->sum->mistake[j->becn[(size_t)k * n_ports + i]
							? IBCC_SOURCE_WEAK
							: IBCC_SOURCE_UNMARKED]++;
		}
	}
}

/* What an adapter's flows get of what they could; NAN if they have nothing to send. */
static double share_of(const struct job *j, uint32_t node)
{
	double got = 0, best = 0;

	for (uint32_t i = 0; i < j->m.n_flows; i++) {
		const struct ibcc_measure_flow *f = &j->m.flow[i];
		double most = fmin(f->ideal_mbps, f->offered_mbps);

		if (strcmp(j->s.flow[i].from, j->s.topo->node[node].desc))
			continue;
		got += fmin(f->throughput_mbps, most);
		best += most;
	}
	return best > 0 ? got / best : NAN;
}

static bool is_named(const struct job *j, uint32_t port)
{
	for (uint32_t k = 0; k < j->first.n; k++)
		if (j->named[(size_t)k * j->s.topo->n_ports + port])
			return true;
	return false;
}

static void judge_victims(struct job *j)
{
	const struct ibcc_topo *t = j->s.topo;

	for (uint32_t i = 0; i < t->n_ports; i++) {
		double share;
		bool truth, seen;

		if (!is_ca(t, i))
			continue;
		/* Who waits and is named by no root. */
		seen = j->waits[i] && !is_named(j, i);
		share = share_of(j, t->port[i].node);
		if (most_part(j, i) != IBCC_TRUTH_NOT && share <= SUFFERS)
			j->sum->mistake[IBCC_VICTIM_MIXED]++;
		if (most_part(j, i) != IBCC_TRUTH_NOT || isnan(share) ||
		    (share > SUFFERS && (share < IS_FINE || j->m.port[i].wait > FEW_WAITS))) {
			j->sum->ask[IBCC_ASK_VICTIMS].open[seen]++;
			continue;
		}
		truth = share <= SUFFERS;
		count(j, IBCC_ASK_VICTIMS, truth, seen);
		if (seen && !truth)
			j->sum->mistake[IBCC_VICTIM_IS_FINE]++;
		if (truth && !seen)
			j->sum->mistake[j->wait[i] < FEW_WAIT ? IBCC_VICTIM_NO_WAIT
					: is_named(j, i)      ? IBCC_VICTIM_MARKED
							      : IBCC_VICTIM_OF_NONE]++;
	}
}

static int run(struct job *j)
{
	struct ibcc_live_options o;
	struct ibcc_live_result live;
	uint32_t n = j->s.topo->n_ports + 1u;
	int rc;

	j->waits = calloc(n, 1);
	j->wait = calloc(n, sizeof(*j->wait));
	if (!j->waits || !j->wait)
		return -ENOMEM;
	ibcc_live_defaults(&o);
	o.dry = true;
	o.each = each;
	o.arg = j;
	rc = ibcc_live_run(&j->s, &o, IBCC_PS_PER_MS / 10, &j->m, &live);
	ibcc_live_result_fini(&live);
	if (rc)
		return rc;
	judge_roots(j);
	judge_contributors(j);
	judge_victims(j);
	ibcc_measure_fini(&j->m);
	return 0;
}

/* Hotspots stay as long as it takes to look at all of them. */
static void drop_ends(struct ibcc_scenario *s)
{
	for (uint32_t i = 0; i < s->n_flows; i++)
		s->flow[i].stop_ps = 0;
	for (uint32_t i = 0; i < s->n_events; i++)
		if (s->event[i].kind == IBCC_EVENT_SINK_RATE && !s->event[i].value)
			s->event[i].at_ps = UINT64_MAX;
}

int ibcc_classify(uint64_t seed, struct ibcc_classified *sum, struct ibcc_yaml_errors *e)
{
	struct job j = { .sum = sum };
	int rc = ibcc_draw_load(seed, &j.s, e);

	if (rc)
		return rc;
	drop_ends(&j.s);
	j.s.measure_from_ps = (PROBE_PASS - 1) * IBCC_PS_PER_MS;
	rc = ibcc_truth_find(&j.s, j.s.measure_from_ps, &j.truth);
	/* Time for some roots more than there are; a pass at the very end would not be run. */
	j.s.duration_ps =
		(PROBE_PASS + PROBE_PASSES * (j.truth.n_roots + SPARE_ROOTS)) * IBCC_PS_PER_MS +
		IBCC_PS_PER_MS / 5;
	if (!rc)
		rc = run(&j);
	ibcc_truth_fini(&j.truth);
	ibcc_scenario_fini(&j.s);
	free(j.before.root);
	free(j.first.root);
	free(j.named);
	free(j.waits);
	free(j.becn);
	free(j.wait);
	return rc;
}
