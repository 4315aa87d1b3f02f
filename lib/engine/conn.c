/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Connections: packet sequence numbers, NAKs, going back N, placement out of order. conn.h
 * explains the protocol; endpoint.c connects it with flows, packets and time.
 */
#include "conn.h"

#include <errno.h>
#include <stdlib.h>

#define WORD_BITS 64u

int ibcc_conn_init(struct conn *c, bool ooo, uint32_t window, uint32_t first_psn)
{
	uint32_t places = WORD_BITS;

	while (places < window)
		places *= 2;
	first_psn &= PSN_MASK;
	*c = (struct conn){ .ooo = ooo,
			    .window = window,
			    .mask = places - 1,
			    .una = first_psn,
			    .next = first_psn,
			    .high = first_psn,
			    .expected = first_psn,
			    .first_ps = calloc(places, sizeof(*c->first_ps)),
			    .placed = calloc(places / WORD_BITS, sizeof(*c->placed)) };
	if (c->first_ps && c->placed)
		return 0;
	ibcc_conn_fini(c);
	return -ENOMEM;
}

void ibcc_conn_fini(struct conn *c)
{
	free(c->first_ps);
	free(c->placed);
	c->first_ps = c->placed = NULL;
}

/* Takes the next packet to send. The time of the first sending is kept for its latency. */
uint32_t ibcc_conn_send(struct conn *c, uint64_t now_ps, bool *again)
{
	uint32_t psn = c->next;

	*again = conn_goes_back(c);
	c->next = psn_add(psn, 1);
	if (*again) {
		c->count.resent++;
	} else {
		c->first_ps[psn & c->mask] = now_ps;
		c->high = c->next;
	}
	return psn;
}

static bool is_placed(const struct conn *c, uint32_t psn)
{
	return c->placed[(psn & c->mask) / WORD_BITS] >> (psn % WORD_BITS) & 1;
}

static void set_placed(struct conn *c, uint32_t psn, bool on)
{
	uint64_t *word = &c->placed[(psn & c->mask) / WORD_BITS], bit = 1ull << (psn % WORD_BITS);

	*word = on ? *word | bit : *word & ~bit;
}

/* Bin 0 is of packets in order, bin i of those that are 2^(i - 1) to 2^i - 1 ahead. */
static void count_depth(struct conn *c, uint32_t ahead)
{
	unsigned int bin = ahead ? WORD_BITS / 2 - (unsigned int)__builtin_clz(ahead) : 0;

	c->count.depth[bin < IBCC_DEPTH_BINS ? bin : IBCC_DEPTH_BINS - 1]++;
	if (ahead > c->count.depth_max)
		c->count.depth_max = ahead;
}

/* The expected packet has come: it is complete, and with it all placed packets right behind it. */
static struct conn_receipt take_expected(struct conn *c)
{
	struct conn_receipt r = { .accepted = true, .answer = true, .from = c->expected };

	do {
		set_placed(c, c->expected, false);
		c->expected = psn_add(c->expected, 1);
		r.complete++;
	} while (is_placed(c, c->expected));
	c->asked = false;
	c->n_placed++;
	return r;
}

struct conn_receipt ibcc_conn_receive(struct conn *c, uint32_t psn)
{
	int32_t ahead = psn_diff(psn, c->expected);
	struct conn_receipt r = { .answer = true };

	if (ahead < 0 || is_placed(c, psn)) {
		c->count.duplicates++;
		return r;
	}
	count_depth(c, (uint32_t)ahead);
	if (!ahead)
		return take_expected(c);
	if (c->ooo) {
		set_placed(c, psn, true);
		c->n_placed++;
		r.accepted = true;
		return r;
	}
	c->count.out_of_order++;
	r.answer = r.nak = !c->asked;
	c->count.naks += r.nak;
	c->asked = true;
	return r;
}

uint32_t ibcc_conn_acked(struct conn *c, uint32_t psn, bool nak)
{
	int32_t n = psn_diff(psn, c->una);

	if (n < 0 || psn_diff(psn, c->high) > 0) /* overtaken by a later one */
		return 0;
	c->una = psn;
	if (nak || psn_diff(c->next, psn) < 0)
		c->next = psn;
	return (uint32_t)n;
}

void ibcc_conn_timed_out(struct conn *c)
{
	c->count.timeouts++;
	c->next = c->una;
}
