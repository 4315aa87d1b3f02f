/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads the parameters of NVIDIA's congestion control (vendor.h): how each port of a switch marks,
 * and how each adapter reacts and notifies. Gets only. A device that does not answer one of these
 * attributes costs time-outs, so three devices of each type are asked before the others, for one
 * port each.
 */
#include <ibcc/vendor.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/grow.h>
#include <ibcc/mad.h>

#include "lib/mad/batch.h"

/* This many devices of a type are asked before the others of that type. One may be down, or may
 * have another key than the rest.
 */
#define CANARIES 3u
#define ATTRS    2u

/* Devices with equal IDs. */
struct kind {
	const struct ibcc_topo_node *like;
	uint32_t n_canaries;
	uint32_t n_told[ATTRS]; /* ports that answered */
	struct ibcc_vendor_unread unread[ATTRS];
};

struct reading {
	struct ibcc_transport *tr;
	const struct ibcc_topo *t;
	const struct ibcc_vendor *v;
	const bool *which; /* by endport; NULL: all */
	uint64_t cc_key;
	struct ibcc_vendor_parameters *p;
	uint32_t cap;
	uint32_t n_kinds;
	struct kind *kind;
	uint32_t *kind_of; /* by endport; IBCC_NONE: is not read */
	bool *canary;      /* by endport */
	struct ibcc_batch batch;
};

static const uint16_t of_switch[ATTRS] = { IBCC_VCC_ATTR_SW_PROFILE, IBCC_VCC_ATTR_SW_SL_MAPPING };
static const uint16_t of_adapter[ATTRS] = { IBCC_VCC_ATTR_CA_RP, IBCC_VCC_ATTR_CA_NP };

void ibcc_vendor_parameters_fini(struct ibcc_vendor_parameters *p)
{
	free(p->answer);
	free(p->unread);
	*p = (struct ibcc_vendor_parameters){ 0 };
}

static const struct ibcc_topo_node *node_of(const struct reading *x, uint32_t endport)
{
	return &x->t->node[x->t->port[x->t->endport[endport]].node];
}

/* Whether an endport is wanted, has answered before and can still be asked: its link may be down
 * since.
 */
static bool is_read(const struct reading *x, uint32_t endport)
{
	return (!x->which || x->which[endport]) && endport < x->v->n &&
	       x->v->ep[endport].settings == IBCC_VENDOR_TOLD &&
	       x->t->port[x->t->endport[endport]].lid;
}

static uint32_t find_kind(struct reading *x, uint32_t endport)
{
	const struct ibcc_topo_node *n = node_of(x, endport);
	const uint16_t *attr = n->type == IBCC_NODE_SWITCH ? of_switch : of_adapter;
	uint32_t i;

	for (i = 0; i < x->n_kinds; i++)
		if (x->kind[i].like->vendor_id == n->vendor_id &&
		    x->kind[i].like->device_id == n->device_id && x->kind[i].like->type == n->type)
			return i;
	x->kind[i] = (struct kind){ .like = n };
	for (unsigned int k = 0; k < ATTRS; k++)
		x->kind[i].unread[k] = (struct ibcc_vendor_unread){
			.endport = endport,
			.attr_id = attr[k],
			.attribute = ibcc_vcc_parameters_name(attr[k]),
		};
	return x->n_kinds++;
}

static int begin(struct reading *x)
{
	uint32_t n = x->t->n_endports;

	x->kind = calloc(n ? n : 1, sizeof(*x->kind));
	x->kind_of = calloc(n ? n : 1, sizeof(*x->kind_of));
	x->canary = calloc(n ? n : 1, sizeof(*x->canary));
	if (!x->kind || !x->kind_of || !x->canary)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		x->kind_of[i] = is_read(x, i) ? find_kind(x, i) : IBCC_NONE;
		if (x->kind_of[i] != IBCC_NONE)
			x->canary[i] = x->kind[x->kind_of[i]].n_canaries++ < CANARIES;
	}
	return 0;
}

static void end(struct reading *x)
{
	ibcc_batch_fini(&x->batch);
	free(x->kind);
	free(x->kind_of);
	free(x->canary);
}

static int keep(struct reading *x, const struct ibcc_batch_tag *tag, const struct ibcc_mad_op *op)
{
	struct ibcc_vendor_answer *a = ibcc_grow(x->p->answer, x->p->n, &x->cap, sizeof(*a));

	if (!a)
		return -ENOMEM;
	x->p->answer = a;
	a = &a[x->p->n++];
	*a = (struct ibcc_vendor_answer){
		.endport = tag->index,
		.port = (uint8_t)tag->sub,
		.attr_id = x->kind[x->kind_of[tag->index]].unread[tag->kind].attr_id
	};
	memcpy(a->data, op->mad + IBCC_MAD_DATA_OFFS, sizeof(a->data));
	ibcc_transport_cut_data(x->tr, a->data);
	return 0;
}

/* Counts what became of a question. What is open at the deadline has timed out. */
static int take(struct reading *x, const struct ibcc_batch_tag *tag, const struct ibcc_mad_op *op,
		bool late)
{
	struct kind *kind = &x->kind[x->kind_of[tag->index]];
	struct ibcc_vendor_unread *u = &kind->unread[tag->kind];

	if (!op->err) {
		kind->n_told[tag->kind]++;
		return keep(x, tag, op);
	}
	if (ibcc_batch_is_refused(op))
		u->n_refused++;
	else if (late)
		u->n_late++;
	else
		u->n_silent++;
	return 0;
}

static int flush(struct reading *x)
{
	int rc = ibcc_batch_run(&x->batch, x->tr);
	bool late = x->tr->deadline_ns && ibcc_transport_now_ns(x->tr) >= x->tr->deadline_ns;

	for (uint32_t k = 0; k < x->batch.n && !rc; k++)
		rc = take(x, &x->batch.tag[k], &x->batch.op[k], late);
	ibcc_batch_clear(&x->batch);
	return rc;
}

/* Asks one port of an endport for the attribute k of its type; `ask` false: only counts it. */
static int add(struct reading *x, uint32_t endport, unsigned int k, uint8_t port, bool ask)
{
	struct ibcc_vendor_unread *u = &x->kind[x->kind_of[endport]].unread[k];
	int rc;

	u->n++;
	if (!ask) {
		++*(u->n_late ? &u->n_late : &u->n_spared);
		return 0;
	}
	rc = ibcc_batch_cc_get(
		&x->batch, x->t->port[x->t->endport[endport]].lid, x->cc_key, u->attr_id, port,
		(struct ibcc_batch_tag){ .index = endport, .kind = (uint16_t)k, .sub = port });
	return !rc && x->batch.n >= IBCC_BATCH_OPS ? flush(x) : rc;
}

/* A canary's first port in the first round, its other ports and all other endports in the second.
 * The first port of a switch is the first one with a link.
 */
static int add_endport(struct reading *x, uint32_t endport, unsigned int k, bool first_round)
{
	const struct ibcc_topo_node *n = node_of(x, endport);
	bool canary = x->canary[endport];
	bool ask = first_round || x->kind[x->kind_of[endport]].n_told[k];
	unsigned int seen = 0;
	int rc = 0;

	if (n->type != IBCC_NODE_SWITCH)
		return canary == first_round ? add(x, endport, k, 0, ask) : 0;
	for (unsigned int i = 1; i <= n->n_ports && !rc; i++) {
		if (x->t->port[n->first_port + i].peer == IBCC_NONE)
			continue;
		if ((canary && !seen++) == first_round)
			rc = add(x, endport, k, (uint8_t)i, ask);
	}
	return rc;
}

static int ask_round(struct reading *x, bool first_round)
{
	int rc = 0;

	for (uint32_t i = 0; i < x->t->n_endports && !rc; i++)
		for (unsigned int k = 0; k < ATTRS && !rc && x->kind_of[i] != IBCC_NONE; k++)
			rc = add_endport(x, i, k, first_round);
	return rc ? rc : flush(x);
}

/* Lists the attributes that some ports of a type have not answered. */
static int list_unread(struct reading *x)
{
	struct ibcc_vendor_parameters *p = x->p;

	if (!x->n_kinds)
		return 0;
	p->unread = calloc(ATTRS * x->n_kinds, sizeof(*p->unread));
	if (!p->unread)
		return -ENOMEM;
	for (uint32_t i = 0; i < x->n_kinds; i++)
		for (unsigned int k = 0; k < ATTRS; k++)
			if (x->kind[i].n_told[k] < x->kind[i].unread[k].n)
				p->unread[p->n_unread++] = x->kind[i].unread[k];
	return 0;
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
			       uint64_t cc_key, const struct ibcc_vendor *v, const bool *which,
			       struct ibcc_vendor_parameters *p)
{
	struct reading x = { .tr = tr, .t = t, .v = v, .which = which, .cc_key = cc_key, .p = p };
	int rc;

	*p = (struct ibcc_vendor_parameters){ 0 };
	rc = begin(&x);
	if (!rc)
		rc = ask_round(&x, true);
	if (!rc)
		rc = ask_round(&x, false);
	if (!rc)
		rc = list_unread(&x);
	if (!rc && p->n)
		qsort(p->answer, p->n, sizeof(*p->answer), by_place);
	end(&x);
	if (rc)
		ibcc_vendor_parameters_fini(p);
	return rc;
}
