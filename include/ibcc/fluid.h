/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What traffic gets where control holds at some roots: rates without packets. */
#ifndef IBCC_FLUID_H
#define IBCC_FLUID_H

#include <stdbool.h>

#include <ibcc/topo.h>
#include <ibcc/traffic.h>

/* Max-min fair rates (see <ibcc/maxmin.h>) of the pairs into rate[], in Mb/s. Pairs through a root
 * that holds (`holds` by root; NULL: none) are flows of their own: their source passes them over
 * while they are throttled. All else of a source is one flow that goes as its slowest part does, in
 * the ratio of what its pairs carry. Links carry their rate, roots of kind OUTPUT what they send.
 * Whether control holds cannot be seen from it. -ENOMEM.
 */
int ibcc_fluid_solve(const struct ibcc_topo *t, const struct ibcc_traffic *traffic,
		     uint32_t n_roots, const struct ibcc_traffic_root *root, const bool *holds,
		     double *rate);

#endif
