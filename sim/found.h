/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the observer has seen of the fabric so far, and the topology that it makes. */
#ifndef SIM_FOUND_H
#define SIM_FOUND_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/smp.h>
#include <ibcc/topo.h>

struct ibcc_found_port {
	struct ibcc_smp_port_info info;
	bool asked; /* for the node behind it */
	struct ibcc_found_node *peer;
	uint8_t peer_port;
};

struct ibcc_found_node {
	struct ibcc_smp_node_info info;
	struct ibcc_smp_switch_info sw;
	struct ibcc_smp_path path;
	char desc[IBCC_DESC_BYTES];
	uint8_t n_ports;
	struct ibcc_found_port *port; /* 0 .. n_ports */
	uint8_t *lft;
	uint32_t lft_len;
	uint8_t (*sl2vl)[16]; /* as in ibcc_topo_node */
	uint32_t index;
};

/* Nodes in the order of their GUIDs. All zero is empty. */
struct ibcc_found {
	struct ibcc_found_node **node;
	uint32_t n, cap;
};
void ibcc_found_clear(struct ibcc_found *f);

/* NULL if there is none. */
struct ibcc_found_node *ibcc_found_find(const struct ibcc_found *f, uint64_t guid);
/* A node that is not there yet; NULL without memory. */
struct ibcc_found_node *ibcc_found_add(struct ibcc_found *f, const struct ibcc_smp_node_info *ni,
				       const struct ibcc_smp_path *path);

/* A port whose link is up at both ends and known from both. */
static inline bool ibcc_found_linked(const struct ibcc_found_port *p)
{
	return p->peer && p->info.phys_state == 5 &&
	       p->peer->port[p->peer_port].info.phys_state == 5;
}

/* NULL without memory. */
struct ibcc_topo *ibcc_found_topo(const struct ibcc_found *f);

#endif
