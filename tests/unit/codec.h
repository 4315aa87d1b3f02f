/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the codec tests share: cmocka, two oracles that know the wire (libibmad's field table and
 * OpenSM's packed structs), aligned datagrams, and random numbers with a printed seed.
 */
#ifndef TEST_CODEC_H
#define TEST_CODEC_H

#include <arpa/inet.h>
#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* libibmad's header first: ib_types.h defines macros of the same names as its enumerators. */
#include <infiniband/mad.h>

#include <iba/ib_types.h>

#define ROUNDS 300

/* A datagram that the packed structs may be laid over. */
struct datagram {
	_Alignas(8) uint8_t b[256];
};

static uint64_t test_random_state;

/* Random numbers (splitmix64). IBCC_TEST_SEED repeats or varies a run. */
static inline void test_seed(void)
{
	const char *s = getenv("IBCC_TEST_SEED");

	test_random_state = s ? strtoull(s, NULL, 0) : 0x1bcc;
	print_message("IBCC_TEST_SEED=%#llx\n", (unsigned long long)test_random_state);
}

static inline uint64_t rnd(void)
{
	uint64_t z = test_random_state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static inline void rnd_fill(void *p, size_t n)
{
	uint8_t *b = p;

	while (n--)
		*b++ = (uint8_t)rnd();
}

/* A field of libibmad's table with the offset of its attribute, and the same field of ours. */
struct wire_field {
	enum MAD_FIELDS field;
	unsigned int offs, bits;
	size_t member, size;
};

#define WIRE(field_, offs_, bits_, type_, member_)                                                 \
	{                                                                                          \
		field_, offs_, bits_, offsetof(struct type_, member_),                             \
			sizeof(((struct type_ *)0)->member_)                                       \
	}

static inline uint64_t member_get(const void *s, const struct wire_field *f)
{
	const char *p = (const char *)s + f->member;
	uint64_t v64;
	uint32_t v32;
	uint16_t v16;

	switch (f->size) {
	case 1: return *(const uint8_t *)p;
	case 2: memcpy(&v16, p, 2); return v16;
	case 4: memcpy(&v32, p, 4); return v32;
	default: memcpy(&v64, p, 8); return v64;
	}
}

static inline void member_set(void *s, const struct wire_field *f, uint64_t v)
{
	char *p = (char *)s + f->member;
	uint32_t v32 = (uint32_t)v;
	uint16_t v16 = (uint16_t)v;

	switch (f->size) {
	case 1: *(uint8_t *)p = (uint8_t)v; break;
	case 2: memcpy(p, &v16, 2); break;
	case 4: memcpy(p, &v32, 4); break;
	default: memcpy(p, &v, 8); break;
	}
}

/* Adapters of pack and unpack functions to one prototype. */
typedef void (*pack_fn)(uint8_t *mad, const void *v);
typedef void (*unpack_fn)(const uint8_t *mad, void *v);

/* Sets each field through libibmad and reads it with `unpack`, and sets it with `pack` and reads it
 * through libibmad. In both cases no other field may change.
 */
static inline void check_fields(const struct wire_field *f, size_t n, size_t size, pack_fn pack,
				unpack_fn unpack)
{
	/* Larger than needed, for compilers that cannot see which case of member_get() runs. */
	void *v = calloc(1, size + 8);
	size_t i, j;

	assert_non_null(v);
	for (i = 0; i < n; i++) {
		uint64_t max = f[i].bits < 64 ? (1ull << f[i].bits) - 1 : UINT64_MAX;
		struct datagram d = { { 0 } };
		uint64_t want = rnd() & max;

		want |= !want;
		if (f[i].bits == 64)
			mad_set_field64(d.b, (int)f[i].offs, f[i].field, want);
		else
			mad_set_field(d.b, (int)f[i].offs, f[i].field, (uint32_t)want);
		memset(v, 0, size);
		unpack(d.b, v);
		for (j = 0; j < n; j++)
			assert_int_equal(member_get(v, &f[j]), j == i ? want : 0);

		memset(v, 0, size);
		member_set(v, &f[i], want);
		memset(&d, 0, sizeof(d));
		pack(d.b, v);
		for (j = 0; j < n; j++) {
			uint64_t got = f[j].bits == 64
					       ? mad_get_field64(d.b, (int)f[j].offs, f[j].field)
					       : mad_get_field(d.b, (int)f[j].offs, f[j].field);

			assert_int_equal(got, j == i ? want : 0);
		}
	}
	free(v);
}

/* Checks for any bytes: what was read, written over a datagram full of other bits, reads as the
 * same values again. Reserved bits are cleared, so that writing twice gives equal bytes. Bytes
 * before `from` stay.
 */
static inline void check_round_trip(size_t size, unsigned int from, pack_fn pack, unpack_fn unpack)
{
	void *a = calloc(1, size), *b = calloc(1, size);
	int i;

	assert_non_null(a);
	assert_non_null(b);
	for (i = 0; i < ROUNDS; i++) {
		struct datagram in, out, again;

		rnd_fill(in.b, sizeof(in.b));
		rnd_fill(out.b, sizeof(out.b));
		memset(&again, 0, sizeof(again));
		memcpy(again.b, out.b, from);
		unpack(in.b, a);
		pack(out.b, a);
		unpack(out.b, b);
		pack(again.b, b);
		assert_memory_equal(again.b, out.b, sizeof(out.b));
	}
	free(a);
	free(b);
}

#define CODEC(name, type)                                                                          \
	static void name##_pack_any(uint8_t *mad, const void *v)                                   \
	{                                                                                          \
		name##_pack(mad, (const struct type *)v);                                          \
	}                                                                                          \
	static void name##_unpack_any(const uint8_t *mad, void *v)                                 \
	{                                                                                          \
		name##_unpack(mad, (struct type *)v);                                              \
	}

#define CHECK_FIELDS(fields, name, type)                                                           \
	check_fields(fields, sizeof(fields) / sizeof(fields[0]), sizeof(struct type),              \
		     name##_pack_any, name##_unpack_any)
#define CHECK_ROUND_TRIP(name, type, from)                                                         \
	check_round_trip(sizeof(struct type), from, name##_pack_any, name##_unpack_any)

#endif
