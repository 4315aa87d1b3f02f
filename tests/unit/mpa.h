/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Streams for tests of MPA: messages framed one after the other. Include after cmocka.h. */
#ifndef TESTS_UNIT_MPA_H
#define TESTS_UNIT_MPA_H

#include <stdlib.h>
#include <string.h>

#include <ibcc/rng.h>

#include "perftest/mpa/fpdu.h"
#include "perftest/mpa/sink.h"

#define MPA_STAG      0x1234u
#define MPA_TO        0x7000000000ull
#define MPA_BUFFERS   64u
#define MPA_BUFFER    4096u
#define MPA_REGION    65536u
#define MPA_MAX_FPDUS 1024u

struct mpa_out {
	struct ibcc_mpa_rules rules;
	uint8_t *bytes;
	size_t len, room;
	size_t n; /* FPDUs, and where each begins */
	size_t start[MPA_MAX_FPDUS + 1];
};

/* Appends one FPDU. */
static inline void mpa_frame(struct mpa_out *o, const struct ibcc_ddp *d, const void *payload,
			     uint32_t len)
{
	struct ibcc_fpdu f = { .at = o->len,
			       .spacing = o->rules.spacing,
			       .ulpdu_bytes = (uint32_t)ibcc_ddp_bytes(d) + len };
	uint32_t n = ibcc_fpdu_bytes(&f);

	if (o->len + n > o->room) {
		o->room = 2 * o->room + n;
		o->bytes = realloc(o->bytes, o->room);
		assert_non_null(o->bytes);
	}
	assert_true(o->n < MPA_MAX_FPDUS);
	o->start[o->n++] = o->len;
	ibcc_fpdu_write_payload(&f, o->bytes + o->len, ibcc_ddp_bytes(d), payload, len);
	ibcc_fpdu_write_markers(&f, o->bytes + o->len);
	ibcc_fpdu_write_header(&f, o->bytes + o->len, d);
	ibcc_fpdu_write_crc(&f, o->bytes + o->len, o->rules.crc);
	o->len += n;
	o->start[o->n] = o->len;
}

/* Appends a message in segments of at most `most` octets of payload. */
static inline void mpa_message(struct mpa_out *o, struct ibcc_ddp d, const uint8_t *payload,
			       uint32_t len, uint32_t most)
{
	uint32_t at = 0;

	do {
		uint32_t n = len - at < most ? len - at : most;

		d.last = at + n == len;
		mpa_frame(o, &d, payload + at, n);
		d.to += n;
		d.mo += n;
		at += n;
	} while (at < len);
}

/* Messages that were delivered. */
struct mpa_got {
	uint32_t messages;
	struct ibcc_mpa_event last;
};

static inline void mpa_on_message(void *arg, const struct ibcc_mpa_event *ev)
{
	struct mpa_got *g = arg;

	g->messages++;
	g->last = *ev;
}

/* A sink whose memory ends where it ends, for the sanitizers. */
static inline void mpa_sink(struct ibcc_mpa_sink *s)
{
	*s = (struct ibcc_mpa_sink){ .n_regions = 1,
				     .n_buffers = MPA_BUFFERS,
				     .buffer_bytes = MPA_BUFFER };
	s->region[0] = (struct ibcc_mpa_region){ .stag = MPA_STAG,
						 .write = true,
						 .to = MPA_TO,
						 .base = calloc(1, MPA_REGION),
						 .len = MPA_REGION };
	s->buffer = calloc(MPA_BUFFERS, MPA_BUFFER);
	assert_non_null(s->region[0].base);
	assert_non_null(s->buffer);
}

static inline void mpa_sink_free(struct ibcc_mpa_sink *s)
{
	free(s->region[0].base);
	free(s->buffer);
}

#endif
