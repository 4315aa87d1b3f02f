/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Segments in any order, cut anew on their way, sent twice and overlapping: placed early where an
 * FPDU can be recognized, delivered in order, and every octet where it belongs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mpa.h"
#include "perftest/mpa/stream.h"

#define SHUFFLES     10000
#define MAX_MESSAGES 24
#define MAX_SEGMENTS 2048

/* What was sent, and what of it has been delivered. */
struct sent {
	struct mpa_out out;
	struct ibcc_mpa_sink sink;
	uint8_t image[MPA_REGION]; /* the region as it shall be */
	struct {
		bool send;
		uint32_t len;
		uint64_t to;
		uint8_t payload[MPA_BUFFER];
	} message[MAX_MESSAGES];
	uint32_t n, sends, delivered;
	size_t stream_end[MAX_MESSAGES]; /* where each message ends */
	uint64_t contiguous; /* octets of the stream without a gap, by the test's own book */
};

static void on_message(void *arg, const struct ibcc_mpa_event *ev)
{
	struct sent *s = arg;
	uint32_t i = s->delivered++;

	assert_true(i < s->n);
	assert_int_equal(ev->bytes, s->message[i].len);
	/* Not before all of it, and of those before it, is there. */
	assert_true(s->stream_end[i] <= s->contiguous);
	if (s->message[i].send) {
		assert_int_equal(ev->opcode, IBCC_RDMAP_SEND);
		assert_memory_equal(ev->payload, s->message[i].payload, s->message[i].len);
	} else {
		assert_int_equal(ev->opcode, IBCC_RDMAP_WRITE);
		assert_memory_equal(s->sink.region[0].base + s->message[i].to,
				    s->message[i].payload, s->message[i].len);
	}
}

/* Writes go one behind the other, so that the image does not depend on the order. */
static void make(struct sent *s, uint64_t *rnd, const struct ibcc_mpa_rules *rules)
{
	uint32_t most = 40 + ibcc_rng_below(rnd, 700), to = 0;

	s->out.len = s->out.n = 0;
	s->out.rules = *rules;
	s->sends = s->delivered = 0;
	s->contiguous = 0;
	memset(s->image, 0, sizeof(s->image));
	memset(s->sink.region[0].base, 0, MPA_REGION);
	memset(s->sink.delivered, 0, sizeof(s->sink.delivered));
	memset(s->sink.progress, 0, sizeof(s->sink.progress));
	s->sink.tagged_bytes = 0;
	s->n = 1 + ibcc_rng_below(rnd, MAX_MESSAGES);
	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t len = ibcc_rng_below(rnd, 10) ? ibcc_rng_below(rnd, 2000) : 0;
		struct ibcc_ddp d = { .stag = MPA_STAG, .to = MPA_TO + to };

		s->message[i].send = ibcc_rng_below(rnd, 2);
		s->message[i].len = len;
		s->message[i].to = to;
		for (uint32_t k = 0; k < len; k++)
			s->message[i].payload[k] = (uint8_t)ibcc_rng_next(rnd);
		if (s->message[i].send) {
			d = (struct ibcc_ddp){ .opcode = IBCC_RDMAP_SEND, .msn = ++s->sends };
		} else {
			memcpy(s->image + to, s->message[i].payload, len);
			to += len;
		}
		mpa_message(&s->out, d, s->message[i].payload, len, most);
		s->stream_end[i] = s->out.len;
	}
}

struct segment {
	size_t from, to;
};

enum cut { ALIGNED, RECUT, OVERLAPPING };

static size_t cut(const struct sent *s, uint64_t *rnd, enum cut how, struct segment *seg)
{
	size_t n = 0, at = 0;

	if (how == ALIGNED) {
		for (; n < s->out.n; n++)
			seg[n] = (struct segment){ s->out.start[n], s->out.start[n + 1] };
		return n;
	}
	while (at < s->out.len) {
		size_t len = 1 + ibcc_rng_below(rnd, 1500), before = 0;

		len = len < s->out.len - at ? len : s->out.len - at;
		if (how == OVERLAPPING)
			before = ibcc_rng_below(rnd, (uint32_t)(at < 300 ? at : 300) + 1);
		seg[n++] = (struct segment){ at - before, at + len };
		at += len;
	}
	return n;
}

static void shuffle(uint64_t *rnd, struct segment *seg, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t k = ibcc_rng_below(rnd, (uint32_t)i);
		struct segment t = seg[i - 1];

		seg[i - 1] = seg[k];
		seg[k] = t;
	}
}

/* The book: a plain map of octets. */
static void note(struct sent *s, uint8_t *there, const struct segment *g)
{
	memset(there + g->from, 1, g->to - g->from);
	while (s->contiguous < s->out.len && there[s->contiguous])
		s->contiguous++;
}

static uint64_t one_shuffle(struct sent *s, uint64_t seed, bool *any_gap)
{
	static const struct ibcc_mpa_rules rules[] = { { 512, IBCC_CRC32C_TABLE },
						       { 0, IBCC_CRC32C_TABLE },
						       { 1024, IBCC_CRC32C_TABLE },
						       { 512, IBCC_CRC32C_NONE },
						       { 0, IBCC_CRC32C_NONE } };
	static struct segment seg[MAX_SEGMENTS];
	static uint8_t there[MPA_REGION * 2];
	uint64_t rnd = seed;
	enum cut how = (enum cut)(seed % 3);
	struct ibcc_mpa_stream_options o = { .rules = rules[seed / 3 % 5],
					     .aligned = how == ALIGNED,
					     .window_bytes = 1 << 17,
					     .on_message = on_message,
					     .arg = s };
	struct ibcc_mpa_stream_stats stats;
	struct ibcc_mpa_stream *r;
	size_t n;

	make(s, &rnd, &o.rules);
	o.rules.crc = o.rules.crc ? ibcc_crc32c_best() : o.rules.crc;
	r = ibcc_mpa_stream_new(&o, &s->sink);
	assert_non_null(r);
	n = cut(s, &rnd, how, seg);
	shuffle(&rnd, seg, n);
	memset(there, 0, s->out.len);
	for (size_t i = 0; i < n; i++) {
		uint32_t times = 1 + !ibcc_rng_below(&rnd, 8);

		note(s, there, &seg[i]);
		*any_gap = *any_gap || s->contiguous < seg[i].from;
		for (; times; times--)
			assert_int_equal(ibcc_mpa_stream_segment(r, seg[i].from,
								 s->out.bytes + seg[i].from,
								 seg[i].to - seg[i].from),
					 IBCC_MPA_OK);
	}
	assert_int_equal(ibcc_mpa_stream_end(r), IBCC_MPA_OK);
	ibcc_mpa_stream_get_stats(r, &stats);
	assert_int_equal(s->delivered, s->n);
	assert_int_equal(stats.fpdus, s->out.n);
	assert_int_equal(stats.messages, s->n);
	assert_int_equal(stats.refused_bytes, 0);
	assert_memory_equal(s->sink.region[0].base, s->image, MPA_REGION);
	/* Nothing leads to an FPDU without markers and without a CRC to confirm a guess. */
	if (!o.rules.spacing && (!o.aligned || o.rules.crc == IBCC_CRC32C_NONE))
		assert_int_equal(stats.early, 0);
	ibcc_mpa_stream_free(r);
	return stats.early;
}

static void ten_thousand(void **state)
{
	static struct sent s;
	uint64_t early = 0;
	bool gap = false;

	(void)state;
	mpa_sink(&s.sink);
	for (uint64_t seed = 0; seed < SHUFFLES; seed++)
		early += one_shuffle(&s, seed, &gap);
	assert_true(gap);
	assert_true(early > SHUFFLES);
	mpa_sink_free(&s.sink);
	free(s.out.bytes);
}

/* The second of two messages alone: what of it is placed at once, by what leads to it. */
static void what_is_placed_at_once(void **state)
{
	static const struct {
		uint32_t spacing;
		bool aligned;
		enum ibcc_crc32c crc;
		size_t late; /* octets that the segment begins late */
		bool placed;
	} cases[] = {
		{ 512, false, IBCC_CRC32C_TABLE, 0, true },
		{ 512, false, IBCC_CRC32C_NONE, 0, true },
		{ 512, false, IBCC_CRC32C_TABLE, 4, false },
		{ 0, false, IBCC_CRC32C_TABLE, 0, false },
		{ 0, true, IBCC_CRC32C_TABLE, 0, true },
		{ 0, true, IBCC_CRC32C_NONE, 0, false },
		{ 0, true, IBCC_CRC32C_TABLE, 4, false },
	};
	static uint8_t payload[1000];

	(void)state;
	memset(payload, 7, sizeof(payload));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct mpa_out out = { .rules = { cases[i].spacing, cases[i].crc } };
		struct mpa_got c = { 0 };
		struct ibcc_mpa_stream_options o = { .rules = out.rules,
						     .aligned = cases[i].aligned,
						     .window_bytes = 65536,
						     .on_message = mpa_on_message,
						     .arg = &c };
		struct ibcc_ddp d = { .opcode = IBCC_RDMAP_WRITE, .stag = MPA_STAG, .to = MPA_TO };
		struct ibcc_mpa_sink sink;
		struct ibcc_mpa_stream *r;
		size_t from;

		mpa_sink(&sink);
		r = ibcc_mpa_stream_new(&o, &sink);
		assert_non_null(r);
		mpa_message(&out, d, payload, 900, 1400);
		d.to += 5000;
		mpa_message(&out, d, payload, 1000, 1400);
		from = out.start[1] + cases[i].late;
		assert_int_equal(ibcc_mpa_stream_segment(r, from, out.bytes + from, out.len - from),
				 IBCC_MPA_OK);
		assert_int_equal(sink.region[0].base[5999], cases[i].placed ? 7 : 0);
		assert_int_equal(c.messages, 0);
		assert_int_equal(ibcc_mpa_stream_end(r), IBCC_MPA_TRUNCATED);
		assert_int_equal(ibcc_mpa_stream_segment(r, 0, out.bytes, from), IBCC_MPA_OK);
		assert_int_equal(c.messages, 2);
		assert_int_equal(sink.region[0].base[5999], 7);
		assert_int_equal(ibcc_mpa_stream_end(r), IBCC_MPA_OK);
		ibcc_mpa_stream_free(r);
		mpa_sink_free(&sink);
		free(out.bytes);
	}
}

/* A sender waits for what is acknowledged; what it sends beyond that is not kept. */
static void the_window_has_an_end(void **state)
{
	struct mpa_out out = { .rules = { 512, IBCC_CRC32C_TABLE } };
	struct mpa_got c = { 0 };
	struct ibcc_mpa_stream_options o = {
		.rules = out.rules, .window_bytes = 4096, .on_message = mpa_on_message, .arg = &c
	};
	static uint8_t payload[20000];
	struct ibcc_ddp d = { .opcode = IBCC_RDMAP_WRITE, .stag = MPA_STAG, .to = MPA_TO };
	struct ibcc_mpa_stream_stats stats;
	struct ibcc_mpa_sink sink;
	struct ibcc_mpa_stream *r;

	(void)state;
	memset(payload, 9, sizeof(payload));
	mpa_sink(&sink);
	mpa_message(&out, d, payload, sizeof(payload), 1400);
	r = ibcc_mpa_stream_new(&o, &sink);
	assert_int_equal(ibcc_mpa_stream_segment(r, 5000, out.bytes + 5000, 1000), IBCC_MPA_OK);
	ibcc_mpa_stream_get_stats(r, &stats);
	assert_int_equal(stats.refused_bytes, 1000);
	/* Crumbs are forgotten, too, when there are too many. */
	for (size_t at = 1; at < 4096; at += 2)
		ibcc_mpa_stream_segment(r, at, out.bytes + at, 1);
	ibcc_mpa_stream_get_stats(r, &stats);
	assert_int_equal(stats.refused_bytes, 1000 + 2048 - 1024);
	for (size_t at = 0; at < out.len; at += 600)
		assert_int_equal(ibcc_mpa_stream_segment(r, at, out.bytes + at,
							 out.len - at < 600 ? out.len - at : 600),
				 IBCC_MPA_OK);
	assert_int_equal(c.messages, 1);
	assert_memory_equal(sink.region[0].base, payload, sizeof(payload));
	ibcc_mpa_stream_free(r);
	mpa_sink_free(&sink);
	free(out.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ten_thousand),
		cmocka_unit_test(what_is_placed_at_once),
		cmocka_unit_test(the_window_has_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
