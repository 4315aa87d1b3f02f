/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which client does something too often: how often it was done within ten seconds, and by which
 * client most.
 *
 * Memory for one client only: the candidate is the one that the majority vote of Boyer and Moore
 * (Automated Reasoning, 1991) leaves. A client that did it more often than all others together is
 * always that candidate.
 */
#ifndef IBCC_CROWD_H
#define IBCC_CROWD_H

#include <stdint.h>

#define IBCC_CROWD_WINDOW_US 10000000u
#define IBCC_CROWD_KEY_BYTES 16u

/* One window of time. All zero is an empty one. */
struct ibcc_crowd_window {
	unsigned int n;                    /* occurrences in total */
	unsigned int ahead;                /* votes for the candidate that no other has cancelled */
	uint8_t key[IBCC_CROWD_KEY_BYTES]; /* the candidate; without meaning if n is 0 */
};

/* All zero at first. */
struct ibcc_crowd {
	uint64_t begin_us; /* of the window under way */
	struct ibcc_crowd_window now, last;
};

/* The client `key` has done it, at a time of one clock that never goes back. */
void ibcc_crowd_count(struct ibcc_crowd *c, const uint8_t key[IBCC_CROWD_KEY_BYTES],
		      uint64_t now_us);
/* The busier one of the window under way and the one before it, valid until the next call. */
const struct ibcc_crowd_window *ibcc_crowd_look(struct ibcc_crowd *c, uint64_t now_us);

#endif
