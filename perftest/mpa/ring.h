/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Work handed from one thread to another: a bounded queue that both may wait at. */
#ifndef PERFTEST_MPA_RING_H
#define PERFTEST_MPA_RING_H

#include <pthread.h>
#include <stdbool.h>

/* As far as one thread may be ahead of the other, in every design: the further, the less often they
 * take turns, so a design with more room would only be faster for that.
 */
#define IBCC_MPA_RING 16u

struct ibcc_mpa_ring {
	pthread_mutex_t lock;
	pthread_cond_t moved;
	void *item[IBCC_MPA_RING];
	unsigned int head, tail; /* of what is taken and given, counting on */
	bool closed;
};

void ibcc_mpa_ring_init(struct ibcc_mpa_ring *r);
void ibcc_mpa_ring_fini(struct ibcc_mpa_ring *r);
/* Waits for room; false if the ring is closed. */
bool ibcc_mpa_ring_give(struct ibcc_mpa_ring *r, void *item);
/* Waits for an item; NULL if the ring is closed and empty. */
void *ibcc_mpa_ring_take(struct ibcc_mpa_ring *r);
/* Nobody waits any more; what is in it can still be taken. */
void ibcc_mpa_ring_close(struct ibcc_mpa_ring *r);

#endif
