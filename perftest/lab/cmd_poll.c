/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How fast all ports of a fabric are polled. Compares the collector with the same requests in a
 * bare loop over libibumad, and with ibqueryerrors. Runs on real hardware, or in `ibcc-sim exec`.
 *
 * They take turns, so that other load on the machine disturbs all of them; ratios are of medians
 * over rounds. A pass over a small fabric takes less than a time slice of the scheduler, so a round
 * has many passes.
 */
#include <errno.h>
#include <infiniband/mad.h>
#include <infiniband/umad.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <ibcc/ccmad.h>
#include <ibcc/collect.h>
#include <ibcc/config.h>
#include <ibcc/now.h>
#include <ibcc/table.h>

#include "perftest/bench/bench.h"
#include "perftest/bench/report.h"
#include "perftest/lab/lab.h"
#include "perftest/lab/poll.h"
#include "perftest/lab/speed.h"

#define WARM_UP     3   /* passes until what ports can count is known */
#define ROUND_S     0.2 /* at least, of the collector in a round */
#define CRASHES_MAX 20u /* crashes of ibqueryerrors before it is given up */

enum poller { POLL_COLLECTOR, POLL_BARE, POLL_QUERYERRORS, N_POLLERS };

static const char *const names[N_POLLERS] = {
	[POLL_COLLECTOR] = "collector",
	[POLL_BARE] = "libibumad loop",
	[POLL_QUERYERRORS] = "ibqueryerrors --counters",
};

struct poll {
	uint64_t repeat;
	bool json, alone;
	struct ibcc_topo *topo;
	struct ibcc_collector *collector;
	struct ibcc_snapshot snapshot;
	struct ibcc_poll_record record;
	struct ibcc_poll_once discovery, limited, rest;
	double s[N_POLLERS][IBCC_SPEED_REPEAT_MAX];
	double cpu[IBCC_SPEED_REPEAT_MAX]; /* seconds that the collector used */
	unsigned int crashes; /* of ibqueryerrors, which sometimes crashes below umad2sim */
};

static struct ibcc_transport *transport_with(const struct ibcc_umad_options *o, int *err)
{
	char why[256];
	struct ibcc_transport *t = ibcc_umad_open(o, err, why, sizeof(why));

	if (!t)
		ibcc_command_say("%s", why);
	return t;
}

/* A transport without limits, as fast as possible. */
static struct ibcc_transport *transport(int *err)
{
	const struct ibcc_umad_options o = { .window = IBCC_SPEED_WINDOW,
					     .timeout_ms = IBCC_SPEED_TIMEOUT_MS };

	return transport_with(&o, err);
}

/* A transport with the limits that the daemon keeps by default. */
static struct ibcc_transport *limited_transport(int *err)
{
	struct ibcc_config c;
	struct ibcc_umad_options o = { .timeout_ms = IBCC_SPEED_TIMEOUT_MS };

	ibcc_config_defaults(&c, NULL);
	o.window = c.window;
	o.node_window = c.node_window;
	o.node_gap_us = c.node_gap_us;
	return transport_with(&o, err);
}

static int pass(struct poll *p, struct ibcc_transport *tr)
{
	return ibcc_collector_pass(p->collector, tr, p->topo, &p->snapshot, 0, NULL);
}

/* A pass that reads each port by itself, even if nothing moves. */
static int detailed_pass(struct poll *p, struct ibcc_transport *tr)
{
	ibcc_collector_ask_again(p->collector);
	return pass(p, tr);
}

/* A pass as the daemon makes it, and one while nothing moves. */
static int with_limits(struct poll *p)
{
	struct ibcc_transport *tr;
	int err = 0;

	tr = limited_transport(&err);
	if (!tr)
		return err;
	ibcc_poll_once_begin(&p->limited, tr);
	err = detailed_pass(p, tr);
	ibcc_poll_once_end(&p->limited, tr);
	for (int i = 0; i < WARM_UP && !err; i++)
		err = pass(p, tr);
	ibcc_poll_once_begin(&p->rest, tr);
	if (!err)
		err = pass(p, tr);
	ibcc_poll_once_end(&p->rest, tr);
	ibcc_transport_free(tr);
	return err;
}

/* Finds the fabric and what its ports count; keeps the requests of a pass for the bare loop. */
static int prepare(struct poll *p)
{
	struct ibcc_transport *tr;
	char why[256];
	int err = 0;

	tr = transport(&err);
	if (!tr)
		return err;
	ibcc_poll_once_begin(&p->discovery, tr);
	p->topo = ibcc_discover_walk(tr, &err, why, sizeof(why));
	ibcc_poll_once_end(&p->discovery, tr);
	if (!p->topo || *why)
		ibcc_command_say("%s", why);
	if (!p->topo)
		goto out;
	p->collector = ibcc_collector_new();
	err = p->collector ? ibcc_snapshot_init(&p->snapshot, p->topo) : -ENOMEM;
	for (int i = 0; i < WARM_UP && !err; i++)
		err = pass(p, tr);
	ibcc_poll_record_init(&p->record, tr);
	if (!err)
		err = detailed_pass(p, &p->record.base);
out:
	ibcc_transport_free(tr);
	return err ? err : with_limits(p);
}

/* One pass of the collector and one of the bare loop, each on its own port. */
static int one_each(struct poll *p, double s[N_POLLERS], double *cpu_s)
{
	double start, cpu = ibcc_now_cpu_s(), bare = 0;
	struct ibcc_transport *tr;
	int err = 0;

	tr = transport(&err);
	if (!tr)
		return err;
	start = ibcc_now_s();
	err = detailed_pass(p, tr);
	s[POLL_COLLECTOR] += ibcc_now_s() - start;
	*cpu_s += ibcc_now_cpu_s() - cpu;
	ibcc_transport_free(tr);
	if (!err)
		err = ibcc_poll_bare(p->record.op, p->record.n, IBCC_SPEED_WINDOW, &bare);
	s[POLL_BARE] += bare;
	return err;
}

static int measure(struct poll *p, unsigned int i)
{
	static const char *const queryerrors[] = { "ibqueryerrors", "--counters", NULL };
	double s[N_POLLERS] = { 0 }, cpu = 0;
	unsigned int n = 0;
	int err = 0;

	while (!err && s[POLL_COLLECTOR] < ROUND_S) {
		err = one_each(p, s, &cpu);
		n++;
	}
	p->s[POLL_COLLECTOR][i] = s[POLL_COLLECTOR] / n;
	p->s[POLL_BARE][i] = s[POLL_BARE] / n;
	p->cpu[i] = cpu / n;
	if (err || p->alone)
		return err;
	while ((err = ibcc_poll_command(queryerrors, &p->s[POLL_QUERYERRORS][i])) == -EFAULT &&
	       ++p->crashes < CRASHES_MAX)
		;
	return err;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, unsigned int n)
{
	qsort(v, n, sizeof(*v), by_value);
	return v[n / 2];
}

/* The number a minute, if the daemon makes one pass in each interval. */
static double a_minute(uint64_t in_a_pass)
{
	struct ibcc_config c;

	ibcc_config_defaults(&c, NULL);
	return (double)in_a_pass * 60000.0 / c.interval_ms;
}

static json_t *once_json(const struct ibcc_poll_once *o)
{
	return json_pack("{sf sI sI}", "seconds", o->seconds, "mads", (json_int_t)o->mads, "smps",
			 (json_int_t)o->smps);
}

static void print_once(const struct poll *p)
{
	printf("discovery: %.3f s, SMPs: %" PRIu64
	       "; a polling cycle with the default limits: %.3f s, MADs: %" PRIu64
	       "\nat rest: %.0f MADs and %.0f SMPs a minute\n",
	       p->discovery.seconds, p->discovery.smps, p->limited.seconds, p->limited.mads,
	       a_minute(p->rest.mads), a_minute(p->rest.smps));
}

static int tell(struct poll *p)
{
	static const struct ibcc_table_column columns[] = {
		{ "POLLER", false }, { "SECONDS", true },       { "MADS", true },
		{ "MAD/s", true },   { "TIMES AS LONG", true },
	};
	json_t *o = json_pack(
		"{si si si si si si}", "schema", 1, "nodes", (int)p->topo->n_nodes, "ports",
		(int)(p->snapshot.n_fresh + p->snapshot.n_stale + p->snapshot.n_unreachable),
		"fresh", (int)p->snapshot.n_fresh, "mads", (int)p->record.n, "window",
		(int)IBCC_SPEED_WINDOW);
	struct libscols_table *t = p->json ? NULL : ibcc_table_new(columns, 5, stdout);
	json_t *all = json_array();
	double own = median(p->s[POLL_COLLECTOR], p->repeat);
	struct rusage ru = { 0 };
	int rc = 0;

	getrusage(RUSAGE_SELF, &ru);
	for (int k = 0; k < N_POLLERS && !rc; k++) {
		double s = median(p->s[k], p->repeat);
		char sec[32], mads[32], rate[32], ratio[32];
		const char *cell[] = { names[k], sec, mads, rate, ratio };

		if (k == POLL_QUERYERRORS && p->alone)
			continue;
		snprintf(sec, sizeof(sec), "%.4f", s);
		snprintf(mads, sizeof(mads), "%u", p->record.n);
		snprintf(rate, sizeof(rate), "%.0f", (double)p->record.n / s);
		snprintf(ratio, sizeof(ratio), "%.2f", s / own);
		if (k == POLL_QUERYERRORS)
			cell[2] = cell[3] = NULL; /* ibqueryerrors sends other requests */
		if (t)
			rc = ibcc_table_add(t, cell);
		json_array_append_new(all, json_pack("{ss sf sf}", "poller", names[k], "seconds", s,
						     "times_collector", s / own));
	}
	json_object_set_new(o, "pollers", all);
	json_object_set_new(o, "discovery", once_json(&p->discovery));
	json_object_set_new(o, "limited", once_json(&p->limited));
	json_object_set_new(o, "rest", once_json(&p->rest));
	json_object_set_new(o, "rest_mads_a_minute", json_real(a_minute(p->rest.mads)));
	json_object_set_new(o, "rest_smps_a_minute", json_real(a_minute(p->rest.smps)));
	json_object_set_new(o, "cpu_s", json_real(median(p->cpu, p->repeat)));
	json_object_set_new(o, "max_rss_kib", json_integer(ru.ru_maxrss));
	json_object_set_new(o, "ibqueryerrors_crashes", json_integer(p->crashes));
	if (p->json)
		return ibcc_report_json(o, false, stdout);
	if (!rc) {
		printf("ports: %u, of which %u were read in time; window %u; a polling cycle takes "
		       "%.4f s of CPU time; %ld KiB resident\n",
		       p->snapshot.n_fresh + p->snapshot.n_stale + p->snapshot.n_unreachable,
		       p->snapshot.n_fresh, IBCC_SPEED_WINDOW, median(p->cpu, p->repeat),
		       ru.ru_maxrss);
		rc = ibcc_table_print(t);
		print_once(p);
		printf("%.0f %% of the rate of the bare loop",
		       median(p->s[POLL_BARE], p->repeat) / own * 100);
		if (!p->alone)
			printf(", %.1f times as fast as ibqueryerrors",
			       median(p->s[POLL_QUERYERRORS], p->repeat) / own);
		printf("\n");
		if (p->crashes)
			printf("Runs of ibqueryerrors that crashed and are not counted: %u.\n",
			       p->crashes);
	}
	json_decref(o);
	return rc;
}

static const struct ibcc_option options[] = {
	IBCC_OPTION_JSON(struct poll),
	{ "repeat", 0, IBCC_OPTION_NUMBER, "N", "number of runs, of which the median counts",
	  .at = offsetof(struct poll, repeat), 1, IBCC_SPEED_REPEAT_MAX },
	{ "alone", 0, IBCC_OPTION_FLAG, NULL, "leave ibqueryerrors out",
	  .at = offsetof(struct poll, alone) },
};

static int run(const struct ibcc_command *c, int argc, char **argv)
{
	struct ibcc_yaml_errors none = { 0 };
	struct poll p = { .repeat = 5 };
	int first, rc;

	if (ibcc_command_read(c, argc, argv, &p, &first))
		return IBCC_EXIT_ERROR;
	rc = prepare(&p);
	for (unsigned int i = 0; i < p.repeat && !rc; i++)
		rc = measure(&p, i);
	if (!rc)
		rc = tell(&p);
	ibcc_poll_record_fini(&p.record);
	ibcc_collector_free(p.collector);
	ibcc_snapshot_fini(&p.snapshot);
	ibcc_topo_free(p.topo);
	return rc ? ibcc_bench_fail("poll", rc, &none) : IBCC_EXIT_OK;
}

const struct ibcc_command ibcc_lab_poll = {
	.name = "poll",
	.what = "compare the polling of all ports with ibqueryerrors",
	.option = options,
	.n_options = sizeof(options) / sizeof(*options),
	.run = run,
};
