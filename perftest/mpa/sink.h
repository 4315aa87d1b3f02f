/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Where a stream's payload goes, and what its owner gets to know: regions for tagged segments, a
 * ring of buffers for untagged ones (RFC 5041, 5 and 6; RFC 5040, 5). Segments may be placed in any
 * order, but are delivered in the order of the stream. Nothing here trusts the peer.
 */
#ifndef PERFTEST_MPA_SINK_H
#define PERFTEST_MPA_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perftest/mpa/ddp.h"

#define IBCC_MPA_MAX_REGIONS   8u
#define IBCC_MPA_MAX_READS     16u /* requests that are not answered yet */
#define IBCC_MPA_MAX_TERMINATE 64u

/* Memory that the peer may access, and how. */
struct ibcc_mpa_region {
	uint32_t stag;
	bool write;     /* by RDMA write */
	bool read;      /* by RDMA read */
	bool read_sink; /* by responses to our own reads */
	uint64_t to;    /* the tagged offset of its first octet */
	uint8_t *base;
	size_t len;
};

struct ibcc_mpa_sink {
	struct ibcc_mpa_region region[IBCC_MPA_MAX_REGIONS];
	size_t n_regions;
	/* Message m, from 1, goes to buffer (m - 1) % n. The peer may use that buffer again as soon
	 * as m is delivered. So read it at that moment, or agree with the peer on how many may be
	 * under way.
	 */
	uint8_t *buffer;
	uint32_t n_buffers, buffer_bytes;
	/* Private. */
	uint32_t delivered[IBCC_DDP_N_QUEUES]; /* messages */
	uint32_t progress[IBCC_DDP_N_QUEUES];  /* octets of the next message */
	uint64_t tagged_bytes;                 /* of the tagged message under way */
	uint8_t request[IBCC_MPA_MAX_READS][IBCC_RDMAP_READ_BYTES];
	uint8_t terminate[IBCC_MPA_MAX_TERMINATE];
};

/* A message that is complete, as are all messages before it. */
struct ibcc_mpa_event {
	enum ibcc_rdmap_opcode opcode;
	uint32_t msn;                /* of untagged messages */
	uint64_t bytes;              /* of payload */
	uint32_t stag;               /* to invalidate; of the region, if tagged */
	const uint8_t *payload;      /* of untagged messages */
	struct ibcc_rdmap_read read; /* of a read request: within a region that may be read */
};

/* Where the payload of a segment belongs: all of the payload_bytes at *to are the sink's. */
enum ibcc_mpa_error ibcc_mpa_sink_target(struct ibcc_mpa_sink *s, const struct ibcc_ddp *d,
					 uint32_t payload_bytes, uint8_t **to);

/* Notes a segment that has been placed. Call in the order of the stream. *complete: the segment was
 * the last of a message, which *ev describes. TERMINATED with the event.
 */
enum ibcc_mpa_error ibcc_mpa_sink_deliver(struct ibcc_mpa_sink *s, const struct ibcc_ddp *d,
					  uint32_t payload_bytes, struct ibcc_mpa_event *ev,
					  bool *complete);

/* The region that a tagged segment or a read may use; NULL with the reason in *why. */
const struct ibcc_mpa_region *ibcc_mpa_sink_region(const struct ibcc_mpa_sink *s,
						   enum ibcc_rdmap_opcode op, uint32_t stag,
						   uint64_t to, uint64_t bytes,
						   enum ibcc_mpa_error *why);

#endif
