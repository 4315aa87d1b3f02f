/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The tuner goes on where an earlier one has ended: after a restart of the daemon, a change of the
 * topology, or a plan that somebody had made earlier.
 */
#ifndef IBCC_CYCLE_RESUME_H
#define IBCC_CYCLE_RESUME_H

#include <ibcc/cycle.h>

/* Before a decision, when the ledger has looked at the book: the tuner takes over roots of the
 * state file whose settings are ours and were read from the fabric. Those whose switch does not
 * answer are tried again in the next passes. -ENOMEM.
 */
int ibcc_cycle_resume(struct ibcc_cycle *c, struct ibcc_state *state);

/* The state file is to be asked again. */
void ibcc_cycle_forget_resume(struct ibcc_cycle *c);

/* What the plan of this turn is for, as texts in the cycle. `asked`: somebody asked for the plan,
 * and so for its roots, whatever was decided in this turn. -ENOMEM.
 */
int ibcc_cycle_write_texts(struct ibcc_cycle *c, bool asked);
/* Only the decisions, in words and in codes; those of before go. -ENOMEM. */
int ibcc_cycle_write_decisions(struct ibcc_cycle *c);

#endif
