/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How often a collector asks for what a node keeps silent about while it answers the rest, each
 * such question costs all the attempts of the transport, and for what a node refuses. Private to
 * lib/io.
 */
#ifndef IBCC_IO_COLLECTOR_ASK_H
#define IBCC_IO_COLLECTOR_ASK_H

#include <stdbool.h>
#include <stdint.h>

/* So many times in a row, and then once in so many passes. */
#define IBCC_ASK_TRIES 3u
#define IBCC_ASK_AGAIN 64u

/* Is it asked for in this pass, after so many tries without an answer? */
static inline bool ibcc_ask_in_pass(uint64_t pass, unsigned int tries)
{
	return tries < IBCC_ASK_TRIES || pass % IBCC_ASK_AGAIN == 0;
}

/* A refusal is not for ever: a node may be starting, or busy. It is asked again after 1, 2, 4, and
 * so on up to IBCC_ASK_AGAIN passes. All zero: nothing was refused.
 */
struct ibcc_refusal {
	uint64_t due;
	uint16_t wait;
};

static inline void ibcc_refusal_note(struct ibcc_refusal *r, uint64_t pass)
{
	r->wait = r->wait ? 2 * r->wait : 1;
	if (r->wait > IBCC_ASK_AGAIN)
		r->wait = IBCC_ASK_AGAIN;
	r->due = pass + r->wait;
}

/* Is it asked again in this pass? */
static inline bool ibcc_refusal_is_due(const struct ibcc_refusal *r, uint64_t pass)
{
	return r->wait && pass >= r->due;
}

#endif
