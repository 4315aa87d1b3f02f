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

#endif
