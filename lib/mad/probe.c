/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The probe: asks each endport what it can do (PerfMgt, class 0x21, firmware) and notes what
 * answered (probe.h). It writes nothing. Begin with ibcc_probe_run().
 */
#include <ibcc/probe.h>

#include <errno.h>
#include <stdlib.h>

#include <ibcc/device.h>
#include <ibcc/pma.h>

#include "lib/mad/batch.h"

struct probing {
	const struct ibcc_topo *t;
	const struct ibcc_settings *s;
	uint64_t cc_key;
	struct ibcc_probe *p;
	struct ibcc_batch batch;
};

void ibcc_probe_fini(struct ibcc_probe *p)
{
	free(p->ep);
	*p = (struct ibcc_probe){ 0 };
}

static enum ibcc_answer answer(const struct ibcc_mad_op *op)
{
	if (op->err == 0)
		return IBCC_ANSWER_GOOD;
	return ibcc_batch_is_refused(op) ? IBCC_ANSWER_REFUSED : IBCC_ANSWER_SILENT;
}

/* A port of the node that has counters: port 0 of a switch has none. */
static uint8_t counting_port(const struct ibcc_topo *t, const struct ibcc_topo_port *p)
{
	const struct ibcc_topo_node *n = &t->node[p->node];

	for (unsigned int i = 1; !p->num && i <= n->n_ports; i++)
		if (t->port[n->first_port + i].peer != IBCC_NONE)
			return (uint8_t)i;
	return p->num ? p->num : 1;
}

static int ask_pma(struct probing *x, uint32_t i, uint16_t attr_id, uint8_t port)
{
	struct ibcc_batch_tag tag = { .index = i, .kind = IBCC_MAD_CLASS_PERF, .sub = attr_id };

	return ibcc_batch_pma_get(&x->batch, x->t->port[x->t->endport[i]].lid, attr_id, port, tag);
}

static int ask_cc(struct probing *x, uint32_t i)
{
	static const uint16_t attrs[] = { IBCC_CC_ATTR_KEY_INFO, IBCC_CC_ATTR_LOG,
					  IBCC_CC_ATTR_TIMESTAMP };
	const struct ibcc_topo_port *p = &x->t->port[x->t->endport[i]];
	int rc = 0;

	for (size_t k = 0; k < sizeof(attrs) / sizeof(attrs[0]) && !rc; k++)
		rc = ibcc_batch_cc_get(&x->batch, p->lid, x->cc_key, attrs[k], 0,
				       (struct ibcc_batch_tag){ .index = i,
								.kind = IBCC_MAD_CLASS_CC,
								.sub = attrs[k] });
	return rc;
}

static void take_class(const struct probing *x, uint32_t i, const struct ibcc_mad_op *op)
{
	const struct ibcc_topo_node *n = &x->t->node[x->t->port[x->t->endport[i]].node];
	struct ibcc_probe_endport *e = &x->p->ep[i];
	struct ibcc_pma_class_port_info cpi;

	e->pma = answer(op);
	if (op->err)
		return;
	ibcc_pma_class_port_info_unpack(op->mad, &cpi);
	e->cap_mask = cpi.cap_mask;
	e->cap_mask2 = cpi.cap_mask2;
	e->kernel_pma = ibcc_device_has_kernel_pma(ibcc_device_find(n->vendor_id, n->device_id),
						   n->vendor_id, cpi.cap_mask, cpi.cap_mask2);
}

static void take_samples(const struct probing *x, uint32_t i, const struct ibcc_mad_op *op)
{
	struct ibcc_probe_endport *e = &x->p->ep[i];
	struct ibcc_pma_samples_control psc;

	e->samples = answer(op);
	if (op->err)
		return;
	ibcc_pma_samples_control_unpack(op->mad, &psc);
	if (psc.port != counting_port(x->t, &x->t->port[x->t->endport[i]])) {
		e->samples = IBCC_ANSWER_REFUSED;
		return;
	}
	e->tick = psc.tick;
	e->option_mask = psc.option_mask;
}

static void take_key(struct ibcc_probe_endport *e, const struct ibcc_mad_op *op, uint64_t ours)
{
	struct ibcc_cc_key_info k;

	e->key_info = answer(op);
	if (op->err)
		return;
	ibcc_cc_key_info_unpack(op->mad, &k);
	e->protect = k.CC_KeyProtectBit;
	if (k.CC_Key == ours && ours)
		e->key = IBCC_PROBE_KEY_OURS;
	else
		e->key =
			k.CC_Key || k.CC_KeyProtectBit ? IBCC_PROBE_KEY_OTHER : IBCC_PROBE_KEY_NONE;
}

static void take(struct probing *x, const struct ibcc_mad_op *op, const struct ibcc_batch_tag *tag)
{
	struct ibcc_probe_endport *e = &x->p->ep[tag->index];

	if (tag->kind == IBCC_MAD_CLASS_PERF && tag->sub == IBCC_PMA_ATTR_CLASS_PORT_INFO)
		take_class(x, tag->index, op);
	else if (tag->kind == IBCC_MAD_CLASS_PERF)
		take_samples(x, tag->index, op);
	else if (tag->sub == IBCC_CC_ATTR_KEY_INFO)
		take_key(e, op, x->cc_key);
	else if (tag->sub == IBCC_CC_ATTR_LOG)
		e->log = answer(op);
	else
		e->timestamp = answer(op);
}

/* The first questions; ask_samples() has those that depend on their answers. */
static int ask_classes(struct probing *x)
{
	int rc = 0;

	for (uint32_t i = 0; i < x->t->n_endports && !rc; i++) {
		if (!x->t->port[x->t->endport[i]].lid)
			continue;
		rc = ask_pma(x, i, IBCC_PMA_ATTR_CLASS_PORT_INFO, 0);
		if (!rc && i < x->s->n && x->s->ep[i].told)
			rc = ask_cc(x, i);
	}
	return rc;
}

static int ask_samples(struct probing *x)
{
	int rc = 0;

	for (uint32_t i = 0; i < x->t->n_endports && !rc; i++) {
		const struct ibcc_topo_port *p = &x->t->port[x->t->endport[i]];

		if (p->lid && x->p->ep[i].pma != IBCC_ANSWER_SILENT && !x->p->ep[i].kernel_pma)
			rc = ask_pma(x, i, IBCC_PMA_ATTR_SAMPLES_CONTROL, counting_port(x->t, p));
	}
	return rc;
}

static int ask(struct probing *x, struct ibcc_transport *tr, int (*questions)(struct probing *x))
{
	int rc;

	ibcc_batch_clear(&x->batch);
	rc = questions(x);
	if (!rc)
		rc = ibcc_batch_run(&x->batch, tr);
	for (size_t k = 0; k < x->batch.n && !rc; k++)
		take(x, &x->batch.op[k], &x->batch.tag[k]);
	return rc;
}

static bool is_mellanox(const struct ibcc_topo_node *n)
{
	return n->vendor_id == IBCC_VENDOR_MELLANOX || n->vendor_id == IBCC_VENDOR_BULL;
}

/* The first endport with the same type of device as this one. */
static uint32_t first_of_type(const struct ibcc_topo *t, uint32_t endport)
{
	const struct ibcc_topo_node *n = &t->node[t->port[t->endport[endport]].node];
	uint32_t i = 0;

	for (; i < endport; i++) {
		const struct ibcc_topo_node *o = &t->node[t->port[t->endport[i]].node];

		if (t->port[t->endport[i]].lid && o->vendor_id == n->vendor_id &&
		    o->device_id == n->device_id)
			break;
	}
	return i;
}

/* Asks for firmware versions. One device of each type is asked first, and the others only if it
 * answered, since a node without the class, or one that wants a key, does not answer.
 */
static int ask_firmware(struct probing *x, struct ibcc_transport *tr, bool first)
{
	int rc = 0;

	ibcc_batch_clear(&x->batch);
	for (uint32_t i = 0; i < x->t->n_endports && !rc; i++) {
		const struct ibcc_topo_port *p = &x->t->port[x->t->endport[i]];
		uint32_t kin = p->lid ? first_of_type(x->t, i) : i;
		struct ibcc_mad_op *op;

		if (!p->lid || !is_mellanox(&x->t->node[p->node]) || (kin == i) != first ||
		    (!first && !x->p->ep[kin].has_firmware))
			continue;
		op = ibcc_batch_add(&x->batch, p->lid, (struct ibcc_batch_tag){ .index = i });
		rc = op ? 0 : -ENOMEM;
		if (op)
			ibcc_mad_request(op->mad, IBCC_MAD_CLASS_MELLANOX, IBCC_MAD_GET,
					 IBCC_VINFO_ATTR_GENERAL, 0);
	}
	if (!rc)
		rc = ibcc_batch_run(&x->batch, tr);
	for (size_t k = 0; k < x->batch.n && !rc; k++) {
		struct ibcc_probe_endport *e = &x->p->ep[x->batch.tag[k].index];

		e->has_firmware = !x->batch.op[k].err &&
				  ibcc_vinfo_general_unpack(x->batch.op[k].mad, &e->firmware);
	}
	return rc;
}

int ibcc_probe_run(struct ibcc_transport *tr, const struct ibcc_topo *t, uint64_t cc_key,
		   const struct ibcc_settings *s, struct ibcc_probe *p)
{
	struct probing x = { .t = t, .s = s, .cc_key = cc_key, .p = p };
	int rc;

	*p = (struct ibcc_probe){ .n = t->n_endports };
	p->ep = calloc(t->n_endports ? t->n_endports : 1, sizeof(*p->ep));
	rc = p->ep ? 0 : -ENOMEM;
	if (!rc)
		rc = ask(&x, tr, ask_classes);
	if (!rc)
		rc = ask(&x, tr, ask_samples);
	if (!rc)
		rc = ask_firmware(&x, tr, true);
	if (!rc)
		rc = ask_firmware(&x, tr, false);
	ibcc_batch_fini(&x.batch);
	if (rc)
		ibcc_probe_fini(p);
	return rc;
}
