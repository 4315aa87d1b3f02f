/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Scenario files: all their mistakes. */
#include "tests/unit/scenarios.h"

static void test_mistakes_of_topology(void **state)
{
	(void)state;
	text_bad("title: x\n", "%1:1: name: missing, want a short name\n"
			       "%1:1: duration_ms: missing\n"
			       "%1:1: topology: missing, want one of nodes (with links), tree, "
			       "mesh, torus, hyperx, dragonfly or netfile\n"
			       "%1:1: traffic: missing, want a list of flows\n");
	text_bad(HEAD FLOW "topology: {tree: {ports: 7, levels: 2}, rate: 4x QDR}\n",
		 "%4:26: topology.tree.ports: got \"7\", want an even number from 2 to 254\n");
	text_bad(HEAD FLOW "topology: {tree: {ports: 254, levels: 3}}\n",
		 "%4:18: topology.tree: got a mapping, want a tree of at most 49151 nodes\n");
	text_bad(HEAD FLOW "topology: {tree: {ports: 4, levels: 2}, netfile: x}\n",
		 "%4:11: topology: got a mapping, want one of nodes (with links), tree, mesh, "
		 "torus, hyperx, dragonfly or netfile\n");
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
	text_bad(HEAD FLOW "topology:\n  nodes: [{host: [a, b]}, {switch: s, ports: 2}]\n"
			   "  links: [[a, s/1], {ends: [b, s/2], rate_back: fast}]\n",
		 "%6:49: topology.links.rate_back: got \"fast\", want a link such as \"4x QDR\", "
		 "or a rate in Mb/s from 1 to 10000000 (or with the unit Gb/s, MB/s or GB/s)\n");
	text_bad(HEAD FLOW SMALL "events: [{send_rate: s/4, rate: 5}, {send_rate: a}]\n",
		 "%9:22: events.send_rate: got \"s/4\", want a port that has a link\n"
		 "%9:49: events.rate: missing, want the link's rate\n");
	text_bad(HEAD FLOW SMALL "events: [{send_delay: a}, {send_delay: a, delay_ns: 1e7}]\n",
		 "%9:23: events.delay_ns: missing, want the extra delay\n"
		 "%9:53: events.delay_ns: got \"1e7\", want a number from 0 to 1000000\n");
	text_bad(HEAD FLOW "topology:\n  nodes: [{host: [a, b]}, {switch: [s, t], ports: 2}]\n"
			   "  links: [[a, s/1], [b, t/1]]\n",
		 "%3:11: traffic: got a flow from a to b, want links that lead from one to the "
		 "other\n");
	text_bad(HEAD "traffic: [{from: all, to: all}]\n"
		      "topology:\n  nodes: [{host: [a, b, c, d, e]}, {switch: [s, t, u, v, w], "
		      "ports: 3}]\n  links: [[a, s/1], [b, t/1], [c, u/1], [d, v/1], [e, w/1],\n"
		      "    [s/2, t/3], [t/2, u/3], [u/2, v/3], [v/2, w/3], [w/2, s/3]]\n",
		 "%5:3: topology: got flows whose routes make a circle of 5 outputs that can block "
		 "each other for ever (s port 2, t port 2, u port 2, v port 2 ...), want routes: "
		 "up-down, datelines (torus) or minimal (dragonfly), other flows, or links whose "
		 "shortest paths make no circle, such as a tree\n");
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
		 "%24:3: events: want one of sink, link_rate or send_rate (with rate), send_delay "
		 "(with delay_ns), link_down or link_up\n"
		 "%25:13: events.link_up: got \"s/9\", want a port of s from 1 to 4\n"
		 "%26:13: events.link_up: got \"s/4\", want a port that has a link\n"
		 "%27:28: no_congestion_control: got \"z\", want a node of the topology\n");
	text_bad(HEAD SMALL
		 "traffic:\n- {from: a, to: all, merged: true}\n"
		 "- {name: x, from: a, to: b, load_percent: 1, merged: true}\n"
		 "- {name: y, from: a, to: all, to_except: [b, c], load_percent: 1, merged: "
		 "true}\n",
		 "%9:30: traffic.merged: got \"true\", want it with exponential arrivals to all, "
		 "but "
		 "for one host at most, and without a limit of queues\n"
		 "%10:54: traffic.merged: got \"true\", want it with exponential arrivals to all, "
		 "but "
		 "for one host at most, and without a limit of queues\n"
		 "%11:75: traffic.merged: got \"true\", want it with exponential arrivals to all, "
		 "but "
		 "for one host at most, and without a limit of queues\n");
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
	text_bad(HEAD SMALL FLOW "model: {endpoint: uc, ack_timeout: 32, endpoint_window: 0}\n",
		 "%9:19: model.endpoint: got \"uc\", want datagram, rc or ooo (did you "
		 "mean rc?)\n"
		 "%9:36: model.ack_timeout: got \"32\", want a whole number from 0 to 31\n"
		 "%9:57: model.endpoint_window: got \"0\", want a whole number from 1 to "
		 "65536\n");
	text_bad(HEAD SMALL "model: {endpoint: rc}\ntraffic:\n- {from: a, to: all}\n",
		 "%10:17: traffic.to: got \"all\", want hosts by name, or to_except: with "
		 "model.endpoint each flow is a connection to one\n");
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mistakes_of_topology),
		cmocka_unit_test(test_mistakes_of_traffic),
		cmocka_unit_test(test_mistakes_of_model),
		cmocka_unit_test(test_mistakes_of_congestion_control),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
