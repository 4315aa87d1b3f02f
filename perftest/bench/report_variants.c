/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Variants of one experiment beside each other: off, static settings, and the live loop. */
#include <errno.h>
#include <math.h>

#include <ibcc/table.h>
#include <ibcc/text.h>

#include "perftest/bench/report.h"

#define MAX_ROUNDS 40u
#define SETTLED    0.97
#define SMOOTH     5u

/* How fairly the flows of one kind share their throughput (R. Jain's index); NAN without such
 * flows.
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

/* When the measured congestion began: the last change of traffic or fabric before the window. */
static uint64_t onset_ps(const struct ibcc_exp_run *run)
{
	const struct ibcc_scenario *s = &run->scenario;
	uint64_t at = 0, by = run->measure.from_ps;

	for (uint32_t i = 0; i < s->n_flows; i++) {
		if (s->flow[i].start_ps <= by && s->flow[i].start_ps > at)
			at = s->flow[i].start_ps;
		if (s->flow[i].stop_ps <= by && s->flow[i].stop_ps > at)
			at = s->flow[i].stop_ps;
	}
	for (uint32_t i = 0; i < s->n_events; i++)
		if (s->event[i].at_ps <= by && s->event[i].at_ps > at)
			at = s->event[i].at_ps;
	return at;
}

static double sum_of_sample(const struct ibcc_measure *m, uint32_t k)
{
	double sum = 0;

	for (uint32_t i = 0; i < m->n_flows; i++)
		sum += (double)m->flow_sample[(size_t)k * m->n_flows + i].throughput_mbps;
	return sum;
}

/* Cycles from the onset until the sum of all throughput stays at 97 % of the measured value; NAN if
 * it does not. Uses means of some samples, since single samples hold few packets.
 */
static double settle_cycles(const struct ibcc_exp_run *run, double poll_ms)
{
	const struct ibcc_measure *m = &run->measure;
	double want = 0, mean = 0;
	uint64_t onset = onset_ps(run), since = onset;

	for (uint32_t i = 0; i < m->n_flows; i++)
		want += m->flow[i].throughput_mbps * SETTLED * SMOOTH;
	for (uint32_t k = 0; k < m->n_samples; k++) {
		mean += sum_of_sample(m, k);
		mean -= k >= SMOOTH ? sum_of_sample(m, k - SMOOTH) : 0;
		if (k + 1 >= SMOOTH && m->sample_ps[k] > since && mean < want)
			since = m->sample_ps[k];
	}
	if (!m->n_samples || since >= m->sample_ps[m->n_samples - 1])
		return NAN;
	return (double)(since - onset) / (double)IBCC_PS_PER_MS / poll_ms;
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
	char buf[7][IBCC_CELL_BYTES], sets[IBCC_CELL_BYTES] = "", rounds[IBCC_CELL_BYTES] = "",
				      last[IBCC_CELL_BYTES] = "";
	const char *cell[] = {
		v->name,
		ibcc_table_number(hot, buf[0], IBCC_CELL_BYTES),
		ibcc_table_number(victim, buf[1], IBCC_CELL_BYTES),
		ibcc_table_number(background, buf[2], IBCC_CELL_BYTES),
		ibcc_table_number(hot + victim + background, buf[3], IBCC_CELL_BYTES),
		ibcc_table_number(100 * ibcc_measure_ideal_share(&run->measure), buf[4],
				  IBCC_CELL_BYTES),
		ibcc_table_number(fairness(run, IBCC_FLOW_HOT), buf[5], IBCC_CELL_BYTES),
		ibcc_table_number(settle_cycles(run, v->control.poll_ms), buf[6], IBCC_CELL_BYTES),
		sets,
		rounds,
		last,
	};

	if (v->live) {
		snprintf(sets, IBCC_CELL_BYTES, "%llu", (unsigned long long)run->live.sets);
		snprintf(rounds, IBCC_CELL_BYTES, "%u", run->live.n_rounds);
	}
	if (run->live.n_rounds)
		snprintf(last, IBCC_CELL_BYTES, "%u", run->live.round[run->live.n_rounds - 1].pass);
	return ibcc_table_add(t, cell);
}

/* `all`: by kind of flow. */
static int add_latency(struct libscols_table *t, const struct ibcc_exp_variant *v,
		       const struct ibcc_measure_latency *all)
{
	static const enum ibcc_flow_kind kinds[] = { IBCC_FLOW_VICTIM, IBCC_FLOW_BACKGROUND };
	char buf[6][IBCC_CELL_BYTES];
	const char *cell[7] = { v->name };

	for (size_t i = 0; i < 2; i++) {
		const struct ibcc_measure_latency *l = &all[kinds[i]];
		double us[] = { l->mean_us, l->p50_us, l->p99_us };

		for (size_t k = 0; k < 3; k++)
			cell[1 + 3 * i + k] =
				ibcc_table_number(us[k], buf[3 * i + k], IBCC_CELL_BYTES);
	}
	return ibcc_table_add(t, cell);
}

static int latency_table(const struct ibcc_experiment *x, const struct ibcc_exp_result *r,
			 enum ibcc_latency of, FILE *out)
{
	const struct ibcc_table_column columns[] = {
		{ of == IBCC_LATENCY_PACKETS ? "LATENCY us" : "MESSAGES us", false },
		{ "VICTIM MEAN", true },
		{ "P50", true },
		{ "P99", true },
		{ "BACKGROUND MEAN", true },
		{ "P50", true },
		{ "P99", true },
	};
	struct libscols_table *t = ibcc_table_new(columns, sizeof(columns) / sizeof(*columns), out);
	int rc = t ? 0 : -ENOMEM;

	for (size_t i = 0; i < r->n_runs && !rc; i++) {
		const struct ibcc_measure *m = &r->run[i].measure;

		rc = add_latency(t, &x->variant[r->run[i].variant],
				 of == IBCC_LATENCY_PACKETS ? m->latency : m->message);
	}
	if (rc) {
		scols_unref_table(t);
		return rc;
	}
	fputc('\n', out);
	return ibcc_table_print(t);
}

/* Whether victims or background have messages. */
static bool have_messages(const struct ibcc_exp_result *r)
{
	bool have = false;

	for (size_t i = 0; i < r->n_runs; i++)
		have |= isfinite(r->run[i].measure.message[IBCC_FLOW_VICTIM].mean_us) ||
			isfinite(r->run[i].measure.message[IBCC_FLOW_BACKGROUND].mean_us);
	return have;
}

static void say_rounds(const struct ibcc_exp_variant *v, const struct ibcc_exp_run *run, FILE *out)
{
	const struct ibcc_live_result *l = &run->live;

	if (!l->n_rounds)
		return;
	fprintf(out, "\n%s, %u polling cycle%s:\n", v->name, l->passes,
		ibcc_text_plural(l->passes, "", "s"));
	for (uint32_t i = 0; i < l->n_rounds && i < MAX_ROUNDS; i++)
		fprintf(out, "  polling cycle %u, %u change%s%s: %s\n", l->round[i].pass,
			l->round[i].changes, ibcc_text_plural(l->round[i].changes, "", "s"),
			l->round[i].failed ? ", not all took effect" : "", l->round[i].summary);
	if (l->n_rounds > MAX_ROUNDS)
		fprintf(out, "  and %u more\n", l->n_rounds - MAX_ROUNDS);
}

int ibcc_report_variants(const struct ibcc_experiment *x, const struct ibcc_exp_result *r,
			 FILE *out)
{
	static const struct ibcc_table_column columns[] = {
		{ "VARIANT", false },   { "HOT MB/s", true },  { "VICTIM", true },
		{ "BACKGROUND", true }, { "SUM", true },       { "IDEAL %", true },
		{ "FAIR", true },       { "CYCLES", true },    { "SETS", true },
		{ "ROUNDS", true },     { "LAST PASS", true },
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
	if (!rc)
		rc = latency_table(x, r, IBCC_LATENCY_PACKETS, out);
	if (!rc && have_messages(r))
		rc = latency_table(x, r, IBCC_LATENCY_MESSAGES, out);
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
		json_t *o = json_pack(
			"{ss sf sf sf so so so so so so so}", "name", v->name, "hot_MBps",
			mbytes(run, IBCC_FLOW_HOT), "victim_MBps", mbytes(run, IBCC_FLOW_VICTIM),
			"background_MBps", mbytes(run, IBCC_FLOW_BACKGROUND), "ideal_share",
			ibcc_report_number(ibcc_measure_ideal_share(&run->measure)), "fairness",
			ibcc_report_number(fairness(run, IBCC_FLOW_HOT)), "settle_cycles",
			ibcc_report_number(settle_cycles(run, v->control.poll_ms)),
			"victim_latency_us",
			ibcc_report_latency(&run->measure.latency[IBCC_FLOW_VICTIM]),
			"background_latency_us",
			ibcc_report_latency(&run->measure.latency[IBCC_FLOW_BACKGROUND]),
			"victim_message_us",
			ibcc_report_latency(&run->measure.message[IBCC_FLOW_VICTIM]),
			"background_message_us",
			ibcc_report_latency(&run->measure.message[IBCC_FLOW_BACKGROUND]));

		if (o && v->column) {
			json_object_set_new(o, "case", json_string(x->exp_case[v->exp_case].name));
			json_object_set_new(o, "column",
					    json_string(ibcc_exp_column_name(v->column)));
		}
		if (o && v->live) {
			json_object_set_new(o, "passes", json_integer(run->live.passes));
			json_object_set_new(o, "sets", json_integer((json_int_t)run->live.sets));
			json_object_set_new(o, "rounds", rounds_json(&run->live));
		}
		json_array_append_new(a, o);
	}
	return a;
}
