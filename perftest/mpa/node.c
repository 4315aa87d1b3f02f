/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/mpa/node.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ibcc/now.h>

#include "perftest/mpa/node_private.h"

void ibcc_mpa_node_end(struct ibcc_mpa_node *n, enum ibcc_mpa_error e)
{
	pthread_mutex_lock(&n->lock);
	if (!n->error)
		n->error = e;
	n->ended = true;
	pthread_cond_broadcast(&n->sent);
	pthread_cond_broadcast(&n->arrived);
	pthread_mutex_unlock(&n->lock);
	shutdown(n->fd, SHUT_RDWR);
	ibcc_mpa_ring_close(&n->tx.ready);
	ibcc_mpa_ring_close(&n->tx.idle);
	ibcc_mpa_ring_close(&n->rx.ready);
	ibcc_mpa_ring_close(&n->rx.idle);
}

void ibcc_mpa_node_delivered(struct ibcc_mpa_node *n, uint64_t messages)
{
	pthread_mutex_lock(&n->lock);
	n->delivered += messages;
	pthread_cond_signal(&n->arrived);
	pthread_mutex_unlock(&n->lock);
}

static void lane_fini(struct ibcc_mpa_lane *l)
{
	for (size_t i = 0; i < IBCC_MPA_CHUNKS; i++)
		free(l->chunk[i].memory);
	ibcc_mpa_ring_fini(&l->idle);
	ibcc_mpa_ring_fini(&l->ready);
}

static int lane_init(struct ibcc_mpa_lane *l)
{
	int rc = 0;

	ibcc_mpa_ring_init(&l->idle);
	ibcc_mpa_ring_init(&l->ready);
	for (size_t i = 0; i < IBCC_MPA_CHUNKS; i++) {
		l->chunk[i].memory = malloc(IBCC_MPA_MAX_FPDU + IBCC_MPA_CHUNK_BYTES);
		if (!l->chunk[i].memory)
			rc = -ENOMEM;
		ibcc_mpa_ring_give(&l->idle, &l->chunk[i]);
	}
	return rc;
}

static int lane_run(struct ibcc_mpa_node *n, struct ibcc_mpa_lane *l, void *(*run)(void *))
{
	int rc = -pthread_create(&l->thread, NULL, run, n);
	cpu_set_t set;

	l->running = !rc;
	if (rc || n->o.nic_cpu < 0)
		return rc;
	/* If the thread cannot be tied to the processor, it runs anywhere. */
	CPU_ZERO(&set);
	CPU_SET((size_t)n->o.nic_cpu, &set);
	pthread_setaffinity_np(l->thread, sizeof(set), &set);
	return 0;
}

int ibcc_mpa_node_new(const struct ibcc_mpa_node_options *o, int fd, struct ibcc_mpa_sink *sink,
		      struct ibcc_mpa_node **out)
{
	struct ibcc_mpa_node *n = calloc(1, sizeof(*n));
	int rc;

	*out = NULL;
	if (!n) {
		close(fd);
		return -ENOMEM;
	}
	n->o = *o;
	n->fd = fd;
	n->sink = sink;
	pthread_mutex_init(&n->lock, NULL);
	pthread_cond_init(&n->sent, NULL);
	pthread_cond_init(&n->arrived, NULL);
	rc = lane_init(&n->tx);
	rc = lane_init(&n->rx) ? -ENOMEM : rc;
	n->rest = malloc(IBCC_MPA_MAX_FPDU);
	if (!n->rest)
		rc = -ENOMEM;
	if (!rc)
		rc = lane_run(n, &n->tx, ibcc_mpa_node_sender);
	if (!rc)
		rc = lane_run(n, &n->rx, ibcc_mpa_node_receiver);
	if (rc)
		ibcc_mpa_node_free(n);
	else
		*out = n;
	return rc;
}

void ibcc_mpa_node_stop(struct ibcc_mpa_node *n)
{
	ibcc_mpa_node_end(n, IBCC_MPA_OK);
	if (n->tx.running)
		pthread_join(n->tx.thread, NULL);
	if (n->rx.running)
		pthread_join(n->rx.thread, NULL);
	n->tx.running = n->rx.running = false;
}

void ibcc_mpa_node_free(struct ibcc_mpa_node *n)
{
	if (!n)
		return;
	ibcc_mpa_node_stop(n);
	close(n->fd);
	lane_fini(&n->tx);
	lane_fini(&n->rx);
	pthread_cond_destroy(&n->sent);
	pthread_cond_destroy(&n->arrived);
	pthread_mutex_destroy(&n->lock);
	free(n->rest);
	free(n);
}

/* Waits until *counter has reached `count`. */
static int wait_for(struct ibcc_mpa_node *n, pthread_cond_t *moved, const uint64_t *counter,
		    uint64_t count)
{
	int rc;

	pthread_mutex_lock(&n->lock);
	while (*counter < count && !n->ended)
		pthread_cond_wait(moved, &n->lock);
	rc = *counter < count ? -EPIPE : 0;
	pthread_mutex_unlock(&n->lock);
	return rc;
}

int ibcc_mpa_node_flush(struct ibcc_mpa_node *n)
{
	return wait_for(n, &n->sent, &n->on_way, n->posted);
}

int ibcc_mpa_node_wait(struct ibcc_mpa_node *n, uint64_t count)
{
	if (n->o.design == IBCC_MPA_HOST_OFFLOADED)
		return wait_for(n, &n->arrived, &n->delivered, count);
	/* In the other designs, only the host counts delivered messages. */
	while (n->delivered < count) {
		struct ibcc_mpa_chunk *c = ibcc_mpa_ring_take(&n->rx.ready);
		enum ibcc_mpa_error e;

		if (!c && n->o.design == IBCC_MPA_HOST_BASED && n->rest_bytes)
			ibcc_mpa_node_end(n, IBCC_MPA_TRUNCATED);
		if (!c)
			return -EPIPE;
		e = ibcc_mpa_node_take(n, c);
		ibcc_mpa_ring_give(&n->rx.idle, c);
		if (e) {
			ibcc_mpa_node_end(n, e);
			return n->delivered < count ? -EPIPE : 0;
		}
	}
	return 0;
}

enum ibcc_mpa_error ibcc_mpa_node_error(struct ibcc_mpa_node *n)
{
	enum ibcc_mpa_error e;

	pthread_mutex_lock(&n->lock);
	e = n->error;
	pthread_mutex_unlock(&n->lock);
	return e;
}

void ibcc_mpa_node_counts(const struct ibcc_mpa_node *n, struct ibcc_mpa_counts *sent,
			  struct ibcc_mpa_counts *received)
{
	*sent = n->tx.counts;
	*received = n->rx.counts;
}
