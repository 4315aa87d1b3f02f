/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whom settings are given first, and whether the hardware does anything with them.
 *
 * A root whose plan has many nodes gets its switch and a few of its heaviest senders at first; when
 * packets have been marked since, the others follow. A root that marks by its settings and is
 * congested while neither FECNs nor BECNs are counted is one whose hardware ignores them.
 */
#ifndef IBCC_ROLLOUT_H
#define IBCC_ROLLOUT_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/estimate.h>
#include <ibcc/parameters.h>
#include <ibcc/plan.h>
#include <ibcc/settings.h>
#include <ibcc/snapshot.h>
#include <ibcc/topo.h>
#include <ibcc/why.h>

#define IBCC_ROLLOUT_NODES    8u /* a plan with more is begun with a few */
#define IBCC_ROLLOUT_CANARIES 3u /* adapters, beside the root's switch */
#define IBCC_ROLLOUT_PASSES   8u /* congested ones without a mark until it is said */

enum ibcc_rollout_stage {
	IBCC_ROLLOUT_NEW,    /* nothing of it was ever planned */
	IBCC_ROLLOUT_CANARY, /* a few have settings, or are about to */
	IBCC_ROLLOUT_WHOLE,  /* there was no need to begin with a few */
	IBCC_ROLLOUT_PROVEN, /* marks were counted, or nobody can count them: the rest may follow */
};

struct ibcc_rollout_root {
	uint32_t port;
	enum ibcc_rollout_stage stage;
	uint16_t passes; /* congested ones, with marking on and no mark counted */
	uint32_t n_canaries, canary[IBCC_ROLLOUT_CANARIES]; /* endports */
};

/* A switch that takes settings and does nothing with them. */
struct ibcc_rollout_ignorer {
	uint32_t endport, port; /* port: the root at which that was seen */
	uint16_t passes;
};

/* Zero is the beginning. It belongs to one topology. */
struct ibcc_rollout {
	uint32_t n_roots;
	struct ibcc_rollout_root root[IBCC_ROOTS_MAX];
	uint32_t n_ignorers;
	struct ibcc_rollout_ignorer ignorer[IBCC_ROOTS_MAX];
	uint32_t n_written, n_left; /* nodes of the last plan that was split; 0, 0: none was */
	uint32_t n_left_then;       /* n_left of the pass before */
};

/* Takes in what a pass counted about the roots that have settings; p are those that were decided
 * on last. Returns a root's port whose settings have had no effect for IBCC_ROLLOUT_PASSES, of
 * which at most one is told at a time, and whose switch is among the ignorers then; else IBCC_NONE.
 * Passes in which too few packets were due to be marked, or in which no adapter that contributes
 * has a counter that would tell, prove nothing.
 */
uint32_t ibcc_rollout_judge(struct ibcc_rollout *r, const struct ibcc_topo *t,
			    const struct ibcc_parameters *p, const struct ibcc_estimate *pic,
			    const struct ibcc_snapshot *s, const struct ibcc_settings *actual);

/* The part of a plan that is to be written now: of roots that are not proven to react, if the plan
 * sets more than IBCC_ROLLOUT_NODES nodes, the switch and the canaries only. What only relaxes is
 * in it, always. *part is initialised by the call. -ENOMEM.
 */
int ibcc_rollout_split(struct ibcc_rollout *r, const struct ibcc_topo *t,
		       const struct ibcc_parameters *p, const struct ibcc_estimate *pic,
		       const struct ibcc_settings *actual, const struct ibcc_settings *wanted,
		       const struct ibcc_plan *plan, struct ibcc_plan *part);

/* All of these roots are written at once: somebody has seen to it, or wants it so. */
void ibcc_rollout_all(struct ibcc_rollout *r, const struct ibcc_parameters *p);

/* What was begun is no more: others have written, or it was taken back. Ignorers stay known. */
void ibcc_rollout_forget(struct ibcc_rollout *r);

/* Is an endport a switch that ignores its settings? */
bool ibcc_rollout_is_ignorer(const struct ibcc_rollout *r, uint32_t endport);

/* A sentence about them, "" if there are none. */
void ibcc_rollout_text(const struct ibcc_rollout *r, const struct ibcc_topo *t,
		       struct ibcc_why *text);

#endif
