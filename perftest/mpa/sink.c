/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/mpa/sink.h"

static bool may(const struct ibcc_mpa_region *r, enum ibcc_rdmap_opcode op)
{
	switch (op) {
	case IBCC_RDMAP_WRITE: return r->write;
	case IBCC_RDMAP_READ_REQUEST: return r->read;
	case IBCC_RDMAP_READ_RESPONSE: return r->read_sink;
	case IBCC_RDMAP_SEND:
	case IBCC_RDMAP_SEND_INVALIDATE:
	case IBCC_RDMAP_SEND_SE:
	case IBCC_RDMAP_SEND_SE_INVALIDATE:
	case IBCC_RDMAP_TERMINATE:
	case IBCC_RDMAP_N_OPCODES: break;
	}
	return false;
}

const struct ibcc_mpa_region *ibcc_mpa_sink_region(const struct ibcc_mpa_sink *s,
						   enum ibcc_rdmap_opcode op, uint32_t stag,
						   uint64_t to, uint64_t bytes,
						   enum ibcc_mpa_error *why)
{
	*why = IBCC_MPA_BAD_STAG;
	for (size_t i = 0; i < s->n_regions; i++) {
		const struct ibcc_mpa_region *r = &s->region[i];

		if (r->stag != stag || !may(r, op))
			continue;
		/* No sums here, since they could overflow. */
		if (to >= r->to && to - r->to <= r->len && bytes <= r->len - (to - r->to))
			return r;
		*why = IBCC_MPA_BAD_BOUNDS;
	}
	return NULL;
}

/* Number of buffers of a queue, the length of each and where the first is. */
static uint8_t *queue_buffers(struct ibcc_mpa_sink *s, uint32_t qn, uint32_t *n, uint32_t *len)
{
	switch (qn) {
	case IBCC_DDP_QN_SEND: return *n = s->n_buffers, *len = s->buffer_bytes, s->buffer;
	case IBCC_DDP_QN_READ:
		return *n = IBCC_MPA_MAX_READS, *len = IBCC_RDMAP_READ_BYTES, s->request[0];
	default: return *n = 1, *len = IBCC_MPA_MAX_TERMINATE, s->terminate;
	}
}

enum ibcc_mpa_error ibcc_mpa_sink_target(struct ibcc_mpa_sink *s, const struct ibcc_ddp *d,
					 uint32_t payload_bytes, uint8_t **to)
{
	const struct ibcc_mpa_region *r;
	enum ibcc_mpa_error why;
	uint32_t n, len;
	uint8_t *base;

	if (d->tagged) {
		r = ibcc_mpa_sink_region(s, d->opcode, d->stag, d->to, payload_bytes, &why);
		if (!r)
			return why;
		*to = r->base + (d->to - r->to);
		return IBCC_MPA_OK;
	}
	if (d->qn >= IBCC_DDP_N_QUEUES)
		return IBCC_MPA_BAD_QUEUE;
	base = queue_buffers(s, d->qn, &n, &len);
	/* Message numbers wrap around. */
	if (d->msn - 1 - s->delivered[d->qn] >= n)
		return IBCC_MPA_NO_BUFFER;
	if (d->mo > len || payload_bytes > len - d->mo)
		return d->qn == IBCC_DDP_QN_READ ? IBCC_MPA_BAD_REQUEST : IBCC_MPA_TOO_LONG;
	*to = base + (size_t)((d->msn - 1) % n) * len + d->mo;
	return IBCC_MPA_OK;
}

/* Reads a peer's request to read our memory. */
static enum ibcc_mpa_error read_request(const struct ibcc_mpa_sink *s, struct ibcc_mpa_event *ev)
{
	enum ibcc_mpa_error why = IBCC_MPA_OK;

	if (ev->bytes != IBCC_RDMAP_READ_BYTES)
		return IBCC_MPA_BAD_REQUEST;
	ibcc_rdmap_read_decode(ev->payload, &ev->read);
	if (!ibcc_mpa_sink_region(s, IBCC_RDMAP_READ_REQUEST, ev->read.source_stag,
				  ev->read.source_to, ev->read.size_bytes, &why))
		return why;
	return IBCC_MPA_OK;
}

static enum ibcc_mpa_error deliver_untagged(struct ibcc_mpa_sink *s, const struct ibcc_ddp *d,
					    uint32_t payload_bytes, struct ibcc_mpa_event *ev,
					    bool *complete)
{
	uint32_t q = d->qn, n, len;
	uint8_t *base = queue_buffers(s, q, &n, &len);

	if (d->msn != s->delivered[q] + 1)
		return IBCC_MPA_NO_BUFFER;
	if (d->mo != s->progress[q])
		return IBCC_MPA_BAD_OFFSET;
	s->progress[q] += payload_bytes;
	if (!d->last)
		return IBCC_MPA_OK;
	*ev = (struct ibcc_mpa_event){ .opcode = d->opcode,
				       .msn = d->msn,
				       .bytes = s->progress[q],
				       .stag = d->stag,
				       .payload = base + (size_t)((d->msn - 1) % n) * len };
	*complete = true;
	s->delivered[q]++;
	s->progress[q] = 0;
	if (q == IBCC_DDP_QN_READ)
		return read_request(s, ev);
	return q == IBCC_DDP_QN_TERMINATE ? IBCC_MPA_TERMINATED : IBCC_MPA_OK;
}

enum ibcc_mpa_error ibcc_mpa_sink_deliver(struct ibcc_mpa_sink *s, const struct ibcc_ddp *d,
					  uint32_t payload_bytes, struct ibcc_mpa_event *ev,
					  bool *complete)
{
	*complete = false;
	if (!d->tagged)
		return deliver_untagged(s, d, payload_bytes, ev, complete);
	s->tagged_bytes += payload_bytes;
	if (!d->last)
		return IBCC_MPA_OK;
	*ev = (struct ibcc_mpa_event){ .opcode = d->opcode,
				       .bytes = s->tagged_bytes,
				       .stag = d->stag };
	s->tagged_bytes = 0;
	*complete = true;
	return IBCC_MPA_OK;
}
