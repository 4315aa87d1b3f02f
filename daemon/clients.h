/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Warnings about clients that ask too often. */
#ifndef DAEMON_CLIENTS_H
#define DAEMON_CLIENTS_H

#include <jansson.h>
#include <stdbool.h>

#include <ibcc/jsonl.h>

#include "daemon/metrics/metrics_out.h"

/* Clients that ask too much, at the control socket and for the metrics. They delay neither polling
 * cycles nor root's requests, but cost processor time. An operator has to know which user or
 * address it is.
 */
struct ibcc_clients {
	bool told[2]; /* the log has reported: the control socket, the metrics */
};

/* Logs a warning if clients have begun to ask too much since the last call. Call once in each
 * polling cycle.
 */
void ibcc_clients_look(struct ibcc_clients *c, struct ibcc_jsonl *control,
		       struct ibcc_metrics_out *metrics);

/* The warnings for the status: {"control": text or null, "metrics": text or null}. NULL without
 * memory.
 */
json_t *ibcc_clients_status(struct ibcc_jsonl *control, struct ibcc_metrics_out *metrics);

#endif
