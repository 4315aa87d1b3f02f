/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The service thread: keeps the copy of the topology, serves clients, and passes plans to the push
 * thread.
 */
#ifndef IBCC_PLUGIN_WORKER_H
#define IBCC_PLUGIN_WORKER_H

#include "opensm-plugin/log.h"
#include "opensm-plugin/options.h"

struct osm_opensm;
struct ibcc_plugin_worker;

enum ibcc_plugin_worker_event {
	IBCC_WORKER_CHANGED = 1,     /* the topology may have changed */
	IBCC_WORKER_SWEEP_BEGAN = 2, /* the topology is incomplete until IBCC_WORKER_SETTLED */
	IBCC_WORKER_SETTLED = 4,
	/* A trap: OpenSM asks the node, or sweeps, and may then change its tables without an event.
	 */
	IBCC_WORKER_TRAP = 8,
};

/* NULL without memory, threads or descriptors; logged. */
struct ibcc_plugin_worker *ibcc_plugin_worker_new(struct osm_opensm *osm,
						  const struct ibcc_plugin_options *o,
						  const struct ibcc_plugin_log *log);
/* Stops a running plan, ends both threads, removes the socket. Accepts NULL. */
void ibcc_plugin_worker_free(struct ibcc_plugin_worker *w);

/* May be called from any thread with any lock held: never blocks. */
void ibcc_plugin_worker_report(struct ibcc_plugin_worker *w, enum ibcc_plugin_worker_event event);

#endif
