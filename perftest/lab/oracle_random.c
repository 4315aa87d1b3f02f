/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Runs every point of both grids in full for every draw with congestion. A choice by shorter runs
 * missed up to 12 % of what the best point, equal on all nodes, brings.
 */
#include "perftest/lab/oracle_random.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <ibcc/grow.h>

#include "perftest/bench/bench.h"
#include "perftest/lab/drawn.h"
#include "perftest/lab/oracle_grid.h"
#include "perftest/lab/runs.h"

struct draw_job {
	struct ibcc_oracle_point at;
	struct ibcc_oracle_result got;
};

struct search {
	const struct ibcc_oracle_random *o;
	struct ibcc_oracle_draw *d;
	struct ibcc_oracle_sum *point; /* of the individual grid */
	struct draw_job *job;
	/* all jobs; room for jobs; the first of those that were added last */
	uint32_t n_jobs, cap_jobs, first;
};

static int add(struct search *f, uint64_t seed, enum ibcc_oracle_way way, uint64_t point,
	       enum ibcc_oracle_window window)
{
	struct draw_job *bigger = ibcc_grow(f->job, f->n_jobs, &f->cap_jobs, sizeof(*bigger));

	if (!bigger)
		return -ENOMEM;
	f->job = bigger;
	f->job[f->n_jobs++] =
		(struct draw_job){ .at = { seed, way, point, window }, .got = { .share = NAN } };
	return 0;
}

static int try(void *arg, uint64_t i, struct ibcc_yaml_errors *e)
{
	struct search *f = arg;
	struct draw_job *j = &f->job[f->first + i];

	return ibcc_oracle_point_run(&f->o->grid, &j->at, &j->got, e);
}

static void take_point(double share, uint64_t at, double *best, uint64_t *best_at)
{
	if (isnan(share) || *best >= share)
		return;
	*best = share;
	*best_at = at;
}

static void take_best(struct ibcc_oracle_draw *d, const struct ibcc_oracle_result *r)
{
	if (isnan(r->share) || d->best >= r->share)
		return;
	d->best = r->share;
	for (int k = 0; k < IBCC_N_LOST; k++)
		d->lost[k] = r->lost[k];
}

/* Without congestion, an operator who knows that sets nothing. */
static void take_free(struct search *f, struct ibcc_oracle_draw *d)
{
	d->uniform = d->law = d->individual = d->off;
	for (uint64_t i = 0; i < f->o->grid.individual.n_points && !isnan(d->off); i++) {
		f->point[i].mean += d->off / (double)f->o->n;
		f->point[i].reached += ibcc_drawn_reached(d->off);
	}
}

static void take(struct search *f, const struct draw_job *j)
{
	struct ibcc_oracle_draw *d = &f->d[j->at.seed - f->o->seed];
	double share = j->got.share;

	if (j->at.window == IBCC_ORACLE_LATER) {
		*(j->at.way == IBCC_ORACLE_LIVE ? &d->live_later : &d->best_later) = share;
		return;
	}
	switch (j->at.way) {
	case IBCC_ORACLE_OFF:
		d->n_roots = j->got.n_roots;
		d->off = share;
		if (!d->n_roots)
			take_free(f, d);
		break;
	case IBCC_ORACLE_LIVE: d->live = share; return;
	case IBCC_ORACLE_LAW: d->law = share; break;
	case IBCC_ORACLE_UNIFORM:
		take_point(share, j->at.point, &d->uniform, &d->uniform_at);
		break;
	case IBCC_ORACLE_INDIVIDUAL:
		take_point(share, j->at.point, &d->individual, &d->individual_at);
		f->point[j->at.point].mean += share / (double)f->o->n;
		f->point[j->at.point].reached += ibcc_drawn_reached(share);
		break;
	}
	take_best(d, &j->got);
}

/* Runs the jobs that were added since the last call. */
static int run(struct search *f)
{
	const struct ibcc_runs runs = {
		.n = f->n_jobs - f->first, .threads = f->o->threads, .one = try, .arg = f
	};
	int rc = runs.n ? ibcc_runs_all(&runs) : 0;

	for (; f->first < f->n_jobs && !rc; f->first++)
		take(f, &f->job[f->first]);
	return rc;
}

static int run_without(struct search *f)
{
	int rc = 0;

	for (uint64_t i = 0; i < f->o->n && !rc; i++) {
		f->d[i] = (struct ibcc_oracle_draw){
			.seed = f->o->seed + i,
			.off = NAN,
			.live = NAN,
			.law = NAN,
			.uniform = NAN,
			.individual = NAN,
			.best = NAN,
			.best_later = NAN,
			.live_later = NAN,
			.uniform_at = UINT64_MAX,
			.individual_at = UINT64_MAX,
		};
		rc = add(f, f->d[i].seed, IBCC_ORACLE_OFF, 0, IBCC_ORACLE_OWN);
		if (!rc)
			rc = add(f, f->d[i].seed, IBCC_ORACLE_LIVE, 0, IBCC_ORACLE_OWN);
		if (!rc)
			rc = add(f, f->d[i].seed, IBCC_ORACLE_LIVE, 0, IBCC_ORACLE_LATER);
	}
	return rc ? rc : run(f);
}

static int run_grids(struct search *f)
{
	const struct ibcc_oracle_grids *g = &f->o->grid;
	int rc = 0;

	for (uint64_t i = 0; i < f->o->n && !rc; i++) {
		uint64_t seed = f->d[i].seed;

		if (!f->d[i].n_roots)
			continue;
		rc = add(f, seed, IBCC_ORACLE_LAW, 0, IBCC_ORACLE_OWN);
		for (uint64_t k = 0; k < g->uniform.n_points && !rc; k++)
			rc = add(f, seed, IBCC_ORACLE_UNIFORM, k, IBCC_ORACLE_OWN);
		for (uint64_t k = 0; k < g->individual.n_points && !rc; k++)
			rc = add(f, seed, IBCC_ORACLE_INDIVIDUAL, k, IBCC_ORACLE_OWN);
	}
	return rc ? rc : run(f);
}

static int run_later(struct search *f)
{
	int rc = 0;

	for (uint64_t i = 0; i < f->o->n && !rc; i++) {
		struct ibcc_oracle_draw *d = &f->d[i];
		enum ibcc_oracle_way way = IBCC_ORACLE_UNIFORM;
		uint64_t point = d->uniform_at;

		if (!(d->individual >= d->law)) {
			d->individual = d->law;
			d->individual_at = UINT64_MAX;
		}
		if (d->best > d->off && d->best == d->individual) {
			way = d->individual_at == UINT64_MAX ? IBCC_ORACLE_LAW
							     : IBCC_ORACLE_INDIVIDUAL;
			point = d->individual_at;
		} else if (!(d->best > d->off)) {
			way = IBCC_ORACLE_OFF;
		}
		rc = add(f, d->seed, way, point, IBCC_ORACLE_LATER);
	}
	return rc ? rc : run(f);
}

static int search(struct search *f)
{
	int rc;

	f->d = calloc(f->o->n, sizeof(*f->d));
	f->point = calloc(f->o->grid.individual.n_points, sizeof(*f->point));
	rc = f->d && f->point ? run_without(f) : -ENOMEM;
	if (!rc)
		rc = run_grids(f);
	return rc ? rc : run_later(f);
}

static int write_file(void *arg, FILE *out)
{
	const struct search *f = arg;

	return ibcc_oracle_random_write(f->o, f->d, f->point, true, out);
}

static int report(struct search *f)
{
	const struct ibcc_oracle_random *o = f->o;
	int exit = o->out ? ibcc_bench_write(o->out, write_file, f) : IBCC_EXIT_OK, rc;

	if (exit)
		return exit;
	rc = o->json ? ibcc_oracle_random_write(o, f->d, f->point, false, stdout)
		     : ibcc_oracle_random_print(o, f->d, f->point);
	return rc || fflush(stdout) ? IBCC_EXIT_ERROR : IBCC_EXIT_OK;
}

int ibcc_lab_oracle_random(struct ibcc_oracle_random *o)
{
	struct search f = { .o = o };
	struct ibcc_yaml_errors e = { 0 };
	int rc, exit;

	if (ibcc_oracle_point_prepare(&o->grid.individual))
		return IBCC_EXIT_ERROR;
	rc = search(&f);
	exit = rc ? ibcc_bench_fail("oracle", rc, &e) : report(&f);
	free(f.job);
	free(f.point);
	free(f.d);
	return exit;
}
