/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The live loop on scenarios by chance, on which no constant was fitted. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "perftest/bench/bench.h"
#include "perftest/bench/draw.h"
#include "perftest/bench/drawn.h"
#include "perftest/bench/oracle_file.h"
#include "perftest/bench/pool.h"
#include "perftest/bench/progress.h"
#include "perftest/bench/report.h"
#include "perftest/bench/table.h"
#include "perftest/bench/truth.h"

#define WANT_SHARE 0.95 /* of the scenarios */
#define CELL       32

struct score {
	double off, live; /* shares of what was to be had */
	double best;      /* of the best static setting; NAN: not known */
	uint32_t n_roots, rounds;
	uint64_t sets;
	bool reached, harmed;
	char fabric[64];
};

struct random {
	uint64_t seed;
	struct score *score;
	struct ibcc_progress progress;
};

static int measure_live(const struct ibcc_scenario *s, struct score *score)
{
	struct ibcc_live_result live;
	struct ibcc_measure m;
	int rc = ibcc_drawn_live(s, &m, &live);

	if (!rc) {
		score->live = ibcc_draw_share(&m);
		score->rounds = live.n_rounds;
		score->sets = live.sets;
		ibcc_measure_fini(&m);
	}
	ibcc_live_result_fini(&live);
	return rc;
}

static int measure_off(const struct ibcc_scenario *s, struct score *score)
{
	struct ibcc_measure m;
	struct ibcc_truth truth;
	int rc = ibcc_truth_find(s, s->measure_from_ps, &truth);

	score->n_roots = truth.n_roots;
	ibcc_truth_fini(&truth);
	if (!rc)
		rc = ibcc_measure_run(s, 0, &m, NULL);
	if (rc)
		return rc;
	score->off = ibcc_draw_share(&m);
	ibcc_measure_fini(&m);
	return 0;
}

static int work(void *arg, uint64_t i)
{
	struct random *r = arg;
	struct score *score = &r->score[i];
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_scenario s;
	int rc = ibcc_draw_load(r->seed + i, &s, &e);

	if (e.text)
		fputs(e.text, stderr);
	ibcc_yaml_errors_fini(&e);
	if (rc)
		return rc;
	snprintf(score->fabric, sizeof(score->fabric), "%u nodes, %u flows", s.topo->n_nodes,
		 s.n_flows);
	rc = measure_off(&s, score);
	if (!rc)
		rc = measure_live(&s, score);
	score->reached = ibcc_drawn_reached(score->live);
	score->harmed = ibcc_drawn_harmed(score->live, score->off);
	ibcc_scenario_fini(&s);
	return rc;
}

static int done(void *arg, uint64_t i, int rc)
{
	(void)i;
	ibcc_progress_step(&((struct random *)arg)->progress);
	return rc;
}

static json_t *score_json(const struct random *r, uint64_t i)
{
	const struct score *s = &r->score[i];

	return json_pack("{sI sf sf so si si sI sb sb}", "seed", (json_int_t)(r->seed + i), "off",
			 s->off, "live", s->live, "best", ibcc_report_number(s->best), "roots",
			 (int)s->n_roots, "rounds", (int)s->rounds, "sets", (json_int_t)s->sets,
			 "reached", (int)s->reached, "harmed", (int)s->harmed);
}

static json_t *row_json(const char *name, double target, double measured, bool ok)
{
	return json_pack("{ss ss sf sf sb}", "name", name, "unit", "share", "target", target,
			 "measured", measured, "ok", (int)ok);
}

static int print_failures(const struct random *r, uint64_t n)
{
	static const struct ibcc_table_column columns[] = {
		{ "SEED", true },   { "FABRIC", false }, { "ROOTS", true },
		{ "OFF %", true },  { "LIVE %", true },  { "BEST STATIC %", true },
		{ "ROUNDS", true }, { "", false },
	};
	enum { N = sizeof(columns) / sizeof(*columns) };
	struct libscols_table *t = ibcc_table_new(columns, N, stdout);
	char buf[6][CELL];
	int rc = t ? 0 : -ENOMEM;

	for (uint64_t i = 0; i < n && !rc; i++) {
		const struct score *s = &r->score[i];
		const char *cell[] = { buf[0],
				       s->fabric,
				       buf[1],
				       ibcc_table_number(100 * s->off, buf[2], CELL),
				       ibcc_table_number(100 * s->live, buf[3], CELL),
				       ibcc_table_number(100 * s->best, buf[5], CELL),
				       buf[4],
				       s->harmed ? "HARMED" : "short of the ideal" };

		if (s->reached && !s->harmed)
			continue;
		snprintf(buf[0], CELL, "%llu", (unsigned long long)(r->seed + i));
		snprintf(buf[1], CELL, "%u", s->n_roots);
		snprintf(buf[4], CELL, "%u", s->rounds);
		rc = ibcc_table_add(t, cell);
	}
	if (!rc)
		return ibcc_table_print(t);
	scols_unref_table(t);
	return rc;
}

static int print(const struct random *r, uint64_t n, bool json)
{
	uint64_t reached = 0, harmed = 0, congested = 0;
	double share, off = 0, live = 0;
	bool ok;

	for (uint64_t i = 0; i < n; i++) {
		reached += r->score[i].reached;
		harmed += r->score[i].harmed;
		congested += r->score[i].n_roots > 0;
		off += r->score[i].off / (double)n;
		live += r->score[i].live / (double)n;
	}
	share = (double)reached / (double)n;
	ok = share >= WANT_SHARE && !harmed;
	if (json) {
		json_t *rows = json_array(), *all = json_array();

		json_array_append_new(rows, row_json("live reaches 97 % of the ideal", WANT_SHARE,
						     share, share >= WANT_SHARE));
		json_array_append_new(rows, row_json("live more than 1 % below off", 0,
						     (double)harmed / (double)n, !harmed));
		for (uint64_t i = 0; i < n; i++)
			json_array_append_new(all, score_json(r, i));
		ibcc_report_json(json_pack("{si ss so so sb}", "schema", 1, "experiment", "random",
					   "rows", rows, "scenarios", all, "ok", (int)ok),
				 false, stdout);
		return ok ? IBCC_EXIT_OK : IBCC_EXIT_ERROR;
	}
	if (print_failures(r, n))
		return IBCC_EXIT_ERROR;
	printf("\n%llu scenarios from seed %llu on, %llu with congestion: live reaches 97 %% of "
	       "the "
	       "ideal in %.1f %% (target 95 %%), is more than 1 %% below off in %llu (target 0)\n"
	       "mean share of the ideal: off %.2f %%, live %.2f %%\n",
	       (unsigned long long)n, (unsigned long long)r->seed, (unsigned long long)congested,
	       100 * share, (unsigned long long)harmed, 100 * off, 100 * live);
	if (!ok)
		puts("each again: ibcc-bench tune --random 1 --seed SEED; "
		     "ibcc-bench draw SEED prints it as a scenario");
	return ok ? IBCC_EXIT_OK : IBCC_EXIT_ERROR;
}

/* What static settings can do there is known of some, from a search that took long. */
static int note_best(struct random *r, uint64_t n, struct ibcc_yaml_errors *e)
{
	char folder[PATH_MAX];
	json_t *all;
	int rc = ibcc_bench_folder(folder, sizeof(folder));

	if (!rc)
		rc = ibcc_oracle_load_drawn(folder, &all, e);
	if (rc)
		return rc;
	for (uint64_t i = 0; i < n; i++)
		r->score[i].best = ibcc_oracle_drawn(all, r->seed + i);
	json_decref(all);
	return 0;
}

int ibcc_bench_random(uint64_t n, const struct ibcc_exp_options *o, bool json)
{
	struct random r = { .seed = o->seed ? o->seed : 1, .score = calloc(n, sizeof(*r.score)) };
	struct ibcc_yaml_errors e = { 0 };
	int rc = r.score ? note_best(&r, n, &e) : -ENOMEM, exit;

	if (!rc) {
		ibcc_progress_begin(&r.progress, n);
		rc = ibcc_pool_run(n, o->threads, work, done, &r);
		ibcc_progress_end(&r.progress);
	}
	exit = rc ? ibcc_bench_fail("random", rc, &e) : print(&r, n, json);
	free(r.score);
	return exit;
}

int ibcc_bench_draw(int argc, char **argv)
{
	uint64_t seed;

	if (argc != 2) {
		fputs("ibcc-bench: draw: want a seed\n", stderr);
		return IBCC_EXIT_ERROR;
	}
	if (!ibcc_bench_number("SEED", argv[1], 0, UINT64_MAX, &seed))
		return IBCC_EXIT_ERROR;
	return ibcc_draw_write(seed, stdout) || fflush(stdout) ? IBCC_EXIT_ERROR : IBCC_EXIT_OK;
}
