/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Peers that err or lie, in order and out of order: each is told by the right words, and nothing is
 * written but where it may be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mpa.h"
#include "perftest/mpa/octets.h"
#include "perftest/mpa/stream.h"

/* Hands the segments of a stream over and returns the first error, or that of the end. */
static enum ibcc_mpa_error receive_in(const struct mpa_out *o, struct ibcc_mpa_sink *sink,
				      struct mpa_got *g, bool backwards)
{
	size_t n = (o->len + 99) / 100;

	struct ibcc_mpa_stream_options so = {
		.rules = o->rules, .window_bytes = 1 << 17, .on_message = mpa_on_message, .arg = g
	};
	struct ibcc_mpa_stream *r = ibcc_mpa_stream_new(&so, sink);
	enum ibcc_mpa_error e = IBCC_MPA_OK;

	*g = (struct mpa_got){ 0 };
	assert_non_null(r);
	for (size_t i = 0; i < n && !e; i++) {
		size_t at = 100 * (backwards ? n - 1 - i : i);

		e = ibcc_mpa_stream_segment(r, at, o->bytes + at,
					    o->len - at < 100 ? o->len - at : 100);
	}
	if (!e)
		e = ibcc_mpa_stream_end(r);
	else /* and it stays over */
		assert_int_equal(ibcc_mpa_stream_segment(r, 0, o->bytes, o->len), e);
	ibcc_mpa_stream_free(r);
	return e;
}

static enum ibcc_mpa_error receive(const struct mpa_out *o, struct ibcc_mpa_sink *sink,
				   struct mpa_got *g)
{
	return receive_in(o, sink, g, false);
}

/* One FPDU alone, of this header and so many octets. */
static enum ibcc_mpa_error one(struct ibcc_ddp d, uint32_t len)
{
	static uint8_t payload[8192];
	struct mpa_out o = { .rules = { 512, IBCC_CRC32C_TABLE } };
	struct ibcc_mpa_sink sink;
	enum ibcc_mpa_error e;
	struct mpa_got g;

	memset(payload, 0xaa, sizeof(payload));
	mpa_sink(&sink);
	mpa_frame(&o, &d, payload, len);
	e = receive(&o, &sink, &g);
	if (e) {
		for (size_t i = 0; i < MPA_REGION; i++)
			assert_int_equal(sink.region[0].base[i], 0);
		assert_int_equal(g.messages, 0);
	}
	mpa_sink_free(&sink);
	free(o.bytes);
	return e;
}

#define WRITE(...) ((struct ibcc_ddp){ .opcode = IBCC_RDMAP_WRITE, .last = true, __VA_ARGS__ })
#define SEND(...)  ((struct ibcc_ddp){ .opcode = IBCC_RDMAP_SEND, .last = true, __VA_ARGS__ })

static void tagged_bounds(void **state)
{
	static const struct {
		uint32_t stag;
		uint64_t to;
		uint32_t len;
		enum ibcc_mpa_error want;
	} cases[] = {
		{ MPA_STAG, MPA_TO, 100, IBCC_MPA_OK },
		{ MPA_STAG, MPA_TO + MPA_REGION - 100, 100, IBCC_MPA_OK },
		{ MPA_STAG, MPA_TO + MPA_REGION, 0, IBCC_MPA_OK },
		{ MPA_STAG, MPA_TO + MPA_REGION - 100, 101, IBCC_MPA_BAD_BOUNDS },
		{ MPA_STAG, MPA_TO + MPA_REGION + 1, 0, IBCC_MPA_BAD_BOUNDS },
		{ MPA_STAG, MPA_TO - 1, 1, IBCC_MPA_BAD_BOUNDS },
		{ MPA_STAG, 0, 1, IBCC_MPA_BAD_BOUNDS },
		{ MPA_STAG, UINT64_MAX, 8, IBCC_MPA_BAD_BOUNDS },
		{ MPA_STAG, UINT64_MAX - 50, 100, IBCC_MPA_BAD_BOUNDS },
		{ MPA_STAG + 1, MPA_TO, 1, IBCC_MPA_BAD_STAG },
		{ 0, MPA_TO, 1, IBCC_MPA_BAD_STAG },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(one(WRITE(.stag = cases[i].stag, .to = cases[i].to), cases[i].len),
				 cases[i].want);
	/* No read was requested. */
	assert_int_equal(one((struct ibcc_ddp){ .opcode = IBCC_RDMAP_READ_RESPONSE,
						.last = true,
						.stag = MPA_STAG,
						.to = MPA_TO },
			     4),
			 IBCC_MPA_BAD_STAG);
}

static void untagged_bounds(void **state)
{
	(void)state;
	assert_int_equal(one(SEND(.msn = 1), MPA_BUFFER), IBCC_MPA_OK);
	assert_int_equal(one(SEND(.msn = 1), MPA_BUFFER + 1), IBCC_MPA_TOO_LONG);
	assert_int_equal(one(SEND(.msn = 1, .mo = MPA_BUFFER + 1), 0), IBCC_MPA_TOO_LONG);
	assert_int_equal(one(SEND(.msn = 1, .mo = UINT32_MAX), 100), IBCC_MPA_TOO_LONG);
	assert_int_equal(one(SEND(.msn = 1, .mo = 8), 100), IBCC_MPA_BAD_OFFSET);
	assert_int_equal(one(SEND(.msn = 0), 1), IBCC_MPA_NO_BUFFER);
	assert_int_equal(one(SEND(.msn = 2), 1), IBCC_MPA_NO_BUFFER);
	assert_int_equal(one(SEND(.msn = MPA_BUFFERS + 1), 1), IBCC_MPA_NO_BUFFER);
	assert_int_equal(one(SEND(.msn = UINT32_MAX), 1), IBCC_MPA_NO_BUFFER);
	assert_int_equal(
		one((struct ibcc_ddp){ .opcode = IBCC_RDMAP_TERMINATE, .last = true, .msn = 1 },
		    IBCC_MPA_MAX_TERMINATE + 1),
		IBCC_MPA_TOO_LONG);
}

static void reads(void **state)
{
	struct ibcc_ddp d = { .opcode = IBCC_RDMAP_READ_REQUEST, .last = true, .msn = 1 };
	struct ibcc_rdmap_read r = {
		.sink_stag = 7, .sink_to = 55, .source_stag = MPA_STAG, .source_to = MPA_TO + 10
	};

	(void)state;
	for (int i = 0; i < 4; i++) {
		static const enum ibcc_mpa_error want[] = { IBCC_MPA_OK, IBCC_MPA_BAD_BOUNDS,
							    IBCC_MPA_BAD_STAG,
							    IBCC_MPA_BAD_REQUEST };
		struct mpa_out o = { .rules = { 512, IBCC_CRC32C_TABLE } };
		uint8_t request[IBCC_RDMAP_READ_BYTES];
		struct ibcc_mpa_sink sink;
		struct mpa_got g;

		mpa_sink(&sink);
		sink.region[0].read = i != 2;
		r.size_bytes = i == 1 ? MPA_REGION : MPA_REGION - 10;
		ibcc_rdmap_read_encode(&r, request);
		mpa_frame(&o, &d, request, i == 3 ? 27 : 28);
		assert_int_equal(receive(&o, &sink, &g), want[i]);
		assert_int_equal(g.messages, i == 0);
		if (!i)
			assert_true(g.last.read.sink_to == 55 &&
				    g.last.read.source_to == MPA_TO + 10 &&
				    g.last.read.size_bytes == MPA_REGION - 10);
		mpa_sink_free(&sink);
		free(o.bytes);
	}
}

/* A whole message, of which one octet after the other is spoilt: no error goes unseen with a CRC,
 * and nothing but the region is ever written to, whatever markers point to.
 */
static void every_octet_spoilt(void **state)
{
	static uint8_t payload[1500];
	struct ibcc_ddp d = { .opcode = IBCC_RDMAP_WRITE, .stag = MPA_STAG, .to = MPA_TO };
	struct ibcc_mpa_sink sink;
	struct mpa_got g;

	(void)state;
	mpa_sink(&sink);
	for (int how = 0; how < 4; how++) {
		bool crc = how % 2, backwards = how / 2;
		struct mpa_out o = { .rules = { 512, crc ? IBCC_CRC32C_TABLE : IBCC_CRC32C_NONE } };

		mpa_message(&o, d, payload, sizeof(payload), 700);
		for (size_t i = 0; i < o.len; i++) {
			enum ibcc_mpa_error e;

			o.bytes[i] ^= (uint8_t)(1 << i % 8);
			e = receive_in(&o, &sink, &g, backwards);
			o.bytes[i] ^= (uint8_t)(1 << i % 8);
			if (crc)
				assert_int_not_equal(e, IBCC_MPA_OK);
			else if (i % 512 < 4)
				assert_int_equal(e, IBCC_MPA_BAD_MARKER);
		}
		assert_int_equal(receive(&o, &sink, &g), IBCC_MPA_OK);
		free(o.bytes);
	}
	mpa_sink_free(&sink);
}

static void cut_off(void **state)
{
	struct mpa_out o = { .rules = { 512, IBCC_CRC32C_TABLE } };
	struct ibcc_ddp d = SEND(.msn = 1);
	struct ibcc_mpa_sink sink;
	static uint8_t payload[600];
	struct mpa_got g;
	size_t whole;

	(void)state;
	mpa_sink(&sink);
	mpa_frame(&o, &d, payload, sizeof(payload));
	whole = o.len;
	for (o.len = 1; o.len < whole; o.len++) {
		assert_int_equal(receive(&o, &sink, &g), IBCC_MPA_TRUNCATED);
		assert_int_equal(g.messages, 0);
	}
	mpa_sink_free(&sink);
	free(o.bytes);
}

/* Payload that looks like an aligned FPDU with a right CRC: placed on a guess, found out in turn.
 */
static void forged_payload(void **state)
{
	struct mpa_out inner = { .rules = { 0, IBCC_CRC32C_TABLE } }, o = inner;
	struct ibcc_ddp evil = WRITE(.stag = MPA_STAG, .to = MPA_TO + 100), d = SEND(.msn = 1);
	struct ibcc_mpa_stream_options so = { .rules = o.rules,
					      .aligned = true,
					      .window_bytes = 65536,
					      .on_message = mpa_on_message };
	struct ibcc_mpa_sink sink;
	struct ibcc_mpa_stream *r;
	struct mpa_got g = { 0 };
	size_t at;

	(void)state;
	so.arg = &g;
	mpa_sink(&sink);
	mpa_frame(&inner, &evil, "evil", 4);
	mpa_frame(&o, &d, "hello", 5);
	d.msn = 2;
	mpa_frame(&o, &d, inner.bytes, (uint32_t)inner.len);
	at = o.start[1] + 20; /* behind length and header */
	assert_memory_equal(o.bytes + at, inner.bytes, inner.len);
	r = ibcc_mpa_stream_new(&so, &sink);
	/* A middlebox cut the stream just there. */
	assert_int_equal(ibcc_mpa_stream_segment(r, at, o.bytes + at, o.len - at), IBCC_MPA_OK);
	assert_memory_equal(sink.region[0].base + 100, "evil", 4);
	assert_int_equal(ibcc_mpa_stream_segment(r, 0, o.bytes, at), IBCC_MPA_BAD_GUESS);
	assert_int_equal(g.messages, 1);
	ibcc_mpa_stream_free(r);
	/* A marker cannot be forged so: what is payload is not at its position. */
	so.rules.spacing = o.rules.spacing = 512;
	o.len = o.n = 0;
	memset(sink.region[0].base, 0, MPA_REGION);
	memset(sink.delivered, 0, sizeof(sink.delivered));
	d.msn = 1;
	mpa_frame(&o, &d, "hello", 5);
	d.msn = 2;
	mpa_frame(&o, &d, inner.bytes, (uint32_t)inner.len);
	r = ibcc_mpa_stream_new(&so, &sink);
	assert_int_equal(ibcc_mpa_stream_segment(r, at, o.bytes + at, o.len - at), IBCC_MPA_OK);
	assert_int_equal(ibcc_mpa_stream_segment(r, 0, o.bytes, at), IBCC_MPA_OK);
	assert_int_equal(sink.region[0].base[100], 0);
	ibcc_mpa_stream_free(r);
	mpa_sink_free(&sink);
	free(inner.bytes);
	free(o.bytes);
}

/* Lengths that are none. */
static void lengths(void **state)
{
	static const uint16_t bad[] = { 0, 1, 13, 0xffff };
	struct ibcc_mpa_sink sink;
	struct mpa_got g;

	(void)state;
	mpa_sink(&sink);
	for (size_t i = 0; i < 4; i++) {
		struct mpa_out o = { .rules = { 0, IBCC_CRC32C_TABLE } };
		struct ibcc_ddp d = SEND(.msn = 1);

		mpa_frame(&o, &d, "hello", 5);
		ibcc_put16(o.bytes, bad[i]);
		assert_int_equal(receive(&o, &sink, &g), IBCC_MPA_BAD_LENGTH);
		free(o.bytes);
	}
	/* An untagged header that is cut short by its length. */
	{
		struct mpa_out o = { .rules = { 0, IBCC_CRC32C_NONE } };
		struct ibcc_ddp d = SEND(.msn = 1);

		mpa_frame(&o, &d, "hello", 5);
		ibcc_put16(o.bytes, 15);
		assert_int_equal(receive(&o, &sink, &g), IBCC_MPA_BAD_LENGTH);
		free(o.bytes);
	}
	mpa_sink_free(&sink);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tagged_bounds), cmocka_unit_test(untagged_bounds),
		cmocka_unit_test(reads),         cmocka_unit_test(every_octet_spoilt),
		cmocka_unit_test(cut_off),       cmocka_unit_test(forged_payload),
		cmocka_unit_test(lengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
