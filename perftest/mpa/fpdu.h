/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* FPDUs and their markers in a TCP stream: RFC 5044, 4.1 to 4.4. Pure.
 *
 * An FPDU is ULPDU length (2), ULPDU, pad to a multiple of 4, CRC (4); here these are its data, and
 * where they are without regard to markers is their offset. Its markers stand between them, at all
 * positions of the stream that are a multiple of the spacing, the first octet after the startup
 * frames being position 0. A marker that is due where an FPDU begins stands before its length, is
 * the FPDU's first 4 octets and has pointer 0. All is a multiple of 4 octets, so no marker splits a
 * word.
 */
#ifndef PERFTEST_MPA_FPDU_H
#define PERFTEST_MPA_FPDU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "perftest/mpa/crc32c.h"
#include "perftest/mpa/ddp.h"

#define IBCC_MPA_SPACING      512u /* of markers; the RFC knows no other */
#define IBCC_MPA_MIN_SPACING  64u  /* smallest spacing here */
#define IBCC_MPA_LENGTH_BYTES 2u
#define IBCC_MPA_CRC_BYTES    4u
#define IBCC_MPA_MARKER_BYTES 4u

/* What both sides know after the startup. */
struct ibcc_mpa_rules {
	uint32_t spacing; /* of markers, a multiple of 4 octets from MIN_SPACING; 0: no markers */
	enum ibcc_crc32c crc; /* NONE: the field is there, but has no meaning */
};

/* One FPDU at its place in the stream. */
struct ibcc_fpdu {
	uint64_t at; /* position of its first octet, even if that is a marker's; a multiple of 4 */
	uint32_t spacing, ulpdu_bytes;
};

/* The longest ULPDU for which a marker can point from anywhere in its FPDU to the length. */
uint32_t ibcc_fpdu_max_ulpdu(uint32_t spacing);

uint32_t ibcc_fpdu_data_bytes(const struct ibcc_fpdu *f); /* without markers */
uint32_t ibcc_fpdu_bytes(const struct ibcc_fpdu *f);      /* with markers */
uint32_t ibcc_fpdu_markers(const struct ibcc_fpdu *f);
/* Octets from the FPDU's first to its data octet `offset`, and data octets from that one to the
 * next marker (or to no end).
 */
uint32_t ibcc_fpdu_place(const struct ibcc_fpdu *f, uint32_t offset);
uint32_t ibcc_fpdu_run(const struct ibcc_fpdu *f, uint32_t offset);

/* Copies data octets into or out of a whole FPDU at `base`, past the markers. */
void ibcc_fpdu_write(const struct ibcc_fpdu *f, uint8_t *base, uint32_t offset, const void *src,
		     uint32_t len);
void ibcc_fpdu_read(const struct ibcc_fpdu *f, const uint8_t *base, uint32_t offset, void *dst,
		    uint32_t len);

/* The parts of framing, which host and NIC can share: payload; markers; length, header and pad; and
 * at last the CRC over all of it.
 */
void ibcc_fpdu_write_payload(const struct ibcc_fpdu *f, uint8_t *base, size_t header_bytes,
			     const void *payload, uint32_t len);
void ibcc_fpdu_write_markers(const struct ibcc_fpdu *f, uint8_t *base);
void ibcc_fpdu_write_header(const struct ibcc_fpdu *f, uint8_t *base, const struct ibcc_ddp *d);
void ibcc_fpdu_write_crc(const struct ibcc_fpdu *f, uint8_t *base, enum ibcc_crc32c crc);

/* Makes pieces to gather from an FPDU, without copying the payload: `scratch` holds the rest,
 * IBCC_FPDU_SCRATCH(markers) octets. Returns the number of pieces, at most 2 * markers + 3.
 */
#define IBCC_FPDU_SCRATCH(markers)                                                                 \
	(IBCC_MPA_LENGTH_BYTES + IBCC_DDP_MAX_BYTES + 3 + IBCC_MPA_CRC_BYTES +                     \
	 IBCC_MPA_MARKER_BYTES * (markers))
size_t ibcc_fpdu_gather(const struct ibcc_fpdu *f, const struct ibcc_ddp *d, const void *payload,
			uint32_t len, enum ibcc_crc32c crc, uint8_t *scratch, struct iovec *piece);

/* What a receiver finds at position `at` of the stream, of which it has `len` octets. *f is the
 * FPDU, *whole says whether all of it is there. BAD_LENGTH is returned as soon as the length can be
 * read.
 */
enum ibcc_mpa_error ibcc_fpdu_find(const struct ibcc_mpa_rules *r, uint64_t at, const uint8_t *base,
				   size_t len, struct ibcc_fpdu *f, bool *whole);
/* Whether all markers of a whole FPDU point to its length, and whether the CRC is right. */
enum ibcc_mpa_error ibcc_fpdu_check_markers(const struct ibcc_fpdu *f, const uint8_t *base);
enum ibcc_mpa_error ibcc_fpdu_check_crc(const struct ibcc_fpdu *f, const uint8_t *base,
					enum ibcc_crc32c crc);
/* Reads the header of a whole FPDU; *header_bytes and *payload_bytes are the lengths of what
 * follows the FPDU's length.
 */
enum ibcc_mpa_error ibcc_fpdu_header(const struct ibcc_fpdu *f, const uint8_t *base,
				     struct ibcc_ddp *d, size_t *header_bytes,
				     uint32_t *payload_bytes);

#endif
