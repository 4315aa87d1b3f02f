/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whether it matters to a root who its contributors are. Private to predictions. */
#ifndef IBCC_FABRIC_DOUBT_H
#define IBCC_FABRIC_DOUBT_H

#include <stdbool.h>

#include <ibcc/loads.h>
#include <ibcc/settings.h>
#include <ibcc/traffic.h>

/* Counters tell contributors from others that wait behind a root's tree only in sum. doubt[], by
 * root, becomes true where what all would send under the wanted settings, at most and if each sends
 * there what it is taken to send now, differs by more than 0.35 of the root's rate. -ENOMEM.
 */
int ibcc_doubt_find(const struct ibcc_traffic_in *in, const struct ibcc_traffic *traffic,
		    const struct ibcc_settings *wanted, bool *doubt);

#endif
