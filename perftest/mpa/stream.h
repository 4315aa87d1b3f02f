/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A receiver that gets the segments of a stream in any order, as a NIC behind several paths does.
 *
 * What arrives before its turn is placed at once where an FPDU can be recognized: with markers, if
 * all of it is there and one of its markers or an FPDU before it leads to its header; without them,
 * if the sender is known to align FPDUs with segments and the CRC confirms it (a guess, which is
 * judged when its turn has come). What cannot be recognized is held. Messages are delivered in the
 * order of the stream, each with all of its octets and all before it.
 */
#ifndef PERFTEST_MPA_STREAM_H
#define PERFTEST_MPA_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perftest/mpa/fpdu.h"
#include "perftest/mpa/sink.h"

struct ibcc_mpa_stream;

struct ibcc_mpa_stream_options {
	struct ibcc_mpa_rules rules;
	bool aligned;        /* each segment begins with an FPDU, unless the way here cut it anew */
	size_t window_bytes; /* that are kept beyond the first gap */
	void (*on_message)(void *arg, const struct ibcc_mpa_event *ev);
	void *arg;
};

struct ibcc_mpa_stream_stats {
	uint64_t fpdus, early;    /* delivered; of these placed before their turn */
	uint64_t duplicate_bytes; /* that had come before */
	uint64_t refused_bytes;   /* beyond the window, or too much in pieces to keep book of */
	uint64_t messages;
};

/* The sink is the caller's and must live longer. NULL without memory. */
struct ibcc_mpa_stream *ibcc_mpa_stream_new(const struct ibcc_mpa_stream_options *o,
					    struct ibcc_mpa_sink *sink);
void ibcc_mpa_stream_free(struct ibcc_mpa_stream *s);

/* Octets of the stream from a position on. After an error nothing is placed or delivered any more.
 */
enum ibcc_mpa_error ibcc_mpa_stream_segment(struct ibcc_mpa_stream *s, uint64_t at,
					    const uint8_t *data, size_t len);
/* The stream is at its end: TRUNCATED unless that is between two FPDUs and nothing is missing. */
enum ibcc_mpa_error ibcc_mpa_stream_end(const struct ibcc_mpa_stream *s);
void ibcc_mpa_stream_get_stats(const struct ibcc_mpa_stream *s, struct ibcc_mpa_stream_stats *out);

#endif
