/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The tuner goes on where an earlier one has ended: after a restart of the daemon, a change of the
 * topology, or a plan that somebody had made earlier.
 */
#ifndef IBCC_DAEMON_CYCLE_RESUME_H
#define IBCC_DAEMON_CYCLE_RESUME_H

#include <ibcc/cycle.h>

/* Before a decision, with the inheritance looked at: the tuner takes over roots of the state file
 * whose settings are ours by the books and are read from the fabric. Those whose switch does not
 * answer are tried again in the next passes. Returns 0, -EIO (the books), -ENOMEM.
 */
int ibcc_cycle_resume(struct ibcc_cycle *c, struct ibcc_state *state, struct ibcc_why *why);

/* The state file is to be asked again. */
void ibcc_cycle_forget_resume(struct ibcc_cycle *c);

/* What the tuner controls now, and what it still is to take over. *out is initialised by the call,
 * freed by ibcc_control_fini(). -ENOMEM.
 */
int ibcc_cycle_control(const struct ibcc_cycle *c, struct ibcc_control *out);

/* For struct ibcc_txn: the text of a control, and one of the endports that are its or a plan's; both
 * the caller's. -ENOMEM, and both are NULL.
 */
int ibcc_cycle_texts(const struct ibcc_plan *plan, const struct ibcc_control *control, char **text,
		     char **nodes);

/* Sets within[endport] for those of such a text that are there. -EINVAL: it is none. */
int ibcc_cycle_read_nodes(const struct ibcc_topo *t, const char *nodes, bool *within);

#endif
