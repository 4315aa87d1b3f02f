/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which endports must not be written, whatever they answered. Reading an endport's settings clears
 * the reasons against it, so each of these functions is called again when it is due.
 */
#ifndef IBCC_CYCLE_SUPPORT_H
#define IBCC_CYCLE_SUPPORT_H

#include <ibcc/cycle.h>

/* Call each time that settings were read. Blocks endports where NVIDIA's own congestion control is
 * on, or may be, and those whose device type has the CongestionLog only.
 */
void ibcc_cycle_block_vendors(struct ibcc_cycle *c);

/* Call after an audit. Blocks endports to which another program has given settings that mark or
 * throttle: two writers would only overwrite each other. Transactions that a crash left open are no
 * sign of another program.
 */
void ibcc_cycle_block_foreign(struct ibcc_cycle *c);

/* Call before each decision. Blocks switches that ignore their settings. */
void ibcc_cycle_block_ignorers(struct ibcc_cycle *c);

#endif
