/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Variants of one experiment beside each other: off, static settings, and the live loop. */
#include <errno.h>
#include <math.h>

#include "perftest/bench/report.h"
#include "perftest/bench/table.h"

#define CELL       32
#define MAX_ROUNDS 40u

/* What the flows of one kind get, as a share of a fair division of it among them (R. Jain's index):
 * NAN without such flows.
 */
static double fairness(const struct ibcc_exp_run *run, enum ibcc_flow_kind kind)
{
	double sum = 0, squares = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < run->measure.n_flows; i++) {
		const struct ibcc_measure_flow *f = &run->measure.flow[i];
		double share = f->ideal_mbps > 0 ? f->throughput_mbps / f->ideal_mbps : NAN;

		if (run->scenario.flow[i].kind != kind || isnan(share))
			continue;
		sum += share;
		squares += share * share;
		n++;
	}
	return squares > 0 ? sum * sum / (n * squares) : NAN;
}

static double mbytes(const struct ibcc_exp_run *run, enum ibcc_flow_kind kind)
{
	return ibcc_measure_kind_mbps(&run->scenario, &run->measure, kind) / 8;
}

static int add_run(struct libscols_table *t, const struct ibcc_exp_variant *v,
		   const struct ibcc_exp_run *run)
{
	double hot = mbytes(run, IBCC_FLOW_HOT), victim = mbytes(run, IBCC_FLOW_VICTIM);
	double background = mbytes(run, IBCC_FLOW_BACKGROUND);
	char buf[6][CELL], sets[CELL] = "", rounds[CELL] = "", last[CELL] = "";
	const char *cell[] = {
		v->name,
		ibcc_table_number(hot, buf[0], CELL),
		ibcc_table_number(victim, buf[1], CELL),
		ibcc_table_number(background, buf[2], CELL),
		ibcc_table_number(hot + victim + background, buf[3], CELL),
		ibcc_table_number(100 * ibcc_measure_ideal_share(&run->measure), buf[4], CELL),
		ibcc_table_number(fairness(run, IBCC_FLOW_HOT), buf[5], CELL),
		sets,
		rounds,
		last,
	};

	if (v->live) {
		snprintf(sets, CELL, "%llu", (unsigned long long)run->live.sets);
		snprintf(rounds, CELL, "%u", run->live.n_rounds);
	}
	if (run->live.n_rounds)
		snprintf(last, CELL, "%u", run->live.round[run->live.n_rounds - 1].pass);
	return ibcc_table_add(t, cell);
}

static void say_rounds(const struct ibcc_exp_variant *v, const struct ibcc_exp_run *run, FILE *out)
{
	const struct ibcc_live_result *l = &run->live;

	if (!l->n_rounds)
		return;
	fprintf(out, "\n%s, %u passes:\n", v->name, l->passes);
	for (uint32_t i = 0; i < l->n_rounds && i < MAX_ROUNDS; i++)
		fprintf(out, "  pass %u, %u changes%s: %s\n", l->round[i].pass, l->round[i].changes,
			l->round[i].failed ? ", not all took effect" : "", l->round[i].summary);
	if (l->n_rounds > MAX_ROUNDS)
		fprintf(out, "  and %u more\n", l->n_rounds - MAX_ROUNDS);
}

int ibcc_report_variants(const struct ibcc_experiment *x, const struct ibcc_exp_result *r,
			 FILE *out)
{
	static const struct ibcc_table_column columns[] = {
		{ "VARIANT", false },   { "HOT MB/s", true }, { "VICTIM", true },
		{ "BACKGROUND", true }, { "SUM", true },      { "IDEAL %", true },
		{ "FAIR", true },       { "SETS", true },     { "ROUNDS", true },
		{ "LAST PASS", true },
	};
	struct libscols_table *t = ibcc_table_new(columns, sizeof(columns) / sizeof(*columns), out);
	int rc = t ? 0 : -ENOMEM;

	for (size_t i = 0; i < r->n_runs && !rc; i++)
		rc = add_run(t, &x->variant[r->run[i].variant], &r->run[i]);
	if (rc) {
		scols_unref_table(t);
		return rc;
	}
	fputc('\n', out);
	rc = ibcc_table_print(t);
	for (size_t i = 0; i < r->n_runs && !rc; i++)
		say_rounds(&x->variant[r->run[i].variant], &r->run[i], out);
	return rc;
}

static json_t *rounds_json(const struct ibcc_live_result *l)
{
	json_t *a = json_array();

	for (uint32_t i = 0; i < l->n_rounds; i++)
		json_array_append_new(
			a, json_pack("{sf si si si ss}", "ms",
				     (double)l->round[i].t_ps / (double)IBCC_PS_PER_MS, "pass",
				     (int)l->round[i].pass, "changes", (int)l->round[i].changes,
				     "failed", (int)l->round[i].failed, "summary",
				     l->round[i].summary));
	return a;
}

json_t *ibcc_report_variants_json(const struct ibcc_experiment *x, const struct ibcc_exp_result *r)
{
	json_t *a = json_array();

	for (size_t i = 0; i < r->n_runs; i++) {
		const struct ibcc_exp_run *run = &r->run[i];
		const struct ibcc_exp_variant *v = &x->variant[run->variant];
		json_t *o = json_pack("{ss sf sf sf so so}", "name", v->name, "hot_MBps",
				      mbytes(run, IBCC_FLOW_HOT), "victim_MBps",
				      mbytes(run, IBCC_FLOW_VICTIM), "background_MBps",
				      mbytes(run, IBCC_FLOW_BACKGROUND), "ideal_share",
				      ibcc_report_number(ibcc_measure_ideal_share(&run->measure)),
				      "fairness", ibcc_report_number(fairness(run, IBCC_FLOW_HOT)));

		if (o && v->live) {
			json_object_set_new(o, "passes", json_integer(run->live.passes));
			json_object_set_new(o, "sets", json_integer((json_int_t)run->live.sets));
			json_object_set_new(o, "rounds", rounds_json(&run->live));
		}
		json_array_append_new(a, o);
	}
	return a;
}
