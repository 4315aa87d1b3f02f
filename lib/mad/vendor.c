/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Asks NVIDIA's devices what their own congestion control does (vendor.h). An SMP that a device
 * does not know may stay unanswered, and a node counts a class 0x21 request without the right key
 * as a violation. So of each type of device a few are asked before the others (canaries).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/device.h>
#include <ibcc/vendor.h>

#include "lib/mad/batch.h"

#define SECOND_NS     1000000000ull
#define PATIENCE_NS   (300 * SECOND_NS)
#define STATISTICS_NS (10 * SECOND_NS)
/* This many devices of a type are asked before the others of that type. */
#define CANARIES 3u

/* Devices with equal IDs. */
struct type {
	uint32_t vendor_id;
	uint16_t device_id;
	uint32_t n_asked, n_told, n_refused; /* SMPs: nodes that were asked, answered, refused */
	uint32_t n_cc_told, n_cc_refused;    /* class 0x21: nodes that answered, refused */
	/* one device of the type has been asked in this round */
	bool cc_canary;
};

struct ask {
	struct ibcc_transport *tr;
	const struct ibcc_topo *t;
	uint64_t cc_key;
	struct ibcc_vendor *v;
	uint32_t n_types;
	struct type *type;
	uint32_t *type_of; /* by endport; IBCC_NONE: do not ask */
	bool *asked;       /* by endport: asked by class 0x21 in this round */
	struct ibcc_batch batch;
};

/* Whether a question goes to this endport in this round. */
typedef bool picks(struct ask *a, uint32_t endport);

static const struct ibcc_topo_node *node_of(const struct ask *a, uint32_t endport)
{
	return &a->t->node[a->t->port[a->t->endport[endport]].node];
}

static uint16_t lid_of(const struct ask *a, uint32_t endport)
{
	return a->t->port[a->t->endport[endport]].lid;
}

static bool is_nvidias(const struct ibcc_topo_node *n)
{
	const struct ibcc_device *d = ibcc_device_find(n->vendor_id, n->device_id);

	if (n->vendor_id != IBCC_VENDOR_MELLANOX && n->vendor_id != IBCC_VENDOR_BULL)
		return false;
	return !d || d->kind == IBCC_DEVICE_HCA || d->kind == IBCC_DEVICE_SWITCH;
}

static uint32_t find_type(struct ask *a, const struct ibcc_topo_node *n)
{
	uint32_t k;

	for (k = 0; k < a->n_types; k++)
		if (a->type[k].vendor_id == n->vendor_id && a->type[k].device_id == n->device_id)
			return k;
	a->type[a->n_types] = (struct type){ .vendor_id = n->vendor_id, .device_id = n->device_id };
	return a->n_types++;
}

/* Counts what is known of the types from before. */
static void count(struct ask *a, uint32_t endport)
{
	const struct ibcc_vendor_endport *e = &a->v->ep[endport];
	struct type *type = &a->type[a->type_of[endport]];

	type->n_asked += e->general != IBCC_VENDOR_UNASKED && e->general != IBCC_VENDOR_SPARED;
	type->n_told += e->general == IBCC_VENDOR_TOLD;
	type->n_refused += e->general == IBCC_VENDOR_REFUSED;
	type->n_cc_told += e->settings == IBCC_VENDOR_TOLD;
	type->n_cc_refused += e->settings == IBCC_VENDOR_REFUSED;
}

static int begin(struct ask *a)
{
	uint32_t n = a->t->n_endports;

	a->type = calloc(n ? n : 1, sizeof(*a->type));
	a->type_of = calloc(n ? n : 1, sizeof(*a->type_of));
	a->asked = calloc(n ? n : 1, sizeof(*a->asked));
	if (!a->type || !a->type_of || !a->asked)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		a->type_of[i] = lid_of(a, i) && is_nvidias(node_of(a, i))
					? find_type(a, node_of(a, i))
					: IBCC_NONE;
		if (a->type_of[i] != IBCC_NONE)
			count(a, i);
	}
	return 0;
}

static void end(struct ask *a)
{
	ibcc_batch_fini(&a->batch);
	free(a->type);
	free(a->type_of);
	free(a->asked);
}

static enum ibcc_vendor_told told(const struct ibcc_mad_op *op)
{
	if (op->err == 0)
		return IBCC_VENDOR_TOLD;
	return ibcc_batch_is_refused(op) ? IBCC_VENDOR_REFUSED : IBCC_VENDOR_SILENT;
}

/* Subnet management */

static bool is_smp_canary(struct ask *a, uint32_t i)
{
	struct type *type = &a->type[a->type_of[i]];

	if (a->v->ep[i].general != IBCC_VENDOR_UNASKED || type->n_told || type->n_asked >= CANARIES)
		return false;
	type->n_asked++;
	return true;
}

static bool is_like_one_that_told(struct ask *a, uint32_t i)
{
	return a->v->ep[i].general == IBCC_VENDOR_UNASKED && a->type[a->type_of[i]].n_told;
}

static int ask_general(struct ask *a, picks *fn)
{
	int rc = 0;

	ibcc_batch_clear(&a->batch);
	for (uint32_t i = 0; i < a->t->n_endports && !rc; i++)
		if (a->type_of[i] != IBCC_NONE && fn(a, i))
			rc = ibcc_batch_smp_get(&a->batch, lid_of(a, i), IBCC_VCC_ATTR_GENERAL_INFO,
						IBCC_VCC_GENERAL_INFO_CAPABILITY,
						(struct ibcc_batch_tag){ .index = i });
	if (!rc)
		rc = ibcc_batch_run_smps(&a->batch, a->tr);
	for (size_t k = 0; k < a->batch.n && !rc; k++) {
		uint32_t i = a->batch.tag[k].index;
		struct ibcc_vendor_endport *e = &a->v->ep[i];

		e->general = told(&a->batch.op[k]);
		if (e->general == IBCC_VENDOR_TOLD)
			ibcc_vcc_general_info_unpack(a->batch.op[k].mad, &e->can);
		a->type[a->type_of[i]].n_told += e->general == IBCC_VENDOR_TOLD;
		a->type[a->type_of[i]].n_refused += e->general == IBCC_VENDOR_REFUSED;
	}
	return rc;
}

static void spare_general(struct ask *a)
{
	for (uint32_t i = 0; i < a->t->n_endports; i++)
		if (a->type_of[i] != IBCC_NONE && a->v->ep[i].general == IBCC_VENDOR_UNASKED)
			a->v->ep[i].general = IBCC_VENDOR_SPARED;
}

/* Class 0x21 */

/* Whether a node may have NVIDIA's congestion control. One of these is true:
 * - It says so.
 * - It is silent to SMPs, perhaps because of an M_Key.
 * - It was not asked, since others of its type are silent, and none refuses.
 */
static bool may_have(const struct ask *a, uint32_t i)
{
	const struct ibcc_vendor_endport *e = &a->v->ep[i];
	const struct type *type = &a->type[a->type_of[i]];

	switch (e->general) {
	case IBCC_VENDOR_TOLD: return ibcc_vcc_can(&e->can, IBCC_VCC_CAP_CC);
	case IBCC_VENDOR_SILENT: return true;
	case IBCC_VENDOR_SPARED: return !type->n_refused;
	case IBCC_VENDOR_UNASKED:
	case IBCC_VENDOR_REFUSED: return false;
	}
	return false;
}

static bool is_due(const struct ask *a, uint32_t i)
{
	enum ibcc_vendor_told t = a->v->ep[i].settings;

	if (!may_have(a, i) || t == IBCC_VENDOR_REFUSED || a->asked[i])
		return false;
	return t == IBCC_VENDOR_UNASKED || t == IBCC_VENDOR_TOLD ||
	       ibcc_transport_now_ns(a->tr) >= a->v->again_ns;
}

/* Whether to ask an endport as the first of its type. An endport that answers SMPs is preferred. */
static bool is_cc_canary(struct ask *a, uint32_t i)
{
	struct type *type = &a->type[a->type_of[i]];

	if (type->n_cc_told + type->n_cc_refused || type->cc_canary || !is_due(a, i) ||
	    (type->n_told && a->v->ep[i].general != IBCC_VENDOR_TOLD))
		return false;
	type->cc_canary = true;
	return true;
}

static bool is_like_one_that_answered(struct ask *a, uint32_t i)
{
	const struct type *type = &a->type[a->type_of[i]];

	return type->n_cc_told + type->n_cc_refused && is_due(a, i);
}

/* Asks for the mechanism's capabilities, and whether it is on. */
static int ask_settings(struct ask *a, picks *fn)
{
	int rc = 0;

	ibcc_batch_clear(&a->batch);
	for (uint32_t i = 0; i < a->t->n_endports && !rc; i++) {
		struct ibcc_batch_tag tag = { .index = i, .kind = IBCC_VCC_ATTR_INFO };

		if (a->type_of[i] == IBCC_NONE || !fn(a, i))
			continue;
		a->asked[i] = true;
		rc = ibcc_batch_cc_get(&a->batch, lid_of(a, i), a->cc_key, tag.kind, 0, tag);
		tag.kind = node_of(a, i)->type == IBCC_NODE_SWITCH ? IBCC_VCC_ATTR_SW_GENERAL
								   : IBCC_VCC_ATTR_CA_GENERAL;
		if (!rc)
			rc = ibcc_batch_cc_get(&a->batch, lid_of(a, i), a->cc_key, tag.kind, 0,
					       tag);
	}
	if (!rc)
		rc = ibcc_batch_run(&a->batch, a->tr);
	return rc;
}

static void take_settings(struct ask *a, const struct ibcc_mad_op *op, uint16_t attr, uint32_t i)
{
	struct ibcc_vendor_endport *e = &a->v->ep[i];
	struct ibcc_vcc_sw_general sw = { 0 };
	struct ibcc_vcc_ca_general ca = { 0 };
	struct ibcc_vcc_info info;

	if (attr == IBCC_VCC_ATTR_INFO) {
		if (op->err)
			return;
		ibcc_vcc_info_unpack(op->mad, &info);
		e->counts = info.CC_Capability_Mask & IBCC_VCC_INFO_STATISTICS;
		e->lists = info.CC_Capability_Mask & IBCC_VCC_INFO_ALGORITHMS;
		return;
	}
	e->settings = told(op);
	a->type[a->type_of[i]].n_cc_told += e->settings == IBCC_VENDOR_TOLD;
	a->type[a->type_of[i]].n_cc_refused += e->settings == IBCC_VENDOR_REFUSED;
	if (e->settings != IBCC_VENDOR_TOLD)
		return;
	if (attr == IBCC_VCC_ATTR_SW_GENERAL)
		ibcc_vcc_sw_general_unpack(op->mad, &sw);
	else
		ibcc_vcc_ca_general_unpack(op->mad, &ca);
	e->reacts = ca.en_react;
	e->buffer_bytes = sw.cap_total_buffer_size;
	e->cc = sw.en || ca.en_react || ca.en_notify ? IBCC_VENDOR_CC_ON : IBCC_VENDOR_CC_OFF;
}

static int ask_and_take(struct ask *a, picks *fn)
{
	int rc = ask_settings(a, fn);

	for (size_t k = 0; k < a->batch.n && !rc; k++)
		take_settings(a, &a->batch.op[k], a->batch.tag[k].kind, a->batch.tag[k].index);
	return rc;
}

/* Judges the nodes that did not answer and may have the mechanism. It may well be on if it is on in
 * other nodes of their type, or if they say that they are capable of it.
 */
static void judge_silent(struct ask *a)
{
	bool any = false;

	for (uint32_t i = 0; i < a->t->n_endports; i++) {
		struct ibcc_vendor_endport *e = &a->v->ep[i];

		if (a->type_of[i] == IBCC_NONE)
			continue;
		if (e->settings == IBCC_VENDOR_UNASKED)
			e->settings = IBCC_VENDOR_SPARED;
		if (e->settings == IBCC_VENDOR_TOLD)
			continue;
		e->reacts = false;
		e->cc = IBCC_VENDOR_CC_NONE;
		if (e->settings == IBCC_VENDOR_REFUSED || !may_have(a, i))
			continue;
		any = true;
		if (e->general == IBCC_VENDOR_TOLD || a->type[a->type_of[i]].n_cc_told)
			e->cc = IBCC_VENDOR_CC_SILENT;
	}
	if (any && ibcc_transport_now_ns(a->tr) >= a->v->again_ns)
		a->v->again_ns = ibcc_transport_now_ns(a->tr) + PATIENCE_NS;
}

int ibcc_vendor_ask(struct ibcc_transport *tr, const struct ibcc_topo *t, uint64_t cc_key,
		    struct ibcc_vendor *v)
{
	struct ask a = { .tr = tr, .t = t, .cc_key = cc_key, .v = v };
	int rc = begin(&a);

	if (!rc)
		rc = ask_general(&a, is_smp_canary);
	if (!rc)
		rc = ask_general(&a, is_like_one_that_told);
	if (!rc) {
		spare_general(&a);
		rc = ask_and_take(&a, is_cc_canary);
	}
	if (!rc)
		rc = ask_and_take(&a, is_like_one_that_answered);
	if (!rc)
		judge_silent(&a);
	ibcc_vendor_sum(v, t);
	end(&a);
	return rc;
}

int ibcc_vendor_ask_algorithms(struct ibcc_transport *tr, const struct ibcc_topo *t,
			       uint64_t cc_key, struct ibcc_vendor *v)
{
	static const struct ibcc_vcc_ca_algorithm question = { .sl_bitmask = 1 };
	struct ibcc_batch batch = { 0 };
	int rc = 0;

	for (uint32_t i = 0; i < v->n && i < t->n_endports && !rc; i++) {
		struct ibcc_batch_tag tag = { .index = i };

		v->ep[i].algorithm = (struct ibcc_vcc_ca_algorithm){ 0 };
		if (v->ep[i].cc != IBCC_VENDOR_CC_ON || !v->ep[i].lists)
			continue;
		rc = ibcc_batch_cc_get(&batch, t->port[t->endport[i]].lid, cc_key,
				       IBCC_VCC_ATTR_CA_ALGORITHM, 0, tag);
		if (!rc)
			ibcc_vcc_ca_algorithm_pack(batch.op[batch.n - 1].mad, &question);
	}
	if (!rc)
		rc = ibcc_batch_run(&batch, tr);
	for (size_t k = 0; k < batch.n && !rc; k++)
		if (!batch.op[k].err)
			ibcc_vcc_ca_algorithm_unpack(batch.op[k].mad,
						     &v->ep[batch.tag[k].index].algorithm);
	ibcc_batch_fini(&batch);
	return rc;
}

static uint64_t grown(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0; /* a lower value: the counter was cleared */
}

/* What a port has sent and received since the statistics were read before. It is not known if its
 * counters were not read at both times, were cleared, are full or are not believed.
 */
static void take_traffic(struct ibcc_vendor_endport *e, const struct ibcc_topo_port *port,
			 const struct ibcc_port_sample *s)
{
	bool read = s->state == IBCC_SAMPLE_FRESH || s->state == IBCC_SAMPLE_FIRST;
	struct ibcc_delta d = { 0 };

	if (read && e->counters_known && e->grown_known && s->trust.doubt == IBCC_DOUBT_NONE &&
	    !ibcc_counters_diff(&e->counters, &s->now, &d))
		ibcc_counters_distrust(&s->now, port->rate_mbps, 0, 0, &d);
	if (ibcc_delta_exact(&d, IBCC_CTR_XMIT_DATA) && ibcc_delta_exact(&d, IBCC_CTR_RCV_DATA)) {
		e->interval_ns = d.dt_ns;
		e->xmit_bytes = 4 * d.v[IBCC_CTR_XMIT_DATA];
		e->rcv_bytes = 4 * d.v[IBCC_CTR_RCV_DATA];
	}
	e->counters = s->now;
	e->counters_known = read;
}

static void take_statistics(struct ibcc_vendor_endport *e, const struct ibcc_topo_port *port,
			    const struct ibcc_port_sample *s, const struct ibcc_mad_op *op,
			    uint64_t now_ns)
{
	struct ibcc_vcc_ca_statistics now, *last = &e->last;

	e->grown = (struct ibcc_vcc_ca_statistics){ 0 };
	e->grown_known = false;
	e->interval_ns = 0;
	if (op->err)
		return;
	ibcc_vcc_ca_statistics_unpack(op->mad, &now);
	if (e->last_known) {
		e->grown = (struct ibcc_vcc_ca_statistics){
			.cnp_ignored = grown(now.cnp_ignored, last->cnp_ignored),
			.cnp_handled = grown(now.cnp_handled, last->cnp_handled),
			.marked_packets = grown(now.marked_packets, last->marked_packets),
			.cnp_sent = grown(now.cnp_sent, last->cnp_sent),
		};
		e->grown_known = now.cnp_ignored >= last->cnp_ignored &&
				 now.cnp_handled >= last->cnp_handled &&
				 now.marked_packets >= last->marked_packets &&
				 now.cnp_sent >= last->cnp_sent;
	}
	take_traffic(e, port, s);
	e->last = now;
	e->last_ns = now_ns;
	e->last_known = true;
}

/* What has come in the interval of a port's counters, out of what has come in `span_ns`. These two
 * differ where the statistics were not read with each pass before, or not answered, and where the
 * port was read alone between two passes.
 */
static uint64_t in_interval(uint64_t more, uint64_t span_ns, uint64_t interval_ns)
{
	uint64_t least = span_ns < interval_ns ? span_ns : interval_ns;

	if (!least || span_ns + interval_ns - 2 * least < least / 2)
		return more;
	return (uint64_t)((double)more * (double)interval_ns / (double)span_ns + 0.5);
}

/* A CNP is the BECN of NVIDIA's control, but its adapters do not count it as one. An adapter whose
 * statistics were not read this time still counts, so it has the counters' width.
 */
static void note_marks(const struct ibcc_vendor_endport *e, uint64_t span_ns,
		       struct ibcc_port_sample *s)
{
	const enum ibcc_ctr ctr[] = { IBCC_CTR_RCV_FECN, IBCC_CTR_RCV_BECN };
	const uint64_t total[] = { e->last.marked_packets, e->last.cnp_handled };
	const uint64_t more[] = { e->grown.marked_packets, e->grown.cnp_handled };

	for (unsigned int i = 0; i < 2; i++) {
		if (s->now.width[ctr[i]])
			continue;
		s->now.width[ctr[i]] = 64;
		s->now.v[ctr[i]] = total[i];
		s->delta.v[ctr[i]] = in_interval(more[i], span_ns, s->delta.dt_ns);
		s->delta.flags[ctr[i]] = e->grown_known ? IBCC_DELTA_VALID : 0;
	}
}

int ibcc_vendor_count(struct ibcc_transport *tr, const struct ibcc_topo *t, uint64_t cc_key,
		      bool marks, struct ibcc_snapshot *s, struct ibcc_vendor *v)
{
	uint64_t now = ibcc_transport_now_ns(tr);
	struct ibcc_batch batch = { 0 };
	int rc = 0;

	if (!v->n_on || (!marks && v->statistics_ns && now - v->statistics_ns < STATISTICS_NS))
		return 0;
	v->statistics_ns = now ? now : 1;
	for (uint32_t i = 0; i < v->n && i < t->n_endports && !rc; i++)
		if (v->ep[i].cc == IBCC_VENDOR_CC_ON && v->ep[i].counts)
			rc = ibcc_batch_cc_get(&batch, t->port[t->endport[i]].lid, cc_key,
					       IBCC_VCC_ATTR_CA_STATISTICS, 0,
					       (struct ibcc_batch_tag){ .index = i });
	if (!rc)
		rc = ibcc_batch_run(&batch, tr);
	for (size_t k = 0; k < batch.n && !rc; k++) {
		uint32_t i = batch.tag[k].index, port = t->endport[i];
		uint64_t span_ns = now - v->ep[i].last_ns;

		take_statistics(&v->ep[i], &t->port[port], &s->port[port], &batch.op[k], now);
		if (marks)
			note_marks(&v->ep[i], span_ns, &s->port[port]);
	}
	ibcc_batch_fini(&batch);
	return rc;
}
