/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The best points of sweeps, from any number of files: shards, or parts of one. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "perftest/bench/bench.h"
#include "perftest/bench/report.h"
#include "perftest/bench/sweep_file.h"
#include "perftest/bench/table.h"

#define POINT_CHARS 400

/* The best so far, best first. Sweeps have more points than anybody wants to keep. */
struct best {
	const char *by;
	bool least; /* the least value is the best */
	uint64_t n_max, n, seen;
	json_t **result;
	struct ibcc_yaml_errors *e;
};

static double value_of(const struct best *b, const json_t *o)
{
	return json_number_value(json_object_get(json_object_get(o, "result"), b->by));
}

static bool is_same(const json_t *a, const json_t *b)
{
	return json_equal(json_object_get(a, "point"), json_object_get(b, "point")) &&
	       json_equal(json_object_get(a, "id"), json_object_get(b, "id"));
}

static int consider(void *arg, const char *file, unsigned int line, const json_t *o)
{
	struct best *b = arg;
	json_t *v = json_object_get(json_object_get(o, "result"), b->by);
	uint64_t at = b->n;

	if (!v) {
		ibcc_yaml_errors_add(b->e, file, line, 1, "got no \"%s\" in the result", b->by);
		return -EINVAL;
	}
	b->seen++;
	if (!json_is_number(v))
		return 0; /* null: could not be told */
	for (uint64_t i = 0; i < b->n; i++)
		if (is_same(b->result[i], o))
			return 0; /* files may overlap */
	while (at > 0 && (b->least ? value_of(b, o) < value_of(b, b->result[at - 1])
				   : value_of(b, o) > value_of(b, b->result[at - 1])))
		at--;
	if (at == b->n_max)
		return 0;
	if (b->n == b->n_max)
		json_decref(b->result[--b->n]);
	memmove(&b->result[at + 1], &b->result[at], (b->n - at) * sizeof(*b->result));
	b->result[at] = json_deep_copy(o);
	if (!b->result[at])
		return -ENOMEM;
	b->n++;
	return 0;
}

static void point_text(json_t *o, char *buf, size_t len)
{
	const char *key;
	json_t *v;
	size_t at = 0;

	buf[0] = '\0';
	json_object_foreach (json_object_get(o, "point"), key, v) {
		int n = snprintf(buf + at, len - at, "%s%s=%s", at ? " " : "", key,
				 json_string_value(v) ? json_string_value(v) : "?");

		if (n < 0 || (size_t)n >= len - at)
			return;
		at += (size_t)n;
	}
}

static int print_table(const struct best *b)
{
	static const char *const metrics[] = { "ideal_share", "aggregate_mbps",  "hot_mbps",
					       "victim_mbps", "background_mbps", "latency_us" };
	enum { N = sizeof(metrics) / sizeof(*metrics) };
	static const struct ibcc_table_column columns[] = {
		{ "IDEAL SHARE", true }, { "AGGREGATE Mb/s", true },  { "HOT Mb/s", true },
		{ "VICTIM Mb/s", true }, { "BACKGROUND Mb/s", true }, { "LATENCY us", true },
		{ "POINT", false },
	};
	struct libscols_table *t = ibcc_table_new(columns, N + 1, stdout);
	char buf[N][32], point[POINT_CHARS];
	int rc = t ? 0 : -ENOMEM;

	for (uint64_t i = 0; i < b->n && !rc; i++) {
		const json_t *result = json_object_get(b->result[i], "result");
		const char *cell[N + 1];

		for (int k = 0; k < N; k++)
			cell[k] = ibcc_table_number(
				json_number_value(json_object_get(result, metrics[k])), buf[k],
				sizeof(buf[k]));
		point_text(b->result[i], point, sizeof(point));
		cell[N] = point;
		rc = ibcc_table_add(t, cell);
	}
	if (!rc)
		return ibcc_table_print(t);
	scols_unref_table(t);
	return rc;
}

static int print(const struct best *b, bool json)
{
	json_t *all;

	if (!json)
		return print_table(b);
	all = json_array();
	for (uint64_t i = 0; i < b->n; i++)
		json_array_append(all, b->result[i]);
	return ibcc_report_json(json_pack("{si ss sI so}", "schema", 1, "by", b->by, "points",
					  (json_int_t)b->seen, "best", all),
				false, stdout);
}

static int read_all(struct best *b, char **file, int n)
{
	int rc = 0, fd;

	b->result = calloc(b->n_max + 1, sizeof(json_t *));
	if (!b->result)
		return -ENOMEM;
	for (int i = 0; i < n && !rc; i++) {
		fd = open(file[i], O_RDONLY | O_CLOEXEC);
		rc = fd < 0 ? -errno : ibcc_sweep_read(file[i], fd, consider, b, NULL, b->e);
		if (rc && !b->e->n)
			ibcc_yaml_errors_add(b->e, file[i], 0, 0, "%s", strerror(-rc));
	}
	return rc;
}

int ibcc_bench_best(int argc, char **argv)
{
	static const struct option longs[] = { { "by", required_argument, NULL, 'b' },
					       { "json", no_argument, NULL, 'j' },
					       { NULL, 0, NULL, 0 } };
	struct ibcc_yaml_errors e = { 0 };
	struct best b = { .by = "ideal_share", .n_max = 10, .e = &e };
	bool json = false;
	int c, rc, exit;

	while ((c = getopt_long(argc, argv, "jn:", longs, NULL)) != -1) {
		switch (c) {
		case 'b':
			b.least = *optarg == '-';
			b.by = optarg + b.least;
			break;
		case 'j': json = true; break;
		case 'n':
			if (!ibcc_bench_number("-n", optarg, 1, 1000000, &b.n_max))
				return IBCC_EXIT_ERROR;
			break;
		default: return IBCC_EXIT_ERROR;
		}
	}
	if (optind == argc) {
		fputs("ibcc-bench: best: want files\n", stderr);
		return IBCC_EXIT_ERROR;
	}
	rc = read_all(&b, argv + optind, argc - optind);
	if (!rc)
		rc = print(&b, json);
	exit = rc ? ibcc_bench_fail("best", rc, &e) : IBCC_EXIT_OK;
	for (uint64_t i = 0; i < b.n; i++)
		json_decref(b.result[i]);
	free(b.result);
	return exit;
}
