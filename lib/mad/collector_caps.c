/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What nodes and ports can count. The collector asks once, and asks nodes again that are silent or
 * refuse. After a refusal, the last answer counts, or, if there is none, what every port must have.
 */
#include <errno.h>

#include <ibcc/pma.h>

#include "lib/mad/collector_state.h"

void ibcc_caps_take_class(struct ibcc_collector *c, const struct ibcc_mad_op *op, uint32_t node)
{
	struct ibcc_node_state *n = &c->node[node];
	struct ibcc_pma_class_port_info cpi;

	n->err = op->err;
	if (op->err < 0 && !ibcc_batch_is_refused(op))
		return;
	n->known = true;
	n->silent = false;
	if (op->err < 0) {
		if (!n->refusal.wait)
			ibcc_refusal_note(&n->refusal, c->pass);
		return;
	}
	n->refusal.wait = 0;
	ibcc_pma_class_port_info_unpack(op->mad, &cpi);
	n->redirect = cpi.redirect;
	n->ext = cpi.cap_mask & (IBCC_PMA_CAP_EXT_WIDTH | IBCC_PMA_CAP_EXT_WIDTH_NOIETF);
	n->ext_wait = n->ext && cpi.cap_mask2 & IBCC_PMA_CAP2_EXT_XMIT_WAIT;
	n->sum.can = n->ext && cpi.cap_mask & IBCC_PMA_CAP_ALL_PORT;
	n->kernel_pma =
		ibcc_device_has_kernel_pma(n->device, n->vendor_id, cpi.cap_mask, cpi.cap_mask2);
	n->plain_wait = cpi.cap_mask & IBCC_PMA_CAP_XMIT_WAIT || n->kernel_pma;
}

void ibcc_caps_take_control(struct ibcc_collector *c, const struct ibcc_mad_op *op, uint32_t port)
{
	struct ibcc_port_state *p = &c->port[port];
	struct ibcc_pma_samples_control psc;

	if (op->err < 0 && !ibcc_batch_is_refused(op))
		return;
	p->known = true;
	if (op->err < 0) {
		if (!p->refusal.wait)
			ibcc_refusal_note(&p->refusal, c->pass);
		return;
	}
	p->refusal.wait = 0;
	ibcc_pma_samples_control_unpack(op->mad, &psc);
	if (psc.port != p->num)
		return; /* the answer is not genuine */
	p->has_tick = true;
	p->tick = psc.tick;
	p->fecn = psc.option_mask & IBCC_PMA_OPT_RCV_FECN;
	p->becn = psc.option_mask & IBCC_PMA_OPT_RCV_BECN;
}

/* Whether the pass has no time left for more questions. */
static bool is_late(struct ibcc_transport *tr)
{
	return tr->deadline_ns && ibcc_transport_now_ns(tr) >= tr->deadline_ns;
}

int ibcc_caps_ask_classes(struct ibcc_collector *c, struct ibcc_transport *tr,
			  const struct ibcc_topo *t)
{
	int rc = 0;

	for (uint32_t i = 0; i < t->n_nodes && rc == 0 && !is_late(tr); i++) {
		struct ibcc_batch_tag tag = { .index = i, .kind = IBCC_ASK_CLASS };
		uint32_t port = ibcc_collector_first_active(t, i);
		struct ibcc_node_state *n = &c->node[i];
		bool again = ibcc_refusal_is_due(&n->refusal, c->pass);

		if ((n->known && !n->silent && !again) || port == IBCC_NONE || n->left_out)
			continue;
		if (again)
			ibcc_refusal_note(&n->refusal, c->pass);
		n->known = n->known && !n->silent;
		rc = ibcc_batch_pma_get(&c->batch, ibcc_collector_lid(t, port),
					IBCC_PMA_ATTR_CLASS_PORT_INFO, 0, tag);
		if (rc == 0)
			rc = ibcc_collector_flush_if_full(c, tr, t);
	}
	return rc < 0 ? rc : ibcc_collector_flush(c, tr, t);
}

/* Whether to ask a port for its congestion counters. Some nodes never answer this question; their
 * traffic can be counted nevertheless.
 */
static bool wants_control(const struct ibcc_collector *c, struct ibcc_port_state *p)
{
	if (ibcc_refusal_is_due(&p->refusal, c->pass)) {
		ibcc_refusal_note(&p->refusal, c->pass);
		return true;
	}
	if (p->known || !ibcc_ask_in_pass(c->pass, p->tries))
		return false;
	p->tries += p->tries < IBCC_ASK_TRIES;
	return true;
}

int ibcc_caps_ask_controls(struct ibcc_collector *c, struct ibcc_transport *tr,
			   const struct ibcc_topo *t)
{
	int rc = 0;

	for (uint32_t i = 0; i < t->n_ports && rc == 0; i++) {
		struct ibcc_port_state *p = &c->port[i];

		p->asked = ibcc_collector_is_active(t, i) && (!c->only || c->only[i]);
		p->got = p->errors_asked = p->errors_got = false;
		p->err = 0;
		p->now = (struct ibcc_counters){ 0 };
		if (!p->asked || !c->node[t->port[i].node].known ||
		    c->node[t->port[i].node].kernel_pma || is_late(tr) || !wants_control(c, p))
			continue;
		rc = ibcc_collector_add(c, t, i, IBCC_ASK_CONTROL, IBCC_PMA_ATTR_SAMPLES_CONTROL);
		if (rc == 0)
			rc = ibcc_collector_flush_if_full(c, tr, t);
	}
	return rc < 0 ? rc : ibcc_collector_flush(c, tr, t);
}
