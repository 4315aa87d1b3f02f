/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Congestion control settings of a whole fabric as one value. Functions initialise, copy, compare
 * and free it, and pack it into or unpack it from an attribute's data. Others say what the settings
 * do: whether they mark, react, or are on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/mad.h>
#include <ibcc/settings.h>
#include <ibcc/vendor_cc.h>

int ibcc_settings_init(struct ibcc_settings *s, const struct ibcc_topo *t)
{
	struct ibcc_endport_cc *ep = calloc(t->n_endports ? t->n_endports : 1, sizeof(*ep));

	if (!ep)
		return -ENOMEM;
	*s = (struct ibcc_settings){ .n = t->n_endports, .ep = ep };
	return 0;
}

void ibcc_endport_cc_fini(struct ibcc_endport_cc *ep)
{
	free(ep->element);
	free(ep->profile);
	*ep = (struct ibcc_endport_cc){ .support = IBCC_CC_UNKNOWN };
}

void ibcc_settings_fini(struct ibcc_settings *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; s->ep && i < s->n; i++)
		ibcc_endport_cc_fini(&s->ep[i]);
	free(s->ep);
	*s = (struct ibcc_settings){ 0 };
}

int ibcc_endport_cc_copy(struct ibcc_endport_cc *dst, const struct ibcc_endport_cc *src)
{
	struct ibcc_cc_sw_port_element *element = NULL;
	struct ibcc_cc_profile *profile = NULL;

	if (src->n_element)
		element = calloc(src->n_element, sizeof(*element));
	if (src->n_profile)
		profile = calloc(src->n_profile, sizeof(*profile));
	if ((src->n_element && !element) || (src->n_profile && !profile)) {
		free(element);
		free(profile);
		return -ENOMEM;
	}
	if (element)
		memcpy(element, src->element, src->n_element * sizeof(*element));
	if (profile)
		memcpy(profile, src->profile, src->n_profile * sizeof(*profile));
	free(dst->element);
	free(dst->profile);
	*dst = *src;
	dst->element = element;
	dst->profile = profile;
	return 0;
}

int ibcc_settings_copy(struct ibcc_settings *dst, const struct ibcc_settings *src)
{
	struct ibcc_settings c = { .ep = calloc(src->n ? src->n : 1, sizeof(*c.ep)) };

	if (!c.ep)
		return -ENOMEM;
	for (; c.n < src->n; c.n++)
		if (ibcc_endport_cc_copy(&c.ep[c.n], &src->ep[c.n])) {
			ibcc_settings_fini(&c);
			return -ENOMEM;
		}
	*dst = c;
	return 0;
}

static const enum ibcc_cc_support by_answer[] = {
	[IBCC_CC_NO_ANSWER] = IBCC_CC_UNKNOWN,
	[IBCC_CC_ANSWERED] = IBCC_CC_SUPPORTED,
	[IBCC_CC_NO_CLASS] = IBCC_CC_UNSUPPORTED,
	[IBCC_CC_READ_ONLY] = IBCC_CC_KEY_REFUSED,
};

enum ibcc_cc_support ibcc_endport_support_back(const struct ibcc_endport_cc *ep)
{
	return ep->support == IBCC_CC_LOG_ONLY ? by_answer[ep->answer] : ep->support;
}

void ibcc_endport_judge(struct ibcc_endport_cc *ep, enum ibcc_cc_support block)
{
	bool always = block == IBCC_CC_VENDOR_ON || block == IBCC_CC_VENDOR_SILENT ||
		      block == IBCC_CC_LOG_ONLY;

	ep->support = by_answer[ep->answer];
	if (ep->mechanism == IBCC_MECHANISM_DCQCN && ep->answer != IBCC_CC_READ_ONLY)
		ep->support = IBCC_CC_SUPPORTED;
	if (always || ep->support == IBCC_CC_SUPPORTED)
		ep->support = block;
}

struct ibcc_cc_sw_port_element ibcc_settings_effective(const struct ibcc_endport_cc *sw,
						       unsigned int port)
{
	if (port < sw->n_element && sw->element[port].Valid)
		return sw->element[port];
	return (struct ibcc_cc_sw_port_element){
		.Threshold = sw->sw.Threshold,
		.Packet_Size = sw->sw.Packet_Size,
		.Cong_Parm_Marking_Rate = sw->sw.Marking_Rate,
	};
}

bool ibcc_settings_profiles_mark(const struct ibcc_endport_cc *sw, unsigned int port)
{
	if (sw->support != IBCC_CC_SUPPORTED || port >= sw->n_profile || !sw->profile[port].known)
		return false;
	for (unsigned int k = 0; k < IBCC_VCC_PROFILES; k++)
		if (sw->profile[port].used >> k & 1 &&
		    ibcc_vcc_profile_get(sw->profile[port].data, k).percent)
			return true;
	return false;
}

bool ibcc_settings_port_marks(const struct ibcc_endport_cc *sw, unsigned int port)
{
	struct ibcc_cc_sw_port_element el;

	if (sw->support != IBCC_CC_SUPPORTED)
		return false;
	el = ibcc_settings_effective(sw, port);
	return el.Threshold && !el.Control_Type;
}

/* Whether a table has any delay. */
static bool table_delays(const struct ibcc_cct *t)
{
	for (unsigned int i = 0; i <= t->limit && i < IBCC_CCT_MAX_ENTRIES; i++)
		if (ibcc_cct_entry_delay_milli(t->entry[i]))
			return true;
	return false;
}

bool ibcc_settings_are_on(const struct ibcc_endport_cc *ep)
{
	bool reacts = false;

	if (ep->sw.Threshold)
		return true;
	for (unsigned int i = 0; i < ep->n_element; i++)
		if (ep->element[i].Valid && ep->element[i].Threshold)
			return true;
	for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++)
		reacts |= ep->ca.sl[sl].CCTI_Increase || ep->ca.sl[sl].CCTI_Min;
	return reacts && table_delays(&ep->cct);
}

/* Packs a block of port elements; false: the switch has no such block. */
static bool pack_elements(uint8_t *mad, const struct ibcc_endport_cc *ep, uint32_t block)
{
	unsigned int size = ep->sw_port_block;

	if (!size || size > IBCC_CC_SW_PORT_BLOCK_13 || block > UINT8_MAX ||
	    block * size >= ep->n_element)
		return false;
	for (unsigned int slot = 0; slot < size && block * size + slot < ep->n_element; slot++)
		ibcc_cc_sw_port_element_pack(mad, slot, &ep->element[block * size + slot]);
	return true;
}

bool ibcc_settings_pack(const struct ibcc_endport_cc *ep, uint16_t attr_id, uint32_t attr_mod,
			uint8_t *data)
{
	uint8_t mad[IBCC_MAD_BYTES] = { 0 };
	struct ibcc_cc_sw_setting sw = ep->sw;
	struct ibcc_cc_ca_setting ca = ep->ca;

	if (attr_id == IBCC_VCC_ATTR_SW_PROFILE) {
		if (attr_mod >= ep->n_profile || !ep->profile[attr_mod].known)
			return false;
		memcpy(data, ep->profile[attr_mod].data, IBCC_CC_DATA_BYTES);
		return true;
	}
	sw.Control_Map = IBCC_CC_SW_CONTROL_MAP_ALL;
	ca.Control_Map = 0xffff;
	if (attr_id == IBCC_CC_ATTR_SW_SETTING && !attr_mod)
		ibcc_cc_sw_setting_pack(mad, &sw);
	else if (attr_id == IBCC_CC_ATTR_CA_SETTING && !attr_mod)
		ibcc_cc_ca_setting_pack(mad, &ca);
	else if (attr_id == IBCC_CC_ATTR_CCT && attr_mod < IBCC_CCT_MAX_BLOCKS)
		ibcc_cc_cct_pack(mad, attr_mod, &ep->cct);
	else if (attr_id != IBCC_CC_ATTR_SW_PORT_SETTING || !pack_elements(mad, ep, attr_mod))
		return false;
	memcpy(data, mad + IBCC_MAD_DATA_OFFS, IBCC_CC_DATA_BYTES);
	if (attr_id == IBCC_CC_ATTR_CCT) { /* the table's limit; the codec wrote the block's */
		data[0] = (uint8_t)(ep->cct.limit >> 8);
		data[1] = (uint8_t)ep->cct.limit;
	}
	return true;
}

static bool same_switch(const struct ibcc_cc_sw_setting *a, const struct ibcc_cc_sw_setting *b)
{
	return !memcmp(&a->Victim_Mask, &b->Victim_Mask, sizeof(a->Victim_Mask)) &&
	       !memcmp(&a->Credit_Mask, &b->Credit_Mask, sizeof(a->Credit_Mask)) &&
	       a->Threshold == b->Threshold && a->Packet_Size == b->Packet_Size &&
	       a->CS_Threshold == b->CS_Threshold && a->CS_ReturnDelay == b->CS_ReturnDelay &&
	       a->Marking_Rate == b->Marking_Rate;
}

static bool same_elements(const struct ibcc_endport_cc *a, const struct ibcc_endport_cc *b)
{
	for (unsigned int i = 0; i < a->n_element && i < b->n_element; i++) {
		const struct ibcc_cc_sw_port_element *x = &a->element[i], *y = &b->element[i];

		if (x->Valid != y->Valid || x->Control_Type != y->Control_Type ||
		    x->Threshold != y->Threshold || x->Packet_Size != y->Packet_Size ||
		    x->Cong_Parm_Marking_Rate != y->Cong_Parm_Marking_Rate)
			return false;
	}
	return true;
}

static bool same_ca(const struct ibcc_cc_ca_setting *a, const struct ibcc_cc_ca_setting *b)
{
	if (a->Port_Control != b->Port_Control)
		return false;
	for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++) {
		const struct ibcc_cc_ca_entry *x = &a->sl[sl], *y = &b->sl[sl];

		if (x->CCTI_Timer != y->CCTI_Timer || x->CCTI_Increase != y->CCTI_Increase ||
		    x->Trigger_Threshold != y->Trigger_Threshold || x->CCTI_Min != y->CCTI_Min)
			return false;
	}
	return true;
}

static bool same_profiles(const struct ibcc_endport_cc *a, const struct ibcc_endport_cc *b)
{
	for (unsigned int i = 0; i < a->n_profile && i < b->n_profile; i++)
		if (a->profile[i].known && b->profile[i].known &&
		    memcmp(a->profile[i].data, b->profile[i].data, IBCC_CC_DATA_BYTES) != 0)
			return false;
	return true;
}

unsigned int ibcc_settings_differ(const struct ibcc_endport_cc *a, const struct ibcc_endport_cc *b)
{
	unsigned int parts = 0;

	if (!same_switch(&a->sw, &b->sw))
		parts |= IBCC_SETTINGS_SWITCH;
	if (!same_elements(a, b))
		parts |= IBCC_SETTINGS_ELEMENTS;
	if (!same_ca(&a->ca, &b->ca))
		parts |= IBCC_SETTINGS_CA;
	if (!ibcc_cct_equal(&a->cct, &b->cct))
		parts |= IBCC_SETTINGS_TABLE;
	if (!same_profiles(a, b))
		parts |= IBCC_SETTINGS_PROFILES;
	return parts;
}

static bool unpack_elements(struct ibcc_endport_cc *ep, const uint8_t *mad, uint32_t block)
{
	unsigned int size = ep->sw_port_block;

	if (!size || size > IBCC_CC_SW_PORT_BLOCK_13 || block > UINT8_MAX ||
	    block * size >= ep->n_element)
		return false;
	for (unsigned int slot = 0; slot < size && block * size + slot < ep->n_element; slot++)
		ibcc_cc_sw_port_element_unpack(mad, slot, &ep->element[block * size + slot]);
	return true;
}

bool ibcc_settings_unpack(struct ibcc_endport_cc *ep, uint16_t attr_id, uint32_t attr_mod,
			  const uint8_t *data)
{
	uint8_t mad[IBCC_MAD_BYTES] = { 0 };

	if (attr_id == IBCC_VCC_ATTR_SW_PROFILE) {
		if (attr_mod >= ep->n_profile || !ep->profile[attr_mod].known)
			return false;
		memcpy(ep->profile[attr_mod].data, data, IBCC_CC_DATA_BYTES);
		return true;
	}
	memcpy(mad + IBCC_MAD_DATA_OFFS, data, IBCC_CC_DATA_BYTES);
	if (attr_id == IBCC_CC_ATTR_SW_SETTING && !attr_mod)
		ibcc_cc_sw_setting_unpack(mad, &ep->sw);
	else if (attr_id == IBCC_CC_ATTR_CA_SETTING && !attr_mod)
		ibcc_cc_ca_setting_unpack(mad, &ep->ca);
	else if (attr_id == IBCC_CC_ATTR_CCT && attr_mod < IBCC_CCT_MAX_BLOCKS)
		ibcc_cc_cct_unpack(mad, attr_mod, &ep->cct, &ep->cct.limit);
	else
		return attr_id == IBCC_CC_ATTR_SW_PORT_SETTING &&
		       unpack_elements(ep, mad, attr_mod);
	/* Data may come from a file. */
	if (ep->cct.limit >= IBCC_CCT_MAX_ENTRIES)
		ep->cct.limit = IBCC_CCT_MAX_ENTRIES - 1;
	return true;
}
