/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The ideal of a scenario: what its flows would get if links and sinks were shared max-min fairly
 * and no packet ever stood in another's way. Results are given as a share of it.
 */
#ifndef IBCC_IDEAL_H
#define IBCC_IDEAL_H

#include <stdint.h>

#include <ibcc/scenario.h>

/* Pairs of source and destination that are computed at most. */
#define IBCC_IDEAL_MAX_PAIRS (1u << 18)

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
 * Returns 0; -EINVAL (to_ps not after from_ps, a node that does not exist, a destination without
 * route), -E2BIG (more than IBCC_IDEAL_MAX_PAIRS, or packets that may take
 * any of several ways), -ENOMEM. *out needs ibcc_ideal_fini() after 0.
 */
int ibcc_ideal_compute(const struct ibcc_scenario *s, uint64_t from_ps, uint64_t to_ps,
		       struct ibcc_ideal *out);
void ibcc_ideal_fini(struct ibcc_ideal *i);

#endif
