/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How often a collector asks again for what a node does not answer, although it answers the rest,
 * and for what a node refuses. Each question without an answer costs all the attempts of the
 * transport. Private to lib/mad.
 */
#ifndef IBCC_MAD_COLLECTOR_ASK_H
#define IBCC_MAD_COLLECTOR_ASK_H

#include <stdbool.h>
#include <stdint.h>

/* A question without an answer is asked in this many passes in a row, and then once in this many
 * passes.
 */
#define IBCC_ASK_TRIES 3u
#define IBCC_ASK_AGAIN 64u

/* Whether to ask in this pass, after `tries` tries without an answer. */
static inline bool ibcc_ask_in_pass(uint64_t pass, unsigned int tries)
{
	return tries < IBCC_ASK_TRIES || pass % IBCC_ASK_AGAIN == 0;
}

/* A refused question. A node may be starting or busy, so it is asked again after 1, 2, 4 and so on
 * passes, up to IBCC_ASK_AGAIN. All zero: nothing was refused.
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

/* Whether to ask again in this pass. */
static inline bool ibcc_refusal_is_due(const struct ibcc_refusal *r, uint64_t pass)
{
	return r->wait && pass >= r->due;
}

#endif
