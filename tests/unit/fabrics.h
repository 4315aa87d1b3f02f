/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Small fabrics that several tests build on. All links are 4X QDR unless said otherwise. */
#ifndef TEST_FABRICS_H
#define TEST_FABRICS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "figures.h"

#include <ibcc/route.h>
#include <ibcc/topo.h>

#define QDR_MBPS 32000u

static inline uint32_t fabric_node(struct ibcc_topo *t, enum ibcc_node_type type,
				   unsigned int n_ports, const char *desc)
{
	int64_t node =
		ibcc_topo_add_node(t, 0x1000 + 0x100 * (uint64_t)t->n_nodes, type, n_ports, desc);

	assert_true(node >= 0);
	return (uint32_t)node;
}

static inline void fabric_link(struct ibcc_topo *t, uint32_t a, unsigned int pa, uint32_t b,
			       unsigned int pb)
{
	assert_int_equal(ibcc_topo_link(t, a, pa, b, pb, QDR_MBPS, 2048), 0);
}

/* P. Huang's Lustre fabric: sources src1..src4 at ports 1..4 of sw1, whose port 5 goes to port 5 of
 * sw2; sinks slow and fast at ports 1 and 2 of sw2. Nodes in the order of the enum.
 */
enum lustre_node {
	LUSTRE_SRC1,
	LUSTRE_SRC2,
	LUSTRE_SRC3,
	LUSTRE_SRC4,
	LUSTRE_SLOW,
	LUSTRE_FAST,
	LUSTRE_SW1,
	LUSTRE_SW2,
};

static inline struct ibcc_topo *fabric_lustre(void)
{
	static const char *const name[] = { "src1", "src2", "src3", "src4", "slow", "fast" };
	struct ibcc_topo *t = ibcc_topo_new();

	assert_non_null(t);
	for (unsigned int i = 0; i < 6; i++)
		fabric_node(t, IBCC_NODE_CA, 1, name[i]);
	fabric_node(t, IBCC_NODE_SWITCH, 8, "sw1");
	fabric_node(t, IBCC_NODE_SWITCH, 8, "sw2");
	for (unsigned int i = 0; i < 4; i++)
		fabric_link(t, LUSTRE_SRC1 + i, 1, LUSTRE_SW1, i + 1);
	fabric_link(t, LUSTRE_SW1, 5, LUSTRE_SW2, 5);
	fabric_link(t, LUSTRE_SLOW, 1, LUSTRE_SW2, 1);
	fabric_link(t, LUSTRE_FAST, 1, LUSTRE_SW2, 2);
	assert_int_equal(ibcc_route_compute(t), 0);
	return t;
}

/* Port index of a channel adapter's only port, or of a switch's port. */
static inline uint32_t fabric_port(const struct ibcc_topo *t, uint32_t node, unsigned int num)
{
	uint32_t port = ibcc_topo_port_index(t, node, num);

	assert_true(port != IBCC_NONE);
	return port;
}

/* The m-port 2-tree (Lin, Chung, Huang 2004): m leaf switches with m/2 adapters each, m/2 roots;
 * port j (1..m/2) of a leaf goes down, port m/2 + r to root r's port of that leaf. Adapters are
 * nodes 0 .. m*m/2-1, then the leaves, then the roots.
 */
static inline struct ibcc_topo *fabric_tree2(unsigned int m)
{
	unsigned int half = m / 2, n_cas = m * half;
	struct ibcc_topo *t = ibcc_topo_new();
	char desc[32];

	assert_non_null(t);
	for (unsigned int i = 0; i < n_cas; i++) {
		snprintf(desc, sizeof(desc), "h%u", i);
		fabric_node(t, IBCC_NODE_CA, 1, desc);
	}
	for (unsigned int i = 0; i < m + half; i++) {
		snprintf(desc, sizeof(desc), i < m ? "leaf%u" : "root%u", i < m ? i : i - m);
		fabric_node(t, IBCC_NODE_SWITCH, m, desc);
	}
	for (unsigned int leaf = 0; leaf < m; leaf++) {
		for (unsigned int j = 0; j < half; j++)
			fabric_link(t, leaf * half + j, 1, n_cas + leaf, j + 1);
		for (unsigned int r = 0; r < half; r++)
			fabric_link(t, n_cas + leaf, half + r + 1, n_cas + m + r, leaf + 1);
	}
	assert_int_equal(ibcc_route_compute(t), 0);
	return t;
}

/* A ring of n switches s0, s1 ... with two hosts each at ports 1 and 2; port 3 leads to the next
 * one, port 4 to the one before. Hosts h0, h1 ... are the first nodes, those of a switch beside
 * each other.
 */
static inline struct ibcc_topo *fabric_ring(unsigned int n)
{
	struct ibcc_topo *t = ibcc_topo_new();
	char desc[32];

	assert_non_null(t);
	for (unsigned int i = 0; i < 3 * n; i++) {
		snprintf(desc, sizeof(desc), "%c%u", i < 2 * n ? 'h' : 's',
			 i < 2 * n ? i : i - 2 * n);
		fabric_node(t, i < 2 * n ? IBCC_NODE_CA : IBCC_NODE_SWITCH, i < 2 * n ? 1 : 4,
			    desc);
	}
	for (unsigned int i = 0; i < n; i++) {
		fabric_link(t, 2 * i, 1, 2 * n + i, 1);
		fabric_link(t, 2 * i + 1, 1, 2 * n + i, 2);
		fabric_link(t, 2 * n + i, 3, 2 * n + (i + 1) % n, 4);
	}
	assert_int_equal(ibcc_route_compute(t), 0);
	return t;
}

#endif
