/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Lets the tuner continue where an earlier one ended: after a restart of the daemon, a change of
 * the topology, or a plan that an operator made earlier.
 */
#ifndef IBCC_CYCLE_RESUME_H
#define IBCC_CYCLE_RESUME_H

#include <ibcc/cycle.h>

/* Call before a decision, when the ledger has looked at the book. The tuner takes over the roots of
 * the state file whose settings are ours and were read from the fabric. Roots whose switch does not
 * answer are tried again in the next passes. -ENOMEM.
 */
int ibcc_cycle_resume(struct ibcc_cycle *c, struct ibcc_state *state);

/* The next ibcc_cycle_resume() reads the state file again. */
void ibcc_cycle_forget_resume(struct ibcc_cycle *c);

/* Writes the purpose of this cycle's plan as texts into the cycle. `asked`: an operator asked for
 * the plan, and so for its roots, whatever was decided in this cycle. -ENOMEM.
 */
int ibcc_cycle_write_texts(struct ibcc_cycle *c, bool asked);
/* Writes only the decisions, in words and in codes, in place of earlier ones. -ENOMEM. */
int ibcc_cycle_write_decisions(struct ibcc_cycle *c);

#endif
