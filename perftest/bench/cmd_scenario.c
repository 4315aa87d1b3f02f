/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <getopt.h>
#include <stdio.h>

#include <ibcc/now.h>

#include "perftest/bench/bench.h"
#include "perftest/bench/report.h"

#define MAX_SAMPLES 100000u

struct options {
	bool json;
	const char *csv, *plot, *file;
	uint64_t samples;
	struct ibcc_words set;
};

static int write_csv(void *run, FILE *out)
{
	return ibcc_report_csv(run, out);
}

static int write_plot(void *run, FILE *out)
{
	return ibcc_report_scenario_plot(run, out);
}

static int parse(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "csv", required_argument, NULL, 'c' },
		{ "plot", required_argument, NULL, 'p' },
		{ "set", required_argument, NULL, 's' },
		{ "seed", required_argument, NULL, 'S' },
		{ "samples", required_argument, NULL, 'k' },
		{ NULL, 0, NULL, 0 },
	};
	char seed[32];
	uint64_t n;
	int c, rc = 0;

	while (!rc && (c = getopt_long(argc, argv, "j", longs, NULL)) != -1) {
		switch (c) {
		case 'j': o->json = true; break;
		case 'c': o->csv = optarg; break;
		case 'p': o->plot = optarg; break;
		case 's': rc = ibcc_words_add(&o->set, optarg); break;
		case 'S':
			if (!ibcc_bench_number("--seed", optarg, 1, UINT64_MAX, &n))
				return -EINVAL;
			snprintf(seed, sizeof(seed), "seed=%llu", (unsigned long long)n);
			rc = ibcc_words_add(&o->set, seed);
			break;
		case 'k':
			if (!ibcc_bench_number("--samples", optarg, 1, MAX_SAMPLES, &o->samples))
				return -EINVAL;
			break;
		default: return -EINVAL;
		}
	}
	if (!rc && optind != argc - 1) {
		fputs("ibcc-bench: scenario: want one file\n", stderr);
		return -EINVAL;
	}
	if (!rc)
		o->file = argv[optind];
	if (!o->samples && (o->csv || o->plot))
		o->samples = 200;
	return rc;
}

int ibcc_bench_scenario(int argc, char **argv)
{
	struct options o = { .json = false };
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_exp_run run;
	double start = ibcc_now_s();
	int rc, exit = IBCC_EXIT_OK;

	if (parse(argc, argv, &o)) {
		ibcc_words_fini(&o.set);
		return IBCC_EXIT_ERROR;
	}
	rc = ibcc_bench_measure(o.file, &o.set, (uint32_t)o.samples, &run, &e);
	ibcc_words_fini(&o.set);
	if (rc)
		return ibcc_bench_fail(o.file, rc, &e);
	if (o.csv)
		exit = ibcc_bench_write(o.csv, write_csv, &run);
	if (o.plot && !exit)
		exit = ibcc_bench_write(o.plot, write_plot, &run);
	if (o.json)
		rc = ibcc_report_json(ibcc_report_scenario(&run, ibcc_now_s() - start), false,
				      stdout);
	else
		rc = ibcc_report_scenario_table(&run, stdout);
	ibcc_bench_measure_fini(&run);
	return rc || fflush(stdout) ? IBCC_EXIT_ERROR : exit;
}
