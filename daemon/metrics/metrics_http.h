/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The metrics by HTTP: /metrics, /healthz, /readyz. It runs in the event loop, reads only, and asks
 * whoever owns it for what it tells.
 */
#ifndef IBCC_DAEMON_METRICS_HTTP_H
#define IBCC_DAEMON_METRICS_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <systemd/sd-event.h>

#include <ibcc/why.h>

/* Connections at a time. A connection has so many seconds for each request, answer included,
 * however busy it is. One more connection than fit closes one of the address that has the most: the
 * oldest that has not sent a whole request, or else the oldest. All addresses of the loopback
 * network count as one, and so do those of an IPv6 network of 64 bits: one host has all of them.
 */
#define IBCC_METRICS_CONNECTIONS 16u
#define IBCC_METRICS_REQUEST_S   10u
/* The text is made anew after so long: who asks more often gets the same again. */
#define IBCC_METRICS_FRESH_US 1000000u

struct ibcc_metrics_http;

enum ibcc_metrics_page {
	IBCC_METRICS_PAGE_METRICS,
	IBCC_METRICS_PAGE_HEALTH,
	IBCC_METRICS_PAGE_READY
};

/* Makes a page of *len bytes, freed by free(); NULL: no memory. *ok: false makes it a 503. */
typedef char *ibcc_metrics_page_fn(void *arg, enum ibcc_metrics_page page, size_t *len, bool *ok);

/* Listens at "PORT" (of 127.0.0.1), "ADDRESS:PORT" or "[ADDRESS]:PORT"; or, with fd >= 0, at a
 * socket that listens already, which it owns from then on, also on failure. NULL with *err and
 * *why: -EINVAL (no such address), or what the system says.
 */
struct ibcc_metrics_http *ibcc_metrics_http_new(sd_event *event, const char *address, int fd,
						ibcc_metrics_page_fn *fn, void *arg, int *err,
						struct ibcc_why *why);
void ibcc_metrics_http_free(struct ibcc_metrics_http *h);

/* Where it listens: the port (0 for a socket of another kind). */
uint16_t ibcc_metrics_http_port(const struct ibcc_metrics_http *h);

/* How many connections were closed within ten seconds before they had an answer, for want of
 * places or of time; `from`: the address, or the IPv6 network, that had most of them.
 */
unsigned int ibcc_metrics_http_crowd(struct ibcc_metrics_http *h, char *from, size_t len);

/* The socket named "metrics" that systemd hands over (sd_listen_fds_with_names(3)); -1: none. It is
 * the caller's. To be asked once.
 */
int ibcc_metrics_http_inherited(void);

#endif
