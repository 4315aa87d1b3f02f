/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Applies plans in a separate thread, one at a time, so that clients are served meanwhile. */
#ifndef IBCC_PLUGIN_PUSH_H
#define IBCC_PLUGIN_PUSH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ibcc/bounds.h>
#include <ibcc/plan.h>
#include <ibcc/proto.h>
#include <ibcc/transport.h>

#include "opensm-plugin/session.h"

/* Callbacks, called from the push thread. */
struct ibcc_push_host {
	/* Opens the port for MADs; as ibcc_umad_open(). */
	struct ibcc_transport *(*open)(void *arg, uint64_t port_guid, int *err, char *why,
				       size_t len);
	/* Why writing must stop now; IBCC_REFUSAL_NONE: go on. */
	enum ibcc_proto_refusal (*objection)(void *arg);
	/* A report is ready for ibcc_push_take(). */
	void (*done)(void *arg);
	struct ibcc_bounds bounds;
	void *arg;
};

struct ibcc_push;

/* Starts the thread with all signals blocked. NULL without memory or threads. */
struct ibcc_push *ibcc_push_new(const struct ibcc_push_host *host);
/* Stops a running plan, ends the thread and closes the port. Returns within the time that a
 * cancelled MAD takes. Accepts NULL.
 */
void ibcc_push_free(struct ibcc_push *p);

/* Begins to apply a plan and takes it over (*plan is zeroed). -EBUSY while another plan is being
 * applied or its report is still here; the caller then keeps the plan.
 */
int ibcc_push_start(struct ibcc_push *p, struct ibcc_plan *plan, uint64_t cc_key,
		    uint64_t port_guid);
bool ibcc_push_busy(struct ibcc_push *p);

/* Stops the running plan before its next batch, for this reason. */
void ibcc_push_stop(struct ibcc_push *p, enum ibcc_proto_refusal reason);
/* Stops the running plan at once, because its client is gone. Cancels what is in flight. */
void ibcc_push_abandon(struct ibcc_push *p);

/* The report of the last finished plan, or NULL if there is none. `took_ms` is its duration. */
struct ibcc_plan_report *ibcc_push_take(struct ibcc_push *p, uint64_t *took_ms);

#endif
