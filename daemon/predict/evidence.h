/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* All that a prediction is made from, as copies: by the predictor's thread while passes go on, and
 * elsewhere, from a bundle.
 */
#ifndef IBCC_DAEMON_EVIDENCE_H
#define IBCC_DAEMON_EVIDENCE_H

#include <jansson.h>

#include <ibcc/cycle.h>
#include <ibcc/prediction.h>

struct ibcc_evidence {
	struct ibcc_topo *topo;
	struct ibcc_loads before, now;
	struct ibcc_root *root; /* without pairs; their BECN counts are owned, too */
	struct ibcc_settings actual, wanted;
	/* Of these; without a budget and a clock. `refuse` is what the fabric forbids: whether
	 * there is a plan at all is not in it.
	 */
	struct ibcc_prediction_in in;
};

/* Of a cycle that has decided, with its loads; settings are those from before what it wrote. All of
 * it is copied. -ENOMEM. Needs ibcc_evidence_fini() whatever it returns.
 */
int ibcc_evidence_make(struct ibcc_evidence *e, const struct ibcc_cycle *c,
		       const struct ibcc_memory *m, uint64_t age_ns,
		       const struct ibcc_settings *wanted);
void ibcc_evidence_fini(struct ibcc_evidence *e);

/* Lets its `in` point to its parts, once all are there. */
void ibcc_evidence_point(struct ibcc_evidence *e);

/* {"age_s","moved","intervals","intervals_before","packet_bytes","cannot","loads","roots","writes"},
 * see the man page; nodes are told by their index in the topology. NULL without memory.
 */
json_t *ibcc_evidence_write(const struct ibcc_evidence *e);
/* The reverse, on a topology and settings as read, both copied; nothing of it is trusted. -EINVAL
 * with a sentence that names the place; -ENOMEM. Needs ibcc_evidence_fini() whatever it returns.
 */
int ibcc_evidence_read(struct ibcc_evidence *e, const json_t *o, const struct ibcc_topo *t,
		       const struct ibcc_settings *actual, struct ibcc_why *why);

#endif
