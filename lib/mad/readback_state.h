/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the files share that read settings back: readback.c asks which endports have the class,
 * readback_settings.c reads their settings.
 */
#ifndef IBCC_MAD_READBACK_STATE_H
#define IBCC_MAD_READBACK_STATE_H

#include <ibcc/collect.h>

#include "lib/mad/batch.h"

/* An endport while it is read. */
struct ibcc_reading {
	uint32_t endport;
	uint16_t lid;
	uint8_t n_ports;
	bool is_switch;
	bool had_elements; /* when the endport was read before */
	/* the endport had no such class, so it is not sent the key */
	bool keyless;
	/* the node has a block that exists only with 32 elements a block */
	bool second_block;
	uint8_t block0[IBCC_MAD_BYTES]; /* block 0 of attribute 0x15 */
	unsigned int n_cct;
	uint8_t silences; /* silences before this reading */
	/* a block of the table is missing, although CongestionInfo promises it */
	bool lacks_block;
	uint16_t limit[IBCC_CCT_MAX_BLOCKS]; /* the limit that each block gave */
};

struct ibcc_readback {
	struct ibcc_transport *tr;
	const struct ibcc_topo *t;
	uint64_t cc_key;
	struct ibcc_settings *s;
	const bool *which; /* endports to be read; NULL: all */
	struct ibcc_batch batch;
	struct ibcc_reading *r;
	uint32_t n;
};

static inline struct ibcc_endport_cc *ibcc_readback_cc(const struct ibcc_readback *rb,
						       const struct ibcc_reading *r)
{
	return &rb->s->ep[r->endport];
}

/* Gathers a Get about reading i; -ENOMEM. */
int ibcc_readback_add(struct ibcc_readback *rb, uint32_t i, uint16_t attr_id, uint16_t block);
/* Sends the gathered requests, and refused ones again. */
int ibcc_readback_send(struct ibcc_readback *rb);
/* Notes that a request failed, so that nothing certain is known of the endport. */
void ibcc_readback_failed(struct ibcc_endport_cc *cc, const struct ibcc_mad_op *op);

/* Reads the settings of endports that have the class, and what can be asked only when the size of
 * blocks is known.
 */
int ibcc_readback_settings(struct ibcc_readback *rb);
int ibcc_readback_blocks(struct ibcc_readback *rb);

#endif
