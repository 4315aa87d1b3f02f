/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Carries out a plan: writes, reads back, reports. Used by the plugin and by apply_via: direct. */
#ifndef IBCC_APPLY_H
#define IBCC_APPLY_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/bounds.h>
#include <ibcc/plan.h>
#include <ibcc/transport.h>
#include <ibcc/why.h>

struct ibcc_apply_options {
	uint64_t cc_key;
	bool dry; /* the null applier: marks every change DRY and sends nothing */
	/* Ask for NodeInfo at its LID before each Set: for owners that no subnet manager notifies
	 * when a LID has moved. The transport must carry SMPs.
	 */
	bool prove_lids;
	const struct ibcc_bounds *bounds; /* NULL: the default */
	struct ibcc_set_budget *budget;   /* of the nodes; NULL: Sets are not counted */
	struct ibcc_why *left_out;        /* what was left out and why; may be NULL */
	/* Asked before each batch of Sets (may be NULL): false stops, the rest stays PENDING. */
	bool (*may_continue)(void *arg);
	void *arg;
};

/* Whole nodes are left out, SKIPPED with a reason of enum ibcc_change_why at the change in
 * question. CCTI_Min is also held against the table of the node where the plan has none. Sets that
 * put something back do not count against the node's. A key is not sent to a node that does not
 * answer CongestionInfo: another program may read it there. Nodes with change:ask_vendor are asked
 * whether NVIDIA's own congestion control is on. LIDs are asked about with prove_lids.
 *
 * Marking profiles of NVIDIA's switches are written only where that control is on, the node has our
 * CC_Key or none, and the port has the change's old data in all their bits. One port is written and
 * read back before all others; if that fails, the others are SKIPPED. For changes that put something
 * back only this holds: a port that cannot be read is left out, and so is one that another program
 * has changed. In a plan that goes back and has no ours_only, min, max and percent may have changed.
 *
 * Applies all changes: nodes in parallel, the changes of one node one after the other in the
 * plan's order; each is read back and compared by ibcc_plan_verify(). After a failure the rest of
 * that node is SKIPPED. Of marking profiles that go back, each port stands alone in all of this. *r
 * must be sized for the plan. Returns 0 if all were verified, -EIO if some were not, -ECANCELED if
 * may_continue said no or the transport was cancelled, -ENOMEM.
 *
 * A node that answers Gets but keeps silent to a Set (FAILED with -ETIMEDOUT) most likely has
 * another CC_Key than ours: the annex wants such a Set dropped without a word.
 */
int ibcc_apply_run(struct ibcc_transport *t, const struct ibcc_plan *plan,
		   const struct ibcc_apply_options *o, struct ibcc_result *r);

#endif
