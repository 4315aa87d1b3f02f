/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Static settings that differ by node: what the tuner would set if it knew the congestion from the
 * flows instead of from counters. Also variations of them.
 */
#ifndef PERFTEST_LAB_INDIVIDUAL_H
#define PERFTEST_LAB_INDIVIDUAL_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/measure.h>
#include <ibcc/scenario.h>
#include <ibcc/settings.h>

#include "perftest/bench/truth.h"

/* How far a variation is from the law's values. */
struct ibcc_individual {
	uint32_t table_scale_permille; /* of where tables end */
	uint32_t timer_scale_permille; /* of increase * timer */
	int threshold;                 /* added to the roots' Threshold, within 1 to 15 */
	bool calm;                     /* full links mark as they do when the tree has gone */
};

/* Values by the true roots of a time. All nodes have what is needed to be set. *out needs
 * ibcc_settings_fini() after 0. -ENOMEM, -EINVAL.
 */
int ibcc_individual_settings(const struct ibcc_scenario *s, const struct ibcc_truth *truth,
			     const struct ibcc_individual *v, struct ibcc_settings *out);

/* Works as ibcc_measure_run(), with such settings from time 0 on in place of the scenario's. */
int ibcc_individual_run(const struct ibcc_scenario *s, const struct ibcc_settings *settings,
			struct ibcc_measure *out);

#endif
