/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a plan leaves of roots for certain. Private to predictions. */
#ifndef IBCC_FABRIC_DOUBT_H
#define IBCC_FABRIC_DOUBT_H

#include <ibcc/loads.h>
#include <ibcc/settings.h>
#include <ibcc/traffic.h>

/* Under the wanted settings a root sends something between two bounds: as much of its sources'
 * present rates as their tables' ends let through, if none recovers and none sends more than it is
 * taken to send there now; and all that it carries, if they do. Where between is a matter of how
 * fast they recover and of who they are, and counters tell neither. The lower bound into share[],
 * by root, as a share of what it sends now, at most 1; what passes another root first is up to that
 * one, and is not in it. -ENOMEM.
 */
int ibcc_doubt_least(const struct ibcc_traffic_in *in, const struct ibcc_traffic *traffic,
		     const struct ibcc_settings *wanted, double *share);

#endif
