/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sends MADs on a datagram socket without ever waiting (sendq.h). What the socket does not take
 * waits in a ring, and what does not fit there is dropped, as a switch would. Datagrams go out in
 * batches, since a system call for each, and waking the other process for each, would cost more
 * than all the rest.
 */
#include "sim/sendq.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>

#define BATCH     64u /* MADs in a batch: that many are sent at once, without waiting for more */
#define RING_MIN  64u
#define RING_KEPT 1024u /* entries that stay allocated when the queue is empty */
#define PRIORITY  (-10) /* before all other event sources of the loop */

static int on_soon(sd_event_source *src, void *arg)
{
	(void)src;
	ibcc_sendq_flush(arg);
	return 0;
}

int ibcc_sendq_init(struct ibcc_sendq *q, sd_event *ev, int fd, sd_event_source *src,
		    unsigned int max)
{
	int r;

	*q = (struct ibcc_sendq){ .fd = fd, .src = src, .max = max };
	r = sd_event_add_defer(ev, &q->soon, on_soon, q);
	if (r >= 0)
		r = sd_event_source_set_enabled(q->soon, SD_EVENT_OFF);
	if (r >= 0)
		r = sd_event_source_set_priority(q->soon, PRIORITY);
	return r < 0 ? r : 0;
}

static void drop_all(struct ibcc_sendq *q)
{
	free(q->ring);
	q->ring = NULL;
	q->head = q->n = q->cap = 0;
}

void ibcc_sendq_fini(struct ibcc_sendq *q)
{
	q->soon = sd_event_source_disable_unref(q->soon);
	drop_all(q);
}

/* Makes room for one more MAD; the ring doubles up to the limit. */
static bool reserve(struct ibcc_sendq *q)
{
	unsigned int cap = q->cap ? 2 * q->cap : RING_MIN;
	struct ibcc_wire_mad *ring;

	if (q->n < q->cap)
		return true;
	if (q->n >= q->max)
		return false;
	ring = reallocarray(NULL, cap, sizeof(*ring));
	if (!ring)
		return false;
	for (unsigned int i = 0; i < q->n; i++)
		ring[i] = q->ring[(q->head + i) % q->cap];
	free(q->ring);
	q->ring = ring;
	q->cap = cap;
	q->head = 0;
	return true;
}

void ibcc_sendq_put(struct ibcc_sendq *q, const struct ibcc_wire_mad *m)
{
	if (!reserve(q)) {
		q->dropped++;
		return;
	}
	q->ring[(q->head + q->n++) % q->cap] = *m;
	if (q->blocked)
		return;
	if (q->n >= BATCH)
		ibcc_sendq_flush(q);
	else if (q->n == 1)
		sd_event_source_set_enabled(q->soon, SD_EVENT_ONESHOT);
}

/* Number of datagrams that the socket took; 0 if it takes none now, -errno when it is gone. */
static int send_batch(const struct ibcc_sendq *q)
{
	struct mmsghdr msg[BATCH] = { 0 };
	struct iovec iov[BATCH];
	unsigned int n = q->n < BATCH ? q->n : BATCH;
	int sent;

	for (unsigned int i = 0; i < n; i++) {
		iov[i].iov_base = &q->ring[(q->head + i) % q->cap];
		iov[i].iov_len = sizeof(*q->ring);
		msg[i].msg_hdr.msg_iov = &iov[i];
		msg[i].msg_hdr.msg_iovlen = 1;
	}
	sent = sendmmsg(q->fd, msg, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent >= 0)
		return sent;
	return errno == EAGAIN || errno == ENOBUFS || errno == EINTR ? 0 : -errno;
}

void ibcc_sendq_flush(struct ibcc_sendq *q)
{
	bool was = q->blocked;

	q->blocked = false;
	while (q->n && !q->blocked) {
		int sent = send_batch(q);

		if (sent < 0) {
			drop_all(q);
			break;
		}
		q->head = (q->head + (unsigned int)sent) % q->cap;
		q->n -= (unsigned int)sent;
		q->blocked = sent == 0;
	}
	if (q->blocked != was)
		sd_event_source_set_io_events(q->src, EPOLLIN | (q->blocked ? EPOLLOUT : 0));
	if (!q->n && q->cap > RING_KEPT)
		drop_all(q);
}
