/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* NVIDIA's own attributes at a node: the congestion control of its newer devices, whose settings
 * are in vendor_settings.c, firmware versions, adaptive routing.
 */
#include <errno.h>
#include <string.h>

#include <ibcc/ccmad.h>
#include <ibcc/pma.h>
#include <ibcc/vendor_cc.h>
#include <ibcc/vendor_info.h>
#include <ibcc/vendor_route.h>

#include "lib/agents/state.h"

static const struct ibcc_agent_quirks *quirks_of(const struct ibcc_agents *a, uint32_t endport)
{
	return &a->quirks[a->topo->port[a->topo->endport[endport]].node];
}

/* Statistics of an adapter. Annex A10 counts BECNs and no CNPs: there each mark counts as a CNP
 * sent, and a BECN as handled if the adapter says that it reacts.
 */
static void statistics(struct ibcc_agents *a, uint32_t endport, uint8_t *mad)
{
	uint32_t port = a->topo->endport[endport];
	bool reacts = ibcc_agents_vendor_reacts(a, endport);
	struct ibcc_vcc_ca_statistics v = { 0 };
	struct ibcc_engine_port c;

	if (!ibcc_agents_counters(a, port, &c)) {
		v.marked_packets = c.rcv_fecn;
		if (ibcc_engine_dcqcn(a->engine, port)) {
			v.cnp_sent = c.cnp_sent;
			v.cnp_handled = c.cnp_handled;
			v.cnp_ignored = c.cnp_ignored;
		} else {
			v.cnp_sent = c.rcv_fecn;
			v.cnp_handled = reacts ? c.rcv_becn : 0;
			v.cnp_ignored = reacts ? 0 : c.rcv_becn;
		}
	}
	ibcc_vcc_ca_statistics_pack(mad, &v);
}

/* The list of an adapter's algorithms: one, in slot 0, which runs for all SLs while control is on.
 */
static int algorithm(bool on, uint8_t *mad)
{
	struct ibcc_vcc_ca_algorithm v;

	ibcc_vcc_ca_algorithm_unpack(mad, &v);
	v = (struct ibcc_vcc_ca_algorithm){ .algo_status = on,
					    .sl_bitmask = v.sl_bitmask,
					    .n_slots = IBCC_VCC_SLOTS,
					    .slot = { { 1, 2, 3 } } };
	ibcc_vcc_ca_algorithm_pack(mad, &v);
	return IBCC_MAD_STATUS_OK;
}

/* NVIDIA's attributes of class 0x21. */
int ibcc_agents_vendor_cc(struct ibcc_agents *a, uint32_t endport, const struct ibcc_mad_header *h,
			  uint8_t *mad)
{
	const struct ibcc_agent_quirks *q = quirks_of(a, endport);
	bool is_switch =
		ibcc_topo_is_switch(a->topo, a->topo->port[a->topo->endport[endport]].node);

	if (!q->nvidia_cc)
		return IBCC_MAD_STATUS_BAD_ATTR;
	if (q->no_parameters && ibcc_vcc_parameters_name(h->attr_id))
		return -ETIMEDOUT;
	switch (h->attr_id) {
	case IBCC_VCC_ATTR_INFO:
	case IBCC_VCC_ATTR_CA_STATISTICS:
	case IBCC_VCC_ATTR_CA_ALGORITHM: break;
	default: return ibcc_agents_vendor_register(a, endport, h, mad);
	}
	if (h->method != IBCC_MAD_GET || (is_switch && h->attr_id != IBCC_VCC_ATTR_INFO))
		return IBCC_MAD_STATUS_BAD_ATTR;
	if (h->attr_mod)
		return IBCC_MAD_STATUS_BAD_FIELD;
	switch (h->attr_id) {
	case IBCC_VCC_ATTR_INFO:
		ibcc_vcc_info_pack(mad,
				   &(struct ibcc_vcc_info){
					   .ver0 = true,
					   .ver1 = !is_switch,
					   .CC_Capability_Mask =
						   is_switch ? 0
							     : IBCC_VCC_INFO_STATISTICS |
								       IBCC_VCC_INFO_ALGORITHMS });
		return IBCC_MAD_STATUS_OK;
	case IBCC_VCC_ATTR_CA_STATISTICS: statistics(a, endport, mad); return IBCC_MAD_STATUS_OK;
	default: return algorithm(ibcc_agents_vendor_reacts(a, endport), mad);
	}
}

/* NVIDIA's vendor class: the firmware's version. A node without the class does not answer at all.
 * The content of ClassPortInfo is not used by any client, so the request comes back as it was.
 */
int ibcc_agents_vendor_info(struct ibcc_agents *a, uint32_t endport,
			    const struct ibcc_mad_header *h, uint8_t *mad)
{
	const struct ibcc_profile *p = &a->profile[a->topo->port[a->topo->endport[endport]].node];

	if (!p->firmware[0])
		return -ETIMEDOUT;
	if (h->method != IBCC_MAD_GET)
		return IBCC_MAD_STATUS_BAD_METHOD;
	if (h->attr_id == IBCC_PMA_ATTR_CLASS_PORT_INFO)
		return IBCC_MAD_STATUS_OK;
	if (h->attr_id != IBCC_VINFO_ATTR_GENERAL)
		return IBCC_MAD_STATUS_BAD_ATTR;
	ibcc_vinfo_general_pack(mad, &(struct ibcc_vinfo_general){ .device_id = p->device_id,
								   .major = p->firmware[0],
								   .minor = p->firmware[1],
								   .sub = p->firmware[2] });
	return IBCC_MAD_STATUS_OK;
}

static void set_bit(struct ibcc_vcc_general_info *v, enum ibcc_vcc_capability bit)
{
	v->word[bit / 32] |= 1u << bit % 32;
}

static int general_info(const struct ibcc_agent_quirks *q, const struct ibcc_mad_header *h,
			uint8_t *mad)
{
	struct ibcc_vcc_general_info v = { { 0 } };

	if (h->attr_mod != IBCC_VCC_GENERAL_INFO_CAPABILITY)
		return IBCC_MAD_STATUS_BAD_FIELD;
	if (q->nvidia_cc)
		set_bit(&v, IBCC_VCC_CAP_CC);
	if (q->adaptive)
		set_bit(&v, IBCC_VCC_CAP_ADAPTIVE_ROUTING);
	ibcc_vcc_general_info_pack(mad, &v);
	return IBCC_MAD_STATUS_OK;
}

/* NVIDIA's attributes of subnet management: capabilities, adaptive routing. Only Get is known. */
int ibcc_agents_vendor_smp(struct ibcc_agents *a, uint32_t endport, const struct ibcc_mad_header *h,
			   uint8_t *mad)
{
	const struct ibcc_agent_quirks *q = quirks_of(a, endport);
	struct ibcc_vroute_adaptive ar = { .enabled = q->adaptive_sls,
					   .by_sl = true,
					   .sl_mask = q->adaptive_sls };

	if (!q->nvidia_cc && !q->adaptive)
		return IBCC_MAD_STATUS_BAD_ATTR;
	if (h->method != IBCC_MAD_GET)
		return IBCC_MAD_STATUS_BAD_METHOD;
	if (h->attr_id == IBCC_VCC_ATTR_GENERAL_INFO)
		return general_info(q, h, mad);
	if (h->attr_id != IBCC_VROUTE_ATTR_ADAPTIVE || !q->adaptive)
		return IBCC_MAD_STATUS_BAD_ATTR;
	ibcc_vroute_adaptive_pack(mad, &ar);
	return IBCC_MAD_STATUS_OK;
}
