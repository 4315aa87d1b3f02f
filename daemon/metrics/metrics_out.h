/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Where metrics go: an HTTP server, a file, both or, as long as nobody configures it, nowhere. Part
 * of the event loop.
 */
#ifndef IBCC_DAEMON_METRICS_OUT_H
#define IBCC_DAEMON_METRICS_OUT_H

#include <stdbool.h>

#include <jansson.h>
#include <systemd/sd-event.h>

#include <ibcc/config.h>
#include <ibcc/why.h>

#include "daemon/metrics/metrics.h"

/* Between two writings of the file, after a pass. */
#define IBCC_METRICS_FILE_US 15000000u

struct ibcc_metrics_out;

/* The status as `ibcc-tune status` gets it, a new reference; NULL: no memory. */
typedef json_t *ibcc_metrics_status_fn(void *arg);

/* Takes over the socket that systemd gives. NULL without memory. */
struct ibcc_metrics_out *ibcc_metrics_out_new(sd_event *event, ibcc_metrics_status_fn *status,
					      void *arg);
/* Removes the file: what ends says nothing any more. NULL is fine. */
void ibcc_metrics_out_free(struct ibcc_metrics_out *o);

/* Begins or ends to listen and to write as configured. What does not succeed is logged: a daemon
 * tunes also where nobody can watch it.
 */
void ibcc_metrics_out_configure(struct ibcc_metrics_out *o, const struct ibcc_config *config);
/* Whether the last reading of the configuration was taken over. */
void ibcc_metrics_out_reloaded(struct ibcc_metrics_out *o, bool ok);

/* What there is to say of clients that keep others from the metrics; empty: nothing. */
void ibcc_metrics_out_crowd(struct ibcc_metrics_out *o, struct ibcc_why *why);
/* Whether anybody wants to know. */
bool ibcc_metrics_out_wanted(const struct ibcc_metrics_out *o);
/* After a pass: what it came to (owned from then on; NULL: no memory), and whether it went well. */
void ibcc_metrics_out_pass(struct ibcc_metrics_out *o, struct ibcc_metrics *m, bool well);

#endif
