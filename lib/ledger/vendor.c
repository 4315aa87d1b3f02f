/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What is known of NVIDIA's own congestion control at each endport (vendor.h): carrying it over
 * to a new topology, sums over the fabric, and which nodes must not be written because that
 * control is on.
 */
#include <ibcc/vendor.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/device.h>

void ibcc_vendor_fini(struct ibcc_vendor *v)
{
	free(v->ep);
	*v = (struct ibcc_vendor){ 0 };
}

/* The same endport in another topology, or IBCC_NONE. */
static uint32_t same_endport(const struct ibcc_topo *from, const struct ibcc_topo *to,
			     uint32_t endport)
{
	const struct ibcc_topo_port *p = &to->port[to->endport[endport]];
	uint32_t node = ibcc_topo_find_guid(from, to->node[p->node].guid);
	uint32_t port = node == IBCC_NONE ? IBCC_NONE : ibcc_topo_port_index(from, node, p->num);

	return port == IBCC_NONE ? IBCC_NONE : from->port[port].endport;
}

int ibcc_vendor_rebase(struct ibcc_vendor *v, const struct ibcc_topo *from,
		       const struct ibcc_topo *to)
{
	struct ibcc_vendor_endport *ep = calloc(to->n_endports ? to->n_endports : 1, sizeof(*ep));

	if (!ep)
		return -ENOMEM;
	for (uint32_t i = 0; from && i < to->n_endports; i++) {
		uint32_t old = same_endport(from, to, i);

		/* A node that did not answer is asked again: the fabric may have been the cause. */
		if (old < v->n && (v->ep[old].general == IBCC_VENDOR_TOLD ||
				   v->ep[old].general == IBCC_VENDOR_REFUSED))
			ep[i] = v->ep[old];
	}
	free(v->ep);
	v->ep = ep;
	v->n = to->n_endports;
	v->again_ns = 0;
	ibcc_vendor_sum(v, to);
	return 0;
}

static int make_room(struct ibcc_endport_cc *ep, unsigned int n)
{
	if (ep->n_profile)
		return 0;
	ep->profile = calloc(n, sizeof(*ep->profile));
	if (!ep->profile)
		return -ENOMEM;
	ep->n_profile = (uint16_t)n;
	return 0;
}

int ibcc_vendor_take(const struct ibcc_vendor *v, const struct ibcc_topo *t,
		     const struct ibcc_vendor_answer *a, struct ibcc_settings *s)
{
	struct ibcc_endport_cc *ep = &s->ep[a->endport];
	int rc;

	if (a->attr_id == IBCC_VCC_ATTR_CA_RP) {
		ibcc_vcc_rp_unpack(a->data, &ep->rp);
		ep->rp_known = true;
		return 0;
	}
	if (a->attr_id != IBCC_VCC_ATTR_SW_PROFILE && a->attr_id != IBCC_VCC_ATTR_SW_SL_MAPPING)
		return 0;
	rc = make_room(ep, t->node[t->port[t->endport[a->endport]].node].n_ports + 1u);
	if (rc || a->port >= ep->n_profile)
		return rc;
	ep->buffer_bytes = v->ep[a->endport].buffer_bytes;
	if (a->attr_id == IBCC_VCC_ATTR_SW_SL_MAPPING) {
		ep->profile[a->port].used = ibcc_vcc_profiles_used(a->data);
		return 0;
	}
	ep->profile[a->port].known = true;
	memcpy(ep->profile[a->port].data, a->data, sizeof(a->data));
	return 0;
}

uint32_t ibcc_vendor_port_buffer(uint32_t switch_bytes, const struct ibcc_topo *t, uint32_t port)
{
	uint32_t ports = t->node[t->port[port].node].n_ports;
	uint32_t vls = t->port[port].op_vls ? t->port[port].op_vls : 1;

	return switch_bytes / (ports ? ports : 1) / vls;
}

void ibcc_vendor_sum(struct ibcc_vendor *v, const struct ibcc_topo *t)
{
	v->n_loose = v->loose_sls = 0;
	v->n_off = v->n_on = v->n_silent = v->n_marking = v->n_reacting = 0;
	for (uint32_t i = 0; i < v->n; i++) {
		bool is_switch = ibcc_topo_is_switch(t, t->port[t->endport[i]].node);

		v->n_loose += v->ep[i].loose_sls != 0;
		v->loose_sls |= v->ep[i].loose_sls;

		switch (v->ep[i].cc) {
		case IBCC_VENDOR_CC_NONE: break;
		case IBCC_VENDOR_CC_OFF: v->n_off++; break;
		case IBCC_VENDOR_CC_SILENT: v->n_silent++; break;
		case IBCC_VENDOR_CC_ON:
			v->n_on++;
			v->n_marking += is_switch;
			v->n_reacting += !is_switch && v->ep[i].reacts;
			break;
		}
	}
}

/* Whether a node's device may have NVIDIA's congestion control, so that it is asked before a
 * write.
 */
static bool may_have(const struct ibcc_topo_node *n)
{
	const struct ibcc_device *d = ibcc_device_find(n->vendor_id, n->device_id);

	if (!d)
		return n->vendor_id == IBCC_VENDOR_MELLANOX || n->vendor_id == IBCC_VENDOR_BULL;
	switch (d->family) {
	case IBCC_FAMILY_MLX5:
	case IBCC_FAMILY_QUANTUM:
	case IBCC_FAMILY_QUANTUM2:
	case IBCC_FAMILY_QUANTUM3: return true;
	case IBCC_FAMILY_MLX4:
	case IBCC_FAMILY_INFINISCALE:
	case IBCC_FAMILY_SWITCHX:
	case IBCC_FAMILY_SWITCH_IB:
	case IBCC_FAMILY_SWITCH_IB2:
	case IBCC_FAMILY_QIB: return false;
	}
	return true;
}

void ibcc_vendor_mark(const struct ibcc_topo *t, struct ibcc_plan *plan)
{
	for (uint32_t i = 0; i < plan->n; i++) {
		uint32_t node = ibcc_topo_find_guid(t, plan->change[i].node_guid);

		plan->change[i].ask_vendor = node != IBCC_NONE && may_have(&t->node[node]);
	}
}

enum ibcc_cc_support ibcc_vendor_block(const struct ibcc_vendor *v, uint32_t endport)
{
	if (endport >= v->n)
		return IBCC_CC_SUPPORTED;
	switch (v->ep[endport].cc) {
	case IBCC_VENDOR_CC_ON: return IBCC_CC_VENDOR_ON;
	case IBCC_VENDOR_CC_SILENT: return IBCC_CC_VENDOR_SILENT;
	case IBCC_VENDOR_CC_NONE:
	case IBCC_VENDOR_CC_OFF: break;
	}
	return IBCC_CC_SUPPORTED;
}
