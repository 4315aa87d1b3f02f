/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* GeneralInfo of Mellanox's own class 0x0a, as infiniband-diags' vendstat reads it: the firmware.
 * (Of the SMP of this name see <ibcc/vendor_cc.h>.)
 */
#ifndef IBCC_VENDOR_INFO_H
#define IBCC_VENDOR_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/mad.h>

#define IBCC_VINFO_ATTR_GENERAL 0x17u /* AttributeModifier 0 */

struct ibcc_vinfo_general {
	uint16_t device_id;         /* of the hardware */
	uint32_t major, minor, sub; /* of the firmware */
};
void ibcc_vinfo_general_pack(uint8_t *mad, const struct ibcc_vinfo_general *v);
/* The wide fields, where they are of the same version as the narrow ones: older devices have others
 * in their place. False: the answer has no version.
 */
bool ibcc_vinfo_general_unpack(const uint8_t *mad, struct ibcc_vinfo_general *v);

#endif
