/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Requests gathered for one run of a transport, each with what it is for. Private to lib/mad. */
#ifndef IBCC_MAD_BATCH_H
#define IBCC_MAD_BATCH_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ibcc/transport.h>

/* A batch is sent when it has this many requests. The window runs empty at the end of each batch.
 * The number is large enough for the window to be full nearly all the time, and small enough (2 MB)
 * for fabrics of any size.
 */
#define IBCC_BATCH_OPS 8192u

/* What a request is for; the meaning is the owner's. */
struct ibcc_batch_tag {
	uint32_t index;
	uint16_t kind;
	uint16_t sub;
};

/* All zero is an empty batch. */
struct ibcc_batch {
	struct ibcc_mad_op *op;
	struct ibcc_batch_tag *tag;
	uint32_t n, cap;
};

void ibcc_batch_fini(struct ibcc_batch *b);
static inline void ibcc_batch_clear(struct ibcc_batch *b)
{
	b->n = 0;
}

/* A new request to `lid`, whose datagram the caller writes; NULL without memory. Valid until the
 * next add.
 */
struct ibcc_mad_op *ibcc_batch_add(struct ibcc_batch *b, uint16_t lid, struct ibcc_batch_tag tag);

/* Sends all requests. Returns what the transport's run() returns, or -ECANCELED if it was cancelled
 * on its way, since a cancelled stage must not go on with its next batch.
 */
int ibcc_batch_run(struct ibcc_batch *b, struct ibcc_transport *tr);

/* Sends SMPs, two at a time, because the subnet manager shares the switches' processors with us.
 * Returns as ibcc_batch_run().
 */
int ibcc_batch_run_smps(struct ibcc_batch *b, struct ibcc_transport *tr);

/* Whether a node answered that it has no such class version, method, attribute or field (IBA vol.
 * 1, 13.4.7). It would answer the same again.
 */
static inline bool ibcc_batch_is_refused(const struct ibcc_mad_op *op)
{
	return op->err == -EREMOTEIO && (op->status & IBCC_MAD_STATUS_REFUSED) != 0;
}

/* A new Get of class 0x21 with the key; -ENOMEM. */
int ibcc_batch_cc_get(struct ibcc_batch *b, uint16_t lid, uint64_t cc_key, uint16_t attr_id,
		      uint32_t attr_mod, struct ibcc_batch_tag tag);

/* A new Get of subnet management by LID; -ENOMEM. */
int ibcc_batch_smp_get(struct ibcc_batch *b, uint16_t lid, uint16_t attr_id, uint32_t attr_mod,
		       struct ibcc_batch_tag tag);

/* A new Get of class 0x04 for one port of the node; -ENOMEM. */
int ibcc_batch_pma_get(struct ibcc_batch *b, uint16_t lid, uint16_t attr_id, uint8_t port,
		       struct ibcc_batch_tag tag);

#endif
