/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a walk knows. Private to walk*.c. */
#ifndef IBCC_CORE_WALK_STATE_H
#define IBCC_CORE_WALK_STATE_H

#include <stddef.h>

#include <ibcc/smp.h>
#include <ibcc/walk.h>

struct walk_port {
	struct ibcc_smp_port_info info; /* state 0: no answer yet */
	uint64_t guid;
	struct ibcc_walk_node *peer;
	uint8_t peer_port;
};

struct walk_map {
	uint8_t in, out, vl[16];
};

struct ibcc_walk_node {
	struct ibcc_smp_node_info info;
	struct ibcc_smp_path path;
	char desc[IBCC_DESC_BYTES];
	bool enhanced_port0;
	struct walk_port *port; /* 0 .. num_ports */
	uint8_t *lft;
	uint32_t lft_len;
	struct walk_map *map;
	uint32_t n_maps, cap_maps;
	uint32_t index; /* in the topology */
};

struct ibcc_walk {
	struct ibcc_walk_options o;
	struct ibcc_walk_node **node; /* in the order of their GUIDs */
	uint32_t n, cap;
	struct ibcc_walk_node *first;
	uint8_t local_port; /* of the first node */
	struct ibcc_walk_get *todo;
	size_t head, n_todo, cap_todo;
	size_t n_busy;
	unsigned int n_odd;
	struct ibcc_walk_get *gap; /* given up */
	size_t n_gaps, cap_gaps;
};

#endif
