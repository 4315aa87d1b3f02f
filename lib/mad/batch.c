/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Batches: growing arrays of requests and their tags (batch.h). */
#include "lib/mad/batch.h"

#include <errno.h>
#include <stdlib.h>

#include <ibcc/ccmad.h>
#include <ibcc/grow.h>
#include <ibcc/pma.h>

#define SMPS 2u

void ibcc_batch_fini(struct ibcc_batch *b)
{
	free(b->op);
	free(b->tag);
	*b = (struct ibcc_batch){ 0 };
}

struct ibcc_mad_op *ibcc_batch_add(struct ibcc_batch *b, uint16_t lid, struct ibcc_batch_tag tag)
{
	uint32_t cap = b->cap; /* capacity of each of the two arrays */
	struct ibcc_mad_op *op = ibcc_grow(b->op, b->n, &cap, sizeof(*op));
	struct ibcc_batch_tag *t;

	if (!op)
		return NULL;
	b->op = op;
	t = ibcc_grow(b->tag, b->n, &b->cap, sizeof(*t));
	if (!t)
		return NULL;
	b->tag = t;
	b->tag[b->n] = tag;
	b->op[b->n] = (struct ibcc_mad_op){ .lid = lid };
	return &b->op[b->n++];
}

int ibcc_batch_run(struct ibcc_batch *b, struct ibcc_transport *tr)
{
	int rc = b->n ? ibcc_transport_run(tr, b->op, b->n) : 0;

	for (size_t i = 0; i < b->n && rc == 0; i++) {
		if (b->op[i].err == -ECANCELED)
			rc = -ECANCELED;
	}
	return rc;
}

int ibcc_batch_run_smps(struct ibcc_batch *b, struct ibcc_transport *tr)
{
	int rc = 0;

	for (size_t k = 0; k < b->n && rc == 0; k += SMPS) {
		size_t n = b->n - k < SMPS ? b->n - k : SMPS;

		rc = ibcc_transport_run(tr, b->op + k, n);
		for (size_t m = k; m < k + n && rc == 0; m++)
			rc = b->op[m].err == -ECANCELED ? -ECANCELED : 0;
	}
	return rc;
}

int ibcc_batch_smp_get(struct ibcc_batch *b, uint16_t lid, uint16_t attr_id, uint32_t attr_mod,
		       struct ibcc_batch_tag tag)
{
	struct ibcc_mad_op *op = ibcc_batch_add(b, lid, tag);

	if (!op)
		return -ENOMEM;
	ibcc_mad_request(op->mad, IBCC_MAD_CLASS_SMP, IBCC_MAD_GET, attr_id, attr_mod);
	return 0;
}

int ibcc_batch_cc_get(struct ibcc_batch *b, uint16_t lid, uint64_t cc_key, uint16_t attr_id,
		      uint32_t attr_mod, struct ibcc_batch_tag tag)
{
	struct ibcc_mad_op *op = ibcc_batch_add(b, lid, tag);

	if (!op)
		return -ENOMEM;
	ibcc_mad_request(op->mad, IBCC_MAD_CLASS_CC, IBCC_MAD_GET, attr_id, attr_mod);
	ibcc_cc_key_pack(op->mad, cc_key);
	return 0;
}

int ibcc_batch_pma_get(struct ibcc_batch *b, uint16_t lid, uint16_t attr_id, uint8_t port,
		       struct ibcc_batch_tag tag)
{
	struct ibcc_mad_op *op = ibcc_batch_add(b, lid, tag);
	struct ibcc_pma_select select = { .port = port };

	if (!op)
		return -ENOMEM;
	ibcc_mad_request(op->mad, IBCC_MAD_CLASS_PERF, IBCC_MAD_GET, attr_id, 0);
	ibcc_pma_select_pack(op->mad, attr_id, &select);
	return 0;
}
