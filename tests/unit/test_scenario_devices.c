/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What devices the nodes of a scenario file are. */
#include "tests/unit/scenarios.h"

static const struct ibcc_profile *of(const struct ibcc_scenario *s, const char *name)
{
	uint32_t node = ibcc_topo_find_desc(s->topo, name);

	assert_int_not_equal(node, IBCC_NONE);
	/* ibsim tells the IDs of the topology, the agents have those of the profile. */
	assert_int_equal(s->topo->node[node].vendor_id, s->profile[node].vendor_id);
	assert_int_equal(s->topo->node[node].device_id, s->profile[node].device_id);
	return &s->profile[node];
}

static void test_profiles(void **state)
{
	struct ibcc_scenario s;

	(void)state;
	text_ok(HEAD SMALL FLOW "model: {wait_tick: 9}\n"
				"devices:\n  hosts: connectx-6\n  switches: quantum2\n"
				"  nodes:\n    b: {tick: 3, xmit_wait: no, profile: connectx-3}\n"
				"    c: {a10: no, wait_bytes: 24}\n    a: plain\n",
		&s);
	assert_int_equal(of(&s, "s")->device_id, 54002);
	assert_int_equal(of(&s, "s")->tick, 7);
	assert_int_equal(of(&s, "b")->device_id, 4099);
	assert_int_equal(of(&s, "b")->tick, 3);
	assert_true(of(&s, "b")->no_wait);
	assert_false(of(&s, "b")->kernel_pma);
	assert_int_equal(of(&s, "c")->device_id, 4123);
	assert_true(of(&s, "c")->kernel_pma);
	assert_false(of(&s, "c")->no_wait);
	assert_int_equal(of(&s, "c")->wait_bytes, 24);
	assert_int_equal(of(&s, "a")->device_id, 0);
	assert_int_equal(of(&s, "a")->tick, 9);
	assert_int_equal(s.n_no_cc, 1);
	assert_string_equal(s.no_cc[0], "c");
	ibcc_scenario_fini(&s);
	text_ok(HEAD SMALL FLOW "devices: {hosts: connectx-7, switches: quantum}\n", &s);
	assert_int_equal(of(&s, "a")->device_id, 0x1021);
	assert_true(of(&s, "a")->kernel_pma);
	assert_int_equal(of(&s, "s")->device_id, 0xd2f0);
	assert_false(of(&s, "s")->fixed_marks);
	/* Of devices between two profiles, the older one. */
	assert_int_equal(ibcc_profile_like(0x2c9, 0x101f).firmware[0], 20);
	assert_int_equal(ibcc_profile_like(0x2c9, 0x1023).firmware[0], 28);
	assert_int_equal(ibcc_profile_like(0x2c9, 0x1017).firmware[0], 20);
	assert_true(ibcc_profile_like(0x2c9, 0xd2f4).fixed_marks);
	ibcc_scenario_fini(&s);
	text_ok(HEAD SMALL FLOW "no_congestion_control: [a]\n"
				"devices: {hosts: {a10: no, tick: 1}}\n",
		&s);
	assert_int_equal(of(&s, "a")->tick, 1);
	assert_int_equal(of(&s, "s")->tick, 255); /* the model's */
	assert_int_equal(s.n_no_cc, 4);
	ibcc_scenario_fini(&s);
	text_ok(HEAD SMALL FLOW
		"devices:\n  hosts: {cc_key: 0x8000000000005afe, cc_key_protect: yes}\n"
		"  nodes:\n    c: {profile: sharp-an, cc_key: 7, cc_key_lease_s: 30}\n",
		&s);
	assert_int_equal(of(&s, "a")->cc_key, 0x8000000000005afe);
	assert_true(of(&s, "a")->cc_key_protect);
	assert_int_equal(of(&s, "c")->device_id, 53001);
	assert_true(of(&s, "c")->no_wait);
	assert_int_equal(of(&s, "c")->cc_key, 7);
	assert_false(of(&s, "c")->cc_key_protect);
	assert_int_equal(of(&s, "c")->cc_key_lease_s, 30);
	assert_int_equal(of(&s, "s")->cc_key, 0);
	ibcc_scenario_fini(&s);
}

static void test_mistakes(void **state)
{
	(void)state;
	text_bad(HEAD SMALL FLOW "devices:\n  hosts: conectx-6\n  switches: [quantum2]\n"
				 "  node: {a: plain}\n",
		 "%10:10: devices.hosts: got \"conectx-6\", want a profile, or a mapping of keys "
		 "(did you mean connectx-6?)\n"
		 "%11:13: devices.switches: got a list, want a profile, or a mapping of keys\n"
		 "%12:3: devices.node: unknown key, did you mean \"nodes\"?\n");
	text_bad(HEAD SMALL FLOW "devices:\n  nodes:\n    x: plain\n    a: {tick: 256}\n"
				 "    b: {profile: qip, a10: 3}\n",
		 "%11:5: devices.nodes: got \"x\", want a node of the topology\n"
		 "%12:15: devices.nodes.tick: got \"256\", want a whole number from 0 to 255\n"
		 "%13:18: devices.nodes.profile: got \"qip\", want plain, connectx-3, connectx-6, "
		 "connectx-7, switchx, switch-ib2, quantum, quantum2, qib or sharp-an "
		 "(did you mean qib?)\n"
		 "%13:28: devices.nodes.a10: got \"3\", want true or false\n");
	text_bad(HEAD SMALL FLOW "devices: {nodes: [a]}\n",
		 "%9:18: devices.nodes: got a list, want a mapping of nodes\n");
}

static uint32_t buffer_of(const struct ibcc_scenario *s, const char *name)
{
	return s->buffer_bytes[ibcc_topo_find_desc(s->topo, name)];
}

/* Buffers of all switches, of those that a pattern matches, and of single nodes. */
static void test_buffers(void **state)
{
	struct ibcc_scenario s;

	(void)state;
	text_ok(HEAD "topology: {tree: {ports: 4, levels: 2}}\n"
		     "traffic: [{from: h0, to: h1, packet_bytes: 64}]\n"
		     "devices:\n  switches: {buffer_bytes: 8192}\n  nodes:\n"
		     "    s0-*: {buffer_bytes: 65536, tick: 5}\n"
		     "    s0-1: connectx-3\n    h?: {buffer_bytes: 4096}\n",
		&s);
	assert_int_equal(buffer_of(&s, "s1-0"), 8192);
	assert_int_equal(buffer_of(&s, "s0-0"), 65536);
	assert_int_equal(buffer_of(&s, "s0-1"), 65536);
	assert_int_equal(of(&s, "s0-0")->tick, 5);
	assert_int_equal(of(&s, "s0-1")->device_id, 4099);
	assert_int_equal(buffer_of(&s, "h3"), 4096);
	ibcc_scenario_fini(&s);
	text_has(HEAD SMALL FLOW "devices: {nodes: {x*: plain}}\n",
		 "9:19: devices.nodes: got \"x*\", want a node of the topology\n");
	text_has(HEAD SMALL FLOW "devices: {switches: {buffer_bytes: 63}}\n",
		 "9:36: devices.switches.buffer_bytes: got \"63\", want a whole number from 64 to "
		 "67108864\n");
	text_has(HEAD SMALL FLOW "devices: {switches: {buffer_bytes: 2111}}\n",
		 "9:10: devices: got buffer_bytes 2111 of s, want at least 2112, a packet with its "
		 "header in blocks of 64 bytes\n");
	text_has(HEAD SMALL FLOW "model: {flow_control: pause, pause_headroom_bytes: 9000}\n"
				 "devices: {switches: {buffer_bytes: 17999}}\n",
		 "10:10: devices: got buffer_bytes 17999 of s, want more above XON than "
		 "model.pause_headroom_bytes, 9000\n");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_profiles),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_buffers),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
