/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Codec of CongestionLog, the one attribute of class 0x21 whose data start at byte 32.
 *
 * Sources differ about the layout of a channel adapter's entry. This one is of the 2010 errata,
 * which libibmad has (local QP 24, SL 4, service type 4; remote QP 24, reserved 8; local LID 16,
 * remote LID 16; time stamp 32), so that ibccquery and we agree. OpenSM's ib_types.h has an older
 * one without the local LID.
 */
#include <ibcc/ccmad.h>

#include <errno.h>
#include <string.h>

#include "lib/codec/wire.h"

#define LOG        IBCC_CC_LOG_OFFS
#define LOG_BYTES  (IBCC_MAD_BYTES - IBCC_CC_LOG_OFFS)
#define SW_ENTRIES (LOG + 40)
#define SW_ENTRY   12u
#define CA_ENTRIES (LOG + 12)
#define CA_ENTRY   16u

static void pack_switch(uint8_t *mad, const struct ibcc_cc_log *v)
{
	unsigned int i;

	wire_set(mad, LOG, IB_CC_CONGESTION_LOG_SWITCH_LOG_EVENTS_COUNTER_F, 16,
		 v->u.sw.LogEventsCounter);
	wire_set(mad, LOG, IB_CC_CONGESTION_LOG_SWITCH_CURRENT_TIME_STAMP_F, 32,
		 v->u.sw.CurrentTimeStamp);
	mad_set_array(mad, LOG, IB_CC_CONGESTION_LOG_SWITCH_PORTMAP_F,
		      (void *)(uintptr_t)v->u.sw.PortMap.byte);
	for (i = 0; i < IBCC_CC_LOG_SWITCH_ENTRIES; i++) {
		unsigned int offs = SW_ENTRIES + SW_ENTRY * i;

		wire_set(mad, offs, IB_CC_CONGESTION_LOG_ENTRY_SWITCH_SLID_F, 16,
			 v->u.sw.entry[i].SLID);
		wire_set(mad, offs, IB_CC_CONGESTION_LOG_ENTRY_SWITCH_DLID_F, 16,
			 v->u.sw.entry[i].DLID);
		wire_set(mad, offs, IB_CC_CONGESTION_LOG_ENTRY_SWITCH_SL_F, 4, v->u.sw.entry[i].SL);
		wire_set(mad, offs, IB_CC_CONGESTION_LOG_ENTRY_SWITCH_TIMESTAMP_F, 32,
			 v->u.sw.entry[i].TimeStamp);
	}
}

static void unpack_switch(const uint8_t *mad, struct ibcc_cc_log *v)
{
	unsigned int i;

	v->u.sw.LogEventsCounter =
		(uint16_t)wire_get(mad, LOG, IB_CC_CONGESTION_LOG_SWITCH_LOG_EVENTS_COUNTER_F);
	v->u.sw.CurrentTimeStamp =
		wire_get(mad, LOG, IB_CC_CONGESTION_LOG_SWITCH_CURRENT_TIME_STAMP_F);
	mad_get_array((void *)(uintptr_t)mad, LOG, IB_CC_CONGESTION_LOG_SWITCH_PORTMAP_F,
		      v->u.sw.PortMap.byte);
	for (i = 0; i < IBCC_CC_LOG_SWITCH_ENTRIES; i++) {
		unsigned int offs = SW_ENTRIES + SW_ENTRY * i;

		v->u.sw.entry[i].SLID =
			(uint16_t)wire_get(mad, offs, IB_CC_CONGESTION_LOG_ENTRY_SWITCH_SLID_F);
		v->u.sw.entry[i].DLID =
			(uint16_t)wire_get(mad, offs, IB_CC_CONGESTION_LOG_ENTRY_SWITCH_DLID_F);
		v->u.sw.entry[i].SL =
			(uint8_t)wire_get(mad, offs, IB_CC_CONGESTION_LOG_ENTRY_SWITCH_SL_F);
		v->u.sw.entry[i].TimeStamp =
			wire_get(mad, offs, IB_CC_CONGESTION_LOG_ENTRY_SWITCH_TIMESTAMP_F);
	}
}

static void pack_ca(uint8_t *mad, const struct ibcc_cc_log *v)
{
	unsigned int i;

	wire_set(mad, LOG, IB_CC_CONGESTION_LOG_CA_THRESHOLD_EVENT_COUNTER_F, 16,
		 v->u.ca.ThresholdEventCounter);
	wire_set(mad, LOG, IB_CC_CONGESTION_LOG_CA_THRESHOLD_CONGESTION_EVENT_MAP_F, 16,
		 v->u.ca.ThresholdCongestionEventMap);
	wire_set(mad, LOG, IB_CC_CONGESTION_LOG_CA_CURRENT_TIMESTAMP_F, 32,
		 v->u.ca.CurrentTimeStamp);
	for (i = 0; i < IBCC_CC_LOG_CA_ENTRIES; i++) {
		unsigned int offs = CA_ENTRIES + CA_ENTRY * i;

		wire_set(mad, offs, IB_CC_CONGESTION_LOG_ENTRY_CA_LOCAL_QP_CN_ENTRY_F, 24,
			 v->u.ca.entry[i].Local_QP_CN_Entry);
		wire_set(mad, offs, IB_CC_CONGESTION_LOG_ENTRY_CA_SL_CN_ENTRY_F, 4,
			 v->u.ca.entry[i].SL_CN_Entry);
		wire_set(mad, offs, IB_CC_CONGESTION_LOG_ENTRY_CA_SERVICE_TYPE_CN_ENTRY_F, 4,
			 v->u.ca.entry[i].Service_Type_CN_Entry);
		wire_set(mad, offs, IB_CC_CONGESTION_LOG_ENTRY_CA_REMOTE_QP_NUMBER_CN_ENTRY_F, 24,
			 v->u.ca.entry[i].Remote_QP_Number_CN_Entry);
		wire_set(mad, offs, IB_CC_CONGESTION_LOG_ENTRY_CA_LOCAL_LID_CN_F, 16,
			 v->u.ca.entry[i].Local_LID_CN);
		wire_set(mad, offs, IB_CC_CONGESTION_LOG_ENTRY_CA_REMOTE_LID_CN_ENTRY_F, 16,
			 v->u.ca.entry[i].Remote_LID_CN_Entry);
		wire_set(mad, offs, IB_CC_CONGESTION_LOG_ENTRY_CA_TIMESTAMP_CN_ENTRY_F, 32,
			 v->u.ca.entry[i].TimeStamp_CN_Entry);
	}
}

static void unpack_ca(const uint8_t *mad, struct ibcc_cc_log *v)
{
	unsigned int i;

	v->u.ca.ThresholdEventCounter =
		(uint16_t)wire_get(mad, LOG, IB_CC_CONGESTION_LOG_CA_THRESHOLD_EVENT_COUNTER_F);
	v->u.ca.ThresholdCongestionEventMap = (uint16_t)wire_get(
		mad, LOG, IB_CC_CONGESTION_LOG_CA_THRESHOLD_CONGESTION_EVENT_MAP_F);
	v->u.ca.CurrentTimeStamp = wire_get(mad, LOG, IB_CC_CONGESTION_LOG_CA_CURRENT_TIMESTAMP_F);
	for (i = 0; i < IBCC_CC_LOG_CA_ENTRIES; i++) {
		unsigned int offs = CA_ENTRIES + CA_ENTRY * i;

		v->u.ca.entry[i].Local_QP_CN_Entry =
			wire_get(mad, offs, IB_CC_CONGESTION_LOG_ENTRY_CA_LOCAL_QP_CN_ENTRY_F);
		v->u.ca.entry[i].SL_CN_Entry =
			(uint8_t)wire_get(mad, offs, IB_CC_CONGESTION_LOG_ENTRY_CA_SL_CN_ENTRY_F);
		v->u.ca.entry[i].Service_Type_CN_Entry = (uint8_t)wire_get(
			mad, offs, IB_CC_CONGESTION_LOG_ENTRY_CA_SERVICE_TYPE_CN_ENTRY_F);
		v->u.ca.entry[i].Remote_QP_Number_CN_Entry = wire_get(
			mad, offs, IB_CC_CONGESTION_LOG_ENTRY_CA_REMOTE_QP_NUMBER_CN_ENTRY_F);
		v->u.ca.entry[i].Local_LID_CN =
			(uint16_t)wire_get(mad, offs, IB_CC_CONGESTION_LOG_ENTRY_CA_LOCAL_LID_CN_F);
		v->u.ca.entry[i].Remote_LID_CN_Entry = (uint16_t)wire_get(
			mad, offs, IB_CC_CONGESTION_LOG_ENTRY_CA_REMOTE_LID_CN_ENTRY_F);
		v->u.ca.entry[i].TimeStamp_CN_Entry =
			wire_get(mad, offs, IB_CC_CONGESTION_LOG_ENTRY_CA_TIMESTAMP_CN_ENTRY_F);
	}
}

void ibcc_cc_log_pack(uint8_t *mad, const struct ibcc_cc_log *v)
{
	memset(mad + LOG, 0, LOG_BYTES);
	wire_set(mad, LOG, IB_CC_CONGESTION_LOG_LOGTYPE_F, 8, v->LogType);
	wire_set(mad, LOG, IB_CC_CONGESTION_LOG_CONGESTION_FLAGS_F, 8, v->CongestionFlags);
	if (v->LogType == IBCC_CC_LOG_SWITCH)
		pack_switch(mad, v);
	else if (v->LogType == IBCC_CC_LOG_CA)
		pack_ca(mad, v);
}

int ibcc_cc_log_unpack(const uint8_t *mad, struct ibcc_cc_log *v)
{
	uint8_t type = (uint8_t)wire_get(mad, LOG, IB_CC_CONGESTION_LOG_LOGTYPE_F);

	if (type != IBCC_CC_LOG_SWITCH && type != IBCC_CC_LOG_CA)
		return -EPROTO;
	memset(v, 0, sizeof(*v));
	v->LogType = type;
	v->CongestionFlags = (uint8_t)wire_get(mad, LOG, IB_CC_CONGESTION_LOG_CONGESTION_FLAGS_F);
	if (type == IBCC_CC_LOG_SWITCH)
		unpack_switch(mad, v);
	else
		unpack_ca(mad, v);
	return 0;
}
