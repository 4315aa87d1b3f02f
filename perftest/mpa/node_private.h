/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the two directions of a node share. Internal to these files. */
#ifndef PERFTEST_MPA_NODE_PRIVATE_H
#define PERFTEST_MPA_NODE_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "perftest/mpa/node.h"
#include "perftest/mpa/ring.h"

#define IBCC_MPA_CHUNKS      IBCC_MPA_RING
#define IBCC_MPA_CHUNK_BYTES 65536u /* a chunk is filled up to this size */
#define IBCC_MPA_MAX_FPDU    66560u /* longest FPDU with markers, at the closest spacing */
/* The shortest FPDU has no payload. */
#define IBCC_MPA_CHUNK_FPDUS (IBCC_MPA_CHUNK_BYTES / 20 + 2)

/* One FPDU in a chunk. */
struct ibcc_mpa_item {
	struct ibcc_fpdu fpdu;
	struct ibcc_ddp ddp;
	uint32_t place, header_bytes, payload_bytes;
};

/* Octets on their way between host and NIC. When sending, they begin behind no head room. */
struct ibcc_mpa_chunk {
	uint8_t *memory; /* MAX_FPDU octets for the rest of the last chunk, then this chunk's */
	size_t len;
	size_t n_items;
	struct ibcc_mpa_item item[IBCC_MPA_CHUNK_FPDUS];
};

/* A message for an offloading NIC. */
struct ibcc_mpa_work {
	struct ibcc_ddp ddp;
	const uint8_t *payload;
	uint32_t len;
};

struct ibcc_mpa_lane {
	struct ibcc_mpa_chunk chunk[IBCC_MPA_CHUNKS];
	struct ibcc_mpa_ring idle, ready;
	struct ibcc_mpa_counts counts;
	uint64_t at; /* position in the stream */
	pthread_t thread;
	bool running;
};

struct ibcc_mpa_node {
	struct ibcc_mpa_node_options o;
	struct ibcc_mpa_sink *sink;
	int fd;
	struct ibcc_mpa_lane tx, rx;
	/* Sending. */
	uint32_t msn[IBCC_DDP_N_QUEUES];
	struct ibcc_mpa_work work[IBCC_MPA_RING];
	uint64_t posted;
	/* Receiving: the rest of the last chunk. */
	uint8_t *rest;
	size_t rest_bytes;
	/* State that both threads use. */
	pthread_mutex_t lock;
	pthread_cond_t sent, arrived; /* signalled with the counters below */
	uint64_t on_way, delivered;
	enum ibcc_mpa_error error;
	bool ended;
};

/* node.c. Ends the connection. */
void ibcc_mpa_node_end(struct ibcc_mpa_node *n, enum ibcc_mpa_error e);
void ibcc_mpa_node_delivered(struct ibcc_mpa_node *n, uint64_t messages);

/* node_tx.c, node_rx.c. The NIC's threads, and the host's part of receiving. */
void *ibcc_mpa_node_sender(void *node);
void *ibcc_mpa_node_receiver(void *node);
enum ibcc_mpa_error ibcc_mpa_node_take(struct ibcc_mpa_node *n, struct ibcc_mpa_chunk *c);

#endif
