/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What each part of the daemon's work costs on a simulated fat tree: CPU time, memory, MADs and the
 * size of what it prints.
 */
#ifndef PERFTEST_LAB_SIZES_H
#define PERFTEST_LAB_SIZES_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/yaml.h>

enum ibcc_size_step {
	IBCC_SIZE_TOPOLOGY,   /* from the plugin's messages to a service that has it */
	IBCC_SIZE_FIRST,      /* the first polling cycle, which reads all settings */
	IBCC_SIZE_POLL,       /* a polling cycle without the decision: reads all counters */
	IBCC_SIZE_DECIDE,     /* the law's decision: estimate, tuner, plan */
	IBCC_SIZE_LOG,        /* after a polling cycle */
	IBCC_SIZE_METRICS,    /* a scrape */
	IBCC_SIZE_STATUS,     /* status -j */
	IBCC_SIZE_PLAN,       /* plan -j */
	IBCC_SIZE_PREDICTION, /* of that plan */
	IBCC_SIZE_SHOW,       /* show -j: reads all settings */
	IBCC_SIZE_REPORT,     /* report -j */
	IBCC_SIZE_PAGE,       /* the answer as HTML, by the client */
	IBCC_SIZE_HISTORY,    /* a transaction of the plan's writes, stored and read back */
	IBCC_SIZE_STEPS
};

struct ibcc_size_cost {
	double cpu_ms;  /* median */
	uint64_t mads;  /* sent, in one go; for those that send none: 0 */
	uint64_t bytes; /* of its text; 0: it has none */
};

/* A fat tree of switches of `ports` ports. */
struct ibcc_size_tree {
	uint32_t ports, levels;
};

struct ibcc_size {
	uint32_t hosts, switches, links;
	uint64_t routes; /* entries of all forwarding tables */
	uint32_t roots, changes;
	bool predicted;     /* the plan has a prediction of amounts */
	char why_not[128];  /* else */
	double daemon_mib;  /* memory of the service at the end */
	double process_mib; /* the most of the process so far, with the simulated fabric */
	struct ibcc_size_cost step[IBCC_SIZE_STEPS];
};

const char *ibcc_size_step_name(enum ibcc_size_step step);

#define IBCC_SIZE_REPEAT_MAX 99u
/* Measures all steps, each `repeat` times, but for the prediction and the first polling cycle. 0 or
 * a negative errno; -ENODATA: the service came to no decision.
 */
int ibcc_size_measure(const struct ibcc_size_tree *tree, uint32_t repeat, struct ibcc_size *out,
		      struct ibcc_yaml_errors *e);

#endif
