/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How fast the engine is: packet hops per second of CPU time, one thread, and how long it takes to
 * set up. The latter has to grow like the number of hosts, not like its square. Other load on the
 * machine makes single runs slower, never faster, and changes CPU seconds less than seconds. The
 * program prints the median of a few runs.
 */
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include <ibcc/now.h>
#include <ibcc/scenario_file.h>
#include <ibcc/table.h>

#include "perftest/bench/bench.h"
#include "perftest/bench/report.h"
#include "perftest/lab/lab.h"
#include "perftest/lab/speed.h"

/* Congestion control is on in all of these scenarios, as their files have it. */
#define MAX_SET 3u
static const struct load {
	const char *name, *scenario;
	const char *set[MAX_SET];
} loads[] = {
	{ "uniform-128", "speed-uniform.yaml", { NULL } },
	{ "permutation-128", "speed-permutation.yaml", { NULL } },
	{ "incast-128", "speed-incast.yaml", { NULL } },
	{ "uniform-3456",
	  "speed-uniform.yaml",
	  { "topology.tree.ports=24", "duration_ms=0.3", "measure_from_ms=0.1" } },
	/* The largest scenario comes last, since peaks are those of the whole process. */
	{ "uniform-11664",
	  "speed-uniform.yaml",
	  { "topology.tree.ports=36", "duration_ms=0.1", "measure_from_ms=0.05" } },
};
#define N_LOADS (sizeof(loads) / sizeof(*loads))

struct speed {
	double hops_per_s, events_per_hop, setup_s;
	uint64_t packet_hops, bytes, peak_bytes;
	uint32_t hosts, ports;
};

static int run_once(const struct ibcc_scenario *s, struct speed *out)
{
	struct ibcc_engine_totals t;
	size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
	struct ibcc_engine *e;
	double start;
	int rc = 0;

	start = ibcc_now_cpu_s();
	e = ibcc_engine_new(s->topo, &s->model, s->seed, &rc);
	if (!e)
		return rc;
	rc = ibcc_engine_load(e, s, NULL);
	out->setup_s = ibcc_now_cpu_s() - start;
	if (!rc)
		rc = ibcc_engine_run(e, s->measure_from_ps);
	if (!rc) {
		ibcc_engine_totals(e, &t);
		out->packet_hops = t.packet_hops;
		start = ibcc_now_cpu_s();
		rc = ibcc_engine_run(e, s->duration_ps);
		start = ibcc_now_cpu_s() - start;
		ibcc_engine_totals(e, &t);
		out->packet_hops = t.packet_hops - out->packet_hops;
		out->hops_per_s = (double)out->packet_hops / start;
		out->events_per_hop = (double)t.events / (double)t.packet_hops;
		out->bytes = mallinfo2().uordblks + mallinfo2().hblkhd - before;
	}
	ibcc_engine_free(e);
	return rc;
}

/* The most that the process has had in memory, scenario and all. */
static uint64_t peak_bytes(void)
{
	struct rusage u;

	return getrusage(RUSAGE_SELF, &u) ? 0 : (uint64_t)u.ru_maxrss * 1024;
}

static int by_speed(const void *a, const void *b)
{
	const struct speed *x = a, *y = b;

	return (x->hops_per_s > y->hops_per_s) - (x->hops_per_s < y->hops_per_s);
}

static int run_load(const struct load *l, const char *folder, unsigned int repeat,
		    struct speed *out, struct ibcc_yaml_errors *e)
{
	struct speed v[IBCC_SPEED_REPEAT_MAX] = { { .hosts = 0 } };
	struct ibcc_scenario s;
	char path[2 * PATH_MAX];
	size_t n_set = 0;
	int rc;

	snprintf(path, sizeof(path), "%s/scenarios/%s", folder, l->scenario);
	while (n_set < MAX_SET && l->set[n_set])
		n_set++;
	rc = ibcc_scenario_load_set(path, l->set, n_set, &s, e);
	if (rc)
		return rc;
	for (unsigned int i = 0; i < repeat && !rc; i++)
		rc = run_once(&s, &v[i]);
	if (!rc) {
		qsort(v, repeat, sizeof(*v), by_speed);
		*out = v[repeat / 2];
		out->peak_bytes = peak_bytes();
		for (uint32_t i = 0; i < s.topo->n_nodes; i++)
			out->hosts += !ibcc_topo_is_switch(s.topo, i);
		for (uint32_t i = 0; i < s.topo->n_ports; i++)
			out->ports += s.topo->port[i].peer != IBCC_NONE;
	}
	ibcc_scenario_fini(&s);
	return rc;
}

static int tell(const struct load *l, const struct speed *v, json_t *all, struct libscols_table *t)
{
	char hops[32], million[32], events[32], host[32], port[32], peak[32], setup[32];
	const char *cell[] = { l->name, million, hops, events, host, port, peak, setup };

	if (!t)
		return json_array_append_new(
			all,
			json_pack("{ss sf sI sf si si sI sI sf}", "name", l->name, "hops_per_cpu_s",
				  v->hops_per_s, "packet_hops", (json_int_t)v->packet_hops,
				  "events_per_hop", v->events_per_hop, "hosts", (int)v->hosts,
				  "ports", (int)v->ports, "state_bytes", (json_int_t)v->bytes,
				  "peak_bytes", (json_int_t)v->peak_bytes, "setup_cpu_s",
				  v->setup_s));
	snprintf(million, sizeof(million), "%.2f", v->hops_per_s / 1e6);
	snprintf(hops, sizeof(hops), "%.1f", (double)v->packet_hops / 1e6);
	snprintf(events, sizeof(events), "%.2f", v->events_per_hop);
	snprintf(host, sizeof(host), "%.0f", (double)v->bytes / v->hosts);
	snprintf(port, sizeof(port), "%.0f", (double)v->bytes / v->ports);
	snprintf(peak, sizeof(peak), "%.0f", (double)v->peak_bytes / (1 << 20));
	snprintf(setup, sizeof(setup), "%.3f", v->setup_s);
	return ibcc_table_add(t, cell);
}

static bool wanted(const struct load *l, char **name, int n)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(name[i], l->name))
			return true;
	return !n;
}

static bool is_load(const char *name)
{
	for (size_t i = 0; i < N_LOADS; i++)
		if (!strcmp(name, loads[i].name))
			return true;
	fprintf(stderr, "%s: speed: no load \"%s\"; there are", program_invocation_short_name,
		name);
	for (size_t i = 0; i < N_LOADS; i++)
		fprintf(stderr, "%s %s", i ? "," : "", loads[i].name);
	fputc('\n', stderr);
	return false;
}

struct options {
	uint64_t repeat;
	bool json;
};

static const struct ibcc_option options[] = {
	IBCC_OPTION_JSON(struct options),
	{ "repeat", 0, IBCC_OPTION_NUMBER, "N", "number of runs, of which the median counts",
	  .at = offsetof(struct options, repeat), 1, IBCC_SPEED_REPEAT_MAX },
};

static int run(const struct ibcc_command *c, int argc, char **argv)
{
	static const struct ibcc_table_column columns[] = {
		{ "LOAD", false },      { "M HOPS/CPU-s", true }, { "M HOPS", true },
		{ "EVENTS/HOP", true }, { "BYTES/HOST", true },   { "BYTES/PORT", true },
		{ "PEAK MIB", true },   { "SET-UP CPU-s", true },
	};
	struct ibcc_yaml_errors e = { 0 };
	struct libscols_table *t;
	struct options o = { .repeat = 5 };
	char folder[PATH_MAX];
	json_t *all;
	int first, rc;

	if (ibcc_command_read(c, argc, argv, &o, &first))
		return IBCC_EXIT_ERROR;
	for (int i = first; i < argc; i++)
		if (!is_load(argv[i]))
			return IBCC_EXIT_ERROR;
	rc = ibcc_bench_folder(folder, sizeof(folder));
	all = json_array();
	t = o.json ? NULL : ibcc_table_new(columns, sizeof(columns) / sizeof(*columns), stdout);
	for (size_t i = 0; i < N_LOADS && !rc; i++) {
		struct speed v;

		if (!wanted(&loads[i], argv + first, argc - first))
			continue;
		rc = run_load(&loads[i], folder, (unsigned int)o.repeat, &v, &e);
		if (!rc)
			rc = tell(&loads[i], &v, all, t);
	}
	if (rc)
		scols_unref_table(t);
	else if (t)
		rc = ibcc_table_print(t);
	else
		rc = ibcc_report_json(json_pack("{si sI sO}", "schema", 1, "repeat",
						(json_int_t)o.repeat, "loads", all),
				      false, stdout);
	json_decref(all);
	return rc ? ibcc_bench_fail("speed", rc, &e) : IBCC_EXIT_OK;
}

const struct ibcc_command ibcc_lab_speed = {
	.name = "speed",
	.arguments = "[NAME...]",
	.what = "measure the packet engine: packet hops per CPU second",
	.most = -1,
	.option = options,
	.n_options = sizeof(options) / sizeof(*options),
	.run = run,
};
