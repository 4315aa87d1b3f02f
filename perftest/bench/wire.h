/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Runs of experiments that measure real octets on the clock of this machine, see perftest/mpa. */
#ifndef PERFTEST_BENCH_WIRE_H
#define PERFTEST_BENCH_WIRE_H

#include "perftest/bench/experiment.h"

struct ibcc_exp_wire {
	struct ibcc_mpa_settings settings;
	struct ibcc_mpa_result result[IBCC_MPA_MAX_SUBJECTS];
	double cpu_s; /* of all threads */
};

/* The file's settings with assignments; *out is to be freed. -EINVAL with errors, -ENOMEM. */
int ibcc_exp_wire_load(const struct ibcc_experiment *x, const struct ibcc_words *set,
		       struct ibcc_exp_wire **out, struct ibcc_yaml_errors *e);
int ibcc_exp_wire_run(struct ibcc_exp_wire *w);

/* Whether such a subject and such a figure exist, and the value that the run gave; NAN if it gave
 * none.
 */
bool ibcc_exp_wire_has(const struct ibcc_experiment *x, const char *subject, const char *figure);
double ibcc_exp_wire_figure(const struct ibcc_exp_wire *w, const char *subject, const char *figure);

#endif
