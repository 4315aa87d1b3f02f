/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which traffic a twin needs as packets. Private to predictions. */
#ifndef IBCC_ENGINE_INVOLVED_H
#define IBCC_ENGINE_INVOLVED_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/topo.h>
#include <ibcc/traffic.h>

/* Writes into involved[], by pair, whether it can be blocked, now or under any settings. A link can
 * be full if it is a root, or if the demands of its pairs fill most of it. Packets that wait for
 * such a link fill the buffers before it, so all links on the paths there can be blocked, too.
 * Pairs through any of these links are involved, and all pairs of adapters that wait. An adapter
 * that does not wait behind a link that is full now is not blocked by it later either, so only its
 * pairs through the tree are involved. But if demands exceed what the link carries now, it may
 * block any adapter before it, and all their pairs are involved. All other pairs send what they
 * demand, whatever the rest does. `wait` is by port, as ibcc_loads has it. 0 or -ENOMEM.
 */
int ibcc_involved_pairs(const struct ibcc_topo *t, const struct ibcc_traffic *traffic,
			uint32_t n_roots, const struct ibcc_traffic_root *root, const double *wait,
			bool *involved);

#endif
