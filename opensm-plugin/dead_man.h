/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The dead man's switch: what clients have had written since OpenSM began is taken off when none of
 * them has been connected for so long. Without threads, clocks or MADs of its own.
 */
#ifndef IBCC_PLUGIN_DEAD_MAN_H
#define IBCC_PLUGIN_DEAD_MAN_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/book.h>
#include <ibcc/plan.h>
#include <ibcc/topo.h>

struct ibcc_dead_man_key {
	uint64_t node_guid, cc_key;
	uint8_t port;
};

struct ibcc_dead_man {
	uint64_t after_ms;     /* without a client; 0: never */
	struct ibcc_book left; /* what clients had written, and did not take back */
	uint64_t cc_key;       /* of the last plan */
	uint64_t seq;          /* plans noted */
	/* What each endport wants that was written to: with files of keys those differ. In order.
	 */
	struct ibcc_dead_man_key *key;
	uint32_t n_keys, cap_keys;
	uint64_t alive_ms; /* when there was a client last, or the last try */
};

void ibcc_dead_man_fini(struct ibcc_dead_man *d);

/* Takes what became of a plan, a client's or our own. */
void ibcc_dead_man_note(struct ibcc_dead_man *d, const struct ibcc_plan *plan,
			const struct ibcc_result *r, uint64_t cc_key);

/* To be called about once a second: is it time to take something off? Then again after as long. */
bool ibcc_dead_man_is_due(struct ibcc_dead_man *d, bool has_clients, uint64_t now_ms);

/* The plan for that, with the LIDs of t and each node's key: nodes that are gone are left out.
 * *plan is initialised by the call. -ENOMEM.
 */
int ibcc_dead_man_plan(const struct ibcc_dead_man *d, const struct ibcc_topo *t,
		       struct ibcc_plan *plan);

#endif
