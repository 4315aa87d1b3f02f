/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The one way by which settings on the fabric change: written down, carried out, written down. */
#ifndef IBCC_EXECUTE_H
#define IBCC_EXECUTE_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/applier.h>
#include <ibcc/plan.h>
#include <ibcc/settings.h>
#include <ibcc/state.h>
#include <ibcc/topo.h>
#include <ibcc/why.h>

struct ibcc_execution {
	struct ibcc_applier *applier;
	struct ibcc_state *state; /* NULL: nothing is stored (virtual time) */
	const struct ibcc_topo *topo;
	const struct ibcc_settings *has; /* what its nodes have now; NULL: not known */
	struct ibcc_txn txn;             /* `via` is filled in */
	bool all_or_nothing; /* take the changes that took effect back when others did not */
	/* The plan puts something back or takes it off: it is carried out even when it cannot be
	 * written down, and however many Sets that takes.
	 */
	bool back;
	bool ours_only; /* see struct ibcc_plan */
};

/* Carries a plan out, in which it marks the nodes that are asked before (see ibcc_vendor_mark());
 * *r is initialised by the call, also on failure. The old values are on disk before the first Set;
 * when they cannot be stored nothing is sent, unless it may go unrecorded. With the null applier
 * nothing is stored. Returns as struct ibcc_applier_ops::run, or -EIO from the state file.
 */
int ibcc_execute_plan(const struct ibcc_execution *c, struct ibcc_plan *plan, struct ibcc_result *r,
		      struct ibcc_why *why);

/* Takes out of a plan the nodes of which what is there now could not be put back. Without memory or
 * a book to look it up in the plan stays as it is.
 */
void ibcc_execute_leave_out(const struct ibcc_execution *c, struct ibcc_plan *plan);

#endif
