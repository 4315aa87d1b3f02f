/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Hexadecimal digits, as GUIDs, keys and forwarding tables are written. */
#ifndef IBCC_HEX_H
#define IBCC_HEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a digit of either case stands for; -1 if it is none. */
static inline int ibcc_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Reads the digits that a text begins with, and returns how many they are: 0 with *v = 0 for none,
 * and for more than the 16 that *v has room for.
 */
static inline size_t ibcc_hex_read(const char *text, uint64_t *v)
{
	size_t n = 0;
	int digit;

	for (*v = 0; (digit = ibcc_hex_digit(text[n])) >= 0; n++) {
		if (n == 16) {
			*v = 0;
			return 0;
		}
		*v = *v << 4 | (unsigned int)digit;
	}
	return n;
}

/* Reads such digits behind "0x", and returns how many characters both are; 0 as above. */
static inline size_t ibcc_hex_read_0x(const char *text, uint64_t *v)
{
	bool begins = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	size_t n = begins ? ibcc_hex_read(text + 2, v) : 0;

	if (!n)
		*v = 0;
	return n ? n + 2 : 0;
}

/* Reads n bytes of two digits each; false if there is anything else before their end. */
static inline bool ibcc_hex_read_bytes(const char *text, uint8_t *data, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int high = ibcc_hex_digit(text[2 * i]);
		int low = high < 0 ? -1 : ibcc_hex_digit(text[2 * i + 1]);

		if (low < 0)
			return false;
		data[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

#endif
