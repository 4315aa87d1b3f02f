/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Codec of class 0x04 (Performance Management), by libibmad's field tables.
 *
 * PortSelect and CounterSelect belong to struct ibcc_pma_select. The pack functions of the
 * counters leave them alone, so that a responder may write head and counters in either order.
 */
#include <ibcc/pma.h>

#include <string.h>

#include "lib/codec/wire.h"

#define DATA       IBCC_MAD_DATA_OFFS
#define DATA_BYTES (IBCC_MAD_BYTES - IBCC_MAD_DATA_OFFS)
#define HEAD_BYTES 4u
/* PortCounters and PortCountersExtended have more counters to select than one mask holds. */
#define COUNTERS_SELECT2_BYTE   18u
#define COUNTERS_EXT_HEAD_BYTES 8u
#define REDIRECT_GID_BYTE       8u
#define GID_BYTES               16u

static void clear_from(uint8_t *mad, unsigned int offs)
{
	memset(mad + DATA + offs, 0, DATA_BYTES - offs);
}

static void put(uint8_t *mad, enum MAD_FIELDS field, unsigned int bits, uint64_t v)
{
	wire_set(mad, DATA, field, bits, wire_saturate(v, bits));
}

static uint32_t get(const uint8_t *mad, enum MAD_FIELDS field)
{
	return wire_get(mad, DATA, field);
}

void ibcc_pma_class_port_info_pack(uint8_t *mad, const struct ibcc_pma_class_port_info *v)
{
	clear_from(mad, 0);
	wire_set(mad, DATA, IB_CPI_BASEVER_F, 8, v->base_version);
	wire_set(mad, DATA, IB_CPI_CLASSVER_F, 8, v->class_version);
	wire_set(mad, DATA, IB_CPI_CAPMASK_F, 16, v->cap_mask);
	wire_set(mad, DATA, IB_CPI_CAPMASK2_F, 27, v->cap_mask2);
	wire_set(mad, DATA, IB_CPI_RESP_TIME_VALUE_F, 5, v->resp_time);
	wire_set(mad, DATA, IB_CPI_REDIRECT_SL_F, 4, v->redirect.sl);
	wire_set(mad, DATA, IB_CPI_REDIRECT_LID_F, 16, v->redirect.lid);
	wire_set(mad, DATA, IB_CPI_REDIRECT_QP_F, 24, v->redirect.qp);
	wire_set(mad, DATA, IB_CPI_REDIRECT_QKEY_F, 32, v->redirect.q_key);
}

void ibcc_pma_class_port_info_unpack(const uint8_t *mad, struct ibcc_pma_class_port_info *v)
{
	v->base_version = (uint8_t)get(mad, IB_CPI_BASEVER_F);
	v->class_version = (uint8_t)get(mad, IB_CPI_CLASSVER_F);
	v->cap_mask = (uint16_t)get(mad, IB_CPI_CAPMASK_F);
	v->cap_mask2 = get(mad, IB_CPI_CAPMASK2_F);
	v->resp_time = (uint8_t)get(mad, IB_CPI_RESP_TIME_VALUE_F);
	v->redirect = (struct ibcc_pma_redirect){
		.lid = (uint16_t)get(mad, IB_CPI_REDIRECT_LID_F),
		.sl = (uint8_t)get(mad, IB_CPI_REDIRECT_SL_F),
		.qp = get(mad, IB_CPI_REDIRECT_QP_F),
		.q_key = get(mad, IB_CPI_REDIRECT_QKEY_F),
	};
	for (unsigned int i = 0; i < GID_BYTES; i++)
		v->redirect.gid |= mad[DATA + REDIRECT_GID_BYTE + i] != 0;
}

void ibcc_pma_samples_control_pack(uint8_t *mad, const struct ibcc_pma_samples_control *v)
{
	clear_from(mad, 0);
	wire_set(mad, DATA, IB_PSC_PORT_SELECT_F, 8, v->port);
	wire_set(mad, DATA, IB_PSC_TICK_F, 8, v->tick);
	wire_set(mad, DATA, IB_PSC_COUNTER_WIDTH_F, 3, v->counter_width);
	wire_set64(mad, DATA, IB_PSC_OPTION_MASK_F, v->option_mask);
}

void ibcc_pma_samples_control_unpack(const uint8_t *mad, struct ibcc_pma_samples_control *v)
{
	v->port = (uint8_t)get(mad, IB_PSC_PORT_SELECT_F);
	v->tick = (uint8_t)get(mad, IB_PSC_TICK_F);
	v->counter_width = (uint8_t)get(mad, IB_PSC_COUNTER_WIDTH_F);
	v->option_mask = wire_get64(mad, DATA, IB_PSC_OPTION_MASK_F);
}

/* Whether an attribute has PortSelect. */
static bool has_port(uint16_t attr_id)
{
	return attr_id == IBCC_PMA_ATTR_SAMPLES_CONTROL || attr_id == IBCC_PMA_ATTR_COUNTERS ||
	       attr_id == IBCC_PMA_ATTR_COUNTERS_EXT || ibcc_pma_array_len(attr_id);
}

/* Whether an attribute has CounterSelect. */
static bool has_counters(uint16_t attr_id)
{
	return has_port(attr_id) && attr_id != IBCC_PMA_ATTR_SAMPLES_CONTROL;
}

void ibcc_pma_select_pack(uint8_t *mad, uint16_t attr_id, const struct ibcc_pma_select *v)
{
	if (has_port(attr_id))
		wire_set(mad, DATA, IB_PC_PORT_SELECT_F, 8, v->port);
	if (has_counters(attr_id))
		wire_set(mad, DATA, IB_PC_COUNTER_SELECT_F, 16, v->counters);
	if (attr_id == IBCC_PMA_ATTR_COUNTERS)
		wire_set(mad, DATA, IB_PC_COUNTER_SELECT2_F, 8, v->counters2);
}

void ibcc_pma_select_unpack(const uint8_t *mad, uint16_t attr_id, struct ibcc_pma_select *v)
{
	memset(v, 0, sizeof(*v));
	if (has_port(attr_id))
		v->port = (uint8_t)get(mad, IB_PC_PORT_SELECT_F);
	if (has_counters(attr_id))
		v->counters = (uint16_t)get(mad, IB_PC_COUNTER_SELECT_F);
	if (attr_id == IBCC_PMA_ATTR_COUNTERS)
		v->counters2 = (uint8_t)get(mad, IB_PC_COUNTER_SELECT2_F);
}

void ibcc_pma_counters_pack(uint8_t *mad, const struct ibcc_pma_counters *v)
{
	uint8_t select2 = mad[DATA + COUNTERS_SELECT2_BYTE];

	clear_from(mad, HEAD_BYTES);
	mad[DATA + COUNTERS_SELECT2_BYTE] = select2;
	put(mad, IB_PC_ERR_SYM_F, 16, v->SymbolErrorCounter);
	put(mad, IB_PC_LINK_RECOVERS_F, 8, v->LinkErrorRecoveryCounter);
	put(mad, IB_PC_LINK_DOWNED_F, 8, v->LinkDownedCounter);
	put(mad, IB_PC_ERR_RCV_F, 16, v->PortRcvErrors);
	put(mad, IB_PC_ERR_PHYSRCV_F, 16, v->PortRcvRemotePhysicalErrors);
	put(mad, IB_PC_ERR_SWITCH_REL_F, 16, v->PortRcvSwitchRelayErrors);
	put(mad, IB_PC_XMT_DISCARDS_F, 16, v->PortXmitDiscards);
	put(mad, IB_PC_ERR_XMTCONSTR_F, 8, v->PortXmitConstraintErrors);
	put(mad, IB_PC_ERR_RCVCONSTR_F, 8, v->PortRcvConstraintErrors);
	put(mad, IB_PC_ERR_LOCALINTEG_F, 4, v->LocalLinkIntegrityErrors);
	put(mad, IB_PC_ERR_EXCESS_OVR_F, 4, v->ExcessiveBufferOverrunErrors);
	put(mad, IB_PC_VL15_DROPPED_F, 16, v->VL15Dropped);
	put(mad, IB_PC_XMT_BYTES_F, 32, v->PortXmitData);
	put(mad, IB_PC_RCV_BYTES_F, 32, v->PortRcvData);
	put(mad, IB_PC_XMT_PKTS_F, 32, v->PortXmitPkts);
	put(mad, IB_PC_RCV_PKTS_F, 32, v->PortRcvPkts);
	put(mad, IB_PC_XMT_WAIT_F, 32, v->PortXmitWait);
}

void ibcc_pma_counters_unpack(const uint8_t *mad, struct ibcc_pma_counters *v)
{
	v->SymbolErrorCounter = (uint16_t)get(mad, IB_PC_ERR_SYM_F);
	v->LinkErrorRecoveryCounter = (uint8_t)get(mad, IB_PC_LINK_RECOVERS_F);
	v->LinkDownedCounter = (uint8_t)get(mad, IB_PC_LINK_DOWNED_F);
	v->PortRcvErrors = (uint16_t)get(mad, IB_PC_ERR_RCV_F);
	v->PortRcvRemotePhysicalErrors = (uint16_t)get(mad, IB_PC_ERR_PHYSRCV_F);
	v->PortRcvSwitchRelayErrors = (uint16_t)get(mad, IB_PC_ERR_SWITCH_REL_F);
	v->PortXmitDiscards = (uint16_t)get(mad, IB_PC_XMT_DISCARDS_F);
	v->PortXmitConstraintErrors = (uint8_t)get(mad, IB_PC_ERR_XMTCONSTR_F);
	v->PortRcvConstraintErrors = (uint8_t)get(mad, IB_PC_ERR_RCVCONSTR_F);
	v->LocalLinkIntegrityErrors = (uint8_t)get(mad, IB_PC_ERR_LOCALINTEG_F);
	v->ExcessiveBufferOverrunErrors = (uint8_t)get(mad, IB_PC_ERR_EXCESS_OVR_F);
	v->VL15Dropped = (uint16_t)get(mad, IB_PC_VL15_DROPPED_F);
	v->PortXmitData = get(mad, IB_PC_XMT_BYTES_F);
	v->PortRcvData = get(mad, IB_PC_RCV_BYTES_F);
	v->PortXmitPkts = get(mad, IB_PC_XMT_PKTS_F);
	v->PortRcvPkts = get(mad, IB_PC_RCV_PKTS_F);
	v->PortXmitWait = get(mad, IB_PC_XMT_WAIT_F);
}

void ibcc_pma_counters_ext_pack(uint8_t *mad, const struct ibcc_pma_counters_ext *v)
{
	clear_from(mad, COUNTERS_EXT_HEAD_BYTES);
	wire_set64(mad, DATA, IB_PC_EXT_XMT_BYTES_F, v->PortXmitData);
	wire_set64(mad, DATA, IB_PC_EXT_RCV_BYTES_F, v->PortRcvData);
	wire_set64(mad, DATA, IB_PC_EXT_XMT_PKTS_F, v->PortXmitPkts);
	wire_set64(mad, DATA, IB_PC_EXT_RCV_PKTS_F, v->PortRcvPkts);
	wire_set64(mad, DATA, IB_PC_EXT_XMT_UPKTS_F, v->PortUnicastXmitPkts);
	wire_set64(mad, DATA, IB_PC_EXT_RCV_UPKTS_F, v->PortUnicastRcvPkts);
	wire_set64(mad, DATA, IB_PC_EXT_XMT_MPKTS_F, v->PortMulticastXmitPkts);
	wire_set64(mad, DATA, IB_PC_EXT_RCV_MPKTS_F, v->PortMulticastRcvPkts);
	wire_set64(mad, DATA, IB_PC_EXT_XMT_WAIT_F, v->PortXmitWait);
}

void ibcc_pma_counters_ext_unpack(const uint8_t *mad, struct ibcc_pma_counters_ext *v)
{
	v->PortXmitData = wire_get64(mad, DATA, IB_PC_EXT_XMT_BYTES_F);
	v->PortRcvData = wire_get64(mad, DATA, IB_PC_EXT_RCV_BYTES_F);
	v->PortXmitPkts = wire_get64(mad, DATA, IB_PC_EXT_XMT_PKTS_F);
	v->PortRcvPkts = wire_get64(mad, DATA, IB_PC_EXT_RCV_PKTS_F);
	v->PortUnicastXmitPkts = wire_get64(mad, DATA, IB_PC_EXT_XMT_UPKTS_F);
	v->PortUnicastRcvPkts = wire_get64(mad, DATA, IB_PC_EXT_RCV_UPKTS_F);
	v->PortMulticastXmitPkts = wire_get64(mad, DATA, IB_PC_EXT_XMT_MPKTS_F);
	v->PortMulticastRcvPkts = wire_get64(mad, DATA, IB_PC_EXT_RCV_MPKTS_F);
	v->PortXmitWait = wire_get64(mad, DATA, IB_PC_EXT_XMT_WAIT_F);
}

/* An attribute that is one array of counters: libibmad's first field, length, bits. */
struct array {
	enum MAD_FIELDS first;
	uint8_t len, bits;
};

static struct array array_of(uint16_t attr_id)
{
	switch ((enum ibcc_pma_attr)attr_id) {
	case IBCC_PMA_ATTR_VL_XMIT_WAIT:
		return (struct array){ IB_PC_PORT_VL_XMIT_WAIT0_F, IBCC_PMA_VLS, 16 };
	case IBCC_PMA_ATTR_SW_PORT_VL_CONGESTION:
		return (struct array){ IB_PC_SW_PORT_VL_CONGESTION0_F, IBCC_PMA_VLS, 16 };
	case IBCC_PMA_ATTR_RCV_CON_CTRL:
		return (struct array){ IB_PC_RCV_CON_CTRL_PKT_RCV_FECN_F, 2, 32 };
	case IBCC_PMA_ATTR_SL_RCV_FECN:
		return (struct array){ IB_PC_SL_RCV_FECN0_F, IBCC_PMA_SLS, 32 };
	case IBCC_PMA_ATTR_SL_RCV_BECN:
		return (struct array){ IB_PC_SL_RCV_BECN0_F, IBCC_PMA_SLS, 32 };
	case IBCC_PMA_ATTR_XMIT_CON_CTRL:
		return (struct array){ IB_PC_XMIT_CON_CTRL_TIME_CONG_F, 1, 32 };
	/* VL15 has no flow control, so it is never congested. */
	case IBCC_PMA_ATTR_VL_XMIT_TIME_CONG:
		return (struct array){ IB_PC_VL_XMIT_TIME_CONG0_F, IBCC_PMA_VLS - 1, 32 };
	case IBCC_PMA_ATTR_XMIT_DATA_SL:
		return (struct array){ IB_PC_XMT_DATA_SL0_F, IBCC_PMA_SLS, 32 };
	case IBCC_PMA_ATTR_CLASS_PORT_INFO:
	case IBCC_PMA_ATTR_SAMPLES_CONTROL:
	case IBCC_PMA_ATTR_SAMPLES_RESULT:
	case IBCC_PMA_ATTR_COUNTERS:
	case IBCC_PMA_ATTR_COUNTERS_EXT: break;
	}
	return (struct array){ IB_NO_FIELD, 0, 0 };
}

unsigned int ibcc_pma_array_len(uint16_t attr_id)
{
	return array_of(attr_id).len;
}

unsigned int ibcc_pma_array_width(uint16_t attr_id)
{
	return array_of(attr_id).bits;
}

void ibcc_pma_array_pack(uint8_t *mad, uint16_t attr_id, const uint64_t *v)
{
	struct array a = array_of(attr_id);
	unsigned int i;

	if (!a.len)
		return;
	clear_from(mad, HEAD_BYTES);
	for (i = 0; i < a.len; i++)
		put(mad, (enum MAD_FIELDS)(a.first + i), a.bits, v[i]);
}

void ibcc_pma_array_unpack(const uint8_t *mad, uint16_t attr_id, uint64_t *v)
{
	struct array a = array_of(attr_id);
	unsigned int i;

	for (i = 0; i < a.len; i++)
		v[i] = get(mad, (enum MAD_FIELDS)(a.first + i));
}

const char *ibcc_pma_attr_name(uint16_t attr_id)
{
	switch ((enum ibcc_pma_attr)attr_id) {
	case IBCC_PMA_ATTR_CLASS_PORT_INFO: return "ClassPortInfo";
	case IBCC_PMA_ATTR_SAMPLES_CONTROL: return "PortSamplesControl";
	case IBCC_PMA_ATTR_SAMPLES_RESULT: return "PortSamplesResult";
	case IBCC_PMA_ATTR_COUNTERS: return "PortCounters";
	case IBCC_PMA_ATTR_VL_XMIT_WAIT: return "PortVLXmitWaitCounters";
	case IBCC_PMA_ATTR_COUNTERS_EXT: return "PortCountersExtended";
	case IBCC_PMA_ATTR_SW_PORT_VL_CONGESTION: return "SwPortVLCongestion";
	case IBCC_PMA_ATTR_RCV_CON_CTRL: return "PortRcvConCtrl";
	case IBCC_PMA_ATTR_SL_RCV_FECN: return "PortSLRcvFECN";
	case IBCC_PMA_ATTR_SL_RCV_BECN: return "PortSLRcvBECN";
	case IBCC_PMA_ATTR_XMIT_CON_CTRL: return "PortXmitConCtrl";
	case IBCC_PMA_ATTR_VL_XMIT_TIME_CONG: return "PortVLXmitTimeCong";
	case IBCC_PMA_ATTR_XMIT_DATA_SL: return "PortXmitDataSL";
	}
	return "unknown attribute";
}
