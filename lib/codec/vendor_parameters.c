/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Fields of NVIDIA's attributes of congestion control parameters (vendor_cc.h). Widths are those of
 * NVIDIA OpenSM 5.x's headers.
 */
#include <ibcc/ccmad.h>
#include <ibcc/dcqcn.h>
#include <ibcc/vendor_cc.h>

#include <stddef.h>
#include <string.h>

#include "lib/codec/wire.h"

/* min and max of a marking profile are in units of `unit`, bytes or KB; percent is the share of
 * packets that is marked at max.
 */
#define PROFILE(k)                                                                                 \
	{ "profile" #k "_min", 2 * (k)-1, 0, 20 }, { "profile" #k "_percent", 2 * (k), 24, 7 },    \
	{                                                                                          \
		"profile" #k "_max", 2 * (k), 0, 20                                                \
	}

static const struct ibcc_vcc_field sw_profile[] = {
	{ "mode", 0, 31, 1 }, /* 0: fixed, 1: percentage of the buffer */
	{ "unit", 0, 30, 1 }, /* 0: bytes, 1: KB */
	{ "vl_mask", 0, 0, 16 }, PROFILE(1), PROFILE(2), PROFILE(3),
};

#define SL(s)                                                                                      \
	{                                                                                          \
		"sl" #s, 0, 30 - 2 * (s), 2                                                        \
	} /* its profile, 1 to 3; 0: none */

static const struct ibcc_vcc_field sw_sl_mapping[] = {
	SL(0), SL(1), SL(2),  SL(3),  SL(4),  SL(5),  SL(6),  SL(7),
	SL(8), SL(9), SL(10), SL(11), SL(12), SL(13), SL(14), SL(15),
};

static const struct ibcc_vcc_field ca_rp[] = {
	{ "clamp_tgt_rate", 0, 31, 1 },
	{ "clamp_tgt_rate_after_time_inc", 0, 30, 1 },
	{ "rpg_time_reset", 1, 0, 17 },
	{ "rpg_byte_reset", 2, 0, 19 },
	{ "rpg_threshold", 3, 0, 5 },
	{ "rpg_max_rate", 4, 0, 19 },
	{ "rpg_ai_rate", 5, 0, 16 },
	{ "rpg_hai_rate", 6, 0, 16 },
	{ "rpg_gd", 7, 0, 4 },
	{ "rpg_min_dec_fac", 8, 0, 7 },
	{ "rpg_min_rate", 9, 0, 19 },
	{ "rate_to_set_on_first_cnp", 10, 0, 32 },
	{ "dce_tcp_g", 11, 0, 10 },
	{ "dce_tcp_rtt", 12, 0, 17 },
	{ "rate_reduce_monitor_period", 13, 0, 32 }, /* its width is not public */
	{ "initial_alpha_value", 14, 0, 10 },
};

static const struct ibcc_vcc_field ca_np[] = {
	{ "min_time_between_cnps", 0, 0, 16 },
	{ "cnp_sl_mode", 1, 16, 1 },
	{ "rtt_sl_mode", 1, 17, 1 },
	{ "rtt_resp_sl", 1, 8, 4 },
	{ "cnp_sl", 1, 0, 4 },
};

#define FIELDS(f) (*n = sizeof(f) / sizeof((f)[0]), (f))

const struct ibcc_vcc_field *ibcc_vcc_fields(uint16_t attr_id, unsigned int *n)
{
	*n = 0;
	switch (attr_id) {
	case IBCC_VCC_ATTR_SW_PROFILE: return FIELDS(sw_profile);
	case IBCC_VCC_ATTR_SW_SL_MAPPING: return FIELDS(sw_sl_mapping);
	case IBCC_VCC_ATTR_CA_RP: return FIELDS(ca_rp);
	case IBCC_VCC_ATTR_CA_NP: return FIELDS(ca_np);
	}
	return NULL;
}

const char *ibcc_vcc_parameters_name(uint16_t attr_id)
{
	unsigned int n;

	return ibcc_vcc_fields(attr_id, &n) ? ibcc_vcc_attr_name(attr_id) : NULL;
}

static uint32_t mask_of(const struct ibcc_vcc_field *f)
{
	return f->bits < 32 ? (1u << f->bits) - 1 : UINT32_MAX;
}

uint32_t ibcc_vcc_field_get(const uint8_t *data, const struct ibcc_vcc_field *f)
{
	return wire_get_be32(data + 4u * f->word) >> f->shift & mask_of(f);
}

void ibcc_vcc_rp_unpack(const uint8_t *data, struct ibcc_dcqcn_rp *p)
{
	uint32_t v[sizeof(ca_rp) / sizeof(ca_rp[0])];

	for (size_t i = 0; i < sizeof(ca_rp) / sizeof(ca_rp[0]); i++)
		v[i] = ibcc_vcc_field_get(data, &ca_rp[i]);
	*p = (struct ibcc_dcqcn_rp){
		.clamp_tgt_rate = v[0],
		.clamp_tgt_rate_after_time_inc = v[1],
		.rpg_time_reset_us = v[2],
		.rpg_byte_reset_bytes = v[3],
		.rpg_threshold = v[4],
		.rpg_max_rate_mbps = v[5],
		.rpg_ai_rate_mbps = v[6],
		.rpg_hai_rate_mbps = v[7],
		.rpg_gd = v[8],
		.rpg_min_dec_fac = v[9],
		.rpg_min_rate_mbps = v[10],
		.rate_to_set_on_first_cnp_mbps = v[11],
		.dce_tcp_g = v[12],
		.dce_tcp_rtt_us = v[13],
		.rate_reduce_monitor_period_us = v[14],
		.initial_alpha_value = v[15],
	};
}

/* Places among the fields of PortProfileSettings, and in each profile of them. */
enum { F_MODE, F_UNIT, F_VL_MASK, F_PROFILE };
enum { F_MIN, F_PERCENT, F_MAX, F_PER_PROFILE };

uint32_t ibcc_vcc_profile_unit(const uint8_t *data)
{
	if (ibcc_vcc_field_get(data, &sw_profile[F_MODE]))
		return 0;
	return ibcc_vcc_field_get(data, &sw_profile[F_UNIT]) ? 1024 : 1;
}

struct ibcc_vcc_profile ibcc_vcc_profile_get(const uint8_t *data, unsigned int k)
{
	const struct ibcc_vcc_field *f = &sw_profile[F_PROFILE + F_PER_PROFILE * k];

	return (struct ibcc_vcc_profile){
		.min = ibcc_vcc_field_get(data, &f[F_MIN]),
		.max = ibcc_vcc_field_get(data, &f[F_MAX]),
		.percent = (uint8_t)ibcc_vcc_field_get(data, &f[F_PERCENT]),
	};
}

void ibcc_vcc_profile_set(uint8_t *data, unsigned int k, const struct ibcc_vcc_profile *p)
{
	const struct ibcc_vcc_field *f = &sw_profile[F_PROFILE + F_PER_PROFILE * k];

	ibcc_vcc_field_set(data, &f[F_MIN], p->min);
	ibcc_vcc_field_set(data, &f[F_MAX], p->max);
	ibcc_vcc_field_set(data, &f[F_PERCENT], p->percent);
}

bool ibcc_vcc_profiles_differ_beside(const uint8_t *a, const uint8_t *b)
{
	uint8_t data[IBCC_CC_DATA_BYTES];

	memcpy(data, a, sizeof(data));
	for (unsigned int k = 0; k < IBCC_VCC_PROFILES; k++) {
		struct ibcc_vcc_profile p = ibcc_vcc_profile_get(b, k);

		ibcc_vcc_profile_set(data, k, &p);
	}
	return memcmp(data, b, sizeof(data)) != 0;
}

uint8_t ibcc_vcc_profiles_used(const uint8_t *sl_mapping)
{
	uint8_t used = 0;

	for (size_t sl = 0; sl < sizeof(sw_sl_mapping) / sizeof(sw_sl_mapping[0]); sl++) {
		uint32_t profile = ibcc_vcc_field_get(sl_mapping, &sw_sl_mapping[sl]);

		if (profile)
			used |= (uint8_t)(1u << (profile - 1));
	}
	return used;
}

void ibcc_vcc_field_set(uint8_t *data, const struct ibcc_vcc_field *f, uint32_t v)
{
	uint8_t *word = data + 4u * f->word;
	uint32_t mask = mask_of(f) << f->shift;

	wire_put_be32(word, (wire_get_be32(word) & ~mask) | (v << f->shift & mask));
}
