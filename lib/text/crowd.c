/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which client sends most of the requests (crowd.h), with two windows of constant size. `ahead`
 * is the counter of the majority vote algorithm (R. Boyer, J. Moore, 1981): the key left at the
 * end is that of any client with more than half.
 */
#include <ibcc/crowd.h>

#include <string.h>

/* Begins a new window when the present one is over. */
static void go_on(struct ibcc_crowd *c, uint64_t now_us)
{
	static const struct ibcc_crowd_window empty;
	uint64_t age_us = now_us - c->begin_us;

	if (age_us < IBCC_CROWD_WINDOW_US)
		return;
	c->last = age_us < 2 * IBCC_CROWD_WINDOW_US ? c->now : empty;
	c->now = empty;
	c->begin_us = now_us;
}

void ibcc_crowd_count(struct ibcc_crowd *c, const uint8_t key[IBCC_CROWD_KEY_BYTES],
		      uint64_t now_us)
{
	struct ibcc_crowd_window *w = &c->now;

	go_on(c, now_us);
	w->n++;
	if (!w->ahead)
		memcpy(w->key, key, sizeof(w->key));
	if (!memcmp(w->key, key, sizeof(w->key)))
		w->ahead++;
	else
		w->ahead--;
}

const struct ibcc_crowd_window *ibcc_crowd_look(struct ibcc_crowd *c, uint64_t now_us)
{
	go_on(c, now_us);
	return c->now.n > c->last.n ? &c->now : &c->last;
}
