/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One end of a connection in the three designs of P. Balaji, W. Feng, S. Bhagvat, D. K. Panda, R.
 * Thakur and W. Gropp, "Analyzing the Impact of Supporting Out-of-order Communication on In-order
 * Performance with iWARP", 2007. The owner's thread is the host. Two threads, one for each
 * direction, are the NIC. Only the NIC has the socket.
 *
 *		   host				NIC
 *	based	   headers, markers, CRC	socket
 *	assisted   markers, the copy for them	headers, CRC, socket
 *	offloaded  -				all
 *
 * Receiving is divided by the same table. The side that has the headers also demultiplexes and
 * checks the CRC. The side that has the markers takes the payload out from between them.
 */
#ifndef PERFTEST_MPA_NODE_H
#define PERFTEST_MPA_NODE_H

#include "perftest/mpa/fpdu.h"
#include "perftest/mpa/sink.h"

enum ibcc_mpa_design {
	IBCC_MPA_HOST_BASED,
	IBCC_MPA_HOST_ASSISTED,
	IBCC_MPA_HOST_OFFLOADED,
	IBCC_MPA_N_DESIGNS,
};

struct ibcc_mpa_node_options {
	enum ibcc_mpa_design design;
	struct ibcc_mpa_rules rules; /* of both directions */
	uint32_t payload_bytes;      /* of a full FPDU */
	/* How an offloading NIC gets markers in: pieces from all over the memory (coupled), or one
	 * piece that is moved once more on the NIC (decoupled).
	 */
	bool decoupled;
	int nic_cpu; /* processor to which its threads are tied; -1: none */
};

/* Octets of memory that were read or written, as the code counts them; the socket counts as one
 * reading.
 */
struct ibcc_mpa_touched {
	uint64_t host, nic;
};

struct ibcc_mpa_counts {
	uint64_t payload_bytes, wire_bytes, fpdus;
	uint64_t pieces; /* sending only: what the NIC fetches, or would have to */
	struct ibcc_mpa_touched touched;
	double nic_cpu_s; /* of the NIC's thread */
};

struct ibcc_mpa_node;

/* Takes a connected stream socket after the startup frames. The node owns the socket even if the
 * call fails. The sink is the caller's. 0 or -errno.
 */
int ibcc_mpa_node_new(const struct ibcc_mpa_node_options *o, int fd, struct ibcc_mpa_sink *sink,
		      struct ibcc_mpa_node **out);
/* Ends the connection and the threads. */
void ibcc_mpa_node_stop(struct ibcc_mpa_node *n);
void ibcc_mpa_node_free(struct ibcc_mpa_node *n);

/* Only the host's thread may call the following functions. All return 0, or -EPIPE when the
 * connection has ended. In that case ibcc_mpa_node_error() gives the reason, or OK if the peer just
 * closed it.
 */

/* Sends a message of any length; only opcode, stag and to of *d matter. The payload must stay until
 * it is on its way.
 */
int ibcc_mpa_node_post(struct ibcc_mpa_node *n, const struct ibcc_ddp *d, const void *payload,
		       uint32_t len);
/* Waits until all that was posted is on its way. */
int ibcc_mpa_node_flush(struct ibcc_mpa_node *n);
/* Waits until `count` untagged messages have been delivered in all. */
int ibcc_mpa_node_wait(struct ibcc_mpa_node *n, uint64_t count);

enum ibcc_mpa_error ibcc_mpa_node_error(struct ibcc_mpa_node *n);
/* The counts of both directions, after ibcc_mpa_node_stop(). */
void ibcc_mpa_node_counts(const struct ibcc_mpa_node *n, struct ibcc_mpa_counts *sent,
			  struct ibcc_mpa_counts *received);

#endif
