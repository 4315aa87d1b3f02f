/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Begins a plan at a few nodes, and reverts settings that have no effect; see <ibcc/rollout.h>. */
#ifndef IBCC_CYCLE_ROLLOUT_H
#define IBCC_CYCLE_ROLLOUT_H

#include <ibcc/cycle.h>

/* Call before a decision. Reverts settings that have had no effect, by the books, and lets the
 * tuner begin again. Without books, or with an applier that does not write, it judges nothing.
 * Returns 0, -EIO (the books), -ENOMEM; the result of the revert is in c->act_err.
 */
int ibcc_cycle_judge_rollout(struct ibcc_cycle *c, const struct ibcc_act *act,
			     struct ibcc_why *why);

/* Call after a decision. Leaves in c->plan the part that is to be written in this cycle, perhaps
 * nothing. -ENOMEM.
 */
int ibcc_cycle_split_plan(struct ibcc_cycle *c, const struct ibcc_act *act, struct ibcc_why *why);

#endif
