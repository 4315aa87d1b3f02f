/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Codec of NVIDIA's congestion control attributes (vendor_cc.h). libibmad's tables know none of
 * them, so the places of the fields are here.
 */
#include <ibcc/vendor_cc.h>

#include <string.h>

#include <ibcc/ccmad.h>

#include "lib/codec/wire.h"

#define DATA IBCC_MAD_DATA_OFFS
/* An SMP's data are 64 bytes, a congestion control datagram's 192. */
#define SMP_DATA_BYTES 64u

#define INFO_VER0    0x80u
#define INFO_VER1    0x40u
#define INFO_MASK    8u
#define SW_EN        0x01u
#define SW_WEIGHT    2u
#define SW_TIME      3u
#define SW_BUFFER    4u
#define SW_STEP      11u
#define CA_EN_NOTIFY 0x80u
#define CA_EN_REACT  0x40u
#define STAT_IGNORED 4u
#define STAT_HANDLED 12u
#define STAT_MARKED  20u
#define STAT_SENT    28u
#define ALGO_STATUS  0x40u /* in byte 0 */
#define ALGO_SLS     4u
#define ALGO_LEN     6u
#define ALGO_TYPE    7u
#define ALGO_LIST    2u /* the type that lists the algorithms of all slots */
#define ALGO_DATA    16u

const char *ibcc_vcc_attr_name(uint16_t attr_id)
{
	switch ((enum ibcc_vcc_attr)attr_id) {
	case IBCC_VCC_ATTR_INFO: return "EnhancedCongestionInfo";
	case IBCC_VCC_ATTR_SW_GENERAL: return "SwitchGeneralSettings";
	case IBCC_VCC_ATTR_SW_PROFILE: return "PortProfileSettings";
	case IBCC_VCC_ATTR_SW_SL_MAPPING: return "SLMapping";
	case IBCC_VCC_ATTR_CA_GENERAL: return "HCAGeneralSettings";
	case IBCC_VCC_ATTR_CA_RP: return "HCARPParameters";
	case IBCC_VCC_ATTR_CA_NP: return "HCANPParameters";
	case IBCC_VCC_ATTR_CA_STATISTICS: return "HCAStatisticsQuery";
	case IBCC_VCC_ATTR_CA_ALGORITHM: return "HCAAlgoConfig";
	}
	return "unknown attribute";
}

static uint8_t *clear_data(uint8_t *mad)
{
	return memset(mad + DATA, 0, IBCC_CC_DATA_BYTES);
}

void ibcc_vcc_general_info_pack(uint8_t *mad, const struct ibcc_vcc_general_info *v)
{
	uint8_t *d = memset(mad + DATA, 0, SMP_DATA_BYTES);

	for (unsigned int i = 0; i < IBCC_VCC_CAPABILITY_WORDS; i++)
		wire_put_be32(d + 4 * i, v->word[i]);
}

void ibcc_vcc_general_info_unpack(const uint8_t *mad, struct ibcc_vcc_general_info *v)
{
	for (unsigned int i = 0; i < IBCC_VCC_CAPABILITY_WORDS; i++)
		v->word[i] = wire_get_be32(mad + DATA + 4 * i);
}

void ibcc_vcc_info_pack(uint8_t *mad, const struct ibcc_vcc_info *v)
{
	uint8_t *d = clear_data(mad);

	d[0] = (uint8_t)((v->ver0 ? INFO_VER0 : 0) | (v->ver1 ? INFO_VER1 : 0));
	wire_put_be64(d + INFO_MASK, v->CC_Capability_Mask);
}

void ibcc_vcc_info_unpack(const uint8_t *mad, struct ibcc_vcc_info *v)
{
	const uint8_t *d = mad + DATA;

	v->ver0 = d[0] & INFO_VER0;
	v->ver1 = d[0] & INFO_VER1;
	v->CC_Capability_Mask = wire_get_be64(d + INFO_MASK);
}

void ibcc_vcc_sw_general_pack(uint8_t *mad, const struct ibcc_vcc_sw_general *v)
{
	uint8_t *d = clear_data(mad);

	d[0] = v->en ? SW_EN : 0;
	d[SW_WEIGHT] = v->aqs_weight & 0xf;
	d[SW_TIME] = v->aqs_time;
	wire_put_be32(d + SW_BUFFER, v->cap_total_buffer_size);
	d[SW_STEP] = v->cap_cc_profile_step_size;
}

void ibcc_vcc_sw_general_unpack(const uint8_t *mad, struct ibcc_vcc_sw_general *v)
{
	const uint8_t *d = mad + DATA;

	v->en = d[0] & SW_EN;
	v->aqs_weight = d[SW_WEIGHT] & 0xf;
	v->aqs_time = d[SW_TIME];
	v->cap_total_buffer_size = wire_get_be32(d + SW_BUFFER);
	v->cap_cc_profile_step_size = d[SW_STEP];
}

void ibcc_vcc_ca_general_pack(uint8_t *mad, const struct ibcc_vcc_ca_general *v)
{
	clear_data(mad)[0] =
		(uint8_t)((v->en_notify ? CA_EN_NOTIFY : 0) | (v->en_react ? CA_EN_REACT : 0));
}

void ibcc_vcc_ca_general_unpack(const uint8_t *mad, struct ibcc_vcc_ca_general *v)
{
	v->en_notify = mad[DATA] & CA_EN_NOTIFY;
	v->en_react = mad[DATA] & CA_EN_REACT;
}

void ibcc_vcc_ca_statistics_pack(uint8_t *mad, const struct ibcc_vcc_ca_statistics *v)
{
	uint8_t *d = clear_data(mad);

	wire_put_be64(d + STAT_IGNORED, v->cnp_ignored);
	wire_put_be64(d + STAT_HANDLED, v->cnp_handled);
	wire_put_be64(d + STAT_MARKED, v->marked_packets);
	wire_put_be64(d + STAT_SENT, v->cnp_sent);
}

void ibcc_vcc_ca_statistics_unpack(const uint8_t *mad, struct ibcc_vcc_ca_statistics *v)
{
	const uint8_t *d = mad + DATA;

	v->cnp_ignored = wire_get_be64(d + STAT_IGNORED);
	v->cnp_handled = wire_get_be64(d + STAT_HANDLED);
	v->marked_packets = wire_get_be64(d + STAT_MARKED);
	v->cnp_sent = wire_get_be64(d + STAT_SENT);
}

void ibcc_vcc_ca_algorithm_pack(uint8_t *mad, const struct ibcc_vcc_ca_algorithm *v)
{
	uint8_t *d = clear_data(mad);

	d[0] = v->algo_status ? ALGO_STATUS : 0;
	wire_put_be16(d + ALGO_SLS, v->sl_bitmask);
	d[ALGO_LEN] = (uint8_t)(4 * v->n_slots);
	d[ALGO_TYPE] = ALGO_LIST;
	for (unsigned int i = 0; i < v->n_slots && i < IBCC_VCC_SLOTS; i++) {
		uint8_t *slot = d + ALGO_DATA + 4 * i;

		wire_put_be16(slot, v->slot[i].algo_id);
		slot[2] = v->slot[i].major;
		slot[3] = v->slot[i].minor;
	}
}

void ibcc_vcc_ca_algorithm_unpack(const uint8_t *mad, struct ibcc_vcc_ca_algorithm *v)
{
	const uint8_t *d = mad + DATA;
	unsigned int n = d[ALGO_LEN] / 4;

	*v = (struct ibcc_vcc_ca_algorithm){ .algo_status = d[0] & ALGO_STATUS,
					     .sl_bitmask = wire_get_be16(d + ALGO_SLS) };
	if ((d[ALGO_TYPE] & 0xf) != ALGO_LIST || d[ALGO_LEN] % 4 || n > IBCC_VCC_SLOTS)
		return;
	v->n_slots = (uint8_t)n;
	for (unsigned int i = 0; i < n; i++) {
		const uint8_t *slot = d + ALGO_DATA + 4 * i;

		v->slot[i] = (struct ibcc_vcc_algorithm){ wire_get_be16(slot), slot[2], slot[3] };
	}
}
