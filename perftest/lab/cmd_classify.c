/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <ibcc/table.h>

#include "perftest/bench/bench.h"
#include "perftest/bench/report.h"
#include "perftest/lab/classify.h"
#include "perftest/lab/lab.h"
#include "perftest/lab/runs.h"

#define WANT 0.95

struct options {
	uint64_t n, seed, jobs;
	bool json, verbose;
};

static const char *const questions[IBCC_N_QUESTIONS] = {
	[IBCC_ASK_ROOTS] = "roots",
	[IBCC_ASK_KIND] = "kind",
	[IBCC_ASK_CONTRIBUTORS] = "contributors",
	[IBCC_ASK_VICTIMS] = "victims",
	[IBCC_ASK_CAUSING_JOBS] = "contributing jobs",
	[IBCC_ASK_SUFFERING_JOBS] = "suffering jobs",
};

struct work {
	uint64_t seed, n;
	char **notes; /* by draw: mistakes, a line each; NULL: not asked for */
	struct ibcc_classified *one, sum;
};

static int one(void *arg, uint64_t i, struct ibcc_yaml_errors *e)
{
	struct work *w = arg;
	size_t len;
	FILE *notes = w->notes ? open_memstream(&w->notes[i], &len) : NULL;
	int rc = w->notes && !notes ? -ENOMEM : 0;

	if (!rc)
		rc = ibcc_classify(w->seed + i, &w->one[i], notes, e);
	if (notes && fclose(notes) && !rc)
		rc = -ENOMEM;
	return rc;
}

static void took(void *arg, uint64_t i)
{
	struct work *w = arg;
	const struct ibcc_classified *o = &w->one[i];

	for (int q = 0; q < IBCC_N_QUESTIONS; q++) {
		for (int k = 0; k < 4; k++)
			w->sum.ask[q].n[k / 2][k % 2] += o->ask[q].n[k / 2][k % 2];
		w->sum.ask[q].open[0] += o->ask[q].open[0];
		w->sum.ask[q].open[1] += o->ask[q].open[1];
	}
	for (int m = 0; m < IBCC_N_MISTAKES; m++)
		w->sum.mistake[m] += o->mistake[m];
}

static double share(uint64_t right, uint64_t wrong)
{
	return right + wrong ? (double)right / (double)(right + wrong) : NAN;
}

/* The standard error of precision or recall over all scenarios. Cases of a scenario are not
 * independent, so it is that of a ratio of sums over scenarios as clusters (W. Cochran, "Sampling
 * Techniques", 1977, equation 2.47). NAN for fewer than two scenarios with cases.
 */
static double error_of(const struct work *w, int q, bool truth, bool seen, bool wrong_truth,
		       bool wrong_seen)
{
	const struct ibcc_confusion *all = &w->sum.ask[q];
	double p = share(all->n[truth][seen], all->n[wrong_truth][wrong_seen]), sum = 0, cases = 0;
	uint64_t n = 0;

	for (uint64_t i = 0; i < w->n; i++) {
		const struct ibcc_confusion *c = &w->one[i].ask[q];
		double right = (double)c->n[truth][seen];
		double of = right + (double)c->n[wrong_truth][wrong_seen];

		sum += pow(right - p * of, 2);
		cases += of;
		n += of > 0;
	}
	return n > 1 ? sqrt(sum * (double)n / (double)(n - 1)) / cases : NAN;
}

/* Both kinds are asked for, so the rarer one must be as right as the other. */
static double precision(const struct work *w, int q)
{
	const struct ibcc_confusion *c = &w->sum.ask[q];
	double p = share(c->n[1][1], c->n[0][1]);

	return q == IBCC_ASK_KIND ? fmin(p, share(c->n[0][0], c->n[1][0])) : p;
}

static double recall(const struct work *w, int q)
{
	const struct ibcc_confusion *c = &w->sum.ask[q];
	double r = share(c->n[1][1], c->n[1][0]);

	return q == IBCC_ASK_KIND ? fmin(r, share(c->n[0][0], c->n[0][1])) : r;
}

static double precision_error(const struct work *w, int q)
{
	const struct ibcc_confusion *c = &w->sum.ask[q];
	bool rarer = q != IBCC_ASK_KIND ||
		     !(share(c->n[0][0], c->n[1][0]) < share(c->n[1][1], c->n[0][1]));

	return error_of(w, q, rarer, rarer, !rarer, rarer);
}

static double recall_error(const struct work *w, int q)
{
	const struct ibcc_confusion *c = &w->sum.ask[q];
	bool rarer = q != IBCC_ASK_KIND ||
		     !(share(c->n[0][0], c->n[0][1]) < share(c->n[1][1], c->n[1][0]));

	return error_of(w, q, rarer, rarer, rarer, !rarer);
}

static int print_table(const struct work *w)
{
	static const struct ibcc_table_column columns[] = {
		{ "", false },      { "PRECISION", true }, { "+-", true },
		{ "RECALL", true }, { "+-", true },        { "FOUND", true },
		{ "MISSED", true }, { "WRONG", true },     { "RIGHTLY NOT", true },
		{ "OPEN", true },   { "OK", false },
	};
	enum { N = sizeof(columns) / sizeof(*columns) };
	struct libscols_table *t = ibcc_table_new(columns, N, stdout);
	int rc = t ? 0 : -ENOMEM;

	for (int q = 0; q < IBCC_N_QUESTIONS && !rc; q++) {
		const struct ibcc_confusion *c = &w->sum.ask[q];
		double p = precision(w, q), r = recall(w, q);
		uint64_t n[] = { c->n[1][1], c->n[1][0], c->n[0][1], c->n[0][0],
				 c->open[0] + c->open[1] };
		char buf[9][IBCC_CELL_BYTES];
		const char *cell[N] = {
			questions[q],
			ibcc_table_number(p, buf[5], IBCC_CELL_BYTES),
			ibcc_table_number(precision_error(w, q), buf[7], IBCC_CELL_BYTES),
			ibcc_table_number(r, buf[6], IBCC_CELL_BYTES),
			ibcc_table_number(recall_error(w, q), buf[8], IBCC_CELL_BYTES),
		};

		for (int k = 0; k < 5; k++) {
			snprintf(buf[k], IBCC_CELL_BYTES, "%llu", (unsigned long long)n[k]);
			cell[5 + k] = buf[k];
		}
		cell[10] = p >= WANT && r >= WANT ? "ok" : "NO";
		rc = ibcc_table_add(t, cell);
	}
	rc = ibcc_table_end(t, rc);
	puts("\nIn the line kind, FOUND counts slow receivers that the estimator takes for such, "
	     "MISSED those that it\ntakes for oversubscribed links.");
	for (int m = 0; m < IBCC_N_MISTAKES; m++)
		if (w->sum.mistake[m])
			printf("%8llu  %s\n", (unsigned long long)w->sum.mistake[m],
			       ibcc_mistake_name[m]);
	return rc;
}

static json_t *row(const char *what, const char *of, double measured, double error)
{
	char name[64];

	snprintf(name, sizeof(name), "%s of %s", what, of);
	return json_pack("{ss ss sf so so sb}", "name", name, "unit", "share", "target", WANT,
			 "measured", ibcc_report_number(measured), "standard_error",
			 ibcc_report_number(error), "ok", measured >= WANT);
}

static int print_json(const struct work *w, bool ok)
{
	json_t *rows = json_array(), *tables = json_object(), *mistakes = json_object();

	for (int q = 0; q < IBCC_N_QUESTIONS; q++) {
		const struct ibcc_confusion *c = &w->sum.ask[q];

		json_array_append_new(rows, row("precision", questions[q], precision(w, q),
						precision_error(w, q)));
		json_array_append_new(
			rows, row("recall", questions[q], recall(w, q), recall_error(w, q)));
		json_object_set_new(
			tables, questions[q],
			json_pack("{sI sI sI sI sI sI}", "true_positive", (json_int_t)c->n[1][1],
				  "false_negative", (json_int_t)c->n[1][0], "false_positive",
				  (json_int_t)c->n[0][1], "true_negative", (json_int_t)c->n[0][0],
				  "open_positive", (json_int_t)c->open[1], "open_negative",
				  (json_int_t)c->open[0]));
	}
	for (int m = 0; m < IBCC_N_MISTAKES; m++)
		json_object_set_new(mistakes, ibcc_mistake_name[m],
				    json_integer((json_int_t)w->sum.mistake[m]));
	return ibcc_report_json(json_pack("{si ss sI so so so sb}", "schema", 1, "experiment",
					  "classify", "seed", (json_int_t)w->seed, "rows", rows,
					  "confusion", tables, "mistakes", mistakes, "ok", (int)ok),
				false, stdout);
}

/* Prints notes in the order of the seeds, whichever thread finished first. */
static void print_notes(char **notes, uint64_t n)
{
	for (uint64_t i = 0; notes && i < n; i++) {
		if (notes[i])
			fputs(notes[i], stderr);
		free(notes[i]);
	}
	free(notes);
}

static int classify(const struct options *opt)
{
	struct work w = {
		.seed = opt->seed,
		.n = opt->n,
		.one = calloc(opt->n, sizeof(*w.one)),
		.notes = opt->verbose ? calloc(opt->n, sizeof(*w.notes)) : NULL,
	};
	const struct ibcc_runs runs = {
		.n = opt->n, .threads = (unsigned int)opt->jobs, .one = one, .took = took, .arg = &w
	};
	struct ibcc_yaml_errors e = { 0 };
	bool ok = true;
	int rc = w.one && (w.notes || !opt->verbose) ? ibcc_runs_all(&runs) : -ENOMEM;

	print_notes(w.notes, opt->n);
	if (rc) {
		free(w.one);
		return ibcc_bench_fail("classify", rc, &e);
	}
	for (int q = 0; q < IBCC_N_QUESTIONS; q++)
		ok = ok && precision(&w, q) >= WANT && recall(&w, q) >= WANT;
	rc = opt->json ? print_json(&w, ok) : print_table(&w);
	free(w.one);
	return rc || !ok || fflush(stdout) ? IBCC_EXIT_ERROR : IBCC_EXIT_OK;
}

static const struct ibcc_option options[] = {
	IBCC_OPTION_RANDOM(struct options, n),
	IBCC_OPTION_SEED(struct options, seed, 0),
	IBCC_OPTION_JSON(struct options),
	{ "verbose", 'v', IBCC_OPTION_FLAG, NULL, "report each mistake on standard error",
	  .at = offsetof(struct options, verbose) },
	IBCC_OPTION_JOBS(struct options, jobs),
};

static int run(const struct ibcc_command *c, int argc, char **argv)
{
	struct options o = { .n = 1000, .seed = 1 };
	int first;

	return ibcc_command_read(c, argc, argv, &o, &first) ? IBCC_EXIT_ERROR : classify(&o);
}

const struct ibcc_command ibcc_lab_classify = {
	.name = "classify",
	.what = "compare the estimator with the truth, on random scenarios",
	.option = options,
	.n_options = sizeof(options) / sizeof(*options),
	.run = run,
};
