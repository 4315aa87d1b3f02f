/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Divides a root's interval between jobs. Begin with ibcc_whose_share_out().
 *
 * The interval of each host is cut where a job begins or ends. In a piece with one job, all that
 * the host's adapters did is that job's. In a piece with several, it is shared between them. A
 * piece without a job is nobody's.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <ibcc/whose.h>

/* A moment in which a job begins or ends on a host. */
struct edge {
	int64_t at_ms;
	int begins; /* 1, or -1: it ends */
	uint32_t k; /* of the host's jobs */
};

/* How long a job ran on a host in the interval: alone, and beside others. */
struct ran {
	int64_t alone_ms, shared_ms;
};

struct division {
	const struct ibcc_jobs *jobs;
	const struct ibcc_whose_hosts *hosts;
	const struct ibcc_whose_evidence *e;
	double weight;     /* of all adapters */
	uint32_t *part;    /* by job: its place in the parts, IBCC_NONE: it has none */
	struct edge *edge; /* room for all jobs of a host */
	struct ran *ran;
	double *own, *shared; /* by part: of the weight */
	double *blocked;      /* by part: sum of the waits of its victims, permille */
	double nobody;
	struct ibcc_whose_share *out;
};

static int by_time(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->at_ms != y->at_ms)
		return x->at_ms < y->at_ms ? -1 : 1;
	return x->begins - y->begins; /* an end comes first: these two jobs did not meet */
}

/* Fills d->ran for the jobs of a host. Returns how long the host had any job. */
static int64_t run_of(struct division *d, uint32_t host)
{
	uint32_t first = d->hosts->first[host], n = d->hosts->first[host + 1] - first, edges = 0;
	uint64_t running = 0; /* sum over the jobs that run, of their numbers: one job's number */
	uint32_t n_running = 0;
	int64_t busy_ms = 0;

	for (uint32_t k = 0; k < n; k++) {
		const struct ibcc_job *j = &d->jobs->job[d->hosts->job[first + k]];
		int64_t from =
			j->start_s > d->e->begin_ms / 1000 ? j->start_s * 1000 : d->e->begin_ms;
		int64_t to = j->end_s && j->end_s <= d->e->end_ms / 1000 ? j->end_s * 1000
									 : d->e->end_ms;

		d->ran[k] = (struct ran){ 0 };
		if (from >= to)
			continue;
		d->edge[edges++] = (struct edge){ from, 1, k };
		d->edge[edges++] = (struct edge){ to, -1, k };
	}
	if (edges > 2) /* most hosts have one job */
		qsort(d->edge, edges, sizeof(*d->edge), by_time);
	for (uint32_t i = 0; i < edges; i++) {
		const struct edge *g = &d->edge[i];
		int64_t ms = i ? g->at_ms - d->edge[i - 1].at_ms : 0;

		busy_ms += n_running ? ms : 0;
		if (n_running == 1)
			d->ran[running].alone_ms += ms;
		running = g->begins > 0 ? running + g->k : running - g->k;
		n_running += g->begins;
		if (g->begins < 0)
			d->ran[g->k].shared_ms += g->at_ms;
		else
			d->ran[g->k].shared_ms -= g->at_ms;
	}
	for (uint32_t k = 0; k < n; k++)
		d->ran[k].shared_ms -= d->ran[k].alone_ms;
	return busy_ms;
}

static struct ibcc_whose_part *part_of(struct division *d, uint32_t job)
{
	if (d->part[job] == IBCC_NONE) {
		d->part[job] = d->out->n;
		d->out->part[d->out->n++] = (struct ibcc_whose_part){ .job = job };
	}
	return &d->out->part[d->part[job]];
}

static void widen(int64_t *most, int64_t ms)
{
	*most = ms > *most ? ms : *most;
}

static void add_job(struct division *d, const struct ibcc_whose_adapter *a, uint32_t job,
		    const struct ran *ran)
{
	double all_ms = (double)(d->e->end_ms - d->e->begin_ms);
	double weight = d->weight > 0 ? a->weight / d->weight : 0;
	struct ibcc_whose_part *p = part_of(d, job);
	uint32_t k = d->part[job];

	if (a->weight > 0) {
		d->own[k] += weight * (double)ran->alone_ms / all_ms;
		d->shared[k] += weight * (double)ran->shared_ms / all_ms;
		p->n_contributors++;
		/* 1 Mb/s is 125 bytes in a millisecond. */
		p->sent_bytes += 125.0 * a->xmit_mbps * (double)ran->alone_ms;
		widen(&p->contributor_ms, ran->alone_ms);
		widen(&p->shared_contributor_ms, ran->shared_ms);
	}
	if (a->suffers) {
		p->n_victims++;
		d->blocked[k] += a->wait_permille;
		p->blocked_ms += a->wait_permille * (double)ran->alone_ms / 1000;
		widen(&p->victim_ms, ran->alone_ms);
		widen(&p->shared_victim_ms, ran->shared_ms);
	}
}

static void add_adapter(struct division *d, const struct ibcc_topo *t,
			const struct ibcc_whose_adapter *a)
{
	uint32_t ep = ibcc_topo_find_endport(t, a->node_guid, a->port), host;
	double all_ms = (double)(d->e->end_ms - d->e->begin_ms), part = 0;

	host = ep < d->hosts->n_endports ? d->hosts->host[ep] : IBCC_NONE;
	if (host != IBCC_NONE) {
		uint32_t first = d->hosts->first[host];

		part = (double)run_of(d, host) / all_ms;
		for (uint32_t k = 0; k < d->hosts->first[host + 1] - first; k++)
			if (d->ran[k].alone_ms + d->ran[k].shared_ms > 0)
				add_job(d, a, d->hosts->job[first + k], &d->ran[k]);
	}
	d->nobody += d->weight > 0 ? a->weight / d->weight * (1 - part) : 0;
}

static int by_part(const void *a, const void *b)
{
	const struct ibcc_whose_part *x = a, *y = b;
	int d = y->own_permille + y->shared_permille - x->own_permille - x->shared_permille;

	if (!d)
		d = (y->victim_ms > x->victim_ms) - (y->victim_ms < x->victim_ms);
	if (!d)
		d = (int)y->victim_permille - (int)x->victim_permille;
	return d ? d : (x->job > y->job) - (x->job < y->job);
}

static uint32_t most_jobs_of_a_host(const struct ibcc_whose_hosts *h)
{
	uint32_t most = 1;

	for (uint32_t i = 0; i < h->n_hosts; i++)
		if (h->first[i + 1] - h->first[i] > most)
			most = h->first[i + 1] - h->first[i];
	return most;
}

int ibcc_whose_share_out(const struct ibcc_jobs *jobs, const struct ibcc_whose_hosts *hosts,
			 const struct ibcc_topo *t, const struct ibcc_whose_evidence *e,
			 struct ibcc_whose_share *out)
{
	size_t n = jobs->n ? jobs->n : 1, on_host = most_jobs_of_a_host(hosts);
	size_t most = e->n * on_host < n ? e->n * on_host + 1 : n; /* that can have a part */
	struct ibcc_whose_part *fit;
	struct division d = { .jobs = jobs, .hosts = hosts, .e = e, .out = out };
	int rc = -ENOMEM;

	*out = (struct ibcc_whose_share){ .basis = e->basis,
					  .part = calloc(most, sizeof(*out->part)) };
	d.part = malloc(n * sizeof(*d.part));
	d.edge = calloc(2 * on_host, sizeof(*d.edge));
	d.ran = calloc(on_host, sizeof(*d.ran));
	d.own = calloc(most, sizeof(*d.own));
	d.shared = calloc(most, sizeof(*d.shared));
	d.blocked = calloc(most, sizeof(*d.blocked));
	if (!out->part || !d.part || !d.edge || !d.ran || !d.own || !d.shared || !d.blocked)
		goto out;
	rc = 0;
	for (size_t i = 0; i < n; i++)
		d.part[i] = IBCC_NONE;
	for (uint32_t i = 0; i < e->n; i++)
		d.weight += e->adapter[i].weight;
	for (uint32_t i = 0; i < e->n && e->end_ms > e->begin_ms; i++)
		add_adapter(&d, t, &e->adapter[i]);
	for (uint32_t k = 0; k < out->n; k++) {
		struct ibcc_whose_part *p = &out->part[k];

		p->own_permille = (uint16_t)lround(d.own[k] * 1000);
		p->shared_permille = (uint16_t)lround(d.shared[k] * 1000);
		if (p->n_victims)
			p->victim_permille = (uint16_t)lround(d.blocked[k] / p->n_victims);
	}
	out->nobody_permille = (uint16_t)lround(d.nobody * 1000);
	fit = realloc(out->part, (out->n ? out->n : 1) * sizeof(*out->part));
	out->part = fit ? fit : out->part;
	qsort(out->part, out->n, sizeof(*out->part), by_part);
out:
	free(d.part);
	free(d.edge);
	free(d.ran);
	free(d.own);
	free(d.shared);
	free(d.blocked);
	if (rc)
		ibcc_whose_share_fini(out);
	return rc;
}

void ibcc_whose_share_fini(struct ibcc_whose_share *s)
{
	free(s->part);
	*s = (struct ibcc_whose_share){ 0 };
}
