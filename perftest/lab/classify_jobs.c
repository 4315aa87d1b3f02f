/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Lays jobs over the hosts of a scenario, and compares those that lib/whose names with those whose
 * adapters contribute and suffer in truth. Begin with ibcc_classify_jobs().
 *
 * Nothing tells which job of a shared host sent. So a job that has a part by shared hosts alone is
 * neither right nor wrong: it stays open.
 */
#include <errno.h>
#include <stdlib.h>

#include <ibcc/rng.h>
#include <ibcc/whose.h>
#include <ibcc/why.h>

#include "perftest/lab/classify_job.h"

#define IDLE_PERCENT   15u /* hosts without a job */
#define SHARED_PERCENT 12u /* hosts of a job that the next one has, too */
#define LARGEST        3u  /* a job has a third of the hosts at most */
#define BEGIN_MS       1000000000
#define END_MS         (BEGIN_MS + 1000)

struct layout {
	uint32_t n_jobs, n_hosts;
	uint32_t *host;  /* nodes, in the order in which jobs take them */
	uint32_t *first; /* by node: its first job, IBCC_NONE: none */
	uint32_t *other; /* by node: its second job */
	struct ibcc_jobs jobs;
	struct ibcc_whose_hosts hosts;
	uint8_t *own, *shared, *seen; /* by job; see count() */
};

static int fill_hosts(const struct ibcc_topo *t, uint64_t *rng, struct layout *l)
{
	l->host = calloc(t->n_nodes + 1u, sizeof(*l->host));
	l->first = malloc((t->n_nodes + 1u) * sizeof(*l->first));
	l->other = malloc((t->n_nodes + 1u) * sizeof(*l->other));
	if (!l->host || !l->first || !l->other)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		l->first[i] = l->other[i] = IBCC_NONE;
		if (!ibcc_topo_is_switch(t, i))
			l->host[l->n_hosts++] = i;
	}
	for (uint32_t i = l->n_hosts; i > 1; i--) {
		uint32_t k = ibcc_rng_below(rng, i), node = l->host[k];

		l->host[k] = l->host[i - 1];
		l->host[i - 1] = node;
	}
	return 0;
}

/* Draws which hosts each job has. */
static void draw_jobs(uint64_t *rng, struct layout *l)
{
	uint32_t at = l->n_hosts * IDLE_PERCENT / 100, before = at;

	while (at < l->n_hosts) {
		uint32_t most = l->n_hosts / LARGEST ? l->n_hosts / LARGEST : 1;
		uint32_t end = at + 1 + ibcc_rng_below(rng, most);

		for (uint32_t i = before; i < at; i++)
			if (ibcc_rng_below(rng, 100) < SHARED_PERCENT)
				l->other[l->host[i]] = l->n_jobs;
		for (before = at; at < end && at < l->n_hosts; at++)
			l->first[l->host[at]] = l->n_jobs;
		l->n_jobs++;
	}
}

/* The map of these jobs, as a batch system would give it. Jobs begin one after another, so the map
 * has them in the order of their numbers.
 */
static int make_map(const struct ibcc_topo *t, struct layout *l)
{
	struct ibcc_jobs_draft *d = ibcc_jobs_draft_new();
	const char **name = calloc(l->n_hosts + 1u, sizeof(*name));
	struct ibcc_why why;
	int rc = d && name ? 0 : -ENOMEM;

	for (uint32_t k = 0; k < l->n_jobs && !rc; k++) {
		struct ibcc_job job = { .start_s = 1 + k };
		uint32_t n = 0;

		snprintf(job.id, sizeof(job.id), "%u", k);
		for (uint32_t i = 0; i < l->n_hosts; i++)
			if (l->first[l->host[i]] == k || l->other[l->host[i]] == k)
				name[n++] = t->node[l->host[i]].desc;
		rc = ibcc_jobs_draft_add(d, &job, name, n, &why);
	}
	if (!rc)
		rc = ibcc_jobs_draft_finish(d, &l->jobs, &why);
	ibcc_jobs_draft_free(d);
	free(name);
	return rc;
}

static int lay(const struct ibcc_classify_job *j, struct layout *l)
{
	const struct ibcc_topo *t = j->s.topo;
	uint64_t rng = ~j->seed; /* not the scenario's draws again */
	int rc = fill_hosts(t, &rng, l);

	if (rc)
		return rc;
	draw_jobs(&rng, l);
	l->own = calloc(l->n_jobs + 1u, 1);
	l->shared = calloc(l->n_jobs + 1u, 1);
	l->seen = calloc(l->n_jobs + 1u, 1);
	if (!l->own || !l->shared || !l->seen)
		return -ENOMEM;
	rc = make_map(t, l);
	if (!rc)
		rc = ibcc_whose_hosts_find(&l->jobs, t, ibcc_whose_first_word, NULL, &l->hosts);
	return rc;
}

static void layout_fini(struct layout *l)
{
	free(l->host);
	free(l->first);
	free(l->other);
	free(l->own);
	free(l->shared);
	free(l->seen);
	ibcc_whose_hosts_fini(&l->hosts);
	ibcc_jobs_fini(&l->jobs);
}

/* What jobs are, by an adapter or more of theirs. */
enum {
	MAYBE = 1, /* the adapters' truth is open */
	YES = 2,
};

static void clear(struct layout *l)
{
	for (uint32_t k = 0; k < l->n_jobs; k++)
		l->own[k] = l->shared[k] = l->seen[k] = 0;
}

/* The jobs of an adapter's host take part, or may. */
static void take(struct layout *l, uint32_t node, uint8_t part)
{
	uint32_t one = l->first[node], two = l->other[node];

	if (one == IBCC_NONE)
		return;
	if (two == IBCC_NONE) {
		l->own[one] |= part;
		return;
	}
	l->shared[one] |= part;
	l->shared[two] |= part;
}

static void count(struct ibcc_classify_job *j, const struct layout *l, enum ibcc_question q)
{
	for (uint32_t k = 0; k < l->n_jobs; k++) {
		struct ibcc_confusion *c = &j->sum->ask[q];
		bool truth = l->own[k] & YES, seen = l->seen[k] == YES;

		if (!truth && (l->own[k] || l->shared[k] || l->seen[k] == MAYBE))
			c->open[seen]++;
		else
			c->n[truth][seen]++;
	}
}

/* The root as the estimate of the whole probe has it: with the adapters that any pass names, and
 * those that were blocked in most passes and that no root names. NULL: no memory.
 */
static struct ibcc_source *sources_of(const struct ibcc_classify_job *j, uint32_t root,
				      const struct ibcc_classify_adapters *a, uint32_t *n)
{
	uint32_t n_ports = j->s.topo->n_ports;
	struct ibcc_source *s = calloc(n_ports + 1u, sizeof(*s));

	*n = 0;
	for (uint32_t i = 0; s && i < n_ports; i++) {
		size_t at = (size_t)root * n_ports + i;
		unsigned int passes = (unsigned int)__builtin_popcount(j->waits[at]);
		bool blocked = 2 * passes > IBCC_PROBE_PASSES - 1;

		if (j->named[at])
			s[(*n)++] = (struct ibcc_source){ .port = i,
							  .role = IBCC_ROLE_CONTRIBUTOR,
							  .becn = j->becn[at] };
		else if (blocked && a->suffers_seen[i])
			s[(*n)++] = (struct ibcc_source){ .port = i,
							  .role = IBCC_ROLE_VICTIM,
							  .wait_permille = j->wait[i] };
	}
	return s;
}

/* What lib/whose says of a root: its jobs, as contributors or as victims. */
static int see(struct ibcc_classify_job *j, struct layout *l, uint32_t root,
	       const struct ibcc_classify_adapters *a, bool victims)
{
	struct ibcc_root r = { .port = j->first.root[root].port };
	struct ibcc_whose_evidence e = { 0 };
	struct ibcc_whose_share share = { 0 };
	int rc = -ENOMEM;

	r.source = sources_of(j, root, a, &r.n_sources);
	if (r.source)
		rc = ibcc_whose_evidence_take(j->s.topo, &r, BEGIN_MS, END_MS, &e);
	if (!rc)
		rc = ibcc_whose_share_out(&l->jobs, &l->hosts, j->s.topo, &e, &share);
	for (uint32_t i = 0; i < share.n && !rc; i++) {
		const struct ibcc_whose_part *p = &share.part[i];
		int64_t own_ms = victims ? p->victim_ms : p->contributor_ms;
		int64_t shared_ms = victims ? p->shared_victim_ms : p->shared_contributor_ms;
		uint8_t is = own_ms ? YES : shared_ms ? MAYBE : 0;

		l->seen[p->job] = is > l->seen[p->job] ? is : l->seen[p->job];
	}
	ibcc_whose_share_fini(&share);
	ibcc_whose_evidence_fini(&e);
	free(r.source);
	return rc;
}

static int judge_causes(struct ibcc_classify_job *j, struct layout *l,
			const struct ibcc_classify_adapters *a)
{
	const struct ibcc_topo *t = j->s.topo;
	int rc = 0;

	for (uint32_t k = 0; k < j->first.n && !rc; k++) {
		const struct ibcc_truth_root *r = a->judged[k];

		if (!r)
			continue;
		clear(l);
		for (uint32_t i = 0; i < t->n_ports; i++)
			if (!ibcc_topo_is_switch(t, t->port[i].node) &&
			    r->part[i] != IBCC_TRUTH_NOT)
				take(l, t->port[i].node,
				     r->part[i] == IBCC_TRUTH_HEAVY ? YES : MAYBE);
		rc = see(j, l, k, a, false);
		if (!rc)
			count(j, l, IBCC_ASK_CAUSING_JOBS);
	}
	return rc;
}

static int judge_suffering(struct ibcc_classify_job *j, struct layout *l,
			   const struct ibcc_classify_adapters *a)
{
	const struct ibcc_topo *t = j->s.topo;
	int rc = 0;

	clear(l);
	for (uint32_t i = 0; i < t->n_ports; i++)
		if (a->suffers[i] != IBCC_ANSWER_NO)
			take(l, t->port[i].node, a->suffers[i] == IBCC_ANSWER_YES ? YES : MAYBE);
	for (uint32_t k = 0; k < j->first.n && !rc; k++)
		rc = see(j, l, k, a, true);
	if (!rc)
		count(j, l, IBCC_ASK_SUFFERING_JOBS);
	return rc;
}

int ibcc_classify_jobs(struct ibcc_classify_job *j, const struct ibcc_classify_adapters *a)
{
	struct layout l = { 0 };
	int rc = lay(j, &l);

	if (!rc)
		rc = judge_causes(j, &l, a);
	if (!rc)
		rc = judge_suffering(j, &l, a);
	layout_fini(&l);
	return rc;
}
