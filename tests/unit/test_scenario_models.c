/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Scenario files: lossless Ethernet, and sources that are not always on or wait for answers. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ibcc/scenario_file.h>

#include "scenarios.h"

static void test_defaults(void **state)
{
	struct ibcc_scenario s;

	(void)state;
	text_ok(HEAD PAIR FLOW, &s);
	assert_int_equal(s.model.flow_control, IBCC_FLOW_CONTROL_CREDITS);
	assert_int_equal(s.model.arbitration, IBCC_ARBITRATION_INPUT);
	assert_int_equal(s.model.switching, IBCC_SWITCHING_CUT_THROUGH);
	assert_int_equal(s.model.becn_path, IBCC_BECN_IN_BAND);
	assert_int_equal(s.model.switch_reads, IBCC_SWITCH_READS_ALL);
	assert_int_equal(s.model.pause_headroom_bytes, 0);
	assert_int_equal(s.model.pause_xon_permille, 500);
	assert_false(s.model.bcn.enabled);
	assert_int_equal(s.flow[0].rate_mbps, 0);
	ibcc_scenario_fini(&s);
}

static void test_keys(void **state)
{
	struct ibcc_scenario s;

	(void)state;
	text_ok(HEAD PAIR
		"model: {flow_control: pause, arbitration: fifo, pause_headroom_bytes: 8000, "
		"pause_xon_permille: 250}\n"
		"bcn: {sample_bytes: 75000, equilibrium_bytes: 156000, w: 1.5, gi: 1.923, "
		"gd: 0.9615e-3, ru_mbps: 8, delay_ns: 2.5}\n"
		"traffic: [{from: a, to: b, rate: 2.5 Gb/s}]\n",
		&s);
	assert_int_equal(s.model.flow_control, IBCC_FLOW_CONTROL_PAUSE);
	assert_int_equal(s.model.arbitration, IBCC_ARBITRATION_FIFO);
	assert_int_equal(s.model.pause_headroom_bytes, 8000);
	assert_int_equal(s.model.pause_xon_permille, 250);
	assert_true(s.model.bcn.enabled);
	assert_int_equal(s.model.bcn.sample_bytes, 75000);
	assert_int_equal(s.model.bcn.equilibrium_bytes, 156000);
	assert_true(s.model.bcn.w == 1.5);
	assert_true(s.model.bcn.gi == 1.923);
	assert_true(fabs(s.model.bcn.gd - 0.0009615) < 1e-12);
	assert_int_equal(s.model.bcn.ru_mbps, 8);
	assert_true(s.model.bcn.delay_ps == 2500);
	assert_int_equal(s.flow[0].rate_mbps, 2500);
	assert_int_equal(s.flow[0].arrivals, IBCC_ARRIVALS_EXPONENTIAL);
	ibcc_scenario_fini(&s);
}

static void test_off(void **state)
{
	struct ibcc_scenario s;

	(void)state;
	text_ok(HEAD PAIR
		"bcn: {enabled: false, sample_bytes: 1, equilibrium_bytes: 1, gi: 0, gd: 0}\n" FLOW,
		&s);
	assert_false(s.model.bcn.enabled);
	ibcc_scenario_fini(&s);
}

static void test_mistakes(void **state)
{
	(void)state;
	text_has(HEAD PAIR "bcn: {sample_bytes: 1, equilibrium_bytes: 1, gi: 0, gd: 0}\n" FLOW,
		 "9:6: bcn: want model.flow_control: pause with it\n");
	text_has(HEAD PAIR
		 "model: {flow_control: pause}\nbcn: {sample_bytes: 1, equilibrium_bytes: 1, gi: "
		 "0}\n" FLOW,
		 "10:6: bcn.gd: missing\n");
	text_has(HEAD PAIR "model: {flow_control: pause, pause_headroom_bytes: 16385}\n" FLOW,
		 "9:52: model.pause_headroom_bytes: got 16385 bytes, want at most what the smaller "
		 "buffer has above XON, 16384\n");
	text_has(HEAD PAIR "model: {flow_control: pause, vls: 2}\n" FLOW,
		 "9:35: model.vls: got 2, want 1 with PAUSE\n");
	text_has(HEAD PAIR "traffic: [{from: a, to: b, rate: 1 Gb/s, load_percent: 10}]\n",
		 "9:56: traffic.load_percent: got \"10\", want no load with a rate\n");
	text_has(
		HEAD PAIR "traffic: [{from: a, to: b, rate: -1 Gb/s}]\n",
		"9:34: traffic.rate: got \"-1 Gb/s\", want a link such as \"4x QDR\", or a rate in "
		"Mb/s "
		"from 1 to 10000000 (or with the unit Gb/s, MB/s or GB/s)\n");
	text_has(HEAD PAIR "traffic: [{from: a, to: b, rate: 1 Gb/s, arrivals: backlogged}]\n",
		 "9:34: traffic.rate: got \"1 Gb/s\", want no load with backlogged arrivals\n");
}

static void test_sources(void **state)
{
	struct ibcc_scenario s;

	(void)state;
	text_ok(HEAD PAIR "traffic:\n- {name: m, from: a, to: b, message_bytes: 1000000, "
			  "window_messages: 4}\n"
			  "- {name: one, from: a, to: b, arrivals: closed, message_bytes: 5}\n"
			  "- {name: b, from: b, to: a, on_ms: 0.5, off_ms: 2}\n",
		&s);
	assert_int_equal(s.flow[0].arrivals, IBCC_ARRIVALS_CLOSED);
	assert_int_equal(s.flow[0].message_bytes, 1000000);
	assert_int_equal(s.flow[0].window, 4);
	assert_int_equal(s.flow[1].window, 1);
	assert_int_equal(s.flow[2].arrivals, IBCC_ARRIVALS_BACKLOGGED);
	assert_int_equal(s.flow[2].window, 0);
	assert_true(s.flow[2].on_ps == 500 * IBCC_PS_PER_US);
	assert_true(s.flow[2].off_ps == 2000 * IBCC_PS_PER_US);
	ibcc_scenario_fini(&s);
	text_has(HEAD PAIR "traffic: [{from: a, to: b, arrivals: closed}]\n",
		 "9:11: traffic.message_bytes: want it with closed arrivals, and only there\n");
	text_has(HEAD PAIR "traffic: [{from: a, to: b, load_percent: 1, message_bytes: 1}]\n",
		 "9:11: traffic.message_bytes: want it with closed arrivals, and only there\n");
	text_has(HEAD PAIR "traffic: [{from: a, to: b, off_ms: 1}]\n",
		 "9:36: traffic.off_ms: got \"1\", want a time on_ms with it\n");
}

static void test_switches(void **state)
{
	struct ibcc_scenario s;

	(void)state;
	text_ok(HEAD PAIR
		"model: {vls: 2, routing: adaptive, arbitration: flow, vlarb_high: \"1:255\", "
		"vlarb_low: \"0:4,1:64\", vl_high_limit: 7}\n" FLOW,
		&s);
	assert_int_equal(s.model.routing, IBCC_ROUTING_ADAPTIVE);
	assert_int_equal(s.model.arbitration, IBCC_ARBITRATION_FLOW);
	assert_int_equal(s.model.vlarb.high.n, 1);
	assert_int_equal(s.model.vlarb.high.entry[0].vl, 1);
	assert_int_equal(s.model.vlarb.high.entry[0].weight, 255);
	assert_int_equal(s.model.vlarb.low.n, 2);
	assert_int_equal(s.model.vlarb.low.entry[0].weight, 4);
	assert_int_equal(s.model.vlarb.low.entry[1].vl, 1);
	assert_int_equal(s.model.vlarb.high_limit, 7);
	ibcc_scenario_fini(&s);
	text_has(HEAD PAIR "model: {vls: 2, vlarb_low: \"0:4\"}\n" FLOW,
		 "9:8: model: want each VL with a weight in vlarb_high or vlarb_low\n");
	text_has(HEAD PAIR "model: {vls: 2, vlarb_low: \"0:4,2:1\"}\n" FLOW,
		 "9:28: vlarb_low: got \"0:4,2:1\", want at most 64 of VL:WEIGHT with commas "
		 "between "
		 "them, VLs below model.vls, weights to 255\n");
	text_has(HEAD PAIR "model: {vlarb_low: \"0:4,\"}\n" FLOW,
		 "9:20: vlarb_low: got \"0:4,\", want at most 64 of VL:WEIGHT with commas between "
		 "them, "
		 "VLs below model.vls, weights to 255\n");
}

/* What other simulators do that hardware does not, or some of it. */
static void test_options(void **state)
{
	struct ibcc_scenario s;

	(void)state;
	text_ok(HEAD PAIR "model: {switching: store-and-forward, becn_path: out-of-band, "
			  "switch_reads: one}\n" FLOW,
		&s);
	assert_int_equal(s.model.switching, IBCC_SWITCHING_STORE_AND_FORWARD);
	assert_int_equal(s.model.becn_path, IBCC_BECN_OUT_OF_BAND);
	assert_int_equal(s.model.switch_reads, IBCC_SWITCH_READS_ONE);
	ibcc_scenario_fini(&s);
	text_has(
		HEAD PAIR "model: {switching: wormhole}\n" FLOW,
		"9:20: model.switching: got \"wormhole\", want cut-through or store-and-forward\n");
	text_has(HEAD PAIR "model: {becn_path: yes}\n" FLOW,
		 "9:20: model.becn_path: got \"yes\", want in-band or out-of-band\n");
	text_has(HEAD PAIR "model: {switch_reads: 2}\n" FLOW,
		 "9:23: model.switch_reads: got \"2\", want all or one\n");
}

/* Of a flow's packets: what links and buffers hold, and how many sizes there may be. */
static void test_packet_sizes(void **state)
{
	struct ibcc_scenario s;

	(void)state;
	text_ok(HEAD PAIR "traffic: [{from: a, to: b, packet_bytes: 64}, {from: b, to: a}]\n", &s);
	assert_int_equal(s.flow[0].packet_bytes, 64);
	assert_int_equal(s.flow[1].packet_bytes, 0);
	assert_int_equal(ibcc_flow_packet_bytes(&s.model, &s.flow[0]), 64);
	assert_int_equal(ibcc_flow_packet_bytes(&s.model, &s.flow[1]), 2048);
	assert_true(ibcc_flow_payload_share(&s.model, &s.flow[0]) == 64.0 / 90);
	ibcc_scenario_fini(&s);
	text_has(HEAD PAIR "traffic: [{from: a, to: b, packet_bytes: 63}]\n",
		 "9:42: traffic.packet_bytes: got \"63\", want a whole number from 64 to 4096\n");
	text_has(HEAD PAIR "traffic: [{from: a, to: b, packet_bytes: 4096}]\n",
		 "9:42: traffic.packet_bytes: got \"4096\", want at most the MTU, 2048\n");
	text_has(HEAD PAIR "model: {packet_bytes: 256, buffer_bytes: 1100}\n"
			   "traffic: [{from: a, to: b, packet_bytes: 1063}]\n",
		 "10:42: traffic.packet_bytes: got \"1063\", want at most 1062, so that a packet "
		 "with its "
		 "header fits into the smaller of the model's buffers\n");
	text_ok(HEAD PAIR "model: {packet_bytes: 256, buffer_bytes: 1100}\n"
			  "traffic: [{from: a, to: b, packet_bytes: 1062}]\n",
		&s);
	ibcc_scenario_fini(&s);
	text_has(HEAD PAIR "traffic: [{name: '1', from: a, to: b, packet_bytes: 65},\n"
			   "  {name: '2', from: a, to: b, packet_bytes: 66},\n"
			   "  {name: '3', from: a, to: b, packet_bytes: 67},\n"
			   "  {name: '4', from: a, to: b, packet_bytes: 68},\n"
			   "  {name: '5', from: a, to: b, packet_bytes: 69},\n"
			   "  {name: '6', from: a, to: b, packet_bytes: 70},\n"
			   "  {name: '7', from: a, to: b, packet_bytes: 65},\n"
			   "  {name: '8', from: a, to: b, packet_bytes: 2048},\n"
			   "  {name: '9', from: a, to: b, packet_bytes: 71}]\n",
		 "17:45: traffic.packet_bytes: got \"71\", want at most 6 sizes beside "
		 "model.packet_bytes\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults), cmocka_unit_test(test_keys),
		cmocka_unit_test(test_off),      cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_sources),  cmocka_unit_test(test_switches),
		cmocka_unit_test(test_options),  cmocka_unit_test(test_packet_sizes),
	};

	return cmocka_run_group_tests_name("scenario_models", tests, files_setup, files_teardown);
}
