/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A fabric under made-up names, for readers who may know its shape, but not which site owns it. */
#ifndef IBCC_DISGUISE_H
#define IBCC_DISGUISE_H

#include <stdint.h>

#include <ibcc/topo.h>

struct ibcc_disguise {
	struct ibcc_topo *topo; /* owned */
	uint32_t *port;         /* the port of the true topology by that of this one; owned */
};

/* Makes a copy of a fabric with its nodes in a random order, and numbered in it. GUIDs,
 * descriptions and LIDs are made from these numbers, and forwarding tables have the new LIDs. LIDs
 * in tables that no port has get new ones, too, in a random order of their own. What stays: links
 * and the numbers of ports, their states, rates, lanes and MTUs, LMCs, vendors and device types, SL
 * to VL maps. With `seed` the order can be found again and all of this undone, so it must not be
 * possible to guess. -ENOMEM; -EINVAL for a topology that has no room for its LIDs or is none.
 */
int ibcc_disguise_make(const struct ibcc_topo *t, uint64_t seed, struct ibcc_disguise *out);
void ibcc_disguise_fini(struct ibcc_disguise *d);

#endif
