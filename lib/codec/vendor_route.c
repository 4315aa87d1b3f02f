/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Codec of NVIDIA's routing attributes (vendor_route.h): adaptive routing, hash based forwarding,
 * private forwarding tables. They say whether packets of an SL may leave a switch by other
 * outputs than its forwarding table says.
 */
#include <ibcc/vendor_route.h>

#include <string.h>

#include "lib/codec/wire.h"

#define DATA           IBCC_MAD_DATA_OFFS
#define SMP_DATA_BYTES 64u

/* AdaptiveRoutingInfo: bytes of the data, and bits in them. */
#define AR_BY_SL       0u
#define AR_BY_SL_BIT   0x10u
#define AR_ENABLED     3u
#define AR_ENABLED_BIT 0x01u
#define AR_SLS         8u
#define AR_HBF         22u
#define AR_HBF_BITS    0xc0u /* plain, weighted */
#define AR_HBF_PLAIN   0x80u
#define AR_HBF_SLS     26u

#define PLFT_MODE      3u
#define PLFT_MODE_BITS 0x07u

void ibcc_vroute_adaptive_pack(uint8_t *mad, const struct ibcc_vroute_adaptive *v)
{
	uint8_t *d = memset(mad + DATA, 0, SMP_DATA_BYTES);

	d[AR_BY_SL] = v->by_sl ? AR_BY_SL_BIT : 0;
	d[AR_ENABLED] = v->enabled ? AR_ENABLED_BIT : 0;
	wire_put_be16(d + AR_SLS, v->sl_mask);
	d[AR_HBF] = v->hbf_enabled ? AR_HBF_PLAIN : 0;
	wire_put_be16(d + AR_HBF_SLS, v->hbf_sl_mask);
}

void ibcc_vroute_adaptive_unpack(const uint8_t *mad, struct ibcc_vroute_adaptive *v)
{
	const uint8_t *d = mad + DATA;

	v->by_sl = d[AR_BY_SL] & AR_BY_SL_BIT;
	v->enabled = d[AR_ENABLED] & AR_ENABLED_BIT;
	v->sl_mask = wire_get_be16(d + AR_SLS);
	v->hbf_enabled = d[AR_HBF] & AR_HBF_BITS;
	v->hbf_sl_mask = wire_get_be16(d + AR_HBF_SLS);
}

void ibcc_vroute_private_lft_pack(uint8_t *mad, const struct ibcc_vroute_private_lft *v)
{
	uint8_t *d = memset(mad + DATA, 0, SMP_DATA_BYTES);

	d[PLFT_MODE] = v->active_mode & PLFT_MODE_BITS;
}

void ibcc_vroute_private_lft_unpack(const uint8_t *mad, struct ibcc_vroute_private_lft *v)
{
	v->active_mode = mad[DATA + PLFT_MODE] & PLFT_MODE_BITS;
}

uint16_t ibcc_vroute_sls(const struct ibcc_vroute_adaptive *a,
			 const struct ibcc_vroute_private_lft *p)
{
	uint16_t sls = 0;

	if (p->active_mode)
		return UINT16_MAX;
	if (a->enabled)
		sls = a->by_sl ? a->sl_mask : UINT16_MAX;
	/* No bit says whether that mask is used: an empty one may mean all SLs. */
	if (a->hbf_enabled)
		sls |= a->hbf_sl_mask ? a->hbf_sl_mask : UINT16_MAX;
	return sls;
}
