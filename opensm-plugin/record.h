/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What clients have had written since OpenSM began, and what was there before. By this the plugin
 * knows which changes are a way back to the settings before. It does not take a client's word for
 * that, since a way back is let through without counting it, and is not taken off by the dead man's
 * switch. Without threads, clocks or MADs of its own.
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
	struct ibcc_book left; /* what clients had written, and did not take back */
	uint64_t cc_key;       /* of the last plan */
	uint64_t seq;          /* plans noted */
	/* What each endport wants that was written to: with files of keys those differ. In order.
	 */
	struct ibcc_record_key *key;
	uint32_t n_keys, cap_keys;
};

void ibcc_record_fini(struct ibcc_record *d);

/* Sets change:back of each change of a plan that puts an attribute in the record back to what was
 * there before, or takes it off, and clears it of all others and plan:back. -ENOMEM: of all.
 */
int ibcc_record_mark(const struct ibcc_record *d, struct ibcc_plan *plan);

/* Takes what became of a plan of a client, or of the plugin's own. */
void ibcc_record_note(struct ibcc_record *d, const struct ibcc_plan *plan,
		      const struct ibcc_result *r, uint64_t cc_key);

/* The plan that takes all of it back, with the LIDs of t and each node's key: nodes that are gone
 * are left out. *plan is initialised by the call. -ENOMEM.
 */
int ibcc_record_plan(const struct ibcc_record *d, const struct ibcc_topo *t,
		     struct ibcc_plan *plan);

#endif
