/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Codec of class 0x21 (Congestion Control), all attributes but the log (ccmad_log.c), by
 * libibmad's field tables.
 *
 * Two layouts are our own where the tables end: the position of elements within a block, and
 * blocks of 48 port elements (IBA 1.3), which fill the data area to its last byte.
 */
#include <ibcc/ccmad.h>

#include <string.h>

#include <ibcc/vendor_cc.h>

#include "lib/codec/wire.h"

#define DATA        IBCC_MAD_DATA_OFFS
#define CA_ENTRIES  (DATA + 4) /* behind Port_Control and Control_Map */
#define CA_ENTRY    8u
#define CCT_ENTRIES (DATA + 4) /* behind CCTI_Limit and a reserved half word */
#define PORT_ELEM   4u

/* Clears the data area, since the planner compares and stores whole data areas. */
static void clear_data(uint8_t *mad)
{
	memset(mad + DATA, 0, IBCC_CC_DATA_BYTES);
}

const char *ibcc_cc_attr_name(uint16_t attr_id)
{
	switch ((enum ibcc_cc_attr)attr_id) {
	case IBCC_CC_ATTR_CLASS_PORT_INFO: return "ClassPortInfo";
	case IBCC_CC_ATTR_INFO: return "CongestionInfo";
	case IBCC_CC_ATTR_KEY_INFO: return "CongestionKeyInfo";
	case IBCC_CC_ATTR_LOG: return "CongestionLog";
	case IBCC_CC_ATTR_SW_SETTING: return "SwitchCongestionSetting";
	case IBCC_CC_ATTR_SW_PORT_SETTING: return "SwitchPortCongestionSetting";
	case IBCC_CC_ATTR_CA_SETTING: return "CACongestionSetting";
	case IBCC_CC_ATTR_CCT: return "CongestionControlTable";
	case IBCC_CC_ATTR_TIMESTAMP: return "TimeStamp";
	}
	return ibcc_vcc_attr_name(attr_id);
}

void ibcc_cc_key_pack(uint8_t *mad, uint64_t cc_key)
{
	wire_set64(mad, 0, IB_CC_CCKEY_F, cc_key);
}

uint64_t ibcc_cc_key_unpack(const uint8_t *mad)
{
	return wire_get64(mad, 0, IB_CC_CCKEY_F);
}

void ibcc_cc_info_pack(uint8_t *mad, const struct ibcc_cc_info *v)
{
	clear_data(mad);
	wire_set(mad, DATA, IB_CC_CONGESTION_INFO_F, 16, v->CongestionInfo);
	wire_set(mad, DATA, IB_CC_CONGESTION_INFO_CONTROL_TABLE_CAP_F, 8, v->ControlTableCap);
}

void ibcc_cc_info_unpack(const uint8_t *mad, struct ibcc_cc_info *v)
{
	v->CongestionInfo = (uint16_t)wire_get(mad, DATA, IB_CC_CONGESTION_INFO_F);
	v->ControlTableCap =
		(uint8_t)wire_get(mad, DATA, IB_CC_CONGESTION_INFO_CONTROL_TABLE_CAP_F);
}

void ibcc_cc_key_info_pack(uint8_t *mad, const struct ibcc_cc_key_info *v)
{
	clear_data(mad);
	wire_set64(mad, DATA, IB_CC_CONGESTION_KEY_INFO_CC_KEY_F, v->CC_Key);
	wire_set(mad, DATA, IB_CC_CONGESTION_KEY_INFO_CC_KEY_PROTECT_BIT_F, 1, v->CC_KeyProtectBit);
	wire_set(mad, DATA, IB_CC_CONGESTION_KEY_INFO_CC_KEY_LEASE_PERIOD_F, 16,
		 v->CC_KeyLeasePeriod);
	wire_set(mad, DATA, IB_CC_CONGESTION_KEY_INFO_CC_KEY_VIOLATIONS_F, 16, v->CC_KeyViolations);
}

void ibcc_cc_key_info_unpack(const uint8_t *mad, struct ibcc_cc_key_info *v)
{
	v->CC_Key = wire_get64(mad, DATA, IB_CC_CONGESTION_KEY_INFO_CC_KEY_F);
	v->CC_KeyProtectBit = wire_get(mad, DATA, IB_CC_CONGESTION_KEY_INFO_CC_KEY_PROTECT_BIT_F);
	v->CC_KeyLeasePeriod =
		(uint16_t)wire_get(mad, DATA, IB_CC_CONGESTION_KEY_INFO_CC_KEY_LEASE_PERIOD_F);
	v->CC_KeyViolations =
		(uint16_t)wire_get(mad, DATA, IB_CC_CONGESTION_KEY_INFO_CC_KEY_VIOLATIONS_F);
}

void ibcc_cc_sw_setting_pack(uint8_t *mad, const struct ibcc_cc_sw_setting *v)
{
	clear_data(mad);
	wire_set(mad, DATA, IB_CC_SWITCH_CONGESTION_SETTING_CONTROL_MAP_F, 32, v->Control_Map);
	mad_set_array(mad, DATA, IB_CC_SWITCH_CONGESTION_SETTING_VICTIM_MASK_F,
		      (void *)(uintptr_t)v->Victim_Mask.byte);
	mad_set_array(mad, DATA, IB_CC_SWITCH_CONGESTION_SETTING_CREDIT_MASK_F,
		      (void *)(uintptr_t)v->Credit_Mask.byte);
	wire_set(mad, DATA, IB_CC_SWITCH_CONGESTION_SETTING_THRESHOLD_F, 4, v->Threshold);
	wire_set(mad, DATA, IB_CC_SWITCH_CONGESTION_SETTING_PACKET_SIZE_F, 8, v->Packet_Size);
	wire_set(mad, DATA, IB_CC_SWITCH_CONGESTION_SETTING_CS_THRESHOLD_F, 4, v->CS_Threshold);
	wire_set(mad, DATA, IB_CC_SWITCH_CONGESTION_SETTING_CS_RETURN_DELAY_F, 16,
		 v->CS_ReturnDelay);
	wire_set(mad, DATA, IB_CC_SWITCH_CONGESTION_SETTING_MARKING_RATE_F, 16, v->Marking_Rate);
}

void ibcc_cc_sw_setting_unpack(const uint8_t *mad, struct ibcc_cc_sw_setting *v)
{
	void *m = (void *)(uintptr_t)mad;

	v->Control_Map = wire_get(mad, DATA, IB_CC_SWITCH_CONGESTION_SETTING_CONTROL_MAP_F);
	mad_get_array(m, DATA, IB_CC_SWITCH_CONGESTION_SETTING_VICTIM_MASK_F, v->Victim_Mask.byte);
	mad_get_array(m, DATA, IB_CC_SWITCH_CONGESTION_SETTING_CREDIT_MASK_F, v->Credit_Mask.byte);
	v->Threshold = (uint8_t)wire_get(mad, DATA, IB_CC_SWITCH_CONGESTION_SETTING_THRESHOLD_F);
	v->Packet_Size =
		(uint8_t)wire_get(mad, DATA, IB_CC_SWITCH_CONGESTION_SETTING_PACKET_SIZE_F);
	v->CS_Threshold =
		(uint8_t)wire_get(mad, DATA, IB_CC_SWITCH_CONGESTION_SETTING_CS_THRESHOLD_F);
	v->CS_ReturnDelay =
		(uint16_t)wire_get(mad, DATA, IB_CC_SWITCH_CONGESTION_SETTING_CS_RETURN_DELAY_F);
	v->Marking_Rate =
		(uint16_t)wire_get(mad, DATA, IB_CC_SWITCH_CONGESTION_SETTING_MARKING_RATE_F);
}

void ibcc_cc_sw_port_element_pack(uint8_t *mad, unsigned int slot,
				  const struct ibcc_cc_sw_port_element *v)
{
	unsigned int offs = DATA + PORT_ELEM * slot;

	if (slot >= IBCC_CC_SW_PORT_BLOCK_13)
		return;
	memset(mad + offs, 0, PORT_ELEM);
	wire_set(mad, offs, IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_VALID_F, 1, v->Valid);
	wire_set(mad, offs, IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_CONTROL_TYPE_F, 1,
		 v->Control_Type);
	wire_set(mad, offs, IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_THRESHOLD_F, 4,
		 v->Threshold);
	wire_set(mad, offs, IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_PACKET_SIZE_F, 8,
		 v->Packet_Size);
	wire_set(mad, offs, IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_CONG_PARM_MARKING_RATE_F,
		 16, v->Cong_Parm_Marking_Rate);
}

void ibcc_cc_sw_port_element_unpack(const uint8_t *mad, unsigned int slot,
				    struct ibcc_cc_sw_port_element *v)
{
	unsigned int offs = DATA + PORT_ELEM * slot;

	memset(v, 0, sizeof(*v));
	if (slot >= IBCC_CC_SW_PORT_BLOCK_13)
		return;
	v->Valid = wire_get(mad, offs, IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_VALID_F);
	v->Control_Type =
		wire_get(mad, offs, IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_CONTROL_TYPE_F);
	v->Threshold = (uint8_t)wire_get(mad, offs,
					 IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_THRESHOLD_F);
	v->Packet_Size = (uint8_t)wire_get(
		mad, offs, IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_PACKET_SIZE_F);
	v->Cong_Parm_Marking_Rate = (uint16_t)wire_get(
		mad, offs, IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_CONG_PARM_MARKING_RATE_F);
}

void ibcc_cc_ca_setting_pack(uint8_t *mad, const struct ibcc_cc_ca_setting *v)
{
	unsigned int sl;

	clear_data(mad);
	wire_set(mad, DATA, IB_CC_CA_CONGESTION_SETTING_PORT_CONTROL_F, 16, v->Port_Control);
	wire_set(mad, DATA, IB_CC_CA_CONGESTION_SETTING_CONTROL_MAP_F, 16, v->Control_Map);
	for (sl = 0; sl < IBCC_CC_SLS; sl++) {
		const struct ibcc_cc_ca_entry *e = &v->sl[sl];
		unsigned int offs = CA_ENTRIES + CA_ENTRY * sl;

		wire_set(mad, offs, IB_CC_CA_CONGESTION_ENTRY_CCTI_TIMER_F, 16, e->CCTI_Timer);
		wire_set(mad, offs, IB_CC_CA_CONGESTION_ENTRY_CCTI_INCREASE_F, 8, e->CCTI_Increase);
		wire_set(mad, offs, IB_CC_CA_CONGESTION_ENTRY_TRIGGER_THRESHOLD_F, 8,
			 e->Trigger_Threshold);
		wire_set(mad, offs, IB_CC_CA_CONGESTION_ENTRY_CCTI_MIN_F, 8, e->CCTI_Min);
	}
}

void ibcc_cc_ca_setting_unpack(const uint8_t *mad, struct ibcc_cc_ca_setting *v)
{
	unsigned int sl;

	v->Port_Control = (uint16_t)wire_get(mad, DATA, IB_CC_CA_CONGESTION_SETTING_PORT_CONTROL_F);
	v->Control_Map = (uint16_t)wire_get(mad, DATA, IB_CC_CA_CONGESTION_SETTING_CONTROL_MAP_F);
	for (sl = 0; sl < IBCC_CC_SLS; sl++) {
		struct ibcc_cc_ca_entry *e = &v->sl[sl];
		unsigned int offs = CA_ENTRIES + CA_ENTRY * sl;

		e->CCTI_Timer =
			(uint16_t)wire_get(mad, offs, IB_CC_CA_CONGESTION_ENTRY_CCTI_TIMER_F);
		e->CCTI_Increase =
			(uint8_t)wire_get(mad, offs, IB_CC_CA_CONGESTION_ENTRY_CCTI_INCREASE_F);
		e->Trigger_Threshold =
			(uint8_t)wire_get(mad, offs, IB_CC_CA_CONGESTION_ENTRY_TRIGGER_THRESHOLD_F);
		e->CCTI_Min = (uint8_t)wire_get(mad, offs, IB_CC_CA_CONGESTION_ENTRY_CCTI_MIN_F);
	}
}

/* Entries are two bytes, which libibmad's fields reach only by moving the buffer. We keep them as
 * the wire has them, so they are copied whole.
 */
void ibcc_cc_cct_pack(uint8_t *mad, unsigned int block, const struct ibcc_cct *cct)
{
	unsigned int i;

	clear_data(mad);
	wire_set(mad, DATA, IB_CC_CONGESTION_CONTROL_TABLE_CCTI_LIMIT_F, 16,
		 ibcc_cct_block_limit(cct->limit, block));
	if (block >= IBCC_CCT_MAX_BLOCKS)
		return;
	for (i = 0; i < IBCC_CCT_BLOCK_ENTRIES; i++)
		wire_put_be16(mad + CCT_ENTRIES + 2 * i,
			      cct->entry[IBCC_CCT_BLOCK_ENTRIES * block + i]);
}

void ibcc_cc_cct_unpack(const uint8_t *mad, unsigned int block, struct ibcc_cct *cct,
			uint16_t *limit)
{
	unsigned int i;

	*limit = (uint16_t)wire_get(mad, DATA, IB_CC_CONGESTION_CONTROL_TABLE_CCTI_LIMIT_F);
	if (block >= IBCC_CCT_MAX_BLOCKS)
		return;
	for (i = 0; i < IBCC_CCT_BLOCK_ENTRIES; i++)
		cct->entry[IBCC_CCT_BLOCK_ENTRIES * block + i] =
			wire_get_be16(mad + CCT_ENTRIES + 2 * i);
}

void ibcc_cc_timestamp_pack(uint8_t *mad, uint32_t v)
{
	clear_data(mad);
	wire_set(mad, DATA, IB_CC_TIMESTAMP_F, 32, v);
}

uint32_t ibcc_cc_timestamp_unpack(const uint8_t *mad)
{
	return wire_get(mad, DATA, IB_CC_TIMESTAMP_F);
}
