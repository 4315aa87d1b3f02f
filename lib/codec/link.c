/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Link widths and speeds. Rates are data rates, after line coding, because the engine and the
 * formulas reason about packets, not symbols.
 */
#include <ibcc/link.h>

#include <stddef.h>

struct speed {
	const char *name;
	/* Data rate of one lane in Mb/s as a fraction: FDR's is not a whole number. */
	uint32_t num, den;
};

/* Symbol rate times coding: SDR to QDR 8b/10b; FDR10 10.3125, FDR 14.0625 and EDR 25.78125 Gb/s
 * 64b/66b; from HDR on PAM4, whose nominal rate is what remains behind the forward error
 * correction.
 */
static const struct speed speeds[] = {
	[IBCC_LINK_SPEED_NONE] = { "none", 0, 1 },
	[IBCC_LINK_SPEED_SDR] = { "SDR", 2000, 1 },
	[IBCC_LINK_SPEED_DDR] = { "DDR", 4000, 1 },
	[IBCC_LINK_SPEED_QDR] = { "QDR", 8000, 1 },
	[IBCC_LINK_SPEED_FDR10] = { "FDR10", 10000, 1 },
	[IBCC_LINK_SPEED_FDR] = { "FDR", 150000, 11 },
	[IBCC_LINK_SPEED_EDR] = { "EDR", 25000, 1 },
	[IBCC_LINK_SPEED_HDR] = { "HDR", 50000, 1 },
	[IBCC_LINK_SPEED_NDR] = { "NDR", 100000, 1 },
	[IBCC_LINK_SPEED_XDR] = { "XDR", 200000, 1 },
};

static const struct speed *speed_of(enum ibcc_link_speed speed)
{
	size_t i = (size_t)speed;

	return &speeds[i < sizeof(speeds) / sizeof(speeds[0]) ? i : IBCC_LINK_SPEED_NONE];
}

uint32_t ibcc_link_rate_mbps(unsigned int lanes, enum ibcc_link_speed speed)
{
	const struct speed *s = speed_of(speed);

	switch (lanes) {
	case 1:
	case 2:
	case 4:
	case 8:
	case 12: return lanes * s->num / s->den;
	}
	return 0;
}

unsigned int ibcc_link_width_lanes(uint8_t link_width_active)
{
	switch (link_width_active) {
	case 1: return 1;
	case 2: return 4;
	case 4: return 8;
	case 8: return 12;
	case 16: return 2;
	}
	return 0;
}

enum ibcc_link_speed ibcc_link_speed_decode(uint8_t active, uint8_t ext_active, int fdr10)
{
	switch (ext_active) {
	case 0: break;
	case 1: return IBCC_LINK_SPEED_FDR;
	case 2: return IBCC_LINK_SPEED_EDR;
	case 4: return IBCC_LINK_SPEED_HDR;
	case 8: return IBCC_LINK_SPEED_NDR;
	case IBCC_LINK_SPEED_EXT_XDR: return IBCC_LINK_SPEED_XDR;
	default: return IBCC_LINK_SPEED_NONE;
	}
	switch (active) {
	case 1: return IBCC_LINK_SPEED_SDR;
	case 2: return IBCC_LINK_SPEED_DDR;
	/* FDR10 is signalled beside the standard field, which then says QDR. */
	case 4: return fdr10 ? IBCC_LINK_SPEED_FDR10 : IBCC_LINK_SPEED_QDR;
	}
	return IBCC_LINK_SPEED_NONE;
}

enum ibcc_link_speed ibcc_link_speed_of(unsigned int lanes, uint32_t rate_mbps)
{
	for (int s = IBCC_LINK_SPEED_SDR; rate_mbps && s <= IBCC_LINK_SPEED_XDR; s++)
		if (ibcc_link_rate_mbps(lanes, (enum ibcc_link_speed)s) == rate_mbps)
			return (enum ibcc_link_speed)s;
	return IBCC_LINK_SPEED_NONE;
}

/* LinkSpeedExtEnabled has two values that are no masks: extended speeds are off, or all are on. */
#define EXT_OFF 30u
#define EXT_ALL 31u

static uint8_t in_use(uint8_t supported, uint8_t enabled)
{
	return enabled ? supported & enabled : supported;
}

struct ibcc_link_caps ibcc_link_caps_decode(const struct ibcc_link_masks *supported,
					    const struct ibcc_link_masks *enabled)
{
	uint8_t ext_enabled = enabled->ext == EXT_ALL ? 0 : enabled->ext;
	uint8_t base = in_use(supported->speed, enabled->speed) & 7;
	uint8_t ext = ext_enabled == EXT_OFF ? 0 : in_use(supported->ext, ext_enabled) & 15;
	struct ibcc_link_caps caps = {
		.widths = in_use(supported->width, enabled->width) & IBCC_LINK_WIDTHS,
	};

	if (in_use(supported->ext2, enabled->ext2) & 1)
		ext |= IBCC_LINK_SPEED_EXT_XDR;
	for (uint8_t bit = 1; bit <= IBCC_LINK_SPEED_EXT_XDR; bit = (uint8_t)(bit << 1)) {
		if (base & bit)
			caps.speeds |= (uint16_t)(1u << ibcc_link_speed_decode(bit, 0, 0));
		if (ext & bit)
			caps.speeds |= (uint16_t)(1u << ibcc_link_speed_decode(0, bit, 0));
	}
	return caps;
}

bool ibcc_link_best(const struct ibcc_link_caps *a, const struct ibcc_link_caps *b,
		    unsigned int *lanes, enum ibcc_link_speed *speed)
{
	uint8_t widths = a->widths & b->widths;
	uint16_t common = a->speeds & b->speeds;

	*lanes = 0;
	*speed = IBCC_LINK_SPEED_NONE;
	for (uint8_t bit = 1; bit & IBCC_LINK_WIDTHS; bit = (uint8_t)(bit << 1))
		if (widths & bit && ibcc_link_width_lanes(bit) > *lanes)
			*lanes = ibcc_link_width_lanes(bit);
	for (int s = IBCC_LINK_SPEED_SDR; s <= IBCC_LINK_SPEED_XDR; s++)
		if (common >> s & 1)
			*speed = (enum ibcc_link_speed)s;
	return *lanes && *speed != IBCC_LINK_SPEED_NONE;
}

const char *ibcc_link_speed_name(enum ibcc_link_speed speed)
{
	return speed_of(speed)->name;
}

uint16_t ibcc_link_mtu_bytes(uint8_t mtu_code)
{
	return mtu_code >= 1 && mtu_code <= 5 ? (uint16_t)(128u << mtu_code) : 0;
}

uint64_t ibcc_link_packet_ps(uint32_t bytes, uint32_t rate_mbps)
{
	/* One bit takes 10^6 / rate_mbps picoseconds. */
	return ((uint64_t)bytes * 8000000u + rate_mbps - 1) / rate_mbps;
}

uint64_t ibcc_link_bytes_ps(uint32_t rate_mbps, uint32_t bytes)
{
	if (rate_mbps == 0)
		return 0;
	return (bytes * 8000000ull + rate_mbps / 2) / rate_mbps;
}
