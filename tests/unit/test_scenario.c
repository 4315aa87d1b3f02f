/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Scenario files: the topologies they make, how traffic expands, and all their mistakes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ibcc/route.h>
#include <ibcc/scenario_file.h>

#include "files.h"

static void load_ok(const char *path, struct ibcc_scenario *s)
{
	struct ibcc_yaml_errors e = { 0 };
	int rc = ibcc_scenario_load(path, s, &e);

	assert_string_equal(e.text ? e.text : "", "");
	assert_int_equal(rc, 0);
	ibcc_yaml_errors_fini(&e);
}

static void text_ok(const char *text, struct ibcc_scenario *s)
{
	load_ok(files_write("s.yaml", text), s);
}

/* Each "%" in errors stands for the file's name and a colon. */
static void text_bad(const char *text, const char *errors)
{
	const char *path = files_write("s.yaml", text);
	struct ibcc_scenario s = { .seed = 4711 };
	struct ibcc_yaml_errors e = { 0 };
	char want[8192] = "";
	size_t len = 0;

	for (; *errors; errors++)
		len += (size_t)snprintf(want + len, sizeof(want) - len,
					*errors == '%' ? "%s:" : "%.1s",
					*errors == '%' ? path : errors);
	assert_int_equal(ibcc_scenario_load(path, &s, &e), -EINVAL);
	assert_string_equal(e.text ? e.text : "", want);
	assert_int_equal(s.seed, 4711); /* untouched */
	ibcc_yaml_errors_fini(&e);
}

#define SMALL                                                                                      \
	"topology:\n  nodes:\n  - {host: [a, b, c]}\n  - {switch: s, ports: 4}\n"                  \
	"  links: [[a, s/1], [b, s/2], [c/1, s/3]]\n"
#define HEAD "name: x\nduration_ms: 1\n"
#define FLOW "traffic: [{from: a, to: b}]\n"

static void test_defaults(void **state)
{
	struct ibcc_model m;
	struct ibcc_scenario s;

	(void)state;
	text_ok(HEAD SMALL FLOW, &s);
	ibcc_model_defaults(&m);
	assert_string_equal(s.name, "x");
	assert_string_equal(s.title, "");
	assert_int_equal(s.seed, 1);
	assert_true(s.duration_ps == IBCC_PS_PER_MS);
	assert_true(s.measure_from_ps == 0);
	assert_int_equal(s.n_flows, 1);
	assert_string_equal(s.flow[0].name, "a-to-b");
	assert_int_equal(s.flow[0].arrivals, IBCC_ARRIVALS_BACKLOGGED);
	assert_int_equal(s.flow[0].kind, IBCC_FLOW_BACKGROUND);
	assert_int_equal(s.n_events, 0);
	assert_int_equal(s.n_no_cc, 0);
	assert_false(s.cc.enabled);
	assert_int_equal(s.model.packet_bytes, m.packet_bytes);
	assert_int_equal(s.model.buffer_bytes, m.buffer_bytes);
	assert_true(s.model.switch_delay_ps == m.switch_delay_ps);
	assert_true(s.model.becn_delay_ps == m.becn_delay_ps);
	assert_int_equal(s.topo->port[s.topo->node[0].first_port + 1].rate_mbps, 32000);
	assert_int_equal(s.topo->port[s.topo->node[0].first_port + 1].mtu_bytes, 2048);
	ibcc_scenario_fini(&s);
}

static void test_everything(void **state)
{
	struct ibcc_scenario s;
	struct ibcc_topo *t;

	(void)state;
	text_ok("name: all\ntitle: a title\nseed: 0xffffffffffffffff\nduration_ms: 10.5\n"
		"measure_from_ms: 0.25\n"
		"topology:\n  rate: 12xSDR\n  mtu_bytes: 4096\n  nodes:\n"
		"  - {host: a, guid: 0x99, ports: 2}\n  - {host: rack/7}\n  - {switch: s, ports: "
		"4}\n"
		"  links:\n  - [a/2, s/1]\n  - {ends: [s/4, rack/7], rate: 1.5 GB/s}\n"
		"model: {packet_bytes: 4096, header_bytes: 30, buffer_bytes: 100000,\n"
		"  hca_buffer_bytes: 5000, link_delay_ns: 12.5, switch_delay_ns: 100,\n"
		"  credit_delay_ns: 0, mark_reference_bytes: 7, mark_hysteresis_permille: 500,\n"
		"  hca_service: round-robin, becn_delay_ns: 1000, acks: true, ack_bytes: 64,\n"
		"  vls: 4, cct_blocks: 1, wait_tick: 3}\n"
		"traffic:\n"
		"- {name: v, from: a, to: rack/7, kind: victim, load_percent: 12.3, sl: 3,\n"
		"   start_ms: 1, stop_ms: 2.5, queue_packets: 9, arrivals: periodic}\n"
		"- {from: rack/7, to: a, load_percent: 100}\n"
		"events:\n- {sink: a, rate: 14966}\n- {at_ms: 3, sink: a, rate: link}\n"
		"- {at_ms: 4, link_down: s/4}\n- {at_ms: 5, link_up: rack/7}\n"
		"congestion_control:\n"
		"  switch: {threshold: 9, packet_size: 8, marking_rate: 15, victim_mask: [0, 4],\n"
		"    cs_threshold: 2, cs_return_delay: 1:50, control_map: 0x1f}\n"
		"  ca: {per: sl, sls: [0, 3], ccti_timer: 1650, ccti_increase: 5, ccti_min: 1,\n"
		"    trigger_threshold: 2}\n"
		"  cct: [0:0, 3:1, 2:1, 0:16383]\n"
		"no_congestion_control: [a, s]\n",
		&s);
	t = s.topo;
	assert_string_equal(s.title, "a title");
	assert_true(s.seed == UINT64_MAX);
	assert_true(s.duration_ps == 10500000000ull && s.measure_from_ps == 250000000ull);

	assert_true(t->node[0].guid == 0x99);
	assert_int_equal(t->port[t->node[0].first_port + 1].peer, IBCC_NONE);
	assert_int_equal(t->port[t->node[0].first_port + 2].peer, t->node[2].first_port + 1);
	assert_int_equal(t->port[t->node[0].first_port + 2].rate_mbps, 24000);
	assert_int_equal(t->port[t->node[1].first_port + 1].peer, t->node[2].first_port + 4);
	assert_int_equal(t->port[t->node[1].first_port + 1].rate_mbps, 12000);
	assert_int_equal(t->port[t->node[1].first_port + 1].mtu_bytes, 4096);
	assert_int_equal(t->port[t->node[1].first_port + 1].op_vls, 4);

	assert_int_equal(s.model.packet_bytes, 4096);
	assert_int_equal(s.model.header_bytes, 30);
	assert_int_equal(s.model.buffer_bytes, 100000);
	assert_int_equal(s.model.hca_buffer_bytes, 5000);
	assert_true(s.model.link_delay_ps == 12500 && s.model.switch_delay_ps == 100000);
	assert_true(s.model.credit_delay_ps == 0 && s.model.becn_delay_ps == 1000000);
	assert_int_equal(s.model.mark_reference_bytes, 7);
	assert_int_equal(s.model.mark_hysteresis_permille, 500);
	assert_int_equal(s.model.hca_service, IBCC_HCA_ROUND_ROBIN);
	assert_true(s.model.acks);
	assert_int_equal(s.model.ack_bytes, 64);
	assert_int_equal(s.model.vls, 4);
	assert_int_equal(s.model.cct_blocks, 1);
	assert_int_equal(s.model.wait_tick, 3);

	assert_int_equal(s.n_flows, 2);
	assert_string_equal(s.flow[0].name, "v");
	assert_string_equal(s.flow[0].from, "a");
	assert_string_equal(s.flow[0].to, "rack/7");
	assert_int_equal(s.flow[0].kind, IBCC_FLOW_VICTIM);
	assert_int_equal(s.flow[0].arrivals, IBCC_ARRIVALS_PERIODIC);
	assert_int_equal(s.flow[0].load_permille, 123);
	assert_int_equal(s.flow[0].sl, 3);
	assert_true(s.flow[0].start_ps == IBCC_PS_PER_MS && s.flow[0].stop_ps == 2500000000ull);
	assert_int_equal(s.flow[0].queue_packets, 9);
	assert_int_equal(s.flow[1].arrivals, IBCC_ARRIVALS_EXPONENTIAL);
	assert_int_equal(s.flow[1].load_permille, 1000);

	assert_int_equal(s.n_events, 4);
	assert_int_equal(s.event[0].kind, IBCC_EVENT_SINK_RATE);
	assert_string_equal(s.event[0].node, "a");
	assert_int_equal(s.event[0].value, 14966);
	assert_int_equal(s.event[1].value, 0);
	assert_true(s.event[1].at_ps == 3 * IBCC_PS_PER_MS);
	assert_int_equal(s.event[2].kind, IBCC_EVENT_LINK_DOWN);
	assert_string_equal(s.event[2].node, "s");
	assert_int_equal(s.event[2].port, 4);
	assert_int_equal(s.event[3].kind, IBCC_EVENT_LINK_UP);
	assert_string_equal(s.event[3].node, "rack/7");
	assert_int_equal(s.event[3].port, 1);

	assert_true(s.cc.enabled);
	assert_int_equal(s.cc.sw.Threshold, 9);
	assert_int_equal(s.cc.sw.Packet_Size, 8);
	assert_int_equal(s.cc.sw.Marking_Rate, 15);
	assert_int_equal(s.cc.sw.CS_Threshold, 2);
	assert_int_equal(s.cc.sw.CS_ReturnDelay, 0x4000 | 50);
	assert_int_equal(s.cc.sw.Control_Map, 0x1f);
	assert_int_equal(s.cc.sw.Victim_Mask.byte[31], 0x11);
	assert_int_equal(s.cc.ca.Port_Control, 1);
	assert_int_equal(s.cc.ca.Control_Map, 0x9);
	assert_int_equal(s.cc.ca.sl[3].CCTI_Increase, 5);
	assert_int_equal(s.cc.ca.sl[3].Trigger_Threshold, 2);
	assert_int_equal(s.cc.ca.sl[3].CCTI_Min, 1);
	assert_int_equal(s.cc.ca.sl[1].CCTI_Timer, 0);
	assert_int_equal(s.cc.cct.limit, 3);
	assert_int_equal(s.cc.cct.entry[1], 0xc001);
	assert_int_equal(s.cc.cct.entry[3], 0x3fff);

	assert_int_equal(s.n_no_cc, 2);
	assert_string_equal(s.no_cc[1], "s");
	ibcc_scenario_fini(&s);
}

static void test_traffic_expands(void **state)
{
	static const char *const want[][3] = {
		{ "a-to-b", "a", "b" },   { "c-to-b", "c", "b" },   { "hot-a", "a", "c" },
		{ "hot-b", "b", "c" },    { "out-b", "a", "b" },    { "out-c", "a", "c" },
		{ "m-a-to-b", "a", "b" }, { "m-a-to-c", "a", "c" }, { "m-b-to-c", "b", "c" },
		{ "bg-a", "a", "*" },     { "bg-c", "c", "*" },     { "one", "b", "*" },
	};
	struct ibcc_scenario s;

	(void)state;
	text_ok(HEAD SMALL "traffic:\n- {from: [a, c], to: b}\n"
			   "- {name: hot, from: all, to: c, kind: hot}\n"
			   "- {name: out, from: a, to: [b, c]}\n"
			   "- {name: m, from: [a, b], to: [b, c]}\n"
			   "- {name: bg, from: all, except: b, to: all, load_percent: 1}\n"
			   "- {name: one, from: b, to: \"*\"}\n",
		&s);
	assert_int_equal(s.n_flows, sizeof(want) / sizeof(want[0]));
	for (uint32_t i = 0; i < s.n_flows; i++) {
		assert_string_equal(s.flow[i].name, want[i][0]);
		assert_string_equal(s.flow[i].from, want[i][1]);
		assert_string_equal(s.flow[i].to, want[i][2]);
	}
	ibcc_scenario_fini(&s);
}

static void check_tree(unsigned int ports, unsigned int levels, uint32_t hosts, uint32_t switches)
{
	char text[256], name[32];
	struct ibcc_scenario s;
	const struct ibcc_topo *t;
	struct ibcc_route r;
	uint32_t n[3] = { 0 }, src, dst, longest = 0;

	snprintf(text, sizeof(text),
		 HEAD "topology: {tree: {ports: %u, levels: %u}}\ntraffic: [{from: h0, to: h1}]\n",
		 ports, levels);
	text_ok(text, &s);
	t = s.topo;
	for (uint32_t i = 0; i < t->n_nodes; i++)
		n[t->node[i].type]++;
	assert_int_equal(n[IBCC_NODE_CA], hosts);
	assert_int_equal(n[IBCC_NODE_SWITCH], switches);
	/* No port is left over: both ends of every level have the same bandwidth. */
	for (uint32_t i = 0; i < t->n_ports; i++)
		if (t->port[i].num)
			assert_int_not_equal(t->port[i].peer, IBCC_NONE);
	snprintf(name, sizeof(name), "h%u", hosts - 1);
	assert_int_not_equal(ibcc_topo_find_desc(t, name), IBCC_NONE);
	/* The way up and down again takes 2n - 1 switches at most, and the farthest pair takes it.
	 */
	src = t->node[0].first_port + 1;
	for (uint32_t i = 1; i < hosts; i++) {
		dst = t->node[i].first_port + 1;
		assert_int_equal(ibcc_route_follow(t, src, t->port[dst].lid, &r), 0);
		if (r.n > longest)
			longest = r.n;
	}
	assert_int_equal(longest, 1 + 2 * levels - 1);
	ibcc_scenario_fini(&s);
}

/* Hosts' links take their rates in turn, others keep the tree's. */
static void test_host_rates(void **state)
{
	static const uint32_t want[] = { 32000, 16000, 8000, 32000, 16000, 8000, 32000, 16000 };
	struct ibcc_scenario s;

	(void)state;
	text_ok(HEAD "topology: {tree: {ports: 4, levels: 2, host_rates: [4x QDR, 4x DDR, 8000]}, "
		     "rate: 4x FDR}\ntraffic: [{from: h0, to: h1}]\n",
		&s);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(s.topo->port[s.topo->node[i].first_port + 1].rate_mbps, want[i]);
	assert_true(s.topo->port[s.topo->node[8].first_port + 1].rate_mbps > 32000);
	ibcc_scenario_fini(&s);
}

static void test_trees(void **state)
{
	(void)state;
	/* 2 (m/2)^n hosts and (2n - 1) (m/2)^(n - 1) switches */
	check_tree(4, 1, 4, 1);
	check_tree(2, 3, 2, 5);
	check_tree(4, 2, 8, 6);
	check_tree(8, 2, 32, 12);
	check_tree(4, 3, 16, 20);
	check_tree(6, 3, 54, 45);
	check_tree(4, 4, 32, 56);
}

static void test_netfile_beside_the_scenario(void **state)
{
	struct ibcc_scenario s;
	char want[600];
	const char *path;

	(void)state;
	files_write("two.net", "Hca 1 \"a\"\n[1] \"b\"[1]\n\nHca 1 \"b\"\n[1] \"a\"[1]\n");
	text_ok(HEAD FLOW "topology: {netfile: two.net}\n", &s);
	assert_int_equal(s.topo->n_nodes, 2);
	assert_int_equal(s.topo->port[s.topo->node[0].first_port + 1].lid, 1);
	ibcc_scenario_fini(&s);

	path = files_write("two.net", "Hca 0 \"a\"\n");
	snprintf(want, sizeof(want),
		 "%s:1: got \"Hca 0 \"a\"\", want TYPE PORTS \"ID\" with 1 to "
		 "254 ports\n",
		 path);
	text_bad(HEAD FLOW "topology: {netfile: two.net}\n", want);
}

static void test_mistakes_of_topology(void **state)
{
	(void)state;
	text_bad("title: x\n", "%1:1: name: missing, want a short name\n"
			       "%1:1: duration_ms: missing\n"
			       "%1:1: topology: missing, want nodes with links, tree, or netfile\n"
			       "%1:1: traffic: missing, want a list of flows\n");
	text_bad(HEAD FLOW "topology: {tree: {ports: 7, levels: 2}, rate: 4x QDR}\n",
		 "%4:26: topology.tree.ports: got \"7\", want an even number from 2 to 254\n");
	text_bad(HEAD FLOW "topology: {tree: {ports: 254, levels: 3}}\n",
		 "%4:18: topology.tree: got a mapping, want a tree of at most 49151 nodes\n");
	text_bad(HEAD FLOW "topology: {tree: {ports: 4, levels: 2}, netfile: x}\n",
		 "%4:11: topology: got a mapping, want either nodes with links, or tree, or "
		 "netfile\n");
	text_bad(
		HEAD FLOW "topology:\n  rate: 5x QDR\n  nodes: [{host: a}]\n",
		"%5:9: topology.rate: got \"5x QDR\", want a link such as \"4x QDR\", or a rate in "
		"Mb/s from 1 to 10000000 (or with the unit Gb/s, MB/s or GB/s)\n");
	text_bad(HEAD FLOW "topology:\n  nodes:\n  - {host: [a, a]}\n  - {switch: s}\n"
			   "  - {ports: 2}\n  - {host: b, guid: 1}\n  - {host: c, guid: 1}\n",
		 "%6:16: topology.nodes: got \"a\", want each name once\n"
		 "%7:5: topology.nodes: missing, want ports of the switch\n"
		 "%8:5: topology.nodes: got neither switch nor host, want either switch or host\n"
		 "%10:12: topology.nodes: got \"c\", want a GUID that no other node has\n");
	text_bad(HEAD FLOW "topology:\n  nodes: [{host: [a, b, c]}, {switch: leaf, ports: 2}]\n"
			   "  links:\n  - [a, leaf/1]\n  - [b, leaf/1]\n  - [b, leaf/3]\n"
			   "  - [b, laef/2]\n  - [b, leaf]\n  - [b]\n  - [c, c]\n",
		 "%8:9: topology.links: got \"leaf/1\", want a port that has no link yet\n"
		 "%9:9: topology.links: got \"leaf/3\", want a port of leaf from 1 to 2\n"
		 "%10:9: topology.links: got \"laef/2\", want a node of the topology (did you mean "
		 "\"leaf\"?)\n"
		 "%11:9: topology.links: got \"leaf\", want a port as NODE/PORT\n"
		 "%12:5: topology.links: got a list, want two ports as [NODE/PORT, NODE/PORT]\n"
		 "%13:9: topology.links: got \"c\", want two different ports\n");
	text_bad(HEAD FLOW "topology:\n  nodes: [{host: [a, b]}, {switch: [s, t], ports: 2}]\n"
			   "  links: [[a, s/1], [b, t/1]]\n",
		 "%5:3: topology: want links between all nodes: some cannot be reached from "
		 "others\n");
	text_bad(
		HEAD FLOW
		"topology:\n  nodes: [{host: [a, b, c, d, e]}, {switch: [s, t, u, v, w], "
		"ports: 3}]\n  links: [[a, s/1], [b, t/1], [c, u/1], [d, v/1], [e, w/1],\n"
		"    [s/2, t/3], [t/2, u/3], [u/2, v/3], [v/2, w/3], [w/2, s/3]]\n",
		"%5:3: topology: got routes in a circle of 5 outputs that can block each other for "
		"ever (s port 2, t port 2, u port 2, v port 2 ...), want links whose shortest "
		"paths make none, such as a tree\n");
	text_bad(HEAD FLOW "topology:\n  nodes: [{host: [a, b]}, {switch: s, ports: 2}]\n"
			   "  links: [[a, s/1]]\n",
		 "%3:25: traffic.to: got \"b\", want a host that has a link\n");
}

static void test_mistakes_of_traffic(void **state)
{
	(void)state;
	text_bad("name: x\nduration_ms: 1\nmeasure_from_ms: 1\n" SMALL
		 "model: {packet_bytes: 4096, buffer_bytes: 100, vls: 16}\n"
		 "traffic:\n- {from: a, to: s}\n- {from: a, to: d}\n- {from: a, to: a}\n"
		 "- {from: a, to: b, load_percent: 10, arrivals: backlogged}\n"
		 "- {from: a, to: b, arrivals: periodic}\n"
		 "- {from: a, to: b, start_ms: 2, stop_ms: 1}\n"
		 "- {from: a, to: b}\n- {from: a, to: b}\n- {to: b, lod_percent: 5}\n"
		 "events:\n- {sink: s, rate: 5}\n- {sink: a}\n- {at_ms: -1, link_down: s/9}\n"
		 "- {rate: 5}\n- {link_up: s/9}\n- {link_up: s/4}\n"
		 "no_congestion_control: [a, z]\n",
		 "%3:18: measure_from_ms: got \"1\", want less than duration_ms\n"
		 "%9:53: model.vls: got \"16\", want a whole number from 1 to 15\n"
		 "%11:17: traffic.to: got \"s\", want a host, not a switch\n"
		 "%12:17: traffic.to: got \"d\", want a node of the topology\n"
		 "%13:3: traffic: got no flow, want nodes in from and to that differ\n"
		 "%14:34: traffic.load_percent: got \"10\", want no load with backlogged arrivals\n"
		 "%15:3: traffic.load_percent: missing, want it with periodic arrivals\n"
		 "%16:42: traffic.stop_ms: got \"1\", want a time after start_ms\n"
		 "%19:3: traffic.from: missing, want a host, a list of hosts, or all\n"
		 "%19:11: traffic.lod_percent: unknown key, did you mean \"load_percent\"?\n"
		 "%21:10: events.sink: got \"s\", want a host, not a switch\n"
		 "%22:10: events.rate: missing, want the sink's rate\n"
		 "%23:11: events.at_ms: got \"-1\", want a number from 0 to 1000000\n"
		 "%24:3: events: want one of sink (with rate), link_down or link_up\n"
		 "%25:13: events.link_up: got \"s/9\", want a port of s from 1 to 4\n"
		 "%26:13: events.link_up: got \"s/4\", want a port that has a link\n"
		 "%27:28: no_congestion_control: got \"z\", want a node of the topology\n");
	text_bad(HEAD SMALL "traffic:\n- {from: a, to: b}\n- {from: [a, c], to: b}\n",
		 "%10:3: traffic.name: got a second flow named \"a-to-b\", want different names\n");
	/* 62 bytes alone would do, with "-a" they do not. */
	text_bad(HEAD SMALL "traffic:\n- {name: "
			    "12345678901234567890123456789012345678901234567890123456789012, from: "
			    "all, to: b}\n",
		 "%9:3: traffic.name: got "
		 "\"12345678901234567890123456789012345678901234567890123456789012-...\" for a "
		 "flow, "
		 "want at most 63 bytes\n");
	/* With a broken topology the names cannot be judged, all else is. */
	text_bad(HEAD "topology: {tree: 5}\ntraffic: [{from: q, to: r, sl: 16}]\n",
		 "%3:18: topology.tree: got \"5\", want a mapping of keys\n"
		 "%4:32: traffic.sl: got \"16\", want a whole number from 0 to 15\n");
}

static void test_mistakes_of_model(void **state)
{
	(void)state;
	text_bad(HEAD SMALL FLOW
		 "model: {packet_bytes: 2048, header_bytes: 26, buffer_bytes: 100}\n",
		 "%9:61: buffer_bytes: got 100 bytes, want at least a packet with its header, "
		 "2074\n");
	text_bad(HEAD SMALL FLOW "model: {packet_bytes: 4096}\n",
		 "%9:23: model.packet_bytes: got packets of 4096 bytes, want at most the MTU, "
		 "2048\n");
}

static void test_mistakes_of_congestion_control(void **state)
{
	(void)state;
	text_bad(
		HEAD SMALL FLOW
		"congestion_control:\n  switch: {threshold: 16, victim_mask: [300]}\n"
		"  ca: {ccti_timer: 70000, sls: [16], per: port}\n"
		"  cct: [0:0, 4:1]\n",
		"%10:23: congestion_control.switch.threshold: got \"16\", want a whole number from "
		"0 "
		"(off) to 15 (most aggressive)\n"
		"%10:41: congestion_control.switch: got \"300\", want a port number from 0 to 254\n"
		"%11:7: congestion_control.ca.ccti_increase: missing, want a whole number from 0 "
		"to "
		"255\n"
		"%11:20: congestion_control.ca.ccti_timer: got \"70000\", want a whole number from "
		"0 "
		"to 65535, in units of 1.024 us\n"
		"%11:33: congestion_control.ca.sls: got \"16\", want a service level from 0 to 15\n"
		"%11:43: congestion_control.ca.per: got \"port\", want qp or sl\n"
		"%12:14: congestion_control.cct: got \"4:1\", want SHIFT:MULT with a shift from 0 "
		"to "
		"3 and a multiplier from 0 to 16383\n");
	text_bad(HEAD SMALL FLOW
		 "congestion_control:\n  switch: {threshold: 15}\n"
		 "  ca: {ccti_timer: 1, ccti_increase: 1}\n  cct: [0:0, 0:2, 1:1]\n",
		 "%12:19: congestion_control.cct: entry 2: want no delay at entry 0, and none "
		 "below the "
		 "one before\n");
	text_bad(HEAD SMALL FLOW "model: {cct_blocks: 1}\ncongestion_control:\n"
				 "  switch: {threshold: 15}\n"
				 "  ca: {ccti_timer: 1, ccti_increase: 1}\n"
				 "  cct: {shape: linear, entries: 65, max_delay_packets: 3}\n",
		 "%13:8: congestion_control.cct: got 65 entries, want at most 64 (64 for each of "
		 "model.cct_blocks)\n");
}

static void test_shipped_scenarios(void **state)
{
	struct ibcc_scenario s;
	uint32_t hot = 0;

	(void)state;
	load_ok("perftest/scenarios/lustre.yaml", &s);
	assert_int_equal(s.topo->n_nodes, 8);
	assert_int_equal(s.n_flows, 4);
	for (uint32_t i = 0; i < s.n_flows; i++)
		hot += s.flow[i].kind == IBCC_FLOW_HOT;
	assert_int_equal(hot, 3);
	assert_int_equal(s.event[0].value, 14966); /* 1870.76 MB/s */
	assert_false(s.cc.enabled);
	ibcc_scenario_fini(&s);

	load_ok("perftest/scenarios/quiet.yaml", &s);
	assert_int_equal(s.n_events, 0);
	ibcc_scenario_fini(&s);

	load_ok("perftest/scenarios/tree.yaml", &s);
	assert_int_equal(s.topo->n_nodes, 32 + 12);
	assert_int_equal(s.n_flows, 29 + 3);
	ibcc_scenario_fini(&s);
}

/* Each example of the manual is a scenario: n flows. */
static void try_example(const char *first_line, uint32_t n)
{
	char *manual = files_read("man/ibcc-scenario.5");
	char *text = strstr(manual, first_line), *end = text ? strstr(text, "\n.Ed") : NULL;
	struct ibcc_scenario s;

	assert_non_null(end);
	end[1] = '\0';
	text_ok(text, &s);
	assert_int_equal(s.n_flows, n);
	ibcc_scenario_fini(&s);
	free(manual);
}

static void test_examples_of_the_manual(void **state)
{
	(void)state;
	try_example("name: two-to-one", 2);
	try_example("name: checkpoint", 16 + 4);
}

/* The manual tells the model's defaults: "Default: 2048." after the key. */
static void test_manual_has_the_models_defaults(void **state)
{
	char *manual = files_read("man/ibcc-scenario.5"), want[64], *at;
	struct ibcc_model m;

	(void)state;
	ibcc_model_defaults(&m);
	const struct {
		const char *key;
		uint64_t value;
	} model[] = {
		{ "packet_bytes", m.packet_bytes },
		{ "header_bytes", m.header_bytes },
		{ "buffer_bytes", m.buffer_bytes },
		{ "hca_buffer_bytes", m.hca_buffer_bytes },
		{ "link_delay_ns", m.link_delay_ps / IBCC_PS_PER_NS },
		{ "switch_delay_ns", m.switch_delay_ps / IBCC_PS_PER_NS },
		{ "credit_delay_ns", m.credit_delay_ps / IBCC_PS_PER_NS },
		{ "mark_reference_bytes", m.mark_reference_bytes },
		{ "mark_hysteresis_permille", m.mark_hysteresis_permille },
		{ "becn_delay_ns", m.becn_delay_ps / IBCC_PS_PER_NS },
		{ "ack_bytes", m.ack_bytes },
		{ "vls", m.vls },
		{ "cct_blocks", m.cct_blocks },
		{ "wait_tick", m.wait_tick },
	};
	for (size_t i = 0; i < sizeof(model) / sizeof(model[0]); i++) {
		snprintf(want, sizeof(want), "\n.It Cm %s\n", model[i].key);
		at = strstr(manual, want);
		assert_non_null(at);
		at = strstr(at, "\nDefault: ");
		assert_non_null(at);
		assert_true(strtoull(at + 10, NULL, 10) == model[i].value);
	}
	assert_int_equal(m.hca_service, IBCC_HCA_ARRIVAL);
	assert_false(m.acks);
	free(manual);
}

static void test_rates(void **state)
{
	static const struct {
		const char *text;
		uint32_t mbps;
	} good[] = {
		{ "4x QDR", 32000 },     { "4xQDR", 32000 },        { "4X qdr", 32000 },
		{ "12xSDR", 24000 },     { "1x FDR10", 10000 },     { "14966", 14966 },
		{ "14966 Mb/s", 14966 }, { "1870.76 MB/s", 14966 }, { "40 Gb/s", 40000 },
		{ "0.5GB/s", 4000 },
	};
	static const char *const bad[] = { "",         "4x",      "4x XYZ",  "3x QDR",
					   "QDR",      "0",       "-5",      "5 mb/s",
					   "1e9",      "nan",     "4x none", "x QDR",
					   "10000001", "4 x QDR", "1.2.3",   "0.1" };
	uint32_t v;
	char buf[16];

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(ibcc_rate_parse(good[i].text, &v), 0);
		assert_int_equal(v, good[i].mbps);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		v = 7;
		assert_int_not_equal(ibcc_rate_parse(bad[i], &v), 0);
		assert_int_equal(v, 7);
	}
	assert_int_equal(ibcc_rate_format(32000, buf, sizeof(buf), " "), 0);
	assert_string_equal(buf, "4x QDR");
	assert_int_equal(ibcc_rate_format(24000, buf, sizeof(buf), ""), 0);
	assert_string_equal(buf, "12xSDR");
	assert_int_equal(ibcc_rate_format(25600, buf, sizeof(buf), ""), -ERANGE);
	assert_string_equal(buf, "2xFDR");
	assert_int_equal(ibcc_rate_format(IBCC_RATE_MAX_MBPS, buf, sizeof(buf), ""), -ERANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_everything),
		cmocka_unit_test(test_traffic_expands),
		cmocka_unit_test(test_host_rates),
		cmocka_unit_test(test_trees),
		cmocka_unit_test(test_netfile_beside_the_scenario),
		cmocka_unit_test(test_mistakes_of_topology),
		cmocka_unit_test(test_mistakes_of_traffic),
		cmocka_unit_test(test_mistakes_of_model),
		cmocka_unit_test(test_mistakes_of_congestion_control),
		cmocka_unit_test(test_shipped_scenarios),
		cmocka_unit_test(test_examples_of_the_manual),
		cmocka_unit_test(test_manual_has_the_models_defaults),
		cmocka_unit_test(test_rates),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
