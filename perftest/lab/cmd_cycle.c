/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The cost of decisions: the time of the estimator, tuner and planner of the daemon's cycle, on a
 * large simulated fabric with hotspots, from their onset until they are under control. Reading the
 * counters is not included. Also the cost of reporting to a monitoring system: copying the results
 * of a pass and writing them as text.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include <ibcc/cycle.h>
#include <ibcc/now.h>
#include <ibcc/scenario_file.h>
#include <ibcc/table.h>

#include "daemon/metrics/metrics.h"
#include "perftest/bench/bench.h"
#include "perftest/bench/live.h"
#include "perftest/bench/report.h"
#include "perftest/lab/lab.h"
#include "perftest/lab/speed.h"

#define MAX_PASSES 64u
#define WANT_MS    50.0
#define SCRAPE_MS  100.0
#define COLUMNS    10

struct cost {
	uint32_t n, hosts, ports, most_roots;
	double ms[MAX_PASSES]; /* time of each pass that decided */
	double scrape_ms;      /* the longest */
	size_t scrape_bytes;
};

static int scrape(struct cost *cost, const struct ibcc_cycle *c)
{
	static const struct ibcc_metrics_service service = { .via_plugin = true };
	static const struct ibcc_metrics_totals totals = { 0 };
	static const struct ibcc_metrics_now now = { .state = "ok" };
	uint64_t from = ibcc_now_cpu_ns();
	struct ibcc_metrics *m = ibcc_metrics_new(c, &service, &totals);
	char *text = m ? ibcc_metrics_text(m, &now, &cost->scrape_bytes) : NULL;
	double ms;
	bool ok = text != NULL;

	ibcc_metrics_free(m);
	free(text);
	ms = (double)(ibcc_now_cpu_ns() - from) / 1e6;
	cost->scrape_ms = ms > cost->scrape_ms ? ms : cost->scrape_ms;
	return ok ? 0 : -ENOMEM;
}

static int each(void *arg, uint32_t pass, struct ibcc_cycle *c, struct ibcc_applier *a)
{
	struct cost *cost = arg;

	(void)pass;
	(void)a;
	if (!c->decided || cost->n == MAX_PASSES)
		return 0;
	cost->ms[cost->n++] = (double)c->decide_ns / 1e6;
	if (c->estimate.n_roots > cost->most_roots)
		cost->most_roots = c->estimate.n_roots;
	return scrape(cost, c);
}

static int by_ms(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int measure(struct cost *cost, uint32_t *rounds, struct ibcc_yaml_errors *e)
{
	struct ibcc_live_result live = { 0 };
	struct ibcc_live_options o;
	struct ibcc_scenario s;
	struct ibcc_measure m;
	char folder[PATH_MAX], path[2 * PATH_MAX];
	int rc = ibcc_bench_folder(folder, sizeof(folder));

	if (rc)
		return rc;
	snprintf(path, sizeof(path), "%s/scenarios/speed-cycle.yaml", folder);
	rc = ibcc_scenario_load(path, &s, e);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < s.topo->n_nodes; i++)
		cost->hosts += !ibcc_topo_is_switch(s.topo, i);
	for (uint32_t i = 0; i < s.topo->n_ports; i++)
		cost->ports += s.topo->port[i].peer != IBCC_NONE;
	ibcc_live_defaults(&o);
	o.rtt_us = 0; /* the time of readings is another question */
	o.each = each;
	o.arg = cost;
	o.cpu_ns = ibcc_now_cpu_ns;
	rc = ibcc_live_run(&s, &o, 0, &m, &live);
	*rounds = live.n_rounds;
	ibcc_live_result_fini(&live);
	if (!rc)
		ibcc_measure_fini(&m);
	ibcc_scenario_fini(&s);
	return rc || cost->n ? rc : -ENODATA;
}

static int print_table(const struct cost *c, uint32_t rounds, double median, double most)
{
	static const struct ibcc_table_column columns[] = {
		{ "HOSTS", true },     { "PORTS", true },       { "DECISIONS", true },
		{ "ROOTS", true },     { "ROUNDS", true },      { "MEDIAN CPU ms", true },
		{ "MOST ms", true },   { "MAY TAKE ms", true }, { "SCRAPE ms", true },
		{ "SCRAPE MB", true },
	};
	char buf[COLUMNS][32];
	const char *cell[COLUMNS];
	struct libscols_table *t = ibcc_table_new(columns, COLUMNS, stdout);
	const double v[COLUMNS] = {
		c->hosts, c->ports, c->n,    c->most_roots, rounds,
		median,   most,     WANT_MS, c->scrape_ms,  (double)c->scrape_bytes / 1e6
	};
	int rc;

	if (!t)
		return -ENOMEM;
	for (int i = 0; i < COLUMNS; i++) {
		if (i < 5)
			snprintf(buf[i], sizeof(buf[i]), "%.0f", v[i]);
		cell[i] = i < 5 ? buf[i] : ibcc_table_number(v[i], buf[i], sizeof(buf[i]));
	}
	rc = ibcc_table_add(t, cell);
	return ibcc_table_end(t, rc);
}

struct options {
	bool json;
};

static const struct ibcc_option options[] = { IBCC_OPTION_JSON(struct options) };

static int run(const struct ibcc_command *c, int argc, char **argv)
{
	struct ibcc_yaml_errors e = { 0 };
	struct cost cost = { 0 };
	double median, most;
	uint32_t rounds = 0;
	struct options o = { .json = false };
	int first, rc;

	if (ibcc_command_read(c, argc, argv, &o, &first))
		return IBCC_EXIT_ERROR;
	rc = measure(&cost, &rounds, &e);
	if (rc)
		return ibcc_bench_fail("cycle", rc, &e);
	qsort(cost.ms, cost.n, sizeof(*cost.ms), by_ms);
	median = cost.ms[cost.n / 2];
	most = cost.ms[cost.n - 1];
	rc = o.json ? ibcc_report_json(
			      json_pack("{si ss si si si si si sf sf sf sf sI sf sb}", "schema", 1,
					"experiment", "cycle", "hosts", (int)cost.hosts, "ports",
					(int)cost.ports, "decisions", (int)cost.n, "roots",
					(int)cost.most_roots, "rounds", (int)rounds,
					"median_cpu_ms", median, "most_cpu_ms", most, "target_ms",
					WANT_MS, "scrape_cpu_ms", cost.scrape_ms, "scrape_bytes",
					(json_int_t)cost.scrape_bytes, "scrape_target_ms",
					SCRAPE_MS, "ok", (int)(most < WANT_MS)),
			      false, stdout)
		    : print_table(&cost, rounds, median, most);
	return rc || most >= WANT_MS ? IBCC_EXIT_ERROR : IBCC_EXIT_OK;
}

const struct ibcc_command ibcc_lab_cycle = {
	.name = "cycle",
	.what = "measure the CPU time of a decision for a large fabric",
	.option = options,
	.n_options = sizeof(options) / sizeof(*options),
	.run = run,
};
