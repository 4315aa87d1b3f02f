/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Codec of traps by subnet administration: subscribing (InformInfo), recognising a report
 * (Notice), answering it.
 */
#include <ibcc/notice.h>

#include <string.h>

#include <infiniband/mad.h>

#define ATTR_NOTICE      0x0002u
#define ATTR_INFORM_INFO 0x0003u
#define ALL              0xff

/* Places in InformInfo. */
enum {
	LID_BEGIN = 16,
	IS_GENERIC = 22,
	SUBSCRIBE = 23,
	TYPE = 24,
	TRAP = 26,
	RESP_TIME = 31,
	PRODUCER = 33
};

/* Bits of the SA's component mask for LIDRangeBegin, IsGeneric, Subscribe, Type, TrapNumber,
 * ProducerType. */
#define COMPONENTS      (1u << 1 | 1u << 4 | 1u << 5 | 1u << 6 | 1u << 7 | 1u << 12)
#define RESP_TIME_VALUE 18u /* 4.096 us * 2^18: a second */

void ibcc_notice_subscribe(uint8_t *mad, uint16_t trap, bool on)
{
	uint8_t *data = mad + IB_SA_DATA_OFFS;

	ibcc_mad_request(mad, IBCC_MAD_CLASS_SA, IBCC_MAD_SET, ATTR_INFORM_INFO, 0);
	mad_set_field64(mad, 0, IB_SA_COMPMASK_F, COMPONENTS);
	memset(data + LID_BEGIN, ALL, 2);
	data[IS_GENERIC] = 1;
	data[SUBSCRIBE] = on;
	memset(data + TYPE, ALL, 2);
	data[TRAP] = (uint8_t)(trap >> 8);
	data[TRAP + 1] = (uint8_t)trap;
	data[RESP_TIME - 1] = on ? 0 : 1; /* QP 1: the SA finds the subscription to end by it */
	data[RESP_TIME] = RESP_TIME_VALUE;
	memset(data + PRODUCER, ALL, 3);
}

static bool is_sa(const struct ibcc_mad_header *h, uint8_t method, uint16_t attr_id)
{
	return h->mgmt_class == IBCC_MAD_CLASS_SA && h->method == method && h->attr_id == attr_id;
}

bool ibcc_notice_is_subscribed(const uint8_t *mad)
{
	struct ibcc_mad_header h;

	ibcc_mad_header_unpack(mad, &h);
	return is_sa(&h, IBCC_MAD_GET_RESP, ATTR_INFORM_INFO) && !h.status;
}

bool ibcc_notice_report(const uint8_t *mad, uint16_t *trap)
{
	const uint8_t *data = mad + IB_SA_DATA_OFFS;
	struct ibcc_mad_header h;

	ibcc_mad_header_unpack(mad, &h);
	*trap = (uint16_t)(data[4] << 8 | data[5]);
	return is_sa(&h, IBCC_MAD_REPORT, ATTR_NOTICE) && data[0] & 0x80;
}

void ibcc_notice_respond(uint8_t *mad)
{
	struct ibcc_mad_header h;

	ibcc_mad_header_unpack(mad, &h);
	h.method = IBCC_MAD_REPORT_RESP;
	h.status = 0;
	ibcc_mad_header_pack(mad, &h);
}
