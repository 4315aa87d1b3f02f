/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Switches that read one packet at a time from an input port's buffer, over all VLs. reads.h
 * explains the turns.
 */
#include "reads.h"

#include <errno.h>
#include <stdlib.h>

#include "evq.h"
#include "voq.h"

/* Cells that waking outputs may need, beyond what the run loop reserves. */
#define CELLS 48u

/* A switch's port as an input. */
struct fab_reading {
	uint64_t until_ps;
	uint64_t want[FAR_WORDS]; /* outputs that passed it over, by number */
	uint8_t last;             /* output that read it */
};

int ibcc_reads_build(struct ibcc_engine *e)
{
	if (e->model.switch_reads != IBCC_SWITCH_READS_ONE)
		return 0;
	e->reading = calloc(e->n_ports + 1u, sizeof(*e->reading));
	return e->reading ? 0 : -ENOMEM;
}

void ibcc_reads_free(struct ibcc_engine *e)
{
	free(e->reading);
}

static bool bit(const uint64_t mask[FAR_WORDS], unsigned int i)
{
	return mask[i / VOQ_WORD] >> i % VOQ_WORD & 1;
}

static void bit_set(uint64_t mask[FAR_WORDS], unsigned int i)
{
	mask[i / VOQ_WORD] |= 1ull << i % VOQ_WORD;
}

bool ibcc_reads_wanted(const struct ibcc_engine *e, uint32_t in_port, unsigned int output)
{
	return bit(e->reading[in_port].want, output);
}

/* Finds the first packet of a queue that may be read. If queues are by input, one look is enough.
 */
static bool find_in(const struct ibcc_engine *e, uint32_t head, struct reads_choice *c)
{
	c->before = NONE;
	for (c->pkt = head; c->pkt != NONE; c->before = c->pkt, c->pkt = e->pkt[c->pkt].next) {
		uint32_t input = input_of(e, &e->pkt[c->pkt]);

		if (e->reading[input].until_ps <= e->now_ps)
			return true;
		bit_set(c->passed, e->topo->port[input].num);
		if (e->slot_by_input)
			break;
	}
	c->pkt = NONE;
	return false;
}

void ibcc_reads_choose(const struct ibcc_engine *e, uint32_t outq, struct reads_choice *c)
{
	*c = (struct reads_choice){ .slot = e->port[outq].served };
	for (uint32_t i = 0; i < e->n_slots; i++) {
		c->slot = c->slot + 1 < e->n_slots ? c->slot + 1 : 0;
		if (find_in(e, voq_first(e, outq, c->slot), c))
			return;
	}
	c->slot = NONE;
}

/* Moves the chosen packet to the front of its queue. */
static void to_front(struct ibcc_engine *e, uint32_t outq, const struct reads_choice *c)
{
	struct voq *v = &e->voq[outq * e->n_slots + c->slot];

	if (c->before == NONE)
		return;
	e->pkt[c->before].next = e->pkt[c->pkt].next;
	if (v->tail == c->pkt)
		v->tail = c->before;
	e->pkt[c->pkt].next = v->head;
	v->head = c->pkt;
}

/* Notes that an output waits for an input to be read; the first one to wait sets the event. */
static void wait_for(struct ibcc_engine *e, uint32_t in_port, unsigned int output)
{
	struct fab_reading *r = &e->reading[in_port];
	bool told = false;

	for (unsigned int i = 0; i < FAR_WORDS; i++)
		told |= r->want[i] != 0;
	if (!told) {
		if (ibcc_fab_reserve(e, CELLS, 0)) {
			e->err = -ENOMEM;
			return;
		}
		evq_push(e, r->until_ps, EV_READ, in_port);
	}
	bit_set(r->want, output);
}

uint32_t ibcc_reads_turn(struct ibcc_engine *e, uint32_t port, uint32_t outq)
{
	uint32_t first_port = e->sw[e->owner[port]].first_port;
	struct reads_choice c;

	ibcc_reads_choose(e, outq, &c);
	for (unsigned int i = 0; i < FAR_WORDS; i++)
		for (uint64_t m = c.passed[i]; m; m &= m - 1)
			wait_for(e, first_port + i * VOQ_WORD + (uint32_t)__builtin_ctzll(m),
				 e->topo->port[port].num);
	if (c.slot != NONE)
		to_front(e, outq, &c);
	return c.slot;
}

void ibcc_reads_start(struct ibcc_engine *e, uint32_t in_port, unsigned int output, uint64_t end)
{
	e->reading[in_port].until_ps = end;
	e->reading[in_port].last = (uint8_t)output;
}

void ibcc_reads_end(struct ibcc_engine *e, uint32_t in_port)
{
	const struct fab_switch *s = &e->sw[e->owner[in_port]];
	struct fab_reading *r = &e->reading[in_port], was = *r;
	unsigned int output = was.last;

	for (unsigned int i = 0; i < FAR_WORDS; i++)
		r->want[i] = 0;
	for (unsigned int i = 0; i < s->n_ports && !e->err; i++) {
		output = output < s->n_ports ? output + 1 : 1;
		if (!bit(was.want, output))
			continue;
		e->err = ibcc_fab_reserve(e, CELLS, 0);
		if (!e->err)
			ibcc_fab_switch_send(e, s->first_port + output);
	}
}
