/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whether a node's answer means what was written to it. Nodes may legally answer with other bytes
 * than were sent. Begin with ibcc_plan_verify().
 */
#include <string.h>

#include <ibcc/plan.h>

static void to_mad(uint8_t *mad, const uint8_t *data)
{
	memset(mad, 0, IBCC_MAD_DATA_OFFS);
	memcpy(mad + IBCC_MAD_DATA_OFFS, data, IBCC_CC_DATA_BYTES);
}

/* Compares all but Control_Map, which selects what a Set changes; what a Get returns there is up to
 * the node. */
static bool switch_same(const uint8_t *want, const uint8_t *got)
{
	struct ibcc_cc_sw_setting w, g;

	ibcc_cc_sw_setting_unpack(want, &w);
	ibcc_cc_sw_setting_unpack(got, &g);
	return !memcmp(&w.Victim_Mask, &g.Victim_Mask, sizeof(w.Victim_Mask)) &&
	       !memcmp(&w.Credit_Mask, &g.Credit_Mask, sizeof(w.Credit_Mask)) &&
	       w.Threshold == g.Threshold && w.Packet_Size == g.Packet_Size &&
	       w.CS_Threshold == g.CS_Threshold && w.CS_ReturnDelay == g.CS_ReturnDelay &&
	       w.Marking_Rate == g.Marking_Rate;
}

/* Compares port elements. The other fields of an element that is not valid do not count. A switch
 * with blocks of 32 elements may return anything in the 16 that it does not know, which is right if
 * nothing was sent there.
 */
static bool switch_ports_same(const uint8_t *want, const uint8_t *got)
{
	unsigned int used = 0;

	for (unsigned int slot = 0; slot < IBCC_CC_SW_PORT_BLOCK_13; slot++) {
		struct ibcc_cc_sw_port_element w;

		ibcc_cc_sw_port_element_unpack(want, slot, &w);
		if (w.Valid || slot < IBCC_CC_SW_PORT_BLOCK_121)
			used = slot + 1;
	}
	for (unsigned int slot = 0; slot < used; slot++) {
		struct ibcc_cc_sw_port_element w, g;

		ibcc_cc_sw_port_element_unpack(want, slot, &w);
		ibcc_cc_sw_port_element_unpack(got, slot, &g);
		if (w.Valid != g.Valid)
			return false;
		if (w.Valid && (w.Control_Type != g.Control_Type || w.Threshold != g.Threshold ||
				w.Packet_Size != g.Packet_Size ||
				w.Cong_Parm_Marking_Rate != g.Cong_Parm_Marking_Rate))
			return false;
	}
	return true;
}

static bool ca_same(const uint8_t *want, const uint8_t *got)
{
	struct ibcc_cc_ca_setting w, g;

	ibcc_cc_ca_setting_unpack(want, &w);
	ibcc_cc_ca_setting_unpack(got, &g);
	if (w.Port_Control != g.Port_Control)
		return false;
	for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++) {
		if (!(w.Control_Map >> sl & 1))
			continue;
		if (w.sl[sl].CCTI_Timer != g.sl[sl].CCTI_Timer ||
		    w.sl[sl].CCTI_Increase != g.sl[sl].CCTI_Increase ||
		    w.sl[sl].Trigger_Threshold != g.sl[sl].Trigger_Threshold ||
		    w.sl[sl].CCTI_Min != g.sl[sl].CCTI_Min)
			return false;
	}
	return true;
}

/* A limit may come back as it was sent, or relative to its block. Or, if a full block was sent as
 * part of a longer table, as the limit of the table that is complete by now.
 */
static bool limit_same(unsigned int block, unsigned int want, unsigned int got)
{
	unsigned int first = block * IBCC_CCT_BLOCK_ENTRIES;

	if (got == want)
		return true;
	if (want >= first && got == want - first)
		return true;
	return want == first + IBCC_CCT_BLOCK_ENTRIES - 1 && got > want &&
	       got < IBCC_CCT_MAX_ENTRIES;
}

static bool table_same(uint32_t block, const uint8_t *want, const uint8_t *got)
{
	struct ibcc_cct w = { 0 }, g = { 0 };
	uint16_t wl, gl;

	if (block >= IBCC_CCT_MAX_BLOCKS)
		return false;
	ibcc_cc_cct_unpack(want, block, &w, &wl);
	ibcc_cc_cct_unpack(got, block, &g, &gl);
	if (!limit_same(block, wl, gl))
		return false;
	for (unsigned int i = block * IBCC_CCT_BLOCK_ENTRIES;
	     i < (block + 1) * IBCC_CCT_BLOCK_ENTRIES && i <= wl; i++)
		if (w.entry[i] != g.entry[i])
			return false;
	return true;
}

/* Compares all but the number of violations, which the node counts. */
static bool key_same(const uint8_t *want, const uint8_t *got)
{
	struct ibcc_cc_key_info w, g;

	ibcc_cc_key_info_unpack(want, &w);
	ibcc_cc_key_info_unpack(got, &g);
	return w.CC_Key == g.CC_Key && w.CC_KeyProtectBit == g.CC_KeyProtectBit &&
	       w.CC_KeyLeasePeriod == g.CC_KeyLeasePeriod;
}

bool ibcc_plan_verify(uint16_t attr_id, uint32_t attr_mod, const uint8_t *want, const uint8_t *got)
{
	uint8_t w[IBCC_MAD_BYTES], g[IBCC_MAD_BYTES];

	to_mad(w, want);
	to_mad(g, got);
	if (attr_id == IBCC_CC_ATTR_KEY_INFO)
		return key_same(w, g);
	if (attr_id == IBCC_CC_ATTR_SW_SETTING)
		return switch_same(w, g);
	if (attr_id == IBCC_CC_ATTR_SW_PORT_SETTING)
		return switch_ports_same(w, g);
	if (attr_id == IBCC_CC_ATTR_CA_SETTING)
		return ca_same(w, g);
	if (attr_id == IBCC_CC_ATTR_CCT)
		return table_same(attr_mod, w, g);
	return !memcmp(want, got, IBCC_CC_DATA_BYTES);
}

/* Nodes that take tables by block know one mode only, so Port_Control does not count there. */
bool ibcc_plan_in_force(const struct ibcc_endport_cc *ep, uint16_t attr_id, uint32_t attr_mod,
			const uint8_t *want)
{
	uint8_t got[IBCC_CC_DATA_BYTES];

	if (!ibcc_settings_pack(ep, attr_id, attr_mod, got))
		return false;
	if (ep->by_block && attr_id == IBCC_CC_ATTR_CA_SETTING)
		memcpy(got, want, 2);
	return ibcc_plan_verify(attr_id, attr_mod, want, got);
}
