/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a plan makes of roots where that depends on what is not known. Private to predictions. */
#ifndef IBCC_FABRIC_DOUBT_H
#define IBCC_FABRIC_DOUBT_H

#include <stdbool.h>

#include <ibcc/loads.h>
#include <ibcc/settings.h>
#include <ibcc/traffic.h>

/* Whether the roots' own rates cannot be told, whatever is simulated. At any of them:
 * - it matters who contributes, which counters tell only in sum: what all its sources would send
 *   under the wanted settings, at most and if each sends there what it is taken to send now,
 * differs by more than 0.35 of its rate. Roots share sources and links, so what is wrong at one is
 * wrong at all;
 * - at most 0.3 of its rate is left by the settings' limits alone, as where a tree is emptied
 * first: then it is a matter of how fast its sources recover. -ENOMEM.
 */
int ibcc_doubt_find(const struct ibcc_traffic_in *in, const struct ibcc_traffic *traffic,
		    const struct ibcc_settings *wanted, bool *doubt);

#endif
