/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* From items of `traffic` to flows. Private to scenario_traffic.c and traffic_*.c. */
#ifndef IBCC_FORMATS_TRAFFIC_H
#define IBCC_FORMATS_TRAFFIC_H

#include "scenario_parts.h"

/* Nodes at one side of an item of `traffic`. */
struct side {
	const struct ibcc_yaml *y;
	const struct ibcc_topo *topo;
	const char *path;
	uint32_t *node;
	uint32_t n, cap;
	bool all, many; /* the word `all`; more than one node may be meant */
	bool of_all;    /* `all`, perhaps without some */
};

/* An item of `traffic`. */
struct traffic_yaml {
	char name[IBCC_NAME_BYTES];
	const struct ibcc_yaml_node *from, *to;
	const struct ibcc_yaml_node *except, *to_except; /* senders and receivers left out */
	const struct ibcc_yaml_node *rate;
	int kind, arrivals, operation; /* arrivals -1: not given */
	double load_percent, start_ms, stop_ms, on_ms, off_ms;
	uint8_t sl;
	uint16_t queue_pairs;
	uint32_t queue_packets, rate_mbps, message_bytes, window, packet_bytes;
	bool merged;
};

/* Where a flow comes from, and which routes it takes. */
struct origin {
	const struct ibcc_yaml_node *item;
	struct ibcc_route_use use;
};

/* All flows so far. */
struct traffic {
	struct ibcc_scenario *s;
	uint32_t cap;
	struct origin *origin; /* of each flow */
	/* By node of the topology. */
	char (*text)[IBCC_NODE_TEXT_BYTES]; /* "": not needed yet */
	uint32_t *island;
	uint32_t n_sizes, size[IBCC_OTHER_SIZES]; /* of packets, other than the model's */
};

static inline uint32_t ibcc_traffic_permille(double percent)
{
	return (uint32_t)(percent * 10 + 0.5);
}

/* The name of a node in flows. */
const char *ibcc_traffic_node_text(const struct traffic *tr, uint32_t node);

/* Adds the flows of all pairs of an item's nodes; `f` has what they have in common. */
int ibcc_traffic_expand(struct traffic *tr, const struct traffic_yaml *ty, struct ibcc_flow_spec *f,
			const struct side *from, const struct side *to, const struct side *left_out,
			const struct ibcc_yaml_node *n, struct ibcc_yaml_errors *e);

/* Each flow must have a route, and those of all must not make a circle. -EINVAL, -ENOMEM. */
int ibcc_traffic_check_routes(const struct ibcc_yaml *y, const struct traffic *tr,
			      struct ibcc_yaml_errors *e);

#endif
