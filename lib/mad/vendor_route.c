/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Asks NVIDIA's switches whether packets go where the forwarding table says. */
#include <errno.h>
#include <stdlib.h>

#include <ibcc/vendor.h>
#include <ibcc/vendor_route.h>

#include "lib/mad/batch.h"

/* A switch's answers. One that did not answer is taken to use what it is capable of. */
struct answer {
	struct ibcc_vroute_adaptive adaptive;
	struct ibcc_vroute_private_lft private_lft;
};

static bool can(const struct ibcc_vendor_endport *e, enum ibcc_vcc_capability bit)
{
	return e->general == IBCC_VENDOR_TOLD && ibcc_vcc_can(&e->can, bit);
}

static int gather(const struct ibcc_topo *t, const struct ibcc_vendor *v, struct ibcc_batch *b)
{
	int rc = 0;

	for (uint32_t i = 0; i < v->n && i < t->n_endports && !rc; i++) {
		const struct ibcc_topo_port *p = &t->port[t->endport[i]];
		struct ibcc_batch_tag tag = { .index = i, .kind = IBCC_VROUTE_ATTR_ADAPTIVE };

		if (!p->lid || !ibcc_topo_is_switch(t, p->node))
			continue;
		if (can(&v->ep[i], IBCC_VCC_CAP_ADAPTIVE_ROUTING))
			rc = ibcc_batch_smp_get(b, p->lid, tag.kind, 0, tag);
		tag.kind = IBCC_VROUTE_ATTR_PRIVATE_LFT;
		if (!rc && can(&v->ep[i], IBCC_VCC_CAP_PRIVATE_LFT))
			rc = ibcc_batch_smp_get(b, p->lid, tag.kind, 0, tag);
	}
	return rc;
}

static void take(struct answer *a, const struct ibcc_mad_op *op, uint16_t attr_id)
{
	bool silent = op->err && !ibcc_batch_is_refused(op);

	if (attr_id == IBCC_VROUTE_ATTR_ADAPTIVE) {
		a->adaptive.enabled = silent;
		if (!op->err)
			ibcc_vroute_adaptive_unpack(op->mad, &a->adaptive);
	} else {
		a->private_lft.active_mode = silent;
		if (!op->err)
			ibcc_vroute_private_lft_unpack(op->mad, &a->private_lft);
	}
}

int ibcc_vendor_ask_routes(struct ibcc_transport *tr, const struct ibcc_topo *t,
			   struct ibcc_vendor *v)
{
	struct answer *answer = calloc(v->n ? v->n : 1, sizeof(*answer));
	struct ibcc_batch batch = { 0 };
	int rc = answer ? gather(t, v, &batch) : -ENOMEM;

	if (!rc)
		rc = ibcc_batch_run_smps(&batch, tr);
	for (size_t k = 0; k < batch.n && !rc; k++)
		take(&answer[batch.tag[k].index], &batch.op[k], batch.tag[k].kind);
	for (uint32_t i = 0; i < v->n && !rc; i++)
		v->ep[i].loose_sls = ibcc_vroute_sls(&answer[i].adaptive, &answer[i].private_lft);
	ibcc_vendor_sum(v, t);
	ibcc_batch_fini(&batch);
	free(answer);
	return rc;
}
