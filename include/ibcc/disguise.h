/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A fabric under made-up names, for who may know its shape and not whose it is. */
#ifndef IBCC_DISGUISE_H
#define IBCC_DISGUISE_H

#include <stdint.h>

#include <ibcc/topo.h>

struct ibcc_disguise {
	struct ibcc_topo *topo; /* owned */
	uint32_t *port;         /* the port of the true topology by that of this one; owned */
};

/* The same fabric with its nodes in a drawn order, numbered in it: GUIDs, descriptions and LIDs are
 * made up by these numbers, forwarding tables have the new LIDs. LIDs that tables know and no port
 * has get new ones, too, in a drawn order of their own. What stays: links and the numbers of ports,
 * their states, rates, lanes and MTUs, LMCs, vendors and device types, SL to VL maps. The order is
 * `seed`'s: who knows it can undo this, so it is to come from a source that nobody can guess.
 * -ENOMEM; -EINVAL for a topology that has no room for its LIDs or is none.
 */
int ibcc_disguise_make(const struct ibcc_topo *t, uint64_t seed, struct ibcc_disguise *out);
void ibcc_disguise_fini(struct ibcc_disguise *d);

#endif
