/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A scenario's true congestion, from its flows: the standard for what counters say. */
#ifndef PERFTEST_BENCH_TRUTH_H
#define PERFTEST_BENCH_TRUTH_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/formula.h>
#include <ibcc/ideal.h>
#include <ibcc/route.h>
#include <ibcc/scenario.h>

/* A sender's part in a root's congestion. */
enum ibcc_truth_part {
	IBCC_TRUTH_NOT, /* sends nothing through the root */
	/* sends through it, but gets all that it wants even if the root is shared fairly */
	IBCC_TRUTH_LIGHT,
	IBCC_TRUTH_HEAVY, /* the root is what limits it */
};

/* A switch port, or the adapter behind it, that limits at least two senders. */
struct ibcc_truth_root {
	uint32_t port;
	enum ibcc_congestion kind;
	uint32_t n_heavy;
	uint32_t feeder; /* the only port through which packets for it come; used by the search */
	uint8_t *part;   /* by port of the sender: enum ibcc_truth_part; owned */
	/* Number of pairs of source and destination that the root limits. All of them get an equal
	 * share of it. Also the payload that they get in all.
	 */
	uint32_t n_pairs;
	double pairs_mbps;
};

struct ibcc_truth {
	uint32_t n_roots;
	struct ibcc_truth_root *root; /* owned; most heavy senders first */
};

/* Finds roots by the max-min allocation at a time. A root is where a share is cut, and where the
 * flows that are cut come together. As ibcc_ideal_pairs(). *t needs ibcc_truth_fini() in any case.
 */
int ibcc_truth_find(const struct ibcc_scenario *s, uint64_t at_ps, struct ibcc_truth *t);
void ibcc_truth_fini(struct ibcc_truth *t);

/* The ports by which a pair's packets leave, with the source's own first; false if there is no
 * route.
 */
bool ibcc_truth_way(const struct ibcc_topo *t, const struct ibcc_ideal_pair *p,
		    struct ibcc_route *way);

/* Finds the adapters that send through one of the ports marked in through[]. Both arrays are by
 * port; sends[] is cleared first. As ibcc_ideal_pairs().
 */
int ibcc_truth_senders(const struct ibcc_scenario *s, uint64_t at_ps, const bool *through,
		       bool *sends);

/* Sets all nodes as the published formulas say for the congestion with the most senders (M. Gusat,
 * W. Denzel et al. 2006). Without congestion it sets nothing. Ports to adapters get their
 * Victim_Mask bits: without these, a slow adapter never causes marks.
 */
int ibcc_truth_formulas(struct ibcc_scenario *s, uint64_t at_ps);

#endif
