/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Requests in flight over a port that carries datagrams: deadlines, retries, order of sending.
 * Private to lib/mad and its tests.
 */
#ifndef IBCC_MAD_WINDOW_H
#define IBCC_MAD_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ibcc/transport.h>

#define IBCC_WINDOW_MAX      128u
#define IBCC_WINDOW_NODE_MAX 16u /* of one node: a silent node must not stop the others */
#define IBCC_WINDOW_LEAST    4u  /* losses make it no smaller: each costs a timeout */
/* Most requests by directed routes. SMPs travel on VL 15, which has no flow control, and the
 * switches that answer them also serve the subnet manager. libibnetdisc has the same limit.
 */
#define IBCC_WINDOW_DIRECT_MAX 2u

/* How datagrams leave and arrive at a port. */
struct ibcc_port_ops {
	/* Sends op->mad. 0; -ENODEV if the port is gone; another -errno if only this datagram
	 * failed.
	 */
	int (*send)(void *port, const struct ibcc_mad_op *op, unsigned int timeout_ms);
	/* Receives a datagram, waiting up to wait_ms, and returns its length. *undeliverable: it is
	 * a request that came back without answer. -EAGAIN if none came; -ENODEV.
	 */
	int (*recv)(void *port, uint8_t mad[IBCC_MAD_BYTES], bool *undeliverable, int wait_ms);
	uint64_t (*now_ns)(void *port);
	/* See ibcc_transport_ops:fabric_ns; NULL: now_ns(). `answer`: asks for the time at which it
	 * was true, as far as the answer says that itself; NULL: asks for the present time.
	 */
	uint64_t (*fabric_ns)(void *port, const uint8_t *answer);
};

struct ibcc_window;

/* Makes a window; NULL without memory. The port stays the caller's. Uses the options that name no
 * port; values out of range are clamped.
 */
struct ibcc_window *ibcc_window_new(const struct ibcc_port_ops *ops, void *port,
				    const struct ibcc_umad_options *o);
void ibcc_window_free(struct ibcc_window *w);

/* ibcc_transport_ops:run and :cancel, ibcc_transport:deadline_ns; adds to *stats. */
int ibcc_window_run(struct ibcc_window *w, struct ibcc_mad_op *op, size_t n, uint64_t deadline_ns,
		    struct ibcc_transport_stats *stats);
void ibcc_window_cancel(struct ibcc_window *w);

/* Waits a while for answers that are still on their way. True if none can come any more. */
bool ibcc_window_drain(struct ibcc_window *w);

#endif
