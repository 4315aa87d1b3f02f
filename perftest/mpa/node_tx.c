/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sending: the host's part in the call, and the NIC's part in its thread. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include <ibcc/now.h>

#include "perftest/mpa/node_private.h"

#define MAX_PIECES 1024u /* pieces in one write, the kernel's limit (IOV_MAX) */

/* Cuts the next FPDU off a message. */
static void next_fpdu(const struct ibcc_mpa_node *n, struct ibcc_mpa_work *w, uint64_t at,
		      struct ibcc_mpa_item *i)
{
	i->payload_bytes = w->len < n->o.payload_bytes ? w->len : n->o.payload_bytes;
	i->ddp = w->ddp;
	i->ddp.last = i->payload_bytes == w->len;
	i->header_bytes = (uint32_t)ibcc_ddp_bytes(&i->ddp);
	i->fpdu = (struct ibcc_fpdu){ .at = at,
				      .spacing = n->o.rules.spacing,
				      .ulpdu_bytes = i->header_bytes + i->payload_bytes };
	w->ddp.to += i->payload_bytes;
	w->ddp.mo += i->payload_bytes;
	w->len -= i->payload_bytes;
}

static void count_fpdu(struct ibcc_mpa_node *n, const struct ibcc_mpa_item *i)
{
	struct ibcc_mpa_counts *c = &n->tx.counts;

	c->fpdus++;
	c->payload_bytes += i->payload_bytes;
	c->wire_bytes += ibcc_fpdu_bytes(&i->fpdu);
}

/* Adds headers and CRC. With a CRC, whichever side does this reads all of the FPDU. */
static void finish(struct ibcc_mpa_node *n, const struct ibcc_mpa_item *i, uint8_t *base,
		   uint64_t *touched)
{
	ibcc_fpdu_write_header(&i->fpdu, base, &i->ddp);
	ibcc_fpdu_write_crc(&i->fpdu, base, n->o.rules.crc);
	if (n->o.rules.crc != IBCC_CRC32C_NONE)
		*touched += i->payload_bytes;
}

/* Copies the payload, which makes room for markers. */
static void copy_in(const struct ibcc_mpa_item *i, uint8_t *base, const uint8_t *payload,
		    uint64_t *touched)
{
	ibcc_fpdu_write_payload(&i->fpdu, base, i->header_bytes, payload, i->payload_bytes);
	ibcc_fpdu_write_markers(&i->fpdu, base);
	*touched += 2ull * i->payload_bytes;
}

/* Fills a chunk with FPDUs of a message that has *left octets of payload left. */
static void fill(struct ibcc_mpa_node *n, struct ibcc_mpa_chunk *c, struct ibcc_mpa_work *w,
		 uint32_t *left, bool finished, uint64_t *touched)
{
	c->len = c->n_items = 0;
	do {
		struct ibcc_mpa_item *i = &c->item[c->n_items++];
		uint8_t *base = c->memory + c->len;

		next_fpdu(n, w, n->tx.at, i);
		i->place = (uint32_t)c->len;
		copy_in(i, base, w->payload, touched);
		if (finished)
			finish(n, i, base, touched);
		count_fpdu(n, i);
		w->payload += i->payload_bytes;
		*left -= i->payload_bytes;
		c->len += ibcc_fpdu_bytes(&i->fpdu);
		n->tx.at += ibcc_fpdu_bytes(&i->fpdu);
	} while (*left && c->len < IBCC_MPA_CHUNK_BYTES);
}

/* The host's part in designs in which it makes the FPDUs, or half of them. */
static int fill_chunks(struct ibcc_mpa_node *n, struct ibcc_mpa_work *w)
{
	uint32_t left = w->len;

	do {
		struct ibcc_mpa_chunk *c = ibcc_mpa_ring_take(&n->tx.idle);

		if (!c)
			return -EPIPE;
		fill(n, c, w, &left, n->o.design == IBCC_MPA_HOST_BASED,
		     &n->tx.counts.touched.host);
		/* The NIC gets the chunk in one piece. */
		n->tx.counts.pieces += c->n_items;
		if (!ibcc_mpa_ring_give(&n->tx.ready, c))
			return -EPIPE;
	} while (left);
	return 0;
}

int ibcc_mpa_node_post(struct ibcc_mpa_node *n, const struct ibcc_ddp *d, const void *payload,
		       uint32_t len)
{
	struct ibcc_mpa_work *w = &n->work[n->posted % IBCC_MPA_RING];
	struct ibcc_mpa_work now = { .ddp = *d, .payload = payload ? payload : "", .len = len };
	uint32_t queue = d->opcode == IBCC_RDMAP_READ_REQUEST ? IBCC_DDP_QN_READ
			 : d->opcode == IBCC_RDMAP_TERMINATE  ? IBCC_DDP_QN_TERMINATE
							      : IBCC_DDP_QN_SEND;
	bool tagged = d->opcode == IBCC_RDMAP_WRITE || d->opcode == IBCC_RDMAP_READ_RESPONSE, ended;

	now.ddp.mo = 0;
	now.ddp.msn = tagged ? 0 : ++n->msn[queue];
	if (n->o.design != IBCC_MPA_HOST_OFFLOADED) {
		int rc = fill_chunks(n, &now);

		/* The payload has been copied. */
		pthread_mutex_lock(&n->lock);
		n->on_way = ++n->posted;
		pthread_mutex_unlock(&n->lock);
		return rc;
	}
	/* A free place in the ring is not enough: the NIC may still work on the chunk's memory. */
	pthread_mutex_lock(&n->lock);
	while (n->posted - n->on_way == IBCC_MPA_RING && !n->ended)
		pthread_cond_wait(&n->sent, &n->lock);
	ended = n->ended;
	pthread_mutex_unlock(&n->lock);
	if (ended)
		return -EPIPE;
	*w = now;
	n->posted++;
	return ibcc_mpa_ring_give(&n->tx.ready, w) ? 0 : -EPIPE;
}

/* Sends all of the pieces, however much the socket takes at a time. */
static bool put(struct ibcc_mpa_node *n, struct iovec *piece, size_t n_pieces)
{
	while (n_pieces) {
		struct msghdr m = { .msg_iov = piece,
				    .msg_iovlen = n_pieces < MAX_PIECES ? n_pieces : MAX_PIECES };
		ssize_t done = sendmsg(n->fd, &m, MSG_NOSIGNAL);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return false;
		for (; n_pieces && (size_t)done >= piece->iov_len; n_pieces--)
			done -= (ssize_t)(piece++)->iov_len;
		if (n_pieces) {
			piece->iov_base = (uint8_t *)piece->iov_base + done;
			piece->iov_len -= (size_t)done;
		}
	}
	return true;
}

/* Sends in the coupled design: the socket fetches pieces of the application's memory, as a NIC
 * would by DMA.
 */
static bool send_gathered(struct ibcc_mpa_node *n, struct ibcc_mpa_work *w, uint8_t *scratch)
{
	struct iovec piece[MAX_PIECES + 2 * (IBCC_MPA_MAX_FPDU / IBCC_MPA_MIN_SPACING) + 3];
	struct ibcc_mpa_counts *c = &n->tx.counts;
	struct ibcc_mpa_item i;
	size_t n_pieces = 0, used = 0;

	do {
		size_t add;

		next_fpdu(n, w, n->tx.at, &i);
		add = ibcc_fpdu_gather(&i.fpdu, &i.ddp, w->payload, i.payload_bytes, n->o.rules.crc,
				       scratch + used, piece + n_pieces);
		n_pieces += add;
		used += IBCC_FPDU_SCRATCH(ibcc_fpdu_markers(&i.fpdu));
		c->pieces += add;
		if (n->o.rules.crc != IBCC_CRC32C_NONE)
			c->touched.nic += i.payload_bytes;
		count_fpdu(n, &i);
		w->payload += i.payload_bytes;
		n->tx.at += ibcc_fpdu_bytes(&i.fpdu);
	} while (w->len && n_pieces < MAX_PIECES && used < IBCC_MPA_CHUNK_BYTES);
	return put(n, piece, n_pieces);
}

/* Sends in the decoupled design: one piece goes into the NIC's memory, and is moved once more there
 * to make room for markers.
 */
static bool send_moved(struct ibcc_mpa_node *n, struct ibcc_mpa_work *w, struct ibcc_mpa_chunk *c)
{
	uint8_t *fetched = n->tx.chunk[1].memory;
	uint32_t take = w->len, left;
	const uint8_t *behind;

	/* Whole FPDUs at a time. */
	if (take > IBCC_MPA_CHUNK_BYTES)
		take = IBCC_MPA_CHUNK_BYTES / n->o.payload_bytes * n->o.payload_bytes;
	if (take)
		memcpy(fetched, w->payload, take);
	n->tx.counts.touched.nic += 2ull * take;
	n->tx.counts.pieces++;
	behind = w->payload + take;
	w->payload = fetched;
	left = take;
	do {
		struct iovec all;

		fill(n, c, w, &left, true, &n->tx.counts.touched.nic);
		all = (struct iovec){ c->memory, c->len };
		if (!put(n, &all, 1))
			return false;
	} while (left);
	w->payload = behind;
	return true;
}

static bool send_work(struct ibcc_mpa_node *n, struct ibcc_mpa_work *w)
{
	struct ibcc_mpa_chunk *c = &n->tx.chunk[0];

	do {
		if (!(n->o.decoupled ? send_moved(n, w, c) : send_gathered(n, w, c->memory)))
			return false;
	} while (w->len);
	pthread_mutex_lock(&n->lock);
	n->on_way++;
	pthread_cond_signal(&n->sent);
	pthread_mutex_unlock(&n->lock);
	return true;
}

static bool send_chunk(struct ibcc_mpa_node *n, struct ibcc_mpa_chunk *c)
{
	struct iovec all = { c->memory, c->len };

	if (n->o.design == IBCC_MPA_HOST_ASSISTED)
		for (size_t i = 0; i < c->n_items; i++)
			finish(n, &c->item[i], c->memory + c->item[i].place,
			       &n->tx.counts.touched.nic);
	if (!put(n, &all, 1))
		return false;
	return ibcc_mpa_ring_give(&n->tx.idle, c);
}

void *ibcc_mpa_node_sender(void *node)
{
	struct ibcc_mpa_node *n = node;
	bool ok = true;
	void *next;

	while (ok && (next = ibcc_mpa_ring_take(&n->tx.ready)))
		ok = n->o.design == IBCC_MPA_HOST_OFFLOADED ? send_work(n, next)
							    : send_chunk(n, next);
	if (!ok)
		ibcc_mpa_node_end(n, IBCC_MPA_OK);
	n->tx.counts.nic_cpu_s = ibcc_now_cpu_s();
	return NULL;
}
