/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Routing of NVIDIA's switches that is not the linear forwarding table: adaptive routing, private
 * tables, hash based forwarding. Subnet management attributes, reading only.
 *
 * Layouts: NVIDIA OpenSM 5.x headers (iba/ib_types.h, 2021-2025, GPL-2.0 or BSD). None of it was
 * tried on hardware.
 */
#ifndef IBCC_VENDOR_ROUTE_H
#define IBCC_VENDOR_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/mad.h>

enum ibcc_vroute_attr {
	IBCC_VROUTE_ATTR_PRIVATE_LFT = 0xff10, /* PrivateLFTInfo */
	IBCC_VROUTE_ATTR_ADAPTIVE = 0xff20,    /* AdaptiveRoutingInfo */
};

struct ibcc_vroute_adaptive {
	bool enabled;
	bool by_sl; /* for the SLs of sl_mask only */
	uint16_t sl_mask;
	bool hbf_enabled; /* hash based forwarding, plain or weighted */
	uint16_t hbf_sl_mask;
};
void ibcc_vroute_adaptive_pack(uint8_t *mad, const struct ibcc_vroute_adaptive *v);
void ibcc_vroute_adaptive_unpack(const uint8_t *mad, struct ibcc_vroute_adaptive *v);

struct ibcc_vroute_private_lft {
	uint8_t active_mode; /* 0..7; 0: off */
};
void ibcc_vroute_private_lft_pack(uint8_t *mad, const struct ibcc_vroute_private_lft *v);
void ibcc_vroute_private_lft_unpack(const uint8_t *mad, struct ibcc_vroute_private_lft *v);

/* SLs that a switch with these settings need not send as its table says; private tables concern all
 * SLs.
 */
uint16_t ibcc_vroute_sls(const struct ibcc_vroute_adaptive *a,
			 const struct ibcc_vroute_private_lft *p);

#endif
