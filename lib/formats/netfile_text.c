/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What lines of netfiles say about widths and speeds of links. */
#include "lib/formats/netfile_text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\n#"

static unsigned int mask_lanes(unsigned long mask)
{
	static const uint8_t best_first[] = { 8, 4, 2, 16, 1 };
	size_t i;

	for (i = 0; i < sizeof(best_first); i++)
		if (mask & best_first[i])
			return ibcc_link_width_lanes(best_first[i]);
	return 0;
}

static enum ibcc_link_speed mask_speed(unsigned long mask, unsigned long ext)
{
	unsigned int bit;

	for (bit = 8; bit; bit >>= 1)
		if (ext & bit)
			return ibcc_link_speed_decode(4, (uint8_t)bit, 0);
	for (bit = 4; bit; bit >>= 1)
		if (mask & bit)
			return ibcc_link_speed_decode((uint8_t)bit, 0, 0);
	return IBCC_LINK_SPEED_NONE;
}

const char *ibcc_netfile_option(char option, const char *value, unsigned int *lanes,
				enum ibcc_link_speed *speed)
{
	unsigned long v = strtoul(value, NULL, 0);

	if (option == 'w') {
		*lanes = mask_lanes(v);
		return *lanes && v <= 31 ? NULL : "a width from 1 to 31 after =";
	}
	if (option == 's') {
		*speed = mask_speed(v ? v : 4, 0);
		return v <= 7 ? NULL : "a speed from 0 to 7 after =";
	}
	if (v)
		*speed = mask_speed(0, v);
	return v <= 15 ? NULL : "an extended speed from 0 to 15 after =";
}

const char *ibcc_netfile_behind_quotes(const char *line)
{
	const char *quote = strrchr(line, '"');

	return quote ? quote + 1 : line;
}

const char *ibcc_netfile_find_rate(const char *line, size_t *len)
{
	const char *word = ibcc_netfile_behind_quotes(line);

	for (word += strspn(word, BLANKS); *word; word += strspn(word, BLANKS)) {
		size_t digits = strspn(word, "0123456789");

		*len = strcspn(word, BLANKS);
		if (digits && word[digits] == 'x' && digits + 1 < *len)
			return word;
		word += *len;
	}
	return NULL;
}
