/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The metrics over HTTP: /metrics, /healthz, /readyz. The server runs in the event loop, reads
 * only, and gets its pages from its owner.
 */
#ifndef IBCC_DAEMON_METRICS_HTTP_H
#define IBCC_DAEMON_METRICS_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <systemd/sd-event.h>

#include <ibcc/why.h>

/* Limit of connections at a time, and the seconds that a connection has for each request, including
 * the answer, however busy it is. If one more client connects, the server closes a connection of
 * the address that has the most: the oldest without a complete request, or else the oldest. All
 * addresses of the loopback network count as one. So do those of an IPv6 network of 64 bits,
 * because one host has all of them.
 */
#define IBCC_METRICS_CONNECTIONS 16u
#define IBCC_METRICS_REQUEST_S   10u
/* Age after which the text is made again. A client that asks earlier gets the kept text. */
#define IBCC_METRICS_FRESH_US 1000000u

struct ibcc_metrics_http;

enum ibcc_metrics_page {
	IBCC_METRICS_PAGE_METRICS,
	IBCC_METRICS_PAGE_HEALTH,
	IBCC_METRICS_PAGE_READY
};

/* Makes a page of *len bytes, for free(); NULL: no memory. If it sets *ok to false, the answer is a
 * 503.
 */
typedef char *ibcc_metrics_page_fn(void *arg, enum ibcc_metrics_page page, size_t *len, bool *ok);

/* Listens at "PORT" (of 127.0.0.1), "ADDRESS:PORT" or "[ADDRESS]:PORT". With fd >= 0 it uses that
 * socket instead, which listens already, and takes it over, also on failure. NULL with *err and
 * *why: -EINVAL (no such address), or the system's error.
 */
struct ibcc_metrics_http *ibcc_metrics_http_new(sd_event *event, const char *address, int fd,
						ibcc_metrics_page_fn *fn, void *arg, int *err,
						struct ibcc_why *why);
void ibcc_metrics_http_free(struct ibcc_metrics_http *h);

/* The port where it listens (0 for another kind of socket). */
uint16_t ibcc_metrics_http_port(const struct ibcc_metrics_http *h);

/* Number of connections that were closed within ten seconds before they had an answer, for lack of
 * places or of time. `from`: the address, or the IPv6 network, with most of them.
 */
unsigned int ibcc_metrics_http_crowd(struct ibcc_metrics_http *h, char *from, size_t len);

/* The socket named "metrics" from systemd (sd_listen_fds_with_names(3)); -1: none. The caller owns
 * it. Call once.
 */
int ibcc_metrics_http_inherited(void);

#endif
