/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Routes against hand-made tables and against the arithmetic of d-mod-k. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabrics.h"

static uint16_t lid_of(const struct ibcc_topo *t, uint32_t node)
{
	return t->port[fabric_port(t, node, ibcc_topo_is_switch(t, node) ? 0 : 1)].lid;
}

static void test_two_switches(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	uint32_t src = fabric_port(t, LUSTRE_SRC2, 1);
	uint16_t slow = lid_of(t, LUSTRE_SLOW);
	struct ibcc_route r;

	(void)state;
	/* Adapters first, in order, then switches. */
	for (uint16_t i = 0; i < 8; i++)
		assert_int_equal(lid_of(t, i), i + 1);
	assert_int_equal(ibcc_route_follow(t, src, slow, &r), 0);
	assert_int_equal(r.n, 3);
	assert_int_equal(r.out[0], src);
	assert_int_equal(r.out[1], fabric_port(t, LUSTRE_SW1, 5));
	assert_int_equal(r.out[2], fabric_port(t, LUSTRE_SW2, 1));
	assert_true(ibcc_route_leaves_by(&r, fabric_port(t, LUSTRE_SW2, 1)));
	assert_int_equal(ibcc_route_follow(t, src, lid_of(t, LUSTRE_FAST), &r), 0);
	assert_false(ibcc_route_leaves_by(&r, fabric_port(t, LUSTRE_SW2, 1)));
	assert_true(ibcc_route_leaves_by(&r, fabric_port(t, LUSTRE_SW1, 5)));
	/* Among neighbours of a switch, to switches, to oneself. */
	assert_int_equal(ibcc_route_follow(t, src, lid_of(t, LUSTRE_SRC1), &r), 0);
	assert_int_equal(r.n, 2);
	assert_int_equal(ibcc_route_follow(t, src, lid_of(t, LUSTRE_SW2), &r), 0);
	assert_int_equal(r.n, 2);
	assert_int_equal(r.out[1], fabric_port(t, LUSTRE_SW1, 5));
	assert_int_equal(ibcc_route_follow(t, src, t->port[src].lid, &r), 0);
	assert_int_equal(r.n, 0);
	ibcc_topo_free(t);
}

static void set_entry(struct ibcc_topo *t, uint32_t node, uint16_t lid, uint8_t port)
{
	assert_true(lid < t->node[node].lft_len);
	t->node[node].lft[lid] = port;
}

static void test_broken_tables(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	uint32_t src = fabric_port(t, LUSTRE_SRC1, 1);
	uint16_t slow = lid_of(t, LUSTRE_SLOW);
	struct ibcc_route r = { .n = 77 };

	(void)state;
	assert_int_equal(ibcc_route_follow(t, fabric_port(t, LUSTRE_SW1, 1), slow, &r), -EINVAL);
	assert_int_equal(ibcc_route_follow(t, fabric_port(t, LUSTRE_SW1, 0), slow, &r), -EINVAL);
	assert_int_equal(ibcc_route_follow(t, IBCC_NONE, slow, &r), -EINVAL);
	assert_int_equal(ibcc_route_follow(t, src, 0, &r), -EINVAL);
	assert_int_equal(ibcc_route_follow(t, src, 0xc000, &r), -EINVAL);
	assert_int_equal(r.n, 77);

	/* Beyond the table, no entry, an entry to a wrong adapter, a port that is not there. */
	assert_int_equal(ibcc_route_follow(t, src, 0xbfff, &r), -ENOENT);
	assert_int_equal(r.n, 1);
	set_entry(t, LUSTRE_SW2, slow, IBCC_LFT_NONE);
	assert_int_equal(ibcc_route_follow(t, src, slow, &r), -ENOENT);
	assert_int_equal(r.n, 2);
	set_entry(t, LUSTRE_SW2, slow, 2);
	assert_int_equal(ibcc_route_follow(t, src, slow, &r), -ENOENT);
	assert_int_equal(r.n, 3);
	set_entry(t, LUSTRE_SW2, slow, 200);
	assert_int_equal(ibcc_route_follow(t, src, slow, &r), -ENOLINK);
	set_entry(t, LUSTRE_SW2, slow, 7);
	assert_int_equal(ibcc_route_follow(t, src, slow, &r), -ENOLINK);
	assert_int_equal(r.n, 2);

	/* Back and forth between both switches. */
	set_entry(t, LUSTRE_SW2, slow, 5);
	assert_int_equal(ibcc_route_follow(t, src, slow, &r), -ELOOP);
	assert_int_equal(r.n, IBCC_ROUTE_MAX_HOPS);

	ibcc_topo_unlink(t, src);
	assert_int_equal(ibcc_route_follow(t, src, slow, &r), -ENOLINK);
	assert_int_equal(r.n, 0);
	ibcc_topo_free(t);
}

static void test_back_to_back(void **state)
{
	struct ibcc_topo *t = ibcc_topo_new();
	uint32_t a = fabric_node(t, IBCC_NODE_CA, 2, "a"), b = fabric_node(t, IBCC_NODE_CA, 1, "b");
	struct ibcc_route r;

	(void)state;
	fabric_link(t, a, 1, b, 1);
	assert_int_equal(ibcc_route_compute(t), 0);
	/* The port without a link gets no LID. */
	assert_int_equal(t->port[fabric_port(t, a, 2)].lid, 0);
	assert_int_equal(ibcc_route_follow(t, fabric_port(t, a, 2), 2, &r), -EINVAL);
	assert_int_equal(ibcc_route_follow(t, fabric_port(t, a, 1), lid_of(t, b), &r), 0);
	assert_int_equal(r.n, 1);
	ibcc_topo_free(t);
}

/* In the 8-port 2-tree with d-mod-k adapter d is reached from another leaf over root d mod 4 only,
 * so each up link of a leaf serves the same number of destinations.
 */
static void test_tree2(void **state)
{
	const unsigned int m = 8, half = 4, n = 32;
	struct ibcc_topo *t = fabric_tree2(m);

	(void)state;
	for (uint32_t s = 0; s < n; s++) {
		for (uint32_t d = 0; d < n; d++) {
			struct ibcc_route r;

			assert_int_equal(
				ibcc_route_follow(t, fabric_port(t, s, 1), lid_of(t, d), &r), 0);
			if (s == d) {
				assert_int_equal(r.n, 0);
				continue;
			}
			if (s / half == d / half) {
				assert_int_equal(r.n, 2);
				assert_int_equal(r.out[1],
						 fabric_port(t, n + d / half, d % half + 1));
				continue;
			}
			assert_int_equal(r.n, 4);
			assert_int_equal(r.out[1],
					 fabric_port(t, n + s / half, half + d % half + 1));
			assert_int_equal(r.out[2], fabric_port(t, n + m + d % half, d / half + 1));
			assert_int_equal(r.out[3], fabric_port(t, n + d / half, d % half + 1));
		}
	}
	ibcc_topo_free(t);
}

/* The 4-port 3-tree: 16 adapters, 8 leaves and 8 middle switches in 4 groups, 4 roots. d-mod-k uses
 * digit 0 of the destination at the leaf and digit 1 in the middle, so each root serves the four
 * destinations with its number modulo 4.
 */
static void test_tree3(void **state)
{
	enum { LEAF = 16, MID = 24, ROOT = 32 };
	struct ibcc_topo *t = ibcc_topo_new();
	struct ibcc_route r;

	(void)state;
	for (unsigned int i = 0; i < 16; i++)
		fabric_node(t, IBCC_NODE_CA, 1, "h");
	for (unsigned int i = 0; i < 20; i++)
		fabric_node(t, IBCC_NODE_SWITCH, 4, "s");
	for (unsigned int i = 0; i < 16; i++)
		fabric_link(t, i, 1, LEAF + i / 2, i % 2 + 1);
	for (unsigned int g = 0; g < 4; g++)
		for (unsigned int l = 0; l < 2; l++)
			for (unsigned int u = 0; u < 2; u++)
				fabric_link(t, LEAF + 2 * g + l, 3 + u, MID + 2 * g + u, l + 1);
	for (unsigned int g = 0; g < 4; g++)
		for (unsigned int u = 0; u < 2; u++)
			for (unsigned int v = 0; v < 2; v++)
				fabric_link(t, MID + 2 * g + u, 3 + v, ROOT + u + 2 * v, g + 1);
	assert_int_equal(ibcc_route_compute(t), 0);
	for (uint32_t s = 0; s < 16; s++) {
		for (uint32_t d = 0; d < 16; d++) {
			if (s / 4 == d / 4)
				continue;
			assert_int_equal(
				ibcc_route_follow(t, fabric_port(t, s, 1), lid_of(t, d), &r), 0);
			assert_int_equal(r.n, 6);
			assert_int_equal(t->port[r.out[3]].node, ROOT + d % 4);
		}
	}
	ibcc_topo_free(t);
}

static void test_lids_kept(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_route r;

	(void)state;
	/* Own LIDs stay, several for one port are all forwarded, others go around them. */
	assert_int_equal(ibcc_topo_set_lid(t, fabric_port(t, LUSTRE_SLOW, 1), 16, 2), 0);
	assert_int_equal(ibcc_route_compute(t), 0);
	for (uint16_t lid = 16; lid < 20; lid++) {
		assert_int_equal(ibcc_route_follow(t, fabric_port(t, LUSTRE_SRC1, 1), lid, &r), 0);
		assert_int_equal(r.out[2], fabric_port(t, LUSTRE_SW2, 1));
	}
	/* Without the inter-switch link each of the two islands is routed by itself. */
	ibcc_topo_unlink(t, fabric_port(t, LUSTRE_SW1, 5));
	assert_int_equal(ibcc_route_compute(t), 0);
	assert_int_equal(
		ibcc_route_follow(t, fabric_port(t, LUSTRE_SRC1, 1), lid_of(t, LUSTRE_SLOW), &r),
		-ENOENT);
	assert_int_equal(
		ibcc_route_follow(t, fabric_port(t, LUSTRE_SRC1, 1), lid_of(t, LUSTRE_SRC2), &r),
		0);
	ibcc_topo_free(t);
}

/* n switches in a circle, each with a port to the next (2), to the one before (3) and to a host
 * (1). */
static struct ibcc_topo *ring(uint32_t n)
{
	struct ibcc_topo *t = ibcc_topo_new();

	assert_non_null(t);
	for (uint32_t i = 0; i < n; i++)
		fabric_node(t, IBCC_NODE_CA, 1, "h");
	for (uint32_t i = 0; i < n; i++)
		fabric_node(t, IBCC_NODE_SWITCH, 3, "s");
	for (uint32_t i = 0; i < n; i++) {
		fabric_link(t, i, 1, n + i, 1);
		fabric_link(t, n + i, 2, n + (i + 1) % n, 3);
	}
	assert_int_equal(ibcc_route_compute(t), 0);
	return t;
}

/* Of all hosts, which are the first nodes, to all. */
static void find_cycle(const struct ibcc_topo *t, uint32_t hosts, struct ibcc_route_lane *out,
		       uint32_t max, uint32_t *n)
{
	struct ibcc_route_use use[128];

	assert_true(hosts <= 128);
	for (uint32_t i = 0; i < hosts; i++)
		use[i] = (struct ibcc_route_use){ fabric_port(t, i, 1), IBCC_NONE, IBCC_NONE, 0 };
	assert_int_equal(ibcc_route_find_cycle(t, NULL, use, hosts, out, max, n), 0);
}

/* With five switches each way round is some route's of two hops, so that each output depends on the
 * next one; with three all routes have one hop. Trees go up and then down.
 */
static void test_cycles(void **state)
{
	struct ibcc_topo *t = ring(5);
	struct ibcc_route_lane out[5];
	uint32_t n = 77;
	uint8_t num;

	(void)state;
	find_cycle(t, 5, out, 5, &n);
	assert_int_equal(n, 5);
	num = t->port[out[0].port].num;
	assert_true(num == 2 || num == 3);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(t->port[out[i].port].num, num);
		assert_int_equal(t->port[t->port[out[i].port].peer].node,
				 t->port[out[(i + 1) % 5].port].node);
	}
	out[1].port = 77;
	find_cycle(t, 5, out, 1, &n);
	assert_int_equal(n, 5);
	assert_int_equal(out[1].port, 77);
	ibcc_topo_free(t);

	t = ring(3);
	find_cycle(t, 3, out, 5, &n);
	assert_int_equal(n, 0);
	/* A table that sends one LID round and round. */
	set_entry(t, 3, lid_of(t, 2), 2);
	set_entry(t, 4, lid_of(t, 2), 2);
	set_entry(t, 5, lid_of(t, 2), 2);
	find_cycle(t, 3, out, 5, &n);
	assert_int_equal(n, 3);
	ibcc_topo_free(t);

	t = fabric_tree2(8);
	find_cycle(t, 32, out, 5, &n);
	assert_int_equal(n, 0);
	ibcc_topo_free(t);
}

/* Leaves of a tree whose tables are mostly the same: leaf0, leaf1 and leaf2 are so from LID 64 on,
 * but for two entries. They send packets for b by root0, which sends them down to leaf2 and so up
 * again, by root1; and packets for a by root1, which sends them to leaf1, and so up again by root0.
 * Only leaf2 sends those for b by root1, and only leaf1 those for a by root0.
 */
static void test_cycle_of_equal_leaves(void **state)
{
	enum { M = 16, HALF = M / 2, HOSTS = M * HALF, LEAF = HOSTS, ROOT = HOSTS + M };
	struct ibcc_topo *t = fabric_tree2(M);
	uint16_t a = lid_of(t, 100), b = lid_of(t, HOSTS - 1);
	struct ibcc_route_lane out[4];
	uint32_t n, on_leaf1 = 0;

	(void)state;
	assert_in_range(a, 64, 127);
	assert_in_range(b, 128, 191);
	for (uint32_t leaf = LEAF; leaf < ROOT; leaf++) {
		if (leaf > LEAF && leaf < LEAF + 3)
			memcpy(t->node[leaf].lft + 64, t->node[LEAF].lft + 64,
			       t->node[LEAF].lft_len - 64);
		for (uint32_t h = HALF; h < 3 * HALF; h++)
			if (leaf != LEAF + h / HALF)
				set_entry(t, leaf, lid_of(t, h), HALF + 3);
		if (leaf != LEAF + 100 / HALF)
			set_entry(t, leaf, a, leaf == LEAF + 1 ? HALF + 1 : HALF + 2);
		if (leaf != LEAF + M - 1)
			set_entry(t, leaf, b, leaf == LEAF + 2 ? HALF + 2 : HALF + 1);
	}
	find_cycle(t, HOSTS, out, 4, &n);
	assert_int_equal(n, 0);
	set_entry(t, ROOT, b, 3);
	find_cycle(t, HOSTS, out, 4, &n);
	assert_int_equal(n, 0);
	set_entry(t, ROOT + 1, a, 2);
	find_cycle(t, HOSTS, out, 4, &n);
	assert_int_equal(n, 4);
	for (uint32_t i = 0; i < n; i++)
		on_leaf1 += out[i].port == fabric_port(t, LEAF + 1, HALF + 1);
	assert_int_equal(on_leaf1, 1);
	ibcc_topo_free(t);
}

/* A ring of five with two hosts at each switch, so that paths of the same switches differ: those of
 * the second hosts have SL 1, and those between first and second hosts are not known. Each kind
 * alone makes a circle on its own VL. There is none if the paths over one link have another SL.
 */
static void test_cycles_by_paths(void **state)
{
	struct ibcc_topo *t = ibcc_topo_new();
	struct ibcc_route_sls sls = { .n_ends = 0 };
	struct ibcc_route_use use[10];
	struct ibcc_route_lane out[5];
	uint32_t n;

	(void)state;
	assert_non_null(t);
	for (uint32_t i = 0; i < 10; i++)
		fabric_node(t, IBCC_NODE_CA, 1, "h");
	for (uint32_t i = 0; i < 5; i++)
		fabric_node(t, IBCC_NODE_SWITCH, 4, "s");
	for (uint32_t i = 0; i < 5; i++) {
		fabric_link(t, i, 1, 10 + i, 1);
		fabric_link(t, 5 + i, 1, 10 + i, 4);
		fabric_link(t, 10 + i, 2, 10 + (i + 1) % 5, 3);
	}
	for (uint32_t i = 0; i < t->n_ports; i++)
		t->port[i].op_vls = 4;
	assert_int_equal(ibcc_route_compute(t), 0);
	for (unsigned int kind = 0; kind < 3; kind++) {
		for (uint32_t i = 0; i < 25; i++) {
			uint32_t a = i / 5, b = i % 5;
			bool up = (b + 5 - a) % 5 <= 2, last = up ? b < a : b > a;

			for (uint32_t k = 0; k < 10; k += 5)
				assert_int_equal(
					ibcc_route_set_sl(
						t, &sls, fabric_port(t, a + k, 1),
						fabric_port(t, b + k, 1),
						(uint8_t)((k ? 1 : 0) +
							  (last && (kind == 2 || !k == !kind)
								   ? 2
								   : 0))),
					0);
		}
		for (uint32_t i = 0; i < 10; i++)
			use[i] = (struct ibcc_route_use){ fabric_port(t, i, 1), IBCC_NONE,
							  IBCC_NONE, 0 };
		assert_int_equal(ibcc_route_find_cycle(t, &sls, use, 10, out, 5, &n), 0);
		assert_int_equal(n, kind == 2 ? 0 : 5);
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(out[i].vl, !kind);
	}
	assert_int_equal(ibcc_route_sl(t, &sls, fabric_port(t, 6, 1), fabric_port(t, 5, 1)), 1);
	assert_int_equal(ibcc_route_sl(t, &sls, fabric_port(t, 5, 1), fabric_port(t, 9, 1)), 3);
	assert_int_equal(ibcc_route_sl(t, &sls, fabric_port(t, 0, 1), fabric_port(t, 6, 1)),
			 IBCC_ROUTE_NO_SL);
	assert_int_equal(ibcc_route_set_sl(t, &sls, fabric_port(t, 0, 1), fabric_port(t, 10, 2), 0),
			 -EINVAL);
	assert_int_equal(ibcc_route_set_sl(t, &sls, fabric_port(t, 0, 1), fabric_port(t, 1, 1), 16),
			 -EINVAL);
	ibcc_route_sls_fini(&sls);
	assert_false(ibcc_route_has_sls(&sls));
	ibcc_topo_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_switches),
		cmocka_unit_test(test_broken_tables),
		cmocka_unit_test(test_back_to_back),
		cmocka_unit_test(test_tree2),
		cmocka_unit_test(test_tree3),
		cmocka_unit_test(test_lids_kept),
		cmocka_unit_test(test_cycles),
		cmocka_unit_test(test_cycle_of_equal_leaves),
		cmocka_unit_test(test_cycles_by_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
