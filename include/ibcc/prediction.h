/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Predicts the effect of a plan, and says whether a prediction is possible. It decides nothing:
 * plans are judged by measurement.
 */
#ifndef IBCC_PREDICTION_H
#define IBCC_PREDICTION_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/estimate.h>
#include <ibcc/loads.h>
#include <ibcc/scenario.h>
#include <ibcc/settings.h>
#include <ibcc/topo.h>

/* By what demands are known. */
enum ibcc_prediction_basis {
	IBCC_PREDICTION_NONE,    /* of senders that are blocked, only that is known */
	IBCC_PREDICTION_HISTORY, /* rates from before any sender was blocked */
};

/* Why amounts cannot be predicted. */
enum ibcc_prediction_why {
	IBCC_PREDICTION_TELLS,
	IBCC_PREDICTION_NO_CONGESTION,
	IBCC_PREDICTION_NO_PLAN,     /* nothing is to be changed */
	IBCC_PREDICTION_CONTROLLED,  /* what control holds back does not show */
	IBCC_PREDICTION_NO_BASELINE, /* the fabric was congested when monitoring began */
	IBCC_PREDICTION_OLD_BASELINE,
	IBCC_PREDICTION_MOVED,     /* loads changed while we looked */
	IBCC_PREDICTION_REPLAY,    /* the present cannot be shown from what is known */
	IBCC_PREDICTION_ELSEWHERE, /* new traffic passes no root that is seen */
	IBCC_PREDICTION_STALE,     /* too many ports were not read */
	IBCC_PREDICTION_ADAPTIVE,  /* packets do not go by the tables */
	IBCC_PREDICTION_VLS,       /* several VLs, and no counters of each */
	IBCC_PREDICTION_NO_CC,     /* adapters in the tree cannot be set */
	IBCC_PREDICTION_CPU,       /* CPU time did not suffice */
	IBCC_PREDICTION_LARGE,     /* of DCQCN: too many hosts to simulate */
	IBCC_PREDICTION_OPEN,      /* of roots: limits leave them idle, sources recover */
	IBCC_PREDICTION_SLOW,      /* of slow receivers: their senders are not known */
	IBCC_PREDICTION_FAILED,
};

struct ibcc_amount {
	double now_mbps, expected_mbps, low_mbps, high_mbps;
};

struct ibcc_predicted_root {
	uint32_t port;
	struct ibcc_amount amount;
};

struct ibcc_prediction {
	bool known; /* total and victims are; else see `why` */
	enum ibcc_prediction_why why;
	enum ibcc_prediction_basis basis;
	uint64_t baseline_age_ns;
	/* Replay of the present against the counters: rates of links, sum of differences over sum
	 * of rates; waits of adapters, their mean difference where either waits.
	 */
	bool replayed;
	double replay_rate, replay_wait;
	double elsewhere; /* share of what waiting adapters send that is new and passes no root */
	double moved, misfit, cpu_s;
	/* All that adapters send; what those send that wait now, but for what goes through roots.
	 */
	struct ibcc_amount total, victims;
	/* Mean latency on the twin of packets that pass no root, now and with the plan, us: from
	 * the first bit on the link of the source to delivery. 0: not known, as without amounts.
	 */
	double now_us, expected_us;
	/* Why some roots are not predicted; TELLS: all are. */
	enum ibcc_prediction_why roots_why;
	uint32_t n_roots, n_open;
	double *sent_mbps;                /* by port, owned; what they will send; NULL: not known */
	struct ibcc_predicted_root *root; /* owned; there may be some where `known` is false */
	/* If `known`: the open roots, with bounds alone. No expected value is predicted for them.
	 */
	struct ibcc_predicted_root *open;
};
void ibcc_prediction_fini(struct ibcc_prediction *p);

/* All that a prediction is made from. Owned by the caller. */
struct ibcc_prediction_in {
	const struct ibcc_topo *t;
	const struct ibcc_loads *before; /* NULL or n 0: none */
	const struct ibcc_loads *now;
	uint64_t age_ns; /* of `before` */
	double moved;    /* see ibcc_memory_now() */
	uint32_t n_roots;
	const struct ibcc_root *root; /* as the estimate has them; sources are used */
	uint32_t packet_bytes;
	const struct ibcc_settings *actual, *wanted;
	/* Predict DCQCN with these parameters in place of `wanted`, where it is off now; NULL: no.
	 * Then roots' own rates are not predicted, and nothing above the engine's size.
	 */
	const struct ibcc_dcqcn *dcqcn;
	uint32_t buffer_bytes; /* of each port and VL; 0: not known */
	bool prefer_latency;   /* recommend a plan that costs throughput and reduces latency */
	enum ibcc_prediction_why refuse; /* what is known to forbid it; else TELLS */
	uint64_t budget_ns;
	uint64_t (*cpu_ns)(void *arg); /* of the thread; UINT64_MAX: end; NULL: no limit */
	void *arg;
};

/* Takes up to the budget of CPU time, and begins nothing that would not fit. -ENOMEM. *p needs
 * ibcc_prediction_fini() after 0. */
int ibcc_predict(const struct ibcc_prediction_in *in, struct ibcc_prediction *p);

/* Hops of packets over links that a prediction may simulate, in its replays and the plan together.
 * Runs are shorter where they would exceed it, but the shortest are made whatever they take: 8 ms
 * of the present, 4 ms more where that replay disagrees with the counters, and 6 ms of the plan. A
 * processor simulates three to seven million hops in a second. For DCQCN there is no such limit,
 * since its runs have one length.
 */
#define IBCC_PREDICTION_HOPS 6000000u

/* Half the width of the range of a root's own rate, as a share of the present one; the range is
 * wider if a run was brief. A root that may be anywhere in more than twice this is open.
 */
#define IBCC_PREDICTION_ROOT_MARGIN 0.10

/* Half the width of the range of a change that is predicted as a share of the present: 8 points and
 * 0.15 of it; the range is wider if a run was brief. Measured on drawn scenarios:
 * doc/internals/prediction.md.
 */
double ibcc_prediction_margin(double change);

/* Whether a plan costs throughput: the total is expected to fall by more than 1 %. On drawn
 * scenarios, plans that are predicted within 1 % of the present change nothing on the mean, and
 * those predicted to lose 1 to 5 % lose throughput by more than two standard errors of the mean
 * (doc/internals/prediction.md). False if the total is not predicted.
 */
bool ibcc_prediction_costs(const struct ibcc_prediction *p);

/* Whether it costs throughput and buys latency: packets that pass no root take less than nine
 * tenths of the time. False if either is not known.
 */
bool ibcc_prediction_trades(const struct ibcc_prediction *p);

/* Whether the plan is recommended: it does not cost throughput, or it buys latency by that, and the
 * user prefers latency.
 */
bool ibcc_prediction_is_advised(const struct ibcc_prediction *p, bool prefer_latency);

/* Why not, as the rest of a sentence; "" for TELLS. */
const char *ibcc_prediction_reason(enum ibcc_prediction_why why);

#endif
