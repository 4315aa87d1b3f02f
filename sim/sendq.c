/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Nobody may block the loop: what a socket does not take waits here, and what does not fit here is
 * dropped, as a switch would.
 */
#include "sim/sendq.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>

void ibcc_sendq_init(struct ibcc_sendq *q, int fd, sd_event_source *src, unsigned int max)
{
	*q = (struct ibcc_sendq){ .fd = fd, .src = src, .max = max };
	STAILQ_INIT(&q->items);
}

void ibcc_sendq_fini(struct ibcc_sendq *q)
{
	struct ibcc_sendq_item *it;

	while ((it = STAILQ_FIRST(&q->items))) {
		STAILQ_REMOVE_HEAD(&q->items, link);
		free(it);
	}
	q->n = 0;
}

/* 1 sent, 0 would block, -errno */
static int try_send(const struct ibcc_sendq *q, const struct ibcc_wire_mad *m)
{
	if (send(q->fd, m, sizeof(*m), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
		return 1;
	if (errno == EAGAIN || errno == ENOBUFS || errno == EINTR)
		return 0;
	return -errno;
}

int ibcc_sendq_put(struct ibcc_sendq *q, const struct ibcc_wire_mad *m)
{
	struct ibcc_sendq_item *it;
	int r;

	if (!q->n) {
		r = try_send(q, m);
		if (r)
			return r < 0 ? r : 0;
	}
	it = q->n < q->max ? malloc(sizeof(*it)) : NULL;
	if (!it) {
		q->dropped++;
		return 0;
	}
	it->m = *m;
	STAILQ_INSERT_TAIL(&q->items, it, link);
	if (!q->n++)
		sd_event_source_set_io_events(q->src, EPOLLIN | EPOLLOUT);
	return 0;
}

int ibcc_sendq_flush(struct ibcc_sendq *q)
{
	struct ibcc_sendq_item *it;
	int r;

	while ((it = STAILQ_FIRST(&q->items))) {
		r = try_send(q, &it->m);
		if (r <= 0)
			return r;
		STAILQ_REMOVE_HEAD(&q->items, link);
		free(it);
		q->n--;
	}
	return sd_event_source_set_io_events(q->src, EPOLLIN);
}
