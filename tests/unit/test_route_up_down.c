/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Up/down routes. The finder of circles is the witness: it knows nothing of up and down. */
#include <errno.h>
#include <stdlib.h>

#include "tests/unit/fabrics.h"

#include <ibcc/rng.h>

static uint16_t lid_of(const struct ibcc_topo *t, uint32_t node)
{
	return t->port[fabric_port(t, node, ibcc_topo_is_switch(t, node) ? 0 : 1)].lid;
}

static int go(const struct ibcc_topo *t, uint32_t from, uint32_t to, struct ibcc_route *r)
{
	return ibcc_route_follow(t, fabric_port(t, from, 1), lid_of(t, to), r);
}

/* All hosts, which are the first nodes, send to each other. */
static uint32_t circle_of_all(const struct ibcc_topo *t, uint32_t hosts)
{
	struct ibcc_route_use *use = calloc(hosts, sizeof(*use));
	struct ibcc_route_lane out[4];
	uint32_t n = 77;

	assert_non_null(use);
	for (uint32_t i = 0; i < hosts; i++)
		use[i] = (struct ibcc_route_use){ fabric_port(t, i, 1), IBCC_NONE, IBCC_NONE, 0 };
	assert_int_equal(ibcc_route_find_cycle(t, NULL, use, hosts, out, 4, &n), 0);
	free(use);
	return n;
}

/* n hosts, each at a switch of its own with so many ports more; host i's switch is node n + i. */
static struct ibcc_topo *switches(uint32_t n, unsigned int ports)
{
	struct ibcc_topo *t = ibcc_topo_new();

	assert_non_null(t);
	for (uint32_t i = 0; i < n; i++)
		fabric_node(t, IBCC_NODE_CA, 1, "h");
	for (uint32_t i = 0; i < n; i++)
		fabric_node(t, IBCC_NODE_SWITCH, ports + 1, "s");
	for (uint32_t i = 0; i < n; i++)
		fabric_link(t, i, 1, n + i, 1);
	return t;
}

static struct ibcc_topo *ring(uint32_t n)
{
	struct ibcc_topo *t = switches(n, 2);

	for (uint32_t i = 0; i < n; i++)
		fabric_link(t, n + i, 2, n + (i + 1) % n, 3);
	return t;
}

/* Five switches in a circle under root 2: 1 and 3 stand below it, 0 and 4 below those, and of these
 * two the one with the smaller GUID, 0, is higher.
 */
static void test_ring(void **state)
{
	static const struct {
		uint32_t from, to;
		unsigned int hops; /* outputs of switches between, by hand */
	} want[] = { { 0, 4, 1 }, { 4, 0, 1 }, { 4, 1, 2 }, { 1, 4, 2 }, { 0, 3, 3 },
		     { 3, 0, 3 }, { 1, 3, 2 }, { 3, 1, 2 }, { 4, 2, 2 } };
	struct ibcc_topo *t = ring(5);
	const uint32_t root = 5 + 2;
	struct ibcc_route r;

	(void)state;
	assert_true(t->node[5].guid < t->node[5 + 4].guid);
	assert_int_equal(ibcc_route_compute(t), 0);
	assert_int_equal(circle_of_all(t, 5), 5);
	assert_int_equal(ibcc_route_compute_up_down(t, &root, 1), 0);
	assert_int_equal(circle_of_all(t, 5), 0);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		assert_int_equal(go(t, want[i].from, want[i].to, &r), 0);
		assert_int_equal(r.n, 2 + want[i].hops); /* the source's, and the last switch's */
	}
	ibcc_topo_free(t);
}

static void test_torus(void **state)
{
	const uint32_t side = 5, n = side * side;
	struct ibcc_topo *t = switches(n, 4);
	struct ibcc_route r;

	(void)state;
	for (uint32_t y = 0; y < side; y++)
		for (uint32_t x = 0; x < side; x++) {
			fabric_link(t, n + y * side + x, 2, n + y * side + (x + 1) % side, 3);
			fabric_link(t, n + y * side + x, 4, n + (y + 1) % side * side + x, 5);
		}
	assert_int_equal(ibcc_route_compute(t), 0);
	assert_int_not_equal(circle_of_all(t, n), 0);
	assert_int_equal(ibcc_route_compute_up_down(t, NULL, 0), 0);
	assert_int_equal(circle_of_all(t, n), 0);
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < n; b++)
			assert_int_equal(go(t, a, b, &r), 0);
	ibcc_topo_free(t);
}

/* Any graph that holds together: no circle, and a route for each pair. */
static void test_any(void **state)
{
	uint64_t rng = 4711;

	(void)state;
	for (unsigned int round = 0; round < 50; round++) {
		uint32_t n = 3 + ibcc_rng_below(&rng, 20), used[24] = { 0 };
		struct ibcc_topo *t = switches(n, 20);
		struct ibcc_route r;

		for (uint32_t k = 0; k < 3 * n; k++) {
			uint32_t a = k < n - 1 ? k + 1 : ibcc_rng_below(&rng, n);
			uint32_t b = ibcc_rng_below(&rng, k < n - 1 ? k + 1 : n);

			if (a != b && used[a] < 20 && used[b] < 20)
				fabric_link(t, n + a, 2 + used[a]++, n + b, 2 + used[b]++);
		}
		assert_int_equal(ibcc_route_compute_up_down(t, NULL, 0), 0);
		assert_int_equal(circle_of_all(t, n), 0);
		for (uint32_t a = 0; a < n; a++)
			for (uint32_t b = 0; b < n; b++)
				assert_int_equal(go(t, a, b, &r), 0);
		ibcc_topo_free(t);
	}
}

/* In a fat tree, shortest paths go up and down. The spines are found, and between them there is no
 * route.
 */
static void test_tree(void **state)
{
	struct ibcc_topo *t = fabric_tree2(8), *u = fabric_tree2(8);
	uint32_t spine[2] = { 0 }, n = 0;
	struct ibcc_route r;

	(void)state;
	assert_int_equal(ibcc_route_compute_up_down(u, NULL, 0), 0);
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		bool leaf = false;

		if (!ibcc_topo_is_switch(t, i))
			continue;
		for (uint16_t lid = 1; lid < t->node[i].lft_len; lid++)
			if (!ibcc_topo_is_switch(t, t->port[t->lid_port[lid]].node))
				assert_int_equal(t->node[i].lft[lid], u->node[i].lft[lid]);
		for (unsigned int p = 1; p <= t->node[i].n_ports; p++)
			leaf |= ibcc_topo_faces_ca(t, fabric_port(t, i, p));
		if (!leaf && n < 2)
			spine[n++] = i;
	}
	assert_int_equal(n, 2);
	assert_int_equal(u->node[spine[0]].lft[lid_of(u, spine[1])], IBCC_LFT_NONE);
	assert_int_not_equal(t->node[spine[0]].lft[lid_of(t, spine[1])], IBCC_LFT_NONE);
	assert_int_equal(go(u, 0, spine[1], &r), 0);
	ibcc_topo_free(t);
	ibcc_topo_free(u);
}

/* What no flow uses makes no circle: an adapter at each of two spines would. */
static void test_only_what_is_used(void **state)
{
	struct ibcc_topo *t = ring(5);
	struct ibcc_route_use use[] = { { .but = IBCC_NONE }, { .but = IBCC_NONE } };
	struct ibcc_route_lane out[4];
	uint32_t n = 77;

	(void)state;
	assert_int_equal(ibcc_route_compute(t), 0);
	/* Of two routes of two hops, one waits for the other, but not the other for it. */
	for (uint32_t i = 0; i < 2; i++) {
		use[i].from = fabric_port(t, i, 1);
		use[i].to = fabric_port(t, (i + 2) % 5, 1);
	}
	assert_int_equal(ibcc_route_find_cycle(t, NULL, use, 2, out, 4, &n), 0);
	assert_int_equal(n, 0);
	assert_int_equal(ibcc_route_find_cycle(t, NULL, NULL, 0, out, 4, &n), 0);
	assert_int_equal(n, 0);
	ibcc_topo_free(t);
}

/* Islands are routed each by itself, and each gets a root. */
static void test_islands(void **state)
{
	struct ibcc_topo *t = ring(10);
	uint32_t island[20];
	struct ibcc_route r;

	(void)state;
	ibcc_topo_unlink(t, fabric_port(t, 10 + 4, 2));
	ibcc_topo_unlink(t, fabric_port(t, 10 + 9, 2));
	assert_int_equal(ibcc_topo_islands(t, island), 0);
	assert_int_equal(ibcc_route_compute_up_down(t, NULL, 0), 0);
	for (uint32_t a = 0; a < 10; a++)
		for (uint32_t b = 0; b < 10; b++) {
			assert_int_equal(island[a] == island[b], a / 5 == b / 5);
			assert_int_equal(go(t, a, b, &r), a / 5 == b / 5 ? 0 : -ENOENT);
		}
	ibcc_topo_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ring),
		cmocka_unit_test(test_torus),
		cmocka_unit_test(test_any),
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_only_what_is_used),
		cmocka_unit_test(test_islands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
