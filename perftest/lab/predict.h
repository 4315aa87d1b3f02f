/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A prediction for a drawn scenario, and what its plan then brings. */
#ifndef PERFTEST_LAB_PREDICT_H
#define PERFTEST_LAB_PREDICT_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/prediction.h>
#include <ibcc/scenario.h>
#include <ibcc/yaml.h>

#include "perftest/lab/probe.h"

/* Whose sources have an end of what they send. */
enum ibcc_predict_variant {
	IBCC_PREDICT_V1 = 1, /* drawn rates, bounded queues */
	IBCC_PREDICT_V2,     /* flows to hotspots are closed loops */
	IBCC_PREDICT_V3,     /* all are */
};

struct ibcc_predict_case {
	bool congested;           /* there was a plan; else nothing below is there */
	bool steady;              /* without it the total would have stayed within a tenth */
	struct ibcc_prediction p; /* its arrays are not there */
	/* What became of it, as factors of the present. */
	double total, off, victims;
	/* Of the roots together: predicted and true factor. */
	double root_predicted, root;
	bool root_known;
	uint32_t n_open, open_held; /* roots with bounds alone, and those that stayed within */
};

/* Makes a drawn scenario one of the variant: hotspots that begin later and last, bounded queues, a
 * flow to all as one to each. -EINVAL, -ENOMEM.
 */
int ibcc_predict_vary(struct ibcc_scenario *s, enum ibcc_predict_variant v);

/* Draws, watches without control for 30 ms, predicts for the plan there is then, and tries that
 * plan. With a probe the fabric is asked who sends through its roots before it is predicted.
 * Errors as ibcc_draw_load().
 */
int ibcc_predict_draw(uint64_t seed, enum ibcc_predict_variant v, enum ibcc_predict_probe probe,
		      struct ibcc_predict_case *out, struct ibcc_yaml_errors *e);

#endif
