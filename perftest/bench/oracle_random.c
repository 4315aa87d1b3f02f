/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Every point of both grids is run in full for every draw: what is best in a shorter window is
 * another question, and a run takes a tenth of a second.
 */
#include "perftest/bench/oracle_random.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "perftest/bench/bench.h"
#include "perftest/bench/draw.h"
#include "perftest/bench/drawn.h"
#include "perftest/bench/individual.h"
#include "perftest/bench/oracle_grid.h"
#include "perftest/bench/pool.h"
#include "perftest/bench/progress.h"

#define NEAR       0.98
#define SETTLED_PS (80 * IBCC_PS_PER_MS) /* so much later is all settled */

/* Tables that end at 1.15 x + 0.5 reach fair shares in a wide range around it, so a little less and
 * more will do; the balance of marks by factors of two; queues of a quarter, a half and three
 * quarters; and both amounts of marks that the tuner knows.
 */
static const char *const individual_grid[] = {
	IBCC_INDIVIDUAL_PREFIX "end_permille=600,1000,1400",
	IBCC_INDIVIDUAL_PREFIX "loop_permille=250,500,1000,2000",
	IBCC_INDIVIDUAL_PREFIX "threshold=-4,0,3",
	IBCC_INDIVIDUAL_PREFIX "calm=0,1",
};

#define N_AXES (sizeof(individual_grid) / sizeof(*individual_grid))

/* What the law has once trees are gone. */
static const struct ibcc_individual law = { 1000, 1000, 0, true };

/* Runs of a draw that are no points of a grid, before those that are. */
enum { RUN_OFF, RUN_LIVE, RUN_LAW, N_RUNS };

struct search {
	const struct ibcc_oracle_random *o;
	uint64_t n_points; /* runs of a draw */
	double *share;     /* [draw * n_points + point] */
	struct ibcc_oracle_draw *d;
	struct ibcc_progress progress;
};

static int number_of(const struct ibcc_grid *g, uint64_t point, const char *key, int min, int max,
		     int *out)
{
	for (size_t i = 0; i < g->n_axes; i++) {
		const char *value = ibcc_grid_value(g, point, i);
		char *end;
		long v;

		if (strcmp(g->axis[i].key + strlen(IBCC_INDIVIDUAL_PREFIX), key))
			continue;
		v = strtol(value, &end, 10);
		if (end == value || *end || v < min || v > max) {
			fprintf(stderr, "ibcc-bench: --grid: %s: got \"%s\", want %d to %d\n",
				g->axis[i].key, value, min, max);
			return -EINVAL;
		}
		*out = (int)v;
	}
	return 0;
}

static int individual_at(const struct ibcc_grid *g, uint64_t point, struct ibcc_individual *v)
{
	int end = 1000, loop = 1000, threshold = 0, calm = 0;
	int rc = number_of(g, point, "end_permille", 1, 100000, &end);

	if (!rc)
		rc = number_of(g, point, "loop_permille", 1, 100000, &loop);
	if (!rc)
		rc = number_of(g, point, "threshold", -15, 15, &threshold);
	if (!rc)
		rc = number_of(g, point, "calm", 0, 1, &calm);
	*v = (struct ibcc_individual){ (uint32_t)end, (uint32_t)loop, threshold, calm };
	return rc;
}

/* Mistakes show before anything runs. */
static int check_individual(const struct ibcc_grid *g)
{
	static const char *const known[] = { "end_permille", "loop_permille", "threshold", "calm" };
	struct ibcc_individual v;
	int rc = 0;

	for (size_t i = 0; i < g->n_axes; i++) {
		bool found = false;

		for (size_t k = 0; k < sizeof(known) / sizeof(*known); k++)
			found = found ||
				!strcmp(g->axis[i].key + strlen(IBCC_INDIVIDUAL_PREFIX), known[k]);
		if (!found) {
			fprintf(stderr,
				"ibcc-bench: --grid: got %s, want " IBCC_INDIVIDUAL_PREFIX
				"end_permille, loop_permille, threshold or calm\n",
				g->axis[i].key);
			return -EINVAL;
		}
	}
	for (uint64_t p = 0; p < g->n_points && !rc; p++)
		rc = individual_at(g, p, &v);
	return rc;
}

/* A draw with a point of the uniform grid. */
static int load_uniform(const struct ibcc_oracle_random *o, uint64_t seed, uint64_t point,
			struct ibcc_scenario *s, struct ibcc_yaml_errors *e)
{
	struct ibcc_words set = { 0 };
	char base[2048];
	int rc = ibcc_draw_load(seed, s, e);

	if (rc)
		return rc;
	rc = ibcc_oracle_base(s, base, sizeof(base));
	ibcc_scenario_fini(s);
	if (!rc)
		rc = ibcc_words_add(&set, base);
	if (!rc)
		rc = ibcc_grid_assign(&o->uniform, point, &set);
	if (!rc)
		rc = ibcc_draw_load_set(seed, &set, s, e);
	ibcc_words_fini(&set);
	return rc;
}

static int measure_individual(const struct ibcc_individual *v, const struct ibcc_scenario *s,
			      const struct ibcc_truth *t, struct ibcc_measure *m)
{
	struct ibcc_settings settings;
	int rc = ibcc_individual_settings(s, t, v, &settings);

	if (rc)
		return rc;
	rc = ibcc_individual_run(s, &settings, m);
	ibcc_settings_fini(&settings);
	return rc;
}

static int run_live(const struct ibcc_scenario *s, double *share)
{
	struct ibcc_live_result r;
	int rc = ibcc_drawn_live(s, share, &r);

	ibcc_live_result_fini(&r);
	return rc;
}

/* Where nothing is congested, somebody who knows that sets nothing. */
static int run_individual(const struct ibcc_individual *v, const struct ibcc_scenario *s,
			  double *share)
{
	struct ibcc_truth truth;
	struct ibcc_measure m;
	int rc = ibcc_truth_find(s, s->measure_from_ps, &truth);

	if (!rc && truth.n_roots) {
		rc = measure_individual(v, s, &truth, &m);
		if (!rc) {
			*share = ibcc_draw_share(&m);
			ibcc_measure_fini(&m);
		}
	}
	ibcc_truth_fini(&truth);
	return rc;
}

static int work(void *arg, uint64_t i)
{
	struct search *f = arg;
	const struct ibcc_oracle_random *o = f->o;
	uint64_t seed = o->seed + i / f->n_points, point = i % f->n_points;
	bool uniform = point >= N_RUNS && point - N_RUNS < o->uniform.n_points;
	struct ibcc_individual v = law;
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_scenario s;
	int rc;

	f->share[i] = NAN;
	if (uniform)
		rc = load_uniform(o, seed, point - N_RUNS, &s, &e);
	else
		rc = ibcc_draw_load(seed, &s, &e);
	if (e.text)
		fputs(e.text, stderr);
	ibcc_yaml_errors_fini(&e);
	if (rc)
		return rc;
	if (uniform || point == RUN_OFF)
		rc = ibcc_drawn_static(&s, &f->share[i]);
	else if (point == RUN_LIVE)
		rc = run_live(&s, &f->share[i]);
	else if (point != RUN_LAW)
		rc = individual_at(&o->individual, point - N_RUNS - o->uniform.n_points, &v);
	if (!rc && !uniform && point >= RUN_LAW)
		rc = run_individual(&v, &s, &f->share[i]);
	ibcc_scenario_fini(&s);
	return rc;
}

static int done(void *arg, uint64_t i, int rc)
{
	(void)i;
	ibcc_progress_step(&((struct search *)arg)->progress);
	return rc;
}

static uint64_t best_of(const double *share, uint64_t n)
{
	uint64_t best = UINT64_MAX;

	for (uint64_t i = 0; i < n; i++)
		if (!isnan(share[i]) && (best == UINT64_MAX || share[i] > share[best]))
			best = i;
	return best;
}

static void judge(const struct search *f, struct ibcc_oracle_draw *d, const double *share)
{
	const double *uniform = share + N_RUNS;
	const double *individual = uniform + f->o->uniform.n_points;

	d->off = share[RUN_OFF];
	d->live = share[RUN_LIVE];
	d->uniform_at = best_of(uniform, f->o->uniform.n_points);
	d->uniform = d->uniform_at == UINT64_MAX ? NAN : uniform[d->uniform_at];
	for (uint64_t i = 0; i < f->o->uniform.n_points; i++)
		d->uniform_near += uniform[i] >= NEAR * d->uniform;
	d->law = isnan(share[RUN_LAW]) ? d->off : share[RUN_LAW];
	d->individual = d->law;
	d->individual_at = best_of(individual, f->o->individual.n_points);
	if (d->individual_at != UINT64_MAX && individual[d->individual_at] >= d->law)
		d->individual = individual[d->individual_at];
	else
		d->individual_at = UINT64_MAX;
	d->best = fmax(d->off, fmax(d->uniform, d->individual)); /* NAN is less than all */
	d->settled = d->live_settled = NAN;
}

static void make_later(struct ibcc_scenario *s)
{
	s->measure_from_ps += SETTLED_PS;
	s->duration_ps += SETTLED_PS;
}

static int run_live_later(struct ibcc_oracle_draw *d, struct ibcc_yaml_errors *e)
{
	struct ibcc_scenario s;
	int rc = ibcc_draw_load(d->seed, &s, e);

	if (rc)
		return rc;
	make_later(&s);
	rc = run_live(&s, &d->live_settled);
	ibcc_scenario_fini(&s);
	return rc;
}

/* A draw with the best static setting, later, or as it was to see who misses what. */
static int run_best(const struct search *f, struct ibcc_oracle_draw *d, bool later,
		    struct ibcc_yaml_errors *e)
{
	bool individual = d->best > d->off && d->best > d->uniform;
	struct ibcc_individual v = law;
	struct ibcc_measure m;
	struct ibcc_scenario s;
	struct ibcc_truth t;
	int rc;

	if (!individual && d->best > d->off)
		rc = load_uniform(f->o, d->seed, d->uniform_at, &s, e);
	else
		rc = ibcc_draw_load(d->seed, &s, e);
	if (rc)
		return rc;
	if (later)
		make_later(&s);
	rc = ibcc_truth_find(&s, s.measure_from_ps, &t);
	d->n_roots = t.n_roots;
	if (!rc && individual && d->individual_at != UINT64_MAX)
		rc = individual_at(&f->o->individual, d->individual_at, &v);
	if (!rc && individual)
		rc = measure_individual(&v, &s, &t, &m);
	else if (!rc)
		rc = ibcc_measure_run(&s, 0, &m, NULL);
	if (!rc) {
		if (later)
			d->settled = ibcc_draw_share(&m);
		else
			rc = ibcc_lost_find(&s, &t, &m, d->lost);
		ibcc_measure_fini(&m);
	}
	ibcc_truth_fini(&t);
	ibcc_scenario_fini(&s);
	return rc;
}

static int work_again(void *arg, uint64_t i)
{
	struct search *f = arg;
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_oracle_draw *d = &f->d[i];
	int rc = run_best(f, d, false, &e);

	if (!rc)
		rc = run_best(f, d, true, &e);
	if (!rc)
		rc = run_live_later(d, &e);
	if (e.text)
		fputs(e.text, stderr);
	ibcc_yaml_errors_fini(&e);
	return rc;
}

static int run_jobs(struct search *f, uint64_t n, int (*fn)(void *arg, uint64_t i))
{
	int rc;

	ibcc_progress_begin(&f->progress, n);
	rc = ibcc_pool_run(n, f->o->threads, fn, done, f);
	ibcc_progress_end(&f->progress);
	return rc;
}

static int search(struct search *f)
{
	const struct ibcc_oracle_random *o = f->o;
	int rc;

	f->n_points = N_RUNS + o->uniform.n_points + o->individual.n_points;
	f->share = calloc(o->n * f->n_points, sizeof(*f->share));
	f->d = calloc(o->n, sizeof(*f->d));
	rc = f->share && f->d ? run_jobs(f, o->n * f->n_points, work) : -ENOMEM;
	if (rc)
		return rc;
	for (uint64_t i = 0; i < o->n; i++) {
		f->d[i].seed = o->seed + i;
		judge(f, &f->d[i], f->share + i * f->n_points);
	}
	return run_jobs(f, o->n, work_again);
}

static int write_file(void *arg, FILE *out)
{
	const struct search *f = arg;

	return ibcc_oracle_random_write(f->o, f->d, true, out);
}

static int report(struct search *f)
{
	const struct ibcc_oracle_random *o = f->o;
	int exit = o->out ? ibcc_bench_write(o->out, write_file, f) : IBCC_EXIT_OK, rc;

	if (exit)
		return exit;
	rc = o->json ? ibcc_oracle_random_write(o, f->d, false, stdout)
		     : ibcc_oracle_random_print(o, f->d);
	return rc || fflush(stdout) ? IBCC_EXIT_ERROR : IBCC_EXIT_OK;
}

int ibcc_bench_oracle_random(struct ibcc_oracle_random *o)
{
	struct search f = { .o = o };
	struct ibcc_yaml_errors e = { 0 };
	int rc = 0, exit;

	for (size_t i = 0, own = o->individual.n_axes; !own && i < N_AXES && !rc; i++)
		rc = ibcc_oracle_grid_add(&o->individual, individual_grid[i]);
	if (!rc)
		rc = check_individual(&o->individual);
	if (rc)
		return IBCC_EXIT_ERROR;
	rc = search(&f);
	exit = rc ? ibcc_bench_fail("oracle", rc, &e) : report(&f);
	free(f.share);
	free(f.d);
	return exit;
}
