/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* From what is known about a hotspot to register values. */
#ifndef IBCC_LAW_H
#define IBCC_LAW_H

#include <stdint.h>

#include <ibcc/cct.h>
#include <ibcc/formula.h>
#include <ibcc/parameters.h>
#include <ibcc/topo.h>

/* A table reaches farther than the delay of the fair share by this margin. The numbers of a root
 * may also change by it before the formulas run again. If a table ends before the fair share,
 * control is lost; a smaller margin leaves no room for a source that was not counted. With half or
 * double of it random scenarios do not differ by more than chance.
 */
#define IBCC_LAW_MARGIN_PERMILLE 150u
/* Share of a source's packets that is marked in equilibrium. The published settings have 0.4, and a
 * longer queue; control ends at 1. With half of it random scenarios lose 0.8 points of the mean
 * at the start and 0.3 when settled; with double they lose none, but packets that do not go to
 * hotspots take 6 % longer.
 */
#define IBCC_LAW_MARK_SHARE 0.12
/* While a tree is emptied, a table ends DRAIN_END times as far, and DRAIN_STEPS BECNs lead to its
 * end. With half of DRAIN_END random scenarios lose 0.16 points of the mean at the start; with
 * double, and with half and double of DRAIN_STEPS, they do not differ by more than chance.
 */
#define IBCC_LAW_DRAIN_END   3.5
#define IBCC_LAW_DRAIN_STEPS 4u

struct ibcc_law_out {
	struct ibcc_cct cct;
	uint32_t fair_milli; /* x: delay at the fair share, 1/1000 packet times */
	uint32_t end_milli;  /* of the table's last entry */
	uint64_t n_int_ns;   /* time between packets of the heaviest flow */
	uint64_t loop_ns;    /* what increase * timer stands for: n_int_ns with feedback */
	uint8_t increase;
	uint16_t step_permille; /* of its rate that a BECN takes from a source */
	uint16_t timer;
	uint32_t mark_permille; /* share of packets marked in equilibrium */
	/* Where a bound cut off what the formulas came to, that; else 0. */
	uint32_t cut_end_milli;
	uint16_t cut_timer;
};

/* A contributor's values for a root: `source_mbps` is the data rate of its link, `cap_entries` how
 * many entries its table can have, at least 64. -EINVAL if a number is 0 that must not be.
 */
int ibcc_law_compute(const struct ibcc_root_parameters *r, uint32_t source_mbps,
		     uint32_t cap_entries, struct ibcc_law_out *out);

/* Keeps values within the longest delay of an entry, in packet times, and the longest timer. */
void ibcc_law_bound(uint32_t max_delay, uint16_t max_timer, struct ibcc_law_out *law);

/* What is added to 1.15 x where a table ends, 1/1000 packet times: 500, or 200 for a full link
 * whose pairs are known.
 */
uint32_t ibcc_law_extra_milli(const struct ibcc_root_parameters *r);

/* Where a contributor's table ends while no tree is emptied, 1/1000 packet times, moved by
 * feedback.
 */
uint32_t ibcc_law_end_milli(const struct ibcc_root_parameters *r, uint32_t source_mbps);

/* Data rate of the fastest link among a root's members; 1 without any. */
uint32_t ibcc_law_source_mbps(const struct ibcc_topo *t, const struct ibcc_root_parameters *r,
			      uint32_t n_endports);

/* Makes the table that ends at a delay, for an adapter with at most this many entries. The delays
 * of its up to 128 entries grow by one factor, from none in the first entry to the longest that an
 * entry can express in the last, and are cut off where they reach the end. -EINVAL.
 */
int ibcc_law_table(uint32_t cap_entries, uint32_t end_milli, struct ibcc_cct *cct);

/* x = n * C / R - 1, the delay that takes a source of rate C to its share R / n; 0 if it needs
 * none.
 */
uint32_t ibcc_law_fair_milli(uint32_t n, uint32_t source_mbps, uint32_t root_mbps);

/* Threshold register at a root of a kind. */
uint8_t ibcc_law_threshold(enum ibcc_congestion kind);

#endif
