/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads the parameters of NVIDIA's congestion control (vendor.h): how each port of a switch marks,
 * and how each adapter reacts and notifies. Gets only. A device that does not answer one of these
 * attributes costs time-outs, so one port of each device type is asked before the others.
 */
#include <ibcc/vendor.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/mad.h>

#include "lib/mad/batch.h"

struct reading {
	struct ibcc_transport *tr;
	const struct ibcc_topo *t;
	uint64_t cc_key;
	struct ibcc_vendor_parameters *p;
	uint32_t cap;
	uint32_t n_first; /* answers of the first round */
	struct ibcc_batch batch;
};

static const uint16_t of_switch[2] = { IBCC_VCC_ATTR_SW_PROFILE, IBCC_VCC_ATTR_SW_SL_MAPPING };
static const uint16_t of_adapter[2] = { IBCC_VCC_ATTR_CA_RP, IBCC_VCC_ATTR_CA_NP };

void ibcc_vendor_parameters_fini(struct ibcc_vendor_parameters *p)
{
	free(p->answer);
	*p = (struct ibcc_vendor_parameters){ 0 };
}

static const struct ibcc_topo_node *node_of(const struct reading *x, uint32_t endport)
{
	return &x->t->node[x->t->port[x->t->endport[endport]].node];
}

/* Whether an endport has answered before and can still be asked: its link may be down since. */
static bool has_answered(const struct reading *x, const struct ibcc_vendor *v, uint32_t endport)
{
	return endport < v->n && v->ep[endport].settings == IBCC_VENDOR_TOLD &&
	       x->t->port[x->t->endport[endport]].lid;
}

/* The first endport with the type of this one that has answered class 0x21. */
static uint32_t first_of_type(const struct reading *x, const struct ibcc_vendor *v,
			      uint32_t endport)
{
	const struct ibcc_topo_node *n = node_of(x, endport);
	uint32_t i = 0;

	for (; i < endport; i++)
		if (has_answered(x, v, i) && node_of(x, i)->vendor_id == n->vendor_id &&
		    node_of(x, i)->device_id == n->device_id)
			break;
	return i;
}

/* Whether an endport has answered an attribute in the first round. */
static bool is_known(const struct reading *x, uint32_t endport, uint16_t attr)
{
	for (uint32_t i = 0; i < x->n_first; i++)
		if (x->p->answer[i].endport == endport && x->p->answer[i].attr_id == attr)
			return true;
	return false;
}

static int keep(struct reading *x, const struct ibcc_batch_tag *tag, uint8_t port,
		const struct ibcc_mad_op *op)
{
	struct ibcc_vendor_answer *a;

	if (x->p->n == x->cap) {
		uint32_t cap = x->cap ? 2 * x->cap : 256;

		a = reallocarray(x->p->answer, cap, sizeof(*a));
		if (!a)
			return -ENOMEM;
		x->p->answer = a;
		x->cap = cap;
	}
	a = &x->p->answer[x->p->n++];
	*a = (struct ibcc_vendor_answer){ .endport = tag->index,
					  .port = port,
					  .attr_id = tag->kind };
	memcpy(a->data, op->mad + IBCC_MAD_DATA_OFFS, sizeof(a->data));
	return 0;
}

static int flush(struct reading *x)
{
	int rc = ibcc_batch_run(&x->batch, x->tr);

	for (uint32_t k = 0; k < x->batch.n && !rc; k++)
		if (!x->batch.op[k].err)
			rc = keep(x, &x->batch.tag[k], (uint8_t)x->batch.tag[k].sub,
				  &x->batch.op[k]);
	ibcc_batch_clear(&x->batch);
	return rc;
}

static int add(struct reading *x, uint32_t endport, uint16_t attr, uint8_t port)
{
	int rc = ibcc_batch_cc_get(
		&x->batch, x->t->port[x->t->endport[endport]].lid, x->cc_key, attr, port,
		(struct ibcc_batch_tag){ .index = endport, .kind = attr, .sub = port });

	return !rc && x->batch.n >= IBCC_BATCH_OPS ? flush(x) : rc;
}

/* Asks an endport for one attribute: `first` is an adapter, or the first linked port of a switch;
 * `rest` are the other linked ports.
 */
static int ask(struct reading *x, uint32_t endport, uint16_t attr, bool first, bool rest)
{
	const struct ibcc_topo_node *n = node_of(x, endport);
	unsigned int seen = 0;
	int rc = 0;

	if (n->type != IBCC_NODE_SWITCH)
		return first ? add(x, endport, attr, 0) : 0;
	for (unsigned int i = 1; i <= n->n_ports && !rc; i++) {
		if (x->t->port[n->first_port + i].peer == IBCC_NONE)
			continue;
		if (seen++ ? rest : first)
			rc = add(x, endport, attr, (uint8_t)i);
	}
	return rc;
}

/* One round: the first port of the first endport of each type, or all others of the types where
 * that one answered.
 */
static int ask_round(struct reading *x, const struct ibcc_vendor *v, bool canaries)
{
	int rc = 0;

	for (uint32_t i = 0; i < x->t->n_endports && !rc; i++) {
		const uint16_t *attr =
			node_of(x, i)->type == IBCC_NODE_SWITCH ? of_switch : of_adapter;
		uint32_t kin = has_answered(x, v, i) ? first_of_type(x, v, i) : IBCC_NONE;

		if (kin == IBCC_NONE || (canaries && kin != i))
			continue;
		for (unsigned int k = 0; k < 2 && !rc; k++)
			if (canaries || is_known(x, kin, attr[k]))
				rc = ask(x, i, attr[k], kin != i || canaries, !canaries);
	}
	if (!rc)
		rc = flush(x);
	if (canaries)
		x->n_first = x->p->n;
	return rc;
}

static int by_place(const void *a, const void *b)
{
	const struct ibcc_vendor_answer *x = a, *y = b;

	if (x->endport != y->endport)
		return x->endport < y->endport ? -1 : 1;
	if (x->port != y->port)
		return x->port < y->port ? -1 : 1;
	return (x->attr_id > y->attr_id) - (x->attr_id < y->attr_id);
}

int ibcc_vendor_ask_parameters(struct ibcc_transport *tr, const struct ibcc_topo *t,
			       uint64_t cc_key, const struct ibcc_vendor *v,
			       struct ibcc_vendor_parameters *p)
{
	struct reading x = { .tr = tr, .t = t, .cc_key = cc_key, .p = p };
	int rc;

	*p = (struct ibcc_vendor_parameters){ 0 };
	rc = ask_round(&x, v, true);
	if (!rc)
		rc = ask_round(&x, v, false);
	if (!rc && p->n)
		qsort(p->answer, p->n, sizeof(*p->answer), by_place);
	ibcc_batch_fini(&x.batch);
	if (rc)
		ibcc_vendor_parameters_fini(p);
	return rc;
}
