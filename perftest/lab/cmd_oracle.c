/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds the best static setting of each case by trying a whole grid: what an operator could have
 * set who had known the scenario before. All points run in the shortened form of the experiment,
 * then the best of them in the full one.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>

#include <ibcc/scenario_file.h>

#include "perftest/bench/bench.h"
#include "perftest/bench/oracle_file.h"
#include "perftest/bench/report.h"
#include "perftest/lab/grid.h"
#include "perftest/lab/lab.h"
#include "perftest/lab/oracle_grid.h"
#include "perftest/lab/oracle_random.h"
#include "perftest/lab/runs.h"

#define FINALISTS 6u

/* A setting to be tried for a case. */
struct candidate {
	size_t exp_case;
	struct ibcc_words set; /* on top of the case's */
	double short_share, full_share;
	bool final;
};

struct oracle {
	struct ibcc_experiment x;
	struct ibcc_grid grid;
	struct candidate *candidate;
	size_t n;
	size_t *job; /* candidates to run */
	size_t n_jobs;
	bool full;
	struct ibcc_yaml_errors e;
};

static const struct ibcc_exp_variant *off_of(const struct ibcc_experiment *x, size_t c)
{
	for (size_t i = 0; i < x->n_variants; i++)
		if (x->variant[i].column == IBCC_EXP_COLUMN_OFF && x->variant[i].exp_case == c)
			return &x->variant[i];
	return NULL;
}

static int case_set(const struct oracle *o, size_t c, struct ibcc_words *set)
{
	int rc = ibcc_words_add_all(set, &off_of(&o->x, c)->set);

	if (!rc && !o->full)
		rc = ibcc_words_add_all(set, &o->x.shortened);
	return rc;
}

static int base_setting(struct oracle *o, size_t c, char *text, size_t len)
{
	struct ibcc_words set = { 0 };
	struct ibcc_scenario s;
	int rc = case_set(o, c, &set);

	if (!rc)
		rc = ibcc_scenario_load_set(o->x.scenario, (const char *const *)set.w, set.n, &s,
					    &o->e);
	ibcc_words_fini(&set);
	if (rc)
		return rc;
	rc = ibcc_oracle_base(&s, text, len);
	ibcc_scenario_fini(&s);
	return rc;
}

static struct candidate *add(struct oracle *o, size_t c)
{
	struct candidate *bigger = reallocarray(o->candidate, o->n + 1, sizeof(*bigger));

	if (!bigger)
		return NULL;
	o->candidate = bigger;
	bigger += o->n++;
	*bigger = (struct candidate){ .exp_case = c, .short_share = NAN, .full_share = NAN };
	return bigger;
}

/* Adds settings that are known: no control at all is a static setting, too, and so is a published
 * one.
 */
static int add_known(struct oracle *o, size_t c, const char *base)
{
	struct candidate *k = add(o, c);
	const struct ibcc_words *off = &off_of(&o->x, c)->set;
	int rc = k ? ibcc_words_add(&k->set, base) : -ENOMEM;

	if (!rc)
		rc = ibcc_words_add(&k->set, "congestion_control.enabled=false");
	for (size_t i = 0; i < o->x.n_variants && !rc; i++) {
		const struct ibcc_exp_variant *v = &o->x.variant[i];

		if (v->column != IBCC_EXP_COLUMN_PUBLISHED || v->exp_case != c)
			continue;
		k = add(o, c);
		rc = k ? 0 : -ENOMEM;
		for (size_t w = off->n; w < v->set.n && !rc; w++)
			rc = ibcc_words_add(&k->set, v->set.w[w]);
	}
	return rc;
}

static int add_candidates(struct oracle *o)
{
	char base[2048];
	int rc = 0;

	for (size_t c = 0; c < o->x.n_cases && !rc; c++) {
		rc = base_setting(o, c, base, sizeof(base));
		if (!rc)
			rc = add_known(o, c, base);
		for (uint64_t p = 0; p < o->grid.n_points && !rc; p++) {
			struct candidate *k = add(o, c);

			rc = k ? ibcc_words_add(&k->set, base) : -ENOMEM;
			if (!rc)
				rc = ibcc_grid_assign(&o->grid, p, &k->set);
		}
	}
	return rc;
}

static int try(void *arg, uint64_t i, struct ibcc_yaml_errors *e)
{
	struct oracle *o = arg;
	struct candidate *k = &o->candidate[o->job[i]];
	struct ibcc_words set = { 0 };
	struct ibcc_exp_run run;
	double share;
	int rc = case_set(o, k->exp_case, &set);

	if (!rc)
		rc = ibcc_words_add_all(&set, &k->set);
	if (!rc)
		rc = ibcc_bench_measure(o->x.scenario, &set, 0, &run, e);
	if (!rc) {
		share = ibcc_measure_ideal_share(&run.measure);
		*(o->full ? &k->full_share : &k->short_share) = share;
		ibcc_bench_measure_fini(&run);
	}
	ibcc_words_fini(&set);
	return rc;
}

static int run_jobs(struct oracle *o, unsigned int threads)
{
	const struct ibcc_runs runs = { .n = o->n_jobs, .threads = threads, .one = try, .arg = o };

	return ibcc_runs_all(&runs);
}

/* Picks the best few settings of a case by the shortened form. */
static void pick_finalists(struct oracle *o, size_t c)
{
	for (unsigned int n = 0; n < FINALISTS; n++) {
		struct candidate *best = NULL;

		for (size_t i = 0; i < o->n; i++) {
			struct candidate *k = &o->candidate[i];

			if (k->exp_case == c && !k->final && !isnan(k->short_share) &&
			    (!best || k->short_share > best->short_share))
				best = k;
		}
		if (!best)
			return;
		best->final = true;
		o->job[o->n_jobs++] = (size_t)(best - o->candidate);
	}
}

static int search(struct oracle *o, unsigned int threads)
{
	int rc = add_candidates(o);

	o->job = rc ? NULL : calloc(o->n + 1, sizeof(*o->job));
	if (!o->job)
		return rc ? rc : -ENOMEM;
	for (size_t i = 0; i < o->n; i++)
		o->job[o->n_jobs++] = i;
	rc = run_jobs(o, threads);
	o->n_jobs = 0;
	o->full = true;
	for (size_t c = 0; c < o->x.n_cases && !rc; c++)
		pick_finalists(o, c);
	return rc ? rc : run_jobs(o, threads);
}

/* The share of settings that are nearly as good shows how much the choice matters in a case. */
static json_t *case_json(const struct oracle *o, size_t c)
{
	const struct candidate *best = NULL;
	double top = -1;
	int points = 0, near = 0;

	for (size_t i = 0; i < o->n; i++) {
		const struct candidate *k = &o->candidate[i];

		if (k->exp_case != c)
			continue;
		points++;
		top = fmax(top, k->short_share);
		if (k->final && (!best || k->full_share > best->full_share))
			best = k;
	}
	for (size_t i = 0; i < o->n; i++)
		near += o->candidate[i].exp_case == c && o->candidate[i].short_share >= 0.98 * top;
	if (!best)
		return NULL;
	return json_pack("{si si so so}", "points", points, "within_2_percent", near, "ideal_share",
			 ibcc_report_number(best->full_share), "set",
			 ibcc_report_words(&best->set));
}

static int write_file(void *arg, FILE *out)
{
	const struct oracle *o = arg;
	json_t *cases = json_object(), *all;

	for (size_t c = 0; c < o->x.n_cases; c++) {
		json_t *k = case_json(o, c);

		if (k)
			json_object_set_new(cases, o->x.exp_case[c].name, k);
	}
	all = json_pack("{si ss so so}", "schema", 1, "experiment", o->x.name, "grid",
			ibcc_oracle_grid_json(&o->grid), "cases", cases);
	return ibcc_report_json(all, true, out);
}

static int run_one(const char *name, const struct ibcc_grid *grid, unsigned int threads,
		   const char *out)
{
	struct oracle o = { .grid = *grid };
	char path[2 * PATH_MAX], file[2 * PATH_MAX] = "";
	int rc = ibcc_bench_find(name, "tune", path, sizeof(path)), exit;

	if (!rc)
		rc = ibcc_experiment_load(path, &o.x, &o.e);
	if (rc)
		return ibcc_bench_fail(name, rc, &o.e);
	rc = search(&o, threads);
	if (!rc && !out)
		rc = ibcc_oracle_path(path, file, sizeof(file));
	exit = rc ? ibcc_bench_fail(name, rc, &o.e)
		  : ibcc_bench_write(out ? out : file, write_file, &o);
	for (size_t i = 0; i < o.n; i++)
		ibcc_words_fini(&o.candidate[i].set);
	free(o.candidate);
	free(o.job);
	ibcc_experiment_fini(&o.x);
	return exit;
}

/* Adds an axis to the grid that has its key; a grid without axes gets the default ones. */
static int read_axis(void *place, const char *text)
{
	struct ibcc_oracle_grids *grid = place;
	bool own = !strncmp(text, IBCC_INDIVIDUAL_PREFIX, strlen(IBCC_INDIVIDUAL_PREFIX));

	return ibcc_oracle_grid_add(own ? &grid->individual : &grid->uniform, text);
}

struct options {
	struct ibcc_oracle_random o;
	uint64_t jobs;
};

static const struct ibcc_option options[] = {
	{ "random", 0, IBCC_OPTION_NUMBER, "N", "number of random scenarios, in place of names",
	  .at = offsetof(struct options, o.n), 1, 1000000 },
	{ "json", 'j', IBCC_OPTION_FLAG, NULL, "answer in JSON",
	  .at = offsetof(struct options, o.json) },
	IBCC_OPTION_SEED(struct options, o.seed, 0),
	{ "grid", 0, IBCC_OPTION_READ, "KEY=A,B,C...",
	  "try these values of a key; repeat it for other\nkeys",
	  .at = offsetof(struct options, o.grid), .read = read_axis, .many = true },
	{ "out", 'o', IBCC_OPTION_TEXT, "FILE", "write the results to this file",
	  .at = offsetof(struct options, o.out) },
	IBCC_OPTION_JOBS(struct options, jobs),
};

static int run_names(char **name, int n, const struct ibcc_oracle_random *o)
{
	int exit = IBCC_EXIT_OK, one;

	for (int i = 0; i < n; i++) {
		one = run_one(name[i], &o->grid.uniform, o->threads, o->out);
		exit = one > exit ? one : exit;
	}
	return exit;
}

static int run(const struct ibcc_command *c, int argc, char **argv)
{
	struct options opt = { .o.seed = 1 };
	struct ibcc_oracle_random *o = &opt.o;
	int first, exit = IBCC_EXIT_ERROR;

	ibcc_grid_init(&o->grid.uniform);
	ibcc_grid_init(&o->grid.individual);
	if (ibcc_command_read(c, argc, argv, &opt, &first))
		goto out;
	o->threads = (unsigned int)opt.jobs;
	if (o->n && first < argc)
		ibcc_command_say("%s: want names or --random, not both", c->name);
	else if (!o->n && (first == argc || (o->out && first != argc - 1)))
		ibcc_command_say("%s: want names of scoring files (one with --out), or --random N",
				 c->name);
	else if (!ibcc_oracle_grid_default(&o->grid.uniform))
		exit = o->n ? ibcc_lab_oracle_random(o) : run_names(argv + first, argc - first, o);
out:
	ibcc_grid_fini(&o->grid.uniform);
	ibcc_grid_fini(&o->grid.individual);
	return exit;
}

const struct ibcc_command ibcc_lab_oracle = {
	.name = "oracle",
	.arguments = "NAME|FILE... | --random N",
	.what = "search the best static settings of scenarios",
	.most = -1,
	.option = options,
	.n_options = sizeof(options) / sizeof(*options),
	.run = run,
};
