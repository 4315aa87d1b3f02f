/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Generated meshes, tori, HyperX fabrics and dragonflies: their links and the lengths of their
 * routes against arithmetic.
 */
#include "tests/unit/scenarios.h"

#include <stdlib.h>

#include <ibcc/measure.h>
#include <ibcc/route.h>

#define ONE "traffic: [{from: h0, to: h1}]\n"
#define ALL "traffic: [{from: all, to: all}]\n"

/* The coordinates in a switch's name, "s1-0-2". */
static unsigned int place(const struct ibcc_scenario *s, uint32_t node, unsigned int at[3])
{
	char *c = s->topo->node[node].desc;
	unsigned int n = 0;

	assert_int_equal(*c, 's');
	while (*c) {
		assert_true(n < 3);
		at[n++] = (unsigned int)strtoul(c + 1, &c, 10);
	}
	return n;
}

/* Links between switches. */
static uint32_t count_links(const struct ibcc_topo *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n_ports; i++)
		n += ibcc_topo_is_switch(t, t->port[i].node) && t->port[i].peer != IBCC_NONE &&
		     ibcc_topo_is_switch(t, t->port[t->port[i].peer].node);
	return n / 2;
}

/* Links that leave the half of the fabric with the smaller numbers of the first dimension. */
static uint32_t count_cut(const struct ibcc_scenario *s, unsigned int size)
{
	const struct ibcc_topo *t = s->topo;
	unsigned int a[3], b[3];
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n_ports; i++) {
		uint32_t peer = t->port[i].peer;

		if (peer == IBCC_NONE || !ibcc_topo_is_switch(t, t->port[i].node) ||
		    !ibcc_topo_is_switch(t, t->port[peer].node))
			continue;
		place(s, t->port[i].node, a);
		place(s, t->port[peer].node, b);
		n += a[0] < size / 2 && b[0] >= size / 2;
	}
	return n;
}

enum shape { MESH, TORUS, HYPERX };

static unsigned int hops(enum shape shape, unsigned int a, unsigned int b, unsigned int size)
{
	unsigned int d = a > b ? a - b : b - a;

	switch (shape) {
	case MESH: return d;
	case TORUS: return d < size - d ? d : size - d;
	case HYPERX: return d ? 1 : 0;
	}
	return 0;
}

/* Follows all routes: as long as the distance, and never back to an earlier dimension. */
static void check_routes(const struct ibcc_scenario *s, enum shape shape, const unsigned int *size)
{
	const struct ibcc_topo *t = s->topo;

	for (uint32_t i = 0; i < t->n_endports; i++) {
		for (uint32_t k = 0; k < t->n_endports; k++) {
			uint32_t from = t->endport[i], to = t->endport[k];
			unsigned int at[3], end[3], n, want = 2, last = 0;
			struct ibcc_route r;

			if (i == k || ibcc_topo_is_switch(t, t->port[from].node) ||
			    ibcc_topo_is_switch(t, t->port[to].node))
				continue;
			assert_int_equal(ibcc_route_follow(t, from, t->port[to].lid, &r), 0);
			n = place(s, t->port[t->port[from].peer].node, at);
			place(s, t->port[t->port[to].peer].node, end);
			for (unsigned int d = 0; d < n; d++)
				want += hops(shape, at[d], end[d], size[d]);
			assert_int_equal(r.n, want);
			for (unsigned int h = 1; h + 1 < r.n; h++) {
				unsigned int next[3];

				place(s, t->port[t->port[r.out[h]].peer].node, next);
				for (unsigned int d = 0; d < n; d++) {
					if (next[d] == at[d])
						continue;
					assert_true(d >= last);
					last = d;
					at[d] = next[d];
				}
			}
		}
	}
}

static void test_grids(void **state)
{
	static const struct {
		enum shape shape;
		const char *text;
		unsigned int size[3];
		uint32_t hosts, switches, links, cut;
		const char *traffic;
	} c[] = {
		/* 3 * 3 + 2 * 4 lines' links; two halves of 2 and 2 rows of three. */
		{ MESH, "mesh: {sizes: [4, 3], hosts: 2}", { 4, 3 }, 24, 12, 17, 3, ALL },
		{ MESH, "mesh: {sizes: [4, 3, 2]}", { 4, 3, 2 }, 24, 24, 18 + 16 + 12, 6, ALL },
		{ MESH, "mesh: {sizes: 6}", { 6 }, 6, 6, 5, 1, ALL },
		/* Each switch has a link upwards in each dimension. */
		{ TORUS, "torus: {sizes: [4, 4], hosts: 3}", { 4, 4 }, 48, 16, 32, 8, ALL },
		{ TORUS, "torus: {sizes: [4, 3, 3]}", { 4, 3, 3 }, 36, 36, 108, 18, ALL },
		/* A ring of two has one link. */
		{ TORUS, "torus: {sizes: [4, 2]}", { 4, 2 }, 8, 8, 8 + 4, 4, ALL },
		{ TORUS, "torus: {sizes: [6, 5]}", { 6, 5 }, 30, 30, 60, 10, ONE },
		/* Rows of n are n (n - 1) / 2 links; n^2 / 4 of them cross. */
		{ HYPERX, "hyperx: {sizes: [4, 3], hosts: 2}", { 4, 3 }, 24, 12, 18 + 12, 12, ALL },
		{ HYPERX,
		  "hyperx: {sizes: [6, 2, 2]}",
		  { 6, 2, 2 },
		  24,
		  24,
		  60 + 12 + 12,
		  36,
		  ALL },
	};
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct ibcc_scenario s;

		snprintf(text, sizeof(text), HEAD "topology: {%s, routes: dimension-order}\n%s",
			 c[i].text, c[i].traffic);
		text_ok(text, &s);
		assert_int_equal(s.topo->n_nodes, c[i].hosts + c[i].switches);
		assert_int_equal(count_links(s.topo), c[i].links);
		assert_int_equal(count_cut(&s, c[i].size[0]), c[i].cut);
		check_routes(&s, c[i].shape, c[i].size);
		ibcc_scenario_fini(&s);
	}
}

/* Four switches in each group, with two links to other groups each. */
#define FLY "dragonfly: {switches: 4, global_links: 2, hosts: 2"

static void test_dragonfly(void **state)
{
	static const struct {
		const char *text;
		uint32_t groups, each; /* links between two groups */
	} c[] = { { FLY "}", 9, 1 },
		  { FLY ", groups: 5}", 5, 2 },
		  { FLY ", groups: 2}", 2, 8 },
		  { FLY ", groups: 4}", 4, 2 },
		  { FLY ", groups: 1}", 1, 0 } };
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		uint32_t pair[9][9] = { { 0 } }, g = c[i].groups;
		struct ibcc_scenario s;

		snprintf(text, sizeof(text), HEAD "topology: {%s, routes: up-down}\n" ALL,
			 c[i].text);
		text_ok(text, &s);
		assert_int_equal(s.topo->n_nodes, g * 4 * 3);
		assert_int_equal(count_links(s.topo), g * 6 + c[i].each * g * (g - 1) / 2);
		for (uint32_t k = 0; k < s.topo->n_ports; k++) {
			uint32_t peer = s.topo->port[k].peer;
			unsigned int a[3], b[3];

			if (peer == IBCC_NONE ||
			    !ibcc_topo_is_switch(s.topo, s.topo->port[k].node) ||
			    !ibcc_topo_is_switch(s.topo, s.topo->port[peer].node))
				continue;
			place(&s, s.topo->port[k].node, a);
			place(&s, s.topo->port[peer].node, b);
			pair[a[0]][b[0]]++;
		}
		for (uint32_t a = 0; a < g; a++)
			for (uint32_t b = 0; b < g; b++)
				assert_int_equal(pair[a][b], a == b ? 12 : c[i].each);
		ibcc_scenario_fini(&s);
	}
}

/* By the shortest path no host of a dragonfly is farther than a hop in the group, one between the
 * groups, and one in the other group; two hops through a third group are shorter at times.
 */
static void test_dragonfly_shortest(void **state)
{
	struct ibcc_scenario s;
	struct ibcc_route r;
	unsigned int most = 0;

	(void)state;
	text_ok(HEAD "topology: {" FLY "}}\n" ONE, &s);
	for (uint32_t k = 1; k < 72; k++) {
		uint32_t to = ibcc_topo_ca_port(s.topo, k);

		assert_int_equal(ibcc_route_follow(s.topo, ibcc_topo_ca_port(s.topo, 0),
						   s.topo->port[to].lid, &r),
				 0);
		most = r.n > most ? r.n : most;
	}
	assert_int_equal(most, 5); /* the links of the two hosts, too */
	ibcc_scenario_fini(&s);
}

/* A circle is in the way only of flows that use it. */
static void test_circles(void **state)
{
	static const char *const fine[] = {
		/* Neighbours alone, and half of the ring. */
		"topology: {torus: {sizes: 5}, routes: dimension-order}\n"
		"traffic: [{from: h0, to: h1}, {from: h1, to: h3}, {from: h4, to: h0}]\n",
		"topology: {torus: {sizes: [5, 5]}, routes: up-down}\n" ALL,
		"topology: {" FLY "}, routes: up-down}\n" ALL,
	};
	struct ibcc_scenario s;

	(void)state;
	for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++) {
		char text[512];

		snprintf(text, sizeof(text), HEAD "%s", fine[i]);
		text_ok(text, &s);
		ibcc_scenario_fini(&s);
	}
	text_bad(HEAD "topology: {torus: {sizes: 5}, routes: dimension-order}\n" ALL,
		 "%3:11: topology: got flows whose routes make a circle of 5 outputs that can "
		 "block each other for ever (s0 port 2, s1 port 2, s2 port 2, s3 port 2 ...), want "
		 "routes: up-down, datelines (torus) or minimal (dragonfly), other flows, or links "
		 "whose shortest paths make no circle, such as a tree\n");
}

/* Two flows through the one link in the middle of a line have half of it each. */
static void test_middle(void **state)
{
	struct ibcc_measure m;
	struct ibcc_scenario s;

	(void)state;
	text_ok(HEAD "topology: {mesh: {sizes: 4}, routes: dimension-order}\n"
		     "traffic: [{from: h0, to: h2}, {from: h1, to: h3}, {from: h3, to: h0}]\n",
		&s);
	assert_int_equal(ibcc_measure_run(&s, 0, &m, NULL), 0);
	for (uint32_t i = 0; i < 2; i++)
		assert_float_equal(m.flow[i].throughput_mbps / m.flow[2].throughput_mbps, 0.5,
				   0.01);
	ibcc_measure_fini(&m);
	ibcc_scenario_fini(&s);
}

static void test_mistakes(void **state)
{
	(void)state;
	text_bad(HEAD "topology:\n  torus: {sizes: [4, 1], hosts: 0, size: 3}\n" ONE,
		 "%4:33: topology.torus.hosts: got \"0\", want a whole number from 1 to 253\n"
		 "%4:36: topology.torus.size: unknown key, did you mean \"sizes\"?\n");
	text_bad(HEAD "topology:\n  torus: {sizes: [4, 1, x]}\n" ONE,
		 "%4:22: topology.torus.sizes: got \"1\", want a whole number from 2 to 49151\n"
		 "%4:25: topology.torus.sizes: got \"x\", want a whole number from 2 to 49151\n");
	text_bad(HEAD "topology:\n  mesh: {sizes: [2, 2, 2, 2, 2, 2, 2]}\n" ONE,
		 "%4:36: topology.mesh.sizes: got \"2\", want at most 6 dimensions\n");
	text_bad(HEAD "topology:\n  mesh: {sizes: []}\n" ONE,
		 "%4:17: topology.mesh.sizes: got a list, want a number of switches for each "
		 "dimension\n");
	text_bad(HEAD "topology:\n  mesh: {sizes: [200, 200]}\n" ONE,
		 "%4:9: topology.mesh: got a mapping, want a fabric of at most 49151 nodes\n");
	text_bad(HEAD "topology:\n  hyperx: {sizes: [200, 20], hosts: 40}\n" ONE,
		 "%4:11: topology.hyperx: got a mapping, want a fabric of at most 49151 nodes\n");
	text_bad(HEAD "topology:\n  hyperx: {sizes: [200, 2], hosts: 60}\n" ONE,
		 "%4:11: topology.hyperx: got a mapping, want switches with at most 254 ports, and "
		 "these would need 260\n");
	text_bad(HEAD "topology:\n  mesh: {sizes: [33, 32]}\n" ONE,
		 "%4:9: topology.mesh: got a mapping, want at most 64 links on a path, and there "
		 "are 65\n");
	text_bad(HEAD "topology:\n  " FLY ", groups: 10}\n" ONE,
		 "%4:63: topology.dragonfly.groups: got \"10\", want at most switches * "
		 "global_links + 1, 9\n");
	text_bad(HEAD "topology:\n  dragonfly: {switches: 4}\n" ONE,
		 "%4:14: topology.dragonfly.global_links: missing\n");
	text_bad(HEAD "topology:\n  routes: dimension-order\n  " FLY "}\n" ONE,
		 "%4:11: topology.routes: got \"dimension-order\", want it with a mesh, torus or "
		 "hyperx\n");
	text_bad(HEAD "topology:\n  routes: dimension-order\n  mesh: {sizes: 3}\n" ONE
		      "model: {routing: random}\n",
		 "%7:18: model.routing: got \"random\", want static with topology.routes "
		 "dimension-order\n");
}

/* The largest ones that there can be, and how one more is refused. */
static void test_limits(void **state)
{
	static const struct {
		const char *ok, *refused, *error;
	} c[] = {
		{ "mesh: {sizes: [63]}", "mesh: {sizes: [64]}",
		  "topology.mesh: got a mapping, want at most 64 links on a path, and there are "
		  "65\n" },
		{ "torus: {sizes: [125]}", "torus: {sizes: [126]}",
		  "topology.torus: got a mapping, want at most 64 links on a path, and there are "
		  "65\n" },
		{ "mesh: {sizes: [2], hosts: 253}", "mesh: {sizes: [2], hosts: 254}",
		  "topology.mesh.hosts: got \"254\", want a whole number from 1 to 253\n" },
		{ "torus: {sizes: [3], hosts: 252}", "torus: {sizes: [3], hosts: 253}",
		  "topology.torus: got a mapping, want switches with at most 254 ports, and these "
		  "would need 255\n" },
		{ "hyperx: {sizes: [16], hosts: 239}", "hyperx: {sizes: [16], hosts: 240}",
		  "topology.hyperx: got a mapping, want switches with at most 254 ports, and these "
		  "would need 255\n" },
		{ "torus: {sizes: [2, 2, 2, 2, 2, 2]}", "torus: {sizes: [2, 2, 2, 2, 2, 2, 2]}",
		  "topology.torus.sizes: got \"2\", want at most 6 dimensions\n" },
		{ NULL, "mesh: {sizes: [24576]}",
		  "topology.mesh: got a mapping, want a fabric of at most 49151 nodes\n" },
		{ NULL, "torus: {sizes: [49152]}",
		  "topology.torus.sizes: got \"49152\", want a whole number from 2 to 49151\n" },
		{ "dragonfly: {switches: 2, global_links: 1, hosts: 252, groups: 1}",
		  "dragonfly: {switches: 2, global_links: 1, hosts: 253, groups: 1}",
		  "topology.dragonfly: got a mapping, want switches with at most 254 ports, and "
		  "these would need 255\n" },
		{ NULL, "dragonfly: {switches: 1, global_links: 1, hosts: 254}",
		  "topology.dragonfly.hosts: got \"254\", want a whole number from 1 to 253\n" },
		{ NULL, "dragonfly: {switches: 254, global_links: 1}",
		  "topology.dragonfly.switches: got \"254\", want a whole number from 1 to 253\n" },
		{ NULL, "dragonfly: {switches: 1, global_links: 254}",
		  "topology.dragonfly.global_links: got \"254\", want a whole number from 1 to "
		  "253\n" },
		{ NULL, "dragonfly: {switches: 40, global_links: 40}",
		  "topology.dragonfly: got a mapping, want a fabric of at most 49151 nodes\n" },
		{ "dragonfly: {switches: 2, global_links: 1, groups: 3}",
		  "dragonfly: {switches: 2, global_links: 1, groups: 4}",
		  "topology.dragonfly.groups: got \"4\", want at most switches * global_links + 1, "
		  "3\n" },
		{ "tree: {ports: 254, levels: 1}", "tree: {ports: 256, levels: 1}",
		  "topology.tree.ports: got \"256\", want an even number from 2 to 254\n" },
		{ "tree: {ports: 2, levels: 8}", "tree: {ports: 2, levels: 9}",
		  "topology.tree.levels: got \"9\", want a whole number from 1 to 8\n" },
		{ NULL, "tree: {ports: 254, levels: 3}",
		  "topology.tree: got a mapping, want a tree of at most 49151 nodes\n" },
		{ "nodes: [{host: [h0, h1]}, {switch: s, ports: 254}]\n  links: [[h0, s/1], [h1, "
		  "s/254]]",
		  "nodes: [{host: [h0, h1]}, {switch: s, ports: 255}]",
		  "topology.nodes.ports: got \"255\", want a whole number from 1 to 254\n" },
	};
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct ibcc_yaml_errors e = { 0 };
		struct ibcc_scenario s;

		if (c[i].ok) {
			snprintf(text, sizeof(text), HEAD "topology:\n  %s\n" ONE, c[i].ok);
			text_ok(text, &s);
			ibcc_scenario_fini(&s);
		}
		snprintf(text, sizeof(text), HEAD "topology:\n  %s\n" ONE, c[i].refused);
		assert_int_equal(ibcc_scenario_load(files_write("s.yaml", text), &s, &e), -EINVAL);
		assert_int_equal(e.n, 1);
		if (!strstr(e.text, c[i].error))
			assert_string_equal(e.text, c[i].error);
		ibcc_yaml_errors_fini(&e);
	}
}

/* Whatever is refused, the reason is given. */
static void test_reasons(void **state)
{
	static const struct {
		const char *form, *a, *b, *c, *end;
	} shape[] = {
		{ "mesh", "sizes: [", ", ", "], hosts: ", "" },
		{ "torus", "sizes: [", ", ", "], hosts: ", "" },
		{ "hyperx", "sizes: [", ", ", "], hosts: ", "" },
		{ "dragonfly", "switches: ", ", global_links: ", ", groups: ", "" },
		{ "tree", "ports: ", ", levels: ", ", host_rates: [", "]" },
	};
	char text[256], line[128];

	(void)state;
	for (unsigned int i = 0; i < 5 * 5 * 5 * 5; i++) {
		struct ibcc_yaml_errors e = { 0 };
		struct ibcc_scenario s = { 0 };
		int rc;

		snprintf(line, sizeof(line), "%s: {%s%u%s%u%s%u%s}", shape[i / 125].form,
			 shape[i / 125].a, i % 5, shape[i / 125].b, i / 5 % 5, shape[i / 125].c,
			 i / 25 % 5, shape[i / 125].end);
		snprintf(text, sizeof(text), HEAD "topology: {%s}\n" ONE, line);
		rc = ibcc_scenario_load(files_write("s.yaml", text), &s, &e);
		if ((rc == 0) != (e.n == 0))
			fail_msg("%s: %d with %u errors", line, rc, e.n);
		ibcc_scenario_fini(&s);
		ibcc_yaml_errors_fini(&e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grids),
		cmocka_unit_test(test_dragonfly),
		cmocka_unit_test(test_dragonfly_shortest),
		cmocka_unit_test(test_circles),
		cmocka_unit_test(test_middle),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_reasons),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
