/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Deadlocks: outputs that wait for each other for ever.
 *
 * An output and VL that may not send waits for room in one buffer, that of its peer, and no other
 * output fills that buffer. The packets there leave when the outputs that they wait for send. So
 * all outputs that hold packets are first taken for stuck. Then an output is released if its next
 * packet would have room with only those packets in the peer's buffer that wait for stuck
 * outputs. That is repeated until no output can be released.
 *
 * The result is exact. An output that remains never sends again: the first to do so would need
 * room that only packets of remaining outputs can give, and none of them has sent before. Only a
 * link that goes down ends it, for that drops the packets that wait for the link. And an output
 * that never sends again does remain: no packet comes to the buffer that it waits for, and what
 * can leave that buffer has left once the fabric is at rest around it. (So a deadlock that is
 * just closing may be found a little later.) Packets wait for the output that was chosen when
 * they came, whatever the routing. Turns within an output do not matter, for all queues that hold
 * packets come round. Packets that are throttled or not yet sent do not matter either, for they
 * hold no buffer. (Two exceptions: an answer that comes later may still take what is left of a
 * buffer, if its turn is before that of a stuck packet. And where inputs are read one packet at a
 * time, a packet behind a stuck one may be sent while the stuck one's input is being read.)
 *
 * Channel adapters take out what comes, however slowly. With PAUSE, an output is stuck if its
 * peer has stopped it, holds more than XON of what came in there for stuck outputs, and no
 * message is under way.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eth.h"
#include "evq.h"
#include "tx.h"
#include "voq.h"

#define SHOWN 8u /* outputs of a circle that are named */

struct search {
	const struct ibcc_engine *e;
	bool *stuck; /* by outq */
	bool *told;  /* by port: a PAUSE message is under way to it */
	uint64_t
		*held; /* by input port and VL: what waits there for stuck outqs; blocks or bytes */
	uint32_t *path;  /* outqs, each waiting for the next */
	uint32_t *place; /* by outq: in the path, from 1 on */
};

static int see_message(void *arg, uint64_t t, enum ibcc_fab_event kind, uint32_t *index)
{
	struct search *s = arg;

	(void)t;
	if (kind == EV_PAUSE)
		s->told[*index >> 1] = true;
	return 0;
}

/* Where a packet is held: its input port and VL. */
static uint32_t place_of(const struct ibcc_engine *e, const struct pkt *k)
{
	return input_of(e, k) * e->n_vls + k->vl;
}

/* The buffer that an outq's packets go to. */
static uint32_t next_place(const struct ibcc_engine *e, uint32_t outq)
{
	return e->peer[outq / e->n_vls] * e->n_vls + outq % e->n_vls;
}

/* The first packet of an outq's queues from *slot on; *slot becomes the number of its queue. */
static uint32_t first_from(const struct ibcc_engine *e, uint32_t outq, uint32_t *slot)
{
	for (; *slot < e->n_slots; ++*slot)
		if (e->voq[outq * e->n_slots + *slot].head != NONE)
			return e->voq[outq * e->n_slots + *slot].head;
	return NONE;
}

/* The packet of an outq behind another one in the same queue, or of the next queue. */
static uint32_t next_from(const struct ibcc_engine *e, uint32_t outq, uint32_t *slot, uint32_t pkt)
{
	if (e->pkt[pkt].next != NONE)
		return e->pkt[pkt].next;
	++*slot;
	return first_from(e, outq, slot);
}

/* Takes an outq for stuck, or releases it: its packets count, or no longer count, in the buffers
 * that hold them.
 */
static void mark(struct search *s, uint32_t outq, bool stuck)
{
	const struct ibcc_engine *e = s->e;
	uint32_t slot = 0;

	s->stuck[outq] = stuck;
	for (uint32_t p = first_from(e, outq, &slot); p != NONE; p = next_from(e, outq, &slot, p)) {
		const struct pkt *k = &e->pkt[p];
		uint64_t n = e->eth ? e->bytes[pkt_kind(k)] : e->blocks[pkt_kind(k)];

		s->held[place_of(e, k)] += stuck ? n : 0 - n;
	}
}

/* Whether an outq will send some time, if only those marked as stuck never will. */
static bool will_send(const struct search *s, uint32_t outq)
{
	const struct ibcc_engine *e = s->e;
	uint32_t port = outq / e->n_vls, peer = e->peer[port];
	const struct port *p = port_of(e, port);
	const struct pkt *k = &e->pkt[voq_first(e, outq, voq_turn(e, outq))];
	uint64_t held;

	if (!(p->flags & PORT_UP) || !(p->flags & PORT_TO_SWITCH))
		return true;
	held = s->held[next_place(e, outq)];
	if (e->eth)
		return s->told[port] || !e->eth->port[port].paused || !e->eth->port[peer].stopped ||
		       held <= e->eth->port[peer].xon;
	return held + e->blocks[pkt_kind(k)] <= buffer_bytes(e, peer) / IBCC_LINK_CREDIT_BYTES;
}

/* Marks exactly the outqs that are stuck. Returns the first, or NONE. */
static uint32_t find_stuck(struct search *s)
{
	const struct ibcc_engine *e = s->e;
	bool again = true;

	for (uint32_t i = 0; i < e->n_outqs; i++)
		if (port_of(e, i / e->n_vls)->flags & PORT_SWITCH && e->port[i].holds)
			mark(s, i, true);
	while (again) {
		again = false;
		for (uint32_t i = 0; i < e->n_outqs; i++) {
			if (!s->stuck[i] || !will_send(s, i))
				continue;
			mark(s, i, false);
			again = true;
		}
	}
	for (uint32_t i = 0; i < e->n_outqs; i++)
		if (s->stuck[i])
			return i;
	return NONE;
}

/* Whether an outq holds packets from a certain input port and VL. */
static bool holds_from(const struct ibcc_engine *e, uint32_t outq, uint32_t place)
{
	uint32_t slot = 0;

	for (uint32_t p = first_from(e, outq, &slot); p != NONE; p = next_from(e, outq, &slot, p))
		if (place_of(e, &e->pkt[p]) == place)
			return true;
	return false;
}

/* A stuck outq for which packets wait in the buffer that this outq waits for. There is one:
 * otherwise even the empty buffer would have no room.
 */
static uint32_t waits_for(const struct search *s, uint32_t outq)
{
	const struct ibcc_engine *e = s->e;
	uint32_t place = next_place(e, outq);
	const struct fab_switch *sw = &e->sw[e->owner[place / e->n_vls]];
	uint32_t at = sw->first_port * e->n_vls;

	while (!s->stuck[at] || !holds_from(e, at, place))
		at++;
	return at;
}

/* Follows the waiting from outq to outq until it comes back to one that it has seen. The circle is
 * the end of the path of *n outqs; returns its length.
 */
static uint32_t find_circle(struct search *s, uint32_t from, uint32_t *n)
{
	uint32_t at = from;

	for (*n = 0; !s->place[at]; at = waits_for(s, at)) {
		s->path[(*n)++] = at;
		s->place[at] = *n;
	}
	return *n - s->place[at] + 1;
}

/* When an outq had sent its last packet. */
static uint64_t sent_ps(const struct ibcc_engine *e, uint32_t outq)
{
	return e->n_vls > 1 ? e->wait[outq].busy_ps : port_of(e, outq / e->n_vls)->busy_ps;
}

static void add(char *buf, size_t len, const char *text)
{
	size_t at = strlen(buf);

	snprintf(buf + at, len - at, "%s", text);
}

/* Writes the sentence, which begins and ends with the circle's first port in the topology. */
static void tell(const struct ibcc_engine *e, const uint32_t *circle, uint32_t n, char *buf,
		 size_t len)
{
	char name[IBCC_DESC_BYTES + 32], vl[16];
	uint32_t first = 0, named = n < SHOWN ? n : SHOWN;
	uint64_t since = 0;

	for (uint32_t i = 0; i < n; i++) {
		since = later(since, sent_ps(e, circle[i]));
		if (circle[i] < circle[first])
			first = i;
	}
	snprintf(buf, len, "deadlock at %.6g ms: ", (double)since / (double)IBCC_PS_PER_MS);
	for (uint32_t i = 0; i <= named; i++) {
		uint32_t outq = circle[(first + (i < named ? i : n)) % n];

		if (i == named && n > named)
			add(buf, len, " waits for ...");
		if (i)
			add(buf, len, " waits for ");
		ibcc_topo_port_name(e->topo, outq / e->n_vls, name, sizeof(name));
		add(buf, len, name);
		snprintf(vl, sizeof(vl), " VL %u", outq % e->n_vls);
		if (e->n_vls > 1)
			add(buf, len, vl);
	}
}

int ibcc_engine_deadlock(const struct ibcc_engine *e, char *buf, size_t len)
{
	struct search s = {
		.e = e,
		.stuck = calloc(e->n_outqs + 1u, sizeof(*s.stuck)),
		.told = calloc(e->n_ports + 1u, sizeof(*s.told)),
		.held = calloc(e->n_outqs + 1u, sizeof(*s.held)),
		.path = calloc(e->n_outqs + 1u, sizeof(*s.path)),
		.place = calloc(e->n_outqs + 1u, sizeof(*s.place)),
	};
	int rc = s.stuck && s.told && s.held && s.path && s.place ? 0 : -ENOMEM;
	uint32_t from, n, circle;

	if (len)
		buf[0] = '\0';
	if (rc)
		goto out;
	if (e->eth)
		ibcc_fab_evq_each(e, see_message, &s);
	from = find_stuck(&s);
	if (from == NONE)
		goto out;
	circle = find_circle(&s, from, &n);
	tell(e, &s.path[n - circle], circle, buf, len);
	rc = -EDEADLK;
out:
	free(s.stuck);
	free(s.told);
	free(s.held);
	free(s.path);
	free(s.place);
	return rc;
}
