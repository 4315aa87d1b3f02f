/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Results for people and for scripts. Functions that write return 0, -ENOMEM or -EIO. */
#ifndef PERFTEST_BENCH_REPORT_H
#define PERFTEST_BENCH_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

#include "perftest/bench/experiment.h"

/* A number for JSON: null for an unknown or infinite value. */
json_t *ibcc_report_number(double v);
/* {"mean","p50","p99"}, us. */
json_t *ibcc_report_latency(const struct ibcc_measure_latency *l);
json_t *ibcc_report_words(const struct ibcc_words *w);
/* Prints and frees a value (NULL: -ENOMEM), with a newline. */
int ibcc_report_json(json_t *o, bool pretty, FILE *out);

/* What ibcc-bench run -j prints: "schema", "experiment", "rows", "ok", "engine" and, if the
 * experiment has any, "series". NULL without memory.
 */
json_t *ibcc_report_experiment(const struct ibcc_experiment *x, const struct ibcc_exp_options *o,
			       const struct ibcc_exp_result *r);
/* {"packet_hops","cpu_s","wall_s","simulated_s"} */
json_t *ibcc_report_engine(uint64_t packet_hops, double cpu_s, double wall_s, double simulated_s);
int ibcc_report_rows(const struct ibcc_experiment *x, const struct ibcc_exp_options *o,
		     const struct ibcc_exp_result *r, FILE *out);

/* A table of all variants that were run, with what the loop did in live variants. */
int ibcc_report_variants(const struct ibcc_experiment *x, const struct ibcc_exp_result *r,
			 FILE *out);
json_t *ibcc_report_variants_json(const struct ibcc_experiment *x, const struct ibcc_exp_result *r);

/* One run of a scenario: everything, and the few numbers that a sweep keeps. */
json_t *ibcc_report_scenario(const struct ibcc_exp_run *run, double wall_s);
json_t *ibcc_report_summary(const struct ibcc_exp_run *run);
int ibcc_report_scenario_table(const struct ibcc_exp_run *run, FILE *out);
/* from_ms,to_ms,scope,name,metric,value: the window, then the samples. */
int ibcc_report_csv(const struct ibcc_exp_run *run, FILE *out);

/* Throughput by kind, and for a scenario also queue and CCTI, over time; series over their value.
 * -EINVAL if there is nothing to draw.
 */
int ibcc_report_scenario_plot(const struct ibcc_exp_run *run, FILE *out);
int ibcc_report_experiment_plot(const struct ibcc_experiment *x, const struct ibcc_exp_result *r,
				FILE *out);

#endif
