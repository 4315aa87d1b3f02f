/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The reading part of a pass: counters, and settings when they are due. */
#ifndef IBCC_CYCLE_READ_H
#define IBCC_CYCLE_READ_H

#include <ibcc/cycle.h>

#define IBCC_READBACK_PASSES 60u

/* Reads what is due. With an applier that writes, it clears counters before they stop at their end.
 * Returns 0, or what the collector or the readback returns.
 */
int ibcc_cycle_observe(struct ibcc_cycle *c, const struct ibcc_act *act, struct ibcc_why *why);

#endif
