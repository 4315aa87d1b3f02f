/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads the fabric's state from ibsim, by direct routed Gets as a subnet manager would, whenever it
 * may have changed.
 */
#ifndef SIM_OBSERVER_H
#define SIM_OBSERVER_H

#include <stdbool.h>
#include <systemd/sd-event.h>

#include <ibcc/topo.h>

#include "sim/upstream.h"

struct ibcc_observer;

/* What one pass found; nodes are in ascending order of their GUIDs, links have the state of their
 * ports (4: active). The topology passes to the callee.
 */
typedef void ibcc_observer_found(void *arg, struct ibcc_topo *t);

/* Starts the first pass at once. `sl2vl` also reads SL to VL maps, which takes one Get for each
 * pair of ports. NULL and *err on failure.
 */
struct ibcc_observer *ibcc_observer_new(sd_event *ev, struct ibcc_upstream *u, bool sl2vl,
					ibcc_observer_found *found, void *arg, int *err);
void ibcc_observer_free(struct ibcc_observer *o);

/* Whether the fabric may have changed since the last pass that `found` has had. */
bool ibcc_observer_is_stale(const struct ibcc_observer *o);

/* To be called when the fabric may have changed: reads it again once changes have ended. */
void ibcc_observer_dirty(struct ibcc_observer *o);

#endif
