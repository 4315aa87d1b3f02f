/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Inside of the inference of traffic. */
#ifndef IBCC_CORE_TRAFFIC_H
#define IBCC_CORE_TRAFFIC_H

#include <ibcc/traffic.h>

/* Is it held up? */
bool ibcc_traffic_waits(const struct ibcc_traffic_in *in, uint32_t port);

/* Gives pairs what they carry and what they would: `carried` and `demand`. -ENOMEM. */
int ibcc_traffic_fit(const struct ibcc_traffic_in *in, struct ibcc_traffic *t);

#endif
