/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A queue of MADs in front of a datagram socket: what one turn of the loop puts there goes out
 * together, and what the socket does not take waits in a bounded queue.
 */
#ifndef SIM_SENDQ_H
#define SIM_SENDQ_H

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "sim/wire.h"

struct ibcc_sendq {
	int fd;                /* not owned */
	sd_event_source *src;  /* not owned; gets EPOLLOUT while the socket takes no more */
	sd_event_source *soon; /* sends the gathered MADs */
	struct ibcc_wire_mad *ring;
	unsigned int head, n, cap, max;
	bool blocked;
	uint64_t dropped; /* MADs that did not fit */
};

/* `src` watches fd in the loop of `ev`. 0 or -errno; a queue that failed may be finished, too. */
int ibcc_sendq_init(struct ibcc_sendq *q, sd_event *ev, int fd, sd_event_source *src,
		    unsigned int max);
void ibcc_sendq_fini(struct ibcc_sendq *q);

/* Queues a MAD, or drops it when the queue is full, which is counted. If the other end is gone, the
 * owner will notice that when it reads.
 */
void ibcc_sendq_put(struct ibcc_sendq *q, const struct ibcc_wire_mad *m);

/* The socket is writable again: sends what it takes. */
void ibcc_sendq_flush(struct ibcc_sendq *q);

#endif
