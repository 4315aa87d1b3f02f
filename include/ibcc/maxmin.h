/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The ideal: what flows could get at best if links and sinks were shared fairly, and no packet had
 * to wait for a place in a buffer.
 */
#ifndef IBCC_MAXMIN_H
#define IBCC_MAXMIN_H

#include <stddef.h>
#include <stdint.h>

/* A flow takes `share` of its rate from a resource: 1 for a link that all of it crosses, less when
 * it spreads over several paths or destinations.
 */
struct ibcc_maxmin_use {
	uint32_t resource; /* index of a capacity */
	double share;      /* > 0 */
};

struct ibcc_maxmin_flow {
	const struct ibcc_maxmin_use *use;
	size_t n_uses;
	double demand; /* at most this rate; INFINITY: as much as it can get */
	double rate;   /* the result, in the unit of the capacities */
};

/* Max-min fair allocation by filling all flows at one pace until their demand is met or a resource
 * is full (D. Bertsekas, R. Gallager, "Data Networks", 1992, section 6.5.2). capacity[r] >= 0. A
 * flow without demand limit and without resource is -EINVAL, as are indices out of range, shares
 * that are not positive, and negative numbers. -ENOMEM.
 */
int ibcc_maxmin_solve(const double *capacity, size_t n_resources, struct ibcc_maxmin_flow *flow,
		      size_t n_flows);

#endif
