/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Codec of the firmware version in NVIDIA's vendor class 0x0a (vendor_info.h). Places of the
 * fields are as in vendstat.c of rdma-core.
 */
#include <ibcc/vendor_info.h>

#include <string.h>

#include "lib/codec/wire.h"

/* The data of this class begin behind the common header, with the key. */
#define KEY_END    32u
#define HW_DEVICE  34u
#define FW_MAJOR   65u
#define FW_MINOR   66u
#define FW_SUB     67u
#define WIDE_MAJOR 100u
#define WIDE_MINOR 104u
#define WIDE_SUB   108u

void ibcc_vinfo_general_pack(uint8_t *mad, const struct ibcc_vinfo_general *v)
{
	memset(mad + KEY_END, 0, IBCC_MAD_BYTES - KEY_END);
	wire_put_be16(mad + HW_DEVICE, v->device_id);
	mad[FW_MAJOR] = (uint8_t)v->major;
	mad[FW_MINOR] = (uint8_t)v->minor;
	mad[FW_SUB] = (uint8_t)v->sub;
	wire_put_be32(mad + WIDE_MAJOR, v->major);
	wire_put_be32(mad + WIDE_MINOR, v->minor);
	wire_put_be32(mad + WIDE_SUB, v->sub);
}

bool ibcc_vinfo_general_unpack(const uint8_t *mad, struct ibcc_vinfo_general *v)
{
	*v = (struct ibcc_vinfo_general){
		.device_id = wire_get_be16(mad + HW_DEVICE),
		.major = wire_get_be32(mad + WIDE_MAJOR),
		.minor = wire_get_be32(mad + WIDE_MINOR),
		.sub = wire_get_be32(mad + WIDE_SUB),
	};
	if ((uint8_t)v->major != mad[FW_MAJOR] || v->major > UINT8_MAX) {
		v->major = mad[FW_MAJOR];
		v->minor = mad[FW_MINOR];
		v->sub = mad[FW_SUB];
	}
	return v->major || v->minor || v->sub;
}
