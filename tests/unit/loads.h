/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Loads of links for tests of predictions. */
#ifndef TEST_LOADS_H
#define TEST_LOADS_H

#include "fabrics.h"

#include <ibcc/loads.h>

/* Adds what one adapter sends to another to the links of its route. */
static inline void loads_add(struct ibcc_loads *l, const struct ibcc_topo *t, uint32_t from,
			     uint32_t to, double mbps)
{
	struct ibcc_route r;

	assert_int_equal(ibcc_route_follow(t, fabric_port(t, from, 1),
					   t->port[fabric_port(t, to, 1)].lid, &r),
			 0);
	for (unsigned int i = 0; i < r.n; i++)
		l->mbps[r.out[i]] += mbps;
}

/* A host sends to a slow receiver and to a victim; now its traffic is a quarter of what it was, and
 * it waits for most of the time.
 */
static inline void loads_one_hotspot(struct ibcc_loads *before, struct ibcc_loads *now,
				     const struct ibcc_topo *t, uint32_t from, uint32_t slow,
				     uint32_t victim)
{
	assert_int_equal(ibcc_loads_init(before, t->n_ports), 0);
	assert_int_equal(ibcc_loads_init(now, t->n_ports), 0);
	before->n = now->n = IBCC_RECENT;
	loads_add(before, t, from, slow, 4000);
	loads_add(before, t, from, victim, 2000);
	loads_add(now, t, from, slow, 1000);
	loads_add(now, t, from, victim, 500);
	now->wait[fabric_port(t, from, 1)] = 0.95;
}

#endif
