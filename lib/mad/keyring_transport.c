/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A transport around another one that puts the nodes' keys into requests in the place of the
 * keyring's mark, and the mark into answers in the place of the keys. So keys appear in no other
 * part of the program.
 */
#include <stdlib.h>

#include <ibcc/ccmad.h>
#include <ibcc/mad.h>

#include "lib/mad/keyfile.h"

/* Where the M_Key is in subnet management datagrams of either class. */
#define M_KEY_OFFS 24

struct keyed {
	struct ibcc_transport base;
	struct ibcc_transport *inner;
	const struct ibcc_keyring *keys;
};

static void put_m_key(const struct keyed *t, struct ibcc_mad_op *op)
{
	uint64_t key = ibcc_keyring_m_key(t->keys, op->lid);

	for (unsigned int i = 0; i < 8; i++)
		op->mad[M_KEY_OFFS + i] = (uint8_t)(key >> (56 - 8 * i));
}

/* Replaces the key that CongestionKeyInfo carries. */
static void swap_key_info(uint8_t *mad, uint64_t from, uint64_t to)
{
	struct ibcc_cc_key_info v;

	ibcc_cc_key_info_unpack(mad, &v);
	if (v.CC_Key != from)
		return;
	v.CC_Key = to;
	ibcc_cc_key_info_pack(mad, &v);
}

/* Puts keys into a request. */
static void before(const struct keyed *t, struct ibcc_mad_op *op)
{
	uint64_t mark = ibcc_keyring_mark(t->keys), own = ibcc_keyring_cc_key(t->keys, op->lid);
	struct ibcc_mad_header h;

	ibcc_mad_header_unpack(op->mad, &h);
	if (ibcc_mad_is_smp(op->mad))
		put_m_key(t, op);
	if (h.mgmt_class != IBCC_MAD_CLASS_CC)
		return;
	if (ibcc_cc_key_unpack(op->mad) == mark)
		ibcc_cc_key_pack(op->mad, own);
	if (h.attr_id == IBCC_CC_ATTR_KEY_INFO && h.method == IBCC_MAD_SET)
		swap_key_info(op->mad, mark, own);
}

/* Takes the key out of an answer. */
static void after(const struct keyed *t, struct ibcc_mad_op *op)
{
	uint64_t mark = ibcc_keyring_mark(t->keys), own = ibcc_keyring_cc_key(t->keys, op->lid);
	struct ibcc_mad_header h;

	ibcc_mad_header_unpack(op->mad, &h);
	if (op->err || !own || h.mgmt_class != IBCC_MAD_CLASS_CC)
		return;
	if (h.attr_id == IBCC_CC_ATTR_KEY_INFO)
		swap_key_info(op->mad, own, mark);
}

static int keyed_run(struct ibcc_transport *base, struct ibcc_mad_op *op, size_t n)
{
	struct keyed *t = (struct keyed *)base;
	int rc;

	for (size_t i = 0; i < n; i++)
		before(t, &op[i]);
	t->inner->deadline_ns = base->deadline_ns;
	rc = ibcc_transport_run(t->inner, op, n);
	base->stats = t->inner->stats;
	for (size_t i = 0; i < n; i++)
		after(t, &op[i]);
	return rc;
}

static uint64_t keyed_now_ns(struct ibcc_transport *base)
{
	return ibcc_transport_now_ns(((struct keyed *)base)->inner);
}

static uint64_t keyed_fabric_ns(struct ibcc_transport *base)
{
	return ibcc_transport_fabric_ns(((struct keyed *)base)->inner);
}

static void keyed_cancel(struct ibcc_transport *base)
{
	ibcc_transport_cancel(((struct keyed *)base)->inner);
}

static void keyed_free(struct ibcc_transport *base)
{
	ibcc_transport_free(((struct keyed *)base)->inner);
	free(base);
}

static const struct ibcc_transport_ops keyed_ops = {
	.run = keyed_run,
	.now_ns = keyed_now_ns,
	.fabric_ns = keyed_fabric_ns,
	.cancel = keyed_cancel,
	.free = keyed_free,
};

struct ibcc_transport *ibcc_keyring_transport(const struct ibcc_keyring *k,
					      struct ibcc_transport *inner)
{
	struct keyed *t = inner ? calloc(1, sizeof(*t)) : NULL;

	if (!t) {
		ibcc_transport_free(inner);
		return NULL;
	}
	t->base.ops = &keyed_ops;
	t->base.stats = inner->stats;
	t->base.simulated = inner->simulated;
	t->base.whole_bytes = inner->whole_bytes;
	t->inner = inner;
	t->keys = k;
	return &t->base;
}
