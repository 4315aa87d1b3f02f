/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Multipath on average: where packets go when each switch spreads them over all shortest ways. */
#ifndef IBCC_ENGINE_SPREAD_H
#define IBCC_ENGINE_SPREAD_H

#include <ibcc/topo.h>

struct ibcc_spread;

/* The topology must outlive it. NULL without memory. */
struct ibcc_spread *ibcc_spread_new(const struct ibcc_topo *t);
void ibcc_spread_free(struct ibcc_spread *x);

/* Calls use() for each port that packets between two ports of channel adapters leave by, with the
 * share of them that does; the source's port comes first, the one to the destination last. A switch
 * shares evenly among those outputs whose capacity is not 0, or, where that is so of all, among
 * all. Returns what use() does if not 0, else 0; -EINVAL: there is no way; -ENOMEM.
 */
int ibcc_spread_pair(struct ibcc_spread *x, uint32_t src, uint32_t dst, const double *capacity,
		     int (*use)(void *arg, uint32_t port, double share), void *arg);

#endif
