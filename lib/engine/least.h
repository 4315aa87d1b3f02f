/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How far a plan leaves the rate of a root open. Private to predictions. */
#ifndef IBCC_ENGINE_LEAST_H
#define IBCC_ENGINE_LEAST_H

#include <ibcc/loads.h>
#include <ibcc/settings.h>
#include <ibcc/traffic.h>

/* Under the wanted settings a root's rate lies between two bounds. The lower one is what the ends
 * of its sources' tables let through of their present rates, if no source recovers and none sends
 * more there than it is assumed to send now. The upper one is all that the root carries now. Where
 * between them it lies depends on how fast the sources recover and which hosts they are, and
 * counters show neither. Writes the lower bound of each root into share[], as a share of its
 * present rate, from 0 to 1. Traffic that passes another root first depends on that one and is not
 * included. 0 or -ENOMEM.
 */
int ibcc_least_rates(const struct ibcc_traffic_in *in, const struct ibcc_traffic *traffic,
		     const struct ibcc_settings *wanted, double *share);

#endif
