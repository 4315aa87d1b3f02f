/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/mpa/stream.h"

#include <stdlib.h>
#include <string.h>

#include "perftest/mpa/octets.h"

/* If a peer sends tiny pieces, we forget some of them. The list never grows. */
#define MAX_RUNS  1024u
#define MAX_EARLY 1024u

/* Octets that have come, [from, to) in the stream. */
struct run {
	uint64_t from, to;
};

/* An FPDU that was placed before its turn. */
struct early {
	struct ibcc_fpdu fpdu;
	struct ibcc_ddp ddp;
	uint32_t payload_bytes;
};

struct ibcc_mpa_stream {
	struct ibcc_mpa_stream_options o;
	struct ibcc_mpa_sink *sink;
	struct ibcc_mpa_stream_stats stats;
	enum ibcc_mpa_error error;
	uint64_t next; /* position of the first FPDU that is not delivered */
	uint64_t base; /* position of window[0], not after next */
	uint8_t *window;
	size_t window_bytes; /* twice what is asked for, so that it seldom has to be moved */
	struct run run[MAX_RUNS];
	size_t n_runs;
	struct early early[MAX_EARLY];
	size_t n_early;
};

struct ibcc_mpa_stream *ibcc_mpa_stream_new(const struct ibcc_mpa_stream_options *o,
					    struct ibcc_mpa_sink *sink)
{
	struct ibcc_mpa_stream *s = malloc(sizeof(*s));

	if (!s)
		return NULL;
	s->o = *o;
	s->sink = sink;
	s->stats = (struct ibcc_mpa_stream_stats){ 0 };
	s->error = IBCC_MPA_OK;
	s->next = s->base = 0;
	s->n_runs = s->n_early = 0;
	s->window_bytes = 2 * o->window_bytes;
	s->window = malloc(s->window_bytes);
	if (!s->window) {
		free(s);
		return NULL;
	}
	return s;
}

void ibcc_mpa_stream_free(struct ibcc_mpa_stream *s)
{
	if (!s)
		return;
	free(s->window);
	free(s);
}

static const uint8_t *octet(const struct ibcc_mpa_stream *s, uint64_t at)
{
	return s->window + (at - s->base);
}

/* Adds [from, to); false if there are too many runs. Octets that came before stay. */
static bool add_run(struct ibcc_mpa_stream *s, uint64_t from, uint64_t to, const uint8_t *data)
{
	size_t first = 0, last;
	uint64_t at = from;

	while (first < s->n_runs && s->run[first].to < from)
		first++;
	for (last = first; last < s->n_runs && s->run[last].from <= to; last++)
		;
	if (first == last && s->n_runs == MAX_RUNS)
		return false;
	for (size_t i = first; i <= last && at < to; i++) {
		uint64_t end = i < last ? s->run[i].from : to;

		if (at < end)
			memcpy(s->window + (at - s->base), data + (at - from), end - at);
		if (i < last) {
			uint64_t seen_from = s->run[i].from > at ? s->run[i].from : at;
			uint64_t seen_to = s->run[i].to < to ? s->run[i].to : to;

			s->stats.duplicate_bytes += seen_to > seen_from ? seen_to - seen_from : 0;
			at = s->run[i].to > at ? s->run[i].to : at;
		}
	}
	if (first < last) {
		from = s->run[first].from < from ? s->run[first].from : from;
		to = s->run[last - 1].to > to ? s->run[last - 1].to : to;
	}
	memmove(&s->run[first + 1], &s->run[last], (s->n_runs - last) * sizeof(*s->run));
	s->n_runs = s->n_runs - (last - first) + 1;
	s->run[first] = (struct run){ from, to };
	return true;
}

/* Checks whether the payload of a whole FPDU can be placed, and places it. */
static enum ibcc_mpa_error place(struct ibcc_mpa_stream *s, const struct ibcc_fpdu *f,
				 struct ibcc_ddp *d, uint32_t *payload_bytes)
{
	const uint8_t *p = octet(s, f->at);
	enum ibcc_mpa_error e = ibcc_fpdu_check_markers(f, p);
	size_t header;
	uint8_t *to;

	if (!e)
		e = ibcc_fpdu_check_crc(f, p, s->o.rules.crc);
	if (!e)
		e = ibcc_fpdu_header(f, p, d, &header, payload_bytes);
	if (!e)
		e = ibcc_mpa_sink_target(s->sink, d, *payload_bytes, &to);
	if (!e)
		ibcc_fpdu_read(f, p, IBCC_MPA_LENGTH_BYTES + (uint32_t)header, to, *payload_bytes);
	return e;
}

static enum ibcc_mpa_error deliver(struct ibcc_mpa_stream *s, const struct ibcc_fpdu *f,
				   const struct ibcc_ddp *d, uint32_t payload_bytes)
{
	struct ibcc_mpa_event ev;
	bool complete;
	enum ibcc_mpa_error e = ibcc_mpa_sink_deliver(s->sink, d, payload_bytes, &ev, &complete);

	s->next += ibcc_fpdu_bytes(f);
	s->stats.fpdus++;
	if (complete && (!e || e == IBCC_MPA_TERMINATED)) {
		s->stats.messages++;
		if (s->o.on_message)
			s->o.on_message(s->o.arg, &ev);
	}
	return e;
}

/* Takes the FPDU whose turn it is. *more: there was one. */
static enum ibcc_mpa_error take_next(struct ibcc_mpa_stream *s, bool *more)
{
	uint64_t end = s->n_runs && s->run[0].from <= s->next ? s->run[0].to : s->next;
	struct early *first = s->n_early ? &s->early[0] : NULL, now;
	enum ibcc_mpa_error e;
	struct ibcc_fpdu f;

	*more = false;
	if (first && first->fpdu.at == s->next) {
		now = *first;
		memmove(first, first + 1, --s->n_early * sizeof(*first));
		s->stats.early++;
		*more = true;
		return deliver(s, &now.fpdu, &now.ddp, now.payload_bytes);
	}
	e = ibcc_fpdu_find(&s->o.rules, s->next, octet(s, s->next), (size_t)(end - s->next), &f,
			   more);
	if (e || !*more)
		return e;
	if (first && first->fpdu.at < f.at + ibcc_fpdu_bytes(&f))
		return IBCC_MPA_BAD_GUESS;
	e = place(s, &f, &now.ddp, &now.payload_bytes);
	return e ? e : deliver(s, &f, &now.ddp, now.payload_bytes);
}

/* Places FPDUs one after the other from `at` on, as far as the run goes and they are right. A wrong
 * one may be no FPDU at all: it is judged when its turn comes. Returns where the last one ends.
 */
static uint64_t place_early(struct ibcc_mpa_stream *s, const struct run *r, uint64_t at)
{
	for (;;) {
		struct early now;
		bool whole;
		size_t i = 0;

		while (i < s->n_early && s->early[i].fpdu.at < at)
			i++;
		if (i < s->n_early && s->early[i].fpdu.at == at) {
			at += ibcc_fpdu_bytes(&s->early[i].fpdu);
			continue;
		}
		if (s->n_early == MAX_EARLY || at >= r->to ||
		    ibcc_fpdu_find(&s->o.rules, at, octet(s, at), (size_t)(r->to - at), &now.fpdu,
				   &whole) ||
		    !whole || place(s, &now.fpdu, &now.ddp, &now.payload_bytes))
			return at;
		memmove(&s->early[i + 1], &s->early[i], (s->n_early - i) * sizeof(*s->early));
		s->early[i] = now;
		s->n_early++;
		at += ibcc_fpdu_bytes(&now.fpdu);
	}
}

/* Follows the markers of a run that lies beyond a gap. */
static void follow_markers(struct ibcc_mpa_stream *s, const struct run *r)
{
	uint32_t spacing = s->o.rules.spacing;
	uint64_t done = r->from;

	for (uint64_t m = (r->from + spacing - 1) / spacing * spacing;
	     m + IBCC_MPA_MARKER_BYTES <= r->to; m += spacing) {
		uint32_t pointer = ibcc_get32(octet(s, m));
		uint64_t at = m;

		if (m < done || pointer > m || pointer % 4)
			continue;
		if (pointer) {
			at = m - pointer;
			/* A marker points to the length; another marker may stand before that. */
			if (at % spacing == IBCC_MPA_MARKER_BYTES)
				at -= IBCC_MPA_MARKER_BYTES;
		}
		if (at >= r->from)
			done = place_early(s, r, at);
	}
}

/* Drops what is delivered, and moves the rest to the window's beginning when half of it is spent.
 */
static void forget(struct ibcc_mpa_stream *s)
{
	if (s->n_runs && s->run[0].from < s->next) {
		s->run[0].from = s->next;
		if (s->run[0].to <= s->next)
			memmove(&s->run[0], &s->run[1], --s->n_runs * sizeof(*s->run));
	}
	if (s->next - s->base < s->o.window_bytes)
		return;
	if (s->n_runs)
		memmove(s->window, octet(s, s->next), s->run[s->n_runs - 1].to - s->next);
	s->base = s->next;
}

/* Handles a segment that begins at `at` and may lie beyond a gap. */
static void look_early(struct ibcc_mpa_stream *s, uint64_t at)
{
	struct run r;
	size_t i = 0;

	while (i < s->n_runs && s->run[i].to <= at)
		i++;
	if (i == s->n_runs || s->run[i].from > at || s->run[i].from <= s->next)
		return; /* delivered already, or its turn has begun */
	r = s->run[i];
	if (s->o.rules.spacing)
		follow_markers(s, &r);
	else if (s->o.aligned && s->o.rules.crc != IBCC_CRC32C_NONE && at % 4 == 0)
		place_early(s, &r, at);
}

enum ibcc_mpa_error ibcc_mpa_stream_segment(struct ibcc_mpa_stream *s, uint64_t at,
					    const uint8_t *data, size_t len)
{
	uint64_t to = at + len, limit = s->next + s->o.window_bytes, from;
	bool more = true;

	if (s->error || !len)
		return s->error;
	if (to < at || to > limit) {
		s->stats.refused_bytes += at < limit ? to - limit : len;
		if (at >= limit || to < at)
			return IBCC_MPA_OK;
		to = limit;
	}
	from = at < s->next ? s->next : at;
	s->stats.duplicate_bytes += (to < from ? to : from) - at;
	if (from >= to)
		return IBCC_MPA_OK;
	if (!add_run(s, from, to, data + (from - at))) {
		s->stats.refused_bytes += to - from;
		return IBCC_MPA_OK;
	}
	while (more && !s->error)
		s->error = take_next(s, &more);
	if (s->error)
		return s->error;
	forget(s);
	look_early(s, at);
	return IBCC_MPA_OK;
}

enum ibcc_mpa_error ibcc_mpa_stream_end(const struct ibcc_mpa_stream *s)
{
	if (s->error)
		return s->error;
	return s->n_runs ? IBCC_MPA_TRUNCATED : IBCC_MPA_OK;
}

void ibcc_mpa_stream_get_stats(const struct ibcc_mpa_stream *s, struct ibcc_mpa_stream_stats *out)
{
	*out = s->stats;
}
