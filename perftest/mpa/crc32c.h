/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* CRC32c (Castagnoli), as MPA uses it: RFC 5044, 4.4, after RFC 3720, 12.1. */
#ifndef PERFTEST_MPA_CRC32C_H
#define PERFTEST_MPA_CRC32C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What computes the CRC. */
enum ibcc_crc32c {
	IBCC_CRC32C_NONE,     /* nothing: the CRC is 0, and each value is right */
	IBCC_CRC32C_TABLE,    /* eight octets at a time by tables, any machine */
	IBCC_CRC32C_HARDWARE, /* the processor's instruction: SSE4.2, ARMv8 */
	IBCC_CRC32C_N,
};

/* Whether this machine has this way. */
bool ibcc_crc32c_has(enum ibcc_crc32c by);
/* The fastest way that this machine has. */
enum ibcc_crc32c ibcc_crc32c_best(void);
const char *ibcc_crc32c_name(enum ibcc_crc32c by); /* "none", "table", "hardware" */

/* Continues the CRC over some more octets; the first crc is 0, as with zlib's crc32(). `by` must be
 * one that the machine has.
 */
uint32_t ibcc_crc32c(enum ibcc_crc32c by, uint32_t crc, const void *data, size_t len);

#endif
