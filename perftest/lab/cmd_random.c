/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The live loop on random scenarios, on which no constant was fitted. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/table.h>
#include <ibcc/text.h>

#include "perftest/bench/bench.h"
#include "perftest/bench/report.h"
#include "perftest/bench/truth.h"
#include "perftest/lab/draw.h"
#include "perftest/lab/drawn.h"
#include "perftest/lab/lab.h"
#include "perftest/lab/random_judge.h"
#include "perftest/lab/runs.h"

/* Requirements on the loop: shares of all scenarios, and the mean of what they get. */
#define SETTLED_REACH 0.87
#define SETTLED_HARM  0.015
#define SETTLED_MEAN  0.985
#define START_REACH   0.77
#define START_HARM    0.03
#define NO_CC_SHARE   3u /* one host in this many */
#define LATE_PASS     80u

/* Shares of the possible throughput in a window. */
struct shares {
	double off, live;
	double off_us, live_us; /* mean latency of packets that do not go to hotspots */
	bool reached, harmed;
};

struct score {
	struct shares start, settled;
	uint32_t n_roots, rounds;
	uint32_t last_change; /* pass; 0: there was none */
	uint64_t sets;
	char fabric[64];
};

/* Fabrics that are less than ideal. */
struct condition {
	const char *name, *what;
	bool no_cc;
	struct ibcc_live_options differs; /* members that are not zero */
};

static const struct condition conditions[] = {
	{ .name = "per-sl", .what = "adapters react by service level", .differs.per_sl = true },
	{ .name = "no-waits",
	  .what = "PortXmitWait of adapters reads zero",
	  .differs.no_waits = true },
	{ .name = "whole-switch",
	  .what = "switches mark at all ports or none",
	  .differs.whole_switch_marks = true },
	{ .name = "no-logs", .what = "switches have no CongestionLog", .differs.no_logs = true },
	{ .name = "loss", .what = "5 % of the MADs are lost", .differs.lose_percent = 5 },
	{ .name = "polls", .what = "polling cycles ten times as long", .differs.poll_ms = 10 },
	{ .name = "no-cc", .what = "a third of hosts without congestion control", .no_cc = true },
};

struct random {
	uint64_t seed;
	const struct condition *condition; /* NULL: an ideal fabric */
	struct score *score;
};

static const struct condition *find_condition(const char *name)
{
	for (size_t i = 0; i < sizeof(conditions) / sizeof(*conditions); i++)
		if (!strcmp(conditions[i].name, name))
			return &conditions[i];
	fprintf(stderr, "%s: --condition: want one of", program_invocation_short_name);
	for (size_t i = 0; i < sizeof(conditions) / sizeof(*conditions); i++)
		fprintf(stderr, "%s %s", i ? "," : "", conditions[i].name);
	fprintf(stderr, ", got %s\n", name);
	return NULL;
}

static struct ibcc_live_options options_for(const struct condition *c)
{
	struct ibcc_live_options o;

	ibcc_live_defaults(&o);
	if (!c)
		return o;
	o.per_sl = c->differs.per_sl;
	o.no_waits = c->differs.no_waits;
	o.no_logs = c->differs.no_logs;
	o.whole_switch_marks = c->differs.whole_switch_marks;
	o.lose_percent = c->differs.lose_percent > 0 ? c->differs.lose_percent : o.lose_percent;
	o.poll_ms = c->differs.poll_ms > 0 ? c->differs.poll_ms : o.poll_ms;
	return o;
}

/* Removes congestion control from one host in three, beginning with one that the seed selects. */
static int take_cc(struct ibcc_scenario *s, uint64_t seed)
{
	uint32_t n = 0;

	s->no_cc = calloc(s->topo->n_nodes, sizeof(*s->no_cc));
	if (!s->no_cc)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->topo->n_nodes; i++)
		if (!ibcc_topo_is_switch(s->topo, i) && (n++ + seed) % NO_CC_SHARE == 0)
			ibcc_topo_node_text(s->topo, i, s->no_cc[s->n_no_cc++]);
	return 0;
}

static int measure_live(const struct random *r, const struct ibcc_scenario *s, struct score *score,
			struct shares *to)
{
	struct ibcc_live_options o = options_for(r->condition);
	struct ibcc_live_result live;
	struct ibcc_measure m;
	int rc = ibcc_drawn_live(s, &o, &m, &live);

	if (!rc) {
		to->live = ibcc_draw_share(&m);
		to->live_us = m.latency[IBCC_FLOW_BACKGROUND].mean_us;
		score->rounds = live.n_rounds;
		score->last_change = live.n_rounds ? live.round[live.n_rounds - 1].pass : 0;
		score->sets = live.sets;
		ibcc_measure_fini(&m);
	}
	ibcc_live_result_fini(&live);
	return rc;
}

static int measure_off(const struct ibcc_scenario *s, struct score *score, struct shares *to)
{
	struct ibcc_measure m;
	struct ibcc_truth truth = { 0 };
	int rc = ibcc_truth_find(s, s->measure_from_ps, &truth);

	score->n_roots = truth.n_roots;
	ibcc_truth_fini(&truth);
	if (!rc)
		rc = ibcc_measure_run(s, 0, &m, NULL);
	if (rc)
		return rc;
	to->off = ibcc_draw_share(&m);
	to->off_us = m.latency[IBCC_FLOW_BACKGROUND].mean_us;
	ibcc_measure_fini(&m);
	return 0;
}

static int measure(const struct random *r, const struct ibcc_scenario *s, struct score *score,
		   struct shares *to)
{
	int rc = measure_off(s, score, to);

	if (!rc)
		rc = measure_live(r, s, score, to);
	to->reached = ibcc_drawn_reached(to->live);
	to->harmed = ibcc_drawn_harmed(to->live, to->off);
	return rc;
}

static int draw(void *arg, uint64_t i, struct ibcc_yaml_errors *e)
{
	struct random *r = arg;
	struct score *score = &r->score[i];
	struct ibcc_scenario s;
	int rc = ibcc_draw_load(r->seed + i, &s, e);

	if (rc)
		return rc;
	snprintf(score->fabric, sizeof(score->fabric), "%u node%s, %u flow%s", s.topo->n_nodes,
		 ibcc_text_plural(s.topo->n_nodes, "", "s"), s.n_flows,
		 ibcc_text_plural(s.n_flows, "", "s"));
	if (r->condition && r->condition->no_cc)
		rc = take_cc(&s, r->seed + i);
	if (!rc)
		rc = measure(r, &s, score, &score->start);
	if (!rc) {
		ibcc_drawn_later(&s);
		rc = measure(r, &s, score, &score->settled);
	}
	ibcc_scenario_fini(&s);
	return rc;
}

static json_t *shares_json(const struct shares *s)
{
	return json_pack("{sf sf so so sb sb}", "off", s->off, "live", s->live, "off_latency_us",
			 ibcc_report_number(s->off_us), "live_latency_us",
			 ibcc_report_number(s->live_us), "reached", (int)s->reached, "harmed",
			 (int)s->harmed);
}

static json_t *score_json(const struct random *r, uint64_t i)
{
	const struct score *s = &r->score[i];

	return json_pack("{sI so so si si si sI}", "seed", (json_int_t)(r->seed + i), "start",
			 shares_json(&s->start), "settled", shares_json(&s->settled), "roots",
			 (int)s->n_roots, "rounds", (int)s->rounds, "last_change",
			 (int)s->last_change, "sets", (json_int_t)s->sets);
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
			s->settled.harmed ? "HARMED" : "below the ideal"
		};

		if (s->settled.reached && !s->settled.harmed)
			continue;
		snprintf(buf[0], IBCC_CELL_BYTES, "%llu", (unsigned long long)(r->seed + i));
		snprintf(buf[1], IBCC_CELL_BYTES, "%u", s->n_roots);
		snprintf(buf[4], IBCC_CELL_BYTES, "%u", s->rounds);
		rc = ibcc_table_add(t, cell);
	}
	return ibcc_table_end(t, rc);
}

/* Over all scenarios. */
struct totals {
	uint64_t reached, harmed;
	double off, live; /* means */
	double deviation; /* of live */
	/* Geometric mean of the latency of background traffic, live over off; and how many of the
	 * harmed scenarios have a lower one.
	 */
	double latency;
	uint64_t harmed_faster;
};

static struct totals sum_up(const struct random *r, uint64_t n, bool settled)
{
	struct totals t = { 0 };
	double squares = 0, logs = 0;
	uint64_t timed = 0;

	for (uint64_t i = 0; i < n; i++) {
		const struct shares *s = settled ? &r->score[i].settled : &r->score[i].start;

		t.reached += s->reached;
		t.harmed += s->harmed;
		t.off += s->off / (double)n;
		t.live += s->live / (double)n;
		squares += s->live * s->live / (double)n;
		if (!(s->off_us > 0) || !(s->live_us > 0))
			continue;
		t.harmed_faster += s->harmed && s->live_us < s->off_us;
		logs += log(s->live_us / s->off_us);
		timed++;
	}
	t.latency = timed ? exp(logs / (double)timed) : NAN;
	t.deviation = sqrt(fmax(squares - t.live * t.live, 0));
	return t;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Passes within which the last change comes in some shares of the scenarios that change anything.
 */
struct settling {
	uint64_t n;
	uint32_t median, p75, p90;
	uint64_t late; /* scenarios that still change after LATE_PASS */
};

static int find_settling(const struct random *r, uint64_t n, struct settling *out)
{
	uint32_t *last = calloc(n, sizeof(*last));

	*out = (struct settling){ 0 };
	if (!last)
		return -ENOMEM;
	for (uint64_t i = 0; i < n; i++) {
		if (r->score[i].last_change)
			last[out->n++] = r->score[i].last_change;
		out->late += r->score[i].last_change > LATE_PASS;
	}
	qsort(last, out->n, sizeof(*last), compare);
	if (out->n) {
		out->median = last[(out->n - 1) / 2];
		out->p75 = last[(out->n - 1) * 3 / 4];
		out->p90 = last[(out->n - 1) * 9 / 10];
	}
	free(last);
	return 0;
}

/* A requirement. */
struct row {
	const char *name;
	double target, measured;
	bool ok;
};

enum { MAX_ROWS = 5 };

static struct row share_row(const char *name, uint64_t count, uint64_t n, double target,
			    bool at_least)
{
	return (struct row){ name, target, (double)count / (double)n,
			     ibcc_random_share_holds(count, n, target, at_least) };
}

/* On a fabric that is not ideal only harm is judged. */
static unsigned int judge(const struct random *r, uint64_t n, struct row *row)
{
	const struct totals start = sum_up(r, n, false), settled = sum_up(r, n, true);
	unsigned int k = 0;

	row[k++] = share_row("settled: live more than 1 % below off", settled.harmed, n,
			     SETTLED_HARM, false);
	if (r->condition)
		return k;
	row[k++] = share_row("settled: live reaches 97 % of the ideal", settled.reached, n,
			     SETTLED_REACH, true);
	row[k++] = (struct row){ "settled: mean share of the ideal", SETTLED_MEAN, settled.live,
				 ibcc_random_mean_holds(settled.live, settled.deviation, n,
							SETTLED_MEAN) };
	row[k++] = share_row("start: live more than 1 % below off", start.harmed, n, START_HARM,
			     false);
	row[k++] = share_row("start: live reaches 97 % of the ideal", start.reached, n, START_REACH,
			     true);
	return k;
}

static int print_json(const struct random *r, uint64_t n, const struct row *row, unsigned int k,
		      const struct settling *settling, bool ok)
{
	json_t *rows = json_array(), *all = json_array();

	for (unsigned int i = 0; i < k; i++)
		json_array_append_new(rows,
				      json_pack("{ss ss sf sf sb}", "name", row[i].name, "unit",
						"share", "target", row[i].target, "measured",
						row[i].measured, "ok", (int)row[i].ok));
	for (uint64_t i = 0; i < n; i++)
		json_array_append_new(all, score_json(r, i));
	ibcc_report_json(json_pack("{si ss ss so s{sI si si si sI} so sb}", "schema", 1,
				   "experiment", "random", "condition",
				   r->condition ? r->condition->name : "none", "rows", rows,
				   "last_change", "changed", (json_int_t)settling->n, "median",
				   (int)settling->median, "p75", (int)settling->p75, "p90",
				   (int)settling->p90, "late", (json_int_t)settling->late,
				   "scenarios", all, "ok", (int)ok),
			 false, stdout);
	return ok ? IBCC_EXIT_OK : IBCC_EXIT_ERROR;
}

static void print_totals(const char *when, const struct totals *t, uint64_t n)
{
	printf("%s: live reaches 97 %% of the ideal in %.1f %% of the scenarios, and is more than "
	       "1 %% below off in %llu; mean share of the ideal: off %.2f %%, live %.2f %%\n",
	       when, 100 * (double)t->reached / (double)n, (unsigned long long)t->harmed,
	       100 * t->off, 100 * t->live);
	printf("%s: mean latency of background traffic, live: %.2f of off (geometric mean); lower "
	       "in %llu of the %llu that are below off\n",
	       when, t->latency, (unsigned long long)t->harmed_faster,
	       (unsigned long long)t->harmed);
}

static void print_settling(const struct settling *s)
{
	if (s->n)
		printf("settling: scenarios with changes of settings: %llu; polling cycle of the "
		       "last change: %u (median), %u (75 %%), %u (90 %%); %llu still change after "
		       "cycle %u\n",
		       (unsigned long long)s->n, s->median, s->p75, s->p90,
		       (unsigned long long)s->late, LATE_PASS);
}

static int print(const struct random *r, uint64_t n, bool json)
{
	const struct totals start = sum_up(r, n, false), settled = sum_up(r, n, true);
	struct row row[MAX_ROWS];
	unsigned int k = judge(r, n, row);
	struct settling settling;
	uint64_t congested = 0;
	bool ok = true;

	if (find_settling(r, n, &settling))
		return IBCC_EXIT_ERROR;
	for (unsigned int i = 0; i < k; i++)
		ok = ok && row[i].ok;
	if (json)
		return print_json(r, n, row, k, &settling, ok);
	for (uint64_t i = 0; i < n; i++)
		congested += r->score[i].n_roots > 0;
	if (print_failures(r, n))
		return IBCC_EXIT_ERROR;
	printf("\n%llu scenario%s from seed %llu on, %llu with congestion%s%s\n",
	       (unsigned long long)n, ibcc_text_plural(n, "", "s"), (unsigned long long)r->seed,
	       (unsigned long long)congested, r->condition ? "; " : "",
	       r->condition ? r->condition->what : "");
	print_totals("settled", &settled, n);
	print_totals("at the start", &start, n);
	print_settling(&settling);
	for (unsigned int i = 0; i < k; i++)
		printf("%-42s %.3f (target %.3f): %s\n", row[i].name, row[i].measured,
		       row[i].target, row[i].ok ? "ok" : "not met, beyond chance");
	if (!ok)
		puts("repeat one with \"ibcc-lab tune --random 1 --seed SEED\"; \"ibcc-lab draw "
		     "SEED\" prints it as a scenario file");
	return ok ? IBCC_EXIT_OK : IBCC_EXIT_ERROR;
}

struct options {
	uint64_t n, seed, jobs;
	const struct condition *condition;
	bool json;
};

static int read_condition(void *place, const char *text)
{
	const struct condition **c = place;

	*c = find_condition(text);
	return *c ? 0 : -EINVAL;
}

static const struct ibcc_option options[] = {
	{ "random", 0, IBCC_OPTION_NUMBER, "N", "number of random scenarios",
	  .at = offsetof(struct options, n), 1, 1000000 },
	{ "condition", 0, IBCC_OPTION_READ, "NAME",
	  "what the fabric lacks, or what fails: per-sl,\nno-waits, whole-switch, no-logs, loss, "
	  "polls or\nno-cc",
	  .at = offsetof(struct options, condition), .read = read_condition },
	IBCC_OPTION_JSON(struct options),
	IBCC_OPTION_SEED(struct options, seed, 1),
	IBCC_OPTION_JOBS(struct options, jobs),
};

static int run(const struct ibcc_command *c, int argc, char **argv)
{
	struct options o = { .seed = 1 };
	struct random r = { .score = NULL };
	struct ibcc_runs runs = { .one = draw, .arg = &r };
	struct ibcc_yaml_errors e = { 0 };
	int first, rc, exit;

	if (ibcc_command_read(c, argc, argv, &o, &first))
		return IBCC_EXIT_ERROR;
	if (!o.n) {
		ibcc_command_say("%s: want --random N", c->name);
		return IBCC_EXIT_ERROR;
	}
	r = (struct random){ .seed = o.seed,
			     .condition = o.condition,
			     .score = calloc(o.n, sizeof(*r.score)) };
	runs.n = o.n;
	runs.threads = (unsigned int)o.jobs;
	rc = r.score ? ibcc_runs_all(&runs) : -ENOMEM;
	exit = rc ? ibcc_bench_fail("random", rc, &e) : print(&r, o.n, o.json);
	free(r.score);
	return exit;
}

static int run_draw(const struct ibcc_command *c, int argc, char **argv)
{
	uint64_t seed;
	int first;

	if (ibcc_command_read(c, argc, argv, NULL, &first) ||
	    ibcc_command_number("SEED", argv[first], 0, UINT64_MAX, &seed))
		return IBCC_EXIT_ERROR;
	return ibcc_draw_write(seed, stdout) || fflush(stdout) ? IBCC_EXIT_ERROR : IBCC_EXIT_OK;
}

const struct ibcc_command ibcc_lab_tune = {
	.name = "tune",
	.arguments = "--random N",
	.what = "run the daemon's control law on random scenarios",
	.option = options,
	.n_options = sizeof(options) / sizeof(*options),
	.run = run,
};

const struct ibcc_command ibcc_lab_draw = {
	.name = "draw",
	.arguments = "SEED",
	.what = "print a random scenario, as tune --random runs it",
	.want = "a seed",
	.least = 1,
	.most = 1,
	.run = run_draw,
};
