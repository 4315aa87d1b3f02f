/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Receiving in the order of the stream: the NIC's part in its thread, and the host's part. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include <ibcc/now.h>

#include "perftest/mpa/node_private.h"

/* Finds the FPDUs of a chunk and checks them. What is behind the last whole one is left over for
 * the next chunk. If the last chunk left something over, this one begins within its head room.
 */
static enum ibcc_mpa_error demultiplex(struct ibcc_mpa_node *n, struct ibcc_mpa_chunk *c,
				       uint64_t *touched)
{
	size_t at = IBCC_MPA_MAX_FPDU - n->rest_bytes, end = IBCC_MPA_MAX_FPDU + c->len;
	enum ibcc_mpa_error e = IBCC_MPA_OK;
	bool whole = true;

	memcpy(c->memory + at, n->rest, n->rest_bytes);
	c->n_items = 0;
	while (!e && whole && at < end) {
		struct ibcc_mpa_item *i = &c->item[c->n_items];
		const uint8_t *p = c->memory + at;
		size_t header;

		e = ibcc_fpdu_find(&n->o.rules, n->rx.at, p, end - at, &i->fpdu, &whole);
		if (e || !whole)
			break;
		e = ibcc_fpdu_check_markers(&i->fpdu, p);
		if (!e)
			e = ibcc_fpdu_check_crc(&i->fpdu, p, n->o.rules.crc);
		if (!e)
			e = ibcc_fpdu_header(&i->fpdu, p, &i->ddp, &header, &i->payload_bytes);
		if (e)
			break;
		i->header_bytes = (uint32_t)header;
		i->place = (uint32_t)at;
		if (n->o.rules.crc != IBCC_CRC32C_NONE)
			*touched += i->payload_bytes;
		n->rx.at += ibcc_fpdu_bytes(&i->fpdu);
		at += ibcc_fpdu_bytes(&i->fpdu);
		c->n_items++;
	}
	if (e)
		return e; /* the rest may be more than an FPDU, and is not used */
	n->rest_bytes = end - at;
	memcpy(n->rest, c->memory + at, n->rest_bytes);
	return IBCC_MPA_OK;
}

/* Puts the payload where it belongs. *messages is the number of complete untagged messages. */
static enum ibcc_mpa_error place(struct ibcc_mpa_node *n, const struct ibcc_mpa_chunk *c,
				 uint64_t *touched, uint64_t *messages)
{
	struct ibcc_mpa_counts *counts = &n->rx.counts;

	for (size_t k = 0; k < c->n_items; k++) {
		const struct ibcc_mpa_item *i = &c->item[k];
		struct ibcc_mpa_event ev;
		enum ibcc_mpa_error e;
		bool complete;
		uint8_t *to;

		e = ibcc_mpa_sink_target(n->sink, &i->ddp, i->payload_bytes, &to);
		if (e)
			return e;
		ibcc_fpdu_read(&i->fpdu, c->memory + i->place,
			       IBCC_MPA_LENGTH_BYTES + i->header_bytes, to, i->payload_bytes);
		*touched += 2ull * i->payload_bytes;
		counts->fpdus++;
		counts->payload_bytes += i->payload_bytes;
		counts->wire_bytes += ibcc_fpdu_bytes(&i->fpdu);
		e = ibcc_mpa_sink_deliver(n->sink, &i->ddp, i->payload_bytes, &ev, &complete);
		if (e)
			return e;
		*messages += complete && !i->ddp.tagged;
	}
	return IBCC_MPA_OK;
}

enum ibcc_mpa_error ibcc_mpa_node_take(struct ibcc_mpa_node *n, struct ibcc_mpa_chunk *c)
{
	uint64_t *touched = &n->rx.counts.touched.host;
	enum ibcc_mpa_error e = IBCC_MPA_OK, placed;

	if (n->o.design == IBCC_MPA_HOST_BASED)
		e = demultiplex(n, c, touched);
	/* Octets before an error are delivered. */
	placed = place(n, c, touched, &n->delivered);
	return placed ? placed : e;
}

/* Does the NIC's part of a chunk. False when the connection is over. */
static bool pass_on(struct ibcc_mpa_node *n, struct ibcc_mpa_chunk *c)
{
	uint64_t *touched = &n->rx.counts.touched.nic, messages = 0;
	enum ibcc_mpa_error e = IBCC_MPA_OK, placed = IBCC_MPA_OK;

	if (n->o.design == IBCC_MPA_HOST_BASED)
		return ibcc_mpa_ring_give(&n->rx.ready, c);
	e = demultiplex(n, c, touched);
	if (n->o.design == IBCC_MPA_HOST_ASSISTED) {
		if (!ibcc_mpa_ring_give(&n->rx.ready, c))
			return false;
	} else {
		placed = place(n, c, touched, &messages);
		ibcc_mpa_ring_give(&n->rx.idle, c);
		if (messages)
			ibcc_mpa_node_delivered(n, messages);
	}
	e = placed ? placed : e;
	if (e)
		ibcc_mpa_node_end(n, e);
	return !e;
}

void *ibcc_mpa_node_receiver(void *node)
{
	struct ibcc_mpa_node *n = node;
	struct ibcc_mpa_chunk *c;
	bool ok = true;

	while (ok && (c = ibcc_mpa_ring_take(&n->rx.idle))) {
		ssize_t got;

		do
			got = recv(n->fd, c->memory + IBCC_MPA_MAX_FPDU, IBCC_MPA_CHUNK_BYTES, 0);
		while (got < 0 && errno == EINTR);
		if (got <= 0)
			break;
		c->len = (size_t)got;
		ok = pass_on(n, c);
	}
	/* The host can still take what has come. */
	if (ok)
		ibcc_mpa_node_end(n, n->o.design != IBCC_MPA_HOST_BASED && n->rest_bytes
					     ? IBCC_MPA_TRUNCATED
					     : IBCC_MPA_OK);
	n->rx.counts.nic_cpu_s = ibcc_now_cpu_s();
	return NULL;
}
