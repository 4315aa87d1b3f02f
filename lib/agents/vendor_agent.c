/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* NVIDIA's own attributes at a node: the congestion control of its newer devices as far as it can
 * be read, firmware versions, adaptive routing. The statistics are those of the engine, which
 * counts marks and BECNs alike under annex A10 and DCQCN. A CNP is counted for each mark, though
 * under DCQCN one CNP may answer several.
 */
#include <errno.h>
#include <string.h>

#include <ibcc/ccmad.h>
#include <ibcc/dcqcn.h>
#include <ibcc/pma.h>
#include <ibcc/vendor_cc.h>
#include <ibcc/vendor_info.h>
#include <ibcc/vendor_route.h>

#include "lib/agents/state.h"

static const struct ibcc_agent_quirks *quirks_of(const struct ibcc_agents *a, uint32_t endport)
{
	return &a->quirks[a->topo->port[a->topo->endport[endport]].node];
}

/* Statistics of an adapter: BECNs count as handled while the control is on, as ignored otherwise.
 */
static void statistics(struct ibcc_agents *a, uint32_t endport, bool on, uint8_t *mad)
{
	struct ibcc_vcc_ca_statistics v = { 0 };
	struct ibcc_engine_port c;

	if (!ibcc_agents_counters(a, a->topo->endport[endport], &c)) {
		v.marked_packets = c.rcv_fecn;
		v.cnp_sent = c.rcv_fecn;
		v.cnp_handled = on ? c.rcv_becn : 0;
		v.cnp_ignored = on ? 0 : c.rcv_becn;
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

/* Writes one value for each field of an attribute of parameters. */
static int parameters(uint16_t attr_id, const uint32_t *value, uint8_t *mad)
{
	unsigned int n;
	const struct ibcc_vcc_field *f = ibcc_vcc_fields(attr_id, &n);

	memset(mad + IBCC_MAD_DATA_OFFS, 0, IBCC_CC_DATA_BYTES);
	for (unsigned int i = 0; i < n; i++)
		ibcc_vcc_field_set(mad + IBCC_MAD_DATA_OFFS, &f[i], value[i]);
	return IBCC_MAD_STATUS_OK;
}

/* How an adapter reacts: the factory values, but for an increase that was set. */
static int reaction(const struct ibcc_agent_quirks *q, uint8_t *mad)
{
	struct ibcc_dcqcn_rp p;

	ibcc_dcqcn_rp_defaults(&p);
	return parameters(IBCC_VCC_ATTR_CA_RP,
			  (uint32_t[]){ p.clamp_tgt_rate, p.clamp_tgt_rate_after_time_inc,
					p.rpg_time_reset_us, p.rpg_byte_reset_bytes,
					p.rpg_threshold, p.rpg_max_rate_mbps,
					q->ai_rate_mbps ? q->ai_rate_mbps : p.rpg_ai_rate_mbps,
					p.rpg_hai_rate_mbps, p.rpg_gd, p.rpg_min_dec_fac,
					p.rpg_min_rate_mbps, p.rate_to_set_on_first_cnp_mbps,
					p.dce_tcp_g, p.dce_tcp_rtt_us,
					p.rate_reduce_monitor_period_us, p.initial_alpha_value },
			  mad);
}

/* The parameters of a switch's port: choices, in fixed mode and KB, with profile 1 for all SLs. */
static int port_parameters(struct ibcc_agents *a, uint32_t endport, uint16_t attr_id, uint32_t port,
			   uint8_t *mad)
{
	static const uint32_t profile[] = {
		0, 1, 0xffff, 100, 20, 400, 200, 10, 800, 400, 5, 1600
	};
	static const uint32_t sls[] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
	const struct ibcc_topo_node *n =
		&a->topo->node[a->topo->port[a->topo->endport[endport]].node];

	if (n->type != IBCC_NODE_SWITCH)
		return IBCC_MAD_STATUS_BAD_ATTR;
	if (!port || port > n->n_ports)
		return IBCC_MAD_STATUS_BAD_FIELD;
	return parameters(attr_id, attr_id == IBCC_VCC_ATTR_SW_PROFILE ? profile : sls, mad);
}

/* NVIDIA's attributes of class 0x21. Only Get is known. */
int ibcc_agents_vendor_cc(struct ibcc_agents *a, uint32_t endport, const struct ibcc_mad_header *h,
			  uint8_t *mad)
{
	const struct ibcc_agent_quirks *q = quirks_of(a, endport);
	bool is_switch =
		ibcc_topo_is_switch(a->topo, a->topo->port[a->topo->endport[endport]].node);
	bool on = q->vendor_cc == IBCC_NVIDIA_CC_ON;

	if (q->vendor_cc == IBCC_NVIDIA_CC_NONE)
		return IBCC_MAD_STATUS_BAD_ATTR;
	if (h->method != IBCC_MAD_GET)
		return IBCC_MAD_STATUS_BAD_METHOD;
	if (q->no_parameters && ibcc_vcc_parameters_name(h->attr_id))
		return -ETIMEDOUT;
	if (h->attr_id == IBCC_VCC_ATTR_SW_PROFILE || h->attr_id == IBCC_VCC_ATTR_SW_SL_MAPPING)
		return port_parameters(a, endport, h->attr_id, h->attr_mod, mad);
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
	case IBCC_VCC_ATTR_SW_GENERAL:
		if (!is_switch)
			return IBCC_MAD_STATUS_BAD_ATTR;
		ibcc_vcc_sw_general_pack(mad, &(struct ibcc_vcc_sw_general){ .en = on });
		return IBCC_MAD_STATUS_OK;
	case IBCC_VCC_ATTR_CA_GENERAL:
		if (is_switch)
			return IBCC_MAD_STATUS_BAD_ATTR;
		ibcc_vcc_ca_general_pack(
			mad, &(struct ibcc_vcc_ca_general){ .en_notify = on, .en_react = on });
		return IBCC_MAD_STATUS_OK;
	case IBCC_VCC_ATTR_CA_RP: return is_switch ? IBCC_MAD_STATUS_BAD_ATTR : reaction(q, mad);
	case IBCC_VCC_ATTR_CA_NP:
		return is_switch ? IBCC_MAD_STATUS_BAD_ATTR
				 : parameters(h->attr_id, (uint32_t[]){ 4, 0, 0, 0, 0 }, mad);
	case IBCC_VCC_ATTR_CA_STATISTICS:
		if (is_switch)
			return IBCC_MAD_STATUS_BAD_ATTR;
		statistics(a, endport, on, mad);
		return IBCC_MAD_STATUS_OK;
	case IBCC_VCC_ATTR_CA_ALGORITHM:
		return is_switch ? IBCC_MAD_STATUS_BAD_ATTR : algorithm(on, mad);
	}
	return IBCC_MAD_STATUS_BAD_ATTR;
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
	if (q->vendor_cc != IBCC_NVIDIA_CC_NONE)
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

	if (q->vendor_cc == IBCC_NVIDIA_CC_NONE && !q->adaptive)
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
