/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/mpa/ring.h"

#include <stddef.h>

void ibcc_mpa_ring_init(struct ibcc_mpa_ring *r)
{
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->moved, NULL);
	r->head = r->tail = 0;
	r->closed = false;
}

void ibcc_mpa_ring_fini(struct ibcc_mpa_ring *r)
{
	pthread_cond_destroy(&r->moved);
	pthread_mutex_destroy(&r->lock);
}

bool ibcc_mpa_ring_give(struct ibcc_mpa_ring *r, void *item)
{
	bool given;

	pthread_mutex_lock(&r->lock);
	while (r->tail - r->head == IBCC_MPA_RING && !r->closed)
		pthread_cond_wait(&r->moved, &r->lock);
	given = !r->closed;
	if (given) {
		r->item[r->tail++ % IBCC_MPA_RING] = item;
		/* Either one thread waits for room or the other for an item, never both. */
		pthread_cond_signal(&r->moved);
	}
	pthread_mutex_unlock(&r->lock);
	return given;
}

void *ibcc_mpa_ring_take(struct ibcc_mpa_ring *r)
{
	void *item = NULL;

	pthread_mutex_lock(&r->lock);
	while (r->tail == r->head && !r->closed)
		pthread_cond_wait(&r->moved, &r->lock);
	if (r->tail != r->head) {
		item = r->item[r->head++ % IBCC_MPA_RING];
		pthread_cond_signal(&r->moved);
	}
	pthread_mutex_unlock(&r->lock);
	return item;
}

void ibcc_mpa_ring_close(struct ibcc_mpa_ring *r)
{
	pthread_mutex_lock(&r->lock);
	r->closed = true;
	pthread_cond_broadcast(&r->moved);
	pthread_mutex_unlock(&r->lock);
}
