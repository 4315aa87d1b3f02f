/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How the cost of the daemon's work grows with the fabric: a table with a line for each part of the
 * work and a column for each size. GROWTH is the factor by which the cost of a host grows from the
 * first three-level tree to the last one: 1 is linear.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/log.h>
#include <ibcc/table.h>

#include "perftest/bench/bench.h"
#include "perftest/bench/report.h"
#include "perftest/lab/lab.h"
#include "perftest/lab/sizes.h"

#define MOST_SIZES  8u
#define MOST_PORTS  48u
#define MOST_LEVELS 3u
#define LEAST_HOSTS 6u /* with fewer a host would send to itself */

/* What a step may take, in ms of CPU time. */
static const struct limit {
	uint32_t hosts;
	enum ibcc_size_step step;
	double ms;
} limits[] = {
	{ 648, IBCC_SIZE_PREDICTION, 2000 },
	{ 3456, IBCC_SIZE_DECIDE, 50 },
	{ 3456, IBCC_SIZE_METRICS, 100 },
	{ 3456, IBCC_SIZE_PREDICTION, 6000 },
};

struct options {
	uint64_t repeat;
	bool json;
};

struct sizes {
	uint32_t n;
	struct ibcc_size_tree tree[MOST_SIZES];
	struct ibcc_size size[MOST_SIZES];
};

static bool holds(const struct sizes *s)
{
	bool ok = true;

	for (uint32_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < sizeof(limits) / sizeof(*limits); k++)
			ok = ok && (s->size[i].hosts != limits[k].hosts ||
				    s->size[i].step[limits[k].step].cpu_ms <= limits[k].ms);
	return ok;
}

static json_t *step_json(const struct ibcc_size_cost *c)
{
	return json_pack("{sf sI sI}", "cpu_ms", c->cpu_ms, "mads", (json_int_t)c->mads, "bytes",
			 (json_int_t)c->bytes);
}

static int print_json(const struct sizes *s)
{
	json_t *rows = json_array();

	for (uint32_t i = 0; i < s->n; i++) {
		const struct ibcc_size *z = &s->size[i];
		json_t *steps = json_object();

		for (int k = 0; k < IBCC_SIZE_STEPS; k++)
			json_object_set_new(steps, ibcc_size_step_name((enum ibcc_size_step)k),
					    step_json(&z->step[k]));
		json_array_append_new(
			rows,
			json_pack("{si si si si si sI si si sb ss sf sf so}", "ports",
				  (int)s->tree[i].ports, "levels", (int)s->tree[i].levels, "hosts",
				  (int)z->hosts, "switches", (int)z->switches, "links",
				  (int)z->links, "routes", (json_int_t)z->routes, "roots",
				  (int)z->roots, "changes", (int)z->changes, "predicted",
				  (int)z->predicted, "why", z->why_not, "daemon_mib", z->daemon_mib,
				  "process_mib", z->process_mib, "steps", steps));
	}
	return ibcc_report_json(
		json_pack("{si so sb}", "schema", 1, "sizes", rows, "ok", (int)holds(s)), false,
		stdout);
}

/* The sizes between which growth is measured: trees of as many levels as the last one. */
static double growth(const struct sizes *s, const double *v)
{
	uint32_t last = s->n - 1, first = 0;

	while (s->tree[first].levels != s->tree[last].levels)
		first++;
	if (first == last || !(v[first] > 0))
		return NAN;
	return v[last] / v[first] * s->size[first].hosts / s->size[last].hosts;
}

static int add_row(struct libscols_table *t, const struct sizes *s, const char *what,
		   const double *v, bool grows)
{
	char buf[MOST_SIZES + 1][IBCC_CELL_BYTES];
	const char *cell[MOST_SIZES + 2] = { what };

	for (uint32_t i = 0; i < s->n; i++)
		cell[i + 1] = ibcc_table_number(v[i], buf[i], IBCC_CELL_BYTES);
	cell[s->n + 1] = grows ? ibcc_table_number(growth(s, v), buf[s->n], IBCC_CELL_BYTES) : "";
	return ibcc_table_add(t, cell);
}

#define ROW(text, member, grows)                                                                   \
	do {                                                                                       \
		for (uint32_t i = 0; i < s->n; i++)                                                \
			v[i] = (double)s->size[i].member;                                          \
		if (!rc)                                                                           \
			rc = add_row(t, s, text, v, grows);                                        \
	} while (0)

static int add_steps(struct libscols_table *t, const struct sizes *s)
{
	double v[MOST_SIZES];
	char text[64];
	int rc = 0;

	for (int k = 0; k < IBCC_SIZE_STEPS; k++) {
		snprintf(text, sizeof(text), "%s, CPU ms",
			 ibcc_size_step_name((enum ibcc_size_step)k));
		ROW(text, step[k].cpu_ms, true);
	}
	for (int k = 0; k < IBCC_SIZE_STEPS; k++) {
		if (!s->size[0].step[k].mads)
			continue;
		snprintf(text, sizeof(text), "%s, MADs",
			 ibcc_size_step_name((enum ibcc_size_step)k));
		ROW(text, step[k].mads, true);
	}
	for (int k = 0; k < IBCC_SIZE_STEPS; k++) {
		if (!s->size[0].step[k].bytes)
			continue;
		snprintf(text, sizeof(text), "%s, kB", ibcc_size_step_name((enum ibcc_size_step)k));
		ROW(text, step[k].bytes / 1e3, true);
	}
	return rc;
}

static int print_table(const struct sizes *s)
{
	struct ibcc_table_column columns[MOST_SIZES + 2] = { { "", false } };
	char head[MOST_SIZES][32];
	struct libscols_table *t;
	double v[MOST_SIZES];
	int rc = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		snprintf(head[i], sizeof(head[i]), "%u HOSTS", s->size[i].hosts);
		columns[i + 1] = (struct ibcc_table_column){ head[i], true };
	}
	columns[s->n + 1] = (struct ibcc_table_column){ "GROWTH", true };
	t = ibcc_table_new(columns, s->n + 2, stdout);
	if (!t)
		return -ENOMEM;
	ROW("switches", switches, true);
	ROW("links", links, true);
	ROW("routes, thousands", routes / 1e3, true);
	ROW("roots", roots, true);
	ROW("changes of the plan", changes, true);
	ROW("memory of the daemon, MiB", daemon_mib, true);
	ROW("memory of the process, MiB", process_mib, true);
	if (!rc)
		rc = add_steps(t, s);
	return ibcc_table_end(t, rc);
}

static int read_size(const char *command, const char *text, struct ibcc_size_tree *t)
{
	char end;

	/* A longer number is refused, since sscanf() does not say when one overflows. */
	if (sscanf(text, "%3ux%3u%c", &t->ports, &t->levels, &end) == 2 && t->ports >= 4 &&
	    t->ports <= MOST_PORTS && t->ports % 2 == 0 && t->levels >= 1 &&
	    t->levels <= MOST_LEVELS && (t->ports >= LEAST_HOSTS || t->levels > 1))
		return 0;
	return ibcc_command_say("%s: got \"%s\", want PORTSxLEVELS such as 36x2: an even number of "
				"ports of each switch, from 4 to %u, and from 1 to %u levels, with "
				"at least %u hosts",
				command, text, MOST_PORTS, MOST_LEVELS, LEAST_HOSTS);
}

/* -EINVAL after a message. */
static int read_sizes(const char *command, int n, char **arg, struct sizes *s)
{
	static const struct ibcc_size_tree all[] = { { 36, 2 }, { 24, 3 }, { 36, 3 }, { 48, 3 } };

	if (n > (int)MOST_SIZES)
		return ibcc_command_say("%s: got %d trees, want at most %u", command, n,
					MOST_SIZES);
	s->n = n ? (uint32_t)n : sizeof(all) / sizeof(*all);
	for (uint32_t i = 0; i < s->n; i++) {
		if (!n)
			s->tree[i] = all[i];
		else if (read_size(command, arg[i], &s->tree[i]))
			return -EINVAL;
	}
	return 0;
}

static const struct ibcc_option options[] = {
	IBCC_OPTION_JSON(struct options),
	{ "repeat", 0, IBCC_OPTION_NUMBER, "N",
	  "number of measurements, of which the median counts",
	  .at = offsetof(struct options, repeat), 1, IBCC_SIZE_REPEAT_MAX },
};

static int run(const struct ibcc_command *c, int argc, char **argv)
{
	struct options o = { .repeat = 3 };
	struct ibcc_yaml_errors e = { 0 };
	struct sizes *s;
	int first, rc;
	bool ok;

	if (ibcc_command_read(c, argc, argv, &o, &first))
		return IBCC_EXIT_ERROR;
	s = calloc(1, sizeof(*s));
	rc = s ? 0 : -ENOMEM;
	if (s && read_sizes(c->name, argc - first, argv + first, s)) {
		free(s);
		return IBCC_EXIT_ERROR;
	}
	ibcc_log_set_level(-1);
	for (uint32_t i = 0; !rc && i < s->n; i++)
		rc = ibcc_size_measure(&s->tree[i], (uint32_t)o.repeat, &s->size[i], &e);
	if (!rc)
		rc = o.json ? print_json(s) : print_table(s);
	ok = !rc && holds(s);
	free(s);
	if (rc)
		return ibcc_bench_fail("sizes", rc, &e);
	return ok ? IBCC_EXIT_OK : IBCC_EXIT_ERROR;
}

const struct ibcc_command ibcc_lab_sizes = {
	.name = "sizes",
	.arguments = "[PORTSxLEVELS...]",
	.what = "measure how the cost of the daemon's work grows with the fabric",
	.most = -1,
	.option = options,
	.n_options = sizeof(options) / sizeof(*options),
	.run = run,
};
