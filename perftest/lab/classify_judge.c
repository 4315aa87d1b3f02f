/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Judges the estimator by the engine's truth. A root is where the max-min allocation of the
 * scenario's flows is cut, if that port is really full now: flows that are held up elsewhere may
 * keep it empty.
 *
 * Cases that are neither clearly one nor the other stay open. These are a port that is full
 * although a fair division would not fill it, a sender whose packets go through a root but would
 * all fit, and an adapter that gets between 90 and 97 % of what it could.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/ideal.h>
#include <ibcc/text.h>

#include "perftest/lab/classify_job.h"

#define WAITS         0.1 /* of the time */
#define FULL          0.96
#define QUEUE_PACKETS 4
#define SUFFERS       0.90
#define IS_FINE       0.97
#define FEW_WAITS     0.05
#define FEW_WAIT      100u /* permille */

const char *const ibcc_mistake_name[IBCC_N_MISTAKES] = {
	[IBCC_ROOT_IN_TREE] = "taken for a root: a blocked port",
	[IBCC_ROOT_QUIET] = "taken for a root: a port that is not full",
	[IBCC_ROOT_MISSED_SLOW] = "missed root: a slow receiver's port",
	[IBCC_ROOT_MISSED_UP] = "missed root: a full port between switches",
	[IBCC_ROOT_MISSED_LAST] = "missed root: a full port to an adapter",
	[IBCC_SOURCE_OF_OTHER] = "taken for a contributor: it is another root's",
	[IBCC_SOURCE_OF_NONE] = "taken for a contributor: it is no root's",
	[IBCC_SOURCE_UNMARKED] = "missed contributor: without BECNs",
	[IBCC_SOURCE_WEAK] = "missed contributor: too few BECNs",
	[IBCC_VICTIM_NO_WAIT] = "missed victim: its port is hardly blocked",
	[IBCC_VICTIM_OF_NONE] = "missed victim: blocked, but not by a root that was found",
	[IBCC_VICTIM_MARKED] = "missed victim: gets BECNs itself",
	[IBCC_VICTIM_MIXED] = "(not counted: it suffers, and sends through a root itself)",
	[IBCC_VICTIM_IS_FINE] = "taken for a victim: loses nothing",
};

/* Counts a mistake about a port. */
static void note(struct ibcc_classify_job *j, enum ibcc_mistake what, uint32_t port,
		 const char *format, ...) __attribute__((format(printf, 4, 5)));
static void note(struct ibcc_classify_job *j, enum ibcc_mistake what, uint32_t port,
		 const char *format, ...)
{
	char name[IBCC_DESC_BYTES + 16];
	va_list ap;

	j->sum->mistake[what]++;
	if (!j->notes)
		return;
	ibcc_topo_port_name(j->s.topo, port, name, sizeof(name));
	fprintf(j->notes, "seed %llu: %s: %s; ", (unsigned long long)j->seed,
		ibcc_mistake_name[what], name);
	va_start(ap, format);
	vfprintf(j->notes, format, ap);
	va_end(ap);
	fputc('\n', j->notes);
}

static bool is_ca(const struct ibcc_topo *t, uint32_t port)
{
	return port != IBCC_NONE && t->port[port].num && t->port[port].peer != IBCC_NONE &&
	       !ibcc_topo_is_switch(t, t->port[port].node);
}

/* Means of a port's samples between two passes. */
struct load {
	double xmit_mbps, used, queue_bytes, wait,
		into_mbps; /* into: payload into an adapter behind it */
};

static struct load load_of(const struct ibcc_classify_job *j, uint32_t port, uint32_t from_pass,
			   uint32_t to_pass)
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
		l.used += (double)p[port].utilisation;
		l.queue_bytes += p[port].backlog_bytes;
		l.wait += (double)p[port].wait;
		l.into_mbps += (double)p[peer].rcv_mbps;
		n++;
	}
	n = n ? n : 1;
	return (struct load){ l.xmit_mbps / n, l.used / n, l.queue_bytes / n, l.wait / n,
			      l.into_mbps / n };
}

/* Does the port carry all that it can, with packets waiting for it? */
static bool is_full(const struct ibcc_classify_job *j, uint32_t port, const struct load *l)
{
	const struct ibcc_topo *t = j->s.topo;
	uint32_t peer = t->port[port].peer;
	double used = l->used;

	if (is_ca(t, peer)) {
		double most = j->m.node[t->port[peer].node].capacity_mbps;

		used = fmax(used, most > 0 ? l->into_mbps / most : 0);
	}
	return used >= FULL && l->queue_bytes >= QUEUE_PACKETS * j->s.model.packet_bytes;
}

static const struct ibcc_truth_root *truth_at(const struct ibcc_classify_job *j, uint32_t port)
{
	for (uint32_t i = 0; i < j->truth.n_roots; i++)
		if (j->truth.root[i].port == port)
			return &j->truth.root[i];
	return NULL;
}

static const struct ibcc_root *seen_at(const struct ibcc_classify_job *j, uint32_t port)
{
	for (uint32_t i = 0; i < j->first.n; i++)
		if (j->first.root[i].port == port)
			return &j->first.root[i];
	return NULL;
}

static void count(struct ibcc_classify_job *j, enum ibcc_question q, bool truth, bool estimate)
{
	j->sum->ask[q].n[truth][estimate]++;
}

static void judge_roots(struct ibcc_classify_job *j)
{
	const struct ibcc_topo *t = j->s.topo;

	for (uint32_t i = 0; i < t->n_ports; i++) {
		const struct ibcc_truth_root *r = truth_at(j, i);
		const struct ibcc_root *seen = seen_at(j, i);
		struct load l;
		bool full;

		if (t->port[i].peer == IBCC_NONE || !ibcc_topo_is_switch(t, t->port[i].node))
			continue;
		l = load_of(j, i, IBCC_PROBE_PASS - 2, IBCC_PROBE_PASS);
		full = is_full(j, i, &l);
		if (!r == full) { /* the share is not fair, or the port is not full now */
			j->sum->ask[IBCC_ASK_ROOTS].open[!!seen]++;
			continue;
		}
		count(j, IBCC_ASK_ROOTS, r, seen);
		if (r && seen)
			count(j, IBCC_ASK_KIND, r->kind == IBCC_CONGESTION_OUTPUT,
			      seen->kind == IBCC_CONGESTION_OUTPUT);
		if (!r && seen)
			note(j, l.wait > WAITS ? IBCC_ROOT_IN_TREE : IBCC_ROOT_QUIET, i,
			     "sends %.0f Mb/s, waits %.2f, queue %.0f B; %u source%s, feeders wait "
			     "%u",
			     l.xmit_mbps, l.wait, l.queue_bytes, seen->n_contributors,
			     ibcc_text_plural(seen->n_contributors, "", "s"),
			     seen->tree_wait_permille);
		if (r && !seen)
			note(j,
			     r->kind == IBCC_CONGESTION_OUTPUT ? IBCC_ROOT_MISSED_SLOW
			     : is_ca(t, t->port[i].peer)       ? IBCC_ROOT_MISSED_LAST
							       : IBCC_ROOT_MISSED_UP,
			     i, "sends %.0f Mb/s, waits %.2f, queue %.0f B; %u source%s",
			     l.xmit_mbps, l.wait, l.queue_bytes, r->n_heavy,
			     ibcc_text_plural(r->n_heavy, "", "s"));
	}
}

static enum ibcc_truth_part most_part(const struct ibcc_classify_job *j, uint32_t port)
{
	uint8_t most = IBCC_TRUTH_NOT;

	for (uint32_t i = 0; i < j->truth.n_roots; i++)
		if (j->truth.root[i].part[port] > most)
			most = j->truth.root[i].part[port];
	return (enum ibcc_truth_part)most;
}

static uint64_t most_becns(const struct ibcc_classify_job *j, uint32_t root)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < j->s.topo->n_ports; i++) {
		uint64_t n = j->becn[(size_t)root * j->s.topo->n_ports + i];

		most = n > most ? n : most;
	}
	return most;
}

static void judge_contributors(struct ibcc_classify_job *j, struct ibcc_classify_adapters *a)
{
	uint32_t n_ports = j->s.topo->n_ports;

	for (uint32_t k = 0; k < j->first.n; k++) {
		const struct ibcc_truth_root *r = truth_at(j, j->first.root[k].port);

		uint32_t from = IBCC_PROBE_PASS + k * IBCC_PROBE_PASSES;
		struct load l = load_of(j, j->first.root[k].port, from, from + IBCC_PROBE_PASSES);

		a->judged[k] = r && is_full(j, r->port, &l) ? r : NULL;
		for (uint32_t i = 0; i < n_ports && a->judged[k]; i++) {
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
				note(j,
				     most_part(j, i) == IBCC_TRUTH_NOT ? IBCC_SOURCE_OF_NONE
								       : IBCC_SOURCE_OF_OTHER,
				     i, "BECNs at root %u: %llu", k,
				     (unsigned long long)j->becn[(size_t)k * n_ports + i]);
			if (truth && !seen)
				note(j,
				     j->becn[(size_t)k * n_ports + i] ? IBCC_SOURCE_WEAK
								      : IBCC_SOURCE_UNMARKED,
				     i,
				     "BECNs at root %u of %u: %llu (most %llu), %u heavy, waits "
				     "%.2f",
				     k, j->first.n,
				     (unsigned long long)j->becn[(size_t)k * n_ports + i],
				     (unsigned long long)most_becns(j, k), r->n_heavy,
				     j->m.port[i].wait);
		}
	}
}

/* The end of the last pass that was observed. */
static uint32_t last_pass(const struct ibcc_classify_job *j)
{
	return IBCC_PROBE_PASS + IBCC_PROBE_PASSES * (j->first.n ? j->first.n : 1);
}

/* What a flow gets while the roots are probed; later traffic was not observed. */
static double got_by(const struct ibcc_classify_job *j, uint32_t flow)
{
	const struct ibcc_measure *m = &j->m;
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t k = 0; k < m->n_samples; k++) {
		if (m->sample_ps[k] <= IBCC_PROBE_PASS * IBCC_PS_PER_MS ||
		    m->sample_ps[k] > last_pass(j) * IBCC_PS_PER_MS)
			continue;
		sum += (double)m->flow_sample[(size_t)k * m->n_flows + flow].throughput_mbps;
		n++;
	}
	return n ? sum / n : 0;
}

/* What an adapter's flows get of their possible share; NAN if they have nothing to send. */
static double share_of(const struct ibcc_classify_job *j, uint32_t node)
{
	char name[IBCC_NODE_TEXT_BYTES];
	double got = 0, best = 0;

	ibcc_topo_node_text(j->s.topo, node, name);
	for (uint32_t i = 0; i < j->m.n_flows; i++) {
		const struct ibcc_measure_flow *f = &j->m.flow[i];
		double most = fmin(f->ideal_mbps, f->offered_mbps);

		if (strcmp(j->s.flow[i].from, name))
			continue;
		got += fmin(got_by(j, i), most);
		best += most;
	}
	return best > 0 ? got / best : NAN;
}

static bool is_named(const struct ibcc_classify_job *j, uint32_t port)
{
	for (uint32_t k = 0; k < j->first.n; k++)
		if (j->named[(size_t)k * j->s.topo->n_ports + port])
			return true;
	return false;
}

static bool is_part(const struct ibcc_classify_job *j, uint32_t port, const bool *through_full)
{
	return most_part(j, port) != IBCC_TRUTH_NOT || through_full[port];
}

/* Whether an adapter waits in most of the passes in which one of the roots marked. Single passes
 * with waits are bursts.
 */
static bool waits(const struct ibcc_classify_job *j, uint32_t port)
{
	for (uint32_t k = 0; k < j->first.n; k++) {
		unsigned int passes = j->waits[(size_t)k * j->s.topo->n_ports + port];

		if (2 * (unsigned int)__builtin_popcount(passes) > IBCC_PROBE_PASSES - 1)
			return true;
	}
	return false;
}

/* Finds full ports and the adapters that send through them, whether a fair division would fill the
 * port or not.
 */
static int find_full(const struct ibcc_classify_job *j, bool *full, bool *sends)
{
	const struct ibcc_topo *t = j->s.topo;

	for (uint32_t i = 0; i < t->n_ports; i++) {
		struct load l;

		if (t->port[i].peer == IBCC_NONE || !ibcc_topo_is_switch(t, t->port[i].node))
			continue;
		l = load_of(j, i, IBCC_PROBE_PASS - 2, IBCC_PROBE_PASS);
		full[i] = is_full(j, i, &l);
	}
	return ibcc_truth_senders(&j->s, j->s.measure_from_ps, full, sends);
}

static void judge_victims(struct ibcc_classify_job *j, const bool *through_full,
			  struct ibcc_classify_adapters *a)
{
	const struct ibcc_topo *t = j->s.topo;

	for (uint32_t i = 0; i < t->n_ports; i++) {
		double share, wait;
		bool truth, seen;

		if (!is_ca(t, i))
			continue;
		/* The estimate says victim: the adapter waits, and no root names it. */
		seen = waits(j, i) && !is_named(j, i);
		a->suffers_seen[i] = seen;
		share = share_of(j, t->port[i].node);
		wait = load_of(j, i, IBCC_PROBE_PASS, last_pass(j)).wait;
		if (is_part(j, i, through_full) && share <= SUFFERS)
			note(j, IBCC_VICTIM_MIXED, i,
			     "part %d, seen %d, named %d, waits %.3f, gets %.3f", most_part(j, i),
			     seen, is_named(j, i), wait, share);
		if (is_part(j, i, through_full) || isnan(share) ||
		    (share > SUFFERS && (share < IS_FINE || wait > FEW_WAITS))) {
			j->sum->ask[IBCC_ASK_VICTIMS].open[seen]++;
			a->suffers[i] = IBCC_ANSWER_OPEN;
			continue;
		}
		/* An adapter where nothing waits offered no more in this time than it got. */
		truth = share <= SUFFERS && wait > FEW_WAITS;
		a->suffers[i] = truth ? IBCC_ANSWER_YES : IBCC_ANSWER_NO;
		count(j, IBCC_ASK_VICTIMS, truth, seen);
		if (seen && !truth)
			note(j, IBCC_VICTIM_IS_FINE, i,
			     "waits %.3f, gets %.3f; %u root%s, %u found", wait, share,
			     j->truth.n_roots, ibcc_text_plural(j->truth.n_roots, "", "s"),
			     j->first.n);
		if (truth && !seen)
			note(j,
			     j->wait[i] < FEW_WAIT ? IBCC_VICTIM_NO_WAIT
			     : is_named(j, i)      ? IBCC_VICTIM_MARKED
						   : IBCC_VICTIM_OF_NONE,
			     i, "waits %.3f, gets %.3f; %u root%s, %u found", wait, share,
			     j->truth.n_roots, ibcc_text_plural(j->truth.n_roots, "", "s"),
			     j->first.n);
	}
}

int ibcc_classify_judge(struct ibcc_classify_job *j)
{
	size_t n = j->s.topo->n_ports + 1u;
	bool *full = calloc(n, sizeof(*full)), *sends = calloc(n, sizeof(*sends));
	struct ibcc_classify_adapters a = {
		.judged = calloc(j->first.n + 1u, sizeof(*a.judged)),
		.suffers = calloc(n, 1),
		.suffers_seen = calloc(n, 1),
	};
	int rc = full && sends && a.judged && a.suffers && a.suffers_seen
			 ? find_full(j, full, sends)
			 : -ENOMEM;

	if (!rc) {
		judge_roots(j);
		judge_contributors(j, &a);
		judge_victims(j, sends, &a);
		rc = ibcc_classify_jobs(j, &a);
	}
	free(full);
	free(sends);
	free(a.judged);
	free(a.suffers);
	free(a.suffers_seen);
	return rc;
}
