/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/mpa/crc32c.h"

#include <pthread.h>
#include <string.h>

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#ifndef HWCAP_CRC32
#define HWCAP_CRC32 (1 << 7)
#endif
#endif

#define REFLECTED 0x82f63b78u /* x^32 + x^28 + x^27 + ... + 1, the bits the other way round */

/* table[k][b]: the effect of octet b with k more octets behind it. */
static uint32_t table[8][256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fill(void)
{
	for (uint32_t b = 0; b < 256; b++) {
		uint32_t v = b;

		for (int i = 0; i < 8; i++)
			v = v >> 1 ^ (v & 1 ? REFLECTED : 0);
		table[0][b] = v;
	}
	for (int k = 1; k < 8; k++)
		for (uint32_t b = 0; b < 256; b++)
			table[k][b] = table[k - 1][b] >> 8 ^ table[0][table[k - 1][b] & 0xff];
}

static uint32_t le32(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint32_t by_table(uint32_t crc, const uint8_t *p, size_t len)
{
	pthread_once(&once, fill);
	for (; len >= 8; len -= 8, p += 8) {
		uint32_t a = crc ^ le32(p), b = le32(p + 4);

		crc = table[7][a & 0xff] ^ table[6][a >> 8 & 0xff] ^ table[5][a >> 16 & 0xff] ^
		      table[4][a >> 24] ^ table[3][b & 0xff] ^ table[2][b >> 8 & 0xff] ^
		      table[1][b >> 16 & 0xff] ^ table[0][b >> 24];
	}
	for (; len; len--, p++)
		crc = crc >> 8 ^ table[0][(crc ^ *p) & 0xff];
	return crc;
}

#if defined(__x86_64__)
static bool has_hardware(void)
{
	return __builtin_cpu_supports("sse4.2");
}

__attribute__((target("sse4.2"))) static uint32_t by_hardware(uint32_t crc, const uint8_t *p,
							      size_t len)
{
	uint64_t v = crc, word;

	for (; len >= 8; len -= 8, p += 8) {
		memcpy(&word, p, sizeof(word));
		v = _mm_crc32_u64(v, word);
	}
	crc = (uint32_t)v;
	for (; len; len--, p++)
		crc = _mm_crc32_u8(crc, *p);
	return crc;
}
#elif defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
static bool has_hardware(void)
{
	return getauxval(AT_HWCAP) & HWCAP_CRC32;
}

/* Computes the CRC in assembler, since compilers differ in how they offer the intrinsics. */
static uint32_t by_hardware(uint32_t crc, const uint8_t *p, size_t len)
{
	uint64_t word;

	for (; len >= 8; len -= 8, p += 8) {
		memcpy(&word, p, sizeof(word));
		__asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %1" : "+r"(crc) : "r"(word));
	}
	for (; len; len--, p++)
		__asm__(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1"
			: "+r"(crc)
			: "r"((uint32_t)*p));
	return crc;
}
#else
static bool has_hardware(void)
{
	return false;
}

static uint32_t by_hardware(uint32_t crc, const uint8_t *p, size_t len)
{
	return by_table(crc, p, len);
}
#endif

bool ibcc_crc32c_has(enum ibcc_crc32c by)
{
	return by != IBCC_CRC32C_HARDWARE || has_hardware();
}

enum ibcc_crc32c ibcc_crc32c_best(void)
{
	return has_hardware() ? IBCC_CRC32C_HARDWARE : IBCC_CRC32C_TABLE;
}

const char *ibcc_crc32c_name(enum ibcc_crc32c by)
{
	static const char *const names[IBCC_CRC32C_N] = { "none", "table", "hardware" };

	return names[by];
}

uint32_t ibcc_crc32c(enum ibcc_crc32c by, uint32_t crc, const void *data, size_t len)
{
	switch (by) {
	case IBCC_CRC32C_TABLE: return ~by_table(~crc, data, len);
	case IBCC_CRC32C_HARDWARE: return ~by_hardware(~crc, data, len);
	case IBCC_CRC32C_NONE:
	case IBCC_CRC32C_N: break;
	}
	return 0;
}
