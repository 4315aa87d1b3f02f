/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One scenario's classification: what was seen pass by pass, for comparison with the truth.
 * Internal to classify.c and classify_judge.c.
 */
#ifndef PERFTEST_LAB_CLASSIFY_JOB_H
#define PERFTEST_LAB_CLASSIFY_JOB_H

#include <stdint.h>
#include <stdio.h>

#include <ibcc/estimate.h>
#include <ibcc/measure.h>
#include <ibcc/scenario.h>

#include "perftest/bench/truth.h"
#include "perftest/lab/classify.h"

/* Hotspots of drawn scenarios begin by 5 ms; buffers before slow roots take some more to fill. */
#define IBCC_PROBE_PASS 12u
/* Passes for each root; the first still has marks of the root before. */
#define IBCC_PROBE_PASSES 6u

struct ibcc_classify_seen {
	uint32_t n;
	struct ibcc_root *root; /* without sources */
};

struct ibcc_classify_job {
	struct ibcc_scenario s;
	struct ibcc_truth truth;
	struct ibcc_measure m;
	struct ibcc_classify_seen before, first; /* roots in the passes before the probe */
	uint8_t *named; /* [root of `first` * n_ports + port]: is a contributor */
	/* [root of `first` * n_ports + port]: a bit for each pass in which the port waits behind a
	 * root
	 */
	uint8_t *waits;
	uint64_t *becn; /* [root of `first` * n_ports + port]: number of BECNs */
	uint16_t *wait;
	struct ibcc_classified *sum;
	uint64_t seed;
	FILE *notes; /* NULL: mistakes are only counted */
};

enum ibcc_answer {
	IBCC_ANSWER_NO,
	IBCC_ANSWER_YES,
	IBCC_ANSWER_OPEN, /* the truth is neither clearly one nor the other */
};

/* What is judged by adapter, and so by job. */
struct ibcc_classify_adapters {
	/* By root of `first`: the true root there, NULL: its contributors are not judged. Owned. */
	const struct ibcc_truth_root **judged;
	uint8_t *suffers;      /* by port: enum ibcc_answer, in truth; owned */
	uint8_t *suffers_seen; /* by port: the estimator takes it for a victim; owned */
};

/* Lays jobs over the hosts and adds how well lib/whose names those that contribute and those that
 * suffer. -ENOMEM.
 */
int ibcc_classify_jobs(struct ibcc_classify_job *j, const struct ibcc_classify_adapters *a);

/* Compares what was seen with the truth, and adds the result to the sums. As ibcc_truth_senders().
 */
int ibcc_classify_judge(struct ibcc_classify_job *j);

#endif
