/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Small cases for the reference simulator. */
#ifndef TEST_REFERENCE_CASES_H
#define TEST_REFERENCE_CASES_H

#include "reference.h"

/* Hosts 0 .. n - 1 at one switch. */
static inline struct ref_case a_star(unsigned int n, uint32_t rate)
{
	struct ref_case c = { .n_hosts = n,
			      .n_switches = 1,
			      .n_links = n,
			      .packet = 2048,
			      .header = 26,
			      .cnp = 30,
			      .switch_buffer = 32768,
			      .host_buffer = 32768,
			      .link_delay = 25000,
			      .switch_delay = 100000,
			      .credit_delay = 100000,
			      .becn_delay = 1000000,
			      .mark_reference = 32768,
			      .hysteresis = 500 };

	for (unsigned int i = 0; i < n; i++)
		c.link[i] = (struct ref_link){ .end = { i, n }, .rate = rate };
	return c;
}

static inline unsigned int flow(struct ref_case *c, unsigned int from, unsigned int to)
{
	c->flow[c->n_flows] = (struct ref_flow){ .from = from, .to = to };
	return c->n_flows++;
}

/* The counts of a flow at a given time. */
static inline struct ref_count count(const struct ref_case *c, uint64_t until, unsigned int of)
{
	struct ref *r = ref_new(c);
	struct ref_count n;

	ref_run(r, until);
	n = ref_flow_count(r, of);
	ref_free(r);
	return n;
}

/* 2074 bytes at 32 Gb/s take 518.5 ns. The first packet has arrived after this time, two links and
 * the switch.
 */
#define T     518500ull
#define FIRST (T + 2 * 25000 + 100000)

#endif
