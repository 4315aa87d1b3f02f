/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Runs the points of a grid, or those that a fit draws from one, on all cores. Each result is in
 * the file as soon as it is known.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <ibcc/now.h>
#include <ibcc/scenario_file.h>
#include <ibcc/text.h>

#include "perftest/bench/bench.h"
#include "perftest/bench/pool.h"
#include "perftest/bench/report.h"
#include "perftest/lab/fit.h"
#include "perftest/lab/grid.h"
#include "perftest/lab/lab.h"
#include "perftest/lab/progress.h"
#include "perftest/lab/sweep_file.h"

struct sweep {
	const char *scenario, *out;
	const char *fit_name; /* name of a fit, in place of a scenario; NULL: none */
	/* run the scenario of the fit, with --set and --grid only, without its draws */
	bool as_is;
	struct ibcc_fit fit;
	struct ibcc_words set;
	struct ibcc_grid own; /* of --grid */
	const struct ibcc_grid *grid;
	/* points of all shards; drawn NULL: all points of the grid in order */
	uint64_t n_points, *drawn;
	uint64_t shard, n_shards, jobs;
	uint64_t n_left, *point;      /* points that are still to run */
	json_t **result;              /* of each, from when it is known until it is written */
	struct ibcc_yaml_errors *why; /* for each point that cannot run: the reasons */
	struct ibcc_sweep_file file;
	struct ibcc_progress progress;
	double cpu_s;
	struct ibcc_yaml_errors e;
};

static int point_set(const struct sweep *s, uint64_t point, struct ibcc_words *set)
{
	int rc = ibcc_words_add_all(set, &s->set);

	return rc ? rc : ibcc_grid_assign(s->grid, point, set);
}

/* Reads the scenario as a point has it, for its errors. */
static int check_point(struct sweep *s, uint64_t point)
{
	struct ibcc_words set = { 0 };
	struct ibcc_scenario scenario;
	int rc = point_set(s, point, &set);

	if (!rc && s->fit_name) {
		rc = ibcc_fit_check(&s->fit, &set, &s->e);
	} else if (!rc) {
		rc = ibcc_scenario_load_set(s->scenario, (const char *const *)set.w, set.n,
					    &scenario, &s->e);
		if (!rc)
			ibcc_scenario_fini(&scenario);
	}
	ibcc_words_fini(&set);
	return rc;
}

/* Checks each value once, with the first values of the other axes. So a typing error cannot end a
 * sweep in the middle of the night.
 */
static int check_values(struct sweep *s)
{
	uint64_t step = s->grid->n_points;
	int rc = check_point(s, s->drawn ? s->drawn[0] : 0);

	/* The reader of the fit has checked its values already. */
	for (size_t i = 0; i < s->grid->n_axes && !s->drawn && !rc; i++) {
		step /= s->grid->axis[i].value.n;
		for (size_t k = 1; k < s->grid->axis[i].value.n && !rc; k++)
			rc = check_point(s, k * step);
	}
	return rc;
}

static int run_scenario(const struct sweep *s, const struct ibcc_words *set, json_t **out,
			struct ibcc_yaml_errors *e)
{
	struct ibcc_exp_run run;
	int rc = ibcc_bench_measure(s->scenario, set, 0, &run, e);

	if (rc)
		return rc;
	*out = json_pack("{ss so sf sI}", "scenario", run.scenario.name, "result",
			 ibcc_report_summary(&run), "cpu_s", run.cpu_s, "packet_hops",
			 (json_int_t)run.measure.totals.packet_hops);
	ibcc_bench_measure_fini(&run);
	return 0;
}

static int run_point(const struct sweep *s, uint64_t point, json_t **out,
		     struct ibcc_yaml_errors *e)
{
	struct ibcc_words set = { 0 };
	json_t *result = NULL;
	int rc = point_set(s, point, &set);

	if (!rc)
		rc = s->fit_name ? ibcc_fit_run(&s->fit, &set, &result, e)
				 : run_scenario(s, &set, &result, e);
	*out = rc ? NULL
		  : json_pack("{si ss so}", "schema", 1, "id", s->file.id, "point",
			      ibcc_grid_json(s->grid, point));
	json_object_update(*out, result);
	json_decref(result);
	ibcc_words_fini(&set);
	return rc;
}

static int work(void *arg, uint64_t i)
{
	struct sweep *s = arg;

	return run_point(s, s->point[i], &s->result[i], &s->why[i]);
}

static int done(void *arg, uint64_t i, int rc)
{
	struct sweep *s = arg;
	json_t *result = s->result[i];

	s->result[i] = NULL;
	if (rc) {
		s->e = s->why[i];
		s->why[i] = (struct ibcc_yaml_errors){ 0 };
		return rc;
	}
	s->cpu_s += json_real_value(json_object_get(result, "cpu_s"));
	rc = ibcc_sweep_put(&s->file, s->point[i], result);
	ibcc_progress_step(&s->progress);
	return rc;
}

static int plan(struct sweep *s)
{
	uint64_t n = s->n_points / s->n_shards + 1;

	s->point = calloc(n, sizeof(*s->point));
	s->result = calloc(n, sizeof(*s->result));
	s->why = calloc(n, sizeof(*s->why));
	if (!s->point || !s->result || !s->why)
		return -ENOMEM;
	for (uint64_t i = s->shard - 1; i < s->n_points; i += s->n_shards) {
		uint64_t p = s->drawn ? s->drawn[i] : i;

		if (!ibcc_sweep_has(&s->file, p))
			s->point[s->n_left++] = p;
	}
	return 0;
}

/* Prints the time that the runs took, also in CPU time, which other load on the machine changes
 * less. Also prints how long the whole grid takes at that pace.
 */
static void tell(const struct sweep *s)
{
	double took = ibcc_now_s() - s->progress.start_s;
	double pace = (double)s->progress.done / (took > 0 ? took : 1);
	char a[32], b[32];

	if (!s->progress.done) {
		fprintf(stderr, "the file has the results of all points already\n");
		return;
	}
	fprintf(stderr,
		"%llu point%s in %s: %.0f an hour, or %.0f an hour of CPU time; all %llu take %s "
		"at that pace\n",
		(unsigned long long)s->progress.done, ibcc_text_plural(s->progress.done, "", "s"),
		ibcc_progress_time(took, a, sizeof(a)), pace * 3600,
		3600 * (double)s->progress.done / s->cpu_s, (unsigned long long)s->n_points,
		ibcc_progress_time((double)s->n_points / pace, b, sizeof(b)));
}

static int open_fit(struct sweep *s)
{
	char path[2 * PATH_MAX];
	int rc = ibcc_bench_find(s->fit_name, "lab/fits", path, sizeof(path));

	if (!rc)
		rc = ibcc_fit_load(path, &s->fit, &s->e);
	if (rc) {
		s->fit_name = NULL;
		return rc;
	}
	if (s->as_is)
		return 0;
	s->grid = &s->fit.grid;
	s->drawn = ibcc_fit_draw(&s->fit);
	s->n_points = s->fit.draws;
	return s->drawn ? 0 : -ENOMEM;
}

static int sweep(struct sweep *s)
{
	char id[17];
	int rc;

	s->grid = &s->own;
	s->n_points = s->own.n_points;
	rc = s->fit_name ? open_fit(s) : 0;
	if (!rc)
		rc = check_values(s);
	if (!rc)
		rc = s->fit_name ? ibcc_fit_id(&s->fit, &s->set, s->grid, id)
				 : ibcc_sweep_id(s->scenario, &s->set, s->grid, id);
	if (!rc)
		rc = ibcc_sweep_open(&s->file, s->out, id, s->grid, &s->e);
	if (rc == -EWOULDBLOCK)
		ibcc_yaml_errors_add(&s->e, s->out, 0, 0,
				     "another sweep is writing to this file: wait for it, or "
				     "choose another file with --out");
	if (rc)
		return rc;
	rc = plan(s);
	if (!rc) {
		ibcc_progress_begin(&s->progress, s->n_left);
		s->progress.whole = s->n_points;
		rc = ibcc_pool_run(s->n_left, (unsigned int)s->jobs, work, done, s);
		ibcc_progress_end(&s->progress);
	}
	if (!rc)
		tell(s);
	ibcc_sweep_close(&s->file);
	return rc;
}

static int read_shard(void *place, const char *text)
{
	struct sweep *s = place;
	const char *slash = strchr(text, '/');
	char first[24];

	if (!slash || (size_t)(slash - text) >= sizeof(first))
		return -EINVAL;
	memcpy(first, text, (size_t)(slash - text));
	first[slash - text] = '\0';
	if (ibcc_yaml_parse_uint(first, &s->shard) || ibcc_yaml_parse_uint(slash + 1, &s->n_shards))
		return -EINVAL;
	return s->shard >= 1 && s->shard <= s->n_shards && s->n_shards <= UINT32_MAX ? 0 : -EINVAL;
}

static int read_axis(void *grid, const char *text)
{
	int rc = ibcc_grid_add(grid, text);

	return rc && rc != -ENOMEM ? -EINVAL : rc;
}

static const struct ibcc_option options[] = {
	{ "grid", 0, IBCC_OPTION_READ, "KEY=A,B,C...",
	  "run these values of a key; repeat it for other\nkeys", .at = offsetof(struct sweep, own),
	  .read = read_axis, .want = "KEY=A,B,C with different keys and values, 2^30 points in all",
	  .many = true },
	{ "fit", 0, IBCC_OPTION_TEXT, "NAME|FILE", "run the random combinations of this fit",
	  .at = offsetof(struct sweep, fit_name) },
	{ "as-is", 0, IBCC_OPTION_FLAG, NULL, "with --fit: only the scenario as it is",
	  .at = offsetof(struct sweep, as_is) },
	{ "out", 'o', IBCC_OPTION_TEXT, "FILE",
	  "append the results to this file; a sweep that was\ninterrupted continues there",
	  .at = offsetof(struct sweep, out) },
	{ "shard", 0, IBCC_OPTION_READ, "I/N", "run each Nth point only, from the Ith on", 0,
	  .read = read_shard, .want = "I/N with I from 1 to N" },
	IBCC_OPTION_JOBS(struct sweep, jobs),
	IBCC_OPTION_SET(struct sweep, set),
};

/* Chooses the points to run; false after a message. */
static bool choose(struct sweep *s, const struct ibcc_command *c, char **argument, int n)
{
	s->as_is = s->as_is || s->own.n_axes;
	if (s->fit_name ? n > 0 : n != 1 || !s->own.n_axes) {
		ibcc_command_say("%s: want one scenario and --grid, or --fit", c->name);
		return false;
	}
	s->scenario = s->fit_name ? NULL : argument[0];
	return true;
}

static int run(const struct ibcc_command *c, int argc, char **argv)
{
	struct sweep s = { .out = "-", .shard = 1, .n_shards = 1 };
	const char *what;
	int rc, first, exit = IBCC_EXIT_ERROR;

	ibcc_grid_init(&s.own);
	if (ibcc_command_read(c, argc, argv, &s, &first) ||
	    !choose(&s, c, argv + first, argc - first))
		goto out;
	what = s.fit_name ? s.fit_name : s.scenario;
	rc = sweep(&s);
	exit = rc ? ibcc_bench_fail(what, rc, &s.e) : IBCC_EXIT_OK;
out:
	if (s.fit_name)
		ibcc_fit_fini(&s.fit);
	ibcc_words_fini(&s.set);
	ibcc_grid_fini(&s.own);
	/* Frees results of points that were still running when another point failed. */
	for (uint64_t i = 0; i < s.n_left; i++) {
		json_decref(s.result[i]);
		ibcc_yaml_errors_fini(&s.why[i]);
	}
	free(s.drawn);
	free(s.point);
	free(s.result);
	free(s.why);
	return exit;
}

const struct ibcc_command ibcc_lab_sweep = {
	.name = "sweep",
	.arguments = "FILE --grid KEY=A,B,C... | --fit NAME|FILE",
	.what = "run all points of a grid, or random ones of a fit",
	.most = -1,
	.option = options,
	.n_options = sizeof(options) / sizeof(*options),
	.run = run,
};
