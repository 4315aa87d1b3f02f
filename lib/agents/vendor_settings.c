/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* NVIDIA's settings of congestion control at a node: registers that MADs read and write, and what
 * they mean for the engine.
 *
 * A register is the attribute's data as they were set, so that bits without a public meaning stay,
 * too: newer devices have such bits, and a program that writes whole attributes would clear them.
 * Ports whose registers nobody has set have what the engine's model says.
 */
#include <errno.h>
#include <string.h>

#include <ibcc/ccmad.h>

#include "lib/agents/state.h"

#define KB_BYTES  1024u
#define BYTES_MAX 0xfffffu /* of a profile's field */
/* What a switch says that it can, which a Set does not change: cap_total_buffer_size and
 * cap_cc_profile_step_size.
 */
#define CAP_BUFFER       4u
#define CAP_BUFFER_BYTES 4u
#define CAP_STEP         11u

/* Places among the fields of PortProfileSettings, and in each profile of them, of HCARPParameters
 * and of HCANPParameters: the order of ibcc_vcc_fields().
 */
enum { F_MODE, F_UNIT, F_VL_MASK, F_PROFILE };
enum { F_MIN, F_PERCENT, F_MAX, F_PER_PROFILE };
enum { F_AI_RATE = 6, RP_FIELDS = 16 };
enum { F_CNP_TIME, F_CNP_SL_MODE, F_CNP_SL = 4 };

static uint32_t get(const uint8_t *reg, uint16_t attr_id, unsigned int i)
{
	unsigned int n;
	const struct ibcc_vcc_field *f = ibcc_vcc_fields(attr_id, &n);

	return ibcc_vcc_field_get(reg, &f[i]);
}

static void set(uint8_t *reg, uint16_t attr_id, unsigned int i, uint32_t v)
{
	unsigned int n;
	const struct ibcc_vcc_field *f = ibcc_vcc_fields(attr_id, &n);

	ibcc_vcc_field_set(reg, &f[i], v);
}

/* The members of the reaction's parameters, in the order of the fields of HCARPParameters. */
static void rp_values(const struct ibcc_dcqcn_rp *p, uint32_t value[RP_FIELDS])
{
	const uint32_t v[RP_FIELDS] = { p->clamp_tgt_rate,
					p->clamp_tgt_rate_after_time_inc,
					p->rpg_time_reset_us,
					p->rpg_byte_reset_bytes,
					p->rpg_threshold,
					p->rpg_max_rate_mbps,
					p->rpg_ai_rate_mbps,
					p->rpg_hai_rate_mbps,
					p->rpg_gd,
					p->rpg_min_dec_fac,
					p->rpg_min_rate_mbps,
					p->rate_to_set_on_first_cnp_mbps,
					p->dce_tcp_g,
					p->dce_tcp_rtt_us,
					p->rate_reduce_monitor_period_us,
					p->initial_alpha_value };

	memcpy(value, v, sizeof(v));
}

/* A port's marking profiles. They are in KB where bytes do not fit. */
static void profiles_write(uint8_t *reg, const struct ibcc_dcqcn *d)
{
	const uint16_t attr = IBCC_VCC_ATTR_SW_PROFILE;
	uint32_t unit = 1;

	for (unsigned int i = 0; i < IBCC_DCQCN_PROFILES; i++)
		if (d->profile[i].max > BYTES_MAX)
			unit = KB_BYTES;
	set(reg, attr, F_MODE, d->profile[0].percentage);
	set(reg, attr, F_UNIT, unit != 1);
	set(reg, attr, F_VL_MASK, 0xffff);
	for (unsigned int i = 0; i < IBCC_DCQCN_PROFILES; i++) {
		unsigned int first = F_PROFILE + F_PER_PROFILE * i;

		set(reg, attr, first + F_MIN, d->profile[i].min / unit);
		set(reg, attr, first + F_PERCENT, d->profile[i].percent);
		set(reg, attr, first + F_MAX, d->profile[i].max / unit);
	}
}

static void profiles_read(const uint8_t *reg, struct ibcc_dcqcn *d)
{
	const uint16_t attr = IBCC_VCC_ATTR_SW_PROFILE;
	bool percentage = get(reg, attr, F_MODE);
	uint32_t unit = get(reg, attr, F_UNIT) && !percentage ? KB_BYTES : 1;

	for (unsigned int i = 0; i < IBCC_DCQCN_PROFILES; i++) {
		unsigned int first = F_PROFILE + F_PER_PROFILE * i;

		d->profile[i] = (struct ibcc_dcqcn_profile){
			.percentage = percentage,
			.min = get(reg, attr, first + F_MIN) * unit,
			.percent = (uint8_t)get(reg, attr, first + F_PERCENT),
			.max = get(reg, attr, first + F_MAX) * unit,
		};
	}
}

static void sls_read(const uint8_t *reg, struct ibcc_dcqcn *d)
{
	for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++)
		d->sl2profile[sl] = (uint8_t)get(reg, IBCC_VCC_ATTR_SW_SL_MAPPING, sl);
}

/* What ports have in a fabric whose model has no DCQCN: an adapter's parameters are the factory's,
 * and a switch's profiles are made up.
 */
static void made_up(struct ibcc_dcqcn *d)
{
	static const struct ibcc_dcqcn_profile profile[IBCC_DCQCN_PROFILES] = {
		{ .min = 102400, .max = 409600, .percent = 20 },
		{ .min = 204800, .max = 819200, .percent = 10 },
		{ .min = 409600, .max = 1638400, .percent = 5 },
	};

	*d = (struct ibcc_dcqcn){ .enabled = true,
				  .cnp_sl = IBCC_DCQCN_PACKET_SL,
				  .min_time_between_cnps_us = 4 };
	memcpy(d->profile, profile, sizeof(profile));
	memset(d->sl2profile, 1, sizeof(d->sl2profile));
	ibcc_dcqcn_rp_defaults(&d->rp);
}

/* What holds at a port whose registers nobody has set, also after other settings were lost. */
static struct ibcc_dcqcn factory(const struct ibcc_agents *a)
{
	const struct ibcc_dcqcn *model = ibcc_engine_dcqcn_model(a->engine);
	struct ibcc_dcqcn d;

	if (model)
		d = *model;
	else
		made_up(&d);
	return d;
}

static bool is_switch(const struct ibcc_agents *a, uint32_t port)
{
	return ibcc_topo_is_switch(a->topo, a->topo->port[port].node);
}

/* The data of SwitchGeneralSettings or HCAGeneralSettings with the control on, and all else 0. */
static void general_on(bool sw, uint8_t *mad)
{
	if (sw)
		ibcc_vcc_sw_general_pack(mad, &(struct ibcc_vcc_sw_general){ .en = true });
	else
		ibcc_vcc_ca_general_pack(
			mad, &(struct ibcc_vcc_ca_general){ .en_notify = true, .en_react = true });
}

/* Writes the registers of a port as the engine's model, or a choice, has them. */
static void registers_init(struct ibcc_agents *a, uint32_t port)
{
	struct ibcc_agent_vendor *v = &a->vendor[port];
	struct ibcc_dcqcn d = factory(a);
	uint8_t mad[IBCC_MAD_BYTES] = { 0 };
	uint32_t value[RP_FIELDS];

	*v = (struct ibcc_agent_vendor){ .set = { false } };
	if (is_switch(a, port)) {
		ibcc_vcc_sw_general_pack(mad,
					 &(struct ibcc_vcc_sw_general){ .aqs_weight = d.aqs_weight,
									.aqs_time = d.aqs_time });
		memcpy(v->reg[VENDOR_GENERAL], mad + IBCC_MAD_DATA_OFFS, IBCC_VCC_PARAMETER_BYTES);
		profiles_write(v->reg[VENDOR_PROFILE], &d);
		for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++)
			set(v->reg[VENDOR_SLS], IBCC_VCC_ATTR_SW_SL_MAPPING, sl, d.sl2profile[sl]);
		return;
	}
	rp_values(&d.rp, value);
	for (unsigned int i = 0; i < RP_FIELDS; i++)
		set(v->reg[VENDOR_RP], IBCC_VCC_ATTR_CA_RP, i, value[i]);
	set(v->reg[VENDOR_NP], IBCC_VCC_ATTR_CA_NP, F_CNP_TIME, d.min_time_between_cnps_us);
	if (d.cnp_sl != IBCC_DCQCN_PACKET_SL) {
		set(v->reg[VENDOR_NP], IBCC_VCC_ATTR_CA_NP, F_CNP_SL_MODE, 1);
		set(v->reg[VENDOR_NP], IBCC_VCC_ATTR_CA_NP, F_CNP_SL, d.cnp_sl);
	}
}

/* Gives the engine what the registers of an endport mean at one of its ports. */
static int port_push(struct ibcc_agents *a, uint32_t endport, uint32_t port)
{
	const struct ibcc_agent_vendor *general = &a->vendor[a->topo->endport[endport]];
	const struct ibcc_agent_vendor *v = &a->vendor[port];
	uint32_t node = a->topo->port[port].node;
	uint8_t mad[IBCC_MAD_BYTES] = { 0 };
	struct ibcc_dcqcn d = factory(a);
	struct ibcc_vcc_sw_general sw;
	struct ibcc_vcc_ca_general ca;

	memcpy(mad + IBCC_MAD_DATA_OFFS, general->reg[VENDOR_GENERAL], IBCC_VCC_PARAMETER_BYTES);
	if (is_switch(a, port)) {
		ibcc_vcc_sw_general_unpack(mad, &sw);
		d.enabled = sw.en;
		if (general->set[VENDOR_GENERAL]) {
			d.aqs_weight = sw.aqs_weight;
			d.aqs_time = sw.aqs_time;
		}
		if (v->set[VENDOR_PROFILE])
			profiles_read(v->reg[VENDOR_PROFILE], &d);
		if (v->set[VENDOR_SLS])
			sls_read(v->reg[VENDOR_SLS], &d);
	} else {
		ibcc_vcc_ca_general_unpack(mad, &ca);
		d.enabled = true;
		d.no_notify = !ca.en_notify;
		d.no_react = !ca.en_react;
		if (v->set[VENDOR_RP])
			ibcc_vcc_rp_unpack(v->reg[VENDOR_RP], &d.rp);
		if (v->set[VENDOR_NP])
			d.min_time_between_cnps_us =
				get(v->reg[VENDOR_NP], IBCC_VCC_ATTR_CA_NP, F_CNP_TIME);
	}
	if (!a->quirks[node].nvidia_cc || a->quirks[node].ignores)
		d.enabled = false;
	return ibcc_engine_set_dcqcn(a->engine, port, &d);
}

int ibcc_agents_vendor_push(struct ibcc_agents *a, uint32_t endport)
{
	uint32_t port = a->topo->endport[endport], node = a->topo->port[port].node;
	const struct ibcc_topo_node *n = &a->topo->node[node];
	int err = 0;

	/* A node that is no device in particular works as the model says. */
	if (!a->quirks[node].nvidia_cc && !a->profile[node].vendor_id)
		return 0;
	if (n->type != IBCC_NODE_SWITCH)
		return port_push(a, endport, port);
	for (uint32_t i = 1; i <= n->n_ports && !err; i++)
		err = port_push(a, endport, n->first_port + i);
	return err;
}

int ibcc_agents_set_nvidia_cc(struct ibcc_agents *a, uint32_t node, enum ibcc_nvidia_cc v)
{
	uint8_t mad[IBCC_MAD_BYTES] = { 0 };
	const struct ibcc_topo_node *n;
	int err = 0;

	if (node >= a->topo->n_nodes)
		return -EINVAL;
	n = &a->topo->node[node];
	a->quirks[node].nvidia_cc = v != IBCC_NVIDIA_CC_NONE;
	general_on(ibcc_topo_is_switch(a->topo, node), mad);
	for (uint32_t p = n->first_port; p <= n->first_port + n->n_ports && !err; p++) {
		uint8_t *reg = a->vendor[p].reg[VENDOR_GENERAL];

		if (a->topo->port[p].endport == IBCC_NONE)
			continue;
		if (v == IBCC_NVIDIA_CC_ON)
			reg[0] |= mad[IBCC_MAD_DATA_OFFS];
		else
			reg[0] &= (uint8_t)~mad[IBCC_MAD_DATA_OFFS];
		err = ibcc_agents_vendor_push(a, a->topo->port[p].endport);
	}
	return err;
}

void ibcc_agents_vendor_reset(struct ibcc_agents *a, uint32_t node)
{
	const struct ibcc_topo_node *n = &a->topo->node[node];

	for (uint32_t i = 0; i <= n->n_ports; i++)
		registers_init(a, n->first_port + i);
}

int ibcc_agents_set_ai_rate(struct ibcc_agents *a, uint32_t node, uint16_t mbps)
{
	struct ibcc_dcqcn_rp rp;
	int err = node < a->topo->n_nodes && !ibcc_topo_is_switch(a->topo, node) ? 0 : -EINVAL;

	ibcc_dcqcn_rp_defaults(&rp);
	for (uint32_t i = 0; i < a->topo->n_endports && !err; i++) {
		struct ibcc_agent_vendor *v = &a->vendor[a->topo->endport[i]];

		if (a->topo->port[a->topo->endport[i]].node != node)
			continue;
		set(v->reg[VENDOR_RP], IBCC_VCC_ATTR_CA_RP, F_AI_RATE,
		    mbps ? mbps : rp.rpg_ai_rate_mbps);
		v->set[VENDOR_RP] = true;
		err = ibcc_agents_vendor_push(a, i);
	}
	return err;
}

/* The register of an attribute, and whose it is: a switch's port has the ones of its own. NULL: the
 * node has no such attribute, or *err says that there is no such port.
 */
static uint8_t *find(struct ibcc_agents *a, uint32_t endport, const struct ibcc_mad_header *h,
		     uint32_t *port, unsigned int *which, int *err)
{
	const struct ibcc_topo_node *n;
	bool sw;

	*port = a->topo->endport[endport];
	sw = is_switch(a, *port);
	n = &a->topo->node[a->topo->port[*port].node];
	*err = IBCC_MAD_STATUS_BAD_ATTR;
	switch (h->attr_id) {
	case IBCC_VCC_ATTR_SW_GENERAL:
	case IBCC_VCC_ATTR_CA_GENERAL: *which = VENDOR_GENERAL; break;
	case IBCC_VCC_ATTR_SW_PROFILE: *which = VENDOR_PROFILE; break;
	case IBCC_VCC_ATTR_SW_SL_MAPPING: *which = VENDOR_SLS; break;
	case IBCC_VCC_ATTR_CA_RP: *which = VENDOR_RP; break;
	case IBCC_VCC_ATTR_CA_NP: *which = VENDOR_NP; break;
	default: return NULL;
	}
	if (sw != (h->attr_id < IBCC_VCC_ATTR_CA_GENERAL))
		return NULL;
	*err = IBCC_MAD_STATUS_BAD_FIELD;
	if (h->attr_id == IBCC_VCC_ATTR_SW_PROFILE || h->attr_id == IBCC_VCC_ATTR_SW_SL_MAPPING) {
		if (!h->attr_mod || h->attr_mod > n->n_ports)
			return NULL;
		*port = n->first_port + h->attr_mod;
	} else if (h->attr_mod) {
		return NULL;
	}
	return a->vendor[*port].reg[*which];
}

/* Takes a register's new data if the device and the engine accept them. */
static int take(struct ibcc_agents *a, uint32_t endport, uint32_t port, unsigned int which,
		const uint8_t *data)
{
	struct ibcc_agent_vendor *v = &a->vendor[port], old = *v;
	uint32_t node = a->topo->port[port].node;
	bool sw = is_switch(a, port);
	uint8_t *reg = v->reg[which];

	memcpy(reg, data, IBCC_VCC_PARAMETER_BYTES);
	v->set[which] = true;
	if (sw && which == VENDOR_GENERAL) {
		memcpy(reg + CAP_BUFFER, old.reg[which] + CAP_BUFFER, CAP_BUFFER_BYTES);
		reg[CAP_STEP] = old.reg[which][CAP_STEP];
	}
	if ((sw && which == VENDOR_PROFILE && a->profile[node].fixed_marks &&
	     get(reg, IBCC_VCC_ATTR_SW_PROFILE, F_MODE)) ||
	    ibcc_agents_vendor_push(a, endport)) {
		*v = old;
		ibcc_agents_vendor_push(a, endport);
		return IBCC_MAD_STATUS_BAD_FIELD;
	}
	return IBCC_MAD_STATUS_OK;
}

int ibcc_agents_vendor_register(struct ibcc_agents *a, uint32_t endport,
				const struct ibcc_mad_header *h, uint8_t *mad)
{
	unsigned int which;
	uint32_t port;
	int err;
	const uint8_t *reg = find(a, endport, h, &port, &which, &err);

	if (!reg)
		return err;
	if (h->method == IBCC_MAD_SET) {
		err = take(a, endport, port, which, mad + IBCC_MAD_DATA_OFFS);
		if (err)
			return err;
	}
	memset(mad + IBCC_MAD_DATA_OFFS, 0, IBCC_CC_DATA_BYTES);
	memcpy(mad + IBCC_MAD_DATA_OFFS, reg, IBCC_VCC_PARAMETER_BYTES);
	return IBCC_MAD_STATUS_OK;
}

bool ibcc_agents_vendor_reacts(const struct ibcc_agents *a, uint32_t endport)
{
	uint8_t mad[IBCC_MAD_BYTES] = { 0 };
	struct ibcc_vcc_ca_general v;

	memcpy(mad + IBCC_MAD_DATA_OFFS, a->vendor[a->topo->endport[endport]].reg[VENDOR_GENERAL],
	       IBCC_VCC_PARAMETER_BYTES);
	ibcc_vcc_ca_general_unpack(mad, &v);
	return v.en_react;
}
