/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a plan makes of roots where that depends on what is not known. Private to predictions. */
#ifndef IBCC_FABRIC_DOUBT_H
#define IBCC_FABRIC_DOUBT_H

#include <stdbool.h>

#include <ibcc/loads.h>
#include <ibcc/settings.h>
#include <ibcc/traffic.h>

/* Whether the roots' own rates are left open by what is known. Under the wanted settings a root
 * sends something between two bounds: as many of its sources' present rates as their tables' ends
 * let through, if none recovers and none sends more than it is taken to send there now; and all
 * that it carries, if they do. Where between is a matter of how fast they recover and of who they
 * are, and counters tell neither. It is open where the bounds are wider apart than `width`, a share
 * of its rate, at any root: roots share sources and links, so what is wrong at one is wrong at all.
 * What passes another root first is up to that one, and is in no lower bound. -ENOMEM.
 */
int ibcc_doubt_find(const struct ibcc_traffic_in *in, const struct ibcc_traffic *traffic,
		    const struct ibcc_settings *wanted, double width, bool *open);

#endif
