/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Compares the advice on DCQCN with its effect, and with the profiles of others and of a search, on
 * random fabrics of HDR and NDR.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <ibcc/table.h>
#include <ibcc/text.h>

#include "perftest/bench/bench.h"
#include "perftest/bench/report.h"
#include "perftest/lab/advise.h"
#include "perftest/lab/drawn.h"
#include "perftest/lab/lab.h"
#include "perftest/lab/random_judge.h"
#include "perftest/lab/runs.h"

/* The advice may harm this share of the fabrics. */
#define MAY_HARM 0.01

struct options {
	uint64_t n, seed, jobs;
	bool search, live, json;
};

struct work {
	uint64_t n, seed;
	bool search, live;
	struct ibcc_advise_case *one;
};

/* Of values; until end_mean(), their sum and the sum of their squares. */
struct mean {
	double mean, deviation;
};

/* Over all fabrics; FOLLOWED is what the advice leads to. */
enum { FOLLOWED = IBCC_N_ADVISE, N_WAYS };

struct sums {
	uint64_t n, congested, on, harmed[N_WAYS], gained[N_WAYS];
	double share[N_WAYS], total[N_WAYS], victims[N_WAYS]; /* means; the last two over off's */
	/* Shares of the best, and by how much that of the advice is above that of off. */
	struct mean of_best[N_WAYS], over_off;
};

static int draw(void *arg, uint64_t i, struct ibcc_yaml_errors *e)
{
	struct work *w = arg;

	return ibcc_advise_draw(w->seed + i, w->search, w->live, &w->one[i], e);
}

/* What a fabric has in a way: an index of its arrays. A fabric without congestion has no profile of
 * the formula.
 */
static int profile_of(const struct ibcc_advise_case *c, int way)
{
	int k = way == FOLLOWED ? (int)ibcc_advise_followed(c) : way;

	return k == IBCC_ADVISE_FORMULA && isnan(c->share[k]) ? IBCC_ADVISE_OFF : k;
}

static void count_in(struct mean *m, double v)
{
	m->mean += v;
	m->deviation += v * v;
}

static void end_mean(struct mean *m, uint64_t n)
{
	double square;

	m->mean /= (double)n;
	square = m->deviation / (double)n - m->mean * m->mean;
	m->deviation = square < 0 ? 0 : sqrt(square);
}

static double error_of(const struct mean *m, uint64_t n)
{
	return m->deviation / sqrt((double)n);
}

static double of_best(const struct ibcc_advise_case *c, int way)
{
	return c->share[profile_of(c, way)] / c->share[IBCC_ADVISE_BEST];
}

static void add(struct sums *s, const struct ibcc_advise_case *c)
{
	double off = c->share[IBCC_ADVISE_OFF];

	s->congested += c->congested;
	s->on += ibcc_advise_followed(c) != IBCC_ADVISE_OFF;
	for (int i = 0; i < N_WAYS; i++) {
		int k = profile_of(c, i);

		s->share[i] += c->share[k];
		s->total[i] += c->total_mbps[k] / c->total_mbps[IBCC_ADVISE_OFF];
		s->victims[i] += c->victims_mbps[k] / c->victims_mbps[IBCC_ADVISE_OFF];
		s->harmed[i] += ibcc_drawn_harmed(c->share[k], off);
		s->gained[i] += c->share[k] > off * (1 + IBCC_DRAWN_MAY_LOSE);
		count_in(&s->of_best[i], of_best(c, i));
	}
	count_in(&s->over_off, of_best(c, FOLLOWED) - of_best(c, IBCC_ADVISE_OFF));
}

/* Fabrics in which nothing was offered do not count. */
static void sum_up(const struct work *w, struct sums *s)
{
	*s = (struct sums){ 0 };
	for (uint64_t i = 0; i < w->n; i++)
		if (w->one[i].share[IBCC_ADVISE_OFF] > 0) {
			s->n++;
			add(s, &w->one[i]);
		}
	for (int i = 0; i < N_WAYS && s->n; i++) {
		s->share[i] /= (double)s->n;
		s->total[i] /= (double)s->n;
		s->victims[i] /= (double)s->n;
		end_mean(&s->of_best[i], s->n);
	}
	end_mean(&s->over_off, s->n);
}

static bool is_harmless(const struct sums *s)
{
	return ibcc_random_share_holds(s->harmed[FOLLOWED], s->n, MAY_HARM, false);
}

/* A bound on the share of the best would judge the fabrics: without any DCQCN they reach nine
 * tenths of it. So the advice is compared with no DCQCN on the same fabrics.
 */
static bool is_worth_it(const struct sums *s)
{
	return ibcc_random_gain_shows(s->over_off.mean, s->over_off.deviation, s->n);
}

static const char *const names[N_WAYS] = {
	[IBCC_ADVISE_OFF] = "off",           [IBCC_ADVISE_ROCE] = "the default for RoCE",
	[IBCC_ADVISE_ALIBABA] = "Alibaba's", [IBCC_ADVISE_FORMULA] = "the formula's, always on",
	[IBCC_ADVISE_LIVE] = "live",         [IBCC_ADVISE_BEST] = "the best of the search",
	[FOLLOWED] = "the advice",
};

static int print_table(const struct work *w, const struct sums *s)
{
	static const struct ibcc_table_column columns[] = {
		{ "PROFILE", false },  { "SHARE %", true },   { "TOTAL %", true },
		{ "VICTIMS %", true }, { "GAIN", true },      { "HARM", true },
		{ "OF BEST %", true }, { "STD. ERR.", true },
	};
	enum { N = sizeof(columns) / sizeof(*columns) };
	struct libscols_table *t = ibcc_table_new(columns, N, stdout);
	int rc = t ? 0 : -ENOMEM;

	for (int i = 0; i < N_WAYS && !rc; i++) {
		char buf[N][IBCC_CELL_BYTES];
		const char *cell[N] = { names[i], buf[1], buf[2], buf[3], buf[4], buf[5] };

		if (!w->search &&
		    (i == IBCC_ADVISE_ROCE || i == IBCC_ADVISE_ALIBABA || i == IBCC_ADVISE_BEST))
			continue;
		if (!w->live && i == IBCC_ADVISE_LIVE)
			continue;
		ibcc_table_number(100 * s->share[i], buf[1], IBCC_CELL_BYTES);
		ibcc_table_number(100 * (s->total[i] - 1), buf[2], IBCC_CELL_BYTES);
		ibcc_table_number(100 * (s->victims[i] - 1), buf[3], IBCC_CELL_BYTES);
		snprintf(buf[4], IBCC_CELL_BYTES, "%llu", (unsigned long long)s->gained[i]);
		snprintf(buf[5], IBCC_CELL_BYTES, "%llu", (unsigned long long)s->harmed[i]);
		cell[6] = ibcc_table_number(100 * s->of_best[i].mean, buf[6], IBCC_CELL_BYTES);
		cell[7] = ibcc_table_number(100 * error_of(&s->of_best[i], s->n), buf[7],
					    IBCC_CELL_BYTES);
		rc = ibcc_table_add(t, cell);
	}
	return ibcc_table_end(t, rc);
}

static int print(const struct work *w, const struct sums *s)
{
	int rc = print_table(w, s);

	printf("\nfabrics: %llu from seed %llu on, congested: %llu, DCQCN advised: %llu\n",
	       (unsigned long long)s->n, (unsigned long long)w->seed,
	       (unsigned long long)s->congested, (unsigned long long)s->on);
	printf("harmed by more than 1 %%: %llu (at most 1 %%): %s\n",
	       (unsigned long long)s->harmed[FOLLOWED], is_harmless(s) ? "ok" : "NO");
	if (w->search)
		printf("more than without DCQCN: %.2f %% of the best static profile (more than two "
		       "standard errors of %.2f): %s\n"
		       "share of the best static profile: %.1f %%, without DCQCN %.1f %%\n",
		       100 * s->over_off.mean, 100 * error_of(&s->over_off, s->n),
		       is_worth_it(s) ? "ok" : "NO", 100 * s->of_best[FOLLOWED].mean,
		       100 * s->of_best[IBCC_ADVISE_OFF].mean);
	return rc;
}

static json_t *numbers(const double *v)
{
	json_t *o = json_array();

	for (int i = 0; i < IBCC_N_ADVISE; i++)
		json_array_append_new(o, ibcc_report_number(v[i]));
	return o;
}

static json_t *case_json(uint64_t seed, const struct ibcc_advise_case *c)
{
	const struct ibcc_prediction *p = &c->a.p;

	return json_pack(
		"{sI sb sb si si si si si si sf so sf sf so so so so so}", "seed", (json_int_t)seed,
		"source_only", (int)c->source_only, "congested", (int)c->congested, "verdict",
		(int)c->a.verdict, "why", (int)p->why, "percent", (int)c->a.profile.percent,
		"min_bytes", (int)c->a.profile.min_bytes, "max_bytes", (int)c->a.profile.max_bytes,
		"senders", (int)c->a.root.n, "mark_share", c->a.profile.mark_share, "quiet",
		ibcc_report_number(c->a.quiet), "worst_total", c->a.worst_total, "worst_victims",
		c->a.worst_victims, "total_predicted",
		p->known ? json_real(p->total.expected_mbps / p->total.now_mbps) : json_null(),
		"victims_predicted",
		p->known && p->victims.now_mbps > 0
			? json_real(p->victims.expected_mbps / p->victims.now_mbps)
			: json_null(),
		"share", numbers(c->share), "total_mbps", numbers(c->total_mbps), "victims_mbps",
		numbers(c->victims_mbps));
}

static int print_json(const struct work *w, const struct sums *s, bool ok)
{
	json_t *all = json_array();

	for (uint64_t i = 0; i < w->n; i++)
		json_array_append_new(all, case_json(w->seed + i, &w->one[i]));
	return ibcc_report_json(
		json_pack("{si ss sI sI sI sI sf so so so so sb}", "schema", 1, "experiment",
			  "advise", "seed", (json_int_t)w->seed, "congested",
			  (json_int_t)s->congested, "on", (json_int_t)s->on, "harmed",
			  (json_int_t)s->harmed[FOLLOWED], "share", s->share[FOLLOWED], "of_best",
			  ibcc_report_number(s->of_best[FOLLOWED].mean), "over_off",
			  ibcc_report_number(s->over_off.mean), "over_off_error",
			  ibcc_report_number(error_of(&s->over_off, s->n)), "cases", all, "ok",
			  (int)ok),
		false, stdout);
}

static int report(const struct work *w, bool json)
{
	struct sums s;
	bool ok;
	int rc;

	sum_up(w, &s);
	ok = s.n && is_harmless(&s) && (!w->search || is_worth_it(&s));
	rc = json ? print_json(w, &s, ok) : print(w, &s);
	return rc || !ok || fflush(stdout) ? IBCC_EXIT_ERROR : IBCC_EXIT_OK;
}

static int advise_all(const struct options *o)
{
	struct work w = { .n = o->n,
			  .seed = o->seed,
			  .search = o->search,
			  .live = o->live,
			  .one = calloc(o->n, sizeof(*w.one)) };
	const struct ibcc_runs runs = {
		.n = o->n, .threads = (unsigned int)o->jobs, .one = draw, .arg = &w
	};
	struct ibcc_yaml_errors e = { 0 };
	int rc = w.one ? ibcc_runs_all(&runs) : -ENOMEM, exit;

	exit = rc ? ibcc_bench_fail("advise", rc, &e) : report(&w, o->json);
	free(w.one);
	return exit;
}

static const struct ibcc_option options[] = {
	IBCC_OPTION_RANDOM(struct options, n),
	IBCC_OPTION_SEED(struct options, seed, 0),
	{ "search", 0, IBCC_OPTION_FLAG, NULL,
	  "also try the defaults for RoCE, Alibaba's\nvalues and six static profiles",
	  .at = offsetof(struct options, search) },
	{ "live", 0, IBCC_OPTION_FLAG, NULL,
	  "also let the daemon set the profiles of roots'\nports; runs are three times as long",
	  .at = offsetof(struct options, live) },
	IBCC_OPTION_JSON(struct options),
	IBCC_OPTION_JOBS(struct options, jobs),
};

static int run(const struct ibcc_command *c, int argc, char **argv)
{
	struct options o = { .n = 200, .seed = 1 };
	int first;

	return ibcc_command_read(c, argc, argv, &o, &first) ? IBCC_EXIT_ERROR : advise_all(&o);
}

const struct ibcc_command ibcc_lab_advise = {
	.name = "advise",
	.what = "compare the advice on DCQCN with its effect",
	.option = options,
	.n_options = sizeof(options) / sizeof(*options),
	.run = run,
};
