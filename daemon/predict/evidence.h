/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* All data that a prediction is made from, as copies. The predictor's thread uses them while
 * polling cycles continue, and other programs use them from a bundle.
 */
#ifndef IBCC_DAEMON_EVIDENCE_H
#define IBCC_DAEMON_EVIDENCE_H

#include <jansson.h>

#include <ibcc/cycle.h>
#include <ibcc/prediction.h>

struct ibcc_evidence {
	struct ibcc_topo *topo;
	struct ibcc_loads before, now;
	struct ibcc_root *root; /* without marked pairs; owned, as are their BECN counts */
	struct ibcc_settings actual, wanted;
	/* Points to the parts above, without a budget and a clock. `refuse` is what the fabric
	 * rules out. It does not say whether there is a plan at all.
	 */
	struct ibcc_prediction_in in;
};

/* From a cycle that has decided, with its loads. Settings are those from before its writes. Copies
 * everything. -ENOMEM. Call ibcc_evidence_fini() whatever it returns.
 */
int ibcc_evidence_make(struct ibcc_evidence *e, const struct ibcc_cycle *c,
		       const struct ibcc_memory *m, uint64_t age_ns,
		       const struct ibcc_settings *wanted);
void ibcc_evidence_fini(struct ibcc_evidence *e);

/* Sets the pointers in `in`, once all parts are there. */
void ibcc_evidence_point(struct ibcc_evidence *e);

/* {"age_s","moved","intervals","intervals_before","packet_bytes","cannot","loads","roots",
 * "writes"}, see the man page. Nodes are given as their index in the topology. NULL without memory.
 */
json_t *ibcc_evidence_write(const struct ibcc_evidence *e);
/* Reads what ibcc_evidence_write() wrote, with a topology and settings, which it copies. It trusts
 * none of the input. -EINVAL with a sentence that names the place; -ENOMEM. Call
 * ibcc_evidence_fini() whatever it returns.
 */
int ibcc_evidence_read(struct ibcc_evidence *e, const json_t *o, const struct ibcc_topo *t,
		       const struct ibcc_settings *actual, struct ibcc_why *why);

#endif
