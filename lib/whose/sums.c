/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What jobs did and suffered over all roots of a polling cycle. Begin with ibcc_whose_sum_up(). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/whose.h>

struct summing {
	const struct ibcc_jobs *jobs;
	const struct ibcc_whose_hosts *hosts;
	const struct ibcc_topo *t;
	const struct ibcc_whose_evidence *e;
	const struct ibcc_whose_share *share;
	uint32_t n_roots;
	uint32_t *group;            /* by job: its group, IBCC_NONE: it has none */
	uint32_t *now;              /* by group: its share of the root at hand, permille */
	uint32_t *last;             /* by group: the victim that was counted last */
	uint32_t *order;            /* of jobs that take part */
	bool *is_counted;           /* by endport */
	struct ibcc_whose_sum *sum; /* by group */
};

static void measure_root(struct summing *s, const struct ibcc_whose_share *share)
{
	for (uint32_t i = 0; i < share->n; i++)
		if (s->group[share->part[i].job] != IBCC_NONE)
			s->now[s->group[share->part[i].job]] += share->part[i].own_permille;
	for (uint32_t i = 0; i < share->n; i++) {
		uint32_t g = s->group[share->part[i].job];

		if (g == IBCC_NONE)
			continue;
		if (s->now[g] > s->sum[g].share_permille)
			s->sum[g].share_permille = s->now[g] < 1000 ? (uint16_t)s->now[g] : 1000;
		s->now[g] = 0;
	}
}

/* Counts a victim for each group that ran on its host, once. */
static void count_victim(struct summing *s, const struct ibcc_whose_evidence *e,
			 const struct ibcc_whose_adapter *a)
{
	uint32_t ep = ibcc_topo_find_endport(s->t, a->node_guid, a->port);
	uint32_t host = ep < s->hosts->n_endports ? s->hosts->host[ep] : IBCC_NONE;

	if (host == IBCC_NONE || s->is_counted[ep])
		return;
	s->is_counted[ep] = true;
	for (uint32_t k = s->hosts->first[host]; k < s->hosts->first[host + 1]; k++) {
		const struct ibcc_job *j = &s->jobs->job[s->hosts->job[k]];
		uint32_t g = s->group[s->hosts->job[k]];

		if (g == IBCC_NONE || s->last[g] == ep || j->start_s * 1000 >= e->end_ms ||
		    (j->end_s && j->end_s * 1000 <= e->begin_ms))
			continue;
		s->last[g] = ep;
		s->sum[g].n_victims++;
	}
}

static void measure(struct summing *s)
{
	for (uint32_t i = 0; i < s->jobs->n; i++)
		s->last[i] = IBCC_NONE;
	memset(s->is_counted, 0, s->hosts->n_endports * sizeof(*s->is_counted));
	for (uint32_t i = 0; i < s->n_roots; i++) {
		if (s->share[i].basis != IBCC_WHOSE_BY_WAITING)
			measure_root(s, &s->share[i]);
		for (uint32_t k = 0; k < s->e[i].n; k++)
			if (s->e[i].adapter[k].suffers)
				count_victim(s, &s->e[i], &s->e[i].adapter[k]);
	}
}

static int by_id(const void *a, const void *b, void *jobs)
{
	const struct ibcc_job *job = jobs;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int d = strcmp(job[x].id, job[y].id);

	return d ? d : (x > y) - (x < y);
}

/* Makes a group of the runs of each job that takes part. Its number is that of the first run. */
static void group_runs(struct summing *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->jobs->n; i++)
		s->group[i] = IBCC_NONE;
	for (uint32_t i = 0; i < s->n_roots; i++)
		for (uint32_t k = 0; k < s->share[i].n; k++) {
			uint32_t job = s->share[i].part[k].job;

			if (s->group[job] == IBCC_NONE)
				s->order[n++] = job;
			s->group[job] = job;
		}
	qsort_r(s->order, n, sizeof(*s->order), by_id, s->jobs->job);
	for (uint32_t i = 1; i < n; i++)
		if (!strcmp(s->jobs->job[s->order[i]].id, s->jobs->job[s->order[i - 1]].id))
			s->group[s->order[i]] = s->group[s->order[i - 1]];
}

static bool is_worse(const struct ibcc_whose_sum *x, const struct ibcc_whose_sum *y)
{
	if (x->share_permille != y->share_permille)
		return x->share_permille > y->share_permille;
	if (x->n_victims != y->n_victims)
		return x->n_victims > y->n_victims;
	return x->job < y->job;
}

/* Takes the worst groups, and makes one group of all others. To look for each of the few is faster
 * than to sort thousands.
 */
static void take_worst(struct summing *s, struct ibcc_whose_sums *out)
{
	for (; out->n < IBCC_WHOSE_WORST; out->n++) {
		struct ibcc_whose_sum *worst = s->sum;

		for (uint32_t i = 1; i < s->jobs->n; i++)
			if (is_worse(&s->sum[i], worst))
				worst = &s->sum[i];
		if (!worst->share_permille && !worst->n_victims)
			break;
		out->sum[out->n] = *worst;
		worst->share_permille = 0;
		worst->n_victims = 0;
	}
	for (uint32_t i = 0; i < s->jobs->n; i++) {
		uint32_t k = 0;

		while (k < out->n && out->sum[k].job != s->group[i])
			k++;
		s->group[i] = s->group[i] == IBCC_NONE || k < out->n ? IBCC_NONE : 0;
	}
}

static void measure_rest(const struct summing *s, struct ibcc_whose_sums *out)
{
	for (uint32_t i = 0; i < s->n_roots; i++) {
		const struct ibcc_whose_share *share = &s->share[i];
		uint32_t own = share->nobody_permille;

		if (share->basis == IBCC_WHOSE_BY_WAITING)
			continue;
		for (uint32_t k = 0; k < share->n; k++)
			own += share->part[k].own_permille;
		if (share->nobody_permille > out->nobody_permille)
			out->nobody_permille = share->nobody_permille;
		if (own < 1000 && 1000 - own > out->shared_permille)
			out->shared_permille = (uint16_t)(1000 - own);
	}
}

int ibcc_whose_sum_up(const struct ibcc_jobs *jobs, const struct ibcc_whose_hosts *hosts,
		      const struct ibcc_topo *t, const struct ibcc_whose_evidence *e,
		      const struct ibcc_whose_share *share, uint32_t n, struct ibcc_whose_sums *out)
{
	size_t room = jobs->n ? jobs->n : 1;
	struct summing s = { .jobs = jobs,
			     .hosts = hosts,
			     .t = t,
			     .e = e,
			     .share = share,
			     .n_roots = n,
			     .group = calloc(room, sizeof(*s.group)),
			     .now = calloc(room, sizeof(*s.now)),
			     .last = calloc(room, sizeof(*s.last)),
			     .order = calloc(room, sizeof(*s.order)),
			     .is_counted = calloc(hosts->n_endports ? hosts->n_endports : 1,
						  sizeof(*s.is_counted)),
			     .sum = calloc(room, sizeof(*s.sum)) };
	int rc = -ENOMEM;

	*out = (struct ibcc_whose_sums){ 0 };
	if (!s.group || !s.now || !s.last || !s.order || !s.is_counted || !s.sum)
		goto out;
	for (uint32_t i = 0; i < jobs->n; i++)
		s.sum[i].job = i;
	group_runs(&s);
	measure(&s);
	take_worst(&s, out);
	memset(s.sum, 0, sizeof(*s.sum));
	measure(&s);
	out->others = s.sum[0];
	measure_rest(&s, out);
	rc = 0;
out:
	free(s.group);
	free(s.now);
	free(s.last);
	free(s.order);
	free(s.is_counted);
	free(s.sum);
	return rc;
}
