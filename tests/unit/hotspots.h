/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Invented parameters.
 *
 * A mild root: 6 sources for 32000 Mb/s need x = 6 * 32000 / 32000 - 1 = 5 and a table to 1.15 * 5
 * + .5 = 6.25 packet times. A source has a packet in 6 * 2000 * 8 / 32000 = 3 us, and a timer of 3
 * / (.12 * 1.024) = 24.4, rounded up.
 *
 * A severe root: 36 sources for 3200 Mb/s, x = 359, 413.35 packet times, 180 us. A BECN is sqrt(36
 * / 9) = 2 entries, the timer 180 / (.12 * 2 * 1.024) = 732.4.
 */
#ifndef TEST_HOTSPOTS_H
#define TEST_HOTSPOTS_H

#include <errno.h>
#include <stdlib.h>

#include "tuners.h"

#include <ibcc/target.h>

static inline void enlist(const struct fixture *f, struct ibcc_root_parameters *r, uint32_t first,
			  uint32_t last)
{
	for (uint32_t i = first; i <= last; i++)
		r->member[endport_of(f, i)] = true;
}

static inline struct ibcc_root_parameters *root_at(const struct fixture *f,
						   struct ibcc_parameters *p, uint32_t node,
						   unsigned int num, enum ibcc_congestion kind,
						   uint32_t n, uint32_t mbps)
{
	struct ibcc_root_state *s;
	struct ibcc_root_parameters *r;

	p->n_endports = f->t->n_endports;
	s = ibcc_parameters_add(p, fabric_port(f->t, node, num));
	assert_non_null(s);
	r = &s->r;
	assert_int_equal(r->phase, IBCC_PHASE_WATCH);
	r->kind = kind;
	r->phase = IBCC_PHASE_HOLD;
	r->basis = IBCC_BASIS_MARKED;
	r->n = r->n_heavy = n;
	r->rate_mbps = mbps;
	r->packet_bytes = 2000;
	r->threshold = kind == IBCC_CONGESTION_INPUT ? 8 : 12;
	r->interval_ns = 1000000;
	return r;
}

/* Adapters 0 to 5 send to the mild root and 4 to 7 to the severe one. */
struct two {
	struct ibcc_parameters p;
	struct ibcc_root_parameters *mild, *severe;
};

static inline void two_roots(const struct fixture *f, struct two *h)
{
	*h = (struct two){ 0 };
	h->mild = root_at(f, &h->p, 8, 3, IBCC_CONGESTION_INPUT, 6, QDR_MBPS);
	h->severe = root_at(f, &h->p, 11, 1, IBCC_CONGESTION_OUTPUT, 36, QDR_MBPS / 10);
	enlist(f, h->mild, 0, 5);
	enlist(f, h->severe, 4, 7);
}

#endif
