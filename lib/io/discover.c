/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Walks a fabric from a local port.
 *
 * On our own transport rather than libibnetdisc, which waits for ever for an SMP that got lost
 * below umad2sim, aborts when its peer goes away, and does not say when nodes did not answer. And
 * on one that stays open: below umad2sim opening a port waits for a server that has stopped, and an
 * answer that comes after a port was closed ends the process.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/collect.h>
#include <ibcc/smp.h>
#include <ibcc/walk.h>

#include "lib/io/batch.h"

/* Far more than the largest fabric takes of which everything answers. */
#define DEADLINE_NS 30000000000u

/* Gathers the Gets that wait, at most a batch of them; their number or -ENOMEM. */
static int gather(struct ibcc_walk *w, struct ibcc_batch *b, struct ibcc_walk_get *get)
{
	int rc = 1;

	ibcc_batch_clear(b);
	while (rc > 0 && b->n < IBCC_BATCH_OPS) {
		uint8_t mad[IBCC_MAD_BYTES];
		struct ibcc_mad_op *op;

		rc = ibcc_walk_next(w, &get[b->n], mad);
		if (rc <= 0)
			break;
		op = ibcc_batch_add(b, IBCC_SMP_PERMISSIVE_LID, (struct ibcc_batch_tag){ 0 });
		if (!op)
			return -ENOMEM;
		memcpy(op->mad, mad, sizeof(mad));
	}
	return rc < 0 ? rc : (int)b->n;
}

static int walk(struct ibcc_walk *w, struct ibcc_transport *tr, unsigned int *lost)
{
	struct ibcc_walk_get *get = calloc(IBCC_BATCH_OPS, sizeof(*get));
	struct ibcc_batch b = { 0 };
	int rc = get ? 1 : -ENOMEM;

	while (rc > 0 && (rc = gather(w, &b, get)) > 0) {
		rc = ibcc_batch_run(&b, tr);
		for (size_t k = 0; k < b.n && rc == 0; k++) {
			const struct ibcc_mad_op *op = &b.op[k];

			*lost += op->err && !ibcc_batch_is_refused(op);
			rc = ibcc_walk_answer(w, &get[k], op->err ? NULL : op->mad);
		}
		rc = rc ? rc : 1;
	}
	ibcc_batch_fini(&b);
	free(get);
	return rc;
}

struct ibcc_topo *ibcc_discover_walk(struct ibcc_transport *tr, int *err, char *why, size_t len)
{
	const struct ibcc_walk_options o = { .sl2vl = true };
	struct ibcc_walk *w = ibcc_walk_new(&o);
	struct ibcc_topo *t = NULL;
	unsigned int lost = 0, odd = 0;
	int rc;

	tr->deadline_ns = ibcc_transport_now_ns(tr) + DEADLINE_NS;
	rc = w ? walk(w, tr, &lost) : -ENOMEM;
	tr->deadline_ns = 0;
	if (rc == 0) {
		t = ibcc_walk_topo(w, &odd);
		rc = !t ? -ENOMEM : !t->n_nodes ? -ENOLINK : 0;
	}
	ibcc_walk_free(w);
	*err = rc;
	snprintf(why, len, "%s", "");
	if (rc == 0) {
		if (lost || odd)
			snprintf(why, len,
				 "incomplete: %u requests without answer, %u contradictions", lost,
				 odd);
		return t;
	}
	ibcc_topo_free(t);
	if (rc == -ENOLINK)
		snprintf(why, len, "the local port does not answer SMPs");
	else
		snprintf(why, len, "discovery failed: %s", strerror(-rc));
	return NULL;
}
