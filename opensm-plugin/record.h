/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the plugin has written for clients since OpenSM began, and what was there before. From this
 * the plugin knows which changes restore earlier settings. It does not rely on a client's claim
 * about that, for two reasons. A change that restores is let through without counting it, and the
 * auto-revert timeout does not disable it. This module has no threads, clocks or MADs.
 */
#ifndef IBCC_PLUGIN_RECORD_H
#define IBCC_PLUGIN_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/book.h>
#include <ibcc/plan.h>
#include <ibcc/topo.h>

struct ibcc_record_key {
	uint64_t node_guid, cc_key;
	uint8_t port;
};

struct ibcc_record {
	struct ibcc_book left; /* what clients had written and not reverted */
	uint64_t cc_key;       /* key of the last plan */
	uint64_t seq;          /* number of plans noted */
	/* The keys of the endports that were written, in order; with files of keys they differ. */
	struct ibcc_record_key *key;
	uint32_t n_keys, cap_keys;
};

void ibcc_record_fini(struct ibcc_record *d);

/* Sets change:back of each change of a plan that reverts an attribute in the record, or disables
 * it. Clears it in all other changes, and plan:back. -ENOMEM: clears all.
 */
int ibcc_record_mark(const struct ibcc_record *d, struct ibcc_plan *plan);

/* Records the outcome of a plan, of a client or of the plugin itself. */
void ibcc_record_note(struct ibcc_record *d, const struct ibcc_plan *plan,
		      const struct ibcc_result *r, uint64_t cc_key);

/* The plan that reverts everything, with the LIDs of t and each node's key. Leaves out nodes that
 * are gone. The call initialises *plan. -ENOMEM.
 */
int ibcc_record_plan(const struct ibcc_record *d, const struct ibcc_topo *t,
		     struct ibcc_plan *plan);

#endif
