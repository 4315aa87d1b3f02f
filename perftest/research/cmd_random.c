/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The live loop on scenarios by chance, on which no constant was fitted. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>

#include <ibcc/table.h>

#include "perftest/bench/bench.h"
#include "perftest/bench/pool.h"
#include "perftest/bench/report.h"
#include "perftest/bench/truth.h"
#include "perftest/research/draw.h"
#include "perftest/research/drawn.h"
#include "perftest/research/progress.h"
#include "perftest/research/research.h"

#define WANT_SHARE 0.95 /* of the scenarios */

/* Shares of what was to be had in a window. */
struct shares {
	double off, live;
	bool reached, harmed;
};

struct score {
	struct shares start, settled;
	uint32_t n_roots, rounds;
	uint64_t sets;
	char fabric[64];
};

struct random {
	uint64_t seed;
	struct score *score;
	struct ibcc_progress progress;
};

static int measure_live(const struct ibcc_scenario *s, struct score *score, struct shares *to)
{
	struct ibcc_live_result live;
	struct ibcc_measure m;
	int rc = ibcc_drawn_live(s, &m, &live);

	if (!rc) {
		to->live = ibcc_draw_share(&m);
		score->rounds = live.n_rounds;
		score->sets = live.sets;
		ibcc_measure_fini(&m);
	}
	ibcc_live_result_fini(&live);
	return rc;
}

static int measure_off(const struct ibcc_scenario *s, struct score *score, struct shares *to)
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
	to->off = ibcc_draw_share(&m);
	ibcc_measure_fini(&m);
	return 0;
}

static int measure(const struct ibcc_scenario *s, struct score *score, struct shares *to)
{
	int rc = measure_off(s, score, to);

	if (!rc)
		rc = measure_live(s, score, to);
	to->reached = ibcc_drawn_reached(to->live);
	to->harmed = ibcc_drawn_harmed(to->live, to->off);
	return rc;
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
	rc = measure(&s, score, &score->start);
	if (!rc) {
		ibcc_drawn_later(&s);
		rc = measure(&s, score, &score->settled);
	}
	ibcc_scenario_fini(&s);
	return rc;
}

static int done(void *arg, uint64_t i, int rc)
{
	(void)i;
	ibcc_progress_step(&((struct random *)arg)->progress);
	return rc;
}

static json_t *shares_json(const struct shares *s)
{
	return json_pack("{sf sf sb sb}", "off", s->off, "live", s->live, "reached",
			 (int)s->reached, "harmed", (int)s->harmed);
}

static json_t *score_json(const struct random *r, uint64_t i)
{
	const struct score *s = &r->score[i];

	return json_pack("{sI so so si si sI}", "seed", (json_int_t)(r->seed + i), "start",
			 shares_json(&s->start), "settled", shares_json(&s->settled), "roots",
			 (int)s->n_roots, "rounds", (int)s->rounds, "sets", (json_int_t)s->sets);
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
		{ "OFF %", true },  { "LIVE %", true },  { "AT THE START: OFF %", true },
		{ "LIVE %", true }, { "ROUNDS", true },  { "", false },
	};
	enum { N = sizeof(columns) / sizeof(*columns) };
	struct libscols_table *t = ibcc_table_new(columns, N, stdout);
	char buf[7][IBCC_CELL_BYTES];
	int rc = t ? 0 : -ENOMEM;

	for (uint64_t i = 0; i < n && !rc; i++) {
		const struct score *s = &r->score[i];
		const char *cell[] = {
			buf[0],
			s->fabric,
			buf[1],
			ibcc_table_number(100 * s->settled.off, buf[2], IBCC_CELL_BYTES),
			ibcc_table_number(100 * s->settled.live, buf[3], IBCC_CELL_BYTES),
			ibcc_table_number(100 * s->start.off, buf[5], IBCC_CELL_BYTES),
			ibcc_table_number(100 * s->start.live, buf[6], IBCC_CELL_BYTES),
			buf[4],
			s->settled.harmed ? "HARMED" : "short of the ideal"
		};

		if (s->settled.reached && !s->settled.harmed)
			continue;
		snprintf(buf[0], IBCC_CELL_BYTES, "%llu", (unsigned long long)(r->seed + i));
		snprintf(buf[1], IBCC_CELL_BYTES, "%u", s->n_roots);
		snprintf(buf[4], IBCC_CELL_BYTES, "%u", s->rounds);
		rc = ibcc_table_add(t, cell);
	}
	if (!rc)
		return ibcc_table_print(t);
	scols_unref_table(t);
	return rc;
}

/* Over all scenarios. */
struct totals {
	uint64_t reached, harmed;
	double off, live; /* means */
};

static struct totals sum_up(const struct random *r, uint64_t n, bool settled)
{
	struct totals t = { 0 };

	for (uint64_t i = 0; i < n; i++) {
		const struct shares *s = settled ? &r->score[i].settled : &r->score[i].start;

		t.reached += s->reached;
		t.harmed += s->harmed;
		t.off += s->off / (double)n;
		t.live += s->live / (double)n;
	}
	return t;
}

static double part(uint64_t k, uint64_t n)
{
	return (double)k / (double)n;
}

static bool holds(const struct totals *t, uint64_t n)
{
	return part(t->reached, n) >= WANT_SHARE && !t->harmed;
}

static int print_json(const struct random *r, uint64_t n, const struct totals *settled)
{
	bool reached = part(settled->reached, n) >= WANT_SHARE, ok = holds(settled, n);
	json_t *rows = json_array(), *all = json_array();

	json_array_append_new(rows, row_json("live reaches 97 % of the ideal", WANT_SHARE,
					     part(settled->reached, n), reached));
	json_array_append_new(rows, row_json("live more than 1 % below off", 0,
					     part(settled->harmed, n), !settled->harmed));
	for (uint64_t i = 0; i < n; i++)
		json_array_append_new(all, score_json(r, i));
	ibcc_report_json(json_pack("{si ss so so sb}", "schema", 1, "experiment", "random", "rows",
				   rows, "scenarios", all, "ok", (int)ok),
			 false, stdout);
	return ok ? IBCC_EXIT_OK : IBCC_EXIT_ERROR;
}

static void print_totals(const char *when, const struct totals *t, uint64_t n, bool targets)
{
	printf("%s: live reaches 97 %% of the ideal in %.1f %%%s, is more than 1 %% below off in "
	       "%llu%s; mean share of the ideal: off %.2f %%, live %.2f %%\n",
	       when, 100 * part(t->reached, n), targets ? " (target 95 %)" : "",
	       (unsigned long long)t->harmed, targets ? " (target 0)" : "", 100 * t->off,
	       100 * t->live);
}

static int print(const struct random *r, uint64_t n, bool json)
{
	const struct totals start = sum_up(r, n, false), settled = sum_up(r, n, true);
	uint64_t congested = 0;

	if (json)
		return print_json(r, n, &settled);
	for (uint64_t i = 0; i < n; i++)
		congested += r->score[i].n_roots > 0;
	if (print_failures(r, n))
		return IBCC_EXIT_ERROR;
	printf("\n%llu scenarios from seed %llu on, %llu with congestion\n", (unsigned long long)n,
	       (unsigned long long)r->seed, (unsigned long long)congested);
	print_totals("settled", &settled, n, true);
	print_totals("at the start", &start, n, false);
	if (!holds(&settled, n))
		puts("each again: ibcc-bench tune --random 1 --seed SEED; "
		     "ibcc-bench draw SEED prints it as a scenario");
	return holds(&settled, n) ? IBCC_EXIT_OK : IBCC_EXIT_ERROR;
}

static int run(uint64_t n, uint64_t seed, unsigned int threads, bool json)
{
	struct random r = { .seed = seed, .score = calloc(n, sizeof(*r.score)) };
	struct ibcc_yaml_errors e = { 0 };
	int rc = r.score ? 0 : -ENOMEM, exit;

	if (!rc) {
		ibcc_progress_begin(&r.progress, n);
		rc = ibcc_pool_run(n, threads, work, done, &r);
		ibcc_progress_end(&r.progress);
	}
	exit = rc ? ibcc_bench_fail("random", rc, &e) : print(&r, n, json);
	free(r.score);
	return exit;
}

int ibcc_bench_random(int argc, char **argv)
{
	static const struct option longs[] = { { "json", no_argument, NULL, 'j' },
					       { "random", required_argument, NULL, 'r' },
					       { "seed", required_argument, NULL, 'S' },
					       { "jobs", required_argument, NULL, 'J' },
					       { NULL, 0, NULL, 0 } };
	uint64_t n = 0, seed = 1, jobs = 0;
	bool json = false, ok = true;
	int c;

	while (ok && (c = getopt_long(argc, argv, "jJ:", longs, NULL)) != -1) {
		switch (c) {
		case 'j': json = true; break;
		case 'r': ok = ibcc_bench_number("--random", optarg, 1, 1000000, &n); break;
		case 'S': ok = ibcc_bench_number("--seed", optarg, 1, UINT32_MAX, &seed); break;
		case 'J': ok = ibcc_bench_number("--jobs", optarg, 1, 1024, &jobs); break;
		default: ok = false;
		}
	}
	if (ok && (!n || optind < argc)) {
		fputs("ibcc-bench: tune: want --random N, or names without it\n", stderr);
		ok = false;
	}
	return ok ? run(n, seed, (unsigned int)jobs, json) : IBCC_EXIT_ERROR;
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
