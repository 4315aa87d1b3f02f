/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Attributes of the Congestion Control class 0x21 (IBA vol. 1, Annex A10) to and from bytes.
 *
 * Each pack function writes the attribute into a whole 256 byte MAD, each unpack function reads it
 * from one; reserved bits are written as zero and ignored when read. Names are the annex's.
 */
#ifndef IBCC_CCMAD_H
#define IBCC_CCMAD_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/cct.h>
#include <ibcc/mad.h>

#define IBCC_CC_CLASS_VERSION 2u
#define IBCC_CC_SLS           16u
#define IBCC_CC_DATA_BYTES    192u /* management data from byte 64 on */
#define IBCC_CC_LOG_OFFS      32u  /* CongestionLog alone starts here */

enum ibcc_cc_attr {
	IBCC_CC_ATTR_CLASS_PORT_INFO = 0x01,
	IBCC_CC_ATTR_INFO = 0x11,
	IBCC_CC_ATTR_KEY_INFO = 0x12,
	IBCC_CC_ATTR_LOG = 0x13,
	IBCC_CC_ATTR_SW_SETTING = 0x14,
	IBCC_CC_ATTR_SW_PORT_SETTING = 0x15,
	IBCC_CC_ATTR_CA_SETTING = 0x16,
	IBCC_CC_ATTR_CCT = 0x17,
	IBCC_CC_ATTR_TIMESTAMP = 0x18,
};

/* The annex's name of an attribute ("SwitchCongestionSetting"); never NULL. */
const char *ibcc_cc_attr_name(uint16_t attr_id);

/* CC_Key of a request, bytes 24 to 31. */
void ibcc_cc_key_pack(uint8_t *mad, uint64_t cc_key);
uint64_t ibcc_cc_key_unpack(const uint8_t *mad);

/* CongestionInfo 0x11 */
struct ibcc_cc_info {
	uint16_t CongestionInfo; /* bit 0: credit starvation supported (switches) */
	uint8_t ControlTableCap; /* 64-entry blocks of the CCT (channel adapters) */
};
void ibcc_cc_info_pack(uint8_t *mad, const struct ibcc_cc_info *v);
void ibcc_cc_info_unpack(const uint8_t *mad, struct ibcc_cc_info *v);

/* CongestionKeyInfo 0x12 */
struct ibcc_cc_key_info {
	uint64_t CC_Key;
	bool CC_KeyProtectBit;
	uint16_t CC_KeyLeasePeriod; /* seconds; 0 never expires */
	uint16_t CC_KeyViolations;
};
void ibcc_cc_key_info_pack(uint8_t *mad, const struct ibcc_cc_key_info *v);
void ibcc_cc_key_info_unpack(const uint8_t *mad, struct ibcc_cc_key_info *v);

/* A mask of ports 0..255 as the annex has it: port p is bit p % 8 of byte 31 - p / 8. */
struct ibcc_cc_port_mask {
	uint8_t byte[32];
};
static inline bool ibcc_cc_mask_test(const struct ibcc_cc_port_mask *m, unsigned int port)
{
	return m->byte[31 - (port & 255) / 8] >> (port % 8) & 1;
}
static inline void ibcc_cc_mask_assign(struct ibcc_cc_port_mask *m, unsigned int port, bool on)
{
	uint8_t bit = (uint8_t)(1u << (port % 8));
	uint8_t *b = &m->byte[31 - (port & 255) / 8];

	*b = (uint8_t)(on ? *b | bit : *b & ~bit);
}

/* CongestionLog 0x13 */
#define IBCC_CC_LOG_SWITCH         1u
#define IBCC_CC_LOG_CA             2u
#define IBCC_CC_LOG_SWITCH_ENTRIES 15u
#define IBCC_CC_LOG_CA_ENTRIES     13u
/* Layout of a channel adapter's entry as in libibmad (errata of 2010). */
struct ibcc_cc_log {
	uint8_t LogType; /* IBCC_CC_LOG_SWITCH or IBCC_CC_LOG_CA selects the member of u */
	uint8_t CongestionFlags;
	union {
		struct {
			uint16_t LogEventsCounter;
			uint32_t CurrentTimeStamp;
			struct ibcc_cc_port_mask PortMap;
			struct {
				uint16_t SLID, DLID;
				uint8_t SL;
				uint32_t TimeStamp;
			} entry[IBCC_CC_LOG_SWITCH_ENTRIES];
		} sw;
		struct {
			uint16_t ThresholdEventCounter;
			uint16_t ThresholdCongestionEventMap;
			uint32_t CurrentTimeStamp;
			struct {
				uint32_t Local_QP_CN_Entry, Remote_QP_Number_CN_Entry;
				uint8_t SL_CN_Entry, Service_Type_CN_Entry;
				uint16_t Local_LID_CN, Remote_LID_CN_Entry;
				uint32_t TimeStamp_CN_Entry;
			} entry[IBCC_CC_LOG_CA_ENTRIES];
		} ca;
	} u;
};
void ibcc_cc_log_pack(uint8_t *mad, const struct ibcc_cc_log *v);
/* Returns 0, or -EPROTO if LogType is neither a switch's nor a channel adapter's. */
int ibcc_cc_log_unpack(const uint8_t *mad, struct ibcc_cc_log *v);

/* SwitchCongestionSetting 0x14 */
/* Firmware differs in the order of the bits of Control_Map: set all. */
#define IBCC_CC_SW_CONTROL_MAP_ALL 0x1fu
struct ibcc_cc_sw_setting {
	uint32_t Control_Map;
	struct ibcc_cc_port_mask Victim_Mask;
	struct ibcc_cc_port_mask Credit_Mask;
	uint8_t Threshold;       /* 0 off, 1 loosest .. 15 most aggressive */
	uint8_t Packet_Size;     /* least size that is marked, in 64 byte units */
	uint8_t CS_Threshold;    /* credit starvation, 0..15 */
	uint16_t CS_ReturnDelay; /* coded like a CCT entry */
	uint16_t Marking_Rate;   /* mean number of packets between marked ones */
};
void ibcc_cc_sw_setting_pack(uint8_t *mad, const struct ibcc_cc_sw_setting *v);
void ibcc_cc_sw_setting_unpack(const uint8_t *mad, struct ibcc_cc_sw_setting *v);

/* SwitchPortCongestionSetting 0x15: elements of a block of ports. IBA 1.2.1 has 32 elements a
 * block, IBA 1.3 has 48; which one a switch speaks must be probed.
 */
#define IBCC_CC_SW_PORT_BLOCK_121 32u
#define IBCC_CC_SW_PORT_BLOCK_13  48u
struct ibcc_cc_sw_port_element {
	bool Valid;        /* overrides the switch-wide setting for this port */
	bool Control_Type; /* 0 congestion control, 1 credit starvation */
	uint8_t Threshold;
	uint8_t Packet_Size;
	uint16_t Cong_Parm_Marking_Rate;
};
/* Element `slot` (below IBCC_CC_SW_PORT_BLOCK_13) of the block in the MAD; the others are left
 * alone. A slot beyond is not written, and read as all zero.
 */
void ibcc_cc_sw_port_element_pack(uint8_t *mad, unsigned int slot,
				  const struct ibcc_cc_sw_port_element *v);
void ibcc_cc_sw_port_element_unpack(const uint8_t *mad, unsigned int slot,
				    struct ibcc_cc_sw_port_element *v);

/* CACongestionSetting 0x16 */
#define IBCC_CC_PORT_CONTROL_SL 0x0001u /* bit 0: 0 control for each QP, 1 for each SL */
struct ibcc_cc_ca_entry {
	uint16_t CCTI_Timer; /* units of 1.024 us */
	uint8_t CCTI_Increase;
	uint8_t Trigger_Threshold;
	uint8_t CCTI_Min;
};
struct ibcc_cc_ca_setting {
	uint16_t Port_Control;
	uint16_t Control_Map; /* bit s: entry of SL s is to be modified */
	struct ibcc_cc_ca_entry sl[IBCC_CC_SLS];
};
void ibcc_cc_ca_setting_pack(uint8_t *mad, const struct ibcc_cc_ca_setting *v);
void ibcc_cc_ca_setting_unpack(const uint8_t *mad, struct ibcc_cc_ca_setting *v);

/* CongestionControlTable 0x17: block `block` of *cct. Packing sends the cumulative limit of
 * ibcc_cct_block_limit(). Unpacking stores the 64 entries of the block and returns the limit that
 * the node gave, in *limit; the caller joins blocks. Blocks from IBCC_CCT_MAX_BLOCKS on have no
 * entries: none are sent, none are stored.
 */
void ibcc_cc_cct_pack(uint8_t *mad, unsigned int block, const struct ibcc_cct *cct);
void ibcc_cc_cct_unpack(const uint8_t *mad, unsigned int block, struct ibcc_cct *cct,
			uint16_t *limit);

/* TimeStamp 0x18: free running counter of 1.024 us units. */
void ibcc_cc_timestamp_pack(uint8_t *mad, uint32_t v);
uint32_t ibcc_cc_timestamp_unpack(const uint8_t *mad);

#endif
