/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Scenarios on fabrics as sites have them: aggregation nodes at the spines, names that several
 * nodes share or that cannot be typed, parts that no links join, rings.
 */
#include "tests/unit/scenarios.h"

#include <ibcc/measure.h>

#define LEAVES 3u
#define SPINES 2u
#define HOSTS  (2u * LEAVES)

/* The GUID of spine 0..1, leaf 2..4, their aggregation nodes 5..9, host 10..15. */
static uint64_t guid_of(unsigned int i)
{
	return 0xec0d9a0300000000u + 0x100u * i;
}

static int put_node(char *s, size_t len, unsigned int i, const char *type, unsigned int ports,
		    unsigned int device, const char *desc)
{
	char letter = *type == 'S' ? 'S' : 'H';

	return snprintf(s, len,
			"\nvendid=0x2c9\ndevid=0x%x\nsysimgguid=0x%llx\n%sguid=0x%llx(%llx)\n"
			"%s\t%u \"%c-%016llx\"\t\t# \"%s\"%s\n",
			device, (unsigned long long)guid_of(i), letter == 'S' ? "switch" : "ca",
			(unsigned long long)guid_of(i), (unsigned long long)guid_of(i), type, ports,
			letter, (unsigned long long)guid_of(i), desc,
			letter == 'S' ? " enhanced port 0 lid 0 lmc 0" : "");
}

static int put_port(char *s, size_t len, unsigned int num, unsigned int to, unsigned int to_num)
{
	return snprintf(s, len, "[%u]\t\"%c-%016llx\"[%u]\t\t# \"\" lid 0 4xHDR\n", num,
			to < SPINES + LEAVES ? 'S' : 'H', (unsigned long long)guid_of(to), to_num);
}

/* A fat tree as ibnetdiscover writes it, with an aggregation node at each switch and two hosts at
 * each leaf, which are all called `host`, or "host 0" and so on if that is NULL.
 */
static void write_tree(const char *host)
{
	enum { ALL = SPINES + LEAVES };
	char text[16384] = "", desc[80];
	size_t n = 0;

#define PUT(what) (n += (size_t)(what))
	for (unsigned int i = 0; i < ALL; i++) {
		snprintf(desc, sizeof(desc), "switch %u", i);
		PUT(put_node(text + n, sizeof(text) - n, i, "Switch", 41, 0xd2f0, desc));
		for (unsigned int k = 0; k < (i < SPINES ? LEAVES : SPINES); k++)
			PUT(put_port(text + n, sizeof(text) - n, (i < SPINES ? 1 : 20) + k,
				     i < SPINES ? SPINES + k : k,
				     i < SPINES ? 20 + i : 1 + i - SPINES));
		for (unsigned int k = 0; i >= SPINES && k < 2; k++)
			PUT(put_port(text + n, sizeof(text) - n, 30 + k,
				     2 * ALL + 2 * (i - SPINES) + k, 1));
		PUT(put_port(text + n, sizeof(text) - n, 41, ALL + i, 1));
	}
	for (unsigned int i = 0; i < ALL; i++) {
		PUT(put_node(text + n, sizeof(text) - n, ALL + i, "Ca", 1, 0xcf09,
			     "Mellanox Technologies Aggregation Node"));
		PUT(put_port(text + n, sizeof(text) - n, 1, i, 41));
	}
	for (unsigned int i = 0; i < HOSTS; i++) {
		snprintf(desc, sizeof(desc), "host %u", i);
		if (host)
			snprintf(desc, sizeof(desc), "%s", host);
		PUT(put_node(text + n, sizeof(text) - n, 2 * ALL + i, "Ca", 1, 0x101b, desc));
		PUT(put_port(text + n, sizeof(text) - n, 1, SPINES + i / 2, 30 + i % 2));
	}
	assert_true(n < sizeof(text));
	files_write("tree.net", text);
}
#undef PUT

#define TREE "topology: {netfile: tree.net}\n"

/* Shortest paths from one spine to the other go down and up, those of hosts do not. */
static void test_aggregation_nodes(void **state)
{
	struct ibcc_measure m;
	struct ibcc_scenario s;
	uint32_t node;

	(void)state;
	write_tree(NULL);
	text_ok(HEAD TREE "traffic: [{from: [host 0, host 2], to: host 4}]\n", &s);
	assert_int_equal(s.n_flows, 2);
	ibcc_scenario_fini(&s);

	/* "all" are hosts, and packets to all go to hosts. */
	text_ok(HEAD TREE "traffic: [{from: all, to: all, load_percent: 20}]\n", &s);
	assert_int_equal(s.n_flows, HOSTS);
	assert_int_equal(ibcc_measure_run(&s, 0, &m, NULL), 0);
	for (unsigned int i = 0; i < 2 * (SPINES + LEAVES) + HOSTS; i++) {
		node = ibcc_topo_find_guid(s.topo, guid_of(i));
		assert_int_not_equal(node, IBCC_NONE);
		assert_true(i >= 2 * (SPINES + LEAVES) ? m.node[node].throughput_mbps > 1000
						       : m.node[node].throughput_mbps == 0);
		assert_true(i >= 2 * (SPINES + LEAVES) ? m.node[node].offered_mbps > 1000
						       : m.node[node].offered_mbps == 0);
	}
	ibcc_measure_fini(&m);
	ibcc_scenario_fini(&s);

	/* From spine to spine there is only the forbidden way. */
	text_bad(HEAD "topology: {netfile: tree.net, routes: up-down}\n"
		      "traffic:\n- {from: H-ec0d9a0300000500, to: H-ec0d9a0300000600}\n",
		 "%5:3: traffic: got a flow from 0xec0d9a0300000500 to 0xec0d9a0300000600, want an "
		 "up/down route between them: other topology.roots\n");
	text_ok(HEAD "topology: {netfile: tree.net, routes: up-down, roots: switch 0}\n"
		     "traffic:\n- {from: H-ec0d9a0300000500, to: H-ec0d9a0300000600}\n",
		&s);
	ibcc_scenario_fini(&s);
}

static void test_one_name_for_all(void **state)
{
	struct ibcc_scenario s;
	char want[64];

	(void)state;
	write_tree("MT4123 ConnectX6   Mellanox Technologies");
	text_ok(HEAD TREE "traffic: [{from: all, to: all}]\nno_congestion_control: "
			  "[0xEC0D9A0300000a00]\n",
		&s);
	assert_int_equal(s.n_flows, HOSTS);
	for (unsigned int i = 0; i < HOSTS; i++) {
		snprintf(want, sizeof(want), "0x%016llx-to-all",
			 (unsigned long long)guid_of(2 * (SPINES + LEAVES) + i));
		assert_string_equal(s.flow[i].name, want);
	}
	assert_string_equal(s.no_cc[0], "0xec0d9a0300000a00");
	ibcc_scenario_fini(&s);
	text_ok(HEAD TREE "traffic: [{from: H-ec0d9a0300000a00, to: 0xec0d9a0300000b00}]\n"
			  "events: [{sink: 0xec0d9a0300000b00, rate: 500}]\n",
		&s);
	assert_string_equal(s.flow[0].from, "0xec0d9a0300000a00");
	assert_string_equal(s.flow[0].to, "0xec0d9a0300000b00");
	assert_string_equal(s.event[0].node, "0xec0d9a0300000b00");
	ibcc_scenario_fini(&s);
	text_bad(HEAD TREE
		 "traffic:\n- {from: MT4123 ConnectX6   Mellanox Technologies, to: switch 0}\n",
		 "%5:10: traffic.from: got \"MT4123 ConnectX6   Mellanox Technologies\", want one "
		 "node, and several have this name: write its GUID, such as 0xec0d9a0300000a00, or "
		 "its id in the netfile\n"
		 "%5:56: traffic.to: got \"switch 0\", want a host, not a switch\n");
}

/* A netfile's own ids; names too long for two of them in a flow's; a description in Latin-1. */
static void test_ids(void **state)
{
	struct ibcc_scenario s;

	(void)state;
	files_write(
		"ids.net",
		"Switch 4 \"sw\" # \"The switch\"\n[1] \"n1\"[1]\n[2] \"n2\"[1]\n[3] \"n3\"[1]\n"
		"caguid=0xa1\nCa 1 \"n1\" # \"first.compute.rack-0117.example.net mlx5_0\"\n"
		"[1] \"sw\"[1]\n"
		"caguid=0xa2\nCa 1 \"n2\" # \"second.compute.rack-0117.example.net mlx5_0\"\n"
		"[1] \"sw\"[2]\n"
		"caguid=0xa3\nCa 1 \"n3\" # \"M\xfcller\"\n[1] \"sw\"[3]\n");
	text_ok(HEAD "topology: {netfile: ids.net}\ntraffic: [{from: n1, to: [n2, n3]}]\n"
		     "events: [{link_down: sw/3}]\n",
		&s);
	assert_string_equal(s.flow[0].from, "first.compute.rack-0117.example.net mlx5_0");
	assert_string_equal(s.flow[0].name, "0x00000000000000a1-to-0x00000000000000a2");
	assert_string_equal(s.flow[1].to, "0x00000000000000a3");
	assert_string_equal(s.event[0].node, "The switch");
	ibcc_scenario_fini(&s);
}

#define ISLANDS                                                                                    \
	"topology:\n  nodes: [{host: [a, b, c, d, e, lone]}, {switch: [s, t, u, off], ports: "     \
	"4}]\n"                                                                                    \
	"  links: [[a, s/1], [b, s/2], [c, t/1], [d, t/2], [e, t/3], [lone, u/1]]\n"

static void test_islands(void **state)
{
	static const struct {
		const char *node;
		double least, most; /* Mb/s offered to it, of 31600 */
	} want[] = { { "a", 0.9, 1.1 }, { "b", 0.9, 1.1 }, { "c", 0.9, 1.1 },
		     { "d", 0.9, 1.1 }, { "e", 0.9, 1.1 }, { "lone", 0, 0 } };
	struct ibcc_measure m;
	struct ibcc_scenario s;

	(void)state;
	text_ok(HEAD ISLANDS "traffic: [{from: a, to: b}]\n", &s);
	ibcc_scenario_fini(&s);
	/* "all" reach those that links lead to. */
	text_ok(HEAD ISLANDS "traffic: [{from: all, to: d}]\n", &s);
	assert_int_equal(s.n_flows, 2);
	ibcc_scenario_fini(&s);
	text_ok("name: x\nduration_ms: 5\n" ISLANDS
		"traffic: [{from: all, to: all, load_percent: 50}]\n",
		&s);
	assert_int_equal(s.n_flows, 5);
	assert_int_equal(ibcc_measure_run(&s, 0, &m, NULL), 0);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		uint32_t node;
		double got;

		assert_int_equal(ibcc_topo_find_node(s.topo, want[i].node, &node), 0);
		got = m.node[node].throughput_mbps / 15800;
		assert_true(got >= want[i].least && got <= want[i].most);
	}
	for (uint32_t i = 0; i < s.n_flows; i++)
		assert_int_equal(m.flow[i].dropped_pkts, 0);
	ibcc_measure_fini(&m);
	ibcc_scenario_fini(&s);
	text_bad(HEAD ISLANDS "traffic:\n- {from: a, to: [b, c]}\n- {from: lone, to: all}\n",
		 "%7:3: traffic: got a flow from a to c, want links that lead from one to the "
		 "other\n%8:3: traffic: got a flow from lone to all, want another host that links "
		 "lead to\n");
}

#define RING                                                                                       \
	"  nodes: [{host: [a, b, c, d, e]}, {switch: [s, t, u, v, w], ports: 3}]\n"                \
	"  links: [[a, s/1], [b, t/1], [c, u/1], [d, v/1], [e, w/1],\n"                            \
	"    [s/2, t/3], [t/2, u/3], [u/2, v/3], [v/2, w/3], [w/2, s/3]]\n"

static void test_ring(void **state)
{
	struct ibcc_scenario s;

	(void)state;
	text_ok(HEAD "topology:\n" RING "traffic: [{from: a, to: c}, {from: b, to: d}]\n", &s);
	ibcc_scenario_fini(&s);
	text_ok(HEAD "topology:\n  routes: up-down\n" RING "traffic: [{from: all, to: all}]\n", &s);
	ibcc_scenario_fini(&s);
	text_bad(HEAD "topology:\n  roots: [a, s]\n" RING "traffic: [{from: a, to: b}]\n",
		 "%4:10: topology.roots: got a list, want no roots without routes: up-down\n");
	text_bad(HEAD "topology:\n  routes: up-down\n  roots: [a, s, x]\n" RING
		      "traffic: [{from: a, to: b}]\nmodel: {routing: random}\n",
		 "%5:11: topology.roots: got \"a\", want a switch\n"
		 "%5:17: topology.roots: got \"x\", want a node of the topology\n");
	text_bad(
		HEAD "topology:\n  routes: up-down\n" RING
		     "traffic: [{from: a, to: b}]\nmodel: {routing: random}\n",
		"%9:18: model.routing: got \"random\", want static with topology.routes up-down\n");
}

/* A line of n switches with a host at each end: n + 1 links, with an error if those are too many.
 */
static void want_line(unsigned int n, const char *routes, const char *error)
{
	char text[8192];
	struct ibcc_scenario s;
	size_t len;

	len = (size_t)snprintf(text, sizeof(text),
			       HEAD "topology:\n  routes: %s\n  nodes: [{host: [a, b]}, {ports: 2, "
				    "switch: [s1",
			       routes);
	for (unsigned int i = 2; i <= n; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, ", s%u", i);
	len += (size_t)snprintf(text + len, sizeof(text) - len,
				"]}]\n  links: [[a, s1/1], [b, s%u/2]", n);
	for (unsigned int i = 1; i < n; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, ", [s%u/2, s%u/1]", i,
					i + 1);
	snprintf(text + len, sizeof(text) - len, "]\ntraffic: [{from: a, to: b}]\n");
	if (error) {
		text_bad(text, error);
		return;
	}
	text_ok(text, &s);
	ibcc_scenario_fini(&s);
}

/* Each route exists, so the error is not about routes that are missing. */
static void test_long_routes(void **state)
{
	static const char *const routes[] = { "shortest", "up-down" };

	(void)state;
	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
		want_line(63, routes[i], NULL);
		want_line(64, routes[i],
			  "%7:11: traffic: got a flow from a to b whose route has more than 64 "
			  "links, want nearer nodes, or links that shorten the route\n");
	}
}

/* A plan's hosts, by any name of theirs. */
static void test_plan(void **state)
{
	struct ibcc_scenario s;

	(void)state;
	write_tree(NULL);
	text_ok(HEAD TREE "hosts: [H-ec0d9a0300000a00, {name: host 1, address: x}]\n"
			  "traffic: [{from: 0xec0d9a0300000a00, to: 0xec0d9a0300000b00}]\n",
		&s);
	assert_string_equal(s.verbs.host[0].name, "host 0");
	assert_string_equal(s.verbs.host[0].address, "H-ec0d9a0300000a00");
	assert_string_equal(s.verbs.host[1].name, "host 1");
	assert_string_equal(s.flow[0].from, s.verbs.host[0].name);
	ibcc_scenario_fini(&s);
	text_bad(HEAD TREE "hosts: [host 0, 0xec0d9a0300000a00, switch 0, nobody]\n"
			   "traffic: [{from: host 0, to: host 1}]\n",
		 "%4:17: hosts: got \"0xec0d9a0300000a00\", want each host once\n"
		 "%4:37: hosts: got \"switch 0\", want a host, and switch 0 is a switch\n"
		 "%4:47: hosts: got \"nobody\", want a node of the topology\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_aggregation_nodes),
		cmocka_unit_test(test_one_name_for_all),
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_islands),
		cmocka_unit_test(test_ring),
		cmocka_unit_test(test_long_routes),
		cmocka_unit_test(test_plan),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
