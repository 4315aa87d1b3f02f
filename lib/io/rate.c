/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Data rates as people write them. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <ibcc/link.h>
#include <ibcc/scenario_file.h>

static int parse_link(unsigned int lanes, const char *name, uint32_t *mbps)
{
	int speed;

	for (speed = IBCC_LINK_SPEED_SDR; speed <= IBCC_LINK_SPEED_XDR; speed++) {
		uint32_t rate = ibcc_link_rate_mbps(lanes, (enum ibcc_link_speed)speed);

		if (!strcasecmp(name, ibcc_link_speed_name((enum ibcc_link_speed)speed)) && rate) {
			*mbps = rate;
			return 0;
		}
	}
	return -EINVAL;
}

int ibcc_rate_parse(const char *s, uint32_t *mbps)
{
	static const struct {
		const char *name;
		double mbps;
	} units[] = { { "", 1 }, { "Mb/s", 1 }, { "Gb/s", 1000 }, { "MB/s", 8 }, { "GB/s", 8000 } };
	size_t digits = strspn(s, "0123456789"), i;
	char number[32];
	const char *unit;
	double v;

	if (digits && digits <= 2 && tolower((unsigned char)s[digits]) == 'x') {
		unsigned int lanes = 0;

		for (i = 0; i < digits; i++)
			lanes = lanes * 10 + (unsigned int)(s[i] - '0');
		s += digits + 1;
		return parse_link(lanes, s + strspn(s, " "), mbps);
	}
	digits = strspn(s, "0123456789.");
	if (!digits || digits >= sizeof(number))
		return -EINVAL;
	memcpy(number, s, digits);
	number[digits] = '\0';
	unit = s + digits + strspn(s + digits, " ");
	if (ibcc_yaml_parse_double(number, &v))
		return -EINVAL;
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(unit, units[i].name))
			continue;
		v = nearbyint(v * units[i].mbps);
		if (v < 1 || v > IBCC_RATE_MAX_MBPS)
			return -ERANGE;
		*mbps = (uint32_t)v;
		return 0;
	}
	return -EINVAL;
}

int ibcc_rate_format(uint32_t mbps, char *buf, size_t len, const char *space)
{
	static const unsigned int lanes[] = { 4, 1, 12, 2, 8 }; /* the most usual first */
	uint32_t best = 0;
	size_t i;
	int speed;

	for (i = 0; i < sizeof(lanes) / sizeof(lanes[0]); i++) {
		for (speed = IBCC_LINK_SPEED_SDR; speed <= IBCC_LINK_SPEED_NDR; speed++) {
			enum ibcc_link_speed sp = (enum ibcc_link_speed)speed;
			uint32_t rate = ibcc_link_rate_mbps(lanes[i], sp);

			if (rate < mbps || (best && rate >= best))
				continue;
			best = rate;
			snprintf(buf, len, "%ux%s%s", lanes[i], space, ibcc_link_speed_name(sp));
		}
	}
	if (!best)
		snprintf(buf, len, "12x%s%s", space, ibcc_link_speed_name(IBCC_LINK_SPEED_NDR));
	return best == mbps ? 0 : -ERANGE;
}
