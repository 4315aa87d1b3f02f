/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/mpa/fpdu.h"

#include <string.h>

#include "perftest/mpa/octets.h"

#define LENGTH IBCC_MPA_LENGTH_BYTES
#define CRC    IBCC_MPA_CRC_BYTES
#define MARKER IBCC_MPA_MARKER_BYTES

static uint32_t align4(uint32_t v)
{
	return (v + 3) & ~3u;
}

/* Data octets before the first marker. */
static uint32_t first_run(const struct ibcc_fpdu *f)
{
	uint32_t past = (uint32_t)(f->at % f->spacing);

	return past ? f->spacing - past : 0;
}

/* Markers before a data octet; a marker due exactly there stands before it. */
static uint32_t markers_before(const struct ibcc_fpdu *f, uint32_t offset)
{
	uint32_t first;

	if (!f->spacing)
		return 0;
	first = first_run(f);
	return offset < first ? 0 : 1 + (offset - first) / (f->spacing - MARKER);
}

uint32_t ibcc_fpdu_max_ulpdu(uint32_t spacing)
{
	uint32_t data = UINT16_MAX - MARKER;

	/* With one marker more than its share, which is the worst case. */
	if (spacing)
		data = (uint32_t)((uint64_t)data * (spacing - MARKER) / spacing);
	return (data - CRC - LENGTH) & ~3u;
}

uint32_t ibcc_fpdu_data_bytes(const struct ibcc_fpdu *f)
{
	return align4(LENGTH + f->ulpdu_bytes) + CRC;
}

uint32_t ibcc_fpdu_markers(const struct ibcc_fpdu *f)
{
	return markers_before(f, ibcc_fpdu_data_bytes(f) - 1);
}

uint32_t ibcc_fpdu_bytes(const struct ibcc_fpdu *f)
{
	return ibcc_fpdu_data_bytes(f) + MARKER * ibcc_fpdu_markers(f);
}

uint32_t ibcc_fpdu_place(const struct ibcc_fpdu *f, uint32_t offset)
{
	return offset + MARKER * markers_before(f, offset);
}

uint32_t ibcc_fpdu_run(const struct ibcc_fpdu *f, uint32_t offset)
{
	uint32_t first;

	if (!f->spacing)
		return UINT32_MAX - offset;
	first = first_run(f);
	if (offset < first)
		return first - offset;
	return f->spacing - MARKER - (offset - first) % (f->spacing - MARKER);
}

void ibcc_fpdu_write(const struct ibcc_fpdu *f, uint8_t *base, uint32_t offset, const void *src,
		     uint32_t len)
{
	const uint8_t *s = src;

	while (len) {
		uint32_t run = ibcc_fpdu_run(f, offset);
		uint32_t n = run < len ? run : len;

		memcpy(base + ibcc_fpdu_place(f, offset), s, n);
		s += n;
		offset += n;
		len -= n;
	}
}

void ibcc_fpdu_read(const struct ibcc_fpdu *f, const uint8_t *base, uint32_t offset, void *dst,
		    uint32_t len)
{
	uint8_t *d = dst;

	while (len) {
		uint32_t run = ibcc_fpdu_run(f, offset);
		uint32_t n = run < len ? run : len;

		memcpy(d, base + ibcc_fpdu_place(f, offset), n);
		d += n;
		offset += n;
		len -= n;
	}
}

/* Octets from the FPDU's first to its marker number i, and what that points over. */
static uint32_t marker_place(const struct ibcc_fpdu *f, uint32_t i)
{
	return first_run(f) + i * f->spacing;
}

static uint32_t marker_pointer(const struct ibcc_fpdu *f, uint32_t i)
{
	uint32_t length_at = ibcc_fpdu_place(f, 0), at = marker_place(f, i);

	return at < length_at ? 0 : at - length_at;
}

void ibcc_fpdu_write_payload(const struct ibcc_fpdu *f, uint8_t *base, size_t header_bytes,
			     const void *payload, uint32_t len)
{
	ibcc_fpdu_write(f, base, LENGTH + (uint32_t)header_bytes, payload, len);
}

void ibcc_fpdu_write_markers(const struct ibcc_fpdu *f, uint8_t *base)
{
	uint32_t n = ibcc_fpdu_markers(f);

	for (uint32_t i = 0; i < n; i++)
		ibcc_put32(base + marker_place(f, i), marker_pointer(f, i));
}

void ibcc_fpdu_write_header(const struct ibcc_fpdu *f, uint8_t *base, const struct ibcc_ddp *d)
{
	static const uint8_t zero[3];
	uint8_t head[LENGTH + IBCC_DDP_MAX_BYTES];
	uint32_t end = LENGTH + f->ulpdu_bytes;
	size_t n;

	ibcc_put16(head, (uint16_t)f->ulpdu_bytes);
	n = LENGTH + ibcc_ddp_encode(d, head + LENGTH);
	ibcc_fpdu_write(f, base, 0, head, (uint32_t)n);
	ibcc_fpdu_write(f, base, end, zero, align4(end) - end);
}

/* The CRC is stored with its least significant octet first. */
static void put_crc(uint8_t *p, uint32_t crc)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(crc >> 8 * i);
}

void ibcc_fpdu_write_crc(const struct ibcc_fpdu *f, uint8_t *base, enum ibcc_crc32c crc)
{
	uint32_t covered = ibcc_fpdu_bytes(f) - CRC;

	put_crc(base + covered, ibcc_crc32c(crc, 0, base, covered));
}

struct gather {
	const struct ibcc_fpdu *f;
	uint8_t *scratch;
	struct iovec *piece;
	size_t n;
	uint32_t offset, marker; /* next data octet, next marker */
};

static void add_piece(struct gather *g, const void *p, uint32_t len)
{
	struct iovec *last = g->n ? &g->piece[g->n - 1] : NULL;

	if (last && (const uint8_t *)last->iov_base + last->iov_len == p)
		last->iov_len += len;
	else
		g->piece[g->n++] =
			(struct iovec){ .iov_base = (void *)(uintptr_t)p, .iov_len = len };
}

/* Appends data octets with the markers before and among them. What is not payload is copied to the
 * scratch memory, so that it makes one piece with the markers beside it.
 */
static void add_data(struct gather *g, const uint8_t *p, uint32_t len, bool copied)
{
	while (len) {
		uint32_t run = ibcc_fpdu_run(g->f, g->offset), n = run < len ? run : len;

		if (markers_before(g->f, g->offset) > g->marker) {
			ibcc_put32(g->scratch, marker_pointer(g->f, g->marker++));
			add_piece(g, g->scratch, MARKER);
			g->scratch += MARKER;
		}
		if (copied) {
			memcpy(g->scratch, p, n);
			add_piece(g, g->scratch, n);
			g->scratch += n;
		} else {
			add_piece(g, p, n);
		}
		p += n;
		g->offset += n;
		len -= n;
	}
}

size_t ibcc_fpdu_gather(const struct ibcc_fpdu *f, const struct ibcc_ddp *d, const void *payload,
			uint32_t len, enum ibcc_crc32c crc, uint8_t *scratch, struct iovec *piece)
{
	static const uint8_t zero[4];
	struct gather g = { .f = f, .scratch = scratch, .piece = piece };
	uint8_t head[LENGTH + IBCC_DDP_MAX_BYTES];
	uint32_t end = LENGTH + f->ulpdu_bytes, sum = 0;
	size_t n;

	ibcc_put16(head, (uint16_t)f->ulpdu_bytes);
	n = LENGTH + ibcc_ddp_encode(d, head + LENGTH);
	add_data(&g, head, (uint32_t)n, true);
	add_data(&g, payload, len, false);
	add_data(&g, zero, align4(end) - end, true);
	/* The CRC is added last, since a marker may be due before it. */
	add_data(&g, zero, CRC, true);
	for (size_t i = 0; i < g.n; i++)
		sum = ibcc_crc32c(crc, sum, piece[i].iov_base,
				  piece[i].iov_len - (i + 1 == g.n ? CRC : 0));
	put_crc(g.scratch - CRC, sum);
	return g.n;
}

enum ibcc_mpa_error ibcc_fpdu_find(const struct ibcc_mpa_rules *r, uint64_t at, const uint8_t *base,
				   size_t len, struct ibcc_fpdu *f, bool *whole)
{
	uint32_t length_at;

	*f = (struct ibcc_fpdu){ .at = at, .spacing = r->spacing };
	*whole = false;
	length_at = ibcc_fpdu_place(f, 0);
	if (len < length_at + LENGTH)
		return IBCC_MPA_OK;
	f->ulpdu_bytes = ibcc_get16(base + length_at);
	if (f->ulpdu_bytes < IBCC_DDP_TAGGED_BYTES ||
	    f->ulpdu_bytes > ibcc_fpdu_max_ulpdu(r->spacing))
		return IBCC_MPA_BAD_LENGTH;
	*whole = len >= ibcc_fpdu_bytes(f);
	return IBCC_MPA_OK;
}

enum ibcc_mpa_error ibcc_fpdu_check_markers(const struct ibcc_fpdu *f, const uint8_t *base)
{
	uint32_t n = ibcc_fpdu_markers(f);

	for (uint32_t i = 0; i < n; i++)
		if (ibcc_get32(base + marker_place(f, i)) != marker_pointer(f, i))
			return IBCC_MPA_BAD_MARKER;
	return IBCC_MPA_OK;
}

enum ibcc_mpa_error ibcc_fpdu_check_crc(const struct ibcc_fpdu *f, const uint8_t *base,
					enum ibcc_crc32c crc)
{
	uint32_t covered = ibcc_fpdu_bytes(f) - CRC;
	uint8_t want[CRC];

	if (crc == IBCC_CRC32C_NONE)
		return IBCC_MPA_OK;
	put_crc(want, ibcc_crc32c(crc, 0, base, covered));
	return memcmp(want, base + covered, CRC) ? IBCC_MPA_BAD_CRC : IBCC_MPA_OK;
}

enum ibcc_mpa_error ibcc_fpdu_header(const struct ibcc_fpdu *f, const uint8_t *base,
				     struct ibcc_ddp *d, size_t *header_bytes,
				     uint32_t *payload_bytes)
{
	uint8_t head[IBCC_DDP_MAX_BYTES];
	uint32_t n = f->ulpdu_bytes < sizeof(head) ? f->ulpdu_bytes : (uint32_t)sizeof(head);
	enum ibcc_mpa_error e;

	ibcc_fpdu_read(f, base, LENGTH, head, n);
	e = ibcc_ddp_decode(head, n, d, header_bytes);
	*payload_bytes = e ? 0 : f->ulpdu_bytes - (uint32_t)*header_bytes;
	return e;
}
