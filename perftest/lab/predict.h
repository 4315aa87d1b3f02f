/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A prediction for a drawn scenario, and the effect of its plan. */
#ifndef PERFTEST_LAB_PREDICT_H
#define PERFTEST_LAB_PREDICT_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/prediction.h>
#include <ibcc/scenario.h>
#include <ibcc/yaml.h>

#include "perftest/lab/probe.h"

/* Which sources have a limit on what they send. */
enum ibcc_predict_variant {
	IBCC_PREDICT_V1 = 1, /* drawn rates, bounded queues */
	IBCC_PREDICT_V2,     /* flows to hotspots are closed loops */
	IBCC_PREDICT_V3,     /* all flows are closed loops */
};

struct ibcc_predict_case {
	bool congested;           /* there was a plan; without one, nothing below is set */
	bool steady;              /* without the plan the total would have stayed within a tenth */
	struct ibcc_prediction p; /* without its arrays */
	/* The measured effect, as factors of the present; off: without the plan. */
	double total, off, victims, off_victims;
	/* Of packets that do not go to hotspots: the mean, and what 99 of 100 did not exceed; NAN
	 * if there were none.
	 */
	double latency, latency_p99;
	/* The factors of all roots together: predicted and true. */
	double root_predicted, root;
	bool root_known;
	uint32_t n_open, open_held; /* roots with only bounds, and those that stayed within them */
};

/* Makes a drawn scenario one of the variant: hotspots begin later and last, queues are bounded, and
 * a flow to all becomes one to each. -EINVAL, -ENOMEM.
 */
int ibcc_predict_vary(struct ibcc_scenario *s, enum ibcc_predict_variant v);

/* Draws a scenario, watches it without control for 30 ms, predicts the effect of the plan at that
 * time, and tries that plan, measured from 60 to 100 ms after it. With a probe, it first measures
 * which adapters send through the fabric's roots. `hosts`: 0, or the size of a tree of draw_tree.h.
 * As trees take long to simulate, the effect of their plans is measured from 40 to 60 ms, and only
 * where amounts are predicted; else `steady` is false. Errors as ibcc_draw_load().
 */
int ibcc_predict_draw(uint64_t seed, uint32_t hosts, enum ibcc_predict_variant v,
		      enum ibcc_predict_probe probe, struct ibcc_predict_case *out,
		      struct ibcc_yaml_errors *e);

#endif
