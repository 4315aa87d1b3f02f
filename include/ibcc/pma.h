/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Attributes of the Performance Management class 0x04 (IBA vol. 1, 16.1) to and from bytes. */
#ifndef IBCC_PMA_H
#define IBCC_PMA_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/counters.h>
#include <ibcc/mad.h>

#define IBCC_PMA_VLS 16u
#define IBCC_PMA_SLS 16u

enum ibcc_pma_attr {
	IBCC_PMA_ATTR_CLASS_PORT_INFO = 0x01,
	IBCC_PMA_ATTR_SAMPLES_CONTROL = 0x10,
	IBCC_PMA_ATTR_SAMPLES_RESULT = 0x11,
	IBCC_PMA_ATTR_COUNTERS = 0x12,
	IBCC_PMA_ATTR_VL_XMIT_WAIT = 0x1c,
	IBCC_PMA_ATTR_COUNTERS_EXT = 0x1d,
	IBCC_PMA_ATTR_SW_PORT_VL_CONGESTION = 0x30,
	IBCC_PMA_ATTR_RCV_CON_CTRL = 0x31,
	IBCC_PMA_ATTR_SL_RCV_FECN = 0x32,
	IBCC_PMA_ATTR_SL_RCV_BECN = 0x33,
	IBCC_PMA_ATTR_XMIT_CON_CTRL = 0x34,
	IBCC_PMA_ATTR_VL_XMIT_TIME_CONG = 0x35,
	IBCC_PMA_ATTR_XMIT_DATA_SL = 0x36, /* Annex A13; no capability bit announces it */
};

/* ClassPortInfo:CapabilityMask bits that matter here. */
#define IBCC_PMA_CAP_ALL_PORT         (1u << 8)
#define IBCC_PMA_CAP_EXT_WIDTH        (1u << 9)
#define IBCC_PMA_CAP_EXT_WIDTH_NOIETF (1u << 10)
#define IBCC_PMA_CAP_XMIT_WAIT        (1u << 12)
/* CapabilityMask2 (27 bits, above RespTimeValue): PortCountersExtended has XmitWait too. */
#define IBCC_PMA_CAP2_EXT_XMIT_WAIT (1u << 1)

/* PortSamplesControl:OptionMask bits of the congestion attributes. */
#define IBCC_PMA_OPT_SW_PORT_VL_CONGESTION (1ull << 48)
#define IBCC_PMA_OPT_RCV_FECN              (1ull << 49)
#define IBCC_PMA_OPT_RCV_BECN              (1ull << 50)
#define IBCC_PMA_OPT_SL_RCV_FECN           (1ull << 51)
#define IBCC_PMA_OPT_SL_RCV_BECN           (1ull << 52)
#define IBCC_PMA_OPT_XMIT_TIME_CONG        (1ull << 53)
#define IBCC_PMA_OPT_VL_XMIT_TIME_CONG     (1ull << 54)

#define IBCC_GSI_Q_KEY 0x80010000u /* of QP 1 (IBA vol. 1, 13.5.3) */

/* Where requests of a class are to be sent instead (IBA vol. 1, 13.4.8.1). */
struct ibcc_pma_redirect {
	uint16_t lid;   /* 0: none, or by the GID alone, which is beyond a router */
	uint8_t sl;     /* 4 bits */
	uint32_t qp;    /* 24 bits; 0: QP 1 */
	uint32_t q_key; /* 0: that of QP 1 */
	bool gid;       /* there is a GID */
};

struct ibcc_pma_class_port_info {
	uint8_t base_version, class_version;
	uint16_t cap_mask;
	uint32_t cap_mask2; /* 27 bits */
	uint8_t resp_time;  /* 5 bits */
	struct ibcc_pma_redirect redirect;
};
void ibcc_pma_class_port_info_pack(uint8_t *mad, const struct ibcc_pma_class_port_info *v);
void ibcc_pma_class_port_info_unpack(const uint8_t *mad, struct ibcc_pma_class_port_info *v);

/* Fields of PortSamplesControl that describe the port. */
struct ibcc_pma_samples_control {
	uint8_t port;
	uint8_t tick; /* PortXmitWait's unit: (tick + 1) symbol times */
	uint8_t counter_width;
	uint64_t option_mask;
};
void ibcc_pma_samples_control_pack(uint8_t *mad, const struct ibcc_pma_samples_control *v);
void ibcc_pma_samples_control_unpack(const uint8_t *mad, struct ibcc_pma_samples_control *v);

/* PortSelect and CounterSelect, which most attributes of the class begin with. Only the parts that
 * attr_id has are written; others read as 0. The pack functions of counters below leave this head
 * alone and clear all else, so either may come first.
 */
struct ibcc_pma_select {
	uint8_t port;
	uint16_t counters; /* Set clears those; ignored by Get */
	uint8_t counters2; /* PortCounters only: bit 0 selects PortXmitWait */
};
void ibcc_pma_select_pack(uint8_t *mad, uint16_t attr_id, const struct ibcc_pma_select *v);
void ibcc_pma_select_unpack(const uint8_t *mad, uint16_t attr_id, struct ibcc_pma_select *v);

/* PortCounters 0x12: the error counters are narrower; values beyond a field's width are stored as
 * all ones, as the specification demands.
 */
struct ibcc_pma_counters {
	uint16_t SymbolErrorCounter;
	uint8_t LinkErrorRecoveryCounter, LinkDownedCounter;
	uint16_t PortRcvErrors, PortRcvRemotePhysicalErrors, PortRcvSwitchRelayErrors;
	uint16_t PortXmitDiscards;
	uint8_t PortXmitConstraintErrors, PortRcvConstraintErrors;
	uint8_t LocalLinkIntegrityErrors, ExcessiveBufferOverrunErrors;
	uint16_t VL15Dropped;
	uint64_t PortXmitData, PortRcvData, PortXmitPkts, PortRcvPkts, PortXmitWait;
};
void ibcc_pma_counters_pack(uint8_t *mad, const struct ibcc_pma_counters *v);
void ibcc_pma_counters_unpack(const uint8_t *mad, struct ibcc_pma_counters *v);

/* PortCountersExtended 0x1d */
struct ibcc_pma_counters_ext {
	uint64_t PortXmitData, PortRcvData, PortXmitPkts, PortRcvPkts;
	uint64_t PortUnicastXmitPkts, PortUnicastRcvPkts;
	uint64_t PortMulticastXmitPkts, PortMulticastRcvPkts;
	uint64_t PortXmitWait; /* where CapabilityMask2 says so */
};
void ibcc_pma_counters_ext_pack(uint8_t *mad, const struct ibcc_pma_counters_ext *v);
void ibcc_pma_counters_ext_unpack(const uint8_t *mad, struct ibcc_pma_counters_ext *v);

/* The attributes 0x1c, 0x30 to 0x36 have one array of equal counters behind the common
 * head. n and width (16 or 32 bits) come from the attribute; ibcc_pma_array_len() returns n, or 0
 * for an attribute that is none of these. Values too wide for the field are stored as all ones.
 * RCV_CON_CTRL: v[0] PktRcvFECN, v[1] PktRcvBECN. XMIT_CON_CTRL: v[0] PortXmitTimeCong.
 */
unsigned int ibcc_pma_array_len(uint16_t attr_id);
unsigned int ibcc_pma_array_width(uint16_t attr_id);
void ibcc_pma_array_pack(uint8_t *mad, uint16_t attr_id, const uint64_t *v);
void ibcc_pma_array_unpack(const uint8_t *mad, uint16_t attr_id, uint64_t *v);

/* Name of an attribute ("PortRcvConCtrl"); never NULL. */
const char *ibcc_pma_attr_name(uint16_t attr_id);

#endif
