/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Framing and taking apart in one thread. This measures the cost of the work itself in CPU time,
 * which other load on the machine hardly changes.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/now.h>

#include "perftest/mpa/measure.h"

#define BATCH_BYTES                                                                                \
	(1u << 16) /* payload between two readings of the clock, if messages are short */
#define ENOUGH_BYTES (16u << 20)

struct copy_job {
	const struct ibcc_mpa_settings *s;
	const struct ibcc_mpa_subject *u;
	struct ibcc_mpa_rules rules;
	struct ibcc_mpa_sink sink;
	uint8_t *source, *wire, *region, *scratch;
	struct iovec *piece;
	size_t bytes; /* payload in a batch: whole messages, one after the other */
	uint64_t at, wire_bytes, fpdus, pieces;
};

static uint32_t next_fpdu(const struct copy_job *j, size_t done, uint64_t at, struct ibcc_fpdu *f,
			  struct ibcc_ddp *d)
{
	uint32_t of_message = (uint32_t)(done % j->s->message_bytes);
	uint32_t left = j->s->message_bytes - of_message;
	uint32_t n = left < j->s->payload_bytes ? left : j->s->payload_bytes;

	*d = (struct ibcc_ddp){ .opcode = IBCC_RDMAP_WRITE,
				.last = n == left,
				.stag = IBCC_MPA_PAIR_STAG,
				.to = done };
	*f = (struct ibcc_fpdu){ .at = at,
				 .spacing = j->rules.spacing,
				 .ulpdu_bytes = IBCC_DDP_TAGGED_BYTES + n };
	return n;
}

/* Frames by copying, or as a list of pieces; returns the octets on the wire. */
static size_t frame(struct copy_job *j, bool gather)
{
	size_t len = 0;

	for (size_t done = 0; done < j->bytes;) {
		struct ibcc_fpdu f;
		struct ibcc_ddp d;
		uint32_t n = next_fpdu(j, done, j->at + len, &f, &d);

		if (gather) {
			j->pieces += ibcc_fpdu_gather(&f, &d, j->source + done, n, j->rules.crc,
						      j->scratch, j->piece);
		} else {
			ibcc_fpdu_write_payload(&f, j->wire + len, IBCC_DDP_TAGGED_BYTES,
						j->source + done, n);
			ibcc_fpdu_write_markers(&f, j->wire + len);
			ibcc_fpdu_write_header(&f, j->wire + len, &d);
			ibcc_fpdu_write_crc(&f, j->wire + len, j->rules.crc);
			j->pieces++;
		}
		len += ibcc_fpdu_bytes(&f);
		done += n;
		j->fpdus++;
	}
	return len;
}

static int take_apart(struct copy_job *j, size_t len)
{
	for (size_t at = 0; at < len;) {
		const uint8_t *p = j->wire + at;
		enum ibcc_mpa_error e;
		struct ibcc_fpdu f;
		struct ibcc_ddp d;
		uint32_t n;
		size_t header;
		uint8_t *to;
		bool whole;

		e = ibcc_fpdu_find(&j->rules, j->at + at, p, len - at, &f, &whole);
		if (!e && whole)
			e = ibcc_fpdu_check_markers(&f, p);
		if (!e && whole)
			e = ibcc_fpdu_check_crc(&f, p, j->rules.crc);
		if (!e && whole)
			e = ibcc_fpdu_header(&f, p, &d, &header, &n);
		if (!e && whole)
			e = ibcc_mpa_sink_target(&j->sink, &d, n, &to);
		if (e || !whole)
			return -EBADMSG;
		ibcc_fpdu_read(&f, p, IBCC_MPA_LENGTH_BYTES + (uint32_t)header, to, n);
		at += ibcc_fpdu_bytes(&f);
	}
	return 0;
}

static int run(struct copy_job *j, struct ibcc_mpa_result *r)
{
	bool gather = j->u->design == IBCC_MPA_HOST_OFFLOADED;
	size_t batches = j->s->messages
				 ? ((size_t)j->s->messages * j->s->message_bytes) / j->bytes + 1
				 : ENOUGH_BYTES / j->bytes + 4;
	double tx = 0, rx = 0, gb = (double)(batches * j->bytes) / 1e9;
	int rc = 0;

	/* One more batch goes first, to warm up. */
	for (size_t i = 0; i <= batches && !rc; i++) {
		double start = ibcc_now_cpu_s(), middle;
		size_t len = frame(j, gather);

		middle = ibcc_now_cpu_s();
		tx += i ? middle - start : 0;
		if (gather)
			frame(j, false); /* for the receiver */
		start = ibcc_now_cpu_s();
		rc = take_apart(j, len);
		rx += i ? ibcc_now_cpu_s() - start : 0;
		j->at += len;
		j->wire_bytes += len;
		if (!rc && memcmp(j->region, j->source, j->bytes))
			rc = -EBADMSG;
	}
	for (int f = 0; f < IBCC_MPA_N_FIGURES; f++)
		r->figure[f] = NAN;
	r->figure[IBCC_MPA_TX_S_PER_GB] = tx / gb;
	r->figure[IBCC_MPA_RX_S_PER_GB] = rx / gb;
	r->figure[IBCC_MPA_WIRE] =
		(double)j->wire_bytes / ((double)(batches + 1) * (double)j->bytes);
	return rc;
}

int ibcc_mpa_measure_memory(const struct ibcc_mpa_settings *s, const struct ibcc_mpa_subject *u,
			    struct ibcc_mpa_result *r)
{
	struct copy_job j = { .s = s, .u = u, .rules = { u->spacing, (enum ibcc_crc32c)u->crc } };
	size_t messages = BATCH_BYTES / s->message_bytes;
	size_t fpdus, most;
	int rc = -ENOMEM;

	j.bytes = (messages ? messages : 1) * s->message_bytes;
	fpdus = (s->message_bytes + s->payload_bytes - 1) / s->payload_bytes *
		(j.bytes / s->message_bytes);
	most = (j.bytes + fpdus * (IBCC_DDP_TAGGED_BYTES + 9)) * IBCC_MPA_MIN_SPACING /
		       (IBCC_MPA_MIN_SPACING - IBCC_MPA_MARKER_BYTES) +
	       IBCC_MPA_MIN_SPACING;
	j.source = malloc(j.bytes);
	j.region = calloc(1, j.bytes);
	j.wire = malloc(most);
	j.scratch = malloc(IBCC_FPDU_SCRATCH(UINT16_MAX / IBCC_MPA_MIN_SPACING + 2));
	j.piece = calloc(2 * (UINT16_MAX / IBCC_MPA_MIN_SPACING + 2) + 3, sizeof(*j.piece));
	if (j.source && j.region && j.wire && j.scratch && j.piece) {
		for (size_t i = 0; i < j.bytes; i++)
			j.source[i] = (uint8_t)(i * 2654435761u >> 13);
		j.sink = (struct ibcc_mpa_sink){ .n_regions = 1 };
		j.sink.region[0] = (struct ibcc_mpa_region){
			.stag = IBCC_MPA_PAIR_STAG, .write = true, .base = j.region, .len = j.bytes
		};
		rc = run(&j, r);
	}
	free(j.piece);
	free(j.scratch);
	free(j.wire);
	free(j.region);
	free(j.source);
	return rc;
}
