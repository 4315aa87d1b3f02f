/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/mpa/ddp.h"

#include <string.h>

#include "perftest/mpa/octets.h"

#define DDP_TAGGED    0x80
#define DDP_LAST      0x40
#define DDP_VERSION   0x01 /* of 2 bits */
#define RDMAP_VERSION 0x40 /* 01 in the upper 2 bits */
#define MPA_MARKERS   0x80
#define MPA_CRC       0x40
#define MPA_REJECT    0x20
#define MPA_REVISION  1
#define KEY_BYTES     16u

static const char key_request[KEY_BYTES + 1] = "MPA ID Req Frame";
static const char key_reply[KEY_BYTES + 1] = "MPA ID Rep Frame";

const char *ibcc_mpa_error_name(enum ibcc_mpa_error e)
{
	static const char *const names[IBCC_MPA_N_ERRORS] = {
		[IBCC_MPA_OK] = "none",
		[IBCC_MPA_BAD_STARTUP] = "no MPA startup frame",
		[IBCC_MPA_BAD_REVISION] = "unknown MPA revision",
		[IBCC_MPA_REJECTED] = "rejected by the peer",
		[IBCC_MPA_BAD_LENGTH] = "wrong ULPDU length",
		[IBCC_MPA_BAD_MARKER] = "wrong marker",
		[IBCC_MPA_BAD_CRC] = "wrong CRC",
		[IBCC_MPA_BAD_GUESS] = "no FPDU where one was placed",
		[IBCC_MPA_TRUNCATED] = "end of stream within an FPDU",
		[IBCC_MPA_BAD_DDP_VERSION] = "unknown DDP version",
		[IBCC_MPA_BAD_STAG] = "invalid STag",
		[IBCC_MPA_BAD_BOUNDS] = "outside of the region",
		[IBCC_MPA_BAD_QUEUE] = "invalid queue number",
		[IBCC_MPA_NO_BUFFER] = "no buffer for this MSN",
		[IBCC_MPA_BAD_OFFSET] = "wrong message offset",
		[IBCC_MPA_TOO_LONG] = "message longer than its buffer",
		[IBCC_MPA_BAD_RDMAP_VERSION] = "unknown RDMAP version",
		[IBCC_MPA_BAD_OPCODE] = "unexpected opcode",
		[IBCC_MPA_BAD_REQUEST] = "malformed read request",
		[IBCC_MPA_TERMINATED] = "terminated by the peer",
	};

	return names[e];
}

/* Which of the two models an opcode is sent by, and on which queue. */
static bool is_tagged(enum ibcc_rdmap_opcode op)
{
	return op == IBCC_RDMAP_WRITE || op == IBCC_RDMAP_READ_RESPONSE;
}

static uint32_t queue_of(enum ibcc_rdmap_opcode op)
{
	return op == IBCC_RDMAP_READ_REQUEST ? IBCC_DDP_QN_READ
	       : op == IBCC_RDMAP_TERMINATE  ? IBCC_DDP_QN_TERMINATE
					     : IBCC_DDP_QN_SEND;
}

size_t ibcc_ddp_bytes(const struct ibcc_ddp *d)
{
	return is_tagged(d->opcode) ? IBCC_DDP_TAGGED_BYTES : IBCC_DDP_UNTAGGED_BYTES;
}

size_t ibcc_ddp_encode(const struct ibcc_ddp *d, uint8_t out[IBCC_DDP_MAX_BYTES])
{
	bool tagged = is_tagged(d->opcode);

	out[0] = (uint8_t)(DDP_VERSION | (tagged ? DDP_TAGGED : 0) | (d->last ? DDP_LAST : 0));
	out[1] = (uint8_t)(RDMAP_VERSION | d->opcode);
	ibcc_put32(out + 2, d->stag);
	if (tagged) {
		ibcc_put64(out + 6, d->to);
		return IBCC_DDP_TAGGED_BYTES;
	}
	ibcc_put32(out + 6, queue_of(d->opcode));
	ibcc_put32(out + 10, d->msn);
	ibcc_put32(out + 14, d->mo);
	return IBCC_DDP_UNTAGGED_BYTES;
}

enum ibcc_mpa_error ibcc_ddp_decode(const uint8_t *p, size_t len, struct ibcc_ddp *d, size_t *bytes)
{
	if (len < 2)
		return IBCC_MPA_BAD_LENGTH;
	*bytes = p[0] & DDP_TAGGED ? IBCC_DDP_TAGGED_BYTES : IBCC_DDP_UNTAGGED_BYTES;
	if ((p[0] & 0x03) != DDP_VERSION)
		return IBCC_MPA_BAD_DDP_VERSION;
	if ((p[1] & 0xc0) != RDMAP_VERSION)
		return IBCC_MPA_BAD_RDMAP_VERSION;
	if (len < *bytes)
		return IBCC_MPA_BAD_LENGTH;
	*d = (struct ibcc_ddp){ .tagged = p[0] & DDP_TAGGED, .last = p[0] & DDP_LAST };
	if ((p[1] & 0x0f) >= IBCC_RDMAP_N_OPCODES)
		return IBCC_MPA_BAD_OPCODE;
	d->opcode = (enum ibcc_rdmap_opcode)(p[1] & 0x0f);
	if (is_tagged(d->opcode) != d->tagged)
		return IBCC_MPA_BAD_OPCODE;
	d->stag = ibcc_get32(p + 2);
	if (d->tagged) {
		d->to = ibcc_get64(p + 6);
		return IBCC_MPA_OK;
	}
	d->qn = ibcc_get32(p + 6);
	d->msn = ibcc_get32(p + 10);
	d->mo = ibcc_get32(p + 14);
	if (d->qn >= IBCC_DDP_N_QUEUES)
		return IBCC_MPA_BAD_QUEUE;
	return d->qn == queue_of(d->opcode) ? IBCC_MPA_OK : IBCC_MPA_BAD_OPCODE;
}

void ibcc_rdmap_read_encode(const struct ibcc_rdmap_read *r, uint8_t out[IBCC_RDMAP_READ_BYTES])
{
	ibcc_put32(out, r->sink_stag);
	ibcc_put64(out + 4, r->sink_to);
	ibcc_put32(out + 12, r->size_bytes);
	ibcc_put32(out + 16, r->source_stag);
	ibcc_put64(out + 20, r->source_to);
}

void ibcc_rdmap_read_decode(const uint8_t in[IBCC_RDMAP_READ_BYTES], struct ibcc_rdmap_read *r)
{
	*r = (struct ibcc_rdmap_read){
		.sink_stag = ibcc_get32(in),
		.sink_to = ibcc_get64(in + 4),
		.size_bytes = ibcc_get32(in + 12),
		.source_stag = ibcc_get32(in + 16),
		.source_to = ibcc_get64(in + 20),
	};
}

size_t ibcc_mpa_startup_encode(const struct ibcc_mpa_startup *s, uint8_t out[IBCC_MPA_MAX_STARTUP])
{
	memcpy(out, s->reply ? key_reply : key_request, KEY_BYTES);
	out[16] = (uint8_t)((s->markers ? MPA_MARKERS : 0) | (s->crc ? MPA_CRC : 0) |
			    (s->reject ? MPA_REJECT : 0));
	out[17] = MPA_REVISION;
	ibcc_put16(out + 18, s->private_bytes);
	memcpy(out + IBCC_MPA_STARTUP_BYTES, s->private_data, s->private_bytes);
	return IBCC_MPA_STARTUP_BYTES + s->private_bytes;
}

enum ibcc_mpa_error ibcc_mpa_startup_decode(const uint8_t *p, size_t len, bool reply,
					    struct ibcc_mpa_startup *s, size_t *bytes)
{
	const char *key = reply ? key_reply : key_request;

	*bytes = 0;
	/* The first wrong octet shows that the peer is not ours, so no more octets are awaited. */
	if (memcmp(p, key, len < KEY_BYTES ? len : KEY_BYTES))
		return IBCC_MPA_BAD_STARTUP;
	if (len < IBCC_MPA_STARTUP_BYTES)
		return IBCC_MPA_OK;
	*s = (struct ibcc_mpa_startup){ .reply = reply,
					.markers = p[16] & MPA_MARKERS,
					.crc = p[16] & MPA_CRC,
					.reject = reply && (p[16] & MPA_REJECT),
					.private_bytes = ibcc_get16(p + 18) };
	if (p[17] != MPA_REVISION)
		return IBCC_MPA_BAD_REVISION;
	if (s->private_bytes > IBCC_MPA_MAX_PRIVATE)
		return IBCC_MPA_BAD_LENGTH;
	if (len < IBCC_MPA_STARTUP_BYTES + s->private_bytes)
		return IBCC_MPA_OK;
	memcpy(s->private_data, p + IBCC_MPA_STARTUP_BYTES, s->private_bytes);
	*bytes = IBCC_MPA_STARTUP_BYTES + s->private_bytes;
	return s->reject ? IBCC_MPA_REJECTED : IBCC_MPA_OK;
}
