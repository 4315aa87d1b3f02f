/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Connections at the ends of flows (conn.h): their packets, their answers, their time-outs. */
#ifndef IBCC_FABRIC_ENDPOINT_H
#define IBCC_FABRIC_ENDPOINT_H

#include "internal.h"

/* Seldom, and then nothing is fast: what comes of it stands out of the others' way. */
static inline bool has_ends(const struct ibcc_engine *e)
{
	return __builtin_expect(e->ends != NULL, 0);
}

/* For the flow that is to be made next, which is due then; where the model has connections.
 * -ENOMEM.
 */
int ibcc_ends_add(struct ibcc_engine *e, uint64_t due_ps);
void ibcc_ends_free(struct ibcc_engine *e);

/* Time of what a flow has to send again, or NEVER if its window is closed; else false. */
bool ibcc_ends_head(const struct ibcc_engine *e, uint32_t flow, uint64_t *due_ps);
/* Whether a flow that was due still is: what it was to send again may have been acknowledged. */
bool ibcc_ends_still_due(struct ibcc_engine *e, uint32_t flow);
/* A packet of the flow goes out; whether it was sent before. */
bool ibcc_ends_sent(struct ibcc_engine *e, uint32_t flow, uint32_t pkt);
/* A packet came to its destination: whether it is answered. */
bool ibcc_ends_received(struct ibcc_engine *e, uint32_t pkt);
/* The answer came back. */
void ibcc_ends_answered(struct ibcc_engine *e, uint32_t pkt);
/* The time-out of a flow's connection, perhaps. */
void ibcc_ends_retry(struct ibcc_engine *e, uint32_t flow);

/* The flow sleeps, until it is due or an answer wakes it; its event has come: whether it is that
 * which it sleeps for.
 */
void ibcc_ends_sleep(struct ibcc_engine *e, uint32_t flow, uint64_t due_ps);
bool ibcc_ends_woken(struct ibcc_engine *e, uint32_t flow);

/* Packets of a flow that were sent in all, and that came out of the fabric. */
void ibcc_ends_account(const struct ibcc_engine *e, uint32_t flow, uint64_t *sent, uint64_t *out);

#endif
