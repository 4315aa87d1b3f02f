/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Runs the points of a grid on all cores; a result is in the file as soon as it is known. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include <ibcc/scenario_file.h>

#include "perftest/bench/bench.h"
#include "perftest/bench/grid.h"
#include "perftest/bench/pool.h"
#include "perftest/bench/progress.h"
#include "perftest/bench/report.h"
#include "perftest/bench/sweep_file.h"

struct sweep {
	const char *scenario, *out;
	struct ibcc_words set;
	struct ibcc_grid grid;
	uint64_t shard, n_shards, jobs;
	uint64_t n_left, *point; /* to be run */
	json_t **result;         /* of each, from when it is known until it is written */
	struct ibcc_sweep_file file;
	struct ibcc_progress progress;
	double cpu_s;
	struct ibcc_yaml_errors e;
};

static int point_set(const struct sweep *s, uint64_t point, struct ibcc_words *set)
{
	int rc = ibcc_words_add_all(set, &s->set);

	return rc ? rc : ibcc_grid_assign(&s->grid, point, set);
}

/* Reads the scenario as a point has it, for its errors. */
static int check_point(struct sweep *s, uint64_t point)
{
	struct ibcc_words set = { 0 };
	struct ibcc_scenario scenario;
	int rc = point_set(s, point, &set);

	if (!rc)
		rc = ibcc_scenario_load_set(s->scenario, (const char *const *)set.w, set.n,
					    &scenario, &s->e);
	if (!rc)
		ibcc_scenario_fini(&scenario);
	ibcc_words_fini(&set);
	return rc;
}

/* Each value once, with the first of the other axes: no sweep ends at night over a typing error. */
static int check_values(struct sweep *s)
{
	uint64_t step = s->grid.n_points;
	int rc = check_point(s, 0);

	for (size_t i = 0; i < s->grid.n_axes && !rc; i++) {
		step /= s->grid.axis[i].value.n;
		for (size_t k = 1; k < s->grid.axis[i].value.n && !rc; k++)
			rc = check_point(s, k * step);
	}
	return rc;
}

static int work(void *arg, uint64_t i)
{
	struct sweep *s = arg;
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_words set = { 0 };
	struct ibcc_exp_run run;
	int rc = point_set(s, s->point[i], &set);

	if (!rc)
		rc = ibcc_bench_measure(s->scenario, &set, 0, &run, &e);
	if (!rc) {
		s->result[i] = json_pack("{si ss ss so so sf sI}", "schema", 1, "id", s->file.id,
					 "scenario", run.scenario.name, "point",
					 ibcc_grid_json(&s->grid, s->point[i]), "result",
					 ibcc_report_summary(&run), "cpu_s", run.cpu_s,
					 "packet_hops", (json_int_t)run.measure.totals.packet_hops);
		ibcc_bench_measure_fini(&run);
	}
	if (rc == -EDEADLK) /* nothing that reading the point again would tell */
		fputs(e.text ? e.text : "", stderr);
	ibcc_yaml_errors_fini(&e);
	ibcc_words_fini(&set);
	return rc;
}

static int done(void *arg, uint64_t i, int rc)
{
	struct sweep *s = arg;
	json_t *result = s->result[i];

	s->result[i] = NULL;
	if (rc) {
		if (rc != -ENOMEM && rc != -EDEADLK)
			check_point(s, s->point[i]); /* tells why */
		return rc;
	}
	s->cpu_s += json_real_value(json_object_get(result, "cpu_s"));
	rc = ibcc_sweep_put(&s->file, s->point[i], result);
	ibcc_progress_step(&s->progress);
	return rc;
}

static bool in_shard(const struct sweep *s, uint64_t point)
{
	return point % s->n_shards == s->shard - 1;
}

static int plan(struct sweep *s)
{
	uint64_t p, n = s->grid.n_points / s->n_shards + 1;

	s->point = calloc(n, sizeof(*s->point));
	s->result = calloc(n, sizeof(*s->result));
	if (!s->point || !s->result)
		return -ENOMEM;
	for (p = 0; p < s->grid.n_points; p++)
		if (in_shard(s, p) && !ibcc_sweep_has(&s->file, p))
			s->point[s->n_left++] = p;
	return 0;
}

/* What it took, also of CPU time, which other load on the machine changes less, and what the whole
 * grid takes at that pace.
 */
static void tell(const struct sweep *s)
{
	double took = ibcc_bench_seconds() - s->progress.start_s;
	double pace = (double)s->progress.done / (took > 0 ? took : 1);
	char a[32], b[32];

	if (!s->progress.done) {
		fprintf(stderr, "all points are there already\n");
		return;
	}
	fprintf(stderr,
		"%llu points in %s, %.0f an hour; %.0f in an hour of CPU time of a core; the whole "
		"grid of %llu takes %s at that pace\n",
		(unsigned long long)s->progress.done, ibcc_progress_time(took, a, sizeof(a)),
		pace * 3600, 3600 * (double)s->progress.done / s->cpu_s,
		(unsigned long long)s->grid.n_points,
		ibcc_progress_time((double)s->grid.n_points / pace, b, sizeof(b)));
}

static int sweep(struct sweep *s)
{
	char id[17];
	int rc = check_values(s);

	if (!rc)
		rc = ibcc_sweep_id(s->scenario, &s->set, &s->grid, id);
	if (!rc)
		rc = ibcc_sweep_open(&s->file, s->out, id, &s->grid, &s->e);
	if (rc == -EWOULDBLOCK)
		ibcc_yaml_errors_add(&s->e, s->out, 0, 0, "another sweep writes to it");
	if (rc)
		return rc;
	rc = plan(s);
	if (!rc) {
		ibcc_progress_begin(&s->progress, s->n_left);
		s->progress.whole = s->grid.n_points;
		rc = ibcc_pool_run(s->n_left, (unsigned int)s->jobs, work, done, s);
		ibcc_progress_end(&s->progress);
	}
	if (!rc)
		tell(s);
	ibcc_sweep_close(&s->file);
	return rc;
}

static bool parse_shard(struct sweep *s, const char *text)
{
	const char *slash = strchr(text, '/');
	char first[24];

	if (slash && (size_t)(slash - text) < sizeof(first)) {
		memcpy(first, text, (size_t)(slash - text));
		first[slash - text] = '\0';
		if (!ibcc_yaml_parse_uint(first, &s->shard) &&
		    !ibcc_yaml_parse_uint(slash + 1, &s->n_shards) && s->shard >= 1 &&
		    s->shard <= s->n_shards && s->n_shards <= UINT32_MAX)
			return true;
	}
	fprintf(stderr, "ibcc-bench: --shard: got \"%s\", want I/N with I from 1 to N\n", text);
	return false;
}

static int parse(int argc, char **argv, struct sweep *s)
{
	static const struct option longs[] = {
		{ "grid", required_argument, NULL, 'g' },  { "out", required_argument, NULL, 'o' },
		{ "shard", required_argument, NULL, 'h' }, { "set", required_argument, NULL, 's' },
		{ "jobs", required_argument, NULL, 'J' },  { NULL, 0, NULL, 0 },
	};
	int c, rc;

	while ((c = getopt_long(argc, argv, "o:J:", longs, NULL)) != -1) {
		rc = 0;
		switch (c) {
		case 'g':
			rc = ibcc_grid_add(&s->grid, optarg);
			if (rc)
				fprintf(stderr,
					"ibcc-bench: --grid: got \"%s\", want KEY=A,B,C with "
					"different keys and values, 2^30 points in all\n",
					optarg);
			break;
		case 'o': s->out = optarg; break;
		case 'h': rc = parse_shard(s, optarg) ? 0 : -EINVAL; break;
		case 's': rc = ibcc_words_add(&s->set, optarg); break;
		case 'J':
			rc = ibcc_bench_number("--jobs", optarg, 1, 1024, &s->jobs) ? 0 : -EINVAL;
			break;
		default: rc = -EINVAL;
		}
		if (rc)
			return rc;
	}
	if (optind != argc - 1 || !s->grid.n_axes) {
		fputs("ibcc-bench: sweep: want one scenario and --grid\n", stderr);
		return -EINVAL;
	}
	s->scenario = argv[optind];
	return 0;
}

int ibcc_bench_sweep(int argc, char **argv)
{
	struct sweep s = { .out = "-", .shard = 1, .n_shards = 1 };
	int rc, exit = IBCC_EXIT_ERROR;

	ibcc_grid_init(&s.grid);
	if (parse(argc, argv, &s))
		goto out;
	rc = sweep(&s);
	exit = rc ? ibcc_bench_fail(s.scenario, rc, &s.e) : IBCC_EXIT_OK;
out:
	ibcc_words_fini(&s.set);
	ibcc_grid_fini(&s.grid);
	free(s.point);
	free(s.result);
	return exit;
}
