/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "messages.h"

#include <errno.h>
#include <stdlib.h>

#include "latency.h"

int ibcc_messages_new(struct flow *f, uint64_t from_ps)
{
	struct messages *m = calloc(1, sizeof(*m));

	f->messages = m;
	if (m)
		m->posted_ps = malloc(f->window * sizeof(*m->posted_ps));
	if (!m || !m->posted_ps)
		return -ENOMEM;
	m->free = NO_CLOCK;
	m->to_do = f->message_pkts;
	for (uint32_t i = 0; i < f->window; i++)
		m->posted_ps[i] = from_ps;
	return 0;
}

void ibcc_messages_free(struct messages *m)
{
	if (!m)
		return;
	free(m->posted_ps);
	free(m->clock);
	free(m->latency);
	free(m);
}

/* The place of the message that has packet number `pkt`. */
static uint64_t *posted(const struct flow *f, uint64_t pkt)
{
	return &f->messages->posted_ps[pkt / f->message_pkts % f->window];
}

void ibcc_messages_post(struct flow *f, uint64_t at_ps)
{
	/* The next one has the place of the one that is done by number. */
	*posted(f, f->done - 1) = at_ps;
	f->messages->to_do = f->message_pkts;
}

static void count(struct ibcc_engine *e, struct messages *m, uint64_t from_ps)
{
	uint64_t ps = e->now_ps - from_ps;

	m->n++;
	m->latency_ps += ps;
	latency_count(m->latency, ps);
}

static uint16_t clock_take(struct ibcc_engine *e, struct messages *m)
{
	uint16_t at = m->free;

	if (at != NO_CLOCK) {
		m->free = m->clock[at].next;
		return at;
	}
	if (m->n_clocks == NO_CLOCK)
		return NO_CLOCK;
	if (ibcc_fab_grow(&m->clock, &m->cap_clocks, m->n_clocks + 1, sizeof(*m->clock))) {
		e->err = -ENOMEM;
		return NO_CLOCK;
	}
	return (uint16_t)m->n_clocks++;
}

uint16_t ibcc_messages_begin(struct ibcc_engine *e, struct flow *f)
{
	uint16_t clock = clock_take(e, f->messages);

	f->messages->to_send = f->message_pkts;
	if (clock != NO_CLOCK)
		f->messages->clock[clock] = (struct message_clock){ .from_ps = *posted(f, f->sent),
								    .left = f->message_pkts };
	return clock;
}

void ibcc_messages_end(struct ibcc_engine *e, struct messages *m, uint16_t clock)
{
	struct message_clock *c = &m->clock[clock];

	if (!c->lost)
		count(e, m, c->from_ps);
	c->next = m->free;
	m->free = clock;
}

void ibcc_messages_complete(struct ibcc_engine *e, struct flow *f)
{
	if (f->received % f->message_pkts == 0)
		count(e, f->messages, *posted(f, f->received - 1));
}
