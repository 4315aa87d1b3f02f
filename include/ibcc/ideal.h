/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The ideal of a scenario: what its flows would get if links and sinks were shared max-min fairly
 * and no packet ever stood in another's way. Results are given as a share of it.
 */
#ifndef IBCC_IDEAL_H
#define IBCC_IDEAL_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/scenario.h>

/* Pairs of source and destination that are computed at most. */
#define IBCC_IDEAL_MAX_PAIRS (1u << 19)
/* Ports and sinks on all their ways. */
#define IBCC_IDEAL_MAX_USES (1u << 23)

struct ibcc_ideal {
	double *flow_mbps; /* payload of each of the scenario's flows */
	double *node_mbps; /* payload into each node of the topology */
	/* Payload that each channel adapter could take, by its link and its sink. */
	double *capacity_mbps;
};

/* Mean rates between two times: the demands, sink rates and links that are in force are filled for
 * each stretch between changes, and the stretches averaged. Each pair of source and destination
 * counts as a flow of its own, with an equal part of the demand where a flow goes to all; a link
 * carries payload in the ratio of a packet to its wire length. Queues are not: what piled up
 * before is no demand, so that a fabric that works off a backlog may do better than the ideal.
 *
 * With random and adaptive routing, each switch spreads a pair's packets evenly over its outputs on
 * shortest ways whose links are up. That is what random routing does on average. Adaptive routing
 * may do better than this ideal, where it takes more by a way that others leave free.
 *
 * Returns 0; -EINVAL (to_ps not after from_ps, a node that does not exist, a destination without
 * route), -E2BIG (more than IBCC_IDEAL_MAX_PAIRS or IBCC_IDEAL_MAX_USES), -ENOMEM. *out needs
 * ibcc_ideal_fini() after 0.
 */
int ibcc_ideal_compute(const struct ibcc_scenario *s, uint64_t from_ps, uint64_t to_ps,
		       struct ibcc_ideal *out);
void ibcc_ideal_fini(struct ibcc_ideal *i);

/* What holds a pair of source and destination below its demand. */
struct ibcc_ideal_pair {
	uint32_t flow;                 /* of the scenario */
	uint32_t src_port, dst_node;   /* indices of the topology */
	double demand_mbps, rate_mbps; /* demand INFINITY: backlogged */
	/* The full port nearest to the destination at which the pair has no less than any other;
	 * IBCC_NONE where it gets its demand. `sink`: it is the destination's own rate, and the
	 * port is the one that leads to it.
	 */
	uint32_t bottleneck;
	bool sink;
};

/* Calls fn for each pair that has something to send at a time. Returns what fn does, or as
 * ibcc_ideal_compute().
 */
int ibcc_ideal_pairs(const struct ibcc_scenario *s, uint64_t at_ps,
		     int (*fn)(void *arg, const struct ibcc_ideal_pair *p), void *arg);

#endif
