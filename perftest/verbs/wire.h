/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* JSON objects on a TCP connection, one a line. What comes is not trusted: it is bounded in size
 * and may be anything. If a peer disappears silently, that is noticed within half a minute.
 */
#ifndef PERFTEST_VERBS_WIRE_H
#define PERFTEST_VERBS_WIRE_H

#include <stddef.h>

#include <jansson.h>

#include <ibcc/json_lines.h>

#include "perftest/verbs/error.h"

#define IBCC_PERF_LINE_MAX  (64u << 20)
#define IBCC_PERF_PORT_TEXT "10316"

struct ibcc_perf_wire {
	int fd; /* -1: none */
	struct ibcc_json_lines in;
};

/* Takes a connected socket over; lines beyond the limit are not read. */
void ibcc_perf_wire_init(struct ibcc_perf_wire *w, int fd, size_t limit);
void ibcc_perf_wire_fini(struct ibcc_perf_wire *w);

/* Connects to "HOST", "HOST:PORT" or "[ADDRESS]:PORT" within timeout_ms. Returns a socket, or a
 * negative errno with the reason in *e.
 */
int ibcc_perf_wire_connect(const char *address, int timeout_ms, struct ibcc_why *e);
/* Listens at an address of the form that ibcc_perf_wire_connect() takes. `bound` gets the address
 * with the port.
 */
int ibcc_perf_wire_listen(const char *address, char *bound, size_t len, struct ibcc_why *e);

/* Sends, and takes the object over; NULL is -ENOMEM. -ETIMEDOUT if the peer does not read for ten
 * seconds, -ECONNRESET, ...
 */
int ibcc_perf_wire_send(struct ibcc_perf_wire *w, json_t *o);

/* Waits for an object, at most timeout_ms: -ETIMEDOUT; -ECONNRESET at the stream's end, -EPROTO for
 * anything but an object, -EMSGSIZE for a line beyond the limit.
 */
int ibcc_perf_wire_recv(struct ibcc_perf_wire *w, int timeout_ms, json_t **o);

#endif
