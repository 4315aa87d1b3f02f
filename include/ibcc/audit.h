/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Compares the book with the fabric. After a crash, the audit looks at the nodes to find out which
 * changes were made. It also finds what others have changed since (ibccconfig, a reboot).
 */
#ifndef IBCC_AUDIT_H
#define IBCC_AUDIT_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/book.h>
#include <ibcc/plan.h>
#include <ibcc/settings.h>
#include <ibcc/throttle.h>
#include <ibcc/topo.h>
#include <ibcc/why.h>

/* What the fabric says about a change that was written down. */
enum ibcc_audit_finding {
	IBCC_AUDIT_NOTHING, /* the node is gone, or did not answer */
	IBCC_AUDIT_NEW,     /* the change was made */
	IBCC_AUDIT_OLD,     /* it was not */
	IBCC_AUDIT_OTHER,   /* there is neither the old value nor the new one */
};

struct ibcc_audit {
	/* Changes of which it was not known whether they were made, as they were found: */
	uint32_t n_made, n_unmade, n_other;
	/* Settings that differ from those that ibcc-tune wrote: old is what is there, new what we
	 * wrote last. Where a node must be sent more for that to take effect, the rest of it as
	 * well.
	 */
	struct ibcc_plan drift;
	uint32_t n_drift_nodes;
	/* Endports with congestion control on by settings that are not in the books: of the site's
	 * own, or ours from before the state file was lost.
	 */
	uint32_t n_unknown;
	uint64_t unknown_guid; /* the first */
	/* Adapters that are held back more than by what we wrote last. */
	struct ibcc_throttle_excess excess;
};

/* Looks a change up in the settings that were just read; the node's LID of now goes into it. */
enum ibcc_audit_finding ibcc_audit_look(const struct ibcc_topo *t,
					const struct ibcc_settings *actual, struct ibcc_change *c);

/* Compares settings just read with the book. *a has no more than the counts of changes that were
 * settled before. Nodes that are gone, or did not answer, are left for another time. -ENOMEM.
 */
int ibcc_audit_run(const struct ibcc_book *b, const struct ibcc_topo *t,
		   const struct ibcc_settings *actual, struct ibcc_audit *a);
void ibcc_audit_fini(struct ibcc_audit *a);

/* Foreign settings in a sentence; empty if there are none. */
void ibcc_audit_unknown_text(const struct ibcc_topo *t, const struct ibcc_audit *a,
			     struct ibcc_why *text);

/* The drift in a sentence; empty if there is none. */
void ibcc_audit_text(const struct ibcc_topo *t, const struct ibcc_audit *a, struct ibcc_why *text);

#endif
