/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A receiver that gets the segments of a stream in any order, as a NIC behind several paths does.
 *
 * A segment that arrives before its turn is placed at once if an FPDU can be recognized in it:
 * - With markers, all of the FPDU must be there, and one of its markers or an FPDU before it must
 *   lead to its header.
 * - Without markers, the sender must be known to align FPDUs with segments, and the CRC must
 *   confirm it. This is a guess, which is judged when its turn has come.
 *
 * What cannot be recognized is held. Messages are delivered in the order of the stream, each with
 * all of its octets, and after all messages before it.
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
	/* segments begin with an FPDU, unless the path re-segments the stream */
	bool aligned;
	size_t window_bytes; /* octets that are kept beyond the first gap */
	void (*on_message)(void *arg, const struct ibcc_mpa_event *ev);
	void *arg;
};

struct ibcc_mpa_stream_stats {
	/* FPDUs delivered; those of them that were placed before their turn */
	uint64_t fpdus, early;
	uint64_t duplicate_bytes; /* octets that had come before */
	/* octets beyond the window, or in too many pieces to keep track of */
	uint64_t refused_bytes;
	uint64_t messages;
};

/* The sink is the caller's and must live longer. NULL without memory. */
struct ibcc_mpa_stream *ibcc_mpa_stream_new(const struct ibcc_mpa_stream_options *o,
					    struct ibcc_mpa_sink *sink);
void ibcc_mpa_stream_free(struct ibcc_mpa_stream *s);

/* Takes octets of the stream from a position on. After an error nothing more is placed or
 * delivered.
 */
enum ibcc_mpa_error ibcc_mpa_stream_segment(struct ibcc_mpa_stream *s, uint64_t at,
					    const uint8_t *data, size_t len);
/* Ends the stream: TRUNCATED unless the end is between two FPDUs and nothing is missing. */
enum ibcc_mpa_error ibcc_mpa_stream_end(const struct ibcc_mpa_stream *s);
void ibcc_mpa_stream_get_stats(const struct ibcc_mpa_stream *s, struct ibcc_mpa_stream_stats *out);

#endif
