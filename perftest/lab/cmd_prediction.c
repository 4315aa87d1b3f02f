/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The cost of a prediction on large fabrics, of 648 and 3456 hosts. Each has traffic all over the
 * fabric and 48 senders to a slow host; or slow hosts for which hundreds of adapters wait, and
 * most traffic needs packets. The loads are invented, so the results mean nothing, and the replay
 * is not judged: both runs are measured, whatever comes of them.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <ibcc/now.h>
#include <ibcc/prediction.h>
#include <ibcc/rng.h>
#include <ibcc/route.h>
#include <ibcc/scenario_file.h>
#include <ibcc/table.h>
#include <ibcc/twin.h>

#include "perftest/bench/bench.h"
#include "perftest/bench/report.h"
#include "perftest/lab/lab.h"

#define DESTINATIONS 16u
#define EACH_MBPS    500.0 /* from a host to one of them */
#define SLOW_MBPS    8000u
#define LIMIT_S      10.0 /* of the twin, the default of predict_cpu_s */

struct cost {
	const char *scenario;
	double target_s, target_mb;
	uint32_t slow, every; /* slow hosts; of this many others, one sends to one of them */
	uint32_t hosts, waiting, pairs;
	uint64_t hops; /* that packets were simulated for */
	/* memory: the highest of the process so far */
	double infer_s, run_s, simulated_ms, memory_mb;
};

struct work {
	const struct ibcc_topo *t;
	uint32_t *host, n; /* the ports of the hosts */
	struct ibcc_loads before, now;
	struct ibcc_settings settings;
	struct ibcc_traffic traffic;
	struct ibcc_traffic_root root[IBCC_ROOTS_MAX];
	uint32_t slow, waiting;
	double slices;
};

static void send(const struct ibcc_topo *t, struct ibcc_loads *l, uint32_t src, uint32_t dst,
		 double mbps)
{
	struct ibcc_route r;

	if (ibcc_route_follow(t, src, t->port[dst].lid, &r))
		return;
	for (unsigned int i = 0; i < r.n; i++)
		l->mbps[r.out[i]] += mbps;
}

static int add_hosts(struct work *w)
{
	const struct ibcc_topo *t = w->t;

	w->host = calloc(t->n_nodes + 1u, sizeof(*w->host));
	if (!w->host)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->n_nodes; i++)
		if (!ibcc_topo_is_switch(t, i))
			w->host[w->n++] = t->node[i].first_port + 1;
	return 0;
}

/* The port of a slow host: they are far from each other. */
static uint32_t slow_host(const struct work *w, uint32_t k)
{
	return w->host[(w->n / 2 + k * (w->n / w->slow)) % w->n];
}

static bool is_slow(const struct work *w, uint32_t port)
{
	bool is = false;

	for (uint32_t k = 0; k < w->slow; k++)
		is |= slow_host(w, k) == port;
	return is;
}

/* What a host sends now and sent before. A sender waits: its other traffic is half of before. */
static void add_host(struct work *w, uint32_t port, bool sender, uint64_t *rng)
{
	for (unsigned int k = 0; k < DESTINATIONS; k++) {
		uint32_t dst = w->host[ibcc_rng_below(rng, w->n)];

		if (dst == port || is_slow(w, dst))
			continue;
		send(w->t, &w->before, port, dst, EACH_MBPS);
		send(w->t, &w->now, port, dst, sender ? EACH_MBPS / 2 : EACH_MBPS);
	}
}

static int make_loads(struct work *w, uint32_t every)
{
	const struct ibcc_topo *t = w->t;
	uint64_t rng = 7;
	int rc = ibcc_loads_init(&w->before, t->n_ports);

	if (!rc)
		rc = ibcc_loads_init(&w->now, t->n_ports);
	if (!rc)
		rc = add_hosts(w);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < w->n; i++) {
		uint32_t port = w->host[i];
		bool sender = i % every == 1 && !is_slow(w, port);

		add_host(w, port, sender, &rng);
		if (!sender)
			continue;
		send(t, &w->now, port, slow_host(w, i / every % w->slow),
		     (double)SLOW_MBPS * w->slow * every / w->n);
		w->now.wait[port] = 1 - w->now.mbps[port] / t->port[port].rate_mbps;
		w->waiting++;
	}
	w->before.n = w->now.n = IBCC_RECENT;
	for (uint32_t k = 0; k < w->slow; k++)
		w->root[k] = (struct ibcc_traffic_root){ .port = t->port[slow_host(w, k)].peer,
							 .kind = IBCC_CONGESTION_OUTPUT,
							 .rate_mbps = SLOW_MBPS };
	return ibcc_settings_init(&w->settings, t);
}

static uint64_t cpu_ns(void *arg)
{
	struct work *w = arg;

	w->slices++;
	return (uint64_t)(ibcc_now_cpu_s() * 1e9);
}

/* Runs as much of the replay and of the time after it as the time limit allows. */
static int run_twin(struct work *w, struct cost *c)
{
	const double left_s = LIMIT_S - c->infer_s;
	const struct ibcc_twin_in in = { .t = w->t,
					 .traffic = &w->traffic,
					 .n_roots = w->slow,
					 .root = w->root,
					 .now = &w->settings,
					 .most_hops = IBCC_PREDICTION_HOPS,
					 .wait = w->now.wait,
					 .cpu_ns = cpu_ns,
					 .arg = w,
					 .until_ns = cpu_ns(w) + (uint64_t)(left_s * 1e9) };
	struct ibcc_twin_state now = { 0 }, then = { 0 };
	struct ibcc_twin *twin;
	int rc;

	twin = ibcc_twin_new(&in, &rc);
	if (twin)
		rc = ibcc_twin_replay(twin, &now);
	if (!rc)
		rc = ibcc_twin_try(twin, &w->settings, &then);
	c->hops = then.hops;
	ibcc_twin_state_fini(&now);
	ibcc_twin_state_fini(&then);
	ibcc_twin_free(twin);
	c->simulated_ms = w->slices - 2; /* the callback is asked twice before the first slice */
	return rc == -ECANCELED ? 0 : rc;
}

static int measure_on(struct work *w, struct cost *c)
{
	struct ibcc_traffic_in in = {
		.t = w->t, .before = &w->before, .now = &w->now, .n_roots = w->slow, .root = w->root
	};
	struct rusage u;
	double from;
	int rc = make_loads(w, c->every);

	if (rc)
		return rc;
	from = ibcc_now_cpu_s();
	rc = ibcc_traffic_infer(&in, &w->traffic);
	c->infer_s = ibcc_now_cpu_s() - from;
	from = ibcc_now_cpu_s();
	if (!rc)
		rc = run_twin(w, c);
	c->run_s = ibcc_now_cpu_s() - from;
	c->hosts = w->n;
	c->waiting = w->waiting;
	c->pairs = w->traffic.n_pairs;
	getrusage(RUSAGE_SELF, &u);
	c->memory_mb = (double)u.ru_maxrss / 1024;
	return rc;
}

static int measure(struct cost *c, struct ibcc_yaml_errors *e)
{
	struct work w = { .slow = c->slow };
	struct ibcc_scenario s;
	char folder[PATH_MAX], path[2 * PATH_MAX];
	int rc = ibcc_bench_folder(folder, sizeof(folder));

	if (rc)
		return rc;
	snprintf(path, sizeof(path), "%s/scenarios/%s.yaml", folder, c->scenario);
	rc = ibcc_scenario_load(path, &s, e);
	if (rc)
		return rc;
	w.t = s.topo;
	rc = measure_on(&w, c);
	ibcc_traffic_fini(&w.traffic);
	ibcc_loads_fini(&w.before);
	ibcc_loads_fini(&w.now);
	ibcc_settings_fini(&w.settings);
	free(w.host);
	ibcc_scenario_fini(&s);
	return rc;
}

static bool holds(const struct cost *c)
{
	return c->infer_s + c->run_s <= c->target_s && c->memory_mb <= c->target_mb;
}

static int print_table(const struct cost *c, unsigned int n)
{
	static const struct ibcc_table_column columns[] = {
		{ "HOSTS", true },           { "WAIT", true },         { "PAIRS", true },
		{ "INFERENCE CPU s", true }, { "THEN s", true },       { "MAY TAKE s", true },
		{ "SIMULATED ms", true },    { "MILLION HOPS", true }, { "PROCESS MB", true },
	};
	enum { N = sizeof(columns) / sizeof(*columns) };
	struct libscols_table *t = ibcc_table_new(columns, N, stdout);
	int rc = t ? 0 : -ENOMEM;

	for (unsigned int i = 0; i < n && !rc; i++) {
		const double v[N] = { c[i].hosts,        c[i].waiting,
				      c[i].pairs,        c[i].infer_s,
				      c[i].run_s,        c[i].target_s,
				      c[i].simulated_ms, (double)c[i].hops * 1e-6,
				      c[i].memory_mb };
		char buf[N][IBCC_CELL_BYTES];
		const char *cell[N];

		for (int k = 0; k < N; k++)
			cell[k] = ibcc_table_number(v[k], buf[k], IBCC_CELL_BYTES);
		for (int k = 0; k < 3; k++)
			snprintf(buf[k], sizeof(buf[k]), "%.0f", v[k]);
		rc = ibcc_table_add(t, cell);
	}
	return ibcc_table_end(t, rc);
}

static int print_json(const struct cost *c, unsigned int n, bool ok)
{
	json_t *rows = json_array();

	for (unsigned int i = 0; i < n; i++)
		json_array_append_new(
			rows, json_pack("{si si si sf sf sf sf sI sf sb}", "hosts", (int)c[i].hosts,
					"waiting", (int)c[i].waiting, "pairs", (int)c[i].pairs,
					"inference_cpu_s", c[i].infer_s, "cpu_s", c[i].run_s,
					"target_s", c[i].target_s, "simulated_ms",
					c[i].simulated_ms, "hops", (json_int_t)c[i].hops,
					"process_mb", c[i].memory_mb, "ok", (int)holds(&c[i])));
	return ibcc_report_json(json_pack("{si ss so sb}", "schema", 1, "experiment", "prediction",
					  "rows", rows, "ok", (int)ok),
				false, stdout);
}

struct options {
	bool json;
};

static const struct ibcc_option options[] = { IBCC_OPTION_JSON(struct options) };

static int run(const struct ibcc_command *c, int argc, char **argv)
{
	struct cost cost[] = {
		{ "large", .target_s = 2, .target_mb = 64, .slow = 1, .every = 13 },
		{ "large", .target_s = 2, .target_mb = 64, .slow = 6, .every = 2 },
		{ "speed-cycle", .target_s = 6, .target_mb = 64, .slow = 1, .every = 72 },
		{ "speed-cycle", .target_s = 6, .target_mb = 128, .slow = 24, .every = 3 },
	};
	enum { N = sizeof(cost) / sizeof(*cost) };
	struct ibcc_yaml_errors e = { 0 };
	struct options o = { .json = false };
	bool ok = true;
	int first, rc = 0;

	if (ibcc_command_read(c, argc, argv, &o, &first))
		return IBCC_EXIT_ERROR;
	for (unsigned int i = 0; i < N && !rc; i++) {
		rc = measure(&cost[i], &e);
		ok = ok && holds(&cost[i]);
	}
	if (rc)
		return ibcc_bench_fail("prediction", rc, &e);
	rc = o.json ? print_json(cost, N, ok) : print_table(cost, N);
	return rc || !ok ? IBCC_EXIT_ERROR : IBCC_EXIT_OK;
}

const struct ibcc_command ibcc_lab_prediction = {
	.name = "prediction",
	.what = "measure CPU time and memory of a prediction for large fabrics",
	.option = options,
	.n_options = sizeof(options) / sizeof(*options),
	.run = run,
};
