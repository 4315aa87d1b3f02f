/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A datagram socket with a bounded queue of MADs that it did not take yet. */
#ifndef SIM_SENDQ_H
#define SIM_SENDQ_H

#include <stdint.h>
#include <sys/queue.h>
#include <systemd/sd-event.h>

#include "sim/wire.h"

struct ibcc_sendq_item {
	STAILQ_ENTRY(ibcc_sendq_item) link;
	struct ibcc_wire_mad m;
};

struct ibcc_sendq {
	int fd;               /* not owned */
	sd_event_source *src; /* not owned; gets EPOLLOUT while the queue is not empty */
	STAILQ_HEAD(, ibcc_sendq_item) items;
	unsigned int n, max;
	uint64_t dropped; /* did not fit */
};

void ibcc_sendq_init(struct ibcc_sendq *q, int fd, sd_event_source *src, unsigned int max);
void ibcc_sendq_fini(struct ibcc_sendq *q);

/* Sends or queues. Returns 0 (also when it had to be dropped, which is counted), or the socket's
 * -errno when the other end is gone.
 */
int ibcc_sendq_put(struct ibcc_sendq *q, const struct ibcc_wire_mad *m);

/* The socket is writable again: sends what it takes. 0 or -errno as above. */
int ibcc_sendq_flush(struct ibcc_sendq *q);

#endif
