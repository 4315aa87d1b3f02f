/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the two parts of the inference of traffic share. Private to them. */
#ifndef IBCC_DEMAND_TRAFFIC_H
#define IBCC_DEMAND_TRAFFIC_H

#include <ibcc/traffic.h>

/* Whether an adapter's port waits. */
bool ibcc_traffic_waits(const struct ibcc_traffic_in *in, uint32_t port);

/* Fills in `carried` and `demand` of all pairs: what they carry now, and what they would. -ENOMEM.
 */
int ibcc_traffic_fit(const struct ibcc_traffic_in *in, struct ibcc_traffic *t);

#endif
