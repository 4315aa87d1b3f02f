/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Who the packets are from and for that a port marks. Internal to the estimator. */
#ifndef IBCC_ESTIMATE_PAIRS_H
#define IBCC_ESTIMATE_PAIRS_H

#include <ibcc/estimate.h>

/* Sorts what switches logged in the snapshot's pass to ports, and gives each root its own. What no
 * adapter of the topology sent, or whose route does not pass the switch, is left out. -ENOMEM.
 */
int ibcc_estimate_pairs(const struct ibcc_topo *t, const struct ibcc_snapshot *s,
			struct ibcc_estimate *e);

#endif
