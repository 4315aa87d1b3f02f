/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A stream of MPA from any octets, in any order. The first byte has the rules: markers, CRC,
 * aligned, and whether the rest is segments as they come (position 2 bytes, length 1, octets), or
 * messages that are framed as they should be (see make()), of which some octets are spoilt and
 * which are then cut and handed over in an order that follows. Nothing but region and buffers is
 * written to, an event tells only what was placed, and after an error nothing happens any more.
 */
#include "tests/fuzz/fuzz.h"

#include "perftest/mpa/stream.h"

#define REGION  8192u
#define TO      0xfffffffffffe0000ull /* near the end, where offsets go round */
#define BUFFERS 4u
#define BUFFER  512u
#define STREAM  16384u

struct input {
	const uint8_t *p;
	size_t left;
};

static uint32_t take(struct input *in, int bytes)
{
	uint32_t v = 0;

	for (; bytes && in->left; bytes--, in->left--)
		v = v << 8 | *in->p++;
	return v;
}

static struct ibcc_mpa_sink sink;
static uint8_t stream[STREAM + 1024];

static void on_message(void *arg, const struct ibcc_mpa_event *ev)
{
	unsigned int *n = arg;

	++*n;
	switch (ev->opcode) {
	case IBCC_RDMAP_WRITE:
	case IBCC_RDMAP_READ_RESPONSE: break;
	case IBCC_RDMAP_READ_REQUEST:
		FUZZ_CHECK(ev->bytes == IBCC_RDMAP_READ_BYTES);
		FUZZ_CHECK(ev->read.source_to >= TO && ev->read.source_to - TO <= REGION &&
			   ev->read.size_bytes <= REGION - (ev->read.source_to - TO));
		break;
	case IBCC_RDMAP_SEND:
	case IBCC_RDMAP_SEND_INVALIDATE:
	case IBCC_RDMAP_SEND_SE:
	case IBCC_RDMAP_SEND_SE_INVALIDATE:
		FUZZ_CHECK(ev->bytes <= BUFFER && ev->payload >= sink.buffer &&
			   ev->payload + ev->bytes <= sink.buffer + BUFFERS * BUFFER);
		break;
	case IBCC_RDMAP_TERMINATE: FUZZ_CHECK(ev->bytes <= IBCC_MPA_MAX_TERMINATE); break;
	case IBCC_RDMAP_N_OPCODES: FUZZ_CHECK(!"an opcode that is none");
	}
}

/* Frames a message for each 8 bytes, as long as the stream has room; returns its length. */
static size_t make(struct input *in, const struct ibcc_mpa_rules *rules)
{
	static const uint8_t payload[1024];
	uint32_t n = take(in, 1) % 16, msn = 0;
	size_t len = 0;

	while (n-- && in->left && len < STREAM - 2048) {
		uint32_t kind = take(in, 1), bytes = take(in, 2) % 1024;
		struct ibcc_ddp d = { .opcode = (enum ibcc_rdmap_opcode)(kind % 8),
				      .last = kind & 8,
				      .stag = kind & 16 ? 1 : 2,
				      .to = TO + take(in, 2) };
		struct ibcc_fpdu f = { .at = len, .spacing = rules->spacing };

		d.msn = kind & 32 ? msn : ++msn;
		d.mo = kind & 64 ? take(in, 4) : 0;
		f.ulpdu_bytes = (uint32_t)ibcc_ddp_bytes(&d) + bytes;
		ibcc_fpdu_write_payload(&f, stream + len, ibcc_ddp_bytes(&d), payload, bytes);
		ibcc_fpdu_write_markers(&f, stream + len);
		ibcc_fpdu_write_header(&f, stream + len, &d);
		ibcc_fpdu_write_crc(&f, stream + len, rules->crc);
		len += ibcc_fpdu_bytes(&f);
	}
	for (n = take(in, 1) % 4; n && len; n--) {
		size_t at = take(in, 2) % len;

		stream[at] ^= (uint8_t)take(in, 1);
	}
	return len;
}

static void hand_over(struct ibcc_mpa_stream *s, uint64_t at, const uint8_t *p, size_t len)
{
	static uint8_t before[REGION];
	enum ibcc_mpa_error was = ibcc_mpa_stream_end(s), e;

	if (was && was != IBCC_MPA_TRUNCATED)
		memcpy(before, sink.region[0].base, REGION);
	e = ibcc_mpa_stream_segment(s, at, p, len);
	FUZZ_CHECK(e < IBCC_MPA_N_ERRORS && ibcc_mpa_error_name(e));
	if (was && was != IBCC_MPA_TRUNCATED) {
		FUZZ_CHECK(e == was);
		FUZZ_CHECK(!memcmp(before, sink.region[0].base, REGION));
	}
}

static void as_it_comes(struct ibcc_mpa_stream *s, struct input *in)
{
	while (in->left > 3) {
		uint64_t at = take(in, 2);
		size_t len = take(in, 1);

		len = len < in->left ? len : in->left;
		/* Also far away, and round the end. */
		hand_over(s, at == 0xffff ? UINT64_MAX - 100 : at, in->p, len);
		in->p += len;
		in->left -= len;
	}
}

/* Pieces at places that follow, then all of it in order. */
static void cut(struct ibcc_mpa_stream *s, struct input *in, size_t len)
{
	while (in->left > 3 && len) {
		size_t at = take(in, 2) % len, n = take(in, 2) % 2048;

		hand_over(s, at, stream + at, n < len - at ? n : len - at);
	}
	for (size_t at = 0; at < len; at += 1000)
		hand_over(s, at, stream + at, len - at < 1000 ? len - at : 1000);
}

static void startup(struct input *in)
{
	struct ibcc_mpa_startup s, again;
	uint8_t out[IBCC_MPA_MAX_STARTUP];
	size_t bytes, n;
	bool reply = take(in, 1) & 1;
	enum ibcc_mpa_error e = ibcc_mpa_startup_decode(in->p, in->left, reply, &s, &bytes);

	FUZZ_CHECK(bytes <= in->left);
	if (!bytes || (e && e != IBCC_MPA_REJECTED))
		return;
	n = ibcc_mpa_startup_encode(&s, out);
	FUZZ_CHECK(n == bytes);
	FUZZ_CHECK(ibcc_mpa_startup_decode(out, n, reply, &again, &bytes) == e && bytes == n);
	FUZZ_CHECK(!memcmp(&s, &again, sizeof(s)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t spacings[] = { 512, 0, 64, 1024 };
	struct input in = { data, size };
	uint32_t how = take(&in, 1);
	unsigned int messages = 0;
	struct ibcc_mpa_stream_options o = {
		.rules = { spacings[how & 3], how & 4 ? IBCC_CRC32C_TABLE : IBCC_CRC32C_NONE },
		.aligned = how & 8,
		.window_bytes = how & 16 ? 1024 : STREAM,
		.on_message = on_message,
		.arg = &messages
	};
	struct ibcc_mpa_stream *s;
	struct ibcc_mpa_stream_stats stats;

	if (how & 64) {
		startup(&in);
		return 0;
	}
	/* Memory of its own, so that the sanitizers see where it ends. */
	sink = (struct ibcc_mpa_sink){ .n_regions = 1,
				       .buffer = malloc(BUFFERS * BUFFER),
				       .n_buffers = BUFFERS,
				       .buffer_bytes = BUFFER };
	sink.region[0] = (struct ibcc_mpa_region){ .stag = 1,
						   .write = true,
						   .read = true,
						   .to = TO,
						   .base = calloc(1, REGION),
						   .len = REGION };
	s = ibcc_mpa_stream_new(&o, &sink);
	FUZZ_CHECK(s && sink.buffer && sink.region[0].base);
	if (how & 32)
		as_it_comes(s, &in);
	else
		cut(s, &in, make(&in, &o.rules));
	ibcc_mpa_stream_get_stats(s, &stats);
	FUZZ_CHECK(stats.messages == messages && stats.early <= stats.fpdus &&
		   stats.messages <= stats.fpdus);
	ibcc_mpa_stream_free(s);
	free(sink.buffer);
	free(sink.region[0].base);
	return 0;
}
