/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
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

static int read_seed(void *set, const char *text)
{
	char word[32];
	uint64_t n;

	if (ibcc_command_number("--seed", text, 1, UINT64_MAX, &n))
		return -EINVAL;
	snprintf(word, sizeof(word), "seed=%llu", (unsigned long long)n);
	return ibcc_words_add(set, word);
}

static const struct ibcc_option options[] = {
	IBCC_OPTION_JSON(struct options),
	{ "csv", 0, IBCC_OPTION_TEXT, "FILE",
	  "write the samples to this CSV file, one number a\nline",
	  .at = offsetof(struct options, csv) },
	{ "plot", 0, IBCC_OPTION_TEXT, "FILE", "plot throughput, queues and CCTI to this SVG file",
	  .at = offsetof(struct options, plot) },
	{ "samples", 0, IBCC_OPTION_NUMBER, "N",
	  "number of samples over the simulated time\n(default 200, with --csv or --plot)",
	  .at = offsetof(struct options, samples), 1, MAX_SAMPLES },
	{ "seed", 0, IBCC_OPTION_READ, "N",
	  "seed of the random numbers, in place of the\nscenario's",
	  .at = offsetof(struct options, set), .read = read_seed },
	IBCC_OPTION_SET(struct options, set),
};

static int run_scenario(const struct ibcc_command *c, int argc, char **argv)
{
	struct options o = { .json = false };
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_exp_run run;
	double start = ibcc_now_s();
	int rc, at, exit = IBCC_EXIT_OK;

	if (ibcc_command_read(c, argc, argv, &o, &at)) {
		ibcc_words_fini(&o.set);
		return IBCC_EXIT_ERROR;
	}
	o.file = argv[at];
	if (!o.samples && (o.csv || o.plot))
		o.samples = 200;
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

const struct ibcc_command ibcc_bench_scenario = {
	.name = "scenario",
	.arguments = "FILE",
	.what = "run the scenario in a file",
	.want = "one file",
	.least = 1,
	.most = 1,
	.option = options,
	.n_options = sizeof(options) / sizeof(*options),
	.run = run_scenario,
};
