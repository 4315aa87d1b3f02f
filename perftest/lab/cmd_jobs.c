/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a map of jobs costs the daemon: the CPU time of its polling cycles on a large simulated
 * fabric with a map and without.
 *
 * Two services of the daemon look at the same moments of one fabric, each with a state file. One of
 * them has a map of 2,000 jobs, and a new map every third polling cycle: those that the batch
 * system gives each 30 s to a daemon with the default interval. A pair are the cycles of one map,
 * with it and without. The order of the two changes from pair to pair.
 *
 * All that the daemon does in a cycle counts: reading the counters, deciding, the log, the status
 * and what it keeps for Prometheus. The agents of the packet engine answer within that time, where
 * on a fabric the kernel sends and receives. The daemon stores what jobs did between cycles, and
 * reads the map in a thread: both are measured, and do not count.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ibcc/log.h>
#include <ibcc/now.h>
#include <ibcc/table.h>

#include "perftest/bench/bench.h"
#include "perftest/bench/report.h"
#include "perftest/lab/fabric.h"
#include "perftest/lab/jobs_map.h"
#include "perftest/lab/lab.h"
#include "perftest/lab/speed.h"

#define CYCLES   3u /* of a map */
#define WARM     4u /* pairs that do not count: the congestion begins, the first rows are stored */
#define PERIOD_S 30
#define CYCLE_PS (1000 * IBCC_PS_PER_US)
#define WANT     1.05 /* times the CPU time without a map */
#define SERVERS  8u
#define COLUMNS  12

/* Hosts that send to each server; 0: all do, in turn, but for one of four, which is a victim. */
static const struct load {
	const char *name;
	uint32_t senders;
} loads[] = {
	{ "eight-servers", 32 },
	{ "all-jobs", 0 },
};
#define N_LOADS (sizeof(loads) / sizeof(*loads))

struct options {
	uint64_t repeat, jobs, ports;
	bool json;
};

/* One of the two daemons. */
struct side {
	struct ibcc_lab_daemon daemon;
	/* CPU time of this pair: of the cycles, between them, and of other threads */
	double ms, between_ms, beside_ms;
	uint32_t n_known; /* cycles of this pair that knew the jobs */
};

struct pair {
	double with_ms, without_ms, ratio; /* of a cycle; ratio: their quotient */
};

struct cost {
	uint32_t hosts, jobs, roots, n; /* jobs: those that take part in the congestion; n: pairs */
	double most_ms;                 /* of a cycle with a map */
	double between_ms, beside_ms;   /* for a map, means */
	double with_mib, without_mib;   /* memory of each daemon at the end */
	struct pair pair[IBCC_SPEED_REPEAT_MAX];
};

struct measurement {
	struct ibcc_lab_fabric fabric;
	struct ibcc_jobs_map map;
	struct side with, without;
	bool *takes_part;              /* by job */
	char file[IBCC_LAB_PATH_ROOM]; /* the map's */
};

/* The scenario of a load. Marks name the contributors, and the delays are too short to end the
 * congestion.
 */
struct plan {
	const struct load *load;
	uint32_t ports, n_hosts;
};

static uint32_t server(const struct plan *p, uint32_t k)
{
	return (2 * k + 1) * p->n_hosts / (2 * SERVERS);
}

/* Where all hosts take part. */
static bool is_victim(uint32_t host)
{
	return host % 4 == 3;
}

/* Whether a host sends to a server. */
static bool sends(const struct plan *p, uint32_t host, uint32_t k)
{
	uint32_t step = p->n_hosts / (SERVERS * (p->load->senders ? p->load->senders : p->n_hosts));

	if (host == server(p, k))
		return false;
	if (!p->load->senders)
		return !is_victim(host) && (host - host / 4) % SERVERS == k;
	step = step ? step : 1;
	return host % step == 0 && host / step % SERVERS == k;
}

static int write_scenario(void *arg, FILE *out)
{
	const struct plan *p = arg;

	fprintf(out,
		"name: jobs\nduration_ms: 1000\n"
		"topology: {rate: 4x QDR, mtu_bytes: 2048, tree: {ports: %u, levels: 3}}\n"
		"congestion_control:\n  switch: {threshold: 15, marking_rate: 3}\n"
		"  ca: {per: qp, ccti_timer: 10, ccti_increase: 1}\n"
		"  cct: {shape: linear, entries: 64, max_delay_packets: 1}\ntraffic:\n",
		p->ports);
	for (uint32_t k = 0; k < SERVERS; k++) {
		fprintf(out,
			"  - {name: hot%u, kind: hot, rate: 2 Gb/s, queue_packets: 200, to: h%u, "
			"from: [",
			k, server(p, k));
		for (uint32_t i = 0, n = 0; i < p->n_hosts; i++)
			if (sends(p, i, k))
				fprintf(out, "%sh%u", n++ ? ", " : "", i);
		fprintf(out, "]}\n");
	}
	for (uint32_t i = 0; i < p->n_hosts; i++)
		if (p->load->senders ? sends(p, i, 0) : is_victim(i))
			fprintf(out, "  - {from: h%u, to: h%u, kind: victim, rate: 900 Mb/s}\n", i,
				(i + p->n_hosts / 2) % p->n_hosts);
	return ferror(out) ? -EIO : 0;
}

static int open_all(struct measurement *m, const struct load *l, const struct options *o,
		    struct ibcc_yaml_errors *e)
{
	uint32_t ports = (uint32_t)o->ports;
	struct plan p = { l, ports, ports * ports * ports / 4 };
	int rc = ibcc_lab_fabric_open(&m->fabric, write_scenario, &p, e);
	const struct ibcc_topo *topo = m->fabric.sc.topo;

	if (!rc)
		rc = ibcc_lab_fabric_file(&m->fabric, "jobs.json", m->file, sizeof(m->file));
	if (!rc)
		rc = ibcc_jobs_map_init(&m->map, topo, (uint32_t)o->jobs);
	if (!rc)
		rc = ibcc_lab_daemon_open(&m->with.daemon, &m->fabric, ibcc_topo_clone(topo),
					  "with.db", m->file);
	if (!rc)
		rc = ibcc_lab_daemon_open(&m->without.daemon, &m->fabric, ibcc_topo_clone(topo),
					  "without.db", "");
	m->takes_part = calloc(o->jobs, sizeof(*m->takes_part));
	return rc || m->takes_part ? rc : -ENOMEM;
}

static void close_all(struct measurement *m, struct cost *cost)
{
	cost->with_mib = ibcc_lab_daemon_close(&m->with.daemon);
	cost->without_mib = ibcc_lab_daemon_close(&m->without.daemon);
	ibcc_jobs_map_fini(&m->map);
	ibcc_lab_fabric_close(&m->fabric);
	free(m->takes_part);
}

/* A polling cycle as the daemon's worker does it: with the log, which prints nothing here, the
 * status, and the figures for a Prometheus that asks after each.
 */
static int pass(struct side *side)
{
	struct ibcc_lab_daemon *d = &side->daemon;
	struct ibcc_why why = { "" };
	struct ibcc_metrics_service facts;
	struct ibcc_metrics *m;
	json_t *status;
	int rc = ibcc_service_pass(d->service, NULL, &why);
	const struct ibcc_cycle *c = ibcc_service_cycle(d->service);

	if (rc) {
		fprintf(stderr, "%s: jobs: %s\n", program_invocation_short_name, why.text);
		return rc;
	}
	ibcc_explain_pass(d->explain, d->service, 0, &why);
	ibcc_metrics_count(&d->totals, c, 0);
	ibcc_service_metrics(d->service, &facts);
	side->n_known += facts.jobs.known;
	m = ibcc_metrics_new(c, &facts, &d->totals);
	status = ibcc_service_status(d->service);
	rc = m && status ? 0 : -ENOMEM;
	ibcc_metrics_free(m);
	json_decref(status);
	return rc;
}

static double ms_since(clockid_t clock, uint64_t then_ns)
{
	return (double)(ibcc_now_of_ns(clock) - then_ns) / 1e6;
}

static int cycle(struct side *side, struct cost *cost)
{
	uint64_t all = ibcc_now_of_ns(CLOCK_PROCESS_CPUTIME_ID), from = ibcc_now_cpu_ns(), end;
	double ms;
	int rc = pass(side);

	end = ibcc_now_cpu_ns();
	while (!rc && ibcc_service_account_jobs(side->daemon.service))
		;
	ms = (double)(end - from) / 1e6;
	side->ms += ms;
	side->between_ms += ms_since(CLOCK_THREAD_CPUTIME_ID, end);
	side->beside_ms +=
		ms_since(CLOCK_PROCESS_CPUTIME_ID, all) - ms_since(CLOCK_THREAD_CPUTIME_ID, from);
	cost->most_ms = ms > cost->most_ms ? ms : cost->most_ms;
	return rc;
}

/* Counts the roots, and notes the jobs that take part in them. */
static void look(struct measurement *m, struct cost *cost)
{
	const struct ibcc_cycle *c = ibcc_service_cycle(m->without.daemon.service);
	const struct ibcc_estimate *e = &c->estimate;

	cost->roots = e->n_roots > cost->roots ? e->n_roots : cost->roots;
	for (uint32_t i = 0; i < e->n_roots; i++)
		for (uint32_t k = 0; k < e->root[i].n_sources; k++) {
			uint32_t job = m->map.job[c->topo->port[e->root[i].source[k].port].node];

			if (job != IBCC_NONE)
				m->takes_part[job] = true;
		}
}

/* Waits for the next second: a map says in seconds when it was made, and it counts for the cycles
 * that ended before.
 */
static int next_map(struct measurement *m)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_REALTIME, &now);
	now = (struct timespec){ .tv_sec = now.tv_sec + 1 };
	while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &now, NULL) == EINTR)
		;
	return ibcc_jobs_map_write(&m->map, m->file, (int64_t)now.tv_sec, PERIOD_S);
}

static void begin_pair(struct side *s)
{
	s->ms = s->between_ms = s->beside_ms = 0;
	s->n_known = 0;
}

static int run_pair(struct measurement *m, bool with_first, struct cost *cost, struct pair *out)
{
	struct cost other = { .n = 0 };
	int rc = next_map(m);

	begin_pair(&m->with);
	begin_pair(&m->without);
	for (uint32_t i = 0; i < CYCLES && !rc; i++) {
		rc = ibcc_engine_run(m->fabric.engine,
				     ibcc_engine_now_ps(m->fabric.engine) + CYCLE_PS);
		if (!rc && with_first)
			rc = cycle(&m->with, cost);
		if (!rc)
			rc = cycle(&m->without, &other);
		if (!rc && !with_first)
			rc = cycle(&m->with, cost);
		if (!rc)
			look(m, cost);
	}
	*out = (struct pair){ m->with.ms / CYCLES, m->without.ms / CYCLES,
			      m->with.ms / m->without.ms };
	return rc;
}

static int run_load(const struct load *l, const struct options *o, struct cost *cost,
		    struct ibcc_yaml_errors *e)
{
	struct measurement m = { .takes_part = NULL };
	int rc = open_all(&m, l, o, e);

	for (uint32_t i = 0; i < WARM && !rc; i++) {
		struct pair ignored;

		rc = run_pair(&m, i % 2, cost, &ignored);
	}
	*cost = (struct cost){ .hosts = m.map.n_hosts };
	if (!rc)
		memset(m.takes_part, 0, o->jobs * sizeof(*m.takes_part));
	while (!rc && cost->n < o->repeat) {
		rc = run_pair(&m, cost->n % 2, cost, &cost->pair[cost->n]);
		if (!rc && (m.with.n_known < CYCLES || m.without.n_known))
			rc = -ENODATA;
		cost->between_ms += m.with.between_ms / (double)o->repeat;
		cost->beside_ms += (m.with.beside_ms - m.without.beside_ms) / (double)o->repeat;
		cost->n++;
	}
	for (uint32_t i = 0; i < o->jobs && !rc; i++)
		cost->jobs += m.takes_part[i];
	close_all(&m, cost);
	return rc;
}

#define MEDIAN(member)                                                                             \
	static int by_##member(const void *a, const void *b)                                       \
	{                                                                                          \
		double x = ((const struct pair *)a)->member, y = ((const struct pair *)b)->member; \
		return (x > y) - (x < y);                                                          \
	}                                                                                          \
	static double median_of_##member(const struct cost *c)                                     \
	{                                                                                          \
		struct pair p[IBCC_SPEED_REPEAT_MAX];                                              \
		memcpy(p, c->pair, sizeof(p));                                                     \
		qsort(p, c->n, sizeof(*p), by_##member);                                           \
		return p[c->n / 2].member;                                                         \
	}
MEDIAN(with_ms)
MEDIAN(without_ms)
MEDIAN(ratio)

static json_t *json_of(const struct load *l, const struct cost *c)
{
	json_t *pairs = json_array();

	for (uint32_t i = 0; i < c->n; i++)
		json_array_append_new(pairs,
				      json_pack("{sf sf sf}", "with_cpu_ms", c->pair[i].with_ms,
						"without_cpu_ms", c->pair[i].without_ms, "ratio",
						c->pair[i].ratio));
	return json_pack("{ss si si si sf sf sf sf sf sf sf sf so}", "name", l->name, "hosts",
			 (int)c->hosts, "jobs", (int)c->jobs, "roots", (int)c->roots,
			 "without_cpu_ms", median_of_without_ms(c), "with_cpu_ms",
			 median_of_with_ms(c), "ratio", median_of_ratio(c), "most_cpu_ms",
			 c->most_ms, "between_cpu_ms", c->between_ms, "beside_cpu_ms", c->beside_ms,
			 "with_mib", c->with_mib, "without_mib", c->without_mib, "pairs", pairs);
}

static int add_row(struct libscols_table *t, const struct load *l, const struct cost *c)
{
	char buf[COLUMNS][IBCC_CELL_BYTES];
	const char *cell[COLUMNS] = { l->name };
	const double v[COLUMNS] = { 0,
				    c->hosts,
				    c->jobs,
				    c->roots,
				    median_of_without_ms(c),
				    median_of_with_ms(c),
				    median_of_ratio(c),
				    c->most_ms,
				    c->between_ms,
				    c->beside_ms,
				    c->without_mib,
				    c->with_mib };

	for (int i = 1; i < COLUMNS; i++) {
		if (i < 4)
			snprintf(buf[i], sizeof(buf[i]), "%.0f", v[i]);
		cell[i] = i < 4 ? buf[i] : ibcc_table_number(v[i], buf[i], sizeof(buf[i]));
	}
	return ibcc_table_add(t, cell);
}

static const struct ibcc_option options[] = {
	IBCC_OPTION_JSON(struct options),
	{ "jobs", 0, IBCC_OPTION_NUMBER, "N", "number of jobs that run at a time",
	  .at = offsetof(struct options, jobs), 1, 9000 },
	{ "ports", 0, IBCC_OPTION_NUMBER, "N", "number of ports of each switch",
	  .at = offsetof(struct options, ports), 8, 28 },
	{ "repeat", 0, IBCC_OPTION_NUMBER, "N", "number of pairs, of which the median counts",
	  .at = offsetof(struct options, repeat), 1, IBCC_SPEED_REPEAT_MAX },
};

static bool wanted(const struct load *l, char **name, int n)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(name[i], l->name))
			return true;
	return !n;
}

static bool is_load(const char *command, const char *name)
{
	for (size_t i = 0; i < N_LOADS; i++)
		if (!strcmp(name, loads[i].name))
			return true;
	ibcc_command_say("%s: no load \"%s\"; there are %s and %s", command, name, loads[0].name,
			 loads[1].name);
	return false;
}

static int run(const struct ibcc_command *c, int argc, char **argv)
{
	static const struct ibcc_table_column columns[COLUMNS] = {
		{ "LOAD", false },     { "HOSTS", true },        { "JOBS", true },
		{ "ROOTS", true },     { "WITHOUT ms", true },   { "WITH ms", true },
		{ "RATIO", true },     { "MOST WITH ms", true }, { "BETWEEN ms", true },
		{ "BESIDE ms", true }, { "WITHOUT MiB", true },  { "WITH MiB", true },
	};
	struct options o = { .repeat = 9, .jobs = 2000, .ports = 28 };
	struct ibcc_yaml_errors e = { 0 };
	struct libscols_table *t = NULL;
	json_t *all;
	bool ok = true;
	int first, rc = 0;

	if (ibcc_command_read(c, argc, argv, &o, &first))
		return IBCC_EXIT_ERROR;
	for (int i = first; i < argc; i++)
		if (!is_load(c->name, argv[i]))
			return IBCC_EXIT_ERROR;
	ibcc_log_set_level(-1);
	all = json_array();
	t = o.json ? NULL : ibcc_table_new(columns, COLUMNS, stdout);
	for (size_t i = 0; i < N_LOADS && !rc; i++) {
		struct cost cost = { .n = 0 };

		if (!wanted(&loads[i], argv + first, argc - first))
			continue;
		rc = run_load(&loads[i], &o, &cost, &e);
		if (rc)
			break;
		ok = ok && median_of_ratio(&cost) <= WANT;
		if (o.json)
			rc = json_array_append_new(all, json_of(&loads[i], &cost)) ? -ENOMEM : 0;
		else
			rc = add_row(t, &loads[i], &cost);
	}
	if (!o.json)
		rc = ibcc_table_end(t, rc);
	else if (!rc)
		rc = ibcc_report_json(json_pack("{si si sf sb sO}", "schema", 1, "jobs",
						(int)o.jobs, "target_ratio", WANT, "ok", (int)ok,
						"loads", all),
				      false, stdout);
	json_decref(all);
	if (rc)
		return ibcc_bench_fail("jobs", rc, &e);
	return ok ? IBCC_EXIT_OK : IBCC_EXIT_ERROR;
}

const struct ibcc_command ibcc_lab_jobs = {
	.name = "jobs",
	.arguments = "[NAME...]",
	.what = "measure what a map of jobs costs the daemon's polling cycle",
	.most = -1,
	.option = options,
	.n_options = sizeof(options) / sizeof(*options),
	.run = run,
};
