/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which endports must not be written, whatever they answered. Reading the settings of an endport
 * lifts what is against it, so each of these is called again when it is due.
 */
#ifndef IBCC_CYCLE_SUPPORT_H
#define IBCC_CYCLE_SUPPORT_H

#include <ibcc/cycle.h>

/* Each time settings were read: those where NVIDIA's own congestion control is on, or may be. */
void ibcc_cycle_block_vendors(struct ibcc_cycle *c);

/* After an audit: those that another program has given settings which mark or throttle. Two writers
 * would only take turns. What a crash left open is no sign of another program.
 */
void ibcc_cycle_block_foreign(struct ibcc_cycle *c);

/* Before each decision: switches that do nothing with their settings. */
void ibcc_cycle_block_ignorers(struct ibcc_cycle *c);

#endif
