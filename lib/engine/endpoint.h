/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Connections at the ends of flows (conn.h): their packets, their answers, their time-outs. */
#ifndef IBCC_ENGINE_ENDPOINT_H
#define IBCC_ENGINE_ENDPOINT_H

#include "internal.h"

/* Connections are rare, and the compiler shall lay out their code apart from the common path. */
static inline bool has_ends(const struct ibcc_engine *e)
{
	return __builtin_expect(e->ends != NULL, 0);
}

/* Adds the connection of the flow that is added next and first due at due_ps. 0, -EINVAL: the
 * model's window or time-out is out of range, or -ENOMEM.
 */
int ibcc_ends_add(struct ibcc_engine *e, uint64_t due_ps);
void ibcc_ends_free(struct ibcc_engine *e);

/* True and *due_ps: now if the flow has to send packets again, NEVER if its window is closed.
 * False: the connection does not restrict it.
 */
bool ibcc_ends_head(const struct ibcc_engine *e, uint32_t flow, uint64_t *due_ps);
/* Whether a flow that was due still is: what it was to send again may have been acknowledged. */
bool ibcc_ends_still_due(struct ibcc_engine *e, uint32_t flow);
/* A packet of the flow goes out; whether it was sent before. */
bool ibcc_ends_sent(struct ibcc_engine *e, uint32_t flow, uint32_t pkt);
/* A packet came to its destination: whether it is answered. */
bool ibcc_ends_received(struct ibcc_engine *e, uint32_t pkt);
/* The answer came back. */
void ibcc_ends_answered(struct ibcc_engine *e, uint32_t pkt);
/* EV_RETRY: goes back to the first unacknowledged packet if nothing was acknowledged for too long.
 */
void ibcc_ends_retry(struct ibcc_engine *e, uint32_t flow);

/* The flow sleeps until due_ps, or until an answer wakes it. ibcc_ends_woken(): an event of the
 * flow has come; true if it is the one that the flow sleeps for, false for one that was superseded.
 */
void ibcc_ends_sleep(struct ibcc_engine *e, uint32_t flow, uint64_t due_ps);
bool ibcc_ends_woken(struct ibcc_engine *e, uint32_t flow);

/* Packets of a flow that were sent in all, and that came out of the fabric. */
void ibcc_ends_account(const struct ibcc_engine *e, uint32_t flow, uint64_t *sent, uint64_t *out);

#endif
