/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The side towards ibsim: attachments at hosts, requests and their answers.
 *
 * ibsim has ten client slots; clients at the same host share one here. Each request gets a
 * transaction ID of our own, so that answers find their way whatever the clients chose, and each
 * request comes to an end: with its answer, or with umad status 110.
 */
#ifndef SIM_UPSTREAM_H
#define SIM_UPSTREAM_H

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "sim/wire.h"

struct ibcc_upstream;
struct ibcc_upstream_slot;

/* NULL and *err on failure. The simulator at `name` need not be there yet. */
struct ibcc_upstream *ibcc_upstream_new(sd_event *ev, const char *name, int *err);
void ibcc_upstream_free(struct ibcc_upstream *u);

/* ibsim died and another one is coming up at its name: attachments and requests of control are made
 * again. MADs that were under way get lost.
 */
void ibcc_upstream_restart(struct ibcc_upstream *u);

/* Attaches at a host, or joins an attachment that is there. `done` is called with the slot, or with
 * NULL if ibsim refused, possibly before this returns. Each slot given must be released.
 */
typedef void ibcc_upstream_attached(void *arg, struct ibcc_upstream_slot *s);
int ibcc_upstream_attach(struct ibcc_upstream *u, const char *node, ibcc_upstream_attached *done,
			 void *arg);
void ibcc_upstream_release(struct ibcc_upstream_slot *s);

/* GUID of the node that the slot is attached at (its first port). */
uint64_t ibcc_upstream_node_guid(const struct ibcc_upstream_slot *s);
/* Name by which ibsim knows that node. */
const char *ibcc_upstream_node_name(const struct ibcc_upstream_slot *s);

/* Sets the function that gets the requests and traps which ibsim forwards to the subnet manager at
 * a host.
 */
typedef void ibcc_upstream_request(void *arg, struct ibcc_upstream_slot *s,
				   const struct ibcc_wire_mad *m);
void ibcc_upstream_on_request(struct ibcc_upstream *u, ibcc_upstream_request *fn, void *arg);

/* Sets the function that may change requests before ibsim gets them, and ibsim's answers before
 * they are delivered.
 */
typedef void ibcc_upstream_amend(void *arg, const struct ibcc_upstream_slot *s,
				 struct ibcc_wire_mad *m);
void ibcc_upstream_on_mad(struct ibcc_upstream *u, ibcc_upstream_amend *fn, void *arg);

/* Passes a request of control for the slot; `done` gets the answer (type IBCC_WIRE_ERROR if it
 * could not be sent). Requests are answered in order. -ENOMEM.
 */
typedef void ibcc_upstream_ctl_done(void *arg, const struct ibcc_wire_ctl *reply);
int ibcc_upstream_ctl(struct ibcc_upstream_slot *s, const struct ibcc_wire_ctl *c,
		      ibcc_upstream_ctl_done *done, void *arg);

/* Sends a MAD. If it wants an answer, `done` is called exactly once: with the answer, or with the
 * request and status 110; unless ibcc_upstream_cancel(arg) came first.
 */
typedef void ibcc_upstream_done(void *arg, struct ibcc_wire_mad *reply);
int ibcc_upstream_send(struct ibcc_upstream_slot *s, const struct ibcc_wire_mad *m,
		       ibcc_upstream_done *done, void *arg);

/* Works as ibcc_upstream_send(), for a request that the caller sends itself. The caller sends *out,
 * and not to ibsim. ibcc_upstream_answered() takes the answer.
 */
int ibcc_upstream_expect(struct ibcc_upstream *u, const struct ibcc_wire_mad *m,
			 ibcc_upstream_done *done, void *arg, struct ibcc_wire_mad *out);
void ibcc_upstream_answered(struct ibcc_upstream *u, const struct ibcc_wire_mad *m);

/* Cancels all requests of `arg`: nothing is delivered to it any more. */
void ibcc_upstream_cancel(struct ibcc_upstream *u, const void *arg);

#endif
