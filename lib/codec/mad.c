/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The common MAD header, by libibmad's field table. */
#include <ibcc/mad.h>

#include <string.h>

#include "lib/codec/wire.h"

/* A direct routed SMP keeps its direction in the status word's first bit. */
#define STATUS_MASK 0x7fffu

void ibcc_mad_header_pack(uint8_t *mad, const struct ibcc_mad_header *h)
{
	memset(mad, 0, IBCC_MAD_HEADER_BYTES);
	wire_set(mad, 0, IB_MAD_BASEVER_F, 8, h->base_version);
	wire_set(mad, 0, IB_MAD_MGMTCLASS_F, 8, h->mgmt_class);
	wire_set(mad, 0, IB_MAD_CLASSVER_F, 8, h->class_version);
	wire_set(mad, 0, IB_MAD_METHOD_F, 7, h->method);
	wire_set(mad, 0, IB_MAD_RESPONSE_F, 1, h->method >> 7);
	wire_set(mad, 0, IB_MAD_STATUS_F, 16, h->status);
	wire_set64(mad, 0, IB_MAD_TRID_F, h->tid);
	wire_set(mad, 0, IB_MAD_ATTRID_F, 16, h->attr_id);
	wire_set(mad, 0, IB_MAD_ATTRMOD_F, 32, h->attr_mod);
}

void ibcc_mad_header_unpack(const uint8_t *mad, struct ibcc_mad_header *h)
{
	h->base_version = (uint8_t)wire_get(mad, 0, IB_MAD_BASEVER_F);
	h->mgmt_class = (uint8_t)wire_get(mad, 0, IB_MAD_MGMTCLASS_F);
	h->class_version = (uint8_t)wire_get(mad, 0, IB_MAD_CLASSVER_F);
	h->method = (uint8_t)(wire_get(mad, 0, IB_MAD_METHOD_F) |
			      wire_get(mad, 0, IB_MAD_RESPONSE_F) << 7);
	h->status = (uint16_t)wire_get(mad, 0, IB_MAD_STATUS_F);
	if (h->mgmt_class == IBCC_MAD_CLASS_SMP_DIRECT)
		h->status &= STATUS_MASK;
	h->tid = wire_get64(mad, 0, IB_MAD_TRID_F);
	h->attr_id = (uint16_t)wire_get(mad, 0, IB_MAD_ATTRID_F);
	h->attr_mod = wire_get(mad, 0, IB_MAD_ATTRMOD_F);
}

void ibcc_mad_request(uint8_t *mad, enum ibcc_mad_class mgmt_class, enum ibcc_mad_method method,
		      uint16_t attr_id, uint32_t attr_mod)
{
	const struct ibcc_mad_header h = {
		.base_version = 1,
		.mgmt_class = (uint8_t)mgmt_class,
		.class_version =
			mgmt_class == IBCC_MAD_CLASS_CC || mgmt_class == IBCC_MAD_CLASS_SA ? 2 : 1,
		.method = (uint8_t)method,
		.attr_id = attr_id,
		.attr_mod = attr_mod,
	};

	memset(mad, 0, IBCC_MAD_BYTES);
	ibcc_mad_header_pack(mad, &h);
}

const char *ibcc_mad_status_text(uint16_t status)
{
	switch ((enum ibcc_mad_status)(status & STATUS_MASK)) {
	case IBCC_MAD_STATUS_OK: return "ok";
	case IBCC_MAD_STATUS_BUSY: return "busy";
	case IBCC_MAD_STATUS_REDIRECT: return "redirection required";
	case IBCC_MAD_STATUS_BAD_VERSION: return "class or version not supported";
	case IBCC_MAD_STATUS_BAD_METHOD: return "method not supported";
	case IBCC_MAD_STATUS_BAD_ATTR: return "attribute not supported with this method";
	case IBCC_MAD_STATUS_BAD_FIELD: return "invalid value in a field";
	}
	return "unknown status";
}
