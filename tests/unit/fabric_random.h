/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Random fabrics, for modules that walk by the forwarding tables. */
#ifndef TEST_FABRIC_RANDOM_H
#define TEST_FABRIC_RANDOM_H

#include <ibcc/rng.h>

#include "fabrics.h"

static inline bool fabric_one_in(uint64_t *rng, uint32_t n)
{
	return !ibcc_rng_below(rng, n);
}

/* Links a node's port to one of a switch, where a draw finds one without a link. */
static inline void fabric_link_random(struct ibcc_topo *t, uint64_t *rng, uint32_t node,
				      uint32_t num, uint32_t sw)
{
	uint32_t to = 1 + ibcc_rng_below(rng, t->node[sw].n_ports), mbps;

	if (t->port[fabric_port(t, sw, to)].peer != IBCC_NONE)
		return;
	mbps = 1000 + ibcc_rng_below(rng, 1000);
	if (node != sw)
		assert_int_equal(ibcc_topo_link(t, node, num, sw, to, mbps, 2048), 0);
}

/* Switches, then twice as many adapters, mostly with links. */
static inline struct ibcc_topo *fabric_random(uint64_t *rng, uint32_t switches, uint32_t ports)
{
	struct ibcc_topo *t = ibcc_topo_new();

	assert_non_null(t);
	for (uint32_t i = 0; i < switches; i++)
		fabric_node(t, IBCC_NODE_SWITCH, ports, "s");
	for (uint32_t i = 0; i < 2 * switches; i++)
		fabric_node(t, IBCC_NODE_CA, 1, "h");
	for (uint32_t i = 1; i < switches; i++)
		for (uint32_t k = 0; k < 3; k++) {
			uint32_t num = 1 + ibcc_rng_below(rng, ports);

			if (t->port[fabric_port(t, i, num)].peer == IBCC_NONE)
				fabric_link_random(t, rng, i, num, ibcc_rng_below(rng, i));
		}
	for (uint32_t i = 0; i < 2 * switches; i++)
		fabric_link_random(t, rng, switches + i, 1, i % switches);
	assert_int_equal(ibcc_route_compute(t), 0);
	return t;
}

/* Errors in tables, loops among them, and tables that were read in part. */
static inline void fabric_break_tables(struct ibcc_topo *t, uint64_t *rng, uint32_t switches)
{
	uint32_t errors = ibcc_rng_below(rng, 30);

	for (uint32_t i = 0; i < errors; i++) {
		struct ibcc_topo_node *sw = &t->node[ibcc_rng_below(rng, switches)];

		if (sw->lft_len)
			sw->lft[ibcc_rng_below(rng, sw->lft_len)] =
				(uint8_t)ibcc_rng_below(rng, sw->n_ports + 2u);
	}
	for (uint32_t i = 0; i < switches; i++) {
		struct ibcc_topo_node *sw = &t->node[i];

		sw->partial = fabric_one_in(rng, 8);
		for (uint32_t lid = 0; sw->partial && lid < sw->lft_len; lid++)
			if (fabric_one_in(rng, 2))
				sw->lft[lid] = IBCC_LFT_NONE;
		if (sw->partial && sw->lft_len)
			sw->lft_len -= ibcc_rng_below(rng, sw->lft_len);
	}
}

#endif
