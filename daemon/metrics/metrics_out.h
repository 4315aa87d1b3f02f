/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Outputs of the metrics: an HTTP server, a file, both, or none unless configured. Part of the
 * event loop.
 */
#ifndef IBCC_DAEMON_METRICS_OUT_H
#define IBCC_DAEMON_METRICS_OUT_H

#include <stdbool.h>

#include <jansson.h>
#include <systemd/sd-event.h>

#include <ibcc/config.h>
#include <ibcc/why.h>

#include "daemon/metrics/metrics.h"

/* Interval between two writes of the file, each after a polling cycle. */
#define IBCC_METRICS_FILE_US 15000000u

struct ibcc_metrics_out;

/* The status as in `ibcc-tune status`, a new reference; NULL: no memory. */
typedef json_t *ibcc_metrics_status_fn(void *arg);

/* Takes over the socket from systemd. NULL without memory. */
struct ibcc_metrics_out *ibcc_metrics_out_new(sd_event *event, ibcc_metrics_status_fn *status,
					      void *arg);
/* Removes the file, because a stopped daemon reports nothing. Accepts NULL. */
void ibcc_metrics_out_free(struct ibcc_metrics_out *o);

/* Starts or stops listening and writing as configured. Logs failures: a daemon tunes even if
 * nothing monitors it.
 */
void ibcc_metrics_out_configure(struct ibcc_metrics_out *o, const struct ibcc_config *config);
/* Records whether the last reload of the configuration succeeded. */
void ibcc_metrics_out_reloaded(struct ibcc_metrics_out *o, bool ok);

/* Describes clients that keep others from the metrics; empty: there are none. */
void ibcc_metrics_out_crowd(struct ibcc_metrics_out *o, struct ibcc_why *why);
/* Is there any output? */
bool ibcc_metrics_out_wanted(const struct ibcc_metrics_out *o);
/* Call after a polling cycle with its results (takes over; NULL: no memory), and whether it
 * succeeded.
 */
void ibcc_metrics_out_pass(struct ibcc_metrics_out *o, struct ibcc_metrics *m, bool well);

#endif
