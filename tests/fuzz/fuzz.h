/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What fuzz targets share. */
#ifndef TEST_FUZZ_H
#define TEST_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The target: any bytes, returns 0; a broken promise aborts. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CHECK(cond)                                                                           \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #cond);         \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

#define FUZZ_MAD 256

/* Input as a datagram: cut, or filled up with zeros. */
static inline void fuzz_mad(uint8_t mad[FUZZ_MAD], const uint8_t *data, size_t size)
{
	memset(mad, 0, FUZZ_MAD);
	if (size)
		memcpy(mad, data, size < FUZZ_MAD ? size : FUZZ_MAD);
}

/* What was read, packed and read again is the same: packing twice gives equal bytes. */
#define FUZZ_STABLE(mad, name, type)                                                               \
	do {                                                                                       \
		struct type v1_, v2_;                                                              \
		uint8_t a_[FUZZ_MAD], b_[FUZZ_MAD];                                                \
                                                                                                   \
		memcpy(a_, mad, FUZZ_MAD);                                                         \
		name##_unpack(mad, &v1_);                                                          \
		name##_pack(a_, &v1_);                                                             \
		name##_unpack(a_, &v2_);                                                           \
		memcpy(b_, mad, FUZZ_MAD);                                                         \
		name##_pack(b_, &v2_);                                                             \
		FUZZ_CHECK(!memcmp(a_, b_, FUZZ_MAD));                                             \
	} while (0)

#endif
