/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A plan is begun at a few nodes, and what has no effect is taken back; see <ibcc/rollout.h>. */
#ifndef IBCC_CYCLE_ROLLOUT_H
#define IBCC_CYCLE_ROLLOUT_H

#include <ibcc/cycle.h>

/* Before a decision: where settings have had no effect they are taken back, by the books, and the
 * tuner begins anew. Without books, or with an applier that does not write, nothing is judged.
 * Returns 0, -EIO (the books), -ENOMEM; what became of the taking back is in c->act_err.
 */
int ibcc_cycle_judge_rollout(struct ibcc_cycle *c, const struct ibcc_act *act,
			     struct ibcc_why *why);

/* After one: c->plan becomes the part that is to be written in this turn, perhaps nothing. -ENOMEM.
 */
int ibcc_cycle_split_plan(struct ibcc_cycle *c, const struct ibcc_act *act, struct ibcc_why *why);

#endif
