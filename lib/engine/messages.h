/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The latencies of the messages of closed loops. A message begins when the window has room for it,
 * in a time that its flow is on, and ends when its last packet is delivered.
 *
 * `posted_ps` has the begin of each message that the window allows, by its number modulo the
 * window. A place is used again for the message that the window allows next, when the packets
 * before it are done. With connections, messages are complete in order, and this is enough. Without
 * connections, messages overtake each other on the way to other destinations or by other paths, and
 * packets can be lost. So each message has a clock from its first packet on, which its packets name
 * (struct pkt).
 */
#ifndef IBCC_ENGINE_MESSAGES_H
#define IBCC_ENGINE_MESSAGES_H

#include "internal.h"

/* In place of a clock, for messages beyond those that packets can name. They are not timed. */
#define NO_CLOCK UINT16_MAX

/* Of a message of which some packets are neither delivered nor lost; or free. */
struct message_clock {
	uint64_t from_ps;
	uint32_t left; /* packets that are neither */
	uint16_t next; /* free one */
	bool lost;     /* a packet of it is */
};

struct messages {
	uint64_t *posted_ps; /* `window` of them */
	struct message_clock *clock;
	uint32_t n_clocks, cap_clocks;
	uint16_t free;
	uint16_t now; /* clock of the message whose packets are sent now */
	/* Packets until the message that is sent has all, and until one message more is done. */
	uint32_t to_send, to_do;
	/* Of the messages that were delivered whole. */
	uint64_t n, latency_ps;
	uint32_t *latency; /* histogram (latency.h), or NULL */
};

/* For a new flow with a window whose first messages may begin at a time. -ENOMEM. */
int ibcc_messages_new(struct flow *f, uint64_t from_ps);
void ibcc_messages_free(struct messages *m);

uint16_t ibcc_messages_begin(struct ibcc_engine *e, struct flow *f);
void ibcc_messages_end(struct ibcc_engine *e, struct messages *m, uint16_t clock);

/* `f->done` has become one packet more. True if the window has room for one message more: then
 * ibcc_messages_post() has to say when that may begin.
 */
static inline bool messages_done(struct flow *f)
{
	return --f->messages->to_do == 0;
}
void ibcc_messages_post(struct flow *f, uint64_t at_ps);

/* A flow sends its next packet, before `f->sent` counts it. Returns the clock of its message. */
static inline uint16_t messages_send(struct ibcc_engine *e, struct flow *f)
{
	struct messages *m = f->messages;

	if (!m->to_send)
		m->now = ibcc_messages_begin(e, f);
	m->to_send--;
	return m->now;
}

/* Without connections: a packet of a message is delivered, or lost. */
static inline void messages_took(struct ibcc_engine *e, struct messages *m, uint16_t clock,
				 bool lost)
{
	struct message_clock *c;

	if (clock == NO_CLOCK)
		return;
	c = &m->clock[clock];
	c->lost |= lost;
	if (--c->left == 0)
		ibcc_messages_end(e, m, clock);
}

/* With connections: `f->received` packets are complete. */
void ibcc_messages_complete(struct ibcc_engine *e, struct flow *f);

#endif
