/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Requests under way to ibsim. Each ends exactly once. */
#ifndef SIM_PENDING_H
#define SIM_PENDING_H

#include <systemd/sd-event.h>

#include "sim/wire.h"

struct ibcc_pending;

/* Gets the answer, with the request's own transaction ID, or the request with status 110. */
typedef void ibcc_pending_done(void *arg, struct ibcc_wire_mad *m);

struct ibcc_pending *ibcc_pending_new(sd_event *ev, int *err);
/* Forgets the requests under way; their `done` is not called. */
void ibcc_pending_free(struct ibcc_pending *p);

/* Remembers a request; *out is what to send in its place. -ENOMEM also if too many are under way.
 */
int ibcc_pending_add(struct ibcc_pending *p, const struct ibcc_wire_mad *m, ibcc_pending_done *done,
		     void *arg, struct ibcc_wire_mad *out);

/* Ends the request that a datagram from ibsim belongs to, if there is one. */
void ibcc_pending_answer(struct ibcc_pending *p, const struct ibcc_wire_mad *m);

/* Cancels all requests of `arg`: nothing is delivered to it any more. */
void ibcc_pending_cancel(struct ibcc_pending *p, const void *arg);

#endif
