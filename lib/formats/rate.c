/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Data rates as people write them, such as "4x QDR", "10 Gb/s" or "1000"; widths and speeds of
 * links as text.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <ibcc/link.h>
#include <ibcc/scenario_file.h>

int ibcc_rate_parse_link(const char *s, unsigned int *lanes, enum ibcc_link_speed *speed)
{
	size_t digits = strspn(s, "0123456789");
	unsigned int n = 0;

	if (!digits || digits > 2 || tolower((unsigned char)s[digits]) != 'x')
		return -EINVAL;
	for (size_t i = 0; i < digits; i++)
		n = n * 10 + (unsigned int)(s[i] - '0');
	s += digits + 1;
	s += strspn(s, " ");
	for (int i = IBCC_LINK_SPEED_SDR; i <= IBCC_LINK_SPEED_XDR; i++) {
		enum ibcc_link_speed sp = (enum ibcc_link_speed)i;

		if (strcasecmp(s, ibcc_link_speed_name(sp)) || !ibcc_link_rate_mbps(n, sp))
			continue;
		*lanes = n;
		*speed = sp;
		return 0;
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
	enum ibcc_link_speed speed;
	unsigned int lanes;
	char number[32];
	const char *unit;
	double v;

	if (digits && digits <= 2 && tolower((unsigned char)s[digits]) == 'x') {
		if (ibcc_rate_parse_link(s, &lanes, &speed))
			return -EINVAL;
		*mbps = ibcc_link_rate_mbps(lanes, speed);
		return 0;
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

int ibcc_rate_format(uint32_t mbps, unsigned int lanes, char *buf, size_t len, const char *space)
{
	const unsigned int widths[] = { lanes, 4, 1, 12, 2, 8 }; /* the most usual first */
	uint32_t best = 0;

	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		for (int speed = IBCC_LINK_SPEED_SDR; speed <= IBCC_LINK_SPEED_XDR; speed++) {
			enum ibcc_link_speed sp = (enum ibcc_link_speed)speed;
			uint32_t rate = ibcc_link_rate_mbps(widths[i], sp);

			if (rate < mbps || !rate || (best && rate >= best))
				continue;
			best = rate;
			snprintf(buf, len, "%ux%s%s", widths[i], space, ibcc_link_speed_name(sp));
		}
	}
	if (!best)
		snprintf(buf, len, "12x%s%s", space, ibcc_link_speed_name(IBCC_LINK_SPEED_XDR));
	return best == mbps ? 0 : -ERANGE;
}

unsigned int ibcc_rate_lanes(const char *text, uint32_t mbps)
{
	enum ibcc_link_speed speed;
	unsigned int lanes = 0;
	char link[32];

	if (text && !ibcc_rate_parse_link(text, &lanes, &speed))
		return lanes;
	(void)ibcc_rate_format(mbps, 0, link, sizeof(link), "");
	(void)ibcc_rate_parse_link(link, &lanes, &speed);
	return lanes;
}
