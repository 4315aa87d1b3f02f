/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Scenario files: the topologies they make, how traffic expands, the examples of the manual. */
#include "tests/unit/scenarios.h"

#include <ibcc/route.h>

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

/* 10 % and 100 Mb/s are what each pair gets: b and c send to two others, or to one but for c. */
static void test_traffic_merges(void **state)
{
	struct ibcc_scenario s;

	(void)state;
	text_ok(HEAD SMALL
		"traffic:\n"
		"- {name: x, from: [b, c], to: all, to_except: c, rate: 100 Mb/s, merged: yes}\n"
		"- {name: y, from: b, to: all, load_percent: 10, merged: yes}\n",
		&s);
	assert_int_equal(s.n_flows, 3);
	for (uint32_t i = 0; i < s.n_flows; i++)
		assert_string_equal(s.flow[i].to, "*");
	assert_string_equal(s.flow[0].name, "x-b");
	assert_string_equal(s.flow[0].not_to, "c");
	assert_int_equal(s.flow[0].rate_mbps, 100);
	assert_string_equal(s.flow[1].name, "x-c");
	assert_string_equal(s.flow[1].not_to, "");
	assert_int_equal(s.flow[1].rate_mbps, 200);
	assert_string_equal(s.flow[2].not_to, "");
	assert_int_equal(s.flow[2].load_permille, 200);
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
	assert_int_equal(ibcc_rate_format(32000, 0, buf, sizeof(buf), " "), 0);
	assert_string_equal(buf, "4x QDR");
	assert_int_equal(ibcc_rate_format(24000, 0, buf, sizeof(buf), ""), 0);
	assert_string_equal(buf, "12xSDR");
	assert_int_equal(ibcc_rate_format(25600, 0, buf, sizeof(buf), ""), -ERANGE);
	assert_string_equal(buf, "2xFDR");
	assert_int_equal(ibcc_rate_format(IBCC_RATE_MAX_MBPS, 0, buf, sizeof(buf), ""), -ERANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_everything),
		cmocka_unit_test(test_traffic_expands),
		cmocka_unit_test(test_traffic_merges),
		cmocka_unit_test(test_host_rates),
		cmocka_unit_test(test_trees),
		cmocka_unit_test(test_netfile_beside_the_scenario),
		cmocka_unit_test(test_shipped_scenarios),
		cmocka_unit_test(test_examples_of_the_manual),
		cmocka_unit_test(test_manual_has_the_models_defaults),
		cmocka_unit_test(test_rates),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
