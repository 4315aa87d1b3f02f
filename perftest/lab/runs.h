/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Independent runs on all cores with a progress bar. */
#ifndef PERFTEST_LAB_RUNS_H
#define PERFTEST_LAB_RUNS_H

#include <stdint.h>

#include <ibcc/yaml.h>

struct ibcc_runs {
	uint64_t n;
	unsigned int threads; /* 0: one for each core */
	/* Run i, below n, in any order; errors in *e are printed. 0 or a negative errno. */
	int (*one)(void *arg, uint64_t i, struct ibcc_yaml_errors *e);
	/* Called after each successful run, never two at once; NULL: not called. */
	void (*took)(void *arg, uint64_t i);
	void *arg;
};

/* 0, or the first error, which ends the rest. */
int ibcc_runs_all(const struct ibcc_runs *r);

#endif
