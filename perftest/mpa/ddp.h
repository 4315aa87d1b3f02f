/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Headers of DDP (RFC 5041) and RDMAP (RFC 5040), and the frames that begin a connection (RFC 5044,
 * 7.1). These functions only convert: octets in, octets out.
 */
#ifndef PERFTEST_MPA_DDP_H
#define PERFTEST_MPA_DDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perftest/mpa/error.h"

#define IBCC_DDP_TAGGED_BYTES   14u
#define IBCC_DDP_UNTAGGED_BYTES 18u
#define IBCC_DDP_MAX_BYTES      IBCC_DDP_UNTAGGED_BYTES

enum ibcc_rdmap_opcode {
	IBCC_RDMAP_WRITE,
	IBCC_RDMAP_READ_REQUEST,
	IBCC_RDMAP_READ_RESPONSE,
	IBCC_RDMAP_SEND,
	IBCC_RDMAP_SEND_INVALIDATE,
	IBCC_RDMAP_SEND_SE,
	IBCC_RDMAP_SEND_SE_INVALIDATE,
	IBCC_RDMAP_TERMINATE,
	IBCC_RDMAP_N_OPCODES,
};

/* Queues of untagged messages. */
enum { IBCC_DDP_QN_SEND, IBCC_DDP_QN_READ, IBCC_DDP_QN_TERMINATE, IBCC_DDP_N_QUEUES };

/* The header of one segment. The opcode decides about tagged and qn. */
struct ibcc_ddp {
	enum ibcc_rdmap_opcode opcode;
	bool tagged, last;
	uint32_t stag;    /* of a tagged one; else the STag to invalidate */
	uint64_t to;      /* tagged offset, octets */
	uint32_t qn, msn; /* untagged: queue, and number of the message from 1 */
	uint32_t mo;      /* untagged: offset in the message, octets */
};

size_t ibcc_ddp_bytes(const struct ibcc_ddp *d);
/* Writes ibcc_ddp_bytes() octets, and returns that number. */
size_t ibcc_ddp_encode(const struct ibcc_ddp *d, uint8_t out[IBCC_DDP_MAX_BYTES]);
/* Reads a header from the beginning of a ULPDU of len octets; *bytes is the header's length. After
 * success, versions, opcode, model and queue are right.
 */
enum ibcc_mpa_error ibcc_ddp_decode(const uint8_t *p, size_t len, struct ibcc_ddp *d,
				    size_t *bytes);

/* Payload of a read request: RFC 5040, 4.4. */
#define IBCC_RDMAP_READ_BYTES 28u
struct ibcc_rdmap_read {
	uint32_t sink_stag, source_stag, size_bytes;
	uint64_t sink_to, source_to;
};
void ibcc_rdmap_read_encode(const struct ibcc_rdmap_read *r, uint8_t out[IBCC_RDMAP_READ_BYTES]);
void ibcc_rdmap_read_decode(const uint8_t in[IBCC_RDMAP_READ_BYTES], struct ibcc_rdmap_read *r);

/* MPA request and reply frames. */
#define IBCC_MPA_STARTUP_BYTES 20u /* without private data */
#define IBCC_MPA_MAX_PRIVATE   512u
#define IBCC_MPA_MAX_STARTUP   (IBCC_MPA_STARTUP_BYTES + IBCC_MPA_MAX_PRIVATE)

struct ibcc_mpa_startup {
	bool reply;   /* else a request */
	bool markers; /* the sender wants markers in what it receives */
	bool crc;     /* both use CRC if either wants it */
	bool reject;  /* replies only */
	uint16_t private_bytes;
	uint8_t private_data[IBCC_MPA_MAX_PRIVATE];
};
/* Returns the number of octets written. */
size_t ibcc_mpa_startup_encode(const struct ibcc_mpa_startup *s, uint8_t out[IBCC_MPA_MAX_STARTUP]);
/* Reads the frame that is expected of a peer. *bytes: 0 if more octets are needed, else the length
 * of the frame. A reply that rejects is otherwise valid: the error is IBCC_MPA_REJECTED.
 */
enum ibcc_mpa_error ibcc_mpa_startup_decode(const uint8_t *p, size_t len, bool reply,
					    struct ibcc_mpa_startup *s, size_t *bytes);

#endif
