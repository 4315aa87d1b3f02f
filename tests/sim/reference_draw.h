/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Random cases for the engine and the reference: the seed of a case gives its fabric, its model,
 * its control and its flows.
 */
#ifndef TEST_REFERENCE_DRAW_H
#define TEST_REFERENCE_DRAW_H

#include <ibcc/dcqcn.h>

#include "reference.h"

#define REF_SWITCH_PORTS 16u

struct draw {
	struct ref_case c;
	uint64_t from, until; /* of the window in which packets are counted */
	struct ibcc_dcqcn d;  /* what c.dcqcn is for the engine */
};

/* Case number `seed`, with DCQCN or with annex A10. A plain one has one packet size, equal buffers
 * of all switches and of all hosts, outputs that serve in turns, sinks that do not change, and no
 * messages: it stays the same when more is drawn for others.
 */
struct draw ref_draw(uint64_t seed, bool dcqcn, bool plain);

/* A case of those, on several VLs, or with PAUSE: with SL to VL tables by input and output, and
 * tables by which ports choose among VLs, or without.
 */
struct draw ref_draw_lanes(uint64_t seed, bool dcqcn);

/* A case of either kind with all that the reference has besides: flows to all, service levels of
 * paths, flows that share queue pairs, that are on at times or end, parts of the fabric without a
 * link between them, links that change, go down and come up.
 */
struct draw ref_draw_all(uint64_t seed, bool dcqcn);

/* The same case with other starts and other chances: those that the engine takes by its seed, so
 * that both see the same packets come.
 */
void ref_vary(struct draw *d, uint64_t seed);

#endif
