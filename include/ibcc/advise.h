/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Advice on DCQCN for a fabric that has it, as InfiniBand from HDR on: a marking profile, what it
 * would bring, and whether to leave it off. Nothing here is ever written to a fabric.
 */
#ifndef IBCC_ADVISE_H
#define IBCC_ADVISE_H

#include <ibcc/advice.h>
#include <ibcc/prediction.h>

/* Whether to turn DCQCN on, and why not. */
enum ibcc_advise_verdict {
	IBCC_ADVISE_ON,
	IBCC_ADVISE_OFF_NO_CONGESTION, /* nothing is to be cured */
	IBCC_ADVISE_OFF_NO_PROFILE,    /* no profile can be computed: see profile_rc */
	IBCC_ADVISE_OFF_NOT_TRIED,     /* no replay shows that it does no harm: see p.why */
	IBCC_ADVISE_OFF_COSTS,         /* less throughput in total, or for the victims */
	IBCC_ADVISE_OFF_NOTHING,       /* it gains too little to be sure of */
	IBCC_ADVISE_OFF_QUIET,         /* traffic without congestion would lose throughput */
};

struct ibcc_advise_in {
	struct ibcc_prediction_in p; /* the present; `wanted` and `dcqcn` are not used */
	const struct ibcc_dcqcn_rp *rp;
};

struct ibcc_advise {
	enum ibcc_advise_verdict verdict;
	int profile_rc; /* of ibcc_advice_make() */
	struct ibcc_advice profile;
	uint32_t root_port; /* of the root that decides: its port, and its senders */
	struct ibcc_advice_root root;
	/* On the twin, where all outputs mark, and where only outputs with credits do (source_only
	 * in scenario.h). Which of both a device does is not known. The one that brings more in
	 * total is here, or one that cannot be predicted.
	 */
	struct ibcc_prediction p;
	bool source_only; /* that is the one */
	/* The least change of the total and of the victims under both, as shares of the present. */
	double worst_total, worst_victims;
	/* What all-to-all traffic delivers with the profile, as a share of what it delivers without
	 * marks, where the fullest link is busy by four fifths; NAN: not tried.
	 */
	double quiet;
};
void ibcc_advise_fini(struct ibcc_advise *a);

/* The least predicted gain of the total, in the better case, for which DCQCN is turned on; and the
 * most that the total and the victims may lose in the worse case, and all-to-all traffic. A plan
 * under annex A10 need not gain anything in total. DCQCN has to: it harms more often than that
 * control, and what it does rests on values that are not known of devices.
 */
#define IBCC_ADVISE_LEAST_GAIN 0.02
#define IBCC_ADVISE_MAY_LOSE   0.01

/* What a part of the advice may take of the CPU time for all of it: it has two predictions, and
 * all-to-all traffic with half the budget of one.
 */
#define IBCC_ADVISE_BUDGET 0.4

/* Computes a profile for the roots, and tries it on the fabric's twin. The parts of *a that a
 * verdict does not need are empty. -ENOMEM. Call ibcc_advise_fini() after 0.
 */
int ibcc_advise(const struct ibcc_advise_in *in, struct ibcc_advise *a);

/* The parameters of DCQCN with a profile for all SLs. */
void ibcc_advise_dcqcn(const struct ibcc_advice *profile, const struct ibcc_dcqcn_rp *rp,
		       struct ibcc_dcqcn *d);

#endif
