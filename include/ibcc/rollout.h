/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which nodes get settings first, and whether the hardware reacts to them.
 *
 * If the plan of a root has many nodes, its switch and a few of its heaviest senders get settings
 * first. Once packets have been marked, the others follow. If a root marks by its settings and is
 * congested, but neither FECNs nor BECNs are counted, its hardware ignores the settings.
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
	/* marks were counted, or no node can count them: the rest may follow */
	IBCC_ROLLOUT_PROVEN,
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

/* Judges what a pass counted about the roots that have settings; p are the parameters of the last
 * decision. If settings of a root have had no effect for IBCC_ROLLOUT_PASSES, returns its port, and
 * its switch is among the ignorers from then on. Returns at most one root per call, else IBCC_NONE.
 * A pass proves nothing if too few packets were due to be marked, or if no adapter that contributes
 * has a counter for marks.
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

/* Lets all of these roots be written at once: a user has checked them, or asked for it. */
void ibcc_rollout_all(struct ibcc_rollout *r, const struct ibcc_parameters *p);

/* Forgets what was begun: other programs have written, or the settings were reverted. Ignorers stay
 * known.
 */
void ibcc_rollout_forget(struct ibcc_rollout *r);

/* Is an endport a switch that ignores its settings? */
bool ibcc_rollout_is_ignorer(const struct ibcc_rollout *r, uint32_t endport);

/* A sentence about them, "" if there are none. */
void ibcc_rollout_text(const struct ibcc_rollout *r, const struct ibcc_topo *t,
		       struct ibcc_why *text);

#endif
