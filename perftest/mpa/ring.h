/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A bounded queue that hands work from one thread to another. Both may wait at it. */
#ifndef PERFTEST_MPA_RING_H
#define PERFTEST_MPA_RING_H

#include <pthread.h>
#include <stdbool.h>

/* How far one thread may be ahead of the other, in every design. The farther it is, the less often
 * the threads take turns. So a design with more room would be faster only for that reason.
 */
#define IBCC_MPA_RING 16u

struct ibcc_mpa_ring {
	pthread_mutex_t lock;
	pthread_cond_t moved;
	void *item[IBCC_MPA_RING];
	unsigned int head, tail; /* number of items taken and given since the start */
	bool closed;
};

void ibcc_mpa_ring_init(struct ibcc_mpa_ring *r);
void ibcc_mpa_ring_fini(struct ibcc_mpa_ring *r);
/* Waits for room; false if the ring is closed. */
bool ibcc_mpa_ring_give(struct ibcc_mpa_ring *r, void *item);
/* Waits for an item; NULL if the ring is closed and empty. */
void *ibcc_mpa_ring_take(struct ibcc_mpa_ring *r);
/* Ends all waiting; items in the ring can still be taken. */
void ibcc_mpa_ring_close(struct ibcc_mpa_ring *r);

#endif
