/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Compares predictions with the effect of their plans, on random scenarios. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/table.h>
#include <ibcc/text.h>

#include "perftest/bench/bench.h"
#include "perftest/bench/report.h"
#include "perftest/lab/draw_tree.h"
#include "perftest/lab/lab.h"
#include "perftest/lab/predict.h"
#include "perftest/lab/runs.h"

enum { VARIANTS = 3 };

struct options {
	uint64_t n, seed, jobs;
	uint32_t hosts; /* of a tree; 0: small fabrics */
	enum ibcc_predict_probe probe;
	bool json;
};

static const char *const variant_names[VARIANTS] = { "V1 drawn rates", "V2 closed hot flows",
						     "V3 all closed" };

struct work {
	uint64_t n, seed;
	uint32_t hosts;
	unsigned int variants; /* the first ones: on trees, V3 is left out, as it has no amounts */
	enum ibcc_predict_probe probe;
	struct ibcc_predict_case *one; /* by draw, the variants of each together */
};

/* Sums over one variant, or over several. */
struct sums {
	uint64_t draws, congested, steady, speaks, covered, roots, open, held;
	uint64_t signs, right;          /* of predicted changes of more than SIGN */
	double *total, *victims, *root; /* errors; owned */
	double cpu_s, most_cpu_s;
};

#define SIGN 0.02

/* A requirement. */
struct row {
	const char *name, *unit;
	double target, measured;
	bool at_least;
};

enum { ROWS = 9 };

static int predict(void *arg, uint64_t i, struct ibcc_yaml_errors *e)
{
	struct work *w = arg;

	return ibcc_predict_draw(w->seed + i / w->variants, w->hosts,
				 (enum ibcc_predict_variant)(IBCC_PREDICT_V1 + i % w->variants),
				 w->probe, &w->one[i], e);
}

static double factor(const struct ibcc_amount *a)
{
	return a->now_mbps > 0 ? a->expected_mbps / a->now_mbps : 1;
}

static void add(struct sums *s, const struct ibcc_predict_case *c)
{
	double total = factor(&c->p.total), truth = c->total * c->p.total.now_mbps;

	s->draws++;
	s->congested += c->congested;
	s->most_cpu_s = fmax(s->most_cpu_s, c->p.cpu_s);
	s->steady += c->congested && c->steady;
	if (!c->congested || !c->steady)
		return;
	if (c->root_known)
		s->root[s->roots++] = fabs(c->root_predicted - c->root);
	s->open += c->n_open;
	s->held += c->open_held;
	s->cpu_s += c->p.cpu_s;
	if (!c->p.known)
		return;
	s->total[s->speaks] = fabs(total / c->total - 1);
	s->victims[s->speaks++] = fabs(factor(&c->p.victims) - c->victims);
	s->covered += truth >= c->p.total.low_mbps && truth <= c->p.total.high_mbps;
	s->signs += fabs(total - 1) > SIGN;
	s->right += fabs(total - 1) > SIGN && (total > 1) == (c->total > 1);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The value that a share of all values does not exceed. NAN without values. */
static double quantile(const double *v, uint64_t n, double share)
{
	uint64_t at = (uint64_t)ceil(share * (double)n);

	return n ? v[at ? at - 1 : 0] : NAN;
}

static void sums_free(struct sums *s)
{
	free(s->total);
	free(s->victims);
	free(s->root);
}

/* Sums up variants `from` to before `to`. */
static int sum_up(const struct work *w, unsigned int from, unsigned int to, struct sums *s)
{
	size_t most = (size_t)w->n * w->variants + 1;

	*s = (struct sums){ .total = calloc(most, sizeof(double)),
			    .victims = calloc(most, sizeof(double)),
			    .root = calloc(most, sizeof(double)) };
	if (!s->total || !s->victims || !s->root)
		return -ENOMEM;
	for (uint64_t i = 0; i < w->n * w->variants; i++)
		if (i % w->variants >= from && i % w->variants < to)
			add(s, &w->one[i]);
	qsort(s->total, s->speaks, sizeof(double), by_value);
	qsort(s->victims, s->speaks, sizeof(double), by_value);
	qsort(s->root, s->roots, sizeof(double), by_value);
	return 0;
}

static double part(uint64_t k, uint64_t n)
{
	return n ? (double)k / (double)n : NAN;
}

static bool holds(const struct row *r)
{
	return r->at_least ? r->measured >= r->target : r->measured <= r->target;
}

/* Judges sums on trees. A prediction may take 2 s up to a thousand or so hosts, and 6 s above, as
 * for `ibcc-lab prediction`. Returns the number of rows.
 */
static int judge_tree(const struct sums *all, uint32_t hosts, struct row *row)
{
	const struct row rows[] = {
		{ "total off, median", "share", 0.02, quantile(all->total, all->speaks, 0.5),
		  false },
		{ "total off, 90th percentile", "share", 0.06,
		  quantile(all->total, all->speaks, 0.9), false },
		{ "total within the range", "share", 0.95, part(all->covered, all->speaks), true },
		{ "sign right above 2 %", "share", 0.95, part(all->right, all->signs), true },
		{ "CPU time, most", "s", hosts > 1152 ? 6 : 2, all->most_cpu_s, false },
	};
	int n = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (!isnan(rows[i].measured)) /* else there was nothing to judge */
			row[n++] = rows[i];
	return n;
}

/* Judges sums. `all`: those of the first two variants together. Returns the number of rows. */
static int judge(const struct sums *s, const struct sums *all, struct row *row)
{
	const struct row rows[ROWS] = {
		{ "steady scenarios with a prediction", "draws", 100, (double)all->speaks, true },
		{ "speaks in V1", "share", 0.25, part(s[0].speaks, s[0].steady), true },
		{ "speaks in V2", "share", 0.25, part(s[1].speaks, s[1].steady), true },
		{ "speaks in V3", "share", 0, part(s[2].speaks, s[2].steady), false },
		{ "total off, median", "share", 0.02, quantile(all->total, all->speaks, 0.5),
		  false },
		{ "total off, 90th percentile", "share", 0.13,
		  quantile(all->total, all->speaks, 0.9), false },
		{ "total within the range", "share", 0.8, part(all->covered, all->speaks), true },
		{ "root off, median", "share", 0.02, quantile(all->root, all->roots, 0.5), false },
		{ "root off, 90th percentile", "share", 0.11, quantile(all->root, all->roots, 0.9),
		  false },
	};

	for (int i = 0; i < ROWS; i++)
		row[i] = rows[i];
	return ROWS;
}

static const char *percent(double v, char *buf)
{
	return ibcc_table_number(100 * v, buf, IBCC_CELL_BYTES);
}

static int print_table(const struct sums *s, unsigned int variants)
{
	static const struct ibcc_table_column columns[] = {
		{ "", false },          { "CONGESTED", true },           { "STEADY", true },
		{ "SPEAKS", true },     { "TOTAL OFF %", true },         { "P90", true },
		{ "IN RANGE %", true }, { "VICTIMS OFF, POINTS", true }, { "P90", true },
		{ "ROOTS TOLD", true }, { "OFF, POINTS", true },         { "P90", true },
		{ "ROOTS OPEN", true }, { "IN BOUNDS %", true },
	};
	enum { N = sizeof(columns) / sizeof(*columns) };
	struct libscols_table *t = ibcc_table_new(columns, N, stdout);
	int rc = t ? 0 : -ENOMEM;

	for (unsigned int v = 0; v < variants && !rc; v++) {
		const struct sums *x = &s[v];
		uint64_t n[] = { x->congested, x->steady, x->speaks, x->roots, x->open };
		char buf[N][IBCC_CELL_BYTES];
		const char *cell[N] = { variant_names[v], buf[0], buf[1], buf[2] };

		for (int i = 0; i < 5; i++)
			snprintf(buf[i < 4 ? i : 12], IBCC_CELL_BYTES, "%llu",
				 (unsigned long long)n[i]);
		cell[4] = percent(quantile(x->total, x->speaks, 0.5), buf[4]);
		cell[5] = percent(quantile(x->total, x->speaks, 0.9), buf[5]);
		cell[6] = percent(part(x->covered, x->speaks), buf[6]);
		cell[7] = percent(quantile(x->victims, x->speaks, 0.5), buf[7]);
		cell[8] = percent(quantile(x->victims, x->speaks, 0.9), buf[8]);
		cell[9] = buf[3];
		cell[10] = percent(quantile(x->root, x->roots, 0.5), buf[10]);
		cell[11] = percent(quantile(x->root, x->roots, 0.9), buf[11]);
		cell[12] = buf[12];
		cell[13] = percent(part(x->held, x->open), buf[13]);
		rc = ibcc_table_add(t, cell);
	}
	return ibcc_table_end(t, rc);
}

static void print_rows(const struct row *row, int n)
{
	puts("");
	for (int i = 0; i < n; i++)
		printf("%-34s %9.3f (%s %.3f): %s\n", row[i].name, row[i].measured,
		       row[i].at_least ? "at least" : "at most", row[i].target,
		       holds(&row[i]) ? "ok" : "NO");
}

/* What the run with the plan measured; on trees, only plans with predicted amounts are run. */
static json_t *truth(const struct work *w, const struct ibcc_predict_case *c, double v)
{
	return ibcc_report_number(!w->hosts || c->p.known ? v : NAN);
}

static int print_json(const struct work *w, const struct row *row, int n, bool ok)
{
	json_t *rows = json_array(), *all = json_array();

	for (int i = 0; i < n; i++)
		json_array_append_new(rows,
				      json_pack("{ss ss sf so sb}", "name", row[i].name, "unit",
						row[i].unit, "target", row[i].target, "measured",
						ibcc_report_number(row[i].measured), "ok",
						(int)holds(&row[i])));
	for (uint64_t i = 0; i < w->n * w->variants; i++) {
		const struct ibcc_predict_case *c = &w->one[i];

		if (!c->congested)
			continue;
		json_array_append_new(
			all,
			json_pack(
				"{sI si sb sb ss sf so sf so so so so so so so so si si sf sf sf}",
				"seed", (json_int_t)(w->seed + i / w->variants), "variant",
				(int)(1 + i % w->variants), "steady", (int)c->steady, "known",
				(int)c->p.known, "why", ibcc_prediction_reason(c->p.why),
				"total_predicted", factor(&c->p.total), "total",
				truth(w, c, c->total), "victims_predicted", factor(&c->p.victims),
				"victims", truth(w, c, c->victims), "off", truth(w, c, c->off),
				"off_victims", truth(w, c, c->off_victims), "latency_predicted",
				ibcc_report_number(c->p.now_us > 0 ? c->p.expected_us / c->p.now_us
								   : NAN),
				"latency", truth(w, c, c->latency), "latency_p99",
				truth(w, c, c->latency_p99), "root_predicted",
				c->root_known ? json_real(c->root_predicted) : json_null(), "root",
				truth(w, c, c->root), "open_roots", (int)c->n_open, "open_held",
				(int)c->open_held, "replay_rate", c->p.replay_rate, "replay_wait",
				c->p.replay_wait, "cpu_s", c->p.cpu_s));
	}
	return ibcc_report_json(json_pack("{si ss sI so so sb}", "schema", 1, "experiment",
					  "predict", "seed", (json_int_t)w->seed, "rows", rows,
					  "cases", all, "ok", (int)ok),
				false, stdout);
}

static int report(const struct work *w, bool json)
{
	struct sums s[VARIANTS + 1] = { 0 };
	struct row row[ROWS];
	bool ok = true;
	int n = 0, rc = 0;

	for (unsigned int v = 0; v < w->variants && !rc; v++)
		rc = sum_up(w, v, v + 1, &s[v]);
	if (!rc)
		rc = sum_up(w, 0, 2, &s[VARIANTS]);
	if (!rc) {
		n = w->hosts ? judge_tree(&s[VARIANTS], w->hosts, row)
			     : judge(s, &s[VARIANTS], row);
		for (int i = 0; i < n; i++)
			ok = ok && holds(&row[i]);
		rc = json ? print_json(w, row, n, ok) : print_table(s, w->variants);
	}
	if (!rc && !json) {
		print_rows(row, n);
		printf("%llu random scenario%s of each variant, from seed %llu on\n",
		       (unsigned long long)w->n, ibcc_text_plural(w->n, "", "s"),
		       (unsigned long long)w->seed);
	}
	for (int v = 0; v <= VARIANTS; v++)
		sums_free(&s[v]);
	return rc || !ok || fflush(stdout) ? IBCC_EXIT_ERROR : IBCC_EXIT_OK;
}

static int predict_all(const struct options *o)
{
	struct work w = { .n = o->n,
			  .seed = o->seed,
			  .hosts = o->hosts,
			  .variants = o->hosts ? VARIANTS - 1 : VARIANTS,
			  .probe = o->probe,
			  .one = calloc(o->n * VARIANTS, sizeof(*w.one)) };
	const struct ibcc_runs runs = {
		.n = o->n * w.variants, .threads = (unsigned int)o->jobs, .one = predict, .arg = &w
	};
	struct ibcc_yaml_errors e = { 0 };
	int rc = w.one ? ibcc_runs_all(&runs) : -ENOMEM, exit;

	exit = rc ? ibcc_bench_fail("predict", rc, &e) : report(&w, o->json);
	free(w.one);
	return exit;
}

static int read_hosts(void *place, const char *text)
{
	uint32_t *hosts = place;
	char end;

	return sscanf(text, "%5" SCNu32 "%c", hosts, &end) == 1 && ibcc_draw_tree_is(*hosts)
		       ? 0
		       : -EINVAL;
}

static int read_probe(void *place, const char *text)
{
	enum ibcc_predict_probe *probe = place;

	*probe = !strcmp(text, "logs") ? IBCC_PROBE_LOGS : IBCC_PROBE_BECNS;
	return !strcmp(text, "logs") || !strcmp(text, "becns") ? 0 : -EINVAL;
}

static const struct ibcc_option options[] = {
	IBCC_OPTION_RANDOM(struct options, n),
	IBCC_OPTION_SEED(struct options, seed, 0),
	{ "hosts", 0, IBCC_OPTION_READ, "N",
	  "hosts of a fat tree with random traffic: 128, 648,\n1152 or 3456 (default: small random "
	  "fabrics)",
	  .at = offsetof(struct options, hosts), .read = read_hosts,
	  .want = "128, 648, 1152 or 3456" },
	{ "probe", 0, IBCC_OPTION_READ, "becns|logs",
	  "let switches mark packets and adapters not react;\nread BECN counters, or "
	  "CongestionLogs",
	  .at = offsetof(struct options, probe), .read = read_probe, .want = "becns or logs" },
	IBCC_OPTION_JSON(struct options),
	IBCC_OPTION_JOBS(struct options, jobs),
};

static int run(const struct ibcc_command *c, int argc, char **argv)
{
	struct options o = { .n = 150, .seed = 1, .probe = IBCC_PROBE_NONE };
	int first;

	return ibcc_command_read(c, argc, argv, &o, &first) ? IBCC_EXIT_ERROR : predict_all(&o);
}

const struct ibcc_command ibcc_lab_predict = {
	.name = "predict",
	.what = "compare predictions with the effect of their plans",
	.option = options,
	.n_options = sizeof(options) / sizeof(*options),
	.run = run,
};
