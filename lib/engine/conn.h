/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A connection's two ends: which packet to send next, and what to make of one that comes.
 *
 * Reliable connected (IBA vol. 1, 9.7): a packet that is not the expected one is dropped. If it is
 * ahead of it, one NAK asks for the expected one, and no other does until that has come; what is
 * behind it is a duplicate and is acknowledged again. The sender goes back to what a NAK asks for
 * and sends all from there on again, as it does when nothing was acknowledged for too long.
 *
 * With placement out of order what is ahead is placed at once, and complete as soon as all before
 * it is. The receiver sends no NAKs, acknowledgements are cumulative, and only the time-out sends
 * packets again.
 *
 * Nothing here knows of time, links or queues.
 */
#ifndef IBCC_ENGINE_CONN_H
#define IBCC_ENGINE_CONN_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/engine.h>

#include "psn.h"

struct conn {
	bool ooo;
	bool asked;         /* a NAK was sent, and what it asks for has not come */
	uint32_t window;    /* packets that may be sent and not acknowledged */
	uint32_t mask;      /* of the rings below: as many places as the window, or more */
	uint32_t una;       /* first not acknowledged */
	uint32_t next;      /* to be sent next */
	uint32_t high;      /* first that was never sent */
	uint32_t expected;  /* first that has not come */
	uint64_t *first_ps; /* by PSN: when it was sent first */
	uint64_t *placed;   /* by PSN, a bit each: has come, ahead of one that has not */
	uint64_t n_placed;  /* packets that were accepted, in order or ahead */
	struct ibcc_engine_conn count;
};

/* `window` from 1 to 2^22 packets; the first packet has that PSN. -ENOMEM. */
int ibcc_conn_init(struct conn *c, bool ooo, uint32_t window, uint32_t first_psn);
void ibcc_conn_fini(struct conn *c);

/* Something was sent before and has to be sent again. */
static inline bool conn_goes_back(const struct conn *c)
{
	return c->next != c->high;
}

/* The window has room for a packet that was never sent. */
static inline bool conn_open(const struct conn *c)
{
	return (uint32_t)psn_diff(c->high, c->una) < c->window;
}

/* The packet that goes out now; whether it was sent before. Wants conn_goes_back() or conn_open().
 */
uint32_t ibcc_conn_send(struct conn *c, uint64_t now_ps, bool *again);

struct conn_receipt {
	bool accepted;     /* else it is dropped */
	bool answer, nak;  /* an acknowledgement is due; it is a NAK */
	uint32_t complete; /* packets that are complete now, the first of which is `from` */
	uint32_t from;
};
/* A packet came. Any answer carries c->expected. */
struct conn_receipt ibcc_conn_receive(struct conn *c, uint32_t psn);

/* An answer came: all packets before this PSN have arrived. Returns how many it newly acknowledges.
 */
uint32_t ibcc_conn_acked(struct conn *c, uint32_t psn, bool nak);
/* Nothing was acknowledged for too long: sends again from the first unacknowledged packet on. */
void ibcc_conn_timed_out(struct conn *c);

#endif
