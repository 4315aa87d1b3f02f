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
	bool asked_ext, asked_fdr10; /* see walk_rates.c */
};

struct walk_map {
	uint8_t in, out, vl[16];
};

struct ibcc_walk_node {
	struct ibcc_smp_node_info info;
	struct ibcc_smp_path path;
	char desc[IBCC_DESC_BYTES];
	bool enhanced_port0;
	bool withholds, has_fdr10; /* found at one of its ports */
	uint8_t n_ext_probes, n_fdr10_probes;
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
	uint32_t n_ca_probes;      /* adapters' ports asked for extended speeds */
	bool ca_withholds;         /* one of them did not tell them at first */
	bool no_fdr10;             /* somebody kept silent about it: nobody is asked any more */
	struct ibcc_walk_get *gap; /* given up */
	size_t n_gaps, cap_gaps;
};

/* walk.c: puts a Get into the queue. -ENOMEM. */
int ibcc_walk_ask(struct ibcc_walk *w, struct ibcc_walk_node *n, uint16_t attr_id,
		  uint32_t attr_mod, uint8_t out_port);

/* walk_rates.c: asks for what may be faster than it reads, and takes an answer. -ENOMEM. */
int ibcc_walk_ask_rates(struct ibcc_walk *w, struct ibcc_walk_node *n);
int ibcc_walk_take_rate(struct ibcc_walk *w, const struct ibcc_walk_get *g, const uint8_t *mad);
/* Is the Get one of those? A node that does not answer it lacks nothing. */
static inline bool ibcc_walk_is_rate(const struct ibcc_walk_get *g)
{
	return g->attr_id == IBCC_SMP_ATTR_EXT_PORT_INFO ||
	       (g->attr_id == IBCC_SMP_ATTR_PORT_INFO && g->attr_mod & IBCC_SMP_EXT_SPEEDS);
}

#endif
