/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Advice on DCQCN for a drawn fabric of HDR or NDR, and what the advice brings there. */
#ifndef PERFTEST_LAB_ADVISE_H
#define PERFTEST_LAB_ADVISE_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/advise.h>
#include <ibcc/scenario.h>
#include <ibcc/yaml.h>

/* Profiles of others, and the best of a search. */
enum ibcc_advise_profile {
	IBCC_ADVISE_OFF,
	IBCC_ADVISE_ROCE,    /* NVIDIA's default for RoCE: 150 to 1500 KB, taken as up to 100 % */
	IBCC_ADVISE_ALIBABA, /* 100 to 400 KB for each 25 Gb/s, 20 % */
	IBCC_ADVISE_FORMULA, /* advised or not */
	IBCC_ADVISE_LIVE, /* begins with Alibaba's, and the daemon writes those of roots' ports */
	IBCC_ADVISE_BEST, /* of these and of statics.h */
	IBCC_N_ADVISE,
};

struct ibcc_advise_case {
	bool congested;       /* roots were seen: only then is there advice */
	struct ibcc_advise a; /* without its arrays */
	uint32_t buffer_bytes;
	bool source_only; /* what the drawn switches do */
	/* By enum ibcc_advise_profile: share of the possible throughput (ibcc_draw_share()), and
	 * what all flows together, and those that do not go to hotspots, deliver. NAN: not run.
	 */
	double share[IBCC_N_ADVISE], total_mbps[IBCC_N_ADVISE], victims_mbps[IBCC_N_ADVISE];
};

/* What the fabric has if its operator follows the advice. */
static inline enum ibcc_advise_profile ibcc_advise_followed(const struct ibcc_advise_case *c)
{
	return c->congested && c->a.verdict == IBCC_ADVISE_ON ? IBCC_ADVISE_FORMULA
							      : IBCC_ADVISE_OFF;
}

/* Draws a fabric, watches it without control for 20 ms, makes the advice, and runs the scenario
 * again from its start under each profile; with `live` for three times as long, and also while the
 * daemon's cycle writes the profiles of roots' ports. Two of four seeds have switches that mark
 * only where congestion starts, and two have closed loops to hotspots. Errors as ibcc_draw_load().
 */
int ibcc_advise_draw(uint64_t seed, bool search, bool live, struct ibcc_advise_case *out,
		     struct ibcc_yaml_errors *e);

#endif
