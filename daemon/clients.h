/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Warnings about clients that ask too often. */
#ifndef DAEMON_CLIENTS_H
#define DAEMON_CLIENTS_H

#include <jansson.h>
#include <stdbool.h>

#include <ibcc/jsonl.h>

#include "daemon/metrics/metrics_out.h"

/* Clients that ask too much, at the control socket and for the metrics. They hold up neither
 * polling cycles nor root, but cost a processor, and an operator has to know which user or address
 * it is.
 */
struct ibcc_clients {
	bool told[2]; /* by the log: of the control socket, of the metrics */
};

/* Writes a warning where clients have begun to ask too much since the last call. Once for
 * each polling cycle.
 */
void ibcc_clients_look(struct ibcc_clients *c, struct ibcc_jsonl *control,
		       struct ibcc_metrics_out *metrics);

/* The same for the status: {"control": text or null, "metrics": text or null}. NULL without memory.
 */
json_t *ibcc_clients_status(struct ibcc_jsonl *control, struct ibcc_metrics_out *metrics);

#endif
